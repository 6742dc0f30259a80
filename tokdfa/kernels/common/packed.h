/* Short words packed into two machine words, so that they are compared and hashed at once; sets of hashes as bits.

   A word of up to 15 bytes is (low, high): its bytes from the first on, zeros after them, and its length in the last
   byte of `high`. Different words have different packings. The bytes after a word in memory are read and masked away,
   so that no loop over bytes is needed. */
#ifndef TOKDFA_PACKED_H
#define TOKDFA_PACKED_H

#include "base.h"

/* The longest word that is packed whole. */
#define LONGEST_PACKED 15

/* Added to `high` of the packing of the first 15 bytes of a longer word, it tells them from the word of just these
   bytes. */
#define CUT_WORD ((uint64_t)1 << 56)

typedef struct {
    uint64_t low, high;
} packed_word;

/* The masks of the first n bytes of a word, for n up to 15: entry n for `high`, and entry 8 + n for `low`. */
static const uint64_t tokdfa_first_bytes[24] = {
    0, 0, 0, 0, 0, 0, 0, 0,
    0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF,
    ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0,
};

/* The eight bytes of a text of `size` bytes from `at` on as a little-endian number, zeros past its end. `at` may lie
   past the end, too. */
ALWAYS_INLINE uint64_t load_within(const uint8_t *text, int64_t size, int64_t at) {
    if (LIKELY(at + 8 <= size)) {
        return load_64(text + at);
    }
    if (at >= size) {
        return 0;
    }
    if (size >= 8) {
        return load_64(text + size - 8) >> (8 * (at + 8 - size));
    }
    uint64_t value = 0;
    for (int64_t i = at; i < size; i++) {
        value |= (uint64_t)text[i] << (8 * (i - at));
    }
    return value;
}

/* The packing of the first `length` (at most 15) of the sixteen bytes in `low` and `high`. */
ALWAYS_INLINE packed_word pack(uint64_t low, uint64_t high, int64_t length) {
    packed_word word = {low & tokdfa_first_bytes[8 + length],
                        (high & tokdfa_first_bytes[length]) | (uint64_t)length << 56};
    return word;
}

/* The packing of the `length` (at most 15) bytes of a text of `size` bytes from `at` on. */
ALWAYS_INLINE packed_word pack_at(const uint8_t *text, int64_t size, int64_t at, int64_t length) {
    return pack(load_within(text, size, at), load_within(text, size, at + 8), length);
}

ALWAYS_INLINE bool same_word(packed_word a, packed_word b) {
    return a.low == b.low && a.high == b.high;
}

/* The upper half of `hash_packed`; the lower bits are less mixed. */
ALWAYS_INLINE uint64_t mix_packed(uint64_t low, uint64_t high) {
    return (low ^ (high * 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
}

/* A hash of 64 bits, the upper ones the better mixed. */
ALWAYS_INLINE uint64_t hash_packed(uint64_t low, uint64_t high) {
    const uint64_t mixed = mix_packed(low, high);
    return mixed ^ (mixed >> 32);
}

/* A hash of 64 bits of one word. */
ALWAYS_INLINE uint64_t hash_pair(uint64_t pair) {
    uint64_t mixed = pair * 0x9E3779B97F4A7C15u;
    return mixed ^ (mixed >> 32);
}

/* Whether something with this hash may have been added to bits in a power of two of words. */
ALWAYS_INLINE bool may_have(const uint64_t *bits, int64_t n_bits, uint64_t hashed) {
    uint64_t bit = hashed & (64 * (uint64_t)n_bits - 1);
    return bits[bit >> 6] >> (bit & 63) & 1;
}

/* Prefetch the bits that `may_have` and `add_bit` will read; n_bits is not 0. */
ALWAYS_INLINE void prefetch_bit(const uint64_t *bits, int64_t n_bits, uint64_t hashed) {
    PREFETCH(bits + ((hashed & (64 * (uint64_t)n_bits - 1)) >> 6));
}

/* Mark that something with this hash is there. */
ALWAYS_INLINE void add_bit(uint64_t *bits, int64_t n_bits, uint64_t hashed) {
    uint64_t bit = hashed & (64 * (uint64_t)n_bits - 1);
    bits[bit >> 6] |= (uint64_t)1 << (bit & 63);
}

/* The least power of two that is at least `minimum`, and 16. */
ALWAYS_INLINE int64_t power_of_two(int64_t minimum) {
    int64_t size = 16;
    while (size < minimum) {
        size *= 2;
    }
    return size;
}

#endif
