/* Ids that probably lead to an end, to be tried before all others: ids of the shortest rest of a text, the id that last
   led on, and all ids that lead nearer to an end.

   For the rest `"}` of a text, the first are `"}` and `"`. With one id left only those that end a text are left; for a
   string of JSON these are `"}`, `a"}`, and a few more, while 100,000 ids continue it. */
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

/* Of a text, the most ids that are listed because they lead nearer to an end. */
enum { MOST_NEARER = 256, TOO_MANY_NEARER = -1 };

/* Add ids to the list that begins at an index; false if they are too many. */
static bool add_nearer(const tokdfa_guide *guide, int64_t begin, int64_t first_atom, int64_t last_atom) {
    tokdfa_guide_cache *cache = guide->cache;
    const tokdfa_guide_texts *texts = guide->texts;
    const int64_t from = texts->atom_begin[first_atom], n = texts->atom_begin[last_atom] - from;
    if (cache->n_nearer_ids - begin + n > MOST_NEARER || cache->n_nearer_ids + n > cache->most_nearer_ids) {
        return false;
    }
    memcpy(cache->nearer_ids + cache->n_nearer_ids, texts->atom_ids + from, (size_t)n * sizeof(int32_t));
    cache->n_nearer_ids += n;
    return true;
}

/* List the ids, canonical or not, after which a text needs one id less than before; false if they are too many. */
NEVER_INLINE bool find_nearer(const tokdfa_guide *guide, int32_t text) {
    tokdfa_guide_cache *cache = guide->cache;
    const tokdfa_guide_texts *texts = guide->texts;
    const int32_t wanted = cache->least_ids[text] - 1;
    const int64_t begin = cache->n_nearer_ids;
    int32_t *trace = cache->trace;
    if (begin == cache->most_nearer_ids) {
        return false;
    }
    cache->n_nearer_ids++;
    trace[0] = text;
    for (int64_t node = 0; node < texts->n_node_column;) {
        const int32_t reached = text_at_node(texts, trace, node);
        if (reached != NOWHERE && cache->least_ids[reached] == wanted &&
            !add_nearer(guide, begin, texts->at_node[node], texts->at_node[node + 1])) {
            return false;
        }
        node = reached == NOWHERE ? texts->node_end[node] : node + 1;
    }
    for (int64_t k = 0; k < texts->n_special_column; k++) {
        const int32_t reached = text_after_special(texts, text, k);
        const int64_t atom = texts->at_node[texts->n_node_column] + k;
        if (reached != NOWHERE && cache->least_ids[reached] == wanted && !add_nearer(guide, begin, atom, atom + 1)) {
            return false;
        }
    }
    cache->nearer_ids[begin] = (int32_t)(cache->n_nearer_ids - begin - 1);
    cache->nearer[text] = (int32_t)begin;
    return true;
}

/* The number of ids after which a text needs one id less than before, and these ids; NULL if they are too many. */
ALWAYS_INLINE const int32_t *nearer_of(const tokdfa_guide *guide, int32_t text) {
    tokdfa_guide_cache *cache = guide->cache;
    if (cache->nearer[text] == 0) {
        const int64_t before = cache->n_nearer_ids;
        if (!find_nearer(guide, text)) {
            cache->n_nearer_ids = before;
            cache->nearer[text] = TOO_MANY_NEARER;
        }
    }
    return cache->nearer[text] < 0 ? NULL : cache->nearer_ids + cache->nearer[text];
}

#endif
