/* The ids that are banned in a state of an automaton over bytes. */
#include "../common/base.h"
#include "api.h"

/* The state after an id; 0 if it completes banned text, or nothing can follow it. */
TOKDFA_API int32_t tokdfa_ban_step(const tokdfa_ban *ban, int32_t state, int32_t id) {
    if (state <= 0 || state >= ban->n_alive || id < 0 || id >= ban->n_offsets - 1) {
        return 0;
    }
    for (int64_t at = ban->offsets[id]; at < ban->offsets[id + 1] && state; at++) {
        state = ban->table[state * ban->n_columns + ban->column[ban->text[at]]];
    }
    return ban->alive[state] ? state : 0;
}

ALWAYS_INLINE void write_bit(uint32_t *mask, int32_t id, bool value) {
    const uint32_t bit = (uint32_t)1 << (id & 31);
    mask[id >> 5] = value ? mask[id >> 5] | bit : mask[id >> 5] & ~bit;
}

/* Turn the mask of the state `like`, all zeros for state 0, into the mask of another state. Where both have come to the
   same state, the same ids can follow. `path` has two entries for each byte of the longest word, and two more. Returns
   the number of nodes that were looked at. */
TOKDFA_API int64_t tokdfa_ban_mask(const tokdfa_ban *ban, int32_t state, int32_t like, int32_t *path, uint32_t *mask) {
    int64_t seen = 0;
    path[0] = state, path[1] = like;
    for (int64_t node = 0; node < ban->n_symbol; seen++) {
        const int64_t level = 2 * (int64_t)ban->depth[node];
        if (level > 0) {
            const int32_t column = ban->column[ban->symbol[node]];
            path[level] = ban->table[path[level - 2] * ban->n_columns + column];
            path[level + 1] = ban->table[path[level - 1] * ban->n_columns + column];
        }
        const int32_t here = path[level];
        if (here == path[level + 1]) {
            node = ban->end[node];
            continue;
        }
        /* Banned text remains banned, with any continuation. */
        const int64_t next = here == 0 ? ban->end[node] : node + 1;
        for (int32_t at = ban->first[node]; at < ban->first[next]; at++) {
            write_bit(mask, ban->words[at], ban->alive[here]);
        }
        node = next;
    }
    return seen;
}
