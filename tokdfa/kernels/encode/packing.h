/* Packing short pieces of a text as `pack` does, with vectors where there are any. */
#ifndef TOKDFA_PACKING_H
#define TOKDFA_PACKING_H

#include "../common/vectors.h"

#ifdef TOKDFA_VECTORS

/* Sixteen bytes from the entry 16 - n on are a mask of the first n bytes. */
static const uint8_t tokdfa_byte_masks[32] = {
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
};

/* A length as the last byte of a packing. */
static const _Alignas(16) uint64_t tokdfa_packed_lengths[2 * (LONGEST_PACKED + 1)] = {
#define LENGTH_OF(n) 0, (uint64_t)(n) << 56
    LENGTH_OF(0), LENGTH_OF(1), LENGTH_OF(2),  LENGTH_OF(3),  LENGTH_OF(4),  LENGTH_OF(5),  LENGTH_OF(6),  LENGTH_OF(7),
    LENGTH_OF(8), LENGTH_OF(9), LENGTH_OF(10), LENGTH_OF(11), LENGTH_OF(12), LENGTH_OF(13), LENGTH_OF(14), LENGTH_OF(15),
#undef LENGTH_OF
};

/* The packing of the first `length` (at most 15) of sixteen bytes, which can all be read; it is noted as well. */
ALWAYS_INLINE packed_word pack_short(const uint8_t *bytes, int64_t length, packed_word *noted) {
    const two_words mask = load_two(tokdfa_byte_masks + 16 - length);
    const two_words packed = two_or(two_and(load_two(bytes), mask), load_two(tokdfa_packed_lengths + 2 * length));
    store_two(noted, packed);
    return split_two(packed);
}

#else

ALWAYS_INLINE packed_word pack_short(const uint8_t *bytes, int64_t length, packed_word *noted) {
    return *noted = pack(load_64(bytes), load_64(bytes + 8), length);
}

#endif

#endif
