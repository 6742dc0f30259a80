#ifndef TOKDFA_FOLD_API_H
#define TOKDFA_FOLD_API_H

#include <stdint.h>

/* The data for going back in time: the live rules as a hash table of pairs with the states that they made, and for each
   token the state that its live rule made, 0 for symbols, and the parts in that rule, -1 for symbols.
   Read-only once it is built. */
typedef struct {
    const int64_t *pairs;
    int64_t n_pairs;
    const int32_t *made;
    const int32_t *birth;
    const int32_t *head;
    const int32_t *tail;
} tokdfa_folding;

/* The rules of a dictionary, and the outputs of their fold; see folding.py. It belongs to one thread. */
typedef struct {
    const int32_t *left;
    int64_t n_left; /* the number of rules */
    const int32_t *right;
    const int32_t *product;
    int64_t n_symbols;
    int32_t *parent;
    int32_t *removed;
    int32_t *rule;
    int32_t *state;
    int32_t *birth;
    int64_t n_birth; /* the number of tokens */
    int32_t *head;
    int32_t *tail;
    int32_t *blocker;
    int64_t *pairs;
    int64_t n_pairs;
    int32_t *made;
} tokdfa_fold_job;

int64_t tokdfa_fold(tokdfa_fold_job *job);
int64_t tokdfa_forbidding_state(const tokdfa_folding *folding, int64_t u, int64_t v, int64_t time);
void tokdfa_forbidding_states(const tokdfa_folding *folding, const int32_t *u, const int32_t *v, const int32_t *times,
                              int64_t n, int32_t *states);
void tokdfa_arrange(const int32_t *removed, int64_t n_states, const int32_t *birth, int64_t n_tokens,
                    const int32_t *head, const int32_t *product, int64_t n_symbols, int32_t *below, int32_t *offset,
                    int32_t *position, int32_t *width);
void tokdfa_depths(const int32_t *parent, int64_t n_states, int32_t *depth);

/* The states whose rows are gathered, the rows so far, and working memory; see folding.py. It belongs to one thread. */
typedef struct {
    const int32_t *parent;
    const int32_t *first;
    const int32_t *width;
    const int32_t *states;
    int64_t n_states;
    int64_t n_live;
    int64_t n_tokens;
    int32_t *table;
    int64_t n_table;
    int64_t *own;
    int32_t *row;
    int32_t *pointer;
    int32_t *start;
    int32_t *stop;
    int64_t n_start; /* the room for intervals */
    int64_t done;    /* the number of states that have rows */
    int64_t n_rows;
} tokdfa_row_job;

int64_t tokdfa_gather_rows(tokdfa_row_job *job);

/* The tokens that the rows of an automaton do not allow, and for each position the rank of its token in an order that
   two automata have in common, or -1. Read-only once it is built. */
typedef struct {
    const int32_t *pointer;
    const int32_t *start;
    const int32_t *stop;
    const int32_t *rank;
} tokdfa_ranked_rows;

void tokdfa_compare_rows(const tokdfa_ranked_rows *first, const tokdfa_ranked_rows *second, const int32_t *first_row,
                         const int32_t *second_row, int64_t n_pairs, uint64_t *bits, int64_t n_bits, int32_t *least,
                         int64_t *only_first, int64_t *only_second);

#endif
