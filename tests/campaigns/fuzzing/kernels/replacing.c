/* Replacing: the ids around matches, which of them are alike, and exchanging stretches of ids, against definitions.

   Cuts of ids are up to the bytes, as in tokdfa/jobs/replacing/regions.py: symbols have classes, and symbols next to
   the last class are cut. Matches are spans of bytes that do not overlap. */
#include "replacing_twin.h"

enum { MOST_TOKENS = 12, MOST_WIDTH = 5, MOST_IDS = 600, MOST_MATCHES = 200, MOST_KINDS = 4, MOST_FRESH = 6 };

static void *build(input *in) {
    vocabulary *v = calloc(1, sizeof *v);
    REQUIRE(v);
    arena *memory = &v->memory;
    v->n_tokens = between(in, 1, MOST_TOKENS);
    v->width = between(in, 2, MOST_WIDTH);
    uint8_t *table = ROOM(memory, uint8_t, v->width * v->width), *parts = ROOM(memory, uint8_t, v->n_tokens);
    int32_t *first = ROOM(memory, int32_t, v->n_tokens), *last = ROOM(memory, int32_t, v->n_tokens);
    int32_t *rows = ROOM(memory, int32_t, v->n_tokens);
    int64_t *offsets = ZEROS(memory, int64_t, v->n_tokens + 1);
    for (int64_t left = 0; left < v->width; left++) {
        for (int64_t right = 0; right < v->width; right++) {
            const bool is_last = left == v->width - 1 || right == v->width - 1;
            table[left * v->width + right] = is_last || (take(in) & 1);
        }
    }
    for (int64_t token = 0; token < v->n_tokens; token++) {
        const int what = take(in);
        parts[token] = what % 16 == 15;
        first[token] = (int32_t)(parts[token] ? v->width - 1 : (what >> 4) % (v->width - 1));
        last[token] = (int32_t)(parts[token] ? v->width - 1 : what % (v->width - 1));
        rows[token] = (int32_t)(last[token] * v->width);
        offsets[token + 1] = offsets[token] + 1 + (what >> 2) % 3;
    }
    v->first = first;
    v->last = last;
    v->cuts = (tokdfa_id_cuts){
        .first = first, .last = rows, .table = table, .width = v->width, .offsets = offsets, .parts = parts};
    return v;
}

/* Ids: those that bytes say, and stretches again. */
static int64_t read_ids(const vocabulary *v, input *in, int32_t *ids) {
    int64_t n = 0;
    const int64_t wanted = below(in, MOST_IDS + 1);
    while (has_more(in) && n < wanted) {
        const uint8_t what = take(in);
        if (what < 0xF0 || !n) {
            ids[n++] = what % (int32_t)v->n_tokens;
        } else {
            const int64_t period = 1 + (what & 7) % n, times = take(in) % 32;
            for (int64_t i = 0; i < period * times && n < wanted; i++, n++) {
                ids[n] = ids[n - period];
            }
        }
    }
    return n;
}

/* Matches: each some bytes after the one before, and of some bytes or none. */
static int64_t read_matches(const vocabulary *v, input *in, const int32_t *ids, int64_t n, int64_t *matches) {
    const uint8_t steps[4] = {take(in), take(in), take(in), take(in)};
    int64_t size = 0, n_matches = 0, at = 0, token = 0, begin = 0;
    for (int64_t i = 0; i < n; i++) {
        size += size_of(v, ids[i]);
    }
    while (n_matches < MOST_MATCHES) {
        const uint8_t step = has_more(in) ? take(in) : steps[n_matches & 3];
        const int64_t length = step >> 5;
        at += step & 31;
        if (at + length > size) {
            break;
        }
        for (int64_t own; token < n && begin + (own = size_of(v, ids[token])) <= at; token++) {
            begin += own;
        }
        /* An empty one between two ids has none; within an id it has that. */
        int64_t stop = token, end = begin;
        for (; stop < n && (end < at + length || (!length && end == begin && begin < at)); stop++) {
            end += size_of(v, ids[stop]);
        }
        /* A special token has no text to be matched. */
        int64_t special = token;
        while (special < stop && !v->cuts.parts[ids[special]]) {
            special++;
        }
        if (special < stop) {
            at++;
            continue;
        }
        const int64_t match[ROW] = {token, stop, at - begin, length};
        memcpy(matches + ROW * n_matches++, match, sizeof match);
        if (!length && at == size) {
            break;
        }
        at += length ? length : 1;
    }
    return n_matches;
}

/* Number the kinds of regions, none of them open; `tight` is for a table that has hardly more places than regions. */
static void number_kinds(arena *memory, const tokdfa_around *job, int64_t n_regions, bool tight) {
    int64_t n_table = 1;
    while (n_table <= (tight ? n_regions : 4 * n_regions)) {
        n_table *= 2;
    }
    int64_t *table = MINUS_ONES(memory, int64_t, n_table), *kind = ROOM(memory, int64_t, n_regions);
    int64_t *example = ROOM(memory, int64_t, n_regions), n_expected = 0;
    const int64_t n_kinds = tokdfa_kinds_of_regions(job, n_regions, table, n_table, kind, example);
    for (int64_t number = 0; number < n_regions; number++) {
        int64_t k = 0;
        while (k < n_expected && !are_alike(job, job->regions + ROW * number, job->regions + ROW * example[k])) {
            k++;
        }
        REQUIRE(kind[number] == k);
        if (k == n_expected) {
            REQUIRE(k < n_kinds && example[k] == number);
            n_expected++;
        }
    }
    REQUIRE(n_kinds == n_expected);
}

/* Exchange the regions, or other stretches, for new ids: in new memory, and as far ahead in their own as it has to be. */
static void exchange(arena *memory, input *in, const int32_t *ids, int64_t n, const int64_t *regions, int64_t n_regions) {
    int64_t offsets[MOST_KINDS + 1] = {0};
    const int64_t n_kinds = between(in, 1, MOST_KINDS);
    for (int64_t k = 0; k < n_kinds; k++) {
        offsets[k + 1] = offsets[k] + below(in, MOST_FRESH + 1);
    }
    int32_t *fresh = ROOM(memory, int32_t, offsets[n_kinds]);
    for (int64_t i = 0; i < offsets[n_kinds]; i++) {
        fresh[i] = (int32_t)(1000 + i);
    }
    int64_t *bounds = ROOM(memory, int64_t, 2 * n_regions), *kind = ROOM(memory, int64_t, n_regions);
    const uint64_t mixed = (uint64_t)take(in) * 0x9E3779B97F4A7C15u;
    int32_t *expected = ROOM(memory, int32_t, n + n_regions * MOST_FRESH);
    int64_t n_expected = 0, read = 0, ahead = 0;
    for (int64_t i = 0; i < n_regions; i++) {
        bounds[2 * i] = regions[ROW * i];
        bounds[2 * i + 1] = regions[ROW * i + 1];
        kind[i] = (int64_t)((mixed >> 7 * i % 57) % (uint64_t)n_kinds);
        while (read < bounds[2 * i]) {
            expected[n_expected++] = ids[read++];
        }
        for (int64_t k = offsets[kind[i]]; k < offsets[kind[i] + 1]; k++) {
            expected[n_expected++] = fresh[k];
        }
        read = bounds[2 * i + 1];
        ahead = n_expected - read > ahead ? n_expected - read : ahead;
    }
    while (read < n) {
        expected[n_expected++] = ids[read++];
    }
    int64_t *own_offsets = exactly(memory, offsets, n_kinds + 1, sizeof *offsets);
    int32_t *out = ROOM(memory, int32_t, n_expected), *room = ROOM(memory, int32_t, ahead + n);
    memcpy(room + ahead, ids, (size_t)n * sizeof *ids);
    tokdfa_exchange job = {.ids = ids, .n_ids = n, .bounds = bounds, .kind = kind, .n_kind = n_regions, .fresh = fresh,
                           .offsets = own_offsets};
    tokdfa_splice(&job, out);
    REQUIRE(!memcmp(out, expected, (size_t)n_expected * sizeof *out));
    job.ids = room + ahead;
    tokdfa_splice(&job, room);
    REQUIRE(!memcmp(room, expected, (size_t)n_expected * sizeof *room));
}

static void use(const void *shared, input *in) {
    const vocabulary *v = shared;
    arena memory = {NULL, 0, 0};
    int32_t *read = ROOM(&memory, int32_t, MOST_IDS);
    int64_t *found = ROOM(&memory, int64_t, ROW * MOST_MATCHES);
    const int flags = take(in);
    const int64_t first = below(in, v->width - 1), last = below(in, v->width - 1);
    input apart = *in;
    in->at = in->at + 8 < in->size ? in->at + 8 : in->size;
    const int64_t n = read_ids(v, in, read), n_matches = read_matches(v, in, read, n, found);
    const int32_t *ids = exactly(&memory, read, n, sizeof *ids);
    const int64_t *matches = exactly(&memory, found, ROW * n_matches, sizeof *matches);
    int64_t *regions = ROOM(&memory, int64_t, ROW * n_matches), *expected = ROOM(&memory, int64_t, ROW * n_matches);
    tokdfa_around job = {
        .ids = ids, .n_ids = n, .matches = matches, .n_matches = ROW * n_matches, .first_class = flags & 4 ? first : -1,
        .last_class = flags & 4 ? last : -1, .begins = flags & 1, .final = flags >> 1 & 1, .regions = regions};
    int64_t n_regions = tokdfa_regions(&v->cuts, &job);
    REQUIRE(n_regions == find_regions(v, &job, expected));
    REQUIRE(!memcmp(regions, expected, (size_t)(ROW * n_regions) * sizeof *regions));
    n_regions -= n_regions && regions[ROW * n_regions - 3] == OPEN;
    number_kinds(&memory, &job, n_regions, flags & 8);
    exchange(&memory, &apart, ids, n, regions, n_regions);
    give_back(&memory);
}

static void release(void *shared) {
    vocabulary *v = shared;
    give_back(&v->memory);
    free(v);
}

const target replacing_target = {"replacing", build, use, release};
