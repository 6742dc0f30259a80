/* Training, counting pieces, and merging by priority, against definitions that count everything afresh. */
#include "../../../../tokdfa/kernels/train/api.h"
#include "train_merges.h"

enum { FIXED, FIRST_SEEN, SENTENCEPIECE, SUBWORD_NMT };
enum { MOST_SYMBOLS = 6, MOST_MERGES = 24, MOST_TEXT = 192, MOST_TOKENS = MOST_SYMBOLS + MOST_MERGES };

/* A corpus as the definition has it. Symbol s is spelled by a unit of its own, and perhaps by one more. */
typedef struct {
    int64_t n_text, n_symbols, n_tokens, merges, least, longest;
    int32_t text[MOST_TEXT];
    int64_t weight[MOST_TEXT];
    int64_t spelled[MOST_TOKENS], *units[MOST_TOKENS], length[MOST_TOKENS], rank[MOST_TOKENS];
    int tie;
    bool overlapping, has_ranks;
    arena memory;
} corpus;

static corpus *read_corpus(input *in) {
    corpus *c = calloc(1, sizeof *c);
    REQUIRE(c);
    c->n_symbols = between(in, 1, MOST_SYMBOLS);
    c->merges = below(in, MOST_MERGES + 1);
    c->tie = (int)below(in, 4);
    const int flags = take(in);
    c->overlapping = flags & 1;
    c->has_ranks = flags & 2 && c->tie == FIXED;
    c->least = 1 + (flags >> 2 & 3);
    c->longest = flags & 16 ? below(in, 6) : 1 << 20;
    c->n_tokens = c->n_symbols + c->merges;
    for (int64_t s = 0; s < c->n_symbols; s++) {
        const int64_t more = take(in) & 1;
        c->spelled[s] = 1 + more;
        c->units[s] = ROOM(&c->memory, int64_t, 2);
        c->units[s][0] = 2 * (s * 5 % 7);
        c->units[s][1] = 7;
        c->length[s] = 1;
    }
    for (int64_t token = 0; token < c->n_tokens; token++) {
        c->rank[token] = token;
    }
    for (int64_t s = 0; s < c->n_symbols; s++) {
        const int64_t other = below(in, c->n_symbols), rank = c->rank[s];
        c->rank[s] = c->rank[other];
        c->rank[other] = rank;
    }
    c->text[c->n_text++] = -1;
    int64_t weight = 1;
    while (has_more(in) && c->n_text < MOST_TEXT - 1) {
        const int what = take(in);
        if (what >= 0xE0) {
            if (c->text[c->n_text - 1] >= 0) {
                c->text[c->n_text] = -1;
                c->weight[c->n_text++] = 0;
            }
            weight = what & 15;
        } else {
            c->text[c->n_text] = (int32_t)(what % c->n_symbols);
            c->weight[c->n_text++] = weight;
        }
    }
    c->text[c->n_text] = -1;
    c->weight[c->n_text++] = 0;
    return c;
}

static int compare_units(const int64_t *a, int64_t n, const int64_t *b, int64_t m) {
    for (int64_t i = 0; i < n && i < m; i++) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return (n > m) - (n < m);
}

typedef struct {
    int64_t u, v, count, place, age;
} counted;

/* Whether pair `a` is merged before the equally frequent pair `b`. */
static bool is_first(const corpus *c, const counted *a, const counted *b, arena *memory) {
    if (c->tie == FIRST_SEEN) {
        return a->place < b->place;
    }
    if (c->tie == FIXED) {
        if (!c->has_ranks) {
            return a->age < b->age;
        }
        return c->rank[a->u] != c->rank[b->u] ? c->rank[a->u] < c->rank[b->u] : c->rank[a->v] < c->rank[b->v];
    }
    if (c->tie == SENTENCEPIECE) {
        const int64_t n = c->length[a->u] + c->length[a->v], m = c->length[b->u] + c->length[b->v];
        if (n != m) {
            return n < m;
        }
        int64_t *both[2], sizes[2];
        const counted *pairs[2] = {a, b};
        for (int k = 0; k < 2; k++) {
            const int64_t u = pairs[k]->u, v = pairs[k]->v;
            sizes[k] = c->spelled[u] + c->spelled[v];
            both[k] = ROOM(memory, int64_t, sizes[k]);
            memcpy(both[k], c->units[u], (size_t)c->spelled[u] * sizeof **both);
            memcpy(both[k] + c->spelled[u], c->units[v], (size_t)c->spelled[v] * sizeof **both);
        }
        const int order = compare_units(both[0], sizes[0], both[1], sizes[1]);
        return order ? order < 0 : c->length[a->u] < c->length[b->u];
    }
    int order = compare_units(c->units[a->u], c->spelled[a->u], c->units[b->u], c->spelled[b->u]);
    order = order ? order : compare_units(c->units[a->v], c->spelled[a->v], c->units[b->v], c->spelled[b->v]);
    return order > 0;
}

/* Train by definition: count every pair afresh, merge the best one, repeat. Returns the number of rules. */
static int64_t train_naively(corpus *c, int32_t *left, int32_t *right, int64_t *gain) {
    static const int64_t never = INT64_MAX;
    const int64_t n_all = c->n_tokens;
    int64_t *age = ROOM(&c->memory, int64_t, n_all * n_all), n_aged = 0, made = 0;
    for (int64_t i = 0; i < n_all * n_all; i++) {
        age[i] = never;
    }
    int32_t text[MOST_TEXT];
    int64_t weight[MOST_TEXT], n = c->n_text;
    memcpy(text, c->text, sizeof text);
    memcpy(weight, c->weight, sizeof weight);
    for (; made < c->merges; made++) {
        arena memory = {NULL, 0, 0};
        counted *pairs = ROOM(&memory, counted, n);
        int64_t n_pairs = 0, taken = -1;
        for (int64_t at = 0; at + 1 < n; at++) {
            const int64_t u = text[at], v = text[at + 1];
            if (u < 0 || v < 0) {
                continue;
            }
            int64_t row = 0;
            while (row < n_pairs && (pairs[row].u != u || pairs[row].v != v)) {
                row++;
            }
            if (row == n_pairs) {
                if (age[u * n_all + v] == never) {
                    age[u * n_all + v] = n_aged++;
                }
                pairs[n_pairs++] = (counted){u, v, 0, at, age[u * n_all + v]};
            }
            if (c->overlapping || u != v) {
                pairs[row].count += weight[at];
            } else if (taken != at) {
                pairs[row].count += weight[at];
                taken = at + 1;
            }
        }
        const counted *best = NULL;
        for (int64_t row = 0; row < n_pairs; row++) {
            const counted *pair = pairs + row;
            if (pair->count < c->least || c->length[pair->u] + c->length[pair->v] > c->longest) {
                continue;
            }
            if (!best || pair->count > best->count ||
                (pair->count == best->count && is_first(c, pair, best, &memory))) {
                best = pair;
            }
        }
        if (!best) {
            give_back(&memory);
            break;
        }
        const int64_t u = best->u, v = best->v, product = c->n_symbols + made;
        left[made] = (int32_t)u;
        right[made] = (int32_t)v;
        gain[made] = 0;
        int64_t kept = 0;
        for (int64_t at = 0; at < n; kept++) {
            const bool merges = at + 1 < n && text[at] == u && text[at + 1] == v;
            gain[made] += merges ? weight[at] : 0;
            text[kept] = merges ? (int32_t)product : text[at];
            weight[kept] = weight[at];
            at += merges ? 2 : 1;
        }
        n = kept;
        c->length[product] = c->length[u] + c->length[v];
        c->spelled[product] = c->spelled[u] + c->spelled[v];
        c->units[product] = ROOM(&c->memory, int64_t, c->spelled[product]);
        memcpy(c->units[product], c->units[u], (size_t)c->spelled[u] * sizeof(int64_t));
        memcpy(c->units[product] + c->spelled[u], c->units[v], (size_t)c->spelled[v] * sizeof(int64_t));
        give_back(&memory);
    }
    return made;
}

static void train(input *in) {
    const int64_t pause = below(in, MOST_MERGES + 1), patience = 1 + pause;
    corpus *c = read_corpus(in);
    arena *memory = &c->memory;
    const int64_t n = c->n_text, n_tokens = c->n_tokens;
    tokdfa_corpus given = {
        .text = ROOM(memory, int32_t, n),
        .n_text = n,
        .weight = ROOM(memory, int64_t, n),
        .length = ROOM(memory, int32_t, n_tokens),
        .n_length = n_tokens,
        .rank = ROOM(memory, int32_t, c->has_ranks ? n_tokens : 0),
        .n_rank = c->has_ranks ? n_tokens : 0,
        .left = ROOM(memory, int32_t, c->merges),
        .right = ROOM(memory, int32_t, c->merges),
        .gain = ROOM(memory, int64_t, c->merges),
        .n_symbols = c->n_symbols,
        .least = c->least,
        .longest = c->longest,
        .tie = c->tie,
        .overlapping = c->overlapping,
    };
    memcpy(given.text, c->text, (size_t)n * sizeof *c->text);
    memcpy((int64_t *)given.weight, c->weight, (size_t)n * sizeof *c->weight);
    for (int64_t token = 0; token < n_tokens; token++) {
        given.length[token] = 1;
        if (c->has_ranks) {
            ((int32_t *)given.rank)[token] = (int32_t)c->rank[token];
        }
    }
    const bool is_spelled = c->tie >= SENTENCEPIECE;
    int64_t n_units = 0;
    int64_t *unit_at = ROOM(memory, int64_t, is_spelled ? n + 1 : 0);
    for (int64_t at = 0; at < n && is_spelled; at++) {
        unit_at[at] = n_units;
        n_units += c->text[at] < 0 ? 0 : c->spelled[c->text[at]];
        unit_at[at + 1] = n_units;
    }
    int32_t *units = ROOM(memory, int32_t, n_units);
    for (int64_t at = 0; at < n && is_spelled; at++) {
        for (int64_t i = unit_at[at]; i < unit_at[at + 1]; i++) {
            units[i] = (int32_t)c->units[c->text[at]][i - unit_at[at]];
        }
    }
    given.units = units;
    given.unit_at = unit_at;
    tokdfa_training *training;
    POINTER_WITH_MEMORY(training, tokdfa_begin_training(&given));
    int64_t made = 0, first, before, more;
    do {
        WITH_MEMORY(more, tokdfa_find_pairs(training, patience));
    } while (more);
    WITH_MEMORY(first, tokdfa_train(training, pause < c->merges ? pause : c->merges, n + 1));
    REQUIRE(first >= 0 && first <= pause);
    do {
        before = made;
        WITH_MEMORY(made, tokdfa_train(training, c->merges, patience));
    } while (made > before);
    tokdfa_end_training(training);
    int32_t *left = ROOM(memory, int32_t, c->merges), *right = ROOM(memory, int32_t, c->merges);
    int64_t *gain = ROOM(memory, int64_t, c->merges);
    REQUIRE(train_naively(c, left, right, gain) == made);
    for (int64_t i = 0; i < made; i++) {
        REQUIRE(left[i] == given.left[i] && right[i] == given.right[i] && gain[i] == given.gain[i]);
        REQUIRE(given.length[c->n_symbols + i] == c->length[c->n_symbols + i]);
    }
    give_back(memory);
    free(c);
}

/* Pieces of a text, in several calls, against a list that is searched from the front. */
static void count_pieces(input *in) {
    arena memory = {NULL, 0, 0};
    typedef struct {
        const uint8_t *bytes;
        int64_t length, count;
    } known_piece;
    enum { MOST_PIECES = 64 };
    known_piece known[4 * MOST_PIECES];
    int64_t n_known = 0, n_bytes = 0;
    tokdfa_pieces *pieces;
    POINTER_WITH_MEMORY(pieces, tokdfa_new_pieces());
    const int calls = (int)between(in, 1, 4);
    for (int call = 0; call < calls; call++) {
        const int64_t n_spans = below(in, MOST_PIECES + 1);
        const bool has_weights = take(in) & 1;
        const int64_t size = left_in(in) / (calls - call), letters = between(in, 1, 256);
        uint8_t *text = ROOM(&memory, uint8_t, size);
        for (int64_t i = 0; i < size; i++) {
            text[i] = (uint8_t)(take(in) % letters);
        }
        int64_t *spans = ROOM(&memory, int64_t, 2 * n_spans), *weights = ROOM(&memory, int64_t, n_spans), n = 0;
        uint64_t dice = (uint64_t)size * 0x9E3779B97F4A7C15u + (uint64_t)n_spans;
        for (int64_t i = 0; i < n_spans && size; i++) {
            dice = (dice ^ dice >> 29) * 0xBF58476D1CE4E5B9u + text[i % size];
            const int64_t start = (int64_t)(dice >> 33) % size, most = size - start;
            const int64_t cap = dice & 16 ? 8 : dice & 32 ? 40 : most, length = 1 + (int64_t)(dice >> 8 & 0xFFF) % (most < cap ? most : cap);
            spans[2 * n] = start;
            spans[2 * n + 1] = start + length;
            weights[n] = (int64_t)(dice & 7);
            n++;
        }
        int64_t status;
        WITH_MEMORY(status, tokdfa_add_pieces(pieces, text, size, spans, n, has_weights ? weights : NULL));
        REQUIRE(status == 0);
        for (int64_t i = 0; i < n; i++) {
            const uint8_t *bytes = text + spans[2 * i];
            const int64_t length = spans[2 * i + 1] - spans[2 * i];
            int64_t row = 0;
            while (row < n_known && (known[row].length != length || memcmp(known[row].bytes, bytes, (size_t)length))) {
                row++;
            }
            if (row == n_known) {
                known[n_known++] = (known_piece){bytes, length, 0};
                n_bytes += length;
            }
            known[row].count += has_weights ? weights[i] : 1;
        }
    }
    REQUIRE(pieces->n_pieces == n_known && pieces->n_bytes == n_bytes);
    uint8_t *bytes = ROOM(&memory, uint8_t, n_bytes);
    int64_t *ends = ROOM(&memory, int64_t, n_known), *counts = ROOM(&memory, int64_t, n_known), begin = 0;
    tokdfa_copy_pieces(pieces, bytes, ends, counts);
    for (int64_t row = 0; row < n_known; row++) {
        REQUIRE(ends[row] - begin == known[row].length && counts[row] == known[row].count);
        REQUIRE(!memcmp(bytes + begin, known[row].bytes, (size_t)known[row].length));
        begin = ends[row];
    }
    tokdfa_free_pieces(pieces);
    give_back(&memory);
}

static void *build(input *in) {
    (void)in;
    return NULL;
}

static void use(const void *shared, input *in) {
    (void)shared;
    switch (take(in) % 4) {
    case 0:
        count_pieces(in);
        break;
    case 1:
        merge(in);
        break;
    default:
        train(in);
    }
}

static void release(void *shared) {
    (void)shared;
}

const target train_target = {"train", build, use, release};
