/* Whether a text is in a normalization form: The Unicode Standard, sections 3.11 and 3.12.

   A text has a boundary before every character that never changes, by itself or with the text before it; the segment
   between two boundaries is normalized by itself (Unicode Standard Annex 15, section 9). Nearly all characters of most
   texts are boundaries, so only the others are looked at: with the character before them, decomposed, ordered, composed
   and compared. */
#ifndef TOKDFA_NORMALIZATION_NORMAL_H
#define TOKDFA_NORMALIZATION_NORMAL_H

#include "../common/base.h"
#include "api.h"

/* Segments of more characters, or more parts, are not looked at here. */
enum { MOST_CHARACTERS = 64, MOST_PARTS = 4 * MOST_CHARACTERS };

enum { CHANGED = 0, NORMAL = 1, TOO_LONG = 2 };

enum { SYLLABLE = 0xAC00, LEAD_JAMO = 0x1100, VOWEL_JAMO = 0x1161, TAIL_JAMO = 0x11A7 };
enum { N_LEADS = 19, N_VOWELS = 21, N_TAILS = 28 };
enum { N_SYLLABLES = N_LEADS * N_VOWELS * N_TAILS };

ALWAYS_INLINE bool is_boundary(const tokdfa_form *form, uint32_t code) {
    return form->boundary[code >> 6] >> (code & 63) & 1;
}

ALWAYS_INLINE bool continues_symbol(uint8_t byte) {
    return (byte & 0xC0) == 0x80;
}

/* The number of bytes of the symbol that begins with a byte; 0 if none does. */
ALWAYS_INLINE int64_t utf8_size(uint8_t lead) {
    return lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
}

/* The code of a symbol that has all its bytes; at most 0x10FFFF for any bytes. */
ALWAYS_INLINE uint32_t symbol_code(const uint8_t *bytes, int64_t size) {
    uint32_t code = size == 1 ? bytes[0] : bytes[0] & (0x7Fu >> size);
    for (int64_t i = 1; i < size; i++) {
        code = code << 6 | (bytes[i] & 0x3F);
    }
    return code <= 0x10FFFF ? code : 0xFFFD;
}

/* The index of a number in an ascending list; -1 if it is not there. */
ALWAYS_INLINE int64_t index_in(const int32_t *list, int64_t n, int32_t wanted) {
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (list[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && list[low] == wanted ? low : -1;
}

ALWAYS_INLINE int order_of(const tokdfa_form *form, uint32_t code) {
    int64_t index = index_in(form->mark, form->n_mark, (int32_t)code);
    return index < 0 ? 0 : form->order[index];
}

/* The character that two characters compose to; 0 if they do not compose. */
ALWAYS_INLINE uint32_t composed_of(const tokdfa_form *form, uint32_t left, uint32_t right) {
    if (left - LEAD_JAMO < N_LEADS && right - VOWEL_JAMO < N_VOWELS) {
        return SYLLABLE + ((left - LEAD_JAMO) * N_VOWELS + (right - VOWEL_JAMO)) * N_TAILS;
    }
    if (left - SYLLABLE < N_SYLLABLES && (left - SYLLABLE) % N_TAILS == 0 && right - TAIL_JAMO - 1 < N_TAILS - 1) {
        return left + (right - TAIL_JAMO);
    }
    int64_t wanted = (int64_t)left << 32 | right, low = 0, high = form->n_pair;
    while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (form->pair[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < form->n_pair && form->pair[low] == wanted ? (uint32_t)form->composed[low] : 0;
}

/* Write the parts of a character, which are fully decomposed, after n others; returns their new number, or one more
   than fit. */
ALWAYS_INLINE int64_t decompose(const tokdfa_form *form, uint32_t code, uint32_t *parts, int64_t n) {
    uint32_t syllable = code - SYLLABLE;
    if (n + 3 > MOST_PARTS) {
        return MOST_PARTS + 1;
    }
    if (syllable < N_SYLLABLES) {
        parts[n++] = LEAD_JAMO + syllable / (N_VOWELS * N_TAILS);
        parts[n++] = VOWEL_JAMO + syllable % (N_VOWELS * N_TAILS) / N_TAILS;
        if (syllable % N_TAILS) {
            parts[n++] = TAIL_JAMO + syllable % N_TAILS;
        }
        return n;
    }
    int64_t index = index_in(form->whole, form->n_whole, (int32_t)code);
    if (index < 0) {
        parts[n++] = code;
        return n;
    }
    for (int32_t k = form->bounds[index]; k < form->bounds[index + 1]; k++) {
        if (n == MOST_PARTS) {
            return MOST_PARTS + 1;
        }
        parts[n++] = (uint32_t)form->parts[k];
    }
    return n;
}

/* Write the parts of the normal form of the characters between two boundaries; returns their number, -1 if they are too
   many to fit. */
ALWAYS_INLINE int64_t normalize_segment(const tokdfa_form *form, const uint32_t *codes, int64_t n_codes,
                                        uint32_t *parts) {
    uint8_t orders[MOST_PARTS];
    int64_t n = 0;
    if (n_codes > MOST_CHARACTERS) {
        return -1;
    }
    for (int64_t i = 0; i < n_codes; i++) {
        n = decompose(form, codes[i], parts, n);
        if (n > MOST_PARTS) {
            return -1;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        uint32_t code = parts[i];
        int order = order_of(form, code);
        int64_t index = i;
        for (; order && index > 0 && orders[index - 1] > order; index--) {
            parts[index] = parts[index - 1];
            orders[index] = orders[index - 1];
        }
        parts[index] = code;
        orders[index] = (uint8_t)order;
    }
    if (!form->composes) {
        return n;
    }
    int64_t starter = -1, kept = 0;
    int highest = -1;
    for (int64_t i = 0; i < n; i++) {
        int order = orders[i];
        if (starter >= 0 && highest < order) {
            uint32_t whole = composed_of(form, parts[starter], parts[i]);
            if (whole) {
                parts[starter] = whole;
                continue;
            }
        }
        if (order) {
            highest = order;
        } else {
            starter = kept;
            highest = -1;
        }
        parts[kept++] = parts[i];
    }
    return kept;
}

/* Whether characters between two boundaries are normalized. */
NEVER_INLINE int check_segment(const tokdfa_form *form, const uint32_t *codes, int64_t n_codes) {
    uint32_t parts[MOST_PARTS];
    const int64_t n = normalize_segment(form, codes, n_codes, parts);
    if (n < 0) {
        return TOO_LONG;
    }
    return n == n_codes && !memcmp(parts, codes, (size_t)n * sizeof *codes) ? NORMAL : CHANGED;
}

#endif
