#ifndef TOKDFA_FOLD_API_H
#define TOKDFA_FOLD_API_H

#include <stdint.h>

/* Memory: every array is allocated by Python (numpy), and lives as long as the Struct that points to it. C allocates
   nothing. */

/* The data for going back in time. Read-only once it is built. */
typedef struct {
    const int64_t *pairs; /* a hash table of the pairs of live rules; -1 in free slots */
    int64_t n_pairs;
    const int32_t *made;  /* by slot: the state that the rule made */
    const int32_t *birth; /* by token: the state that its live rule made, 0 for symbols */
    const int32_t *head;  /* by token: the left part in that rule, -1 for symbols */
    const int32_t *tail;  /* by token: the right part */
} tokdfa_folding;

/* The rules of a dictionary, and the outputs of their fold. All outputs are -1 at first, `made` 0; `state` and `birth`
   are 0 for symbols. It belongs to one thread. */
typedef struct {
    const int32_t *left; /* by rule, as are `right` and `product` */
    int64_t n_left;      /* the number of rules */
    const int32_t *right;
    const int32_t *product;
    int64_t n_symbols;
    int32_t *parent;  /* by state: the one it is made from */
    int32_t *removed; /* by state: the token that its parent allows and it does not */
    int32_t *rule;    /* by state: the rule that made it */
    int32_t *state;   /* by token: where it leads */
    int32_t *birth;   /* by token, as in tokdfa_folding, and so are `head`, `tail`, `pairs` and `made` */
    int64_t n_birth;  /* the number of tokens */
    int32_t *head;
    int32_t *tail;
    int32_t *blocker; /* by rule: the one that keeps it from being live; -2 or -3 for a dead left or right part */
    int64_t *pairs;
    int64_t n_pairs;
    int32_t *made;
} tokdfa_fold_job;

/* The tokens in an order in which the tokens that one rule forbids are an interval. It belongs to one thread. */
typedef struct {
    const int32_t *removed; /* by state */
    int64_t n_removed;      /* the number of states */
    const int32_t *birth;   /* by token */
    int64_t n_birth;        /* the number of tokens */
    const int32_t *head;    /* by token */
    const int32_t *product; /* by state: the token that its rule made */
    int64_t n_symbols;
    int32_t *below;    /* by token, zeros at first: the number of its descendants born so far */
    int32_t *offset;   /* by token, zeros at first: its position minus the position of its head, minus 1 */
    int32_t *position; /* written: by token */
    int32_t *width;    /* written: by state, zeros at first; the number of positions that its rule forbids */
} tokdfa_arrangement;

int64_t tokdfa_fold(tokdfa_fold_job *job);
int64_t tokdfa_forbidding_state(const tokdfa_folding *folding, int64_t u, int64_t v, int64_t time);
void tokdfa_arrange(const tokdfa_arrangement *job);
void tokdfa_depths(const int32_t *parent, int64_t n_states, int32_t *depth);

/* The states that get rows, the rows so far, and working memory. It belongs to one thread. */
typedef struct {
    const int32_t *parent; /* by state, as are `first` and `width` */
    const int32_t *first;  /* the first position that its rule forbids */
    const int32_t *width;  /* and how many */
    const int32_t *states; /* the states that get rows, ascending, 0 among them */
    int64_t n_states;
    int64_t n_live; /* no state allows the positions from here */
    int64_t n_tokens;
    int32_t *table; /* a hash table of rows; -1 in free slots */
    int64_t n_table;
    int64_t *own;     /* working memory: an interval for each state above one */
    int32_t *row;     /* written: by state, -1 for states without one */
    int32_t *pointer; /* written: row r has the intervals pointer[r] to pointer[r + 1] */
    int32_t *start;   /* written: the intervals, half-open */
    int32_t *stop;
    int64_t n_start; /* the capacity for intervals */
    int64_t done;    /* the number of states that have rows */
    int64_t n_rows;
} tokdfa_row_job;

int64_t tokdfa_gather_rows(tokdfa_row_job *job);

/* The tokens that the rows of an automaton do not allow. Read-only once it is built. */
typedef struct {
    const int32_t *pointer; /* as in tokdfa_row_job */
    const int32_t *start;
    const int32_t *stop;
    const int32_t *rank; /* by position: the rank of its token in an order common to two automata; -1 for none */
} tokdfa_ranked_rows;

/* Pairs of rows to compare. It belongs to one thread. */
typedef struct {
    const int32_t *first_row; /* by pair: the row of the first automaton */
    const int32_t *second_row;
    int64_t n_first_row; /* the number of pairs */
    uint64_t *bits;      /* one for each rank, zeros before and afterwards; a multiple of eight words */
    int64_t n_bits;
    int32_t *least;       /* written: by pair, the least rank that only one row allows; -1 if they are equal */
    int64_t *only_first;  /* written: by pair, how many tokens only the first row allows */
    int64_t *only_second; /* written: and only the second */
} tokdfa_row_pairs;

void tokdfa_compare_rows(const tokdfa_ranked_rows *first, const tokdfa_ranked_rows *second,
                         const tokdfa_row_pairs *pairs);

#endif
