/* Single words: matching them against the trie of LinMaxMatch, and the table of words that are looked up whole. */
#include "ascii_words.h"
#include "code_points.h"
#include "match.h"

/* The number of a code point as a symbol; code points that the trie lacks get the number after the last. */
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
ALWAYS_INLINE int64_t match_text(const tokdfa_word_trie *trie, const uint8_t *text, int64_t size, int32_t *buffer,
                                 int64_t *n_read) {
    int32_t *const symbols = buffer + 2 * size;
    int64_t n = 0;
    for (int64_t at = 0; at < size;) {
        const code_point read = decode(text + at);
        symbols[n++] = symbol_of(trie, read.point);
        at += read.width;
    }
    return match_word(trie, symbols, n, buffer, buffer + size, n_read);
}

/* Tokenize one word of one code point or more, of `size` bytes of UTF-8, in which surrogates may be encoded as well.
   `buffer` is for three entries a byte: the ids come first, and from `size` on their numbers of symbols. Returns the
   number of tokens; -1 without a tokenization. */
TOKDFA_API int64_t tokdfa_match_word(const tokdfa_word_trie *trie, const uint8_t *text, int64_t size, int32_t *buffer) {
    return match_text(trie, text, size, buffer, NULL);
}

/* Do the same, and return the number of cells of the trie that are read. */
TOKDFA_API int64_t tokdfa_count_cells_read(const tokdfa_word_trie *trie, const uint8_t *text, int64_t size,
                                            int32_t *buffer) {
    int64_t n_read;
    match_text(trie, text, size, buffer, &n_read);
    return n_read;
}

/* Fill the words of the tables, all zeros before: word i has the code points codes[offsets[i]] to codes[offsets[i + 1]],
   all below 128, and no more than TOKDFA_LONGEST_INDEXED. */
TOKDFA_API void tokdfa_index_wordpieces(const int32_t *codes, const int64_t *offsets, const int32_t *ids,
                                         int64_t n_ids, uint64_t *words, int64_t n_words) {
    for (int64_t i = 0; i < n_ids; i++) {
        uint64_t halves[2] = {0};
        for (int64_t at = offsets[i]; at < offsets[i + 1]; at++) {
            const int64_t index = at - offsets[i];
            halves[index >> 3] |= (uint64_t)codes[at] << 8 * (index & 7);
        }
        const uint64_t slot = find_word(words, n_words, halves[0], halves[1]);
        words[slot] = halves[0];
        words[slot + 1] = halves[1];
        words[slot + 2] = (uint64_t)ids[i];
    }
}
