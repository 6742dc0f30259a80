/* One step of a guide by definition: every place is looked at. */
#ifndef TOKDFA_GUIDING_TWIN_H
#define TOKDFA_GUIDING_TWIN_H

#include "guiding_tables.h"

static bool is_forbidden(const tables *t, int64_t row, int64_t id) {
    const int32_t position = t->ids.position[id];
    bool found = false;
    for (int32_t k = t->followers.pointer[row]; k < t->followers.pointer[row + 1]; k++) {
        found = found || (t->followers.start[k] <= position && position < t->followers.stop[k]);
    }
    return found;
}

static bool step_by_definition(const tables *t, spot from, int64_t id, spot *to) {
    const int64_t number = id + 1, K = t->n_classes;
    const bool may_continue = !is_forbidden(t, from.row, id);
    const uint32_t head = t->splits.head[number];
    int64_t core, cut = t->splits.tail[number];
    if (from.cut == 0) {
        core = head ? 0 : t->targets[from.core * t->width + 2 * number + may_continue];
    } else {
        int64_t reached = from.cut;
        bool is_whole = false;
        for (uint32_t k = 0; k < head >> 24; k++) {
            if (is_whole || reached == 0) {
                return false;
            }
            reached = t->splits.next_cut[64 * reached + (head >> (8 * k) & 63)];
            is_whole = reached < 0;
        }
        if (!may_continue || !head || t->splits.shape[number] & 2 || reached == 0) {
            return false;
        }
        if (is_whole) {
            core = t->targets[from.core * t->width + 4 * K - 1 - reached];
            core = t->targets[core * t->width + 2 * K + number];
        } else {
            if (t->splits.shape[number] & 1 || cut) {
                return false;
            }
            core = t->targets[from.core * t->width + 3 * K + number];
            cut = reached;
        }
    }
    *to = (spot){core, cut, t->ids.row_of[id], text_after(t, from.text, id)};
    return core && to->text;
}

#endif
