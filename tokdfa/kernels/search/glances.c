/* What a search that looks at many tokens at a time has to know of each of them.

   A token is at rest if it leads to the state to which it leads from the idle state, and nothing happens on the way. If
   the token before it is at rest too, whether it is depends on these two tokens alone, so pairs of neighbours can be
   tested independently: the one before has a row of bits, and the other one the column of its bit. There are few rows
   and columns. Those that differ least are merged; then some tokens that are at rest are not recognized, and are read
   one by one. */
#include <stdlib.h>

#include "search.h"

/* The states in which tokens are at rest, the most frequent ones; each has a bit in the columns. */
enum { MOST_RESTS = 256, N_WORDS = MOST_RESTS / 64 };

/* Something with a weight, and its number. */
typedef struct {
    int64_t weight, number;
} weighted;

/* A group of sets of bits, as their union. */
typedef struct {
    uint64_t bits[N_WORDS];
    int64_t weight;
} group;

static int heavier_first(const void *a, const void *b) {
    const weighted *x = a, *y = b;
    if (x->weight != y->weight) {
        return x->weight < y->weight ? 1 : -1;
    }
    return (x->number > y->number) - (x->number < y->number);
}

/* Put a set of bits into a group and return its number: that of an equal set, a new group if there is room, or the one
   that it changes least. Groups before the first one are left alone; in group 0 all bits are set. */
static int into_group(const group *one, group *groups, int first, int *n_groups, int most) {
    int best = 0;
    int64_t least_cost = INT64_MAX;
    for (int number = first; number < *n_groups && least_cost > 0; number++) {
        const group *other = groups + number;
        int64_t cost = 0;
        for (int word = 0; word < N_WORDS; word++) {
            cost += other->weight * count_ones(one->bits[word] & ~other->bits[word]) +
                    one->weight * count_ones(other->bits[word] & ~one->bits[word]);
        }
        if (cost < least_cost) {
            least_cost = cost;
            best = number;
        }
    }
    if (least_cost > 0 && *n_groups < most) {
        best = (*n_groups)++;
        groups[best] = (group){{0}, 0};
    }
    for (int word = 0; word < N_WORDS; word++) {
        groups[best].bits[word] |= one->bits[word];
    }
    groups[best].weight += one->weight;
    return best;
}

/* Weigh the classes by their tokens: in most vocabularies the frequent ones come first. Returns them in order. */
static void weigh_classes(const int32_t *properties, int64_t n_ids, int64_t n_classes, weighted *classes) {
    for (int64_t class = 0; class < n_classes; class++) {
        classes[class] = (weighted){1, class};
    }
    for (int64_t id = 0; id < n_ids; id++) {
        classes[properties[id] & CLASS_MASK].weight += (1 << 24) / (id + 64);
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

/* The glance of each class, without the length: see search.h. */
static void glance_at_classes(const int32_t *entries, int64_t n_classes, int64_t idle, const weighted *classes,
                              const int16_t *rest_of, const int64_t *states, int n_rests, uint16_t *of_class,
                              uint16_t *rows) {
    const int32_t *of_idle = entries + idle * n_classes;
    group columns[N_GLANCE_COLUMNS], of_rows[N_GLANCE_ROWS] = {{{0}, 0}};
    int n_columns = 1, n_rows = GLANCE_IDLE_ROW + 1, row_of[MOST_RESTS];
    for (int64_t place = 0; place < n_classes; place++) {
        const int64_t class = classes[place].number;
        int number = 0;
        if (!(of_idle[class] & 1)) {
            group one = {{0}, classes[place].weight};
            for (int rest = 0; rest < n_rests; rest++) {
                const bool differs = entries[states[rest] * n_classes + class] != of_idle[class];
                one.bits[rest / 64] |= (uint64_t)differs << rest % 64;
            }
            number = into_group(&one, columns, 1, &n_columns, N_GLANCE_COLUMNS);
        }
        of_class[class] = (uint16_t)(number << GLANCE_COLUMN_SHIFT);
    }
    for (int rest = 0; rest < n_rests; rest++) {
        /* Weights of rows are not known any more; the states come in their order. */
        group one = {{1}, MOST_RESTS / (rest + 1)};
        for (int number = 1; number < n_columns; number++) {
            one.bits[0] |= (columns[number].bits[rest / 64] >> rest % 64 & 1) << number;
        }
        if (states[rest] == idle) {
            row_of[rest] = GLANCE_IDLE_ROW;
            of_rows[GLANCE_IDLE_ROW] = one;
        } else {
            row_of[rest] = into_group(&one, of_rows, GLANCE_IDLE_ROW + 1, &n_rows, N_GLANCE_ROWS);
        }
    }
    for (int row = 0; row < N_GLANCE_ROWS; row++) {
        rows[row] = row > 0 && row < n_rows ? (uint16_t)of_rows[row].bits[0] : UINT16_MAX;
    }
    for (int64_t class = 0; class < n_classes; class++) {
        const int64_t state = of_idle[class] / (4 * n_classes);
        if (!(of_idle[class] & 1)) {
            const int row = rest_of[state] < 0 ? 0 : row_of[rest_of[state]];
            of_class[class] |= (uint16_t)row;
        }
    }
}

/* Fill the glances of ids, and the rows. Returns 0 unless there is no memory. */
TOKDFA_DOOR int64_t tokdfa_fill_glances(const int32_t *properties, int64_t n_ids, const int32_t *entries,
                                        int64_t n_classes, int64_t n_states, int64_t idle, uint16_t *glances,
                                        uint16_t *rows) {
    weighted *classes = malloc((size_t)n_classes * sizeof *classes);
    weighted *by_state = malloc((size_t)n_states * sizeof *by_state);
    int16_t *rest_of = malloc((size_t)n_states * sizeof *rest_of);
    uint16_t *of_class = malloc((size_t)n_classes * sizeof *of_class);
    int64_t states[MOST_RESTS];
    const bool is_room = classes && by_state && rest_of && of_class;
    if (is_room) {
        weigh_classes(properties, n_ids, n_classes, classes);
        const int n_rests =
            number_rests(entries + idle * n_classes, n_classes, n_states, classes, by_state, rest_of, states);
        glance_at_classes(entries, n_classes, idle, classes, rest_of, states, n_rests, of_class, rows);
        for (int64_t id = 0; id < n_ids; id++) {
            const int64_t length = least((uint32_t)properties[id] >> LENGTH_SHIFT & LENGTH_MASK, GLANCE_NO_LENGTH);
            glances[id] = (uint16_t)(of_class[properties[id] & CLASS_MASK] | length << GLANCE_LENGTH_SHIFT);
        }
    }
    free(classes);
    free(by_state);
    free(rest_of);
    free(of_class);
    return is_room ? 0 : TOKDFA_NO_MEMORY;
}
