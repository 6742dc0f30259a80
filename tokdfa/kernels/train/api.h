#ifndef TOKDFA_TRAIN_API_H
#define TOKDFA_TRAIN_API_H

#include <stdint.h>

/* Memory: the arrays of a corpus are allocated by Python (numpy), and must live as long as the training. C allocates a
   training (tokdfa_begin_training) and a table of pieces (tokdfa_new_pieces), NULL if out of memory, and lets them
   grow; the caller frees them (tokdfa_end_training, tokdfa_free_pieces). */

/* The input and the output of a greedy training; see merging.c. It belongs to one thread. */
typedef struct {
    int32_t *text; /* symbols, with boundaries (-1) before, between and after the pieces */
    int64_t n_text;
    const int64_t *weight; /* by position: the number of occurrences of its piece */
    int32_t *length;       /* of each token, in symbols, those to come included */
    int64_t n_length;
    const int32_t *rank; /* of each token, for fixed ties; empty if pairs are ordered by age */
    int64_t n_rank;
    const int32_t *units;   /* for ties by spelling: the units that spell the symbols, */
    const int64_t *unit_at; /* and where the spelling of each position begins, and where the last one ends */
    int32_t *left;          /* written: the tokens that each rule merges, */
    int32_t *right;
    int64_t *gain; /* and the number of replacements that it makes in the corpus */
    const int32_t *wanted_left; /* if not empty: the merges to check; training stops before the first that differs */
    int64_t n_wanted_left;
    const int32_t *wanted_right;
    int64_t n_symbols;
    int64_t least;   /* the minimum frequency of a merge, 1 or more */
    int64_t longest; /* the maximum length of a product */
    int32_t tie;     /* see pairs.h */
    uint8_t overlapping;
    uint8_t any_tie; /* a wanted merge may be any of the most frequent pairs */
} tokdfa_corpus;

/* A training under way, in memory of its own, for one thread at a time. */
typedef struct tokdfa_training tokdfa_training;

tokdfa_training *tokdfa_begin_training(const tokdfa_corpus *corpus);
int64_t tokdfa_find_pairs(tokdfa_training *training, int64_t patience);
int64_t tokdfa_train(tokdfa_training *training, int64_t target, int64_t patience);
int64_t tokdfa_copy_tokens(const tokdfa_training *training, int32_t *tokens, int64_t *weights);
void tokdfa_end_training(tokdfa_training *training);

/* Different pieces of text and their counts, in memory of their own; see piece_table.c.
   It belongs to one thread at a time. */
typedef struct {
    int64_t n_pieces;
    int64_t n_bytes; /* of all pieces */
    uint32_t *slots; /* a hash table: the index of an entry plus one, 0 for a free slot */
    int64_t n_slots; /* a power of two */
    void *entries;   /* key and count of each piece; see piece_table.c */
    int64_t entries_capacity;
    uint8_t *bytes; /* the pieces one after the other */
    int64_t bytes_capacity;
    int64_t *ends; /* the end of each piece */
    int64_t ends_capacity;
} tokdfa_pieces;

tokdfa_pieces *tokdfa_new_pieces(void);
int64_t tokdfa_add_pieces(tokdfa_pieces *pieces, const uint8_t *text, int64_t size, const int64_t *spans,
                          int64_t n_spans, const int64_t *weights);
void tokdfa_copy_pieces(const tokdfa_pieces *pieces, uint8_t *bytes, int64_t *ends, int64_t *counts);
void tokdfa_free_pieces(tokdfa_pieces *pieces);

#endif
