/* Reading a stream of ids backwards, symbol by symbol. */
#ifndef TOKDFA_BACKWARDS_H
#define TOKDFA_BACKWARDS_H

#include "search.h"

/* A position in a chunk of ids: an offset in a token. */
typedef struct {
    int64_t token, offset;
} id_position;

/* The byte before a position, which moves there; -1 at the beginning, EDGE for a special token. */
ALWAYS_INLINE int64_t byte_before(const int32_t *ids, const tokdfa_spelled *text, id_position *at) {
    while (at->offset == 0) {
        if (at->token == 0) {
            return -1;
        }
        int64_t id = ids[--at->token];
        if (is_special(text, id)) {
            return EDGE;
        }
        at->offset = length_of(text, id);
    }
    at->offset--;
    return text->bytes[begin_of(text, ids[at->token]) + at->offset];
}

/* The class of the symbol before a position, which moves there, and the number of bytes in between. The class is -1 at
   the beginning; the classes of broken symbols and special tokens come after the classes of code points. */
static int64_t symbol_before(const int32_t *ids, const tokdfa_spelled *text, const tokdfa_backward *backward,
                             id_position *at, int64_t *length) {
    int64_t byte = byte_before(ids, text, at);
    *length = 0;
    if (byte < 0) {
        return -1;
    }
    if (byte == EDGE) {
        return backward->n_classes + 1;
    }
    *length = 1;
    if (byte < 0x80) {
        return backward->class_of[byte];
    }
    if (byte >= 0xC0) {
        return backward->n_classes;
    }
    int64_t code_point = byte & 0x3F;
    id_position other = *at;
    for (int n = 2; n <= 4; n++) {
        byte = byte_before(ids, text, &other);
        if (0x80 <= byte && byte < 0xC0) {
            code_point |= (byte & 0x3F) << (6 * (n - 1));
            continue;
        }
        bool valid = false;
        if (n == 2 && 0xC2 <= byte && byte < 0xE0) {
            code_point |= (byte & 0x1F) << 6;
            valid = true;
        } else if (n == 3 && 0xE0 <= byte && byte < 0xF0) {
            code_point |= (byte & 0x0F) << 12;
            valid = code_point >= 0x800 && !(0xD800 <= code_point && code_point < 0xE000);
        } else if (n == 4 && 0xF0 <= byte && byte < 0xF5) {
            code_point |= (byte & 0x07) << 18;
            valid = 0x10000 <= code_point && code_point < 0x110000;
        }
        if (valid) {
            *at = other;
            *length = n;
            return backward->class_of[code_point];
        }
        break;
    }
    return backward->n_classes;
}

#endif
