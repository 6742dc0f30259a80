/* Merging many short words together: one merge in each of them in turn.

   The merges within a word wait for each other, and for memory; merges of different words do not. So in each round the
   strongest pair of every word is merged, the leftmost of equally strong ones, without a branch that a predictor could
   get wrong. Only when that is done in all words are the new pairs looked up. A word is given by 16 or 64 lanes, one
   per byte: which bytes begin tokens (a bit each), the number of each token, and the rank of its pair with the next
   one. A rank is one less than the number of the product and, below it, the lane. Ranks are compared as unsigned
   numbers, so pairs that do not merge, with the product NOTHING, come after all others. */
#ifndef TOKDFA_ENCODE_MERGE_BATCH_H
#define TOKDFA_ENCODE_MERGE_BATCH_H

#include "../common/packed.h"
#include "api.h"
#include "rules.h"

/* Words are shorter than this; the last lane stands for the missing neighbours of the first and the last token. */
#define LANE_BITS 6
#define LANES (1 << LANE_BITS)
#define FEW_LANES 16
#define MOST_TOGETHER 32
#define LANE_MASK (LANES - 1)

#define UNRANKED 0xFFFFFFFFu
/* The ranks of pairs that do not merge are at least this. */
#define NO_RANK (0u - LANES)

/* This number of ids of a word are written without checking how many it has. */
#define AT_ONCE TOKDFA_AT_ONCE

/* The size of a word of `n_lanes` lanes: that many ranks, then that many tokens. */
#define ROOM_OF(n_lanes) (2 * (n_lanes))

ALWAYS_INLINE uint32_t rank_of(int64_t made, int64_t lane) {
    return (uint32_t)(made - 1) << LANE_BITS | (uint32_t)lane;
}

/* Set up the word of `n` bytes (at most 15) that is packed here in the few lanes. All of these are always written, as
   no predictor can know the length. Returns the bits of the lanes where tokens begin; 0 if a byte is not in the
   alphabet. */
ALWAYS_INLINE uint64_t begin_short_word(const int32_t *of_symbols, const int32_t *symbol, packed_word word, int64_t n,
                                        uint32_t *room) {
    uint32_t *ranks = room, *tokens = room + FEW_LANES;
    int32_t foreign = 0, token = symbol[word.low & 0xFF];
    for (int lane = 0; lane < FEW_LANES - 1; lane++) {
        foreign |= lane < n ? token : 0;
        tokens[lane] = (uint32_t)token;
        const uint64_t part = lane < 7 ? word.low : word.high;
        const int32_t following = symbol[part >> (8 * ((lane + 1) & 7)) & 0xFF];
        const int32_t made = of_symbols[(token & 0xFF) << 8 | (following & 0xFF)];
        ranks[lane] = lane + 1 < n ? rank_of(made, lane) : UNRANKED;
        token = following;
    }
    ranks[FEW_LANES - 1] = UNRANKED;
    tokens[FEW_LANES - 1] = TOKDFA_NO_NUMBER;
    return foreign < 0 ? 0 : ((uint64_t)1 << n) - 1;
}

/* Set up the word of `n` bytes, fewer than LANES. Returns the bits of the lanes where tokens begin; 0 if a byte is not
   in the alphabet. */
NEVER_INLINE uint64_t begin_long_word(const int32_t *of_symbols, const int32_t *symbol, const uint8_t *word, int64_t n,
                                      uint32_t *room) {
    uint32_t *ranks = room, *tokens = room + LANES;
    int32_t foreign = 0;
    memset(ranks, 0xFF, LANES * sizeof *ranks);
    tokens[LANES - 1] = TOKDFA_NO_NUMBER;
    for (int64_t lane = 0; lane < n; lane++) {
        const int32_t token = symbol[word[lane]];
        foreign |= token;
        tokens[lane] = (uint32_t)token;
    }
    if (foreign < 0) {
        return 0;
    }
    for (int64_t lane = 0; lane < n - 1; lane++) {
        ranks[lane] = rank_of(of_symbols[tokens[lane] << 8 | tokens[lane + 1]], lane);
    }
    return ((uint64_t)1 << n) - 1;
}

/* The least of the ranks of 16 or 64 lanes. */
ALWAYS_INLINE uint32_t least_rank(const uint32_t *ranks, int n_lanes) {
    uint32_t found = UNRANKED;
    for (int lane = 0; lane < n_lanes; lane++) {
        found = ranks[lane] < found ? ranks[lane] : found;
    }
    return found;
}

/* The two new pairs of a word, and where their ranks go. */
typedef struct {
    uint64_t pair[2];
    int64_t bucket[2];
    uint32_t *ranks;
    int32_t lane[2];
} new_pairs;

/* Merge the strongest pair of each of the words, except the ones that have none. Return the number of merged words;
   `found` has their new pairs, with the data for these prefetched. */
ALWAYS_INLINE int64_t merge_strongest(const uint64_t *rules, int64_t n_rules, uint32_t *words, uint64_t *begun,
                                      int32_t *waiting, int64_t n_waiting, int n_lanes, new_pairs *found) {
    const uint64_t neighbour = (uint64_t)1 << (n_lanes - 1);
    int64_t kept = 0;
    for (int64_t i = 0; i < n_waiting; i++) {
        const int32_t w = waiting[i];
        uint32_t *ranks = words + ROOM_OF(n_lanes) * w, *tokens = ranks + n_lanes;
        const uint32_t strongest = least_rank(ranks, n_lanes);
        waiting[kept] = w;
        if (strongest >= NO_RANK) {
            continue;
        }
        const int32_t here = strongest & LANE_MASK;
        const uint32_t token = (strongest >> LANE_BITS) + 1;
        const uint64_t bit = (uint64_t)1 << here, starts = begun[w];
        const uint64_t after_here = (starts | neighbour) & ~((bit << 1) - 1);
        /* The removed bit belongs to a token, so the neighbour's bit, which is the last, is still there. */
        const int gone = __builtin_ctzll(after_here), after = __builtin_ctzll(after_here & (after_here - 1));
        /* No bit below gives the last lane. */
        const uint64_t before = starts & (bit - 1);
        const int32_t ahead = (int32_t)(63 - leading_zeros(before)) & (n_lanes - 1);
        new_pairs *made = found + kept++;
        made->ranks = ranks;
        made->lane[0] = here;
        made->lane[1] = ahead;
        made->pair[0] = pair_of(token, tokens[after]);
        made->pair[1] = pair_of(tokens[ahead], token);
        for (int k = 0; k < 2; k++) {
            made->bucket[k] = bucket_of(n_rules, made->pair[k]);
            PREFETCH(rules + made->bucket[k]);
        }
        begun[w] = starts & ~((uint64_t)1 << gone);
        tokens[here] = token;
        ranks[gone] = UNRANKED;
    }
    return kept;
}

/* Merge words until no rule applies in any.

   `begun` has the lanes where tokens begin, `waiting` the words, at most MOST_TOGETHER of them, and is used up. All of
   them have `n_lanes` lanes, FEW_LANES or LANES. */
ALWAYS_INLINE void merge_together(const uint64_t *rules, int64_t n_rules, uint32_t *words, uint64_t *begun,
                                  int32_t *waiting, int64_t n_waiting, int n_lanes) {
    new_pairs found[MOST_TOGETHER];
    while (n_waiting) {
        n_waiting = merge_strongest(rules, n_rules, words, begun, waiting, n_waiting, n_lanes, found);
        for (int64_t i = 0; i < n_waiting; i++) {
            const new_pairs *made = found + i;
            for (int k = 0; k < 2; k++) {
                const int64_t product = merged_in(rules, n_rules, made->bucket[k], made->pair[k]);
                made->ranks[made->lane[k]] = rank_of(product, made->lane[k]);
            }
        }
    }
}

/* Prefetch the first ids that `finish_word` writes. */
ALWAYS_INLINE void prefetch_ids(const uint32_t *word, int n_lanes, uint64_t starts, const int32_t *ids) {
    for (int i = 0; i < AT_ONCE; i++) {
        const int64_t lane = trailing_zeros(starts) & (n_lanes - 1);
        PREFETCH(ids + word[n_lanes + lane]);
        starts &= starts - 1;
    }
}

/* Write the ids of the tokens of a word to `out` and return their number; there is one at least. Up to AT_ONCE entries
   of `out` are written, even if the ids are fewer, because no predictor can know their number. */
ALWAYS_INLINE int64_t finish_word(const uint32_t *word, int n_lanes, uint64_t starts, const int32_t *ids, int32_t *out) {
    const int64_t n_ids = count_ones(starts);
    const uint32_t *tokens = word + n_lanes;
    for (int i = 0; i < AT_ONCE; i++) {
        /* If no more tokens begin, this is the first lane. */
        const int64_t lane = trailing_zeros(starts) & (n_lanes - 1);
        out[i] = ids[tokens[lane]];
        starts &= starts - 1;
    }
    for (int64_t i = AT_ONCE; i < n_ids; i++) {
        out[i] = ids[tokens[__builtin_ctzll(starts)]];
        starts &= starts - 1;
    }
    return n_ids;
}

#endif
