/* Words of ASCII letters and digits, read eight bytes at a time and looked up whole. */
#ifndef TOKDFA_ASCII_WORDS_H
#define TOKDFA_ASCII_WORDS_H

#include "../common/packed.h"

#define ONES 0x0101010101010101u
#define HIGH 0x8080808080808080u
#define CASE 0x2020202020202020u

/* Of eight bytes, the high bit of each that is not an ASCII letter or digit. */
ALWAYS_INLINE uint64_t find_gaps(uint64_t eight) {
    const uint64_t low = eight & ~HIGH, lower = low | CASE;
    /* Adding 128 - x to a number below 128 sets its high bit if and only if it is x or more. */
    const uint64_t letter = (lower + ONES * (128 - 97)) & ~(lower + ONES * (128 - 123));
    const uint64_t digit = (low + ONES * (128 - 48)) & ~(low + ONES * (128 - 58));
    return ~((letter | digit) & ~eight) & HIGH;
}

/* The number of bytes before the first of the gaps; there is at least one gap. */
ALWAYS_INLINE int64_t width_before(uint64_t gaps) {
    return __builtin_ctzll(gaps) >> 3;
}

/* Eight ASCII letters, digits and zeros in lower case. */
ALWAYS_INLINE uint64_t to_lower(uint64_t eight) {
    return eight | (eight >> 1 & CASE);
}

ALWAYS_INLINE uint64_t lowest_bytes(uint64_t eight, int64_t n) {
    return eight & (((uint64_t)1 << 8 * n) - 1);
}

/* The slot of a word, or the empty one where it belongs. */
ALWAYS_INLINE uint64_t find_word(const uint64_t *words, int64_t n_words, uint64_t low, uint64_t high) {
    const uint64_t mask = (uint64_t)(n_words / 3) - 1;
    uint64_t slot = hash_packed(low, high) >> 20 & mask;
    while (words[3 * slot] && (words[3 * slot] != low || words[3 * slot + 1] != high)) {
        slot = (slot + 1) & mask;
    }
    return 3 * slot;
}

#endif
