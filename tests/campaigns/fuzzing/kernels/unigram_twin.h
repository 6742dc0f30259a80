/* A Unigram model from bytes, and the answer by definition: the best way by a loop over all pieces at each place. */
#ifndef UNIGRAM_TWIN_H
#define UNIGRAM_TWIN_H

#include <math.h>

#include "../../../../tokdfa/kernels/unigram/api.h"
#include "harness.h"

enum { MOST_PIECES = 24, MOST_SYMBOLS = 300, LONGEST_SYMBOL = 4, FIRST_BYTE = 1000, N_SYMBOLS = 9, N_ORDINARY = 6 };

/* Two of these differ in one bit; the last ones are in no piece. */
static const char *const symbols[N_SYMBOLS] = {"a", "q", "b", "\xC3\xA9", "\xE2\x96\x81", "\xF0\x9F\x98\x80", "x", "\xE6\x97\xA5", "."};
enum { SPACE = 4 };

typedef struct {
    uint8_t bytes[6 * LONGEST_SYMBOL];
    int64_t n;
    double score;
} piece;

typedef struct {
    arena memory;
    piece pieces[MOST_PIECES];
    int64_t n;
    double unknown_score;
    bool has_unknown, spaced;
    tokdfa_unigram tables;
} unigram;

static int compare_pieces(const void *a, const void *b) {
    const piece *x = a, *y = b;
    const int order = memcmp(x->bytes, y->bytes, (size_t)(x->n < y->n ? x->n : y->n));
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* Write symbols; returns their number of bytes. */
static int64_t put(uint8_t *to, int symbol) {
    const size_t n = strlen(symbols[symbol]);
    memcpy(to, symbols[symbol], n);
    return (int64_t)n;
}

/* The trie of words, ascending and distinct, as it is packed; its keys go to `keys`. */
static int32_t *trie_of(arena *memory, const uint8_t *text, const int64_t *offsets, int64_t n, int64_t *n_cells,
                        int32_t **keys) {
    tokdfa_unigram_trie trie;
    int64_t status;
    WITH_MEMORY(status, tokdfa_build_unigram_trie(text, offsets, n, 0, &trie));
    REQUIRE(status == 0);
    int32_t *cells = exactly(memory, trie.cells, 2 * trie.n_cells, sizeof *cells);
    *keys = exactly(memory, trie.keys, trie.n_cells, sizeof **keys);
    *n_cells = trie.n_cells;
    tokdfa_free_unigram_trie(&trie);
    return cells;
}

static void build_model(unigram *u, input *in) {
    static const double units[8] = {1, 0.25, 1e-3, 3e4, 0.1, 1e-6, 7, 2000};
    const uint8_t flags = take(in), unit = take(in);
    const bool single = flags & 1, late = single && flags & 2;
    u->spaced = flags & 4;
    u->has_unknown = single || flags & 8;
    const int64_t wanted = between(in, 1, MOST_PIECES);
    for (int64_t i = 0; i < wanted; i++) {
        piece *p = &u->pieces[u->n];
        const uint8_t shape = take(in);
        p->n = u->spaced && shape & 1 ? put(p->bytes, SPACE) : 0;
        const int64_t length = (shape >> 1) % 5 + (p->n == 0);
        for (int64_t k = 0; k < length; k++) {
            int symbol = take(in) % N_ORDINARY;
            p->n += put(p->bytes + p->n, u->spaced && symbol == SPACE ? 0 : symbol);
        }
        p->score = -units[(shape >> 5) + (unit & 7 ? unit & 7 : 0) < 8 ? (shape >> 5) * (unit >> 6) % 8 : unit & 7] * (take(in) % 8);
        p->score = single ? (double)(float)p->score : p->score;
        u->n++;
    }
    qsort(u->pieces, (size_t)u->n, sizeof *u->pieces, compare_pieces);
    int64_t kept = 0;
    for (int64_t i = 0; i < u->n; i++) {
        if (!kept || compare_pieces(&u->pieces[kept - 1], &u->pieces[i])) {
            u->pieces[kept++] = u->pieces[i];
        }
    }
    u->n = kept;
    uint8_t text[MOST_PIECES * 6 * LONGEST_SYMBOL];
    int64_t offsets[MOST_PIECES + 1] = {0};
    double least = 0, step = 0;
    for (int64_t i = 0; i < u->n; i++) {
        memcpy(text + offsets[i], u->pieces[i].bytes, (size_t)u->pieces[i].n);
        offsets[i + 1] = offsets[i] + u->pieces[i].n;
        least = fmin(least, u->pieces[i].score);
    }
    u->unknown_score = single ? (double)((float)least - 10.0f) : least - 10;
    step = -u->unknown_score;
    int32_t *keys;
    tokdfa_unigram *m = &u->tables;
    m->cells = trie_of(&u->memory, text, offsets, u->n, &m->n_cells, &keys);
    double *scores = ZEROS(&u->memory, double, m->n_cells), *id_scores = ZEROS(&u->memory, double, u->n + 1);
    int32_t *ids = MINUS_ONES(&u->memory, int32_t, m->n_cells);
    for (int64_t cell = 0; cell < m->n_cells; cell++) {
        if (keys[cell] >= 0) {
            scores[cell] = u->pieces[keys[cell]].score;
            ids[cell] = keys[cell] + 1;
        }
    }
    for (int64_t i = 0; i < u->n; i++) {
        id_scores[i + 1] = u->pieces[i].score;
    }
    scores[0] = u->unknown_score;
    ids[0] = u->has_unknown ? 0 : -1;
    const bool has_bytes = flags & 16;
    int32_t *byte_ids = ROOM(&u->memory, int32_t, has_bytes ? 256 : 0);
    for (int byte = 0; byte < 256 && has_bytes; byte++) {
        byte_ids[byte] = !single && flags & 32 && byte == 'x' ? -1 : FIRST_BYTE + byte;
    }
    m->scores = scores;
    m->ids = ids;
    m->byte_ids = byte_ids;
    m->n_byte_ids = has_bytes ? 256 : 0;
    m->single = single;
    m->rounded_late = late;
    m->restarts = !single;
    m->has_words = !single || u->spaced;
    m->longest_step = step;
    m->id_scores = id_scores;
    m->n_id_scores = u->n + 1;
}

static int64_t size_of(const uint8_t *text) {
    return *text < 0x80 ? 1 : *text < 0xE0 ? 2 : *text < 0xF0 ? 3 : 4;
}

/* The best way through a text by definition: for each of its places the sum, and the last piece. */
typedef struct {
    double sum;
    int64_t start;
    int64_t piece; /* -1 for an unknown character */
    bool is_there;
} place;

/* Append the ids of a sentence by definition. `sum` and `was_unknown` are the state before it, and then
   the state after it. False if a character is unknown and has no id. */
static bool encode_by_definition(const unigram *u, const uint8_t *text, int64_t n, double *sum, bool *was_unknown,
                                 int32_t *ids, int64_t *n_ids) {
    const tokdfa_unigram *m = &u->tables;
    place *best = calloc((size_t)n + 1, sizeof *best);
    REQUIRE(best);
    best[0] = (place){*sum, 0, -1, true};
    int64_t reach = 0;
    bool is_done = true;
    for (int64_t at = 0; at < n && is_done; at += size_of(text + at)) {
        if (m->single && !m->rounded_late && fabs(best[at].sum) > 1e5) {
            const double far = best[at].sum;
            for (int64_t i = at; i <= reach; i++) {
                best[i].sum = best[i].is_there ? (double)(float)(best[i].sum - far) : 0;
            }
        }
        const double here = best[at].sum;
        bool is_known = false;
        for (int64_t k = 0; k < u->n; k++) {
            const piece *p = &u->pieces[k];
            if (at + p->n > n || memcmp(text + at, p->bytes, (size_t)p->n)) {
                continue;
            }
            const double exact = p->score + here, total = m->single ? (double)(float)exact : exact;
            place *there = &best[at + p->n];
            if (!there->is_there || (m->rounded_late ? exact : total) > there->sum) {
                *there = (place){total, at, k, true};
            }
            reach = at + p->n > reach ? at + p->n : reach;
            is_known |= p->n == size_of(text + at);
        }
        if (!is_known) {
            const int64_t after = at + size_of(text + at);
            const double total = m->single ? (double)(float)(u->unknown_score + here) : u->unknown_score + here;
            if (!best[after].is_there || total > best[after].sum) {
                is_done = u->has_unknown;
                best[after] = (place){total, at, -1, true};
            }
            reach = after > reach ? after : reach;
        }
    }
    if (is_done) {
        int64_t *stops = calloc((size_t)n + 1, sizeof *stops), n_stops = 0;
        REQUIRE(stops);
        for (int64_t at = n; at > 0; at = best[at].start) {
            stops[n_stops++] = at;
        }
        bool unknown = *was_unknown;
        while (n_stops) {
            const int64_t stop = stops[--n_stops], start = best[stop].start;
            int64_t end = stop;
            if (best[stop].piece >= 0) {
                ids[(*n_ids)++] = (int32_t)best[stop].piece + 1;
                unknown = false;
                continue;
            }
            if (m->single) {
                for (int64_t i = start; i < stop && m->n_byte_ids; i++) {
                    ids[(*n_ids)++] = m->byte_ids[text[i]];
                }
                if (!m->n_byte_ids && !unknown) {
                    ids[(*n_ids)++] = 0;
                }
                unknown = true;
                continue;
            }
            /* A run of unknown characters: a piece, its bytes, or one id. */
            while (n_stops && best[stops[n_stops - 1]].piece < 0) {
                end = stops[--n_stops];
            }
            bool has_all = m->n_byte_ids > 0;
            int64_t found = -1;
            for (int64_t i = start; i < end && has_all; i++) {
                has_all = m->byte_ids[text[i]] >= 0;
            }
            for (int64_t k = 0; k < u->n; k++) {
                if (u->pieces[k].n == end - start && !memcmp(u->pieces[k].bytes, text + start, (size_t)(end - start))) {
                    found = k + 1;
                }
            }
            if (found < 0 && has_all) {
                for (int64_t i = start; i < end; i++) {
                    ids[(*n_ids)++] = m->byte_ids[text[i]];
                }
            } else {
                ids[(*n_ids)++] = found < 0 ? 0 : (int32_t)found;
            }
        }
        *was_unknown = unknown && n ? unknown : *was_unknown;
        *was_unknown = n ? unknown : *was_unknown;
        *sum = best[n].sum;
        free(stops);
    }
    free(best);
    return is_done;
}

#endif
