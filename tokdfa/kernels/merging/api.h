#ifndef TOKDFA_MERGING_API_H
#define TOKDFA_MERGING_API_H

#include <stdint.h>

/* Pairs of tokens that merge: a hash table of keys left << 32 | right, -1 where there is none, with the priority of
   each (smaller is stronger) and its product. Read-only once it is built. */
typedef struct {
    int64_t *keys;
    int64_t n_keys;
    int32_t *priority;
    int32_t *product;
} tokdfa_merges;

/* Words, and the outputs for the pairs that make them; see merging.py. It belongs to one thread. */
typedef struct {
    const int32_t *text;
    const int64_t *offsets;
    int64_t n_words;
    int64_t n_symbols;
    const int64_t *start;
    int64_t n_start; /* 0 unless the pairs that make the words are given */
    const int32_t *split_left;
    const int32_t *split_right;
    int32_t *left;
    int32_t *right;
    int32_t *first;
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
