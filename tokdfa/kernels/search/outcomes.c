/* The effects of tokens on the idle state, and which tokens may continue which: computed before a search. */
#include "search.h"

enum { MOST_COLUMNS = 258 };

/* Note the columns, modulo 64, that do not lead a state to the sink. The boundary is one of them, unless it is -1: after
   a symbol it alone may be able to complete a match that ends with the token. */
TOKDFA_API void tokdfa_alive_columns(const int32_t *table, int64_t n_states, int64_t n_columns,
                                     const uint16_t *column_of, int64_t boundary, int64_t *info) {
    bool used[MOST_COLUMNS] = {false};
    for (int symbol = 0; symbol <= EDGE; symbol++) {
        used[column_of[symbol]] = true;
    }
    if (boundary >= 0) {
        used[boundary] = true;
    }
    for (int64_t state = 0; state < n_states; state++) {
        uint64_t alive = 0;
        for (int64_t column = 0; column < n_columns; column++) {
            alive |= (uint64_t)(used[column] && table[state * n_columns + column]) << (column & 63);
        }
        ((tokdfa_state_info *)info + state)->alive = (int64_t)alive;
    }
}

/* The outcome of a token from the idle state; and, where `runs` is not NULL, the states on the way. It is simple when
   there is just one match in the token, which begins in it and not after a byte that is not ASCII. */
static int64_t idle_outcome(const tokdfa_spelled *text, const tokdfa_forward *forward, const tokdfa_backward *backward,
                            int64_t id, int32_t *runs) {
    const bool special = is_special(text, id);
    const int64_t length = special ? 1 : length_of(text, id), idle = forward->idle;
    const uint8_t *bytes = text->bytes + begin_of(text, id);
    bool happens = length == 0, pending = false, complete = false, loose = false;
    bool simple = length < END_MASK && !special;
    int64_t state = idle, start = 0, end = 0;
    for (int64_t offset = 0; offset < length; offset++) {
        const int64_t column = forward->column_of[special ? EDGE : bytes[offset]];
        state = target(forward, state, column);
        if (state == 0) {
            /* The match was complete before this symbol, from which the search restarts if it ended there. */
            simple = simple && pending && end == offset;
            state = target(forward, idle, column);
            pending = false;
            complete = true;
        }
        const tokdfa_state_info *info = info_of(forward, state);
        if (info->delay >= 0) {
            happens = true;
            simple = simple && !complete;
            end = offset + 1;
            start = end - info->fixed;
            int64_t back = backward->initial[info->right];
            if (start == end) {
                loose = true;
                for (int64_t begin = end; simple && back > 0 && begin > 0;) {
                    const uint8_t byte = bytes[--begin];
                    simple = byte < 0x80;
                    back = backward->table[back * (backward->n_classes + 3) + backward->class_of[byte]];
                    if (backward->accepts[back]) {
                        start = begin;
                    }
                }
            }
            pending = true;
            if (info->alive == 0) {
                pending = false;
                complete = true;
                state = idle;
            }
        }
        if (runs && !special) {
            runs[offset] = (int32_t)state;
        }
    }
    if (simple && (pending || complete)) {
        return (start + BIAS) | end << END_SHIFT | MATCH | (complete ? COMPLETE : 0) | (loose ? LOOSE : 0) |
               state_bits(state);
    }
    return happens ? INTRICATE : ACCELERATED | state_bits(state);
}

/* The outcomes of all tokens from the idle state. The pattern has no assertions and is not aligned, so that a search
   restarts in the idle state. `runs` has an entry per byte, or is NULL. */
TOKDFA_API void tokdfa_idle_outcomes(const tokdfa_spelled *text, const tokdfa_forward *forward,
                                     const tokdfa_backward *backward, int64_t *outcomes, int32_t *runs) {
    for (int64_t id = 0; id < text->n_starts - 1; id++) {
        outcomes[id] = idle_outcome(text, forward, backward, id, runs ? runs + begin_of(text, id) : NULL);
    }
}

/* The weight of each column: the number of states that it leads elsewhere than the idle state, times the number of
   tokens that begin with it. Columns that may end the search are left out: they matter only in states with a match
   pending, in which the weight is not used. */
static void weigh(const tokdfa_spelled *text, const tokdfa_forward *forward, const bool *used, int64_t *weight) {
    const int64_t n_columns = forward->n_columns, n_states = forward->n_table / n_columns;
    const int32_t *of_idle = forward->table + forward->idle * n_columns;
    int64_t often[MOST_COLUMNS] = {0};
    for (int64_t id = 0; id < text->n_starts - 1; id++) {
        if (is_special(text, id) || length_of(text, id) > 0) {
            often[first_column(text, forward, id)]++;
        }
    }
    memset(weight, 0, (size_t)n_columns * sizeof *weight);
    for (int64_t state = 0; state < n_states; state++) {
        const int32_t *row = forward->table + state * n_columns;
        for (int64_t column = 0; column < n_columns; column++) {
            weight[column] += (row[column] != of_idle[column]) & (row[column] != 0);
        }
    }
    for (int64_t column = 0; column < n_columns; column++) {
        weight[column] = used[column] ? weight[column] * (1 + often[column]) : 0;
    }
}

/* Put the columns into groups, the heaviest first, each into the lightest group. Those that lead every state where they
   lead the idle one are all in group 0. */
static void share_groups(int64_t *weight, int64_t n_columns, uint8_t *group) {
    int64_t load[N_GROUPS] = {INT64_MAX};
    memset(group, 0, (size_t)n_columns);
    for (;;) {
        int64_t heaviest = 0;
        for (int64_t column = 1; column < n_columns; column++) {
            heaviest = weight[column] > weight[heaviest] ? column : heaviest;
        }
        if (weight[heaviest] == 0) {
            return;
        }
        int lightest = 0;
        for (int each = 1; each < N_GROUPS; each++) {
            lightest = load[each] < load[lightest] ? each : lightest;
        }
        load[lightest] += weight[heaviest];
        group[heaviest] = (uint8_t)lightest;
        weight[heaviest] = 0;
    }
}

/* Fill the tables of accelerated.h: entry 2 q of `groups` has the groups of tokens that may lead state q to where they
   do not lead the idle one, entry 2 q + 1 the groups that may not end the search at once; and the marks of ids. */
TOKDFA_API void tokdfa_mark_groups(const tokdfa_spelled *text, const tokdfa_forward *forward, const int64_t *outcomes,
                                   uint64_t *groups, uint64_t *marks) {
    const int64_t n_columns = forward->n_columns, n_states = forward->n_table / n_columns;
    const int32_t *of_idle = forward->table + forward->idle * n_columns;
    bool used[MOST_COLUMNS] = {false};
    int64_t weight[MOST_COLUMNS];
    uint8_t group[MOST_COLUMNS];
    for (int symbol = 0; symbol <= EDGE; symbol++) {
        used[forward->column_of[symbol]] = true;
    }
    weigh(text, forward, used, weight);
    share_groups(weight, n_columns, group);
    for (int64_t state = 0; state < n_states; state++) {
        const int32_t *row = forward->table + state * n_columns;
        uint64_t live = 0, lasting = 0;
        for (int64_t column = 0; column < n_columns; column++) {
            const bool reaches = used[column] && row[column] != 0;
            live |= (uint64_t)(reaches && row[column] != of_idle[column]) << group[column];
            lasting |= (uint64_t)reaches << group[column];
        }
        groups[2 * state] = live;
        groups[2 * state + 1] = lasting;
    }
    for (int64_t id = 0; id < text->n_starts - 1; id++) {
        const int64_t outcome = outcomes[id];
        const bool pending = (outcome & (MATCH | COMPLETE)) == MATCH && outcome >= 0;
        const uint64_t happens = outcome < 0 || !(outcome & ACCELERATED);
        const bool empty = !is_special(text, id) && length_of(text, id) == 0;
        const uint64_t own = empty ? 0 : group[first_column(text, forward, id)];
        marks[id] = groups[2 * (greatest(outcome, 0) >> STATE_SHIFT) + pending] | own << GROUP_SHIFT |
                    happens << HAPPENS_SHIFT | (uint64_t)length_of(text, id) << SIZE_OF_MARKS;
    }
}
