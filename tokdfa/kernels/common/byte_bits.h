/* A bit for each of 64 bytes. */
#ifndef TOKDFA_BYTE_BITS_H
#define TOKDFA_BYTE_BITS_H

#include "base.h"

/* The number of bytes that are looked at together. */
#define WORD 64

#if defined(TOKDFA_WIDE) && defined(__AVX2__)
#include <immintrin.h>

/* The highest bits of 64 bytes. */
ALWAYS_INLINE uint64_t highest_bits(__m256i low, __m256i high) {
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

ALWAYS_INLINE __m256i load_32_bytes(const uint8_t *bytes) {
    return _mm256_loadu_si256((const __m256i *)(const void *)bytes);
}

/* Which of 64 bytes are at least 0x80. */
ALWAYS_INLINE uint64_t high_bytes(const uint8_t *bytes) {
    return highest_bits(load_32_bytes(bytes), load_32_bytes(bytes + 32));
}

ALWAYS_INLINE __m256i backwards(__m256i bytes) {
    const __m256i order = _mm256_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                                          0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm256_shuffle_epi8(_mm256_permute4x64_epi64(bytes, 0x4E), order);
}

/* The same from the last byte to the first. */
ALWAYS_INLINE uint64_t high_bytes_backwards(const uint8_t *bytes) {
    return highest_bits(backwards(load_32_bytes(bytes + 32)), backwards(load_32_bytes(bytes)));
}

/* Which of 64 bytes are at least 0xC0. */
ALWAYS_INLINE uint64_t highest_bytes(const uint8_t *bytes) {
    const __m256i low = load_32_bytes(bytes), high = load_32_bytes(bytes + 32);
    return highest_bits(_mm256_and_si256(low, _mm256_add_epi8(low, low)),
                        _mm256_and_si256(high, _mm256_add_epi8(high, high)));
}

/* Which of 64 bytes are not 0, if all of them are below 4. */
ALWAYS_INLINE uint64_t small_bytes(const uint8_t *bytes) {
    const __m256i zero = _mm256_setzero_si256();
    return highest_bits(_mm256_cmpgt_epi8(load_32_bytes(bytes), zero),
                        _mm256_cmpgt_epi8(load_32_bytes(bytes + 32), zero));
}

/* Which of 64 bytes have the second lowest bit, if all of them are below 4. */
ALWAYS_INLINE uint64_t second_bits(const uint8_t *bytes) {
    return highest_bits(_mm256_slli_epi16(load_32_bytes(bytes), 6), _mm256_slli_epi16(load_32_bytes(bytes + 32), 6));
}

ALWAYS_INLINE __m256i twice(const uint8_t *bytes) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)bytes));
}

/* The bits that the halves of bytes have in common, by tables of 16 for the low and the high half. */
ALWAYS_INLINE __m256i common_bits(__m256i bytes, __m256i low, __m256i high) {
    const __m256i half = _mm256_set1_epi8(15);
    return _mm256_and_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)),
                            _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)));
}

ALWAYS_INLINE uint64_t may_begin(const uint8_t *filter, const uint8_t *bytes) {
    const uint8_t *halves = filter + 2 * 256;
    const __m256i low = twice(halves), high = twice(halves + 16), next_low = twice(halves + 32);
    const __m256i next_high = twice(halves + 48), zero = _mm256_setzero_si256();
    uint64_t none = 0;
    for (int i = 0; i < WORD; i += 32) {
        const __m256i bits = _mm256_and_si256(common_bits(load_32_bytes(bytes + i), low, high),
                                              common_bits(load_32_bytes(bytes + i + 1), next_low, next_high));
        none |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bits, zero)) << i;
    }
    return ~none;
}

#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>

/* The 64 bits of 64 bytes that are 0 or 0xFF. */
ALWAYS_INLINE uint64_t bits_of_bytes(uint8x16_t first, uint8x16_t second, uint8x16_t third, uint8x16_t fourth) {
    static const uint8_t each[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bit = vld1q_u8(each);
    const uint8x16_t low = vpaddq_u8(vandq_u8(first, bit), vandq_u8(second, bit));
    const uint8x16_t high = vpaddq_u8(vandq_u8(third, bit), vandq_u8(fourth, bit));
    const uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

/* 0xFF for each byte with its highest bit set. */
ALWAYS_INLINE uint8x16_t have_highest_bit(uint8x16_t bytes) {
    return vcltzq_s8(vreinterpretq_s8_u8(bytes));
}

/* Which of 64 bytes are at least 0x80. */
ALWAYS_INLINE uint64_t high_bytes(const uint8_t *bytes) {
    return bits_of_bytes(have_highest_bit(vld1q_u8(bytes)), have_highest_bit(vld1q_u8(bytes + 16)),
                         have_highest_bit(vld1q_u8(bytes + 32)), have_highest_bit(vld1q_u8(bytes + 48)));
}

ALWAYS_INLINE uint8x16_t backwards(uint8x16_t bytes) {
    const uint8x16_t halves = vrev64q_u8(bytes);
    return vextq_u8(halves, halves, 8);
}

/* The same from the last byte to the first. */
ALWAYS_INLINE uint64_t high_bytes_backwards(const uint8_t *bytes) {
    return bits_of_bytes(
        have_highest_bit(backwards(vld1q_u8(bytes + 48))), have_highest_bit(backwards(vld1q_u8(bytes + 32))),
        have_highest_bit(backwards(vld1q_u8(bytes + 16))), have_highest_bit(backwards(vld1q_u8(bytes))));
}

/* Which of 64 bytes are at least 0xC0. */
ALWAYS_INLINE uint64_t highest_bytes(const uint8_t *bytes) {
    const uint8x16_t least_one = vdupq_n_u8(0xC0);
    return bits_of_bytes(vcgeq_u8(vld1q_u8(bytes), least_one), vcgeq_u8(vld1q_u8(bytes + 16), least_one),
                         vcgeq_u8(vld1q_u8(bytes + 32), least_one), vcgeq_u8(vld1q_u8(bytes + 48), least_one));
}

/* Which of 64 bytes are not 0, if all of them are below 4. */
ALWAYS_INLINE uint64_t small_bytes(const uint8_t *bytes) {
    const uint8x16_t zero = vdupq_n_u8(0);
    return bits_of_bytes(vcgtq_u8(vld1q_u8(bytes), zero), vcgtq_u8(vld1q_u8(bytes + 16), zero),
                         vcgtq_u8(vld1q_u8(bytes + 32), zero), vcgtq_u8(vld1q_u8(bytes + 48), zero));
}

/* Which of 64 bytes have the second lowest bit, if all of them are below 4. */
ALWAYS_INLINE uint64_t second_bits(const uint8_t *bytes) {
    const uint8x16_t two = vdupq_n_u8(2);
    return bits_of_bytes(vtstq_u8(vld1q_u8(bytes), two), vtstq_u8(vld1q_u8(bytes + 16), two),
                         vtstq_u8(vld1q_u8(bytes + 32), two), vtstq_u8(vld1q_u8(bytes + 48), two));
}

/* 0xFF for each of 16 bytes that may begin a word. */
ALWAYS_INLINE uint8x16_t may_begin_16(const uint8x16_t halves[4], const uint8_t *bytes) {
    const uint8x16_t half = vdupq_n_u8(15), byte = vld1q_u8(bytes), next = vld1q_u8(bytes + 1);
    const uint8x16_t first = vandq_u8(vqtbl1q_u8(halves[0], vandq_u8(byte, half)),
                                      vqtbl1q_u8(halves[1], vshrq_n_u8(byte, 4)));
    const uint8x16_t second = vandq_u8(vqtbl1q_u8(halves[2], vandq_u8(next, half)),
                                       vqtbl1q_u8(halves[3], vshrq_n_u8(next, 4)));
    return vtstq_u8(first, second);
}

ALWAYS_INLINE uint64_t may_begin(const uint8_t *filter, const uint8_t *bytes) {
    const uint8_t *tables = filter + 2 * 256;
    const uint8x16_t halves[4] = {vld1q_u8(tables), vld1q_u8(tables + 16), vld1q_u8(tables + 32),
                                  vld1q_u8(tables + 48)};
    return bits_of_bytes(may_begin_16(halves, bytes), may_begin_16(halves, bytes + 16),
                         may_begin_16(halves, bytes + 32), may_begin_16(halves, bytes + 48));
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
ALWAYS_INLINE uint64_t highest_bits(uint64_t bytes) {
    return ((bytes >> 7 & 0x0101010101010101u) * 0x0102040810204080u) >> 56;
}

/* Which of 64 bytes are at least 0x80. */
ALWAYS_INLINE uint64_t high_bytes(const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i += 8) {
        bits |= highest_bits(load_64(bytes + i)) << i;
    }
    return bits;
}

/* The same from the last byte to the first. */
ALWAYS_INLINE uint64_t high_bytes_backwards(const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i += 8) {
        bits |= highest_bits(__builtin_bswap64(load_64(bytes + WORD - 8 - i))) << i;
    }
    return bits;
}

/* Which of 64 bytes are at least 0xC0. */
ALWAYS_INLINE uint64_t highest_bytes(const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i += 8) {
        const uint64_t some = load_64(bytes + i);
        bits |= highest_bits(some & some << 1) << i;
    }
    return bits;
}

/* Which of 64 bytes are not 0, if all of them are below 4. */
ALWAYS_INLINE uint64_t small_bytes(const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i += 8) {
        const uint64_t some = load_64(bytes + i);
        bits |= highest_bits(some << 7 | some << 6) << i;
    }
    return bits;
}

/* Which of 64 bytes have the second lowest bit, if all of them are below 4. */
ALWAYS_INLINE uint64_t second_bits(const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i += 8) {
        bits |= highest_bits(load_64(bytes + i) << 6) << i;
    }
    return bits;
}
#endif

#endif
