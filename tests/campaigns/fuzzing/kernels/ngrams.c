/* N-grams of words in ids, against splitting the text of each document by definition.

   The vocabulary, the items, the ids, the documents and the chunks in which they come are up to the bytes. */
#include "ngrams_items.h"

enum { MOST_IDS = 400, MOST_STARTS = 6, MOST_STOPS = 4, N_COUNTS = 3, N_OF_ITEM = 2 };

static void *build(input *in) {
    contamination *c = calloc(1, sizeof *c);
    REQUIRE(c);
    read_spaces(c);
    read_letters(c, in);
    read_tokens(c, in);
    const int64_t n = N_OF_EFFECT * (c->text.n_starts - 1);
    uint64_t *effects = ZEROS(&c->memory, uint64_t, n);
    c->reader.effects = effects;
    c->reader.n_effects = n;
    tokdfa_word_effects(&c->reader, effects);
    read_items(c, in);
    return c;
}

/* The counts of each n-gram and of each item, as the kernel writes them, by definition. */
typedef struct {
    int64_t *counts, *of_items;
} result;

static result new_result(const contamination *c, arena *memory) {
    return (result){ZEROS(memory, int64_t, N_COUNTS * c->n_ngrams), ZEROS(memory, int64_t, N_OF_ITEM * c->n_items)};
}

static void count_one(const contamination *c, const result *r, int64_t ngram, int64_t document) {
    int64_t *counts = r->counts + N_COUNTS * ngram;
    counts[0]++;
    counts[1] += counts[2] != document;
    counts[2] = document;
    for (int64_t i = 0; i < c->set.n_of_item; i++) {
        int64_t *of_item = r->of_items + N_OF_ITEM * c->item_of[i];
        if (c->set.of_item[i] == ngram) {
            of_item[0] += of_item[1] != document;
            of_item[1] = document;
        }
    }
}

static void count_in_text(const contamination *c, const result *r, const uint8_t *text, int64_t n, int64_t document) {
    arena memory = {NULL, 0, 0};
    uint8_t *words = ROOM(&memory, uint8_t, 2 * n + 2);
    int64_t *ends = ROOM(&memory, int64_t, n + 1);
    const int64_t n_words = split_words(c->letters, text, n, words, ends), size = c->set.n;
    for (int64_t last = size - 1; last < n_words; last++) {
        const int64_t begin = last >= size ? ends[last - size] + 1 : 0, length = ends[last] - begin;
        for (int64_t ngram = 0; ngram < c->n_ngrams; ngram++) {
            const int64_t *span = c->set.spans + 2 * ngram;
            if (span[1] - span[0] == length && !memcmp(c->set.bytes + span[0], words + begin, (size_t)length)) {
                count_one(c, r, ngram, document);
            }
        }
    }
    give_back(&memory);
}

/* Texts end where documents begin, and at special tokens. */
static void count_by_definition(const contamination *c, const result *r, const int32_t *ids, int64_t n,
                                const int64_t *starts, int64_t n_starts) {
    arena memory = {NULL, 0, 0};
    uint8_t *text = ROOM(&memory, uint8_t, n * LONGEST_TOKEN);
    int64_t size = 0, document = 1, next = 0;
    for (int64_t i = 0; i <= n; i++) {
        const bool is_special = i < n && (c->text.starts[ids[i]] & 1);
        if (i == n || is_special || (next < n_starts && starts[next] == i)) {
            count_in_text(c, r, text, size, document);
            size = 0;
        }
        for (; next < n_starts && starts[next] == i; next++) {
            document++;
        }
        if (i < n && !is_special) {
            const int64_t begin = c->text.starts[ids[i]] >> 1, end = c->text.starts[ids[i] + 1] >> 1;
            memcpy(text + size, c->text.bytes + begin, (size_t)(end - begin));
            size += end - begin;
        }
    }
    give_back(&memory);
}

static tokdfa_ngram_tally new_tally(const contamination *c, const result *r, arena *memory, int64_t at_once) {
    const int64_t n = c->set.n, capacity = n * (c->longest + 2) + 2 * N_HELD;
    return (tokdfa_ngram_tally){
        .counts = r->counts, .n_counts = N_COUNTS * c->n_ngrams, .of_items = r->of_items,
        .n_of_items = N_OF_ITEM * c->n_items, .owners = c->owners, .owned = c->owned, .document = 1,
        .longest = c->longest, .carry = ROOM(memory, uint8_t, capacity), .n_filled = 0,
        .scratch = ROOM(memory, uint8_t, capacity), .n_carry = capacity,
        .hashes = ZEROS(memory, uint64_t, n + at_once), .ends = ZEROS(memory, uint64_t, n + at_once),
        .n_hashes = n + at_once,
    };
}

/* Count in chunks that end at `stops`; the documents that begin at the end of all belong to the last one. */
static void count_in_chunks(const contamination *c, tokdfa_ngram_tally *tally, const int32_t *ids, int64_t n,
                            const int64_t *starts, int64_t n_starts, const int64_t *stops, int64_t n_stops) {
    int64_t begin = 0, next = 0;
    for (int64_t step = 0; step <= n_stops; step++) {
        arena memory = {NULL, 0, 0};
        const int64_t stop = step < n_stops ? stops[step] : n;
        const int32_t *chunk = exactly(&memory, ids + begin, stop - begin, sizeof *ids);
        int64_t own[MOST_STARTS] = {0}, n_own = 0;
        for (; next < n_starts && (starts[next] < stop || step == n_stops); next++) {
            own[n_own++] = starts[next] - begin;
        }
        const int64_t *given = exactly(&memory, own, n_own, sizeof *own);
        tokdfa_count_ngrams(&c->reader, &c->set, tally, chunk, stop - begin, given, n_own, step == n_stops);
        REQUIRE(tally->n_filled >= 0 && tally->n_filled <= tally->n_carry);
        begin = stop;
        give_back(&memory);
    }
}

static void read_places(input *in, int64_t *places, int64_t n_places, int64_t n) {
    for (int64_t i = 0; i < n_places; i++) {
        const int64_t place = below(in, n + 1);
        int64_t at = i;
        for (; at > 0 && places[at - 1] > place; at--) {
            places[at] = places[at - 1];
        }
        places[at] = place;
    }
}

static void use(const void *shared, input *in) {
    const contamination *c = shared;
    arena memory = {NULL, 0, 0};
    int64_t starts[MOST_STARTS], stops[MOST_STOPS], n = 0;
    const int64_t n_starts = below(in, MOST_STARTS + 1), n_stops = below(in, MOST_STOPS + 1);
    const int64_t at_once = between(in, 70, 200);
    const input places = {in->data, in->size, in->at};
    in->at = in->at + 20 < in->size ? in->at + 20 : in->size;
    int32_t *read = ROOM(&memory, int32_t, MOST_IDS);
    while (has_more(in) && n < MOST_IDS) {
        const int what = take(in);
        if (what < 0xF0 || n == 0) {
            read[n++] = (int32_t)(what % (c->text.n_starts - 1));
            continue;
        }
        const int64_t period = 1 + (what & 7) % n, times = take(in);
        for (int64_t i = 0; i < period * times && n < MOST_IDS; i++, n++) {
            read[n] = read[n - period];
        }
    }
    input of_places = places;
    read_places(&of_places, starts, n_starts, n);
    read_places(&of_places, stops, n_stops, n);
    const int32_t *ids = exactly(&memory, read, n, sizeof *read);
    const result expected = new_result(c, &memory), found = new_result(c, &memory);
    count_by_definition(c, &expected, ids, n, starts, n_starts);
    tokdfa_ngram_tally tally = new_tally(c, &found, &memory, at_once);
    count_in_chunks(c, &tally, ids, n, starts, n_starts, stops, n_stops);
    REQUIRE(!memcmp(found.counts, expected.counts, (size_t)tally.n_counts * sizeof *found.counts));
    REQUIRE(!memcmp(found.of_items, expected.of_items, (size_t)tally.n_of_items * sizeof *found.of_items));
    give_back(&memory);
}

static void release(void *shared) {
    contamination *c = shared;
    give_back(&c->memory);
    free(c);
}

const target ngrams_target = {"ngrams", build, use, release};
