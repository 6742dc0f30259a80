/* The next window of a set in a text. PERF: with wider instructions, compilers fetch the bits by gathers, and this loop
   takes twice as long: 0.15 instead of 0.08 ns a byte with a stride of 4. */
#include "windows.h"

/* A number that is odd if the bytes at an offset may be a window: each has two bits of a word. */
ALWAYS_INLINE uint64_t may_be_window(const tokdfa_windows *windows, const uint8_t *text, uint64_t mask) {
    const uint64_t hash = (load_64(text) & mask) * TOKDFA_WINDOW_FACTOR;
    const uint64_t bits = windows->bits[hash >> (64 - TOKDFA_WINDOW_BITS)];
    return bits >> (hash & 63) & bits >> (hash >> 40 & 63);
}

ALWAYS_INLINE int64_t next_window(const tokdfa_windows *windows, const uint8_t *text, int64_t at, int64_t end,
                                  int64_t stride, uint64_t mask) {
    enum { TOGETHER = 8 };
    for (; at + (TOGETHER - 1) * stride < end; at += TOGETHER * stride) {
        uint64_t any = 0, met = 0;
        #pragma GCC unroll 8
        for (int64_t i = 0; i < TOGETHER; i++) {
            any |= may_be_window(windows, text + at + i * stride, mask);
        }
        if (LIKELY(!(any & 1))) {
            continue;
        }
        for (int64_t i = 0; i < TOGETHER; i++) {
            met |= (may_be_window(windows, text + at + i * stride, mask) & 1) << i;
        }
        for (; met; met &= met - 1) {
            const int64_t here = at + trailing_zeros(met) * stride;
            if (offsets_of_window(windows, text + here)) {
                return here;
            }
        }
    }
    while (at < end && !(may_be_window(windows, text + at, mask) & 1)) {
        at += stride;
    }
    return at;
}

/* The first of the offsets at, at + stride and so on where a window may be; `end` or more if there is none before. Eight
   bytes are read at each. */
TOKDFA_API int64_t tokdfa_next_window(const tokdfa_windows *windows, const uint8_t *text, int64_t at, int64_t end) {
    switch (windows->stride) {
    case 4:
        return next_window(windows, text, at, end, 4, UINT64_MAX);
    case 2:
        return next_window(windows, text, at, end, 2, windows->mask);
    default:
        return next_window(windows, text, at, end, 1, windows->mask);
    }
}
