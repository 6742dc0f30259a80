/* Bans and the product of guides, on small tables from bytes, against definitions that look at every place. */
#include "guiding_limits.h"

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
        uint32_t *mask = ZEROS(&t->memory, uint32_t, t->n_mask);
        const int32_t like = (int32_t)below(in, t->n_texts);
        if (like > 0) {
            tokdfa_ban_mask(&ban, like, 0, path, mask);
        }
        tokdfa_ban_mask(&ban, state, like, path, mask);
        for (int32_t id = 0; id < t->n_ids; id++) {
            const int64_t reached = text_through(t, state, id);
            REQUIRE(id >= t->n_words || has_bit(mask, id) == alive[reached]);
            REQUIRE(tokdfa_ban_step(&ban, state, id) == (alive[reached] ? reached : 0));
        }
    }
    REQUIRE(tokdfa_ban_step(&ban, (int32_t)t->n_texts, 0) == 0 && tokdfa_ban_step(&ban, 1, (int32_t)t->n_ids) == 0);
}

/* The states of the parts after every id, for any row. */
static void check_targets(tables *t, spot s) {
    int32_t ids[MOST_IDS], free[MOST_IDS], cut[MOST_IDS], spelled[MOST_IDS], text[MOST_IDS];
    for (int32_t id = 0; id < t->n_ids; id++) {
        ids[id] = id;
    }
    const tokdfa_guide_targets_job job = {ids, t->n_ids, free, cut, spelled, text};
    int64_t status;
    HELPED(status, tokdfa_guide_targets(&t->guide, (int32_t)s.split, (int32_t)s.spelled, (int32_t)s.text, &job));
    for (int32_t id = 0; id < t->n_ids; id++) {
        REQUIRE(free[id] == split_after(t, s.split, id, true) && cut[id] == split_after(t, s.split, id, false));
        REQUIRE(spelled[id] == scan_after(t, s.spelled, id) && text[id] == text_after(t, s.text, id));
    }
}

static void check_steps(tables *t, spot s, const int32_t *fewest) {
    const int32_t split = (int32_t)s.split, row = (int32_t)s.row, spelled = (int32_t)s.spelled, text = (int32_t)s.text;
    int64_t status;
    HELPED(status, tokdfa_guide_goes_on(&t->guide, split, row, spelled, text));
    REQUIRE(status == (fewest[number_of(t, s)] < NONE));
    for (int32_t id = 0; id < t->n_ids; id++) {
        spot to;
        const bool is_one = step_by_definition(t, s, id, &to);
        HELPED(status, tokdfa_guide_target(&t->guide, split, row, spelled, text, id));
        REQUIRE(status == is_one);
        const tokdfa_guide_cache *found = &t->cache;
        REQUIRE(!is_one || (found->found_split == to.split && found->found_row == to.row &&
                            found->found_text == to.text && found->found_spelled == to.spelled));
        HELPED(status, tokdfa_guide_step(&t->guide, split, row, spelled, text, id));
        REQUIRE(status == (is_one && fewest[number_of(t, to)] < NONE));
    }
}

/* One of the checks, in any order: the first one finds the cells that are missing. */
static void check(tables *t, spot s, const int32_t *fewest, int32_t limit, int64_t which, input *in) {
    if (limit != NO_LIMIT && !t->knows_least) {
        find_least(t, take(in) % 8);
    }
    if (which == 0) {
        check_steps(t, s, fewest);
    } else if (which == 1 && limit != NO_LIMIT) {
        check_limits(t, s, fewest, limit);
    } else if (which == 2 && s.row == NO_ROW) {
        check_targets(t, s);
    } else if (which == 3 && s.row == NO_ROW) {
        check_masks(t, s, fewest, limit == NO_LIMIT ? limit : limit - 1, in);
    }
}

/* Numbers out of range are no state, and no id. */
static void check_refusals(const tables *t) {
    const int32_t split = (int32_t)t->n_cuts, id = (int32_t)t->n_ids;
    int32_t nothing;
    const tokdfa_guide_targets_job job = {&id, 1, &nothing, &nothing, &nothing, &nothing};
    REQUIRE(tokdfa_guide_goes_on(&t->guide, 0, 0, 0, 1) == NO_SUCH_STATE);
    REQUIRE(tokdfa_guide_step(&t->guide, 1 << 20, 0, 0, 1, 0) == NO_SUCH_STATE);
    REQUIRE(tokdfa_guide_step(&t->guide, split, 0, 0, 1, id) == NO_SUCH_STATE);
    REQUIRE(tokdfa_guide_within(&t->guide, split, 0, (int32_t)t->n_spelled, 1, 1) == NO_SUCH_STATE);
    REQUIRE(tokdfa_guide_targets(&t->guide, split, 0, 1, &job) == NO_SUCH_STATE);
    REQUIRE(tokdfa_guide_targets(&t->guide, split, 0, (int32_t)t->n_texts, &job) == NO_SUCH_STATE);
}

static void use_guide(tables *t, input *in) {
    read_ids(t, in);
    read_languages(t, in);
    make_cache(t, &t->cache, t->n_texts, in);
    make_cache(t, &t->every_cache, 2, in);
    t->every = (tokdfa_guide){&t->splits, &t->followers, &t->forbidding, &t->ids, &t->every_text, &t->every_cache, NULL};
    const tokdfa_guide *any = take(in) % 4 ? &t->every : NULL;
    t->guide = (tokdfa_guide){&t->splits, &t->followers, &t->forbidding, &t->ids, &t->texts, &t->cache, any};
    const int32_t *fewest = find_fewest(t);
    const int64_t n = count_spots(t), first = left_in(in) ? take(in) : 0, unlimited = take(in);
    for (int64_t i = 0; i < n; i++) {
        const spot s = spot_of(t, (i * 7 + first) % n);
        if (s.split < t->n_cuts || !s.text || t->texts.distance[s.text] < 0) {
            continue;
        }
        const int32_t limit = (int32_t)((i + first) % 5);
        for (int64_t k = 0; k < 4; k++) {
            check(t, s, fewest, i < unlimited ? NO_LIMIT : limit, (first + k) % 4, in);
        }
    }
    check_nearer(t);
    check_refusals(t);
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
    read_automaton(&t, in);
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
