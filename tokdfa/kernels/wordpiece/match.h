/* LinMaxMatch: one word of symbol numbers against a trie with failure links, in linear time. */
#ifndef TOKDFA_WORDPIECE_MATCH_H
#define TOKDFA_WORDPIECE_MATCH_H

#include "../common/base.h"
#include "api.h"

typedef struct {
    int32_t base, parent, failure, pop;
} trie_cell;

/* Every cell is read here, and counted. */
ALWAYS_INLINE trie_cell cell_at(const int32_t *cells, int64_t number, int64_t *n_read) {
    trie_cell cell;
    memcpy(&cell, cells + 4 * number, sizeof cell);
    ++*n_read;
    return cell;
}

/* Tokenize the word symbols[0] to symbols[length - 1], one symbol or more: the tokens go to `ids` and their numbers of
   symbols to `lengths`, which have `length` entries. Returns the number of tokens; -1 without a tokenization. `n_read`
   is NULL or gets the number of cells read, 3 * length + 1 at most; if it is NULL, nothing is counted.

   *Fast WordPiece Tokenization*, EMNLP 2021, algorithm 1. */
ALWAYS_INLINE int64_t match_word(const tokdfa_word_trie *trie, const int32_t *restrict symbols, int64_t length,
                                 int32_t *restrict ids, int32_t *restrict lengths, int64_t *n_read) {
    const int32_t *const cells = trie->cells, *const pops = trie->pops;
    int64_t number = 0, n = 0, i = 0, reads = 0;
    /* The path to the cell is the symbols read from `begin` on. Reading no symbol at the end leads to a root. */
    int64_t begin = 0;
    trie_cell cell = cell_at(cells, 0, &reads);
    for (;;) {
        if (i < length) {
            const int64_t target = (int64_t)cell.base + symbols[i];
            const trie_cell next = cell_at(cells, target, &reads);
            if (next.parent == number) {
                number = target;
                cell = next;
                i++;
                continue;
            }
        } else if (number == 1) {
            break;
        }
        number = cell.failure;
        if (number < 0) {
            n = -1;
            break;
        }
        if (cell.pop >= 0) {
            ids[n] = cell.pop;
            lengths[n++] = (int32_t)(i - begin);
            begin = i;
        } else {
            const int32_t *popped = pops + (-1 - cell.pop);
            for (int32_t left = *popped++; left > 0; left--, popped += 2) {
                ids[n] = popped[0];
                lengths[n++] = popped[1];
                begin += popped[1];
            }
        }
        cell = cell_at(cells, number, &reads);
    }
    if (n_read) {
        *n_read = reads;
    }
    return n;
}

#endif
