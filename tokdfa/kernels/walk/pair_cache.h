/* A cache of a function of pairs of numbers; see neighbours.py. */
#ifndef TOKDFA_PAIR_CACHE_H
#define TOKDFA_PAIR_CACHE_H

#include "../common/base.h"
#include "api.h"

enum { PAIR_VALUE_BITS = 4, PAIR_NUMBER_BITS = 30, NOT_CACHED = 15, N_WAYS = 4 };

static const uint64_t EMPTY_ENTRY = ~(uint64_t)0;

/* A pair as one number. */
ALWAYS_INLINE uint64_t pair_of(int32_t left, int32_t right) {
    return (uint64_t)((int64_t)left + 1) << PAIR_NUMBER_BITS | (uint64_t)((int64_t)right + 1);
}

/* The first of the N_WAYS entries that may have a pair. */
ALWAYS_INLINE uint64_t *entries_of(const tokdfa_pair_cache *cache, uint64_t pair) {
    /* Fibonacci hashing; the multiplier is 2^64 over the golden ratio. */
    const uint64_t hash = pair * 0x9E3779B97F4A7C15u >> 32;
    return cache->entries + (hash & ((uint64_t)cache->n_entries - N_WAYS));
}

/* The value of a pair; NOT_CACHED if it is not in the cache. */
ALWAYS_INLINE uint8_t cached_value(const tokdfa_pair_cache *cache, int32_t left, int32_t right) {
    const uint64_t pair = pair_of(left, right), *entries = entries_of(cache, pair);
    /* PERF: without branches; which entry it is cannot be predicted. */
    uint64_t value = NOT_CACHED;
    for (int way = 0; way < N_WAYS; way++) {
        value = entries[way] >> PAIR_VALUE_BITS == pair ? entries[way] & NOT_CACHED : value;
    }
    return (uint8_t)value;
}

#endif
