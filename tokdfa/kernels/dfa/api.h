#ifndef TOKDFA_DFA_API_H
#define TOKDFA_DFA_API_H

#include <stdint.h>

/* The transitions of an explicit DFA by state: those of state p are tokens[offsets[p]] to tokens[offsets[p + 1]],
   ascending, with their targets in a parallel array. Read-only once it is built. */
typedef struct {
    const int64_t *offsets;
    const int32_t *tokens;
    const int32_t *targets;
    const uint8_t *final;
    int64_t n_final; /* the number of states */
} tokdfa_rows;

/* The same transitions as three columns. Read-only once it is built. */
typedef struct {
    const int32_t *sources;
    const int32_t *tokens;
    const int32_t *targets;
    int64_t n_sources; /* the number of transitions */
    const uint8_t *final;
    int64_t n_final;
    int64_t n_tokens;
} tokdfa_columns;

/* Words as a trie in depth-first order; see trie.c. Read-only once it is built. */
typedef struct {
    const int32_t *column;
    const int32_t *depth;
    int64_t n_depth; /* the number of nodes */
    const int32_t *end;
    const int32_t *first;
    int64_t longest; /* the largest depth */
} tokdfa_trie;

int64_t tokdfa_breadth_first(const int64_t *offsets, const int32_t *targets, const int32_t *starts, int64_t n_starts,
                             uint8_t *seen, int32_t *order);
void tokdfa_group(const int32_t *keys, int64_t n_keys, int64_t n_groups, int64_t *offsets, int32_t *positions);
int64_t tokdfa_coarsest_partition(const tokdfa_columns *dfa, int32_t *block);
int64_t tokdfa_first_difference(const tokdfa_rows *dfa, int32_t p, int32_t q, int32_t *path);

int64_t tokdfa_build_trie(const int32_t *symbols, const int64_t *offsets, const int64_t *order, int64_t n_order,
                          int32_t *symbol, int32_t *depth, int32_t *end, int32_t *first);
int64_t tokdfa_tokens_from(const tokdfa_trie *trie, const int32_t *table, int64_t n_columns, int32_t state,
                           int32_t *places, int32_t *targets);
int64_t tokdfa_find_words(const tokdfa_trie *trie, int64_t n_columns, int leftmost, int32_t *table, int32_t *length,
                          int32_t *shorter);

#endif
