/* Ids that probably lead to an end, to be tried before all others: ids of the shortest rest of a text, and the id that
   last led on. For the rest `"}` of a text, the first are `"}` and `"`. */
#ifndef TOKDFA_GUIDING_CANDIDATES_H
#define TOKDFA_GUIDING_CANDIDATES_H

#include "moves.h"

enum { N_NEAR = 4 };

ALWAYS_INLINE uint64_t state_hash(guide_state at) {
    uint64_t h = (uint64_t)(uint32_t)at.split << 32 | (uint32_t)at.row;
    h = (h ^ ((uint64_t)(uint32_t)at.spelled << 32 | (uint32_t)at.text) * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
    return h ^ h >> 32;
}

/* The node below a node with a symbol; -1 if there is none. */
ALWAYS_INLINE int64_t child_of(const tokdfa_guide_ids *ids, int64_t node, int32_t symbol) {
    for (int64_t child = node + 1; child < ids->end[node]; child = ids->end[child]) {
        if (ids->symbol[child] == symbol) {
            return child;
        }
    }
    return -1;
}

/* The ids of the longest prefixes of a shortest rest of a text that are words, the longest first. */
NEVER_INLINE void find_near(const tokdfa_guide *guide, int32_t text, int32_t *near) {
    const tokdfa_guide_ids *ids = guide->ids;
    const tokdfa_guide_texts *texts = guide->texts;
    int64_t node = 0;
    for (int k = 0; k < N_NEAR; k++) {
        near[k] = -1;
    }
    while (texts->distance[text] > 0) {
        const uint8_t byte = texts->nearest[text];
        node = child_of(ids, node, byte);
        if (node < 0) {
            return;
        }
        if (ids->first[node] < ids->first[node + 1]) {
            memmove(near + 1, near, (N_NEAR - 1) * sizeof *near);
            near[0] = ids->words[ids->first[node]];
        }
        text = texts->table[text * texts->n_columns + texts->column[byte]];
    }
}

/* Where the id is kept that last led on from a state of the pre-tokenizer; with the row that forbids every id, it
   begins a piece. */
ALWAYS_INLINE int32_t *hint_of(const tokdfa_guide *guide, guide_state at) {
    const guide_state key = {at.split, at.row == EVERY_ROW ? EVERY_ROW : NO_ROW, 0, 0};
    return guide->cache->hint + (state_hash(key) & (uint64_t)(guide->cache->n_hint - 1));
}

#endif
