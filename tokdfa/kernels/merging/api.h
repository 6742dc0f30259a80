#ifndef TOKDFA_MERGING_API_H
#define TOKDFA_MERGING_API_H

#include <stdint.h>

/* Memory: every array is allocated by Python (numpy), and lives as long as the Struct that points to it. C allocates
   only within a call, and frees before it returns; a function that does may return TOKDFA_NO_MEMORY. */

/* Pairs of tokens that merge, as a hash table. Read-only once it is built. */
typedef struct {
    int64_t *keys; /* left << 32 | right; -1 in free slots */
    int64_t n_keys;
    int32_t *priority; /* by slot; smaller is stronger */
    int32_t *product;  /* by slot: the token that the pair becomes */
} tokdfa_merges;

/* Words, and the pairs that make them. It belongs to one thread. */
typedef struct {
    const int32_t *text;
    const int64_t *offsets; /* word i is text[offsets[i]] to text[offsets[i + 1]]; the strongest comes first */
    int64_t n_words;
    int64_t n_symbols;    /* word i is the token n_symbols + i */
    const int64_t *start; /* the pairs start[i] to start[i + 1] of `split_left` and `split_right` make word i */
    int64_t n_start;      /* 0 unless they are given */
    const int32_t *split_left;
    const int32_t *split_right;
    int32_t *left; /* written: by word, its pair; -1 if more than two tokens are left */
    int32_t *right;
    int32_t *first; /* written: by word without a pair, the two tokens left after all pairs; -1 for more */
    int32_t *second;
} tokdfa_word_job;

void tokdfa_add_pairs(const tokdfa_merges *merges, const int32_t *left, const int32_t *right, const int32_t *priority,
                      const int32_t *product, int64_t n);
int64_t tokdfa_merge_pieces(const tokdfa_merges *merges, const int32_t *symbols, const int64_t *pieces,
                            int64_t n_pieces, int64_t *offsets, int32_t *tokens);
int64_t tokdfa_merge_word(const tokdfa_merges *merges, int32_t *tokens, int64_t n);
int64_t tokdfa_inner_pairs(const int32_t *left, const int32_t *right, const int32_t *product, int64_t n, int32_t *first,
                           int32_t *last, int64_t *pairs);
int tokdfa_derive(const tokdfa_word_job *job, const tokdfa_merges *merges);
int tokdfa_derivations(const tokdfa_merges *merges, const int32_t *symbols, const int64_t *offsets, int64_t n_words,
                       int32_t *last, uint8_t *ascending);

#endif
