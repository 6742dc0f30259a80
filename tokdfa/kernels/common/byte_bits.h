/* A bit for each of 64 bytes. */
#ifndef TOKDFA_BYTE_BITS_H
#define TOKDFA_BYTE_BITS_H

#include "vectors.h"

#ifdef TOKDFA_VECTORS

/* 64 bytes. */
typedef struct {
    vector part[WORD_VECTORS];
} byte_word;

ALWAYS_INLINE byte_word load_word(const uint8_t *bytes) {
    byte_word word;
    for (int i = 0; i < WORD_VECTORS; i++) {
        word.part[i] = load_vector(bytes + i * VECTOR_BYTES);
    }
    return word;
}

/* Which of 64 bytes are at least 0x80. */
ALWAYS_INLINE uint64_t high_bytes(const uint8_t *bytes) {
    const byte_word word = load_word(bytes);
    return highest_bits(word.part, WORD);
}

/* The same from the last byte to the first. */
ALWAYS_INLINE uint64_t high_bytes_backwards(const uint8_t *bytes) {
    vector part[WORD_VECTORS];
    for (int i = 0; i < WORD_VECTORS; i++) {
        part[i] = vector_backwards(load_vector(bytes + (WORD_VECTORS - 1 - i) * VECTOR_BYTES));
    }
    return highest_bits(part, WORD);
}

/* Which of 64 bytes are at least 0xC0. */
ALWAYS_INLINE uint64_t highest_bytes(const uint8_t *bytes) {
    const byte_word word = load_word(bytes);
    return bits_of_highest(word.part, WORD);
}

/* Which of 64 bytes are not 0, if all of them are below 4. */
ALWAYS_INLINE uint64_t small_bytes(const uint8_t *bytes) {
    vector part[WORD_VECTORS];
    for (int i = 0; i < WORD_VECTORS; i++) {
        part[i] = vector_greater(load_vector(bytes + i * VECTOR_BYTES), splat(0));
    }
    return bits_of_masks(part, WORD);
}

/* Which of 64 bytes have the second lowest bit, if all of them are below 4. */
ALWAYS_INLINE uint64_t second_bits(const uint8_t *bytes) {
    const byte_word word = load_word(bytes);
    return bits_with(word.part, WORD, 1);
}

/* The bits that the halves of bytes have in common, by tables of 16 for the low and the high half. */
ALWAYS_INLINE vector common_bits(const uint8_t *bytes, vector low, vector high) {
    const vector here = load_vector(bytes);
    return vector_and(look_up_16(low, low_halves(here)), look_up_16(high, high_halves(here)));
}

ALWAYS_INLINE uint64_t may_begin(const uint8_t *filter, const uint8_t *bytes) {
    const uint8_t *halves = filter + 2 * 256;
    const vector low = load_table(halves), high = load_table(halves + 16);
    const vector next_low = load_table(halves + 32), next_high = load_table(halves + 48);
    vector part[WORD_VECTORS];
    for (int i = 0; i < WORD_VECTORS; i++) {
        const uint8_t *here = bytes + i * VECTOR_BYTES;
        part[i] = vector_and(common_bits(here, low, high), common_bits(here + 1, next_low, next_high));
    }
    return bits_of_nonzero(part, WORD);
}

#else
/* Which of 64 bytes may begin a word, by that byte and the next one; 65 bytes are read.

   A filter has a bit for each of eight groups of words: by their first byte, by their second one, and then, for larger
   sets of both, by the low and the high half of either, 2 * 256 and 4 * 16 entries. */
ALWAYS_INLINE uint64_t may_begin(const uint8_t *filter, const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i++) {
        bits |= (uint64_t)((filter[bytes[i]] & filter[256 + bytes[i + 1]]) != 0) << i;
    }
    return bits;
}

/* The highest bits of eight bytes. */
ALWAYS_INLINE uint64_t highest_of_eight(uint64_t bytes) {
    return ((bytes >> 7 & 0x0101010101010101u) * 0x0102040810204080u) >> 56;
}

/* Which of 64 bytes are at least 0x80. */
ALWAYS_INLINE uint64_t high_bytes(const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i += 8) {
        bits |= highest_of_eight(load_64(bytes + i)) << i;
    }
    return bits;
}

/* The same from the last byte to the first. */
ALWAYS_INLINE uint64_t high_bytes_backwards(const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i += 8) {
        bits |= highest_of_eight(__builtin_bswap64(load_64(bytes + WORD - 8 - i))) << i;
    }
    return bits;
}

/* Which of 64 bytes are at least 0xC0. */
ALWAYS_INLINE uint64_t highest_bytes(const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i += 8) {
        const uint64_t some = load_64(bytes + i);
        bits |= highest_of_eight(some & some << 1) << i;
    }
    return bits;
}

/* Which of 64 bytes are not 0, if all of them are below 4. */
ALWAYS_INLINE uint64_t small_bytes(const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i += 8) {
        const uint64_t some = load_64(bytes + i);
        bits |= highest_of_eight(some << 7 | some << 6) << i;
    }
    return bits;
}

/* Which of 64 bytes have the second lowest bit, if all of them are below 4. */
ALWAYS_INLINE uint64_t second_bits(const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i += 8) {
        bits |= highest_of_eight(load_64(bytes + i) << 6) << i;
    }
    return bits;
}
#endif

#endif
