/* Rules as a hash table from pairs of tokens to the products of merging them, small enough for the second-level cache.

   Tokens are numbered such that the product of a stronger rule has the smaller number, with the symbols before all
   others. So the number of the product is also the priority. An entry is one machine word: the two parts and the
   product, of 21 bits each. A bucket is a cache line of eight entries, 0 where there is none, which are compared at
   once. The sign of its last entry says that there were more, which are in the buckets after it. Pairs of tokens below
   256, which are asked for most, have a table of their own. */
#ifndef TOKDFA_RULES_H
#define TOKDFA_RULES_H

#include "../common/packed.h"
#include "api.h"

#define NUMBER_BITS 21
#define NUMBER_MASK (((uint64_t)1 << NUMBER_BITS) - 1)
#define PAIR_MASK ((((uint64_t)1 << 2 * NUMBER_BITS) - 1) << NUMBER_BITS)
#define BUCKET 8
#define OVERFULL ((uint64_t)1 << 63)

/* The product of a pair that no rule merges. */
#define NOTHING 0

ALWAYS_INLINE uint64_t pair_of(int64_t u, int64_t v) {
    return (uint64_t)u << NUMBER_BITS | (uint64_t)v;
}

/* The first entry of a pair's bucket. */
ALWAYS_INLINE int64_t bucket_of(int64_t n_rules, uint64_t pair) {
    uint64_t n_buckets = (uint64_t)n_rules / BUCKET;
    return (int64_t)(BUCKET * (((hash_pair(pair) & 0xFFFFFFFF) * n_buckets) >> 32));
}

/* Half a bucket, for the compiler to compare at once. */
typedef uint64_t four_entries __attribute__((vector_size(32)));

/* The product of a pair among the entries of a bucket, or NOTHING. */
ALWAYS_INLINE int64_t among(const uint64_t *bucket, uint64_t pair) {
    const uint64_t wanted = pair << NUMBER_BITS;
    four_entries first, second;
    memcpy(&first, bucket, sizeof first);
    memcpy(&second, bucket + 4, sizeof second);
    first &= (four_entries)(((first ^ wanted) & PAIR_MASK) == 0);
    second &= (four_entries)(((second ^ wanted) & PAIR_MASK) == 0);
    first |= second;
    return (int64_t)((first[0] | first[1] | first[2] | first[3]) & NUMBER_MASK);
}

/* The part of `merged` for a pair with an overfull bucket, if `made` was found in it. */
NEVER_INLINE int64_t merged_further(const uint64_t *rules, int64_t n_rules, int64_t bucket, uint64_t pair,
                                    int64_t made) {
    while (made == NOTHING && rules[bucket + BUCKET - 1] & OVERFULL) {
        bucket += BUCKET;
        if (bucket == n_rules) {
            bucket = 0;
        }
        made = among(rules + bucket, pair);
    }
    return made;
}

/* The part of `merged` for a pair with a known bucket.

   No branch predictor can know the outcome for a pair, so this is arithmetic without branches, except for the few
   overfull buckets. */
ALWAYS_INLINE int64_t merged_in(const uint64_t *rules, int64_t n_rules, int64_t bucket, uint64_t pair) {
    int64_t made = among(rules + bucket, pair);
    if (UNLIKELY(rules[bucket + BUCKET - 1] & OVERFULL)) {
        made = merged_further(rules, n_rules, bucket, pair, made);
    }
    return made;
}

/* The number of the product of the rule u≀v, or NOTHING if there is no such rule. */
ALWAYS_INLINE int64_t merged(const uint64_t *rules, int64_t n_rules, int64_t u, int64_t v) {
    const uint64_t pair = pair_of(u, v);
    return merged_in(rules, n_rules, bucket_of(n_rules, pair), pair);
}

#endif
