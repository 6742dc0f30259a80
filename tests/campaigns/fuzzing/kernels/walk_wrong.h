/* The walk over many streams that continues after violations, against its definition. */
#ifndef TOKDFA_WALK_WRONG_H
#define TOKDFA_WALK_WRONG_H

#include "walk_twin.h"

/* The streams, and where their texts are always cut. */
typedef struct {
    const uint32_t *ids;
    const uint8_t *certain; /* of two ids that stand side by side */
    int64_t n_ids, begins[4], ends[4], n_streams, n_closed, back, reach;
} streams;

static bool is_certainly_cut(const streams *s, const uint32_t *ids, int64_t at) {
    return s->certain[ids[at - 1] * s->n_ids + ids[at]];
}

/* The parts of one stream, appended to `found`; returns their number. */
static int64_t find_wrong(const machine *m, const uint8_t *forbidden, const streams *s, int64_t stream, int64_t *found) {
    const tokdfa_walker *w = &m->walker;
    const int64_t first = s->begins[stream], n = s->ends[stream] - first;
    const uint32_t *ids = s->ids + first;
    int64_t count = 0;
    tokdfa_place place = {0, w->initial, 0};
    while (true) {
        const int status = walk_naively(m, forbidden, ids, n, &place);
        REQUIRE(status != UNSURE);
        if (status == DONE && (stream >= s->n_closed || w->is_final[place.row / w->width])) {
            return count;
        }
        int64_t end = place.at + 1;
        while (end < n && !is_certainly_cut(s, ids, end)) {
            end++;
        }
        end = end < n ? end : n;
        bool is_spelled = false;
        for (int64_t at = place.at; at < end; at++) {
            is_spelled = is_spelled || spells_special(w, ids, at);
        }
        int64_t begin = place.at - s->back - (is_spelled ? s->reach : 0);
        begin = begin > 0 ? begin : 0;
        while (begin > 0 && (begin == n || !is_certainly_cut(s, ids, begin))) {
            begin--;
        }
        /* Parts that overlap or touch are one part. */
        while (count && found[2 * count - 1] >= first + begin) {
            count--;
            begin = found[2 * count] - first < begin ? found[2 * count] - first : begin;
        }
        found[2 * count] = first + begin;
        found[2 * count++ + 1] = first + end;
        if (end == n) {
            return count;
        }
        place = (tokdfa_place){end, w->initial, 0};
    }
}

/* The parts that contain violations. Entries missing in the table are learned on the way, into a copy of it; `drawn`
   and `more`, a byte each, say where streams begin and where they are always cut. */
static void check_wrong_parts(const machine *m, const uint8_t *forbidden, const uint32_t *ids, int64_t n, int drawn,
                              int more) {
    enum { N_SYMBOLS = 5 };
    arena memory = {NULL, 0, 0};
    machine own = *m;
    tokdfa_walker *w = &own.walker;
    const int64_t n_entries = m->n_states * w->width;
    uint32_t *allowed = exactly(&memory, w->allowed, n_entries, sizeof *allowed);
    uint32_t *other = exactly(&memory, w->other, n_entries, sizeof *other);
    uint8_t *is_final = exactly(&memory, w->is_final, m->n_states, 1);
    /* A text without ids is canonical. */
    is_final[w->initial / w->width] = 1;
    w->allowed = allowed, w->other = other, w->is_final = is_final;
    int32_t *symbols[2];
    for (int k = 0; k < 2; k++) {
        symbols[k] = ROOM(&memory, int32_t, m->n_ids);
        for (int64_t id = 0; id < m->n_ids; id++) {
            symbols[k][id] = (int32_t)((id * (k + 2) + (id >> 2) + drawn) % N_SYMBOLS);
        }
    }
    uint8_t *matrix = ROOM(&memory, uint8_t, N_SYMBOLS * N_SYMBOLS), *certain = ROOM(&memory, uint8_t, m->n_ids * m->n_ids);
    for (int i = 0; i < N_SYMBOLS * N_SYMBOLS; i++) {
        matrix[i] = (drawn * 2654435761u >> (i + 3) % 32 & (more & 1 ? 1 : more * 40503u >> i % 16)) & 1;
    }
    for (int64_t u = 0; u < m->n_ids; u++) {
        for (int64_t v = 0; v < m->n_ids; v++) {
            certain[u * m->n_ids + v] = matrix[symbols[1][u] * N_SYMBOLS + symbols[0][v]];
        }
    }
    streams s = {.ids = ids, .certain = certain, .n_ids = m->n_ids, .n_streams = 1 + more % 4, .back = 1 + (drawn >> 5),
                 .reach = more >> 4};
    s.n_closed = s.n_streams - (more >> 3 & 1);
    for (int64_t k = 0; k < s.n_streams; k++) {
        s.begins[k] = n * (k + (drawn & 1 ? k * k : 0)) / (s.n_streams * (drawn & 1 ? s.n_streams + 1 : 1));
    }
    for (int64_t k = 0; k < s.n_streams; k++) {
        s.ends[k] = k + 1 < s.n_streams ? s.begins[k + 1] : n;
        s.ends[k] -= more & 2 && s.ends[k] > s.begins[k];
    }
    const tokdfa_cuts cuts = {symbols[0], symbols[1], matrix, N_SYMBOLS};
    tokdfa_wrong_job job = {
        .begins = exactly(&memory, s.begins, s.n_streams, sizeof *s.begins),
        .ends = exactly(&memory, s.ends, s.n_streams, sizeof *s.ends), .n_begins = s.n_streams, .back = s.back,
        .reach = s.reach, .n_closed = s.n_closed, .found = ROOM(&memory, int64_t, 2), .room = 1, .row = w->initial, .step = 1 + drawn,
    };
    for (int status; (status = tokdfa_wrong_parts(w, &cuts, ids, &job)) != DONE;) {
        if (status == UNSURE) {
            const int64_t entry = job.row + w->class_of[ids[job.begins[job.stream] + job.at]];
            const int64_t target = (1 + entry % (m->n_states - 1)) * w->width;
            REQUIRE(allowed[entry] & UNKNOWN);
            allowed[entry] = (uint32_t)target << 2 | LOOK | CLOSELY;
            other[entry] = (uint32_t)target << 2;
        } else {
            REQUIRE(status == NO_ROOM_FOR_PARTS && job.count == job.room);
            int64_t *larger = ROOM(&memory, int64_t, 4 * job.room);
            memcpy(larger, job.found, (size_t)(2 * job.room) * sizeof *larger);
            job.found = larger;
            job.room *= 2;
        }
    }
    int64_t *found = ROOM(&memory, int64_t, 2 * (n + 1)), count = 0;
    for (int64_t k = 0; k < s.n_streams; k++) {
        count += find_wrong(&own, forbidden, &s, k, found + 2 * count);
    }
    REQUIRE(job.count == count && !memcmp(job.found, found, (size_t)(2 * count) * sizeof *found));
    int64_t size = 0;
    for (int64_t k = 0; k < s.n_streams; k++) {
        for (int64_t i = s.begins[k]; i < s.ends[k]; i++) {
            size += w->length_of[ids[i]];
        }
    }
    REQUIRE(count || job.size == size);
    give_back(&memory);
}

#endif
