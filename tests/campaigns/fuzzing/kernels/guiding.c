/* Bans and the product of guides, on small tables from bytes, against definitions that look at every place. */
#include "guiding_twin.h"

static void use_ban(tables *t, input *in) {
    uint8_t *alive = ZEROS(&t->memory, uint8_t, t->n_texts);
    for (int64_t q = 1; q < t->n_texts; q++) {
        alive[q] = take(in) % 4 > 0;
    }
    const tokdfa_ban ban = {.table = t->table, .column = t->column, .n_columns = N_COLUMNS, .alive = alive,
                            .n_alive = t->n_texts, .text = t->text, .offsets = t->offsets, .n_offsets = t->n_ids + 1,
                            .symbol = t->symbol, .n_symbol = t->n_nodes, .depth = t->depth, .end = t->end,
                            .first = t->first, .words = t->words};
    int32_t *path = ROOM(&t->memory, int32_t, 2 * (MOST_LENGTH + 1));
    for (int32_t state = 1; state < t->n_texts; state++) {
        uint32_t *mask = ZEROS(&t->memory, uint32_t, 1);
        const int32_t like = (int32_t)below(in, t->n_texts);
        if (like > 0) {
            tokdfa_ban_mask(&ban, like, 0, path, mask);
        }
        tokdfa_ban_mask(&ban, state, like, path, mask);
        for (int32_t id = 0; id < t->n_ids; id++) {
            const int64_t reached = text_after(t, state, id);
            REQUIRE((mask[0] >> id & 1) == alive[reached]);
            REQUIRE(tokdfa_ban_step(&ban, state, id) == (alive[reached] ? reached : 0));
        }
    }
    REQUIRE(tokdfa_ban_step(&ban, (int32_t)t->n_texts, 0) == 0 && tokdfa_ban_step(&ban, 1, (int32_t)t->n_ids) == 0);
}

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

#define HELPED_ONCE(status, call)                                                                                      \
    if (((status) = (call)) < 0) {                                                                                     \
        help(t, (status));                                                                                             \
    }

#define HELPED(status, call)                                                                                           \
    while (((status) = (call)) < 0) {                                                                                  \
        help(t, (status));                                                                                             \
    }

static void use_guide(tables *t, input *in) {
    read_splits(t, in);
    t->texts = read_groups(t, t->table, t->n_texts, t->final_text, in);
    int32_t *same = ZEROS(&t->memory, int32_t, 2 * N_COLUMNS);
    uint8_t *final = ZEROS(&t->memory, uint8_t, 2);
    final[1] = 1;
    for (int64_t c = 0; c < N_COLUMNS; c++) {
        same[N_COLUMNS + c] = 1;
    }
    t->every_text = read_groups(t, same, 2, final, in);
    make_cache(t, &t->cache, t->n_texts);
    make_cache(t, &t->every_cache, 2);
    t->every = (tokdfa_guide){&t->splits, &t->followers, &t->ids, &t->every_text, &t->every_cache, NULL};
    t->guide = (tokdfa_guide){&t->splits, &t->followers, &t->ids, &t->texts, &t->cache, take(in) % 4 ? &t->every : NULL};
    const int64_t n = t->n_cores * t->n_cuts * t->n_rows * t->n_texts;
    uint8_t *alive = ZEROS(&t->memory, uint8_t, n);
#define NUMBER(s) (((s.core * t->n_cuts + s.cut) * t->n_rows + s.row) * t->n_texts + s.text)
    for (bool more = true; more;) {
        more = false;
        for (int64_t k = 0; k < n; k++) {
            const spot s = {k / t->n_texts / t->n_rows / t->n_cuts, k / t->n_texts / t->n_rows % t->n_cuts,
                            k / t->n_texts % t->n_rows, k % t->n_texts};
            bool goes_on = s.core && s.text && !s.cut && t->splits.final[s.core] && t->final_text[s.text];
            for (int64_t id = 0; id < t->n_ids && !alive[k] && !goes_on && s.core && s.text; id++) {
                spot to;
                goes_on = step_by_definition(t, s, id, &to) && alive[NUMBER(to)];
            }
            more = more || (goes_on && !alive[k]);
            alive[k] = alive[k] || goes_on;
        }
    }
    const int64_t first = left_in(in) ? take(in) : 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = (i * 7 + first) % n;
        const spot s = {k / t->n_texts / t->n_rows / t->n_cuts, k / t->n_texts / t->n_rows % t->n_cuts,
                        k / t->n_texts % t->n_rows, k % t->n_texts};
        const int32_t split = (int32_t)(s.core * t->n_cuts + s.cut), row = (int32_t)s.row, text = (int32_t)s.text;
        if (!s.core || !s.text || t->texts.distance[s.text] < 0) {
            continue;
        }
        int64_t status;
        HELPED(status, tokdfa_guide_goes_on(&t->guide, split, row, 0, text));
        REQUIRE(status == alive[k]);
        uint32_t allowed, fragile;
        do {
            allowed = fragile = 0;
            HELPED_ONCE(status, tokdfa_guide_next(&t->guide, split, 0, text, NULL, 0, &allowed, &fragile));
        } while (status < 0);
        int32_t ids[MOST_IDS], free[MOST_IDS], cut[MOST_IDS], spelled_to[MOST_IDS], text_to[MOST_IDS];
        for (int32_t id = 0; id < t->n_ids; id++) {
            ids[id] = id;
        }
        const tokdfa_guide_targets_job targets = {ids, t->n_ids, free, cut, spelled_to, text_to};
        HELPED(status, tokdfa_guide_targets(&t->guide, split, 0, text, &targets));
        for (int32_t id = 0; id < t->n_ids; id++) {
            spot to;
            for (int64_t k = 0; k < 2; k++) {
                const bool is_way = step_by_definition(t, (spot){s.core, s.cut, k, s.text}, id, &to);
                const int32_t found = k ? cut[id] : free[id];
                REQUIRE(text_to[id] == text_after(t, s.text, id) && spelled_to[id] == 0);
                REQUIRE(is_way == (found && text_to[id]) && (!is_way || found == to.core * t->n_cuts + to.cut));
            }
            const bool is_one = step_by_definition(t, s, id, &to);
            HELPED(status, tokdfa_guide_target(&t->guide, split, row, 0, text, id));
            REQUIRE(status == is_one);
            REQUIRE(!is_one || (t->cache.found_split == to.core * t->n_cuts + to.cut && t->cache.found_row == to.row &&
                                t->cache.found_text == to.text && t->cache.found_spelled == 0));
            HELPED(status, tokdfa_guide_step(&t->guide, split, row, 0, text, id));
            REQUIRE(status == (is_one && alive[NUMBER(to)]));
            /* The mask of the row: the allowed ids, without those both fragile and forbidden. */
            const bool is_cut = is_forbidden(t, row, id);
            REQUIRE(status == ((allowed >> id & 1) && !(is_cut && fragile >> id & 1)));
        }
    }
    REQUIRE(tokdfa_guide_goes_on(&t->guide, 0, 0, 0, 1) == -4 && tokdfa_guide_step(&t->guide, 1 << 20, 0, 0, 1, 0) == -4);
}

static void *build(input *in) {
    (void)in;
    return NULL;
}

static void use(const void *shared, input *in) {
    (void)shared;
    tables t;
    memset(&t, 0, sizeof t);
    const int what = take(in);
    read_words(&t, in);
    if (what & 1) {
        use_ban(&t, in);
    } else {
        use_guide(&t, in);
    }
    give_back(&t.memory);
}

static void release(void *shared) {
    (void)shared;
}

const target guiding_target = {"guiding", build, use, release};
