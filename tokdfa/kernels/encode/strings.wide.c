/* Finding any of some strings in a text: by their windows, or where the text ends.

   With the strings "stop" and "top!", the text "a stop!" has both; in "a sto" the rest from 2 on may begin one. Up
   to four sets of windows are sought one after the other, and where one is met, the trie of the strings is read. */
#include "../common/wide.h"
#include "added.h"
#include "windows.h"

int64_t VARIANT(find_string)(const tokdfa_strings *strings, tokdfa_added_scan *scan, const uint8_t *text, int64_t size,
                             int64_t *end);

/* The next offset at which a window of a set may be, before `end`. */
ALWAYS_INLINE int64_t next_met(const tokdfa_windows *windows, const uint8_t *text, int64_t at, int64_t end) {
    if (windows->n_bits) {
        return tokdfa_next_window(windows, text, at, end);
    }
    for (; at + WORD < end; at += WORD) {
        const uint64_t bits = may_begin(windows->filter, text + at);
        if (bits) {
            return at + trailing_zeros(bits);
        }
    }
    while (at < end && !(windows->filter[text[at]] & windows->filter[256 + text[at + 1]])) {
        at++;
    }
    return at;
}

/* Find a string by the windows of a set: where its window is, up to `last`, or -1; `*stop` gets where it ends. */
ALWAYS_INLINE int64_t find_by_windows(const tokdfa_strings *strings, const tokdfa_windows *windows, int64_t *labels,
                                      const uint8_t *text, int64_t size, int64_t *stop) {
    const int64_t end = size - WINDOW_BYTES + 1;
    for (int64_t at = 0; (at = next_met(windows, text, at, end)) < end; at += windows->stride) {
        uint64_t offsets = offsets_of_window(windows, text + at);
        while (offsets) {
            const int64_t offset = WORD - 1 - leading_zeros(offsets);
            bool is_cut;
            if (offset <= at &&
                longest_added(strings->added->outer, labels, text, at - offset, size, stop, &is_cut) >= 0) {
                return at;
            }
            offsets ^= (uint64_t)1 << offset;
        }
    }
    return -1;
}

/* Find the leftmost string near the end of a text, or where the text begins that may be the beginning of one. */
ALWAYS_INLINE int64_t find_at_end(const tokdfa_strings *strings, int64_t *labels, const uint8_t *text, int64_t size,
                                  int64_t *end) {
    const tokdfa_added_level *level = strings->added->outer;
    int64_t open = size;
    for (int64_t at = greatest(0, size - strings->back); (at = next_candidate(level, text, at, size)) < size; at++) {
        bool is_cut;
        if (longest_added(level, labels, text, at, size, end, &is_cut) >= 0) {
            return at;
        }
        open = is_cut ? least(open, at) : open;
    }
    return open;
}

/* Find a string. If one is in the text, some string ends at `*end` or before, and all that do so begin at the returned
   offset or after it. Otherwise `*end` is -1, and the rest of the text from there on is the longest that a string may
   begin with. */
int64_t VARIANT(find_string)(const tokdfa_strings *strings, tokdfa_added_scan *scan, const uint8_t *text, int64_t size,
                             int64_t *end) {
    const tokdfa_windows *sets[] = {strings->paired, strings->tiny, strings->brief, strings->large};
    int64_t first = size, stop = 0;
    *end = -1;
    memset(scan->windows, 0, (size_t)scan->n_windows * sizeof *scan->windows);
    for (int i = 0; i < 4; i++) {
        const int64_t at = sets[i] ? find_by_windows(strings, sets[i], scan->windows, text, size, &stop) : -1;
        if (at >= 0) {
            first = least(first, at);
            *end = *end < 0 ? stop : least(*end, stop);
        }
    }
    if (*end >= 0) {
        return greatest(0, first - strings->back);
    }
    return find_at_end(strings, scan->windows, text, size, end);
}

#ifndef TOKDFA_WIDE
int64_t find_string_wide(const tokdfa_strings *strings, tokdfa_added_scan *scan, const uint8_t *text, int64_t size,
                         int64_t *end);

TOKDFA_API int64_t tokdfa_find_string(const tokdfa_strings *strings, tokdfa_added_scan *scan, const uint8_t *text,
                                       int64_t size, int64_t *end) {
    return CHOOSE(find_string)(strings, scan, text, size, end);
}
#endif
