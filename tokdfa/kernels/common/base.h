/* Included by all kernels: fixed-width integers, hints to the compiler, unaligned reads and small bit tricks. */
#ifndef TOKDFA_BASE_H
#define TOKDFA_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Every function of an api.h is exported; all others are static. These declare functions without a mark, which cffi
   would not read, and Windows lets no definition add one; there, a library without any mark exports all it has. */
#if defined(_WIN32)
#define TOKDFA_API
#else
#define TOKDFA_API __attribute__((visibility("default")))
#endif

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define NEVER_INLINE static __attribute__((noinline, unused))
#define PREFETCH(pointer) __builtin_prefetch((pointer), 0, 3)
/* Not to the nearest cache. */
#define PREFETCH_FAR(pointer) __builtin_prefetch((pointer), 0, 2)

/* Returned by kernels that need memory of their own and do not get it. */
#define TOKDFA_NO_MEMORY (-1000)

/* The eight bytes from an address on as a little-endian number; it need not be aligned. */
ALWAYS_INLINE uint64_t load_64(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* Count trailing zeros; 64 for 0; branch-free: compilers would turn a test for 0 into a branch. */
ALWAYS_INLINE int64_t trailing_zeros(uint64_t bits) {
#if defined(__BMI__)
    return (int64_t)__builtin_ia32_tzcnt_u64(bits);
#else
    return __builtin_ctzll(bits | (uint64_t)1 << 63) + (bits == 0);
#endif
}

/* Count leading zeros; 64 for 0. */
ALWAYS_INLINE int64_t leading_zeros(uint64_t bits) {
    return bits ? __builtin_clzll(bits) : 64;
}

/* The number of ones. */
ALWAYS_INLINE int64_t count_ones(uint64_t bits) {
    return __builtin_popcountll(bits);
}

ALWAYS_INLINE int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

ALWAYS_INLINE int64_t greatest(int64_t a, int64_t b) {
    return a > b ? a : b;
}

#endif
