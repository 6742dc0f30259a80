/* Masks and limits of a number of ids against the fewest ids by definition. */
#ifndef TOKDFA_GUIDING_LIMITS_H
#define TOKDFA_GUIDING_LIMITS_H

#include "guiding_twin.h"

enum { NO_LIMIT = -1, MOST_NOTED = 4 };

/* The work of the class in Python where the kernel lacks something. */
static void help(tables *t, int64_t status) {
    REQUIRE(status == MISSING || status == TABLE_FULL || status == TABLE_OF_ANY_FULL || status == TOO_MANY);
    tokdfa_guide_cache *cache = status == TABLE_OF_ANY_FULL ? &t->every_cache : &t->cache;
    if (status == MISSING) {
        const int64_t at = t->cache.missing_core * t->width + t->cache.missing_column;
        REQUIRE(t->splits.targets[at] == -1);
        ((int32_t *)(uintptr_t)t->splits.targets)[at] = t->targets[at];
    } else if (status == TOO_MANY) {
        /* Python gives the question up; it can be asked again, and others. */
        t->cache.most_searched *= 2, t->every_cache.most_searched *= 2;
    } else if (2 * cache->n_known >= cache->n_values) {
        make_slots(t, cache, 2 * cache->n_values);
    } else {
        make_trail(t, cache, 2 * cache->n_trail);
    }
}

#define HELPED(status, call)                                                                                           \
    while (((status) = (call)) < 0) {                                                                                  \
        help(t, (status));                                                                                             \
    }

static bool has_bit(const uint32_t *mask, int64_t id) {
    return mask[id / 32] >> id % 32 & 1;
}

/* Whether an id leads from one state of the texts to another. */
static bool is_edge(const tables *t, int64_t from, int64_t to) {
    bool found = false;
    for (int64_t atom = 0; atom < t->texts.n_atom_class; atom++) {
        found = found || text_after(t, from, t->texts.atom_ids[t->texts.atom_begin[atom]]) == to;
    }
    return found;
}

/* The fewest ids up to an end of the texts by definition, canonical or not; 0 also for states without an end. */
static void check_least(const tables *t) {
    int32_t least[MOST_TEXTS];
    for (int64_t q = 0; q < t->n_texts; q++) {
        least[q] = t->final_text[q] ? 0 : NONE;
    }
    for (int64_t round = 0; round < t->n_texts; round++) {
        for (int64_t from = 1; from < t->n_texts; from++) {
            for (int64_t to = 1; to < t->n_texts; to++) {
                if (least[to] + 1 < least[from] && is_edge(t, from, to)) {
                    least[from] = least[to] + 1;
                }
            }
        }
    }
    for (int64_t q = 1; q < t->n_texts; q++) {
        REQUIRE(t->cache.least_ids[q] == (least[q] == NONE ? 0 : least[q]));
    }
}

/* As Python does before the first search with a limit: the fewest ids by text. */
static void find_least(tables *t, int64_t most_tried) {
    arena *memory = &t->memory;
    const int64_t n = t->n_texts, n_cells = n * (t->texts.n_columns + t->texts.n_special_columns);
    uint8_t *mirrored = ROOM(memory, uint8_t, t->offsets[t->n_ids]);
    for (int64_t id = 0; id < t->n_words; id++) {
        for (int64_t k = 0; k < t->offsets[id + 1] - t->offsets[id]; k++) {
            mirrored[t->offsets[id + 1] - 1 - k] = t->text[t->offsets[id] + k];
        }
    }
    int64_t *order = ROOM(memory, int64_t, t->n_words);
    int32_t *made[4];
    const int64_t n_nodes = make_trie(t, mirrored, made, order);
    uint8_t *is_id = ZEROS(memory, uint8_t, n_nodes);
    for (int64_t v = 0; v < n_nodes; v++) {
        for (int32_t k = made[3][v]; k < made[3][v + 1]; k++) {
            is_id[v] = is_id[v] || t->ids.from_start[order[k]] >= 0;
        }
        made[0][v] = v ? t->column[made[0][v]] : 0;
    }
    const tokdfa_fewest_job job = {
        .texts = &t->texts, .column = made[0], .end = made[2], .is_id = is_id, .n_is_id = n_nodes,
        .most_tried = most_tried, .height = ROOM(memory, int32_t, n_nodes),
        .begin = ROOM(memory, int32_t, n_cells + 1), .before = ROOM(memory, int32_t, n_cells),
        .gap = ROOM(memory, int32_t, n), .known = ROOM(memory, int32_t, n), .listed = ROOM(memory, int32_t, n),
        .reached = ROOM(memory, int32_t, n), .path = ROOM(memory, int32_t, N_STEP_BACK * (MOST_LENGTH + 1)),
        .least = t->cache.least_ids, .below = ROOM(memory, uint64_t, t->texts.n_node_column)};
    tokdfa_fewest_ids(&job);
    t->cache.below = job.below;
    check_least(t);
    t->knows_least = true;
}

/* The atoms that lead nearer, where searches have listed them, are all of them. */
static void check_nearer(const tables *t) {
    const tokdfa_guide_cache *cache = &t->cache;
    for (int64_t text = 1; text < t->n_texts; text++) {
        int64_t n_listed = 0, n = 0;
        for (int32_t entry = cache->nearer[text]; entry > 0; entry = cache->nearer_entries[3 * entry + 2]) {
            for (int32_t atom = cache->nearer_entries[3 * entry]; atom < cache->nearer_entries[3 * entry + 1]; atom++) {
                const int64_t to = text_after(t, text, t->texts.atom_ids[t->texts.atom_begin[atom]]);
                REQUIRE(to > 0 && cache->least_ids[to] < cache->least_ids[text]);
                n_listed++;
            }
        }
        for (int64_t atom = 0; atom < t->texts.n_atom_class; atom++) {
            const int64_t to = text_after(t, text, t->texts.atom_ids[t->texts.atom_begin[atom]]);
            n += to > 0 && cache->least_ids[to] < cache->least_ids[text];
        }
        REQUIRE(cache->nearer[text] < 0 || n_listed == n);
    }
}

/* Whether a stream ends within a limit; with limit 4, also within the fewest ids, and within one less. */
static void check_limits(tables *t, spot s, const int32_t *fewest, int32_t limit) {
    const int32_t split = (int32_t)s.split, row = (int32_t)s.row, spelled = (int32_t)s.spelled, text = (int32_t)s.text;
    const int32_t least = fewest[number_of(t, s)];
    int64_t status;
    HELPED(status, tokdfa_guide_within(&t->guide, split, row, spelled, text, limit));
    REQUIRE(status == (least <= limit));
    if (limit == 4) {
        HELPED(status, tokdfa_guide_within(&t->guide, split, row, spelled, text, least < NONE ? least : NONE));
        REQUIRE(status == (least < NONE));
        HELPED(status, tokdfa_guide_within(&t->guide, split, row, spelled, text, least - 1));
        REQUIRE(status == 0);
    }
}

/* The fewest ids after an id, if the row does not forbid it or if it does. */
static int32_t fewest_after(const tables *t, spot s, int64_t id, bool may_continue, const int32_t *fewest) {
    spot to;
    return step_if(t, s, id, may_continue, &to) ? fewest[number_of(t, to)] : NONE;
}

/* The masks of all rows: an id is possible if it can end in time, with the row and without the ids that it forbids. */
static void check_bits(const tables *t, spot s, const int32_t *fewest, const tokdfa_guide_masks_job *job,
                       int32_t limit) {
    const int32_t most = limit == NO_LIMIT ? NONE - 1 : limit;
    for (int32_t row = 0; row < t->n_rows; row++) {
        uint32_t mask[2];
        memcpy(mask, job->allowed, sizeof mask);
        tokdfa_forbid(&t->followers, row, job->fragile, mask);
        for (int64_t id = 0; id < t->n_ids; id++) {
            const bool may_continue = !is_forbidden(t, row, id);
            REQUIRE(has_bit(mask, id) == (fewest_after(t, s, id, may_continue, fewest) <= most));
        }
    }
}

/* The greatest limit noted for an id: with a smaller one its bits may differ. */
static int32_t noted(const tokdfa_guide_masks_job *job, int64_t id) {
    int32_t most = job->floor;
    for (int64_t k = 0; k < job->n_noted; k++) {
        most = job->late[k] == id && job->enough[k] > most ? job->enough[k] : most;
    }
    return most;
}

/* What masks without a limit say of those with one; and those with one that are made of them. */
static void check_late(tables *t, spot s, const int32_t *fewest, const tokdfa_guide_masks_job *plain, int32_t limit) {
    REQUIRE(plain->n_noted >= 0 && plain->n_noted <= plain->n_late);
    for (int64_t id = 0; id < t->n_ids; id++) {
        for (int may_continue = 0; may_continue < 2; may_continue++) {
            const int32_t least = fewest_after(t, s, id, may_continue, fewest);
            REQUIRE(least == NONE || least <= noted(plain, id) || (!may_continue && t->ids.position[id] < 0));
        }
    }
    if (limit < plain->floor) {
        return;
    }
    int32_t late[MOST_NOTED];
    uint32_t allowed[2], fragile[2];
    tokdfa_guide_masks_job job = {.limit = limit, .ids = late, .allowed = allowed, .fragile = fragile};
    for (int64_t k = 0; k < plain->n_noted; k++) {
        if (plain->enough[k] > limit) {
            late[job.n_ids++] = plain->late[k];
        }
    }
    int64_t status;
    do {
        memcpy(allowed, plain->allowed, sizeof allowed), memcpy(fragile, plain->fragile, sizeof fragile);
        status = tokdfa_guide_next_of(&t->guide, (int32_t)s.split, (int32_t)s.spelled, (int32_t)s.text, &job);
        if (status < 0) {
            help(t, status);
        }
    } while (status < 0);
    check_bits(t, s, fewest, &job, limit);
}

/* The masks of the next ids, for any row, with a limit and without one. */
static void check_masks(tables *t, spot s, const int32_t *fewest, int32_t limit, input *in) {
    int32_t differing[MOST_IDS], late[MOST_NOTED], enough[MOST_NOTED];
    uint32_t allowed[2], fragile[2];
    tokdfa_guide_masks_job job = {.limit = limit, .ids = differing, .allowed = allowed, .fragile = fragile,
                                  .late = late, .enough = enough};
    job.n_late = limit == NO_LIMIT ? 1 + take(in) % MOST_NOTED : 0;
    for (int32_t id = 0; id < t->n_ids; id++) {
        if (scan_after(t, s.spelled, id) != t->ids.from_start[id]) {
            differing[job.n_ids++] = id;
        }
    }
    int64_t status;
    do {
        memset(allowed, 0, sizeof allowed), memset(fragile, 0, sizeof fragile);
        status = tokdfa_guide_next(&t->guide, (int32_t)s.split, (int32_t)s.spelled, (int32_t)s.text, &job);
        if (status < 0) {
            help(t, status);
        }
    } while (status < 0);
    check_bits(t, s, fewest, &job, limit);
    if (limit == NO_LIMIT && t->knows_least) {
        check_late(t, s, fewest, &job, (int32_t)(number_of(t, s) % 4));
    }
}

#endif
