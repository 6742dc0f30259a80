/* Packing the first bytes of a text as `pack` does, with wider instructions. */
#ifndef TOKDFA_PACKING_H
#define TOKDFA_PACKING_H

#include "../common/packed.h"

#include <immintrin.h>

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

/* The packing of the first `length` (at most 15) of sixteen bytes. */
ALWAYS_INLINE __m128i pack_16_bytes(const uint8_t *bytes, int64_t length) {
    const __m128i mask = _mm_loadu_si128((const __m128i *)(const void *)(tokdfa_byte_masks + 16 - length));
    const __m128i last = _mm_load_si128((const __m128i *)(const void *)(tokdfa_packed_lengths + 2 * length));
    return _mm_or_si128(_mm_and_si128(_mm_loadu_si128((const __m128i *)(const void *)bytes), mask), last);
}

#endif
