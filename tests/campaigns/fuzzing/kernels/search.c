/* Searching, against a matcher that tries every stretch of the text; and spelling.

   The automata are made by machines.py; the vocabulary, the ids, the chunks in which they come and the room of the
   search are up to the bytes. With any knowledge of tokens - nothing, classes, accelerated states - the matches are the
   same. The matcher reads a pattern as it is written, and computes the set of places where a match may end. */
#include "search_twin.h"

/* The first token of a leftmost match has the match's offset in it in its upper bits. */
enum { OFFSET_SHIFT = 40 };

/* The state of one thread. */
static tokdfa_search new_search(arena *memory, input *in, int64_t initial) {
    const int64_t n_found = 4 * between(in, 1, 12), n_passed = between(in, 0, 9);
    const int64_t n_futile = (int64_t)1 << below(in, 5), n_starts = between(in, 1, 6), n_lines = (int64_t)1 << below(in, 6);
    return (tokdfa_search){
        .state = initial, .found = ROOM(memory, int64_t, n_found), .n_found = n_found,
        .passed = ROOM(memory, int64_t, n_passed), .n_passed = n_passed,
        .futile = ROOM(memory, int64_t, n_futile), .n_futile = n_futile,
        .starts = ROOM(memory, int64_t, n_starts), .n_starts = n_starts,
        .cache = MINUS_ONES(memory, int64_t, 8 * n_lines), .n_cache = 8 * n_lines,
        .buffer = ROOM(memory, int64_t, ROWS * (RUN_BLOCK + 66)), .n_buffer = ROWS * (RUN_BLOCK + 66),
    };
}

/* Search ids that come in chunks; ids still needed are kept, as tokdfa/jobs/searching/stream.py does. Returns the
   number of matches; up to `most` are written: byte and byte, token and token. */
static int64_t run_search(const machine *m, const tokdfa_machine *known, tokdfa_search *at, const int32_t *ids,
                          int64_t n, const int64_t *stops, int64_t n_stops, int64_t *matches, int64_t most,
                          bool drops) {
    arena memory = {NULL, 0, 0};
    const int64_t aligned = m->g->aligned ? ALIGNED : 0;
    int64_t n_matches = 0, first = 0;
    for (int64_t step = 0; step <= n_stops; step++) {
        const int64_t stop = step < n_stops ? stops[step] : n, final = step < n_stops ? 0 : FINAL;
        const int64_t size = stop - first;
        int32_t *chunk = copied(&memory, ids + first, size, sizeof *ids);
        at->run = at->block_begin = at->block_end = 0;
        at->leads_next = (n + step) & 1; /* any block may have come before */
        at->more = 1;
        while (at->more) {
            int64_t found = m->g->wanted == ALL ? tokdfa_find_all(known, at, chunk, size, aligned | final)
                                                : tokdfa_find_leftmost(known, at, chunk, size, aligned | final);
            if (found < 0) {
                at->n_starts = -2 * found;
                at->starts = ROOM(&memory, int64_t, at->n_starts);
                if (-4 * found > at->n_found) {
                    at->n_found = -8 * found;
                    at->found = ROOM(&memory, int64_t, at->n_found);
                }
                continue;
            }
            REQUIRE(found % 4 == 0 && found <= at->n_found);
            for (int64_t i = 0; i < found; i += 4) {
                int64_t *match = at->found + i;
                const int64_t offset = match[2] >> OFFSET_SHIFT;
                match[2] &= ((int64_t)1 << OFFSET_SHIFT) - 1;
                match[2] -= first;
                match[3] -= first;
                REQUIRE(match[0] <= match[1] && match[2] >= 0 && match[2] <= match[3] && match[3] <= size);
                if (m->g->wanted != ALL) {
                    const int32_t id = chunk[match[2]];
                    REQUIRE(offset >= 0 && offset < m->offsets[id + 1] - m->offsets[id]);
                }
                if (n_matches < most) {
                    matches[4 * n_matches] = match[0];
                    matches[4 * n_matches + 1] = match[1];
                    matches[4 * n_matches + 2] = match[2] + first;
                    matches[4 * n_matches + 3] = match[3] + first;
                }
                n_matches++;
            }
        }
        if (drops && !final) {
            REQUIRE(at->idle_token <= size);
            const int64_t n_kept = tokdfa_forget(&m->text, at, chunk, size, 0);
            first += size - n_kept;
            REQUIRE(at->first == first && !memcmp(chunk, ids + first, (size_t)n_kept * sizeof *ids));
        }
    }
    /* Room that it made is given back. */
    at->starts = NULL;
    at->found = NULL;
    give_back(&memory);
    return n_matches;
}

static void search(const machine *m, input *in) {
    enum { MOST_MATCHES = 4000, MOST_STOPS = 4, MOST_EXPECTED = 8000 };
    arena memory = {NULL, 0, 0};
    const given *g = m->g;
    const int64_t n_stops = below(in, MOST_STOPS + 1), seed = in->at < in->size ? in->data[in->at] : 0;
    int64_t stops[MOST_STOPS];
    uint8_t plan[MOST_STOPS];
    for (int i = 0; i < MOST_STOPS; i++) {
        plan[i] = take(in);
    }
    const input room = *in;
    in->at = in->at + 5 < in->size ? in->at + 5 : in->size;
    /* Where all matches are wanted, each is read backwards by itself, which takes as long as they are in sum. */
    const int64_t most = g->wanted == ALL ? 300 : MOST_IDS;
    int32_t *read = ROOM(&memory, int32_t, most);
    int64_t n = 0;
    while (has_more(in) && n < most) {
        const uint8_t what = take(in);
        if (what < 0xF0 || !n) {
            read[n++] = what % m->n_tokens;
        } else {
            int64_t period = 1 + (what & 7), times = take(in);
            period = period > n ? n : period;
            for (int64_t i = 0; i < period * times && n < most; i++, n++) {
                read[n] = read[n - period];
            }
        }
    }
    int32_t *ids = copied(&memory, read, n, sizeof *read);
    for (int64_t i = 0; i < n_stops; i++) {
        stops[i] = n * plan[i] / 256;
        for (int64_t k = i; k > 0 && stops[k] < stops[k - 1]; k--) {
            const int64_t other = stops[k];
            stops[k] = stops[k - 1];
            stops[k - 1] = other;
        }
    }
    /* By definition, unless the text is too long for that. */
    bool has_empty = false, is_short = g->wanted != FIRST;
    int64_t size = 0, n_expected = 0;
    for (int64_t i = 0; i < n; i++) {
        size += m->offsets[ids[i] + 1] - m->offsets[ids[i]];
        has_empty = has_empty || m->offsets[ids[i] + 1] == m->offsets[ids[i]];
    }
    uint8_t *text = ROOM(&memory, uint8_t, size), *is_boundary = ZEROS(&memory, uint8_t, size + 1);
    span *expected = ROOM(&memory, span, MOST_EXPECTED);
    reading r = {.n = 0};
    int64_t at = 0, begin = 0, position = 0;
    for (int64_t i = 0; i <= n && is_short; i++) {
        const bool ends = i == n || m->special[ids[i]];
        if (ends) {
            r.n = 0;
            for (int64_t place = 0; place < at && is_short;) {
                r.at[r.n] = place;
                place += read_symbol(text + place, at - place, r.symbols + r.n);
                is_short = ++r.n < MOST_PLACES;
                r.at[r.n] = place;
            }
            is_boundary[at] = is_boundary[0] = 1;
            is_short = is_short && n_expected + r.n * (g->wanted == ALL ? r.n : 1) <= MOST_EXPECTED;
            if (is_short) {
                n_expected += find_naively(g, &r, is_boundary, begin, expected + n_expected);
            }
        }
        if (i < n) {
            const int64_t length = m->offsets[ids[i] + 1] - m->offsets[ids[i]];
            position += length;
            if (ends) {
                at = 0;
                begin = position;
                memset(is_boundary, 0, (size_t)size + 1);
            } else {
                is_boundary[at] = 1;
                memcpy(text + at, m->bytes + m->offsets[ids[i]], (size_t)length);
                at += length;
            }
        }
    }
    int64_t *first = ROOM(&memory, int64_t, 4 * MOST_MATCHES), *matches = ROOM(&memory, int64_t, 4 * MOST_MATCHES);
    int64_t n_first = 0;
    for (int k = 0; k < 2 * m->n_known; k++) {
        /* All at once and in chunks. */
        input again = room;
        tokdfa_search search = new_search(&memory, &again, g->start);
        const int64_t n_found = run_search(m, m->known + k / 2, &search, ids, n, stops, k & 1 ? n_stops : 0, matches,
                                           MOST_MATCHES, (seed & 1) != 0);
        const int64_t n_kept = n_found < MOST_MATCHES ? n_found : MOST_MATCHES;
        if (!k) {
            n_first = n_found;
            memcpy(first, matches, (size_t)(4 * n_kept) * sizeof *first);
            REQUIRE(!is_short || n_found == n_expected);
        }
        REQUIRE(n_found == n_first);
        for (int64_t i = 0; i < n_kept; i++) {
            const int64_t *match = matches + 4 * i;
            REQUIRE(match[0] == first[4 * i] && match[1] == first[4 * i + 1]);
            REQUIRE(!is_short || (match[0] == expected[i].start && match[1] == expected[i].end));
            REQUIRE(has_empty || (match[2] == first[4 * i + 2] && match[3] == first[4 * i + 3]));
        }
    }
    /* The tokens of a match are those that it has bytes of. */
    for (int64_t i = 0; i < n_first && i < MOST_MATCHES && !has_empty; i++) {
        int64_t place = 0, token = 0;
        while (token < n && place + (m->offsets[ids[token] + 1] - m->offsets[ids[token]]) <= first[4 * i]) {
            place += m->offsets[ids[token] + 1] - m->offsets[ids[token]];
            token++;
        }
        REQUIRE(first[4 * i + 2] == token);
        while (token < n && place < first[4 * i + 1]) {
            place += m->offsets[ids[token] + 1] - m->offsets[ids[token]];
            token++;
        }
        REQUIRE(first[4 * i + 3] == token);
    }
    /* Spelling: negative numbers are nothing. */
    int64_t *lengths = ROOM(&memory, int64_t, n), sum = 0;
    for (int64_t i = 0; i < n; i++) {
        ids[i] = i % 7 == 6 ? -1 - ids[i] : ids[i];
    }
    const int64_t n_spelled = tokdfa_spelled_lengths(m->offsets, ids, n, lengths);
    uint8_t *spelled = ROOM(&memory, uint8_t, n_spelled);
    tokdfa_spell(m->bytes, m->text.n_bytes, m->offsets, ids, n, spelled, n_spelled);
    for (int64_t i = 0; i < n; i++) {
        const int64_t length = ids[i] < 0 ? 0 : m->offsets[ids[i] + 1] - m->offsets[ids[i]];
        REQUIRE(lengths[i] == length && sum + length <= n_spelled);
        REQUIRE(!length || !memcmp(spelled + sum, m->bytes + m->offsets[ids[i]], (size_t)length));
        sum += length;
    }
    REQUIRE(sum == n_spelled);
    give_back(&memory);
}

static void use(const void *shared, input *in) {
    search(shared, in);
}

static void release(void *shared) {
    machine *m = shared;
    give_back(&m->memory);
    free(m);
}

const target search_target = {"search", build, use, release};
