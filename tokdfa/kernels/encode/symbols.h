/* Reading the symbols of UTF-8, and their classes. */
#ifndef TOKDFA_SYMBOLS_H
#define TOKDFA_SYMBOLS_H

#include "../common/base.h"
#include "api.h"

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

#endif
