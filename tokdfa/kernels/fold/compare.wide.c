/* Comparing the rows of two compact token DFAs, whose tokens are in different orders, as sets of tokens. */
#include "../common/wide.h"
#include "api.h"

/* Flip the bits of the tokens that a row forbids; returns the number of those that both automata have. */
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
enum { TOGETHER = 8 };

#define COMPARE_ROWS(name)                                                                                             \
    void name(const tokdfa_ranked_rows *first, const tokdfa_ranked_rows *second, const int32_t *first_row,             \
              const int32_t *second_row, int64_t n_pairs, uint64_t *bits, int64_t n_bits, int32_t *least,              \
              int64_t *only_first, int64_t *only_second)

COMPARE_ROWS(compare_rows_baseline);
COMPARE_ROWS(compare_rows_wide);

COMPARE_ROWS(VARIANT(compare_rows)) {
    for (int64_t pair = 0; pair < n_pairs; pair++) {
        /* The forbidden tokens of one row, with those of the other flipped: the remaining ones are in only one row. */
        int64_t n_first = turn_over(first, first_row[pair], bits);
        int64_t n_second = turn_over(second, second_row[pair], bits);
        int64_t n_either = 0;
        least[pair] = -1;
        for (int64_t some = 0; some < n_bits; some += TOGETHER) {
            uint64_t any = 0;
            for (int64_t place = some; place < some + TOGETHER; place++) {
                any |= bits[place];
            }
            for (int64_t place = some; any && place < some + TOGETHER; place++) {
                if (bits[place] && !n_either) {
                    least[pair] = (int32_t)(64 * place + trailing_zeros(bits[place]));
                }
                n_either += count_ones(bits[place]);
                bits[place] = 0;
            }
        }
        only_first[pair] = (n_second - n_first + n_either) / 2;
        only_second[pair] = (n_first - n_second + n_either) / 2;
    }
}

#ifndef TOKDFA_WIDE
/* For each pair of rows the least rank that only one of them allows, -1 when they are equal, and how many tokens only
   the first one allows, and only the second. `bits` has a bit for each rank, all zero before and afterwards; the number
   of its words is a multiple of TOGETHER. */
TOKDFA_API COMPARE_ROWS(tokdfa_compare_rows) {
    CHOOSE(compare_rows)
    (first, second, first_row, second_row, n_pairs, bits, n_bits, least, only_first, only_second);
}
#endif
