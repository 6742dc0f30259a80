/* The codes of tokens by which a search scans many of them at a time.

   A token is accelerated if it leads to the state to which it leads from the idle state, and nothing happens on the
   way; otherwise it is active. After an accelerated token, whether the next one is accelerated depends on these two
   alone, so pairs of neighbours are tested independently: the first has a row of bits, and the second the column of its
   bit. There are few rows and columns. Those that differ least are merged; then some accelerated tokens are not
   recognized, and are read one by one.

   Searching "cat" in the tokens of " a", " c", "at": from the idle state, " a" leads back to it, and " c" to the state
   after "c". " c" is accelerated, because nothing happens on the way. After " a" it is so too: the state is the same. "at"
   is accelerated after " a" (it leads to the idle state, as from there), and active after " c", where it completes the
   match. So the rows of " a" and " c" differ in the column of "at", and only the pair " c", "at" has to be read.

   Many pairs with an active second token may lead to one and the same state, the second state: after a symbol that is
   spelled by two tokens, for instance, most patterns wait as they do after any other. These pairs have bits of their
   own, and so have the tokens that are active after the second state. */
#include <stdlib.h>

#include "search.h"

/* The most frequent accelerated states; each has a bit in the columns. */
enum { MOST_ACCELERATED = 256, N_WORDS = MOST_ACCELERATED / 64 };

/* A class or a state, and its weight. */
typedef struct {
    int64_t weight, index;
} weighted;

/* Pairs of tokens, by the state after the first one: the second one is active; and it does not lead to the second
   state, or something happens. */
typedef struct {
    uint64_t active[N_WORDS], elsewhere[N_WORDS];
} pairs;

/* A group of such sets, as their union. */
typedef struct {
    pairs all;
    int64_t weight;
} group;

/* The effects of classes on states, which belong to the caller. */
typedef struct {
    const int32_t *entries; /* by state and class; see search.h */
    int64_t n_classes, n_states, idle;
    const weighted *classes;          /* in the order of their weight */
    const int16_t *accelerated_of;    /* by state: its index in `states`, -1 for none */
    int64_t states[MOST_ACCELERATED]; /* the accelerated ones, the heaviest first */
    int n_accelerated;
} known_moves;

static int heavier_first(const void *a, const void *b) {
    const weighted *x = a, *y = b;
    if (x->weight != y->weight) {
        return x->weight < y->weight ? 1 : -1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

/* The index of pairs known to be harmless that a set loses when it becomes a larger one. */
static int64_t n_lost(const pairs *before, const pairs *after) {
    int64_t n = 0;
    for (int word = 0; word < N_WORDS; word++) {
        n += count_ones(after->active[word] & after->elsewhere[word] &
                        ~(before->active[word] & before->elsewhere[word]));
    }
    return n;
}

static pairs united(const pairs *one, const pairs *other) {
    pairs both;
    for (int word = 0; word < N_WORDS; word++) {
        both.active[word] = one->active[word] | other->active[word];
        both.elsewhere[word] = one->elsewhere[word] | other->elsewhere[word];
    }
    return both;
}

/* Put a set into a group and return its index: the group of an equal set, a new group if there are fewer than most, or
   the group with which least is lost. Groups before the first one are left alone; in group 0 all bits are set. */
static int into_group(const group *one, group *groups, int first, int *n_groups, int most) {
    int best = 0;
    int64_t least_cost = INT64_MAX;
    for (int index = first; index < *n_groups && least_cost > 0; index++) {
        const group *other = groups + index;
        const pairs both = united(&one->all, &other->all);
        const int64_t cost = other->weight * n_lost(&other->all, &both) + one->weight * n_lost(&one->all, &both);
        if (cost < least_cost) {
            least_cost = cost;
            best = index;
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

/* List the accelerated states, the heaviest first: `states`, and `accelerated_of` the index of a state among them, -1
   of others. Returns how many there are. */
static int list_accelerated(const int32_t *of_idle, int64_t n_classes, int64_t n_states, const weighted *classes,
                            weighted *by_state, int16_t *accelerated_of, int64_t *states) {
    for (int64_t state = 0; state < n_states; state++) {
        by_state[state] = (weighted){0, state};
        accelerated_of[state] = -1;
    }
    for (int64_t rank = 0; rank < n_classes; rank++) {
        const int32_t entry = of_idle[classes[rank].index];
        if (!(entry & 1)) {
            by_state[entry / (4 * n_classes)].weight += classes[rank].weight;
        }
    }
    qsort(by_state, (size_t)n_states, sizeof *by_state, heavier_first);
    int n_accelerated = 0;
    while (n_accelerated < least(MOST_ACCELERATED, n_states) && by_state[n_accelerated].weight > 0) {
        states[n_accelerated] = by_state[n_accelerated].index;
        accelerated_of[by_state[n_accelerated].index] = (int16_t)n_accelerated;
        n_accelerated++;
    }
    return n_accelerated;
}

/* The state that most pairs with an active second token lead to; NO_SECOND if there is none. `by_state` is
   overwritten. */
static int64_t find_second(const known_moves *moves, weighted *by_state) {
    const int32_t *of_idle = moves->entries + moves->idle * moves->n_classes;
    int64_t second = 0;
    for (int64_t state = 0; state < moves->n_states; state++) {
        by_state[state] = (weighted){0, state};
    }
    for (int64_t rank = 0; rank < moves->n_classes; rank++) {
        const int64_t class = moves->classes[rank].index, weight = moves->classes[rank].weight;
        for (int nth = 0; nth < moves->n_accelerated; nth++) {
            const int32_t entry = moves->entries[moves->states[nth] * moves->n_classes + class];
            if (entry != of_idle[class] && !(of_idle[class] & 1)) {
                by_state[entry / (4 * moves->n_classes)].weight += entry & 1 ? 0 : 1 + weight / (nth + 1);
            }
        }
    }
    for (int64_t state = 1; state < moves->n_states; state++) {
        second = by_state[state].weight > by_state[second].weight ? state : second;
    }
    return by_state[second].weight > 0 ? second : NO_SECOND;
}

/* The code of each class, without the length, and the rows: see search.h. */
static void code_classes(const known_moves *moves, int64_t second, uint16_t *of_class, uint16_t *rows) {
    const int64_t n_classes = moves->n_classes;
    const int32_t *of_idle = moves->entries + moves->idle * n_classes;
    group columns[N_CODE_COLUMNS], of_rows[N_CODE_ROWS];
    int n_columns = 1, n_rows = CODE_IDLE_ROW + 1, row_of[MOST_ACCELERATED];
    uint32_t after_second = 1;
    memset(of_rows, 0xFF, sizeof of_rows);
    for (int64_t rank = 0; rank < n_classes; rank++) {
        const int64_t class = moves->classes[rank].index;
        int index = 0;
        if (!(of_idle[class] & 1)) {
            group one = {{{0}, {0}}, moves->classes[rank].weight};
            for (int nth = 0; nth < moves->n_accelerated; nth++) {
                const int32_t entry = moves->entries[moves->states[nth] * n_classes + class];
                const uint64_t bit = (uint64_t)1 << nth % 64;
                one.all.active[nth / 64] |= entry != of_idle[class] ? bit : 0;
                one.all.elsewhere[nth / 64] |= entry != 4 * n_classes * second ? bit : 0;
            }
            index = into_group(&one, columns, 1, &n_columns, N_CODE_COLUMNS);
            if (second >= 0 && moves->entries[second * n_classes + class] != of_idle[class]) {
                after_second |= (uint32_t)1 << index;
            }
        }
        of_class[class] = (uint16_t)(index << CODE_COLUMN_SHIFT);
    }
    for (int nth = 0; nth < moves->n_accelerated; nth++) {
        /* The weights of rows are lost; the states come in their order. */
        group one = {{{1}, {1}}, MOST_ACCELERATED / (nth + 1)};
        for (int index = 1; index < n_columns; index++) {
            one.all.active[0] |= (columns[index].all.active[nth / 64] >> nth % 64 & 1) << index;
            one.all.elsewhere[0] |= (columns[index].all.elsewhere[nth / 64] >> nth % 64 & 1) << index;
        }
        if (moves->states[nth] == moves->idle) {
            row_of[nth] = CODE_IDLE_ROW;
            of_rows[CODE_IDLE_ROW] = one;
        } else {
            row_of[nth] = into_group(&one, of_rows, CODE_IDLE_ROW + 1, &n_rows, N_CODE_ROWS);
        }
    }
    for (int row = 0; row < N_CODE_ROWS; row++) {
        rows[row] = (uint16_t)of_rows[row].all.active[0];
        rows[N_CODE_ROWS + row] = (uint16_t)of_rows[row].all.elsewhere[0];
    }
    rows[2 * N_CODE_ROWS] = (uint16_t)after_second;
    for (int64_t class = 0; class < n_classes; class++) {
        const int64_t state = of_idle[class] / (4 * n_classes);
        if (!(of_idle[class] & 1)) {
            of_class[class] |= (uint16_t)(moves->accelerated_of[state] < 0 ? 0 : row_of[moves->accelerated_of[state]]);
        }
    }
}

/* Fill the codes of ids, and the rows. Returns the second state; NO_SECOND if there is none. */
TOKDFA_API int64_t tokdfa_fill_prefilter(const int32_t *properties, int64_t n_ids, const int32_t *entries,
                                         int64_t n_classes, int64_t n_states, int64_t idle, uint16_t *codes,
                                         uint16_t *rows) {
    weighted *classes = malloc((size_t)n_classes * sizeof *classes);
    weighted *by_state = malloc((size_t)n_states * sizeof *by_state);
    int16_t *accelerated_of = malloc((size_t)n_states * sizeof *accelerated_of);
    uint16_t *of_class = malloc((size_t)n_classes * sizeof *of_class);
    const bool has_memory = classes && by_state && accelerated_of && of_class;
    int64_t second = NO_SECOND;
    if (has_memory) {
        weigh_classes(properties, n_ids, n_classes, classes);
        known_moves moves = {entries, n_classes, n_states, idle, classes, accelerated_of, {0}, 0};
        moves.n_accelerated = list_accelerated(entries + idle * n_classes, n_classes, n_states, classes, by_state,
                                               accelerated_of, moves.states);
        second = find_second(&moves, by_state);
        code_classes(&moves, second, of_class, rows);
        for (int64_t id = 0; id < n_ids; id++) {
            const int64_t length = least((uint32_t)properties[id] >> LENGTH_SHIFT & LENGTH_MASK, CODE_NO_LENGTH);
            codes[id] = (uint16_t)(of_class[properties[id] & CLASS_MASK] | length << CODE_LENGTH_SHIFT);
        }
    }
    free(classes);
    free(by_state);
    free(accelerated_of);
    free(of_class);
    return has_memory ? second : TOKDFA_NO_MEMORY;
}
