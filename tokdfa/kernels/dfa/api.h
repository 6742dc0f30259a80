#ifndef TOKDFA_DFA_API_H
#define TOKDFA_DFA_API_H

#include <stdint.h>

/* Memory: every array is allocated by Python (numpy), and lives as long as the Struct that points to it. C allocates
   only within a call, and frees before it returns; a function that does may return TOKDFA_NO_MEMORY. */

/* The transitions of an explicit DFA by state. Read-only once it is built. */
typedef struct {
    const int64_t *offsets; /* state p has the transitions offsets[p] to offsets[p + 1] */
    const int32_t *tokens;  /* by transition; ascending within a state */
    const int32_t *targets; /* by transition */
    const uint8_t *final;   /* by state */
    int64_t n_final;        /* the number of states */
} tokdfa_rows;

/* The same transitions as three columns. Read-only once it is built. */
typedef struct {
    const int32_t *sources; /* by transition, as are `tokens` and `targets` */
    const int32_t *tokens;
    const int32_t *targets;
    int64_t n_sources;    /* the number of transitions */
    const uint8_t *final; /* by state */
    int64_t n_final;      /* the number of states */
    int64_t n_tokens;
} tokdfa_columns;

/* Words as a trie in depth-first order; see trie.c. Read-only once it is built. */
typedef struct {
    const int32_t *column; /* by node: the column of its last symbol */
    const int32_t *depth;  /* by node: the length of its word */
    int64_t n_depth;       /* the number of nodes */
    const int32_t *end;    /* the nodes below node i are i + 1 to end[i] */
    const int32_t *first;  /* the words that end at node i have the ranks first[i] to first[i + 1] */
    int64_t longest;       /* the largest depth */
} tokdfa_trie;

int64_t tokdfa_breadth_first(const int64_t *offsets, const int32_t *targets, const int32_t *starts, int64_t n_starts,
                             uint8_t *seen, int32_t *order);
void tokdfa_group(const int32_t *keys, int64_t n_keys, int64_t n_groups, int64_t *offsets, int32_t *positions);
int64_t tokdfa_coarsest_partition(const tokdfa_columns *dfa, int32_t *block);
int64_t tokdfa_first_difference(const tokdfa_rows *dfa, int32_t p, int32_t q, int32_t *path);

int64_t tokdfa_build_trie(const int32_t *symbols, const int64_t *offsets, const int64_t *order, int64_t n_order,
                          int32_t *symbol, int32_t *depth, int32_t *end, int32_t *first);
int64_t tokdfa_tokens_from(const tokdfa_trie *trie, const int32_t *table, int64_t n_columns, int32_t state,
                           int32_t *ranks, int32_t *targets);
int64_t tokdfa_find_words(const tokdfa_trie *trie, int64_t n_columns, int leftmost, int32_t *table, int32_t *length,
                          int32_t *shorter);

#endif
