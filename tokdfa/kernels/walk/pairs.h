/* The pair test over ids: by a table of bits, or by going back in time.

   The table is the matrix of rows (states of the minimal token DFA) by columns (classes of tokens that no row
   distinguishes); a bit is set where the row forbids the column. Most of its blocks of PAIR_BLOCK bits are empty and
   most of the others are equal, so each row is a list of numbers of distinct blocks: some megabytes, where the matrix
   has hundreds. */
#ifndef TOKDFA_PAIRS_H
#define TOKDFA_PAIRS_H

#include "../common/back_in_time.h"
#include "api.h"

enum { PAIR_BLOCK_SHIFT = 9, PAIR_BLOCK_WORDS = 1 << (PAIR_BLOCK_SHIFT - 6) };

/* An id that is not a live token is one that anything may precede and follow; one that nothing may precede; or a token
   that is the whole of its piece, so that nothing may precede or follow it there. */
enum { PAIR_CUT = -1, PAIR_NO_TOKEN = -2, PAIR_ALONE = -3 };

ALWAYS_INLINE bool forbidden_by_table(const int32_t *blocks, const uint64_t *bits, int64_t left,
                                      int64_t right) {
    uint64_t column = (uint64_t)right & 0xFFFFFFFFu;
    int64_t block = blocks[(left >> 32) + (int64_t)(column >> PAIR_BLOCK_SHIFT)];
    return bits[block * PAIR_BLOCK_WORDS + (int64_t)(column >> 6 & (PAIR_BLOCK_WORDS - 1))] >> (column & 63) & 1;
}

/* Whether token v may not follow token u, if one of them is none. */
ALWAYS_INLINE bool forbidden_without_token(int32_t u, int32_t v) {
    return v <= PAIR_NO_TOKEN || (u == PAIR_ALONE && v != PAIR_CUT);
}

ALWAYS_INLINE bool forbidden_by_history(const tokdfa_folding *folding, int32_t u, int32_t v) {
    return u < 0 || v < 0 ? forbidden_without_token(u, v) : merges_across(folding, u, v);
}

/* Whether id `right` may not follow id `left`. */
ALWAYS_INLINE bool forbidden(const tokdfa_pair_test *test, uint32_t left, uint32_t right) {
    if (test->n_lookup) {
        return forbidden_by_table(test->blocks, test->bits, test->lookup[left], test->lookup[right]);
    }
    return forbidden_by_history(test->folding, test->tokens[left], test->tokens[right]);
}

#endif
