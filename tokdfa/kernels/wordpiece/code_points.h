/* Code points of UTF-8, and their meaning to the end-to-end tokenizer. */
#ifndef TOKDFA_WORDPIECE_CODE_POINTS_H
#define TOKDFA_WORDPIECE_CODE_POINTS_H

#include "../common/base.h"
#include "api.h"

typedef struct {
    uint32_t point;
    int32_t width;
} code_point;

/* The code point at an offset of valid UTF-8, and its number of bytes. */
ALWAYS_INLINE code_point decode(const uint8_t *at) {
    const uint32_t first = at[0];
    if (first < 0x80) {
        return (code_point){first, 1};
    }
    const uint32_t second = at[1] & 0x3F;
    if (first < 0xE0) {
        return (code_point){(first & 0x1F) << 6 | second, 2};
    }
    const uint32_t third = at[2] & 0x3F;
    if (first < 0xF0) {
        return (code_point){(first & 0x0F) << 12 | second << 6 | third, 3};
    }
    return (code_point){(first & 0x07) << 18 | second << 12 | third << 6 | (at[3] & 0x3F), 4};
}

ALWAYS_INLINE uint32_t code_of(const tokdfa_wordpiece *w, uint32_t point) {
    return w->blocks[(uint32_t)w->pages[point >> TOKDFA_CODE_BLOCK_BITS] << TOKDFA_CODE_BLOCK_BITS | (point & 0xFF)];
}

#endif
