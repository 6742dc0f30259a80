/* Which words have characters that may change, or join the text before them, when a text is normalized. */
#include "normal.h"

/* Tell of each word whether it begins within a symbol, or has a whole one without a boundary before it. */
TOKDFA_API void tokdfa_find_joining(const tokdfa_form *form, const uint8_t *text, const int64_t *offsets,
                                    int64_t n_words, uint8_t *joins) {
    for (int64_t word = 0; word < n_words; word++) {
        int64_t at = offsets[word], end = offsets[word + 1];
        bool found = at < end && continues_symbol(text[at]);
        while (at < end && !found) {
            int64_t size = utf8_size(text[at]);
            if (size == 0 || at + size > end) {
                break;
            }
            found = !is_boundary(form, symbol_code(text + at, size));
            at += size;
        }
        joins[word] = found;
    }
}
