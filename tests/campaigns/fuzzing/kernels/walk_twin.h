/* The walk by definition: one id after the other. */
#ifndef TOKDFA_WALK_TWIN_H
#define TOKDFA_WALK_TWIN_H

#include "walk_machine.h"

/* Whether the text up to the end of an id ends in a special token that began before it. */
static bool spells_special(const tokdfa_walker *w, const uint32_t *ids, int64_t at) {
    const int64_t number = w->class_of[ids[at]];
    for (int32_t k = w->trigger[number]; k < w->trigger[number + 1]; k++) {
        int64_t node = w->node_at[k];
        for (int64_t before = at - 1; before >= 0 && node > 0; before--) {
            const uint8_t *begin = w->text + w->offsets[ids[before]], *byte = w->text + w->offsets[ids[before] + 1];
            while (byte > begin && node > 0) {
                node = w->children[256 * node + *--byte];
            }
        }
        if (node < 0) {
            return true;
        }
    }
    return false;
}

/* The character at a place, and its length; 0 if it is cut short or none begins there. */
static int64_t character_at(const uint8_t *at, int64_t left, int32_t *point) {
    static const uint8_t least[] = {0, 0, 0xC2, 0xE0, 0xF0, 0xF5}, masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    int64_t length = at[0] < 0x80 ? 1 : 0;
    for (int64_t k = 2; k < 5; k++) {
        length = at[0] >= least[k] && at[0] < least[k + 1] ? k : length;
    }
    if (!length || length > left) {
        return 0;
    }
    *point = at[0] & masks[length];
    for (int64_t k = 1; k < length; k++) {
        *point = *point << 6 | (at[k] & 0x3F);
    }
    *point = *point > 0x10FFFF ? 0xFFFD : *point;
    return length;
}

/* Whether the text up to the end of an id is normalized, from the last boundary before which the id has no more: DONE or
   ALARM; UNDECIDED if that is far away. */
static int check_normalized(const machine *m, const uint32_t *ids, int64_t at) {
    enum { MOST_LOOKED_AT = 256, MOST_IDS_BACK = 128 };
    const tokdfa_walker *w = &m->walker;
    const int64_t *offsets = w->offsets, own = offsets[ids[at] + 1] - offsets[ids[at]];
    uint8_t text[MOST_LOOKED_AT + LONGEST_TOKEN];
    int64_t first = at, begin = sizeof text - own;
    int32_t point, points[MOST_LOOKED_AT], parts[MOST_LOOKED_AT * MOST_PARTS_OF];
    if (own == 0 || own > MOST_LOOKED_AT) {
        return UNDECIDED;
    }
    memcpy(text + begin, w->text + offsets[ids[at]], (size_t)own);
    const uint8_t *end = text + sizeof text;
    bool is_found = character_at(text + begin, own, &point) && has_boundary_before(&m->form, point);
    while (!is_found && first > 0 && !(w->role[w->class_of[ids[first - 1]]] & PARTS)) {
        first--;
        const int64_t length = offsets[ids[first] + 1] - offsets[ids[first]];
        memcpy(text + begin - length, w->text + offsets[ids[first]], (size_t)length);
        for (int64_t k = begin - 1; k >= begin - length && !is_found; k--) {
            if (character_at(text + k, end - text - k, &point) && has_boundary_before(&m->form, point)) {
                is_found = true;
                begin = k;
            }
        }
        begin -= is_found ? 0 : length;
        /* The part looked at: some bytes, and some ids before this one. */
        if (end - text - begin > MOST_LOOKED_AT || (!is_found && at - first == MOST_IDS_BACK)) {
            return UNDECIDED;
        }
    }
    const int64_t size = sizeof text;
    int status = DONE;
    int64_t n = 0;
    for (int64_t length; status == DONE && begin < size; begin += length) {
        length = character_at(text + begin, size - begin, points + n);
        if (!length) {
            break;
        }
        n++;
    }
    for (int64_t from = 0, stop; from < n && status == DONE; from = stop) {
        for (stop = from + 1; stop < n && !has_boundary_before(&m->form, points[stop]); stop++) {
        }
        int64_t n_parts = decompose(&m->form, points + from, stop - from, parts);
        if (stop - from > LONGEST_STRETCH || n_parts > MOST_PARTS_LOOKED_AT - 3) {
            status = UNDECIDED;
            break;
        }
        n_parts = normalize(&m->form, parts, n_parts);
        const bool same = n_parts == stop - from && !memcmp(parts, points + from, (size_t)n_parts * sizeof *parts);
        status = same ? DONE : ALARM;
    }
    return status;
}

/* Whether a sequence that calls for a closer look ends in the id at a place. */
static bool ends_in_doubt(const tokdfa_walker *w, const uint32_t *ids, int64_t at) {
    for (int64_t slot = 0; slot < w->n_doubt_keys; slot++) {
        const int64_t key = w->doubt_keys[slot];
        if (key < 0 || key >> 32 != ids[at - 1] || (key & 0xFFFFFFFF) != ids[at]) {
            continue;
        }
        for (int32_t k = w->doubt_range[2 * slot]; k < w->doubt_range[2 * slot + 1]; k++) {
            const int64_t length = w->doubt_bounds[k + 1] - w->doubt_bounds[k];
            bool same = at - 1 - length >= 0;
            for (int64_t i = 0; i < length && same; i++) {
                same = ids[at - 1 - length + i] == (uint32_t)w->doubt_ids[w->doubt_bounds[k] + i];
            }
            if (same) {
                return true;
            }
        }
    }
    return false;
}

static int walk_naively(const machine *m, const uint8_t *forbidden, const uint32_t *ids, int64_t n, tokdfa_place *place) {
    const tokdfa_walker *w = &m->walker;
    for (; place->at < n; place->at++) {
        const int64_t at = place->at, id = ids[at], number = w->class_of[id], here = place->row + number;
        const bool may_not = at > 0 && forbidden[ids[at - 1] * m->n_ids + id];
        uint32_t entry = w->allowed[here];
        if (entry >> 2 && entry & LOOK) {
            if (spells_special(w, ids, at)) {
                return ALARM;
            }
            const int status = w->role[number] & JOINS ? check_normalized(m, ids, at) : DONE;
            if (status != DONE) {
                return status;
            }
            if (may_not) {
                entry = w->other[here];
            } else if (at > 0 && w->allowed[here] >> 2 != w->other[here] >> 2 && ends_in_doubt(w, ids, at)) {
                return ALARM;
            }
        }
        if (!(entry >> 2)) {
            return entry & UNKNOWN ? UNSURE : ALARM;
        }
        place->row = entry >> 2;
        place->size += w->length_of[id];
    }
    return DONE;
}

#endif
