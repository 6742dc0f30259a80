/* Cutting pieces of characters where no token has the symbols on both sides next to each other; see cut.h. */
#include "split.h"

/* Cut pieces of valid UTF-8: piece i, which is not empty, is text[bounds[i]] to text[bounds[i + 1]], and the last of
   `n_pieces` ends with the text. `begun` gets where the parts begin, with the event BEGINS, and then the end; its
   capacity is one a byte and one more. `firsts` gets the index of each piece's first part. Returns the number of
   parts. */
TOKDFA_API int64_t tokdfa_cut_characters(const tokdfa_characters *characters, const uint8_t *text, int64_t size,
                                          const int64_t *bounds, int64_t n_pieces, int64_t *begun, int64_t *firsts) {
    int64_t n = 0;
    for (int64_t i = 0; i < n_pieces; i++) {
        const int64_t begin = bounds[i], end = i + 1 < n_pieces ? bounds[i + 1] : size;
        firsts[i] = n;
        n += cut_text(characters, text + begin, end - begin, begin, 0, begun + n).n_out;
    }
    begun[n] = size << TOKDFA_EVENT_BITS;
    return n;
}
