/* Windows of strings: a few bytes of each, which are sought in a text instead of the strings.

   A string is sampled: "government" with windows of 6 bytes and a stride of 2 has "ernmen" and "rnment", at its offsets
   3 and 4. If only every second offset of a text is looked at, one of these two is met, wherever the string is. A window
   is looked up as a hash in a set of bits; another hash gives the offsets of the windows that may be the same. */
#ifndef TOKDFA_WINDOWS_H
#define TOKDFA_WINDOWS_H

#include "../common/base.h"
#include "api.h"

/* An odd number without a pattern, also in strings.py. */
#define TOKDFA_WINDOW_FACTOR 0x9E3779B97F4A7C15u

/* The bytes that are read at once, at least as many as a window has. */
enum { WINDOW_BYTES = 8 };

ALWAYS_INLINE uint64_t hash_of_window(const tokdfa_windows *windows, const uint8_t *text) {
    return (load_64(text) & windows->mask) * TOKDFA_WINDOW_FACTOR;
}

/* The offsets of the windows that may be the same as the bytes of a text: a bit each. */
ALWAYS_INLINE uint64_t offsets_of_window(const tokdfa_windows *windows, const uint8_t *text) {
    const uint64_t hash = hash_of_window(windows, text);
    return windows->offsets[(hash ^ hash >> 32) * TOKDFA_WINDOW_FACTOR >> 48 & (uint64_t)(windows->n_offsets - 1)];
}

#endif
