/* Reading the pieces of a SentencePiece model, a message of protocol buffers, without objects for them.

   Only plain messages are read, as for a tokenizer.json: anything odd or wrong ends the reading. Fields other than
   pieces are copied as they are. */
#include "../common/base.h"
#include "api.h"
#include "utf8.h"

/* The tags of fields: the number, shifted by three bits, and how it is written. */
enum { PIECE = 1 << 3 | 2, SPELLING = 1 << 3 | 2, SCORE = 2 << 3 | 5, KIND = 3 << 3 | 0 };

/* Read a number of up to 28 bits, which is longer for no tag and no length that is plain; NULL for others. */
ALWAYS_INLINE const uint8_t *take_number(const uint8_t *at, const uint8_t *end, uint32_t *number) {
    *number = 0;
    for (int shift = 0; shift < 28 && at < end; shift += 7) {
        const uint8_t byte = *at++;
        *number |= (uint32_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            return at;
        }
    }
    return NULL;
}

/* The byte after the value of a field with this tag; NULL if it does not end, or is a group. */
static const uint8_t *after_field(const uint8_t *at, const uint8_t *end, uint32_t tag) {
    uint32_t size = 0;
    switch (tag & 7) {
    case 0:
        for (int i = 0; i < 10 && at < end; i++) {
            if (*at++ < 0x80) {
                return at;
            }
        }
        return NULL;
    case 1:
        size = 8;
        break;
    case 2:
        at = take_number(at, end, &size);
        break;
    case 5:
        size = 4;
        break;
    default:
        return NULL;
    }
    return at && size <= end - at ? at + size : NULL;
}

/* Read a piece, all of `at` to `end`. */
static bool take_piece(tokdfa_piece_list *list, const uint8_t *at, const uint8_t *end) {
    uint8_t *to = list->text + list->offsets[list->n_pieces];
    const uint8_t *spelling = NULL;
    uint32_t size = 0, kind = TOKDFA_NORMAL_PIECE, score = 0;
    bool has_score = false, has_kind = false;
    while (at < end) {
        switch (*at++) {
        case SPELLING:
            at = spelling ? NULL : take_number(at, end, &size);
            if (!at || !size || size > TOKDFA_LONGEST_SPELLING || size > end - at || memchr(at, 0, size)) {
                return false;
            }
            spelling = at;
            at += size;
            break;
        case SCORE:
            if (has_score || end - at < 4) {
                return false;
            }
            has_score = true;
            score = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
            at += 4;
            break;
        case KIND:
            if (has_kind || at == end || *at < 1 || *at > TOKDFA_MOST_KINDS) {
                return false;
            }
            has_kind = true;
            kind = *at++;
            break;
        default:
            return false;
        }
    }
    if (!spelling) {
        return false;
    }
    memcpy(to, spelling, size);
    to[size] = 0;
    float value;
    memcpy(&value, &score, sizeof value);
    list->scores[list->n_pieces] = value;
    list->kinds[list->n_pieces] = (uint8_t)kind;
    list->n_pieces++;
    list->offsets[list->n_pieces] = list->offsets[list->n_pieces - 1] + size + 1;
    return true;
}

/* Read the pieces. Returns whether all of the model is written plainly. */
TOKDFA_API int64_t tokdfa_read_pieces(tokdfa_piece_list *list) {
    const uint8_t *at = list->data, *end = at + list->n_data;
    list->n_pieces = list->n_left = list->offsets[0] = 0;
    while (at < end) {
        uint32_t tag, size;
        const uint8_t *begin = at;
        at = take_number(at, end, &tag);
        if (!at || tag < 8) {
            return 0;
        }
        if (tag == PIECE) {
            at = take_number(at, end, &size);
            if (!at || size > end - at || list->n_pieces == list->most || !take_piece(list, at, at + size)) {
                return 0;
            }
            at += size;
            continue;
        }
        at = after_field(at, end, tag);
        if (!at) {
            return 0;
        }
        memcpy(list->left + list->n_left, begin, (size_t)(at - begin));
        list->n_left += at - begin;
    }
    return 1;
}

/* Check the spellings of pieces: piece i is text[offsets[i]] to text[offsets[i + 1] - 1], not empty, and a zero byte.
   `known` has a bit for each code point, all 0; the bits of normal pieces of one character are set. Returns the number
   of characters, zero bytes included; -1 if something is not UTF-8. `*has_all` says whether all characters of normal
   pieces are known. */
TOKDFA_API int64_t tokdfa_check_spellings(const uint8_t *text, const int64_t *offsets, const uint8_t *kinds, int64_t n,
                                          uint8_t *known, int64_t *has_all) {
    uint32_t point;
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *at = text + offsets[i], *end = text + offsets[i + 1] - 1;
        if (kinds[i] == TOKDFA_NORMAL_PIECE && end - at <= 4 && checked_symbol(at, end, &point) == end - at) {
            known[point >> 3] |= (uint8_t)(1 << (point & 7));
        }
    }
    int64_t n_characters = n;
    uint8_t lacking = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *end = text + offsets[i + 1] - 1;
        const uint8_t counts = kinds[i] == TOKDFA_NORMAL_PIECE;
        for (const uint8_t *at = text + offsets[i]; at < end; n_characters++) {
            const int64_t size = checked_symbol(at, end, &point);
            if (!size) {
                return -1;
            }
            lacking |= counts & ~(known[point >> 3] >> (point & 7));
            at += size;
        }
    }
    *has_all = !lacking;
    return n_characters;
}
