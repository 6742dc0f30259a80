/* Special tokens that the text of ids spells. */
#ifndef TOKDFA_SPELLS_H
#define TOKDFA_SPELLS_H

#include "../common/base.h"
#include "api.h"

/* Whether the text that ends in the id at `place` spells a special token. Its class has the nodes of the reversed trie
   of the special tokens that are reached on the id's part of them. */
NEVER_INLINE bool spells(const tokdfa_walker *w, const uint32_t *ids, int64_t place) {
    uint32_t number = w->class_of[ids[place]];
    for (int32_t k = w->trigger[number]; k < w->trigger[number + 1]; k++) {
        int64_t node = w->node_at[k];
        for (int64_t at = place - 1; at >= 0 && node > 0; at--) {
            for (int64_t byte = w->offsets[ids[at] + 1] - 1; byte >= w->offsets[ids[at]] && node > 0; byte--) {
                node = w->children[256 * node + w->text[byte]];
            }
        }
        if (node < 0) {
            return true;
        }
    }
    return false;
}

#endif
