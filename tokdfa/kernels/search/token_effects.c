/* The effects of tokens on all states of a searching automaton at once, and the classes of tokens with equal
   effects. */
#include <stdlib.h>

#include "search.h"

/* The index of the last effect: the index of an equal one before it, if there is one. */
static int32_t index_of_effect(const int32_t *effects, int32_t *known, uint64_t buckets, int64_t n_effects,
                               int64_t n_states) {
    const int32_t *last = effects + n_effects * n_states;
    /* Four sums, so that none waits for another. */
    uint64_t keys[4] = {1, 2, 3, 4}, key = 0;
    for (int64_t state = 0; state < n_states; state++) {
        keys[state & 3] = (keys[state & 3] ^ (uint64_t)last[state]) * HASH;
    }
    for (int i = 0; i < 4; i++) {
        key = (key ^ keys[i] ^ keys[i] >> 29) * HASH;
    }
    uint64_t bucket = (key ^ (key >> 32)) & (buckets - 1);
    for (; known[bucket] >= 0; bucket = (bucket + 1) & (buckets - 1)) {
        if (!memcmp(effects + known[bucket] * n_states, last, (size_t)n_states * sizeof *last)) {
            return known[bucket];
        }
    }
    known[bucket] = (int32_t)n_effects;
    return (int32_t)n_effects;
}

/* Where the states are led by each column, one column after the other: four times the target, plus 1 if a match has
   ended there or the search is dead, and plus 2 if it is dead. NULL if out of memory. */
static int32_t *entries_by_column(const tokdfa_forward *forward, int64_t n_states) {
    const int64_t n_columns = forward->n_columns;
    int32_t *entries = malloc((size_t)(n_columns * n_states) * sizeof *entries);
    for (int64_t state = 0; entries && state < n_states; state++) {
        for (int64_t column = 0; column < n_columns; column++) {
            const int64_t reached = target(forward, state, column);
            const int32_t marks = reached == 0 ? 3 : info_of(forward, reached)->delay >= 0;
            entries[column * n_states + state] = (int32_t)(4 * reached) + marks;
        }
    }
    return entries;
}

/* The effect followed by a column; whether the first symbol of a token ends the search is kept apart from the
   others. */
static void follow_column(const int32_t *restrict entries, const int32_t *restrict effect, bool is_first,
                          int64_t n_states, int32_t *restrict made) {
    for (int64_t state = 0; state < n_states; state++) {
        const int32_t entry = entries[effect[state] >> 2];
        made[state] = is_first ? entry : (entry & ~2) | (effect[state] & 3);
    }
}

/* The effect of each token on all states; see search.py. `effects` has max_effects + 1 rows.
   Returns their number; 0 if there are more than max_effects. */
TOKDFA_API int64_t tokdfa_token_effects(const tokdfa_spelled *text, const tokdfa_forward *forward, int64_t max_effects,
                                        int32_t *effect, int32_t *effects) {
    const int64_t n_columns = forward->n_columns, n_states = forward->n_table / n_columns;
    uint64_t buckets = 16;
    while (buckets < 2 * (uint64_t)(max_effects + 2)) {
        buckets *= 2;
    }
    int32_t *known = malloc((size_t)buckets * sizeof *known);
    int32_t *following = malloc((size_t)(max_effects + 1) * (size_t)n_columns * sizeof *following);
    int32_t *entries = entries_by_column(forward, n_states);
    if (!known || !following || !entries) {
        free(known);
        free(following);
        free(entries);
        return TOKDFA_NO_MEMORY;
    }
    memset(known, -1, (size_t)buckets * sizeof *known);
    memset(following, -1, (size_t)n_columns * sizeof *following);
    for (int64_t state = 0; state < n_states; state++) {
        effects[state] = (int32_t)(4 * state);
    }
    /* Effect 0 is the effect of reading nothing. It equals no other, so that the symbol after it is known to be the
       first. */
    int64_t n_effects = 1;
    for (int64_t id = 0; id < text->n_starts - 1 && n_effects; id++) {
        const uint8_t *bytes = text->bytes + begin_of(text, id);
        const bool special = is_special(text, id);
        const int64_t length = special ? 1 : length_of(text, id), end = length + (forward->boundary >= 0);
        int64_t current = 0;
        for (int64_t offset = 0; offset < end; offset++) {
            const int64_t symbol = special ? EDGE : offset < length ? bytes[offset] : 0;
            const int64_t column = offset == length ? forward->boundary : forward->column_of[symbol];
            int32_t after = following[current * n_columns + column];
            if (after < 0) {
                follow_column(entries + column * n_states, effects + current * n_states, current == 0, n_states,
                              effects + n_effects * n_states);
                after = index_of_effect(effects, known, buckets, n_effects, n_states);
                if (after == n_effects) {
                    if (++n_effects > max_effects) {
                        n_effects = 0;
                        break;
                    }
                    memset(following + after * n_columns, -1, (size_t)n_columns * sizeof *following);
                }
                following[current * n_columns + column] = after;
            }
            current = after;
        }
        effect[id] = (int32_t)current;
    }
    free(known);
    free(following);
    free(entries);
    return n_effects;
}

/* Give each effect that tokens have a class; `class_of` has an entry for each effect, -1 where no token has it.
   Returns their number. */
TOKDFA_API int64_t tokdfa_number_classes(const int32_t *effect, int64_t n_ids, int64_t n_effects, int32_t *class_of) {
    memset(class_of, -1, (size_t)n_effects * sizeof *class_of);
    for (int64_t id = 0; id < n_ids; id++) {
        class_of[effect[id]] = 0;
    }
    int32_t n_classes = 0;
    for (int64_t index = 0; index < n_effects; index++) {
        if (class_of[index] == 0) {
            class_of[index] = n_classes++;
        }
    }
    return n_classes;
}

/* Fill the properties of ids, and the effects of classes on states; see search.h. */
TOKDFA_API void tokdfa_fill_classes(const tokdfa_spelled *text, const tokdfa_forward *forward,
                                    const tokdfa_class_job *job) {
    const int64_t n_states = forward->n_table / forward->n_columns, n_classes = job->n_classes;
    for (int64_t index = 0; index < job->n_effects; index++) {
        if (job->class_of[index] < 0) {
            continue;
        }
        for (int64_t state = 0; state < n_states; state++) {
            const int32_t entry = job->effects[index * n_states + state];
            job->entries[state * n_classes + job->class_of[index]] = (int32_t)((entry >> 2) * 4 * n_classes) +
                                                                     (entry & 3);
        }
    }
    for (int64_t id = 0; id < text->n_starts - 1; id++) {
        const uint32_t class = (uint32_t)job->class_of[job->effect[id]];
        job->properties[id] = (int32_t)(class | (uint32_t)length_of(text, id) << LENGTH_SHIFT);
    }
}
