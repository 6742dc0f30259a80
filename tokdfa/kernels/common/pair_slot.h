/* Pairs of tokens in hash tables with open addressing: a key is left << 32 | right, and -1 where there is none. */
#ifndef TOKDFA_PAIR_SLOT_H
#define TOKDFA_PAIR_SLOT_H

#include "base.h"

ALWAYS_INLINE int64_t pair_key(int64_t left, int64_t right) {
    return (int64_t)((uint64_t)left << 32 | (uint64_t)right);
}

/* The slot at which the search for a key begins. */
ALWAYS_INLINE uint64_t first_pair_slot(int64_t n_keys, int64_t key) {
    /* Fibonacci hashing; the multiplier is 2^64 over the golden ratio. */
    return ((uint64_t)key * 0x9E3779B97F4A7C15u >> 32) & ((uint64_t)n_keys - 1);
}

/* The slot of a key, or the free one where it would be. The number of slots is a power of two, and one is free. */
ALWAYS_INLINE int64_t pair_slot(const int64_t *keys, int64_t n_keys, int64_t key) {
    uint64_t mask = (uint64_t)n_keys - 1, slot = first_pair_slot(n_keys, key);
    while (keys[slot] != key && keys[slot] >= 0) {
        slot = (slot + 1) & mask;
    }
    return (int64_t)slot;
}

#endif
