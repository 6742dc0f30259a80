/* What a search that looks at many tokens at a time has to know of each of them.

   A token is at rest if it leads to the state to which it leads from the idle state, and nothing happens on the way. If
   the token before it is at rest too, whether it is depends on these two tokens alone, so pairs of neighbours can be
   tested independently: the one before has a row of bits, and the other one the column of its bit. There are few rows
   and columns. Those that differ least are merged; then some tokens that are at rest are not recognized, and are read
   one by one.

   Of the pairs of which the second token is not at rest, many may lead to one and the same state, the second state: after a
   symbol that is spelled by two tokens, for instance, most patterns wait as they do after any other. These pairs have
   bits of their own, and so has what is not at rest after the second state. */
#include <stdlib.h>

#include "search.h"

/* The states in which tokens are at rest, the most frequent ones; each has a bit in the columns. */
enum { MOST_RESTS = 256, N_WORDS = MOST_RESTS / 64 };

/* Something with a weight, and its number. */
typedef struct {
    int64_t weight, number;
} weighted;

/* Pairs of tokens, by the rest of the first one: the second one is not at rest; and it does not lead to the second state,
   or something happens. */
typedef struct {
    uint64_t restless[N_WORDS], elsewhere[N_WORDS];
} pairs;

/* A group of such sets, as their union. */
typedef struct {
    pairs all;
    int64_t weight;
} group;

/* What is known of the pattern and the tokens: the effects of classes, these in the order of their weight, and the states
   in which tokens are at rest, the heaviest first, with the number of each state among them, -1 of others. */
typedef struct {
    const int32_t *entries;
    int64_t n_classes, n_states, idle;
    const weighted *classes;
    const int16_t *rest_of;
    int64_t states[MOST_RESTS];
    int n_rests;
} known_moves;

static int heavier_first(const void *a, const void *b) {
    const weighted *x = a, *y = b;
    if (x->weight != y->weight) {
        return x->weight < y->weight ? 1 : -1;
    }
    return (x->number > y->number) - (x->number < y->number);
}

/* The number of pairs that are known to be harmless and are not so any more, in a set that becomes a larger one. */
static int64_t n_lost(const pairs *before, const pairs *after) {
    int64_t n = 0;
    for (int word = 0; word < N_WORDS; word++) {
        n += count_ones(after->restless[word] & after->elsewhere[word] &
                        ~(before->restless[word] & before->elsewhere[word]));
    }
    return n;
}

static pairs united(const pairs *one, const pairs *other) {
    pairs both;
    for (int word = 0; word < N_WORDS; word++) {
        both.restless[word] = one->restless[word] | other->restless[word];
        both.elsewhere[word] = one->elsewhere[word] | other->elsewhere[word];
    }
    return both;
}

/* Put a set into a group and return its number: that of an equal set, a new group if there is room, or the one with which
   least is lost. Groups before the first one are left alone; in group 0 all bits are set. */
static int into_group(const group *one, group *groups, int first, int *n_groups, int most) {
    int best = 0;
    int64_t least_cost = INT64_MAX;
    for (int number = first; number < *n_groups && least_cost > 0; number++) {
        const group *other = groups + number;
        const pairs both = united(&one->all, &other->all);
        const int64_t cost = other->weight * n_lost(&other->all, &both) + one->weight * n_lost(&one->all, &both);
        if (cost < least_cost) {
            least_cost = cost;
            best = number;
        }
    }
    if (least_cost > 0 && *n_groups < most) {
        best = (*n_groups)++;
        groups[best] = *one;
        return best;
    }
    groups[best].all = united(&groups[best].all, &one->all);
    groups[best].weight += one->weight;
    return best;
}

/* Weigh the classes by their tokens: in most vocabularies the frequent ones come first. Returns them in order. */
static void weigh_classes(const int32_t *properties, int64_t n_ids, int64_t n_classes, weighted *classes) {
    for (int64_t class = 0; class < n_classes; class++) {
        classes[class] = (weighted){1, class};
    }
    for (int64_t id = 0; id < n_ids; id++) {
        classes[properties[id] & CLASS_MASK].weight += (1 << 24) / (id + 200);
    }
    qsort(classes, (size_t)n_classes, sizeof *classes, heavier_first);
}

/* Number the states in which tokens are at rest, the heaviest first: `rest_of` has the number of a state, -1 of others,
   and `states` the states. Returns how many there are. */
static int number_rests(const int32_t *of_idle, int64_t n_classes, int64_t n_states, const weighted *classes,
                        weighted *by_state, int16_t *rest_of, int64_t *states) {
    for (int64_t state = 0; state < n_states; state++) {
        by_state[state] = (weighted){0, state};
        rest_of[state] = -1;
    }
    for (int64_t place = 0; place < n_classes; place++) {
        const int32_t entry = of_idle[classes[place].number];
        if (!(entry & 1)) {
            by_state[entry / (4 * n_classes)].weight += classes[place].weight;
        }
    }
    qsort(by_state, (size_t)n_states, sizeof *by_state, heavier_first);
    int n_rests = 0;
    while (n_rests < least(MOST_RESTS, n_states) && by_state[n_rests].weight > 0) {
        states[n_rests] = by_state[n_rests].number;
        rest_of[by_state[n_rests].number] = (int16_t)n_rests;
        n_rests++;
    }
    return n_rests;
}

/* The state that most pairs lead to of which the second token is not at rest; NO_SECOND if there is none. `by_state` is used
   up. */
static int64_t find_second(const known_moves *moves, weighted *by_state) {
    const int32_t *of_idle = moves->entries + moves->idle * moves->n_classes;
    int64_t second = 0;
    for (int64_t state = 0; state < moves->n_states; state++) {
        by_state[state] = (weighted){0, state};
    }
    for (int64_t place = 0; place < moves->n_classes; place++) {
        const int64_t class = moves->classes[place].number, weight = moves->classes[place].weight;
        for (int rest = 0; rest < moves->n_rests; rest++) {
            const int32_t entry = moves->entries[moves->states[rest] * moves->n_classes + class];
            if (entry != of_idle[class] && !(of_idle[class] & 1)) {
                by_state[entry / (4 * moves->n_classes)].weight += entry & 1 ? 0 : 1 + weight / (rest + 1);
            }
        }
    }
    for (int64_t state = 1; state < moves->n_states; state++) {
        second = by_state[state].weight > by_state[second].weight ? state : second;
    }
    return by_state[second].weight > 0 ? second : NO_SECOND;
}

/* The glance of each class, without the length, and the rows: see search.h. */
static void glance_at_classes(const known_moves *moves, int64_t second, uint16_t *of_class, uint16_t *rows) {
    const int64_t n_classes = moves->n_classes;
    const int32_t *of_idle = moves->entries + moves->idle * n_classes;
    group columns[N_GLANCE_COLUMNS], of_rows[N_GLANCE_ROWS];
    int n_columns = 1, n_rows = GLANCE_IDLE_ROW + 1, row_of[MOST_RESTS];
    uint32_t after_second = 1;
    memset(of_rows, 0xFF, sizeof of_rows);
    for (int64_t place = 0; place < n_classes; place++) {
        const int64_t class = moves->classes[place].number;
        int number = 0;
        if (!(of_idle[class] & 1)) {
            group one = {{{0}, {0}}, moves->classes[place].weight};
            for (int rest = 0; rest < moves->n_rests; rest++) {
                const int32_t entry = moves->entries[moves->states[rest] * n_classes + class];
                const uint64_t bit = (uint64_t)1 << rest % 64;
                one.all.restless[rest / 64] |= entry != of_idle[class] ? bit : 0;
                one.all.elsewhere[rest / 64] |= entry != 4 * n_classes * second ? bit : 0;
            }
            number = into_group(&one, columns, 1, &n_columns, N_GLANCE_COLUMNS);
            if (second >= 0 && moves->entries[second * n_classes + class] != of_idle[class]) {
                after_second |= (uint32_t)1 << number;
            }
        }
        of_class[class] = (uint16_t)(number << GLANCE_COLUMN_SHIFT);
    }
    for (int rest = 0; rest < moves->n_rests; rest++) {
        /* Weights of rows are not known any more; the states come in their order. */
        group one = {{{1}, {1}}, MOST_RESTS / (rest + 1)};
        for (int number = 1; number < n_columns; number++) {
            one.all.restless[0] |= (columns[number].all.restless[rest / 64] >> rest % 64 & 1) << number;
            one.all.elsewhere[0] |= (columns[number].all.elsewhere[rest / 64] >> rest % 64 & 1) << number;
        }
        if (moves->states[rest] == moves->idle) {
            row_of[rest] = GLANCE_IDLE_ROW;
            of_rows[GLANCE_IDLE_ROW] = one;
        } else {
            row_of[rest] = into_group(&one, of_rows, GLANCE_IDLE_ROW + 1, &n_rows, N_GLANCE_ROWS);
        }
    }
    for (int row = 0; row < N_GLANCE_ROWS; row++) {
        rows[row] = (uint16_t)of_rows[row].all.restless[0];
        rows[N_GLANCE_ROWS + row] = (uint16_t)of_rows[row].all.elsewhere[0];
    }
    rows[2 * N_GLANCE_ROWS] = (uint16_t)after_second;
    for (int64_t class = 0; class < n_classes; class++) {
        const int64_t state = of_idle[class] / (4 * n_classes);
        if (!(of_idle[class] & 1)) {
            of_class[class] |= (uint16_t)(moves->rest_of[state] < 0 ? 0 : row_of[moves->rest_of[state]]);
        }
    }
}

/* Fill the glances of ids, and the rows. Returns the second state; NO_SECOND if there is none. */
TOKDFA_API int64_t tokdfa_fill_glances(const int32_t *properties, int64_t n_ids, const int32_t *entries,
                                        int64_t n_classes, int64_t n_states, int64_t idle, uint16_t *glances,
                                        uint16_t *rows) {
    weighted *classes = malloc((size_t)n_classes * sizeof *classes);
    weighted *by_state = malloc((size_t)n_states * sizeof *by_state);
    int16_t *rest_of = malloc((size_t)n_states * sizeof *rest_of);
    uint16_t *of_class = malloc((size_t)n_classes * sizeof *of_class);
    const bool is_room = classes && by_state && rest_of && of_class;
    int64_t second = NO_SECOND;
    if (is_room) {
        weigh_classes(properties, n_ids, n_classes, classes);
        known_moves moves = {entries, n_classes, n_states, idle, classes, rest_of, {0}, 0};
        moves.n_rests =
            number_rests(entries + idle * n_classes, n_classes, n_states, classes, by_state, rest_of, moves.states);
        second = find_second(&moves, by_state);
        glance_at_classes(&moves, second, of_class, rows);
        for (int64_t id = 0; id < n_ids; id++) {
            const int64_t length = least((uint32_t)properties[id] >> LENGTH_SHIFT & LENGTH_MASK, GLANCE_NO_LENGTH);
            glances[id] = (uint16_t)(of_class[properties[id] & CLASS_MASK] | length << GLANCE_LENGTH_SHIFT);
        }
    }
    free(classes);
    free(by_state);
    free(rest_of);
    free(of_class);
    return is_room ? second : TOKDFA_NO_MEMORY;
}
