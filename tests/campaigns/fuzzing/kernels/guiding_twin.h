/* One step of a guide by definition, and the fewest ids up to an end: every place is looked at. */
#ifndef TOKDFA_GUIDING_TWIN_H
#define TOKDFA_GUIDING_TWIN_H

#include "guiding_texts.h"

enum { NONE = 1 << 20 };

/* A state of the product: those of its parts, as in api.h. */
typedef struct {
    int64_t split, row, spelled, text;
} spot;

static int64_t count_spots(const tables *t) {
    return t->n_cores * t->n_cuts * t->n_rows * t->n_spelled * t->n_texts;
}

static int64_t number_of(const tables *t, spot s) {
    return ((s.split * t->n_rows + s.row) * t->n_spelled + s.spelled) * t->n_texts + s.text;
}

static spot spot_of(const tables *t, int64_t k) {
    const int64_t row = k / t->n_texts / t->n_spelled;
    return (spot){row / t->n_rows, row % t->n_rows, k / t->n_texts % t->n_spelled, k % t->n_texts};
}

static bool is_forbidden(const tables *t, int64_t row, int64_t id) {
    const int32_t position = t->ids.position[id];
    bool found = false;
    for (int32_t k = t->followers.pointer[row]; k < t->followers.pointer[row + 1]; k++) {
        found = found || (t->followers.start[k] <= position && position < t->followers.stop[k]);
    }
    return found;
}

static int64_t split_after(const tables *t, int64_t split, int64_t id, bool may_continue) {
    const int64_t number = t->ids.class_of[id], K = t->n_classes;
    const int64_t from = split / t->n_cuts, from_cut = split % t->n_cuts;
    const uint32_t head = t->splits.head[number];
    int64_t core, cut = t->splits.tail[number];
    if (from_cut == 0) {
        core = head ? 0 : t->targets[from * t->width + 2 * number + may_continue];
        return core ? core * t->n_cuts + cut : 0;
    }
    int64_t reached = from_cut;
    bool is_whole = false;
    for (uint32_t k = 0; k < head >> 24; k++) {
        if (is_whole || reached == 0) {
            return 0;
        }
        reached = t->splits.next_cut[64 * reached + (head >> (8 * k) & 63)];
        is_whole = reached < 0;
    }
    if (!may_continue || !head || t->splits.shape[number] & IS_ALONE || reached == 0) {
        return 0;
    }
    if (is_whole) {
        core = t->targets[from * t->width + 4 * K - 1 - reached];
        core = t->targets[core * t->width + 2 * K + number];
    } else {
        if (t->splits.shape[number] & 1 || cut) {
            return 0;
        }
        core = t->targets[from * t->width + 3 * K + number];
        cut = reached;
    }
    return core ? core * t->n_cuts + cut : 0;
}

static int64_t text_after(const tables *t, int64_t text, int64_t id) {
    const int64_t k = id - t->n_words;
    return k < 0 ? text_through(t, text, id)
                 : t->texts.special_target[text * t->texts.n_special_columns + t->texts.special_column[k]];
}

/* The state after an id, if the row does not forbid it or if it does. */
static bool step_if(const tables *t, spot from, int64_t id, bool may_continue, spot *to) {
    *to = (spot){split_after(t, from.split, id, may_continue), t->ids.row_of[id], scan_after(t, from.spelled, id),
                 text_after(t, from.text, id)};
    return to->split && to->text && to->spelled >= 0;
}

static bool step_by_definition(const tables *t, spot from, int64_t id, spot *to) {
    return step_if(t, from, id, !is_forbidden(t, from.row, id), to);
}

static bool is_end(const tables *t, spot s) {
    return s.split % t->n_cuts == 0 && t->splits.final[s.split / t->n_cuts] && t->final_text[s.text];
}

/* By state, the fewest ids up to an end of a canonical stream; NONE where there is no end. */
static int32_t *find_fewest(tables *t) {
    const int64_t n = count_spots(t);
    int32_t *fewest = ROOM(&t->memory, int32_t, n), *next = MINUS_ONES(&t->memory, int32_t, n * t->n_ids);
    for (int64_t k = 0; k < n; k++) {
        const spot s = spot_of(t, k);
        const bool is_state = s.split >= t->n_cuts && s.text;
        fewest[k] = is_state && is_end(t, s) ? 0 : NONE;
        for (int64_t id = 0; id < t->n_ids && is_state; id++) {
            spot to;
            if (step_by_definition(t, s, id, &to)) {
                next[k * t->n_ids + id] = (int32_t)number_of(t, to);
            }
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (int64_t i = 0; i < n * t->n_ids; i++) {
            const int64_t k = i / t->n_ids;
            if (next[i] >= 0 && fewest[next[i]] + 1 < fewest[k]) {
                fewest[k] = fewest[next[i]] + 1;
                more = true;
            }
        }
    }
    return fewest;
}

#endif
