/* What tokens do to all states of an automaton at once. */
#include <stdlib.h>

#include "../common/base.h"
#include "door.h"

/* The number of the last effect: that of an equal one before it, if there is one. */
static int32_t number(const int32_t *effects, int32_t *known, uint64_t buckets, int64_t n_effects, int64_t n_states) {
    const int32_t *last = effects + n_effects * n_states;
    uint64_t key = 0x9E3779B97F4A7C15u;
    for (int64_t state = 0; state < n_states; state++) {
        key = (key ^ (uint64_t)last[state]) * 0xBF58476D1CE4E5B9u;
        key ^= key >> 29;
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

/* What each of some words does to all states; see the door. `effects` has room for max_effects + 1 of them. Returns
   their number; 0 if there are more than max_effects. */
TOKDFA_DOOR int64_t tokdfa_token_effects(const int32_t *table, int64_t n_states, int64_t n_columns,
                                         const int32_t *symbols, const int64_t *offsets, int64_t n_words, int64_t last,
                                         int64_t max_effects, int32_t *effect, int32_t *effects) {
    uint64_t buckets = 16;
    while (buckets < 2 * (uint64_t)(max_effects + 2)) {
        buckets *= 2;
    }
    int32_t *known = malloc((size_t)buckets * sizeof *known);
    int32_t *following = malloc((size_t)(max_effects + 1) * (size_t)n_columns * sizeof *following);
    if (!known || !following) {
        free(known);
        free(following);
        return TOKDFA_NO_MEMORY;
    }
    memset(known, -1, (size_t)buckets * sizeof *known);
    memset(following, -1, (size_t)n_columns * sizeof *following);
    for (int64_t state = 0; state < n_states; state++) {
        effects[state] = (int32_t)(4 * state);
    }
    /* Effect 0 is that of reading nothing. It is no one's equal, so that what follows it is known to come first. */
    int64_t n_effects = 1;
    for (int64_t word = 0; word < n_words && n_effects; word++) {
        int64_t current = 0, end = offsets[word + 1] + (last >= 0);
        for (int64_t place = offsets[word]; place < end; place++) {
            int64_t symbol = place < offsets[word + 1] ? symbols[place] : last;
            int32_t after = following[current * n_columns + symbol];
            if (after < 0) {
                for (int64_t state = 0; state < n_states; state++) {
                    int32_t entry = effects[current * n_states + state];
                    int32_t made = table[(int64_t)(entry >> 2) * n_columns + symbol];
                    effects[n_effects * n_states + state] = current ? (made & ~2) | (entry & 3) : made;
                }
                after = number(effects, known, buckets, n_effects, n_states);
                if (after == n_effects) {
                    if (++n_effects > max_effects) {
                        n_effects = 0;
                        break;
                    }
                    memset(following + after * n_columns, -1, (size_t)n_columns * sizeof *following);
                }
                following[current * n_columns + symbol] = after;
            }
            current = after;
        }
        effect[word] = (int32_t)current;
    }
    free(known);
    free(following);
    return n_effects;
}
