/* Splitting UTF-8 by the machine of a split pattern.

   Where the machine has one hypothesis, what a symbol does is known when it is read. Where it has several, the steps
   are kept on a trail, and when one hypothesis is left, the trail is walked back along its ancestors.

   Each step waits for the one before it. So two symbols of ASCII are read in one step if they leave nothing unsettled.
   */
#ifndef TOKDFA_SPLIT_H
#define TOKDFA_SPLIT_H

#include "../common/base.h"
#include "door.h"

#define EVENT_BITS TOKDFA_EVENT_BITS
#define EVENT_MASK ((1 << EVENT_BITS) - 1)
#define PAIR_EVENTS TOKDFA_PAIR_EVENTS
/* In the entry for two symbols: whether something is unsettled. */
#define PAIR_UNSETTLED (1 << 2 * EVENT_BITS)

/* The length of the UTF-8 sequence at `at`, which is not ASCII; 0 if it is cut short, -1 if it is invalid. */
NEVER_INLINE int64_t length_of_symbol(const uint8_t *text, int64_t at, int64_t end) {
    const uint8_t first = text[at];
    uint8_t low = 0x80, high = 0xBF;
    int64_t length;
    if (first < 0xC2) {
        return -1;
    }
    if (first < 0xE0) {
        length = 2;
    } else if (first < 0xF0) {
        length = 3;
        low = first == 0xE0 ? 0xA0 : low;
        high = first == 0xED ? 0x9F : high;
    } else if (first < 0xF5) {
        length = 4;
        low = first == 0xF0 ? 0x90 : low;
        high = first == 0xF4 ? 0x8F : high;
    } else {
        return -1;
    }
    if (at + 1 < end && !(low <= text[at + 1] && text[at + 1] <= high)) {
        return -1;
    }
    for (int64_t place = at + 2; place < least(at + length, end); place++) {
        if ((text[place] & 0xC0) != 0x80) {
            return -1;
        }
    }
    return at + length <= end ? length : 0;
}

/* Read the symbol at `at`, which is not ASCII; return its length, as `length_of_symbol` does. */
ALWAYS_INLINE int64_t read_symbol(const uint8_t *text, int64_t at, int64_t end, uint32_t *point) {
    const uint32_t first = text[at];
    if (LIKELY(at + 4 <= end)) {
        const uint32_t second = text[at + 1] ^ 0x80u, third = text[at + 2] ^ 0x80u, fourth = text[at + 3] ^ 0x80u;
        if (first < 0xE0) {
            *point = (first & 0x1F) << 6 | second;
            return first >= 0xC2 && second < 0x40 ? 2 : -1;
        }
        if (first < 0xF0) {
            *point = (first & 0xF) << 12 | second << 6 | third;
            return (second | third) < 0x40 && *point >= 0x800 && *point >> 11 != 0x1B ? 3 : -1;
        }
        *point = (first & 0x7) << 18 | second << 12 | third << 6 | fourth;
        return first < 0xF5 && (second | third | fourth) < 0x40 && *point >= 0x10000 && *point < 0x110000 ? 4 : -1;
    }
    const int64_t length = length_of_symbol(text, at, end);
    *point = first & (0xFFu >> (length + 1));
    for (int64_t place = at + 1; place < at + length; place++) {
        *point = *point << 6 | (text[place] & 0x3Fu);
    }
    return length;
}

ALWAYS_INLINE uint8_t class_of(const tokdfa_splitting *splitting, uint32_t point) {
    const uint32_t page = splitting->pages[point >> TOKDFA_BLOCK_BITS];
    return splitting->classes[page << TOKDFA_BLOCK_BITS | (point & ((1u << TOKDFA_BLOCK_BITS) - 1))];
}

/* Append to `out` what the symbols of a trail do, given the hypothesis after them; return the number of entries. */
static inline int64_t settle(const tokdfa_splitting *splitting, const int32_t *trail, const int64_t *trail_at,
                      int64_t n_trail, int64_t hypothesis, int64_t *out) {
    int64_t n_out = 0;
    for (int64_t place = n_trail - 1; place >= 0; place--) {
        const int64_t cell = trail[place] * splitting->width + hypothesis;
        if (splitting->event[cell]) {
            out[n_out++] = trail_at[place] << EVENT_BITS | splitting->event[cell];
        }
        hypothesis = splitting->parent[cell];
    }
    for (int64_t first = 0, last = n_out - 1; first < last; first++, last--) {
        const int64_t swapped = out[first];
        out[first] = out[last];
        out[last] = swapped;
    }
    return n_out;
}

/* The place of a run of the machine. */
typedef struct {
    int64_t state, n_trail, n_out;
    int64_t read;   /* the number of bytes read */
    int64_t length; /* of the next symbol: 0 if it is cut short, -1 if it is not UTF-8 */
} split_end;

/* Run the machine from `state` over `size` bytes of text, the first of which has the offset `base` in the whole text.

   `trail` and `trail_at` have `n_trail` entries, and room for one a byte more; `out` gets what begins, and has room for
   an entry for each byte and each entry of the trail, and one more. */
ALWAYS_INLINE split_end split_text(const tokdfa_splitting *splitting, const uint8_t *text, int64_t size, int64_t base,
                                   int64_t state, int32_t *trail, int64_t *trail_at, int64_t n_trail, int64_t *out) {
    const int64_t class_bits = splitting->class_bits, pair_bits = splitting->pair_bits;
    const int32_t *pairs = splitting->pairs, *target = splitting->target;
    const uint8_t *pair_class = splitting->pair_class, *ascii_class = splitting->ascii_class;
    const uint8_t *quick = splitting->quick, *single = splitting->single;
    int64_t row = (state >> class_bits) << 2 * pair_bits, at = 0, n_out = 0;
    while (at < size) {
        const uint32_t first = text[at];
        if (at + 1 < size) {
            const uint32_t second = text[at + 1];
            if ((first | second) < 0x80) {
                const int32_t entry = pairs[row + ((int64_t)pair_class[first] << pair_bits | pair_class[second])];
                if (LIKELY(!(entry & PAIR_UNSETTLED))) {
                    /* Always written: the branch predictor cannot know where pieces begin. */
                    const int does = entry >> EVENT_BITS & EVENT_MASK, then = entry & EVENT_MASK;
                    out[n_out] = (base + at) << EVENT_BITS | does;
                    n_out += does != TOKDFA_CONTINUES;
                    out[n_out] = (base + at + 1) << EVENT_BITS | then;
                    n_out += then != TOKDFA_CONTINUES;
                    row = entry >> PAIR_EVENTS;
                    at += 2;
                    continue;
                }
            }
        }
        int64_t cell = (row >> 2 * pair_bits) << class_bits, length = 1;
        if (first < 0x80) {
            cell += ascii_class[first];
        } else {
            uint32_t point;
            length = read_symbol(text, at, size, &point);
            if (UNLIKELY(length <= 0)) {
                split_end end = {cell, n_trail, n_out, at, length};
                return end;
            }
            cell += class_of(splitting, point);
        }
        const int64_t number = target[cell] >> class_bits;
        row = number << 2 * pair_bits;
        const int does = quick[cell];
        if (does == TOKDFA_UNSETTLED) {
            trail[n_trail] = (int32_t)cell;
            trail_at[n_trail++] = base + at;
            if (single[number]) {
                n_out += settle(splitting, trail, trail_at, n_trail, 0, out + n_out);
                n_trail = 0;
            }
        } else {
            out[n_out] = (base + at) << EVENT_BITS | does;
            n_out += does != TOKDFA_CONTINUES;
        }
        at += length;
    }
    split_end end = {(row >> 2 * pair_bits) << class_bits, n_trail, n_out, at, 1};
    return end;
}

/* Settle a trail for the hypothesis that the end of the text confirms; return the number of entries. */
ALWAYS_INLINE int64_t settle_at_end(const tokdfa_splitting *splitting, const int32_t *trail, const int64_t *trail_at,
                                    int64_t n_trail, int64_t state, int64_t *out) {
    const int64_t hypothesis = splitting->borne_out[state >> splitting->class_bits];
    return settle(splitting, trail, trail_at, n_trail, hypothesis, out);
}

#endif
