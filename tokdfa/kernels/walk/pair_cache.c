/* A cache of a function of pairs of numbers, read and filled for many pairs at once. */
#include "pair_cache.h"

/* Write down the values of pairs, and return how many are not cached. */
TOKDFA_API int64_t tokdfa_cached_pairs(const tokdfa_pair_cache *cache, const int32_t *left, const int32_t *right,
                                       int64_t n, uint8_t *values) {
    int64_t n_missing = 0;
    for (int64_t i = 0; i < n; i++) {
        values[i] = cached_value(cache, left[i], right[i]);
        n_missing += values[i] == NOT_CACHED;
    }
    return n_missing;
}

/* Enter each pair with its value at the front of its set. The entry of the same pair, or a free one, or the last one is
   replaced, and the entries before it move by one. */
TOKDFA_API void tokdfa_cache_pairs(tokdfa_pair_cache *cache, const int32_t *left, const int32_t *right, int64_t n,
                                   const uint8_t *values) {
    for (int64_t i = 0; i < n; i++) {
        const uint64_t pair = pair_of(left[i], right[i]), entry = pair << PAIR_VALUE_BITS | values[i];
        uint64_t *entries = entries_of(cache, pair);
        int way = 0;
        while (way < N_WAYS - 1 && entries[way] != EMPTY_ENTRY && entries[way] >> PAIR_VALUE_BITS != pair) {
            way++;
        }
        for (; way; way--) {
            entries[way] = entries[way - 1];
        }
        entries[0] = entry;
    }
}
