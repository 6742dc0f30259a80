/* The pair test, taking words apart, and the walk over ids, of one stream and of many, against definitions.

   The pair test uses a dictionary from bytes; the machine is a table of random entries with the marks that a
   table must have. The devices that make the walk fast - lanes, marks, looking ahead - must change nothing. */
#include "walk_broken.h"
#include "walk_differences.h"
#include "walk_neighbours.h"
#include "walk_parts.h"
#include "walk_wrong.h"

/* Ids: those that bytes say, with stretches that are repeated, so that lanes and blocks are filled. */
static int64_t read_ids(input *in, int64_t n_ids, uint32_t *ids, int64_t most) {
    int64_t n = 0;
    while (has_more(in) && n < most) {
        const uint8_t what = take(in);
        if (what < 0xF0 || !n) {
            ids[n++] = (uint32_t)(what % n_ids);
        } else {
            int64_t period = 1 + take(in) % 64;
            period = period > n ? n : period;
            const int64_t times = (int64_t)(what & 15) * 16 + 1;
            for (int64_t i = 0; i < period * times && n < most; i++, n++) {
                ids[n] = ids[n - period];
            }
        }
    }
    return n;
}

static void walk(const machine *m, input *in) {
    arena memory = {NULL, 0, 0};
    const tokdfa_walker *w = &m->walker;
    uint8_t *forbidden = ROOM(&memory, uint8_t, m->n_ids * m->n_ids), *marks = ROOM(&memory, uint8_t, m->n_ids);
    uint8_t *others = ROOM(&memory, uint8_t, m->n_ids);
    int32_t *every = ROOM(&memory, int32_t, m->n_ids);
    for (int64_t v = 0; v < m->n_ids; v++) {
        every[v] = (int32_t)v;
    }
    /* All pairs, in one row after the other; of the first id of each row the one behind is another. */
    const int drawn = take(in), compared = drawn % 16;
    for (int64_t u = 0; u < m->n_ids; u++) {
        for (int64_t v = 0; v < m->n_ids; v++) {
            uint8_t mark, other;
            tokdfa_mark_pairs(&m->by_history, every + v, 1, u, &mark);
            tokdfa_mark_pairs(&m->by_table, every + v, 1, u, &other);
            REQUIRE(mark == other);
            forbidden[u * m->n_ids + v] = mark;
            REQUIRE(u % 16 != compared || mark == is_forbidden(m, u, v));
        }
    }
    uint32_t *read = ROOM(&memory, uint32_t, MOST_IDS);
    const int64_t behind = take(in) % (m->n_ids + 1) - 1, pause = take(in);
    const int64_t n = read_ids(in, m->n_ids, read, MOST_IDS);
    uint32_t *ids = exactly(&memory, read, n, sizeof *ids);
    /* Streams of ids are marked at once. */
    marks = ROOM(&memory, uint8_t, n);
    others = ROOM(&memory, uint8_t, n);
    tokdfa_mark_pairs(&m->by_history, (const int32_t *)ids, n, behind, marks);
    tokdfa_mark_pairs(&m->by_table, (const int32_t *)ids, n, behind, others);
    for (int64_t i = 0; i < n; i++) {
        const int64_t left = i ? (int64_t)ids[i - 1] : behind;
        const bool expected = left < 0 ? m->tokens[ids[i]] <= NO_TOKEN : forbidden[left * m->n_ids + ids[i]];
        REQUIRE(marks[i] == expected && others[i] == expected);
    }
    /* In two steps, the first ending anywhere; a walk that was stopped continues after the id, some times. */
    int restarts = 0;
    tokdfa_place place = {0, w->initial, 0}, twin = place;
    const int64_t stops[2] = {n ? pause * 67 % (n + 1) : 0, n};
    for (int step = 0; step < 2; step++) {
        int status = DONE;
        do {
            status = tokdfa_walk(w, ids, stops[step], &place);
            REQUIRE(status == walk_naively(m, forbidden, ids, stops[step], &twin));
            REQUIRE(place.at == twin.at && place.row == twin.row && place.size == twin.size);
            if (status != DONE) {
                place.at = ++twin.at;
                place.row = twin.row = w->initial;
            }
        } while (status != DONE && ++restarts < 40);
    }
    tokdfa_place whole = {0, w->initial, 0};
    const int accepts = walk_naively(m, forbidden, ids, n, &whole);
    const int expected = accepts != DONE ? accepts : w->is_final[whole.row / w->width] ? DONE : NOT_FINAL;
    /* Ids of all sizes; nothing is looked back at farther than this. */
    const int64_t reach = 128 + pause * 7 % 897;
    uint16_t *narrow = ROOM(&memory, uint16_t, n);
    uint64_t *wide = ROOM(&memory, uint64_t, n);
    for (int64_t i = 0; i < n; i++) {
        wide[i] = narrow[i] = (uint16_t)ids[i];
    }
    const void *const given[3] = {narrow, ids, wide};
    for (int k = 0; k < 3; k++) {
        REQUIRE(tokdfa_accepts(w, given[k], 2 << k, n, reach, NULL) == expected);
    }
    /* From a place on, again and again. */
    tokdfa_place on = {0, w->initial, 0};
    twin = on;
    for (restarts = 0; restarts < 40; restarts++) {
        const int stopped = walk_naively(m, forbidden, ids, n, &twin);
        const int status = tokdfa_accepts(w, given[restarts % 3], 2 << restarts % 3, n, reach, &on);
        REQUIRE(status == (stopped != DONE ? stopped : w->is_final[twin.row / w->width] ? DONE : NOT_FINAL));
        REQUIRE(on.at == twin.at && on.row == twin.row && on.size == 0);
        if (stopped == DONE) {
            break;
        }
        on.at = ++twin.at;
        on.row = twin.row = w->initial;
    }
    check_wrong_parts(m, forbidden, ids, n, drawn, (int)pause);
    /* An id that is out of range is said to be so, wherever it is. */
    if (n) {
        const int64_t at = pause % n;
        ids[at] = (uint32_t)m->n_ids + (uint32_t)pause * 0x1000001u % (UINT32_MAX - (uint32_t)m->n_ids);
        wide[at] = pause & 1 ? UINT64_MAX - (uint64_t)pause : (uint64_t)1 << (32 + pause % 31);
        for (int k = 1; k < 3; k++) {
            on = (tokdfa_place){at, w->initial, 0};
            REQUIRE(tokdfa_accepts(w, given[k], 2 << k, n, reach, &on) == NO_ID && on.at == at);
            const int status = tokdfa_accepts(w, given[k], 2 << k, n, reach, NULL);
            REQUIRE(status == NO_ID || (status == accepts && at > whole.at));
        }
    }
    give_back(&memory);
}

static void use(const void *shared, input *in) {
    const int job = take(in) % 8;
    if (job == 0) {
        take_words_apart(shared, in);
    } else if (job == 4) {
        find_broken_symbols(shared, in);
    } else if (job == 5) {
        find_different_parts(in);
    } else if (job == 7) {
        judge_neighbours(in);
    } else {
        walk(shared, in);
    }
}

const target walk_target = {"walk", build, use, release};
