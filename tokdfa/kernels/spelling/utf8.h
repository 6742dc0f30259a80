/* Symbols of UTF-8 that is not known to be valid. */
#ifndef TOKDFA_SPELLING_UTF8_H
#define TOKDFA_SPELLING_UTF8_H

#include "../common/base.h"

/* The number of bytes of the symbol of two bytes or more at a byte; 0 if this is not UTF-8. */
ALWAYS_INLINE int64_t checked_symbol_size(const uint8_t *at, const uint8_t *end) {
    const uint8_t first = *at;
    const int64_t size = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (!size || end - at < size) {
        return 0;
    }
    for (int64_t i = 1; i < size; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    const uint8_t second = at[1];
    const bool is_wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                          (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return is_wrong ? 0 : size;
}

/* The number of bytes of the symbol at a byte before `end`, and its code point; 0 if this is not UTF-8. */
ALWAYS_INLINE int64_t checked_symbol(const uint8_t *at, const uint8_t *end, uint32_t *point) {
    static const uint8_t bits_of_first[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const int64_t size = *at < 0x80 ? 1 : checked_symbol_size(at, end);
    *point = *at & bits_of_first[size];
    for (int64_t i = 1; i < size; i++) {
        *point = *point << 6 | (at[i] & 0x3Fu);
    }
    return size;
}

#endif
