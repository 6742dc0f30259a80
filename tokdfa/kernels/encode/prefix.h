/* A symbol that is put before texts, and may merge with their first characters.

   Texts stay as they are. The part that the symbol belongs to is encoded at once, and its ids come like the ids of
   added tokens. */
#ifndef TOKDFA_PREFIX_H
#define TOKDFA_PREFIX_H

#include "cut.h"

/* The left class after an offset where a text is always cut. */
#define AFTER_CUT 1

/* Whether the symbol is put before text, which may be empty if an added token comes next; `begins` is whether the whole
   text begins there. */
ALWAYS_INLINE bool puts_prefix(const tokdfa_split_run *split, const uint8_t *text, int64_t at, int64_t end, bool begins) {
    const tokdfa_characters *characters = split->characters;
    if (!characters) {
        return false;
    }
    const int64_t when = begins ? characters->puts_first : characters->puts_later;
    if (at >= end) {
        /* An added token that is white space may begin in the white space that the previous one strips: no text then. */
        return at == end && when == TOKDFA_PUTS_EVEN_ALONE;
    }
    if (when != TOKDFA_PUTS_UNLESS_THERE) {
        return when;
    }
    uint32_t code = text[at];
    const int64_t length = code < 0x80 ? 1 : read_symbol(text, at, end, &code);
    return length <= 0 || characters->symbol[place_of(characters, code)] != characters->prefix;
}

/* The offset before `end` up to which nothing cuts a text with the symbol before it; or where it is not UTF-8. */
ALWAYS_INLINE int64_t end_of_first(const tokdfa_characters *characters, const uint8_t *text, int64_t at, int64_t end) {
    uint32_t left = (uint32_t)characters->prefix_class;
    while (at < end) {
        uint32_t code = text[at];
        const int64_t length = code < 0x80 ? 1 : read_symbol(text, at, end, &code);
        if (length <= 0) {
            break;
        }
        const uint32_t classes = classes_at(characters, text + at, length, code);
        if (is_cut(characters, left, classes)) {
            break;
        }
        left = classes >> 16;
        at += length;
    }
    return at;
}

/* Encode the symbol and the part of the text that it belongs to. An entry for each id is appended to the `*n` entries
   of `begun`. Returns how many bytes of the text it takes; NO_ROOM if the entries do not fit, or FOREIGN. */
NEVER_INLINE int64_t put_prefix(tokdfa_text_encoder *texts, const uint8_t *text, int64_t at, int64_t end, int64_t *begun,
                                int64_t *n) {
    const tokdfa_split_run *split = texts->split;
    const tokdfa_characters *characters = split->characters;
    const int64_t size = end_of_first(characters, text, at, end) - at;
    /* The added token after it must fit, too. */
    if (*n + size + 3 > split->n_trail || texts->n_found + size + 2 > texts->n_added_ids) {
        return TOKDFA_FULL;
    }
    const int64_t n_ids = merge_characters(characters, (int32_t)characters->prefix, text + at, size,
                                           texts->added_ids + texts->n_found);
    if (n_ids < 0) {
        return n_ids;
    }
    texts->n_found += n_ids;
    for (int64_t i = 0; i < n_ids; i++) {
        begun[(*n)++] = at << EVENT_BITS | TOKDFA_ADDED;
    }
    return size;
}

#endif
