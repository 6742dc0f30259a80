/* Where texts change when they are normalized, and which words take part in that. */
#include "normal.h"

/* The place at which the first stretch begins that changes, or is too long to be looked at here; n if there is none.
   The text is UTF-8. */
TOKDFA_DOOR int64_t tokdfa_first_change(const tokdfa_form *form, const uint8_t *text, int64_t n) {
    int64_t at = 0, before = 0; /* the last symbol before `at` begins there; the border before it is the last one */
    while (at < n) {
        while (at + 8 <= n && !(load_64(text + at) & 0x8080808080808080u)) {
            at += 8;
            before = at - 1;
        }
        if (at == n) {
            break;
        }
        int64_t size = symbol_size(text[at]);
        if (size == 0 || at + size > n) {
            return at;
        }
        if (LIKELY(is_border(form, symbol_at(text + at, size)))) {
            before = at;
            at += size;
            continue;
        }
        uint32_t codes[MOST_CHARACTERS + 1];
        int64_t n_codes = 0, end = before;
        while (end < n && n_codes <= MOST_CHARACTERS) {
            size = symbol_size(text[end]);
            if (size == 0 || end + size > n) {
                return before;
            }
            uint32_t code = symbol_at(text + end, size);
            if (end > at && is_border(form, code)) {
                break;
            }
            codes[n_codes++] = code;
            end += size;
        }
        if (check_stretch(form, codes, n_codes) != NORMAL) {
            return before;
        }
        at = before = end;
    }
    return n;
}

/* Tell of each word whether it begins within a symbol, or has a whole one without a border before it. */
TOKDFA_DOOR void tokdfa_find_joining(const tokdfa_form *form, const uint8_t *text, const int64_t *offsets,
                                     int64_t n_words, uint8_t *joins) {
    for (int64_t word = 0; word < n_words; word++) {
        int64_t at = offsets[word], end = offsets[word + 1];
        bool found = at < end && continues_symbol(text[at]);
        while (at < end && !found) {
            int64_t size = symbol_size(text[at]);
            if (size == 0 || at + size > end) {
                break;
            }
            found = !is_border(form, symbol_at(text + at, size));
            at += size;
        }
        joins[word] = found;
    }
}
