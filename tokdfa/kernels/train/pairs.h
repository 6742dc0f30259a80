/* The pairs of a text that is being merged: a growing table of rows, found by their key, and a queue of them.

   The key of a pair of tokens u and v is u · 2³² + v. The hash table holds the row's number with part of the key's
   hash, so most rows of other pairs need not be fetched. The queue is a binary heap of entries (count, tie, row): the
   greatest count first, then the least tie, then by spelling if the tie rule says so. */
#ifndef TOKDFA_TRAIN_PAIRS_H
#define TOKDFA_TRAIN_PAIRS_H

#include "../common/pair_slot.h"
#include "api.h"
#include "capacity.h"

/* Ties: by a number that a pair keeps, by its first position now, or by its spelling. */
enum { FIXED, FIRST_SEEN, SENTENCEPIECE, SUBWORD_NMT };

typedef struct {
    int64_t key, count;
    int64_t tie;      /* compared first among equally frequent pairs; the least wins */
    int64_t from, to; /* where in the pool its positions are */
} pair;

typedef struct {
    int64_t count, tie, row;
} entry;

enum training_stage { COUNTING, LAYING_OUT, LISTING, MERGING };

struct tokdfa_training {
    const tokdfa_corpus *corpus;
    enum training_stage stage;
    int64_t at; /* before merging: the next position of the text */
    pair *pairs;
    int64_t n_pairs, pairs_capacity;
    int64_t *table; /* a power of two of slots, at most half of them taken; -1 is a free one */
    int64_t n_table;
    int32_t *pool; /* positions */
    int64_t n_pool, pool_capacity;
    entry *heap;
    int64_t n_heap, heap_capacity;
    int32_t *new_left, *new_right; /* by token: the number of a pair that a merge makes with it; -1 between merges */
    int32_t *row_of;               /* by the number of such a pair: its row, -1 if it is forgotten */
    int64_t n_tokens, n_made;
    /* A merge with new pairs that are counted and not listed, for want of memory: its row, -1 for none, the number of
       these pairs, and where in the pool their positions will end. */
    struct {
        int64_t row, n_kept, n_pool;
    } unlisted;
};

ALWAYS_INLINE int64_t left_of(int64_t key) {
    return key >> 32;
}

ALWAYS_INLINE int64_t right_of(int64_t key) {
    return key & 0xFFFFFFFF;
}

/* Fibonacci hashing: 2⁶⁴ over the golden ratio. */
ALWAYS_INLINE uint64_t mix_pair(int64_t key) {
    return (uint64_t)key * 0x9E3779B97F4A7C15u;
}

/* The row of a pair, or -1 - slot with the free slot where its number belongs. */
ALWAYS_INLINE int64_t find_pair(const tokdfa_training *t, int64_t key) {
    const uint64_t mixed = mix_pair(key), mask = (uint64_t)t->n_table - 1;
    const int64_t mark = (int64_t)(mixed >> 33);
    uint64_t slot = mixed >> 20 & mask;
    for (; t->table[slot] >= 0; slot = (slot + 1) & mask) {
        int64_t row = t->table[slot] & 0xFFFFFFFF;
        if (t->table[slot] >> 32 == mark && t->pairs[row].key == key) {
            return row;
        }
    }
    return -1 - (int64_t)slot;
}

/* Write a row's number into the free slot that `find_pair` returned. */
ALWAYS_INLINE void enter_pair(tokdfa_training *t, int64_t slot, int64_t key, int64_t row) {
    t->table[slot] = (int64_t)(mix_pair(key) >> 33 << 32) | row;
}

/* Reserve the rows of more pairs. */
static bool reserve_rows(tokdfa_training *t, int64_t more) {
    pair *pairs = with_capacity(t->pairs, &t->pairs_capacity, t->n_pairs, more, sizeof *pairs);
    t->pairs = pairs ? pairs : t->pairs;
    return pairs != NULL;
}

/* Reserve slots for more pairs in the hash table, which they fill at most by half. */
static bool reserve_slots(tokdfa_training *t, int64_t more) {
    int64_t size = t->n_table;
    while (size < 2 * (t->n_pairs + more)) {
        size *= 2;
    }
    if (size == t->n_table) {
        return true;
    }
    /* A slot has 32 bits for the number of a row. */
    int64_t *larger = size > (int64_t)1 << 33 ? NULL : malloc((size_t)size * sizeof *larger);
    if (!larger) {
        return false;
    }
    memset(larger, -1, (size_t)size * sizeof *larger);
    free(t->table);
    t->table = larger;
    t->n_table = size;
    for (int64_t row = 0; row < t->n_pairs; row++) {
        enter_pair(t, -1 - find_pair(t, t->pairs[row].key), t->pairs[row].key, row);
    }
    return true;
}

/* The sign of the comparison of two spans of units. */
static int compare_units(const int32_t *units, int64_t start, int64_t end, int64_t other, int64_t other_end) {
    for (; start < end && other < other_end; start++, other++) {
        if (units[start] != units[other]) {
            return units[start] < units[other] ? -1 : 1;
        }
    }
    return (start < end) - (other < other_end);
}

/* Whether pair `a` is merged before the equally frequent pair `b` by its spelling. A pair is spelled like the text at
   any of its positions, merged or not. */
NEVER_INLINE bool is_spelled_before(const tokdfa_training *t, const pair *a, const pair *b) {
    const tokdfa_corpus *c = t->corpus;
    const int64_t p = t->pool[a->from], q = t->pool[b->from];
    const int64_t u = c->length[left_of(a->key)], v = c->length[right_of(a->key)];
    const int64_t x = c->length[left_of(b->key)], y = c->length[right_of(b->key)];
    const int64_t *at = c->unit_at;
    if (c->tie == SENTENCEPIECE) {
        int order = compare_units(c->units, at[p], at[p + u + v], at[q], at[q + x + y]);
        return order < 0 || (order == 0 && u < x);
    }
    int order = compare_units(c->units, at[p], at[p + u], at[q], at[q + x]);
    if (order == 0) {
        order = compare_units(c->units, at[p + u], at[p + u + v], at[q + x], at[q + x + y]);
    }
    return order > 0;
}

/* Whether the first entry is merged before the second one. */
ALWAYS_INLINE bool comes_before(const tokdfa_training *t, const entry *a, const entry *b) {
    if (a->count != b->count) {
        return a->count > b->count;
    }
    if (a->tie != b->tie) {
        return a->tie < b->tie;
    }
    return t->corpus->tie >= SENTENCEPIECE && is_spelled_before(t, t->pairs + a->row, t->pairs + b->row);
}

/* Replace the top entry. */
static void sift_down(tokdfa_training *t, entry put) {
    entry *heap = t->heap;
    const int64_t size = t->n_heap;
    int64_t at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= size) {
            break;
        }
        if (child + 1 < size && comes_before(t, heap + child + 1, heap + child)) {
            child++;
        }
        if (!comes_before(t, heap + child, &put)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = put;
}

/* Take the top entry away. */
static void drop_top(tokdfa_training *t) {
    t->n_heap--;
    if (t->n_heap > 0) {
        sift_down(t, t->heap[t->n_heap]);
    }
}

/* Add a row to the queue, which has the capacity. */
static void push_row(tokdfa_training *t, int64_t row) {
    entry *heap = t->heap;
    const entry put = {t->pairs[row].count, t->pairs[row].tie, row};
    int64_t at = t->n_heap++;
    while (at > 0) {
        int64_t above = (at - 1) >> 1;
        if (!comes_before(t, &put, heap + above)) {
            break;
        }
        heap[at] = heap[above];
        at = above;
    }
    heap[at] = put;
}

#endif
