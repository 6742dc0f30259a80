/* Masks and limits of a number of ids against the fewest ids by definition. */
#ifndef TOKDFA_GUIDING_LIMITS_H
#define TOKDFA_GUIDING_LIMITS_H

#include "guiding_twin.h"

enum { NO_LIMIT = -1, MOST_NOTED = 4, MOST_LISTED = 4096 };

/* The work of the class in Python where the kernel lacks something. */
static void help(tables *t, int64_t status) {
    REQUIRE(status == MISSING || status == TABLE_FULL || status == TABLE_OF_ANY_FULL);
    tokdfa_guide_cache *cache = status == TABLE_OF_ANY_FULL ? &t->every_cache : &t->cache;
    if (status == MISSING) {
        const int64_t at = t->cache.missing_core * t->width + t->cache.missing_column;
        REQUIRE(t->splits.targets[at] == -1);
        ((int32_t *)(uintptr_t)t->splits.targets)[at] = t->targets[at];
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

/* The atoms that lead from one state of the texts to another. */
static int32_t count_atoms(const tables *t, int64_t from, int64_t to) {
    int32_t n = 0;
    for (int64_t atom = 0; atom < t->texts.n_atom_class; atom++) {
        n += text_after(t, from, t->texts.atom_ids[t->texts.atom_begin[atom]]) == to;
    }
    return n;
}

/* One call's edges between states of the texts, and those of their atoms that are listed. */
static void check_edges(const tables *t, const tokdfa_guide_edges_job *job, int64_t first, int64_t next) {
    int64_t at = 0, listed = 0;
    for (int64_t from = first; from < next; from++) {
        for (; at < job->n_edges && job->source[at] == from; at++) {
            REQUIRE(job->n_atoms[at] == count_atoms(t, from, job->target[at]) && job->n_atoms[at] > 0);
        }
        for (int64_t to = 1; to < t->n_texts; to++) {
            int64_t n = 0, n_before = 0;
            for (int64_t k = 0; k < job->n_edges; k++) {
                n += job->source[k] == from && job->target[k] == to;
            }
            for (int64_t k = 0; k < job->n_listed; k++) {
                n_before += job->before[k] == from && job->reached[k] == to;
            }
            REQUIRE(n == (count_atoms(t, from, to) > 0) && n_before <= count_atoms(t, from, to));
            REQUIRE(n_before == count_atoms(t, from, to) || t->texts.distance[to] >= t->texts.distance[from]);
        }
        for (; listed < job->n_listed && job->before[listed] == from; listed++) {
            const int32_t atom = job->atom[listed];
            REQUIRE(text_after(t, from, t->texts.atom_ids[t->texts.atom_begin[atom]]) == job->reached[listed]);
        }
    }
    REQUIRE(at == job->n_edges && listed == job->n_listed);
}

/* The fewest ids up to an end of the texts, canonical or not; 0 also for states without an end. */
static void fill_least(tables *t) {
    int32_t *least = t->cache.least_ids;
    for (int64_t q = 0; q < t->n_texts; q++) {
        least[q] = t->final_text[q] ? 0 : NONE;
    }
    for (int64_t round = 0; round < t->n_texts; round++) {
        for (int64_t from = 1; from < t->n_texts; from++) {
            for (int64_t to = 1; to < t->n_texts; to++) {
                if (least[to] + 1 < least[from] && count_atoms(t, from, to)) {
                    least[from] = least[to] + 1;
                }
            }
        }
    }
    for (int64_t q = 0; q < t->n_texts; q++) {
        least[q] = least[q] == NONE ? 0 : least[q];
    }
}

/* As Python does before the first search with a limit: the fewest ids by text, and the atoms that lead nearer. */
static void find_least(tables *t) {
    arena *memory = &t->memory;
    const int64_t n_source = 2 * t->n_texts, n_before = MOST_LISTED + MOST_IDS;
    int32_t *columns[6], *nearer = t->cache.nearer, n = 0;
    for (int k = 0; k < 6; k++) {
        columns[k] = ROOM(memory, int32_t, k < 3 ? n_source : n_before);
    }
    tokdfa_guide_edges_job job = {ZEROS(memory, int32_t, t->n_texts), columns[0], columns[1], columns[2], n_source, 0,
                                  columns[3], columns[4], columns[5], n_before, 0};
    fill_least(t);
    const int32_t *least = t->cache.least_ids;
    t->cache.nearer_atoms = ROOM(memory, int32_t, t->n_texts * t->texts.n_atom_class);
    for (int32_t text = 1; text < t->n_texts;) {
        const int32_t next = tokdfa_guide_edges(&t->guide, text, &job);
        REQUIRE(next > text && next <= t->n_texts);
        check_edges(t, &job, text, next);
        for (; text < next; text++) {
            int32_t wanted = 0;
            nearer[2 * text] = n;
            for (int64_t k = 0; k < job.n_listed; k++) {
                if (job.before[k] == text && least[job.reached[k]] < least[text]) {
                    t->cache.nearer_atoms[n++] = job.atom[k];
                }
            }
            nearer[2 * text + 1] = n;
            for (int64_t k = 0; k < job.n_edges; k++) {
                wanted += job.source[k] == text && least[job.target[k]] < least[text] ? job.n_atoms[k] : 0;
            }
            if (nearer[2 * text + 1] - nearer[2 * text] != wanted) {
                nearer[2 * text] = nearer[2 * text + 1] = -1;
            }
        }
    }
    t->knows_least = true;
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
