/* Matching single words against the trie of LinMaxMatch. */
#include "code_points.h"
#include "match.h"

/* The number of a code point as a symbol; all those that the trie lacks get the number after the last. */
static int32_t symbol_of(const tokdfa_word_trie *trie, uint32_t point) {
    if (point < 128) {
        return (int32_t)point;
    }
    int64_t low = 0, high = trie->n_points;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if ((uint32_t)trie->points[middle] < point) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool found = low < trie->n_points && (uint32_t)trie->points[low] == point;
    return (int32_t)(128 + (found ? low : trie->n_points));
}

/* `n_read` as for match_word. */
ALWAYS_INLINE int64_t match_text(const tokdfa_word_trie *trie, const uint8_t *text, int64_t size, int32_t *room,
                                 int64_t *n_read) {
    int32_t *const symbols = room + 2 * size;
    int64_t n = 0;
    for (int64_t at = 0; at < size;) {
        const code_point read = decode(text + at);
        symbols[n++] = symbol_of(trie, read.point);
        at += read.width;
    }
    return match_word(trie, symbols, n, room, room + size, n_read);
}

/* Tokenize one word of one code point or more, of `size` bytes of UTF-8, in which surrogates may be encoded as well.
   `room` is for three entries a byte: the ids come first, and from `size` on their numbers of symbols. Returns the number
   of tokens; -1 if there is no tokenization. */
TOKDFA_API int64_t tokdfa_match_word(const tokdfa_word_trie *trie, const uint8_t *text, int64_t size, int32_t *room) {
    return match_text(trie, text, size, room, NULL);
}

/* Do the same, and return the number of cells of the trie that are read. */
TOKDFA_API int64_t tokdfa_count_cells_read(const tokdfa_word_trie *trie, const uint8_t *text, int64_t size,
                                            int32_t *room) {
    int64_t n_read;
    match_text(trie, text, size, room, &n_read);
    return n_read;
}
