/* Vectors: the operations that kernels are written on where the processor has wide registers.

   They are defined twice, on 32 bytes for AVX2 and on 16 bytes for NEON, which every arm64 processor has. A kernel
   steps by VECTOR_BYTES and is written once. Where there are neither, TOKDFA_VECTORS is not defined, and kernels have
   portable code.

   A mask has 0xFF or 0 in each byte. Masks become bits many at a time, since NEON has no instruction for one of them:
   64 bytes are WORD_VECTORS vectors. */
#ifndef TOKDFA_VECTORS_H
#define TOKDFA_VECTORS_H

#include "packed.h"

/* The number of bytes that are looked at together. */
#define WORD 64

#if defined(TOKDFA_WIDE) && defined(__AVX2__)
#include <immintrin.h>
#define TOKDFA_VECTORS
/* Operations on four lanes of 64 bits. NEON has none of these: its vectors are of two lanes, and kernels on them take
   more instructions than on one word after the other. */
#define TOKDFA_FOUR_LANES
typedef __m256i vector;
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#include <arm_neon.h>
#define TOKDFA_VECTORS
typedef uint8x16_t vector;
#endif

#ifdef TOKDFA_VECTORS
enum { VECTOR_BYTES = sizeof(vector), WORD_VECTORS = WORD / VECTOR_BYTES };
#endif

#ifdef TOKDFA_FOUR_LANES

ALWAYS_INLINE vector load_vector(const void *from) {
    return _mm256_loadu_si256((const __m256i *)from);
}

/* Sixteen bytes, as often as they fit. */
ALWAYS_INLINE vector load_table(const uint8_t *from) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)from));
}

/* One byte everywhere. */
ALWAYS_INLINE vector splat(uint8_t byte) {
    return _mm256_set1_epi8((char)byte);
}

ALWAYS_INLINE vector vector_and(vector a, vector b) {
    return _mm256_and_si256(a, b);
}

ALWAYS_INLINE vector vector_or(vector a, vector b) {
    return _mm256_or_si256(a, b);
}

/* The mask of equal bytes. */
ALWAYS_INLINE vector vector_equal(vector a, vector b) {
    return _mm256_cmpeq_epi8(a, b);
}

/* The mask of bytes of `a` that are greater, as signed numbers. */
ALWAYS_INLINE vector vector_greater(vector a, vector b) {
    return _mm256_cmpgt_epi8(a, b);
}

/* The bytes from the last one to the first. */
ALWAYS_INLINE vector vector_backwards(vector bytes) {
    const vector order = _mm256_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                                         0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm256_shuffle_epi8(_mm256_permute4x64_epi64(bytes, 0x4E), order);
}

/* The lower four bits of each byte. */
ALWAYS_INLINE vector low_halves(vector bytes) {
    return _mm256_and_si256(bytes, splat(15));
}

ALWAYS_INLINE vector high_halves(vector bytes) {
    return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), splat(15));
}

/* The entries of a table for indices below 16. */
ALWAYS_INLINE vector look_up_16(vector table, vector indices) {
    return _mm256_shuffle_epi8(table, indices);
}

/* The entries of a table for the lower halves of bytes below 0x80; for other bytes, any entry or 0. */
ALWAYS_INLINE vector look_up_ascii_16(vector table, vector bytes) {
    return _mm256_shuffle_epi8(table, bytes);
}

/* The bytes one further on, after the last one of those before. */
ALWAYS_INLINE vector move_in(vector before, vector bytes) {
    return _mm256_alignr_epi8(bytes, _mm256_permute2x128_si256(before, bytes, 0x21), 15);
}

ALWAYS_INLINE int64_t sum_of_bytes(vector bytes) {
    const __m256i sums = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
    const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return _mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1);
}

/* Whether a mask has any byte. */
ALWAYS_INLINE bool has_any(vector mask) {
    return _mm256_movemask_epi8(mask) != 0;
}

/* A bit for each of up to 64 bytes in vectors: the highest one of the byte. */
ALWAYS_INLINE uint64_t highest_bits(const vector *bytes, int n_bytes) {
    uint64_t bits = (uint32_t)_mm256_movemask_epi8(bytes[0]);
    return n_bytes == VECTOR_BYTES ? bits : bits | (uint64_t)(uint32_t)_mm256_movemask_epi8(bytes[1]) << 32;
}

/* The same of masks. */
ALWAYS_INLINE uint64_t bits_of_masks(const vector *masks, int n_bytes) {
    return highest_bits(masks, n_bytes);
}

/* The same: whether the byte has a bit, 0 to 7. */
ALWAYS_INLINE uint64_t bits_with(const vector *bytes, int n_bytes, int bit) {
    const vector moved[2] = {_mm256_slli_epi16(bytes[0], 7 - bit),
                             _mm256_slli_epi16(bytes[n_bytes / VECTOR_BYTES - 1], 7 - bit)};
    return highest_bits(moved, n_bytes);
}

/* The same: whether the byte is at least 0xC0. */
ALWAYS_INLINE uint64_t bits_of_highest(const vector *bytes, int n_bytes) {
    const vector last = bytes[n_bytes / VECTOR_BYTES - 1];
    const vector both[2] = {_mm256_and_si256(bytes[0], _mm256_add_epi8(bytes[0], bytes[0])),
                            _mm256_and_si256(last, _mm256_add_epi8(last, last))};
    return highest_bits(both, n_bytes);
}

/* The same: whether the byte is not 0. */
ALWAYS_INLINE uint64_t bits_of_nonzero(const vector *bytes, int n_bytes) {
    const vector zero = _mm256_setzero_si256();
    if (n_bytes == VECTOR_BYTES) {
        return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes[0], zero));
    }
    const vector none[2] = {_mm256_cmpeq_epi8(bytes[0], zero), _mm256_cmpeq_epi8(bytes[1], zero)};
    return ~highest_bits(none, n_bytes);
}

/* Sixteen bytes, which are two words. */
typedef __m128i two_words;

ALWAYS_INLINE two_words load_two(const void *from) {
    return _mm_loadu_si128((const __m128i *)from);
}

ALWAYS_INLINE void store_two(void *to, two_words words) {
    _mm_storeu_si128((__m128i *)to, words);
}

ALWAYS_INLINE two_words two_and(two_words a, two_words b) {
    return _mm_and_si128(a, b);
}

ALWAYS_INLINE two_words two_or(two_words a, two_words b) {
    return _mm_or_si128(a, b);
}

ALWAYS_INLINE packed_word split_two(two_words words) {
    return (packed_word){(uint64_t)_mm_cvtsi128_si64(words), (uint64_t)_mm_extract_epi64(words, 1)};
}

/* Which words of `first` are equal to the words of `wanted`, two bits, and above them the same of `second`. */
ALWAYS_INLINE unsigned equal_words(two_words wanted, two_words first, two_words second) {
    const __m128i masks = _mm_packs_epi32(_mm_cmpeq_epi64(wanted, first), _mm_cmpeq_epi64(wanted, second));
    return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(masks));
}

ALWAYS_INLINE void store_vector(void *to, vector lanes) {
    _mm256_storeu_si256((__m256i *)to, lanes);
}

ALWAYS_INLINE vector splat_64(uint64_t lane) {
    return _mm256_set1_epi64x((int64_t)lane);
}

ALWAYS_INLINE vector add_64(vector a, vector b) {
    return _mm256_add_epi64(a, b);
}

ALWAYS_INLINE vector subtract_64(vector a, vector b) {
    return _mm256_sub_epi64(a, b);
}

ALWAYS_INLINE vector shift_right_64(vector lanes, int count) {
    return _mm256_srli_epi64(lanes, count);
}

/* Each lane shifted right by the lane of another vector, below 64. */
ALWAYS_INLINE vector shift_right_by(vector lanes, vector counts) {
    return _mm256_srlv_epi64(lanes, counts);
}

/* The lanes one further on, after the last one of the vector before. */
ALWAYS_INLINE vector move_in_64(vector before, vector lanes) {
    return _mm256_alignr_epi8(lanes, _mm256_permute2x128_si256(before, lanes, 0x21), 8);
}

/* The sums of the lanes up to each. */
ALWAYS_INLINE vector running_sums(vector lanes) {
    const vector pairs = _mm256_add_epi64(lanes, _mm256_slli_si256(lanes, 8));
    return _mm256_add_epi64(
        pairs, _mm256_blend_epi32(_mm256_setzero_si256(), _mm256_permute4x64_epi64(pairs, 0x55), 0xF0));
}

/* The last lane everywhere. */
ALWAYS_INLINE vector last_lane(vector lanes) {
    return _mm256_permute4x64_epi64(lanes, 0xFF);
}

ALWAYS_INLINE uint64_t first_lane(vector lanes) {
    return (uint64_t)_mm256_extract_epi64(lanes, 0);
}

/* The lowest bit of each lane. */
ALWAYS_INLINE uint64_t lowest_bits(vector lanes) {
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(lanes, 63)));
}

/* The entries of a table for four ids. PERF: fetched one by one, which takes less time than gathering them. */
ALWAYS_INLINE vector fetch_four(const uint64_t *restrict table, const int32_t *restrict ids) {
    const __m128i low = _mm_loadl_epi64((const __m128i *)(table + (uint32_t)ids[0]));
    const __m128i high = _mm_loadl_epi64((const __m128i *)(table + (uint32_t)ids[2]));
    return _mm256_set_m128i(_mm_insert_epi64(high, (int64_t)table[(uint32_t)ids[3]], 1),
                            _mm_insert_epi64(low, (int64_t)table[(uint32_t)ids[1]], 1));
}

/* Eight entries of 16 bits. */
typedef __m128i eight_entries;
#define NO_ENTRIES() _mm_setzero_si128()
#define WITH_ENTRY(entries, number, value) _mm_insert_epi16(entries, value, number)

#elif defined(TOKDFA_VECTORS)

ALWAYS_INLINE vector load_vector(const void *from) {
    return vld1q_u8((const uint8_t *)from);
}

ALWAYS_INLINE vector load_table(const uint8_t *from) {
    return vld1q_u8(from);
}

ALWAYS_INLINE vector splat(uint8_t byte) {
    return vdupq_n_u8(byte);
}

ALWAYS_INLINE vector vector_and(vector a, vector b) {
    return vandq_u8(a, b);
}

ALWAYS_INLINE vector vector_or(vector a, vector b) {
    return vorrq_u8(a, b);
}

ALWAYS_INLINE vector vector_equal(vector a, vector b) {
    return vceqq_u8(a, b);
}

ALWAYS_INLINE vector vector_greater(vector a, vector b) {
    return vcgtq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b));
}

ALWAYS_INLINE vector vector_backwards(vector bytes) {
    const vector halves = vrev64q_u8(bytes);
    return vextq_u8(halves, halves, 8);
}

ALWAYS_INLINE vector low_halves(vector bytes) {
    return vandq_u8(bytes, vdupq_n_u8(15));
}

ALWAYS_INLINE vector high_halves(vector bytes) {
    return vshrq_n_u8(bytes, 4);
}

ALWAYS_INLINE vector look_up_16(vector table, vector indices) {
    return vqtbl1q_u8(table, indices);
}

ALWAYS_INLINE vector look_up_ascii_16(vector table, vector bytes) {
    return look_up_16(table, low_halves(bytes));
}

ALWAYS_INLINE vector move_in(vector before, vector bytes) {
    return vextq_u8(before, bytes, 15);
}

ALWAYS_INLINE int64_t sum_of_bytes(vector bytes) {
    return vaddlvq_u8(bytes);
}

ALWAYS_INLINE bool has_any(vector mask) {
    return vmaxvq_u8(mask) != 0;
}

ALWAYS_INLINE uint64_t bits_of_masks(const vector *masks, int n_bytes) {
    static const uint8_t each[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const vector bit = vld1q_u8(each);
    const vector low = vpaddq_u8(vandq_u8(masks[0], bit), vandq_u8(masks[1], bit));
    if (n_bytes == 2 * VECTOR_BYTES) {
        const vector half = vpaddq_u8(low, low);
        return vgetq_lane_u32(vreinterpretq_u32_u8(vpaddq_u8(half, half)), 0);
    }
    const vector all = vpaddq_u8(low, vpaddq_u8(vandq_u8(masks[2], bit), vandq_u8(masks[3], bit)));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

ALWAYS_INLINE uint64_t highest_bits(const vector *bytes, int n_bytes) {
    vector masks[WORD_VECTORS];
    for (int i = 0; i < n_bytes / VECTOR_BYTES; i++) {
        masks[i] = vcltzq_s8(vreinterpretq_s8_u8(bytes[i]));
    }
    return bits_of_masks(masks, n_bytes);
}

ALWAYS_INLINE uint64_t bits_with(const vector *bytes, int n_bytes, int bit) {
    vector masks[WORD_VECTORS];
    for (int i = 0; i < n_bytes / VECTOR_BYTES; i++) {
        masks[i] = vtstq_u8(bytes[i], splat((uint8_t)(1 << bit)));
    }
    return bits_of_masks(masks, n_bytes);
}

ALWAYS_INLINE uint64_t bits_of_highest(const vector *bytes, int n_bytes) {
    vector masks[WORD_VECTORS];
    for (int i = 0; i < n_bytes / VECTOR_BYTES; i++) {
        masks[i] = vcgeq_u8(bytes[i], splat(0xC0));
    }
    return bits_of_masks(masks, n_bytes);
}

ALWAYS_INLINE uint64_t bits_of_nonzero(const vector *bytes, int n_bytes) {
    vector masks[WORD_VECTORS];
    for (int i = 0; i < n_bytes / VECTOR_BYTES; i++) {
        masks[i] = vtstq_u8(bytes[i], bytes[i]);
    }
    return bits_of_masks(masks, n_bytes);
}

typedef uint64x2_t two_words;

ALWAYS_INLINE two_words load_two(const void *from) {
    return vreinterpretq_u64_u8(load_vector(from));
}

ALWAYS_INLINE void store_two(void *to, two_words words) {
    vst1q_u8((uint8_t *)to, vreinterpretq_u8_u64(words));
}

ALWAYS_INLINE two_words two_and(two_words a, two_words b) {
    return vandq_u64(a, b);
}

ALWAYS_INLINE two_words two_or(two_words a, two_words b) {
    return vorrq_u64(a, b);
}

ALWAYS_INLINE packed_word split_two(two_words words) {
    return (packed_word){vgetq_lane_u64(words, 0), vgetq_lane_u64(words, 1)};
}

ALWAYS_INLINE unsigned equal_words(two_words wanted, two_words first, two_words second) {
    static const uint32_t each[4] = {1, 2, 4, 8};
    const uint32x4_t low = vreinterpretq_u32_u64(vceqq_u64(wanted, first));
    const uint32x4_t masks = vuzp1q_u32(low, vreinterpretq_u32_u64(vceqq_u64(wanted, second)));
    return vaddvq_u32(vandq_u32(masks, vld1q_u32(each)));
}

typedef uint16x8_t eight_entries;
#define NO_ENTRIES() vdupq_n_u16(0)
#define WITH_ENTRY(entries, number, value) vsetq_lane_u16(value, entries, number)
#endif

#ifdef TOKDFA_VECTORS
/* The entries of a table for eight ids. PERF: fetched one by one, which takes less time than gathering them. */
ALWAYS_INLINE eight_entries fetch_eight(const uint16_t *restrict table, const int32_t *restrict ids) {
    const uint8_t *bytes = (const uint8_t *)ids;
    eight_entries eight = NO_ENTRIES();
    uint64_t two = load_64(bytes);
    eight = WITH_ENTRY(eight, 0, table[(uint32_t)two]);
    eight = WITH_ENTRY(eight, 1, table[two >> 32]);
    two = load_64(bytes + 8);
    eight = WITH_ENTRY(eight, 2, table[(uint32_t)two]);
    eight = WITH_ENTRY(eight, 3, table[two >> 32]);
    two = load_64(bytes + 16);
    eight = WITH_ENTRY(eight, 4, table[(uint32_t)two]);
    eight = WITH_ENTRY(eight, 5, table[two >> 32]);
    two = load_64(bytes + 24);
    eight = WITH_ENTRY(eight, 6, table[(uint32_t)two]);
    return WITH_ENTRY(eight, 7, table[two >> 32]);
}

/* The lower and the upper bytes of entries. */
typedef struct {
    vector low, high;
} split_entries;

/* The entries for VECTOR_BYTES ids. */
ALWAYS_INLINE split_entries fetch_entries(const uint16_t *restrict table, const int32_t *restrict ids) {
#ifdef TOKDFA_FOUR_LANES
    /* In this order packing leaves the bytes in theirs. */
    const vector even = _mm256_set_m128i(fetch_eight(table, ids + 16), fetch_eight(table, ids));
    const vector odd = _mm256_set_m128i(fetch_eight(table, ids + 24), fetch_eight(table, ids + 8));
    const vector byte = _mm256_set1_epi16(0xFF);
    return (split_entries){_mm256_packus_epi16(_mm256_and_si256(even, byte), _mm256_and_si256(odd, byte)),
                           _mm256_packus_epi16(_mm256_srli_epi16(even, 8), _mm256_srli_epi16(odd, 8))};
#else
    const vector first = vreinterpretq_u8_u16(fetch_eight(table, ids));
    const vector second = vreinterpretq_u8_u16(fetch_eight(table, ids + 8));
    return (split_entries){vuzp1q_u8(first, second), vuzp2q_u8(first, second)};
#endif
}
#endif

#endif
