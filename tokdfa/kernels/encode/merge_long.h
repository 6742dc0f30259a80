/* Merging one longer word by itself, for words that are too many lanes for merge_batch.h.

   The strongest pair, the leftmost of equally strong ones, is the least of all ranks, which are compared several at
   once. The time is quadratic, with a small factor; so words of more than LONGEST_MERGED bytes are tokenized in one
   pass, for which there are larger tables. */
#ifndef TOKDFA_ENCODE_MERGE_LONG_H
#define TOKDFA_ENCODE_MERGE_LONG_H

#include "api.h"
#include "rules.h"
#include "merge_batch.h"

/* In a rank, the offset is below the product less one. */
#define PLACE_BITS 9
#define LONGEST_MERGED (1 << PLACE_BITS)
#define PLACE_MASK (LONGEST_MERGED - 1)
/* The ranks of pairs that do not merge are at least this. */
#define NO_PLACE_RANK (0u - LONGEST_MERGED)
/* The number of ranks compared at once. */
#define AT_ONCE_RANKED 32

typedef struct {
    _Alignas(64) uint32_t rank[LONGEST_MERGED]; /* of the pair of a token with the next one, where the token begins */
    uint32_t token[LONGEST_MERGED];
    int16_t next[LONGEST_MERGED], previous[LONGEST_MERGED]; /* where the neighbours begin; the size and -1 at the ends */
} long_word;

ALWAYS_INLINE uint32_t rank_at(int64_t made, int64_t place) {
    return (uint32_t)(made - 1) << PLACE_BITS | (uint32_t)place;
}

/* The least of `n` ranks, a multiple of AT_ONCE_RANKED. */
ALWAYS_INLINE uint32_t least_of_ranks(const uint32_t *ranks, int64_t n) {
    uint32_t least_ones[AT_ONCE_RANKED], found = UNRANKED;
    memset(least_ones, 0xFF, sizeof least_ones);
    for (int64_t first = 0; first < n; first += AT_ONCE_RANKED) {
        for (int i = 0; i < AT_ONCE_RANKED; i++) {
            least_ones[i] = ranks[first + i] < least_ones[i] ? ranks[first + i] : least_ones[i];
        }
    }
    for (int i = 0; i < AT_ONCE_RANKED; i++) {
        found = least_ones[i] < found ? least_ones[i] : found;
    }
    return found;
}

/* Write the ids of a word of `n` bytes, from 1 to LONGEST_MERGED, and return their number; -1 if a byte is not in the
   alphabet. */
NEVER_INLINE int64_t merge_alone(const tokdfa_token_tables *tables, const uint8_t *text, int64_t n, int32_t *out) {
    long_word word;
    int32_t foreign = 0;
    const int64_t n_ranked = (n + AT_ONCE_RANKED - 1) / AT_ONCE_RANKED * AT_ONCE_RANKED;
    memset(word.rank, 0xFF, (size_t)n_ranked * sizeof *word.rank);
    for (int64_t place = 0; place < n; place++) {
        const int32_t token = tables->symbol[text[place]];
        foreign |= token;
        word.token[place] = (uint32_t)token;
        word.next[place] = (int16_t)(place + 1);
        word.previous[place] = (int16_t)(place - 1);
    }
    if (foreign < 0) {
        return -1;
    }
    for (int64_t place = 0; place < n - 1; place++) {
        word.rank[place] = rank_at(tables->of_symbols[word.token[place] << 8 | word.token[place + 1]], place);
    }
    while (true) {
        const uint32_t strongest = least_of_ranks(word.rank, n_ranked);
        if (strongest >= NO_PLACE_RANK) {
            break;
        }
        const int64_t here = strongest & PLACE_MASK, gone = word.next[here], after = word.next[gone];
        const int64_t before = word.previous[here];
        const uint32_t token = (strongest >> PLACE_BITS) + 1;
        word.token[here] = token;
        word.next[here] = (int16_t)after;
        word.rank[gone] = word.rank[here] = UNRANKED;
        if (after < n) {
            word.previous[after] = (int16_t)here;
            word.rank[here] = rank_at(merged(tables->rules, tables->n_rules, token, word.token[after]), here);
        }
        if (before >= 0) {
            word.rank[before] = rank_at(merged(tables->rules, tables->n_rules, word.token[before], token), before);
        }
    }
    int64_t n_ids = 0;
    for (int64_t place = 0; place < n; place = word.next[place]) {
        out[n_ids++] = tables->ids_of_numbers[word.token[place]];
    }
    return n_ids;
}

#endif
