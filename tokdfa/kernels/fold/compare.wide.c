/* Comparing the rows of two compact token DFAs, with their tokens in different orders, as sets of tokens. */
#include "../common/wide.h"
#include "api.h"

/* Flip the bits of the tokens that a row forbids and both automata have; returns their number. */
static int64_t turn_over(const tokdfa_ranked_rows *rows, int32_t row, uint64_t *bits) {
    int64_t n = 0;
    for (int32_t i = rows->pointer[row]; i < rows->pointer[row + 1]; i++) {
        for (int32_t position = rows->start[i]; position < rows->stop[i]; position++) {
            int32_t rank = rows->rank[position];
            if (rank >= 0) {
                bits[rank >> 6] ^= (uint64_t)1 << (rank & 63);
                n++;
            }
        }
    }
    return n;
}

/* The number of words that are examined together, because most words are zero. */
enum { WORDS_AT_ONCE = 8 };

#define COMPARE_ROWS(name)                                                                                             \
    void name(const tokdfa_ranked_rows *first, const tokdfa_ranked_rows *second, const tokdfa_row_pairs *pairs)

COMPARE_ROWS(compare_rows_baseline);
COMPARE_ROWS(compare_rows_wide);

COMPARE_ROWS(VARIANT(compare_rows)) {
    uint64_t *bits = pairs->bits;
    for (int64_t pair = 0; pair < pairs->n_first_row; pair++) {
        /* The tokens that one row forbids, with the other row's tokens flipped: the remaining ones are in only one
           row. */
        const int64_t n_first = turn_over(first, pairs->first_row[pair], bits);
        const int64_t n_second = turn_over(second, pairs->second_row[pair], bits);
        const int64_t n_words = pairs->n_bits;
        int64_t n_either = 0;
        int32_t least_rank = -1;
        for (int64_t some = 0; some < n_words; some += WORDS_AT_ONCE) {
            uint64_t any = 0;
            for (int64_t word = some; word < some + WORDS_AT_ONCE; word++) {
                any |= bits[word];
            }
            for (int64_t word = some; any && word < some + WORDS_AT_ONCE; word++) {
                if (bits[word] && !n_either) {
                    least_rank = (int32_t)(64 * word + trailing_zeros(bits[word]));
                }
                n_either += count_ones(bits[word]);
                bits[word] = 0;
            }
        }
        pairs->least[pair] = least_rank;
        pairs->only_first[pair] = (n_second - n_first + n_either) / 2;
        pairs->only_second[pair] = (n_first - n_second + n_either) / 2;
    }
}

#ifndef TOKDFA_WIDE
/* For each pair of rows the least rank that only one of them allows, and how many tokens only one of them allows. */
TOKDFA_API COMPARE_ROWS(tokdfa_compare_rows) {
    CHOOSE(compare_rows)(first, second, pairs);
}
#endif
