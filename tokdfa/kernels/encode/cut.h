/* Cutting UTF-8 where no token has the characters on both sides next to each other.

   Characters that tokens have next to the same ones are a class. A bit for two classes says whether some token has them
   side by side; a bit too many only leaves a part longer than it need be. */
#ifndef TOKDFA_CUT_H
#define TOKDFA_CUT_H

#include "characters.h"
#include "symbols.h"

#define EVENT_BITS TOKDFA_EVENT_BITS
#define EVENT_MASK ((1 << EVENT_BITS) - 1)

/* How far a run has split a text. */
typedef struct {
    int64_t state, n_trail, n_out;
    int64_t read;   /* the number of bytes read */
    int64_t length; /* of the next symbol: 0 if it is cut short, -1 if it is not UTF-8 */
} split_end;

/* The classes of the character of `length` bytes at `place`. */
ALWAYS_INLINE uint32_t classes_at(const tokdfa_characters *characters, const uint8_t *place, int64_t length,
                                  uint32_t point) {
    const uint32_t classes = characters->classes[place_of(characters, point)];
    if (UNLIKELY(classes == (uint32_t)TOKDFA_OF_BYTES)) {
        return (characters->byte_class[place[length - 1]] & 0xFFFF0000u) | (characters->byte_class[place[0]] & 0xFFFF);
    }
    return classes;
}

/* 1 if nothing joins a character of these classes to one of that left class, otherwise 0. */
ALWAYS_INLINE int64_t is_cut(const tokdfa_characters *characters, uint32_t left, uint32_t classes) {
    const uint32_t right = classes & 0xFFFF;
    return ~(characters->joins[left * characters->n_words + (right >> 6)] >> (right & 63)) & 1;
}

/* Cut `size` bytes of a text; the first one has the offset `base`. `state` is the left class of the character before
   them, 0 at the beginning of a piece. `out` gets where parts begin, and has a capacity of one entry a byte. */
NEVER_INLINE split_end cut_text(const tokdfa_characters *characters, const uint8_t *text, int64_t size, int64_t base,
                                int64_t state, int64_t *out) {
    const uint64_t *joins_ascii = characters->joins_ascii;
    split_end end = {state, 0, 0, 0, 1};
    int64_t at = 0, n = 0;
    uint32_t left = (uint32_t)state;
    while (at < size) {
        uint32_t code = text[at];
        out[n] = (base + at) << EVENT_BITS | TOKDFA_BEGINS;
        if (code < 0x80) {
            n += is_cut(characters, left, classes_at(characters, text + at, 1, code));
            for (at++; at < size && text[at] < 0x80; at++) {
                const uint32_t next = text[at];
                out[n] = (base + at) << EVENT_BITS | TOKDFA_BEGINS;
                n += ~(joins_ascii[2 * code + (next >> 6)] >> (next & 63)) & 1;
                code = next;
            }
            left = classes_at(characters, text + at - 1, 1, code) >> 16;
        } else {
            end.length = read_symbol(text, at, size, &code);
            if (UNLIKELY(end.length <= 0)) {
                break;
            }
            const uint32_t classes = classes_at(characters, text + at, end.length, code);
            n += is_cut(characters, left, classes);
            left = classes >> 16;
            at += end.length;
        }
    }
    end.state = left;
    end.n_out = n;
    end.read = at;
    return end;
}

#endif
