/* Pieces of UTF-8 as symbols of a dictionary over characters, and their ids after merging.

   With the rules `t·h -> th`, `th·e -> the` no token has `e` and then `c` side by side, so "thecat" is always cut
   there: `the`, `c`, `at`, if `a·t -> at`. The parts are encoded, and cached, by themselves. */
#ifndef TOKDFA_CHARACTERS_H
#define TOKDFA_CHARACTERS_H

#include "../common/base.h"
#include "../merging/api.h"
#include "api.h"

/* The code point at the beginning of valid UTF-8; `*length` gets the number of its bytes. */
ALWAYS_INLINE uint32_t code_point_at(const uint8_t *text, int64_t *length) {
    const uint32_t first = text[0];
    if (LIKELY(first < 0x80)) {
        *length = 1;
        return first;
    }
    if (first < 0xE0) {
        *length = 2;
        return (first & 0x1F) << 6 | (text[1] & 0x3Fu);
    }
    if (first < 0xF0) {
        *length = 3;
        return (first & 0x0F) << 12 | (text[1] & 0x3F) << 6 | (text[2] & 0x3F);
    }
    *length = 4;
    return (first & 0x07) << 18 | (text[1] & 0x3F) << 12 | (text[2] & 0x3F) << 6 | (text[3] & 0x3F);
}

/* The index of a code point's entries. */
ALWAYS_INLINE int32_t place_of(const tokdfa_characters *characters, uint32_t code) {
    const int32_t page = characters->pages[code >> TOKDFA_PAGE_BITS];
    return page << TOKDFA_PAGE_BITS | (int32_t)(code & ((1 << TOKDFA_PAGE_BITS) - 1));
}

/* Write the symbols of a piece; return their number, at most one a byte, or FOREIGN. */
NEVER_INLINE int64_t read_symbols(const tokdfa_characters *characters, const uint8_t *piece, int64_t size,
                                  int32_t *symbols) {
    int64_t n = 0, length;
    bool was_unknown = false;
    for (int64_t at = 0; at < size; at += length) {
        const int32_t symbol = characters->symbol[place_of(characters, code_point_at(piece + at, &length))];
        if (LIKELY(symbol >= 0)) {
            symbols[n++] = symbol;
        } else if (characters->n_byte_symbol) {
            for (int64_t i = 0; i < length; i++) {
                symbols[n++] = characters->byte_symbol[piece[at + i]];
            }
            if (symbols[n - 1] < 0) {
                return TOKDFA_FOREIGN;
            }
        } else if (characters->unknown < 0) {
            return TOKDFA_FOREIGN;
        } else if (!was_unknown || !characters->fuses) {
            symbols[n++] = (int32_t)characters->unknown;
        }
        was_unknown = symbol < 0;
    }
    return n;
}

/* Write the ids of a piece, before which a symbol is put unless it is -1, and return their number; FOREIGN if a symbol
   is unknown, or a token has no id. */
NEVER_INLINE int64_t merge_characters(const tokdfa_characters *characters, int32_t before, const uint8_t *piece,
                                      int64_t size, int32_t *out) {
    out[0] = before;
    const int64_t n_before = before >= 0;
    int64_t n = read_symbols(characters, piece, size, out + n_before);
    if (n < 0) {
        return n;
    }
    n = tokdfa_merge_word(characters->merges, out, n + n_before);
    if (n < 0) {
        return n;
    }
    int32_t least_id = 0;
    for (int64_t i = 0; i < n; i++) {
        out[i] = characters->ids[out[i]];
        least_id = out[i] < least_id ? out[i] : least_id;
    }
    return least_id < 0 ? TOKDFA_FOREIGN : n;
}

/* The most ids that a text has for each of its bytes: one, and one for the symbol before each segment of it. */
ALWAYS_INLINE int64_t most_ids_a_byte(const tokdfa_split_run *split) {
    return split->characters && (split->characters->puts_first || split->characters->puts_later) ? 2 : 1;
}

#endif
