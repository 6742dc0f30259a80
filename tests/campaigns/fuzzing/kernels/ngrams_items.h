/* A vocabulary, ways to read words, and items with their n-grams, from bytes; n-grams by definition. */
#ifndef TOKDFA_NGRAMS_ITEMS_H
#define TOKDFA_NGRAMS_ITEMS_H

#include "../../../../tokdfa/kernels/search/api.h"
#include "harness.h"

enum { MOST_TOKENS = 24, LONGEST_TOKEN = 300, MOST_ITEMS = 6, MOST_ITEM_BYTES = 120, MOST_N = 4, LEFT_OUT = 256 };
enum { COMPLETE = 255, N_HELD = 4, N_OF_EFFECT = 2, N_SPACES = 7, N_PIECES = 16, N_IN_ITEMS = 9 };

static const char *const spaces[N_SPACES] = {
    " ", "\n", "\xC2\xA0", "\xC2\x85", "\xE1\x9A\x80", "\xE2\x80\x89", "\xE3\x80\x80",
};

typedef struct {
    arena memory;
    uint16_t letters[256];
    tokdfa_spelled text;
    tokdfa_word_reader reader;
    tokdfa_ngram_set set;
    int64_t n_ngrams, n_items, longest;
    const int64_t *item_of; /* by occurrence */
    const int64_t *owners;
    const int32_t *owned;
    int64_t n_owned;
} contamination;

/* The number of bytes of the white space that a text begins with; 0 if there is none. */
static inline int64_t space_at(const uint8_t *text, int64_t n) {
    for (int i = 0; i < N_SPACES; i++) {
        const int64_t length = (int64_t)strlen(spaces[i]);
        if (length <= n && !memcmp(text, spaces[i], (size_t)length)) {
            return length;
        }
    }
    return 0;
}

/* The words of a text, one space after each, written to `words`; `ends` has where they end. Returns their number. */
static inline int64_t split_words(const uint16_t *letters, const uint8_t *text, int64_t n, uint8_t *words,
                                  int64_t *ends) {
    int64_t n_words = 0, size = 0, begin = 0;
    for (int64_t at = 0; at <= n;) {
        const int64_t space = at < n ? space_at(text + at, n - at) : 1;
        if (space == 0) {
            const uint16_t letter = letters[text[at++]];
            if (letter != LEFT_OUT) {
                words[size++] = (uint8_t)letter;
            }
            continue;
        }
        at += space;
        if (size > begin) {
            ends[n_words++] = size;
            words[size++] = ' ';
            begin = size;
        }
    }
    return n_words;
}

static void read_spaces(contamination *c) {
    enum { MOST_NODES = 16 };
    uint8_t rows[MOST_NODES * 256] = {0}, held[MOST_NODES * N_HELD] = {0};
    int64_t n = 1;
    for (int i = 0; i < N_SPACES; i++) {
        const uint8_t *bytes = (const uint8_t *)spaces[i];
        const int64_t length = (int64_t)strlen(spaces[i]);
        int64_t node = 0;
        for (int64_t at = 0; at + 1 < length; at++) {
            if (!rows[256 * node + bytes[at]]) {
                rows[256 * node + bytes[at]] = (uint8_t)n;
                held[N_HELD * n] = (uint8_t)(at + 1);
                memcpy(held + N_HELD * n + 1, bytes, (size_t)at + 1);
                n++;
            }
            node = rows[256 * node + bytes[at]];
        }
        rows[256 * node + bytes[length - 1]] = COMPLETE;
    }
    c->reader.spaces = exactly(&c->memory, rows, 256 * n, 1);
    c->reader.n_spaces = 256 * n;
    c->reader.held = exactly(&c->memory, held, N_HELD * n, 1);
}

/* Letters as they are, or as lm-eval-harness reads them: in lower case, without punctuation. */
static void read_letters(contamination *c, input *in) {
    const bool changes = take(in) & 1;
    for (int byte = 0; byte < 256; byte++) {
        const bool is_upper = byte >= 'A' && byte <= 'Z', is_left_out = byte == '.' || byte == '\'';
        c->letters[byte] = (uint16_t)(!changes ? byte : is_left_out ? LEFT_OUT : is_upper ? byte + 32 : byte);
    }
    c->reader.letters = exactly(&c->memory, c->letters, 256, sizeof *c->letters);
}

/* A piece of a token or, of the first ones, which are UTF-8, of an item; returns the number of its bytes. */
static int64_t read_piece(input *in, int n, uint8_t *to) {
    static const char *const pieces[] = {"a",    "b",    " ",    "A",    ".",        "\n",   "\xC2\xA0", "\xE2\x80\x94",
                                         "ab a", "\x80", "\x89", "\xA0", "\xE2\x80", "\xC2", "\xE1\x9A", "\xE2"};
    const char *piece = pieces[take(in) % n];
    memcpy(to, piece, strlen(piece));
    return (int64_t)strlen(piece);
}

static void read_tokens(contamination *c, input *in) {
    const int64_t n = between(in, 1, MOST_TOKENS);
    uint8_t bytes[MOST_TOKENS * (LONGEST_TOKEN + 4)];
    int64_t starts[MOST_TOKENS + 1] = {0}, size = 0;
    for (int64_t token = 0; token < n; token++) {
        const int what = take(in);
        const int64_t begin = size, n_pieces = what & 3;
        starts[token] = begin << 1 | (what >= 0xF0);
        for (int64_t i = 0; i < n_pieces; i++) {
            size += read_piece(in, N_PIECES, bytes + size);
        }
        if (what == 0x80) { /* longer than the powers of the kernel */
            memset(bytes + size, 'a', LONGEST_TOKEN - 20);
            size += LONGEST_TOKEN - 20;
        }
    }
    starts[n] = size << 1;
    c->text = (tokdfa_spelled){
        .bytes = exactly(&c->memory, bytes, size, 1), .n_bytes = size,
        .starts = exactly(&c->memory, starts, n + 1, sizeof *starts), .n_starts = n + 1,
    };
    c->reader.text = &c->text;
}

/* Which items have each n-gram, by definition. */
static void find_owners(contamination *c) {
    const int64_t n = c->set.n_of_item;
    int64_t *owners = ROOM(&c->memory, int64_t, c->n_ngrams + 1);
    int32_t *owned = ROOM(&c->memory, int32_t, n);
    c->n_owned = 0;
    for (int64_t ngram = 0; ngram < c->n_ngrams; ngram++) {
        owners[ngram] = c->n_owned;
        for (int64_t i = 0; i < n; i++) {
            const int32_t item = (int32_t)c->item_of[i];
            if (c->set.of_item[i] == ngram && (c->n_owned == owners[ngram] || owned[c->n_owned - 1] != item)) {
                owned[c->n_owned++] = item;
            }
        }
    }
    owners[c->n_ngrams] = c->n_owned;
    c->owners = owners;
    c->owned = exactly(&c->memory, owned, c->n_owned, sizeof *owned);
}

/* The first n-gram that is equal to an occurrence has the number of that occurrence, or the next one. */
static void check_numbers(const contamination *c, const int64_t *spans, int64_t n) {
    const tokdfa_ngram_set *set = &c->set;
    int32_t n_found = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t size = spans[2 * i + 1] - spans[2 * i];
        int32_t expected = n_found;
        for (int64_t k = 0; k < i && expected == n_found; k++) {
            if (spans[2 * k + 1] - spans[2 * k] == size &&
                !memcmp(set->bytes + spans[2 * k], set->bytes + spans[2 * i], (size_t)size)) {
                expected = set->of_item[k];
            }
        }
        REQUIRE(set->of_item[i] == expected);
        if (expected == n_found) {
            REQUIRE(set->spans[2 * n_found] == spans[2 * i] && set->spans[2 * n_found + 1] == spans[2 * i + 1]);
            n_found++;
        }
    }
    REQUIRE(n_found == c->n_ngrams);
}

static void read_items(contamination *c, input *in) {
    const int64_t n_items = below(in, MOST_ITEMS + 1), n = between(in, 1, MOST_N);
    uint8_t bytes[MOST_ITEMS * (MOST_ITEM_BYTES + 8)], text[MOST_ITEM_BYTES + 8];
    int64_t items[MOST_ITEMS + 1] = {0}, ends[MOST_ITEM_BYTES], size = 0, n_found = 0;
    int64_t *spans = ROOM(&c->memory, int64_t, 2 * MOST_ITEMS * MOST_ITEM_BYTES);
    int64_t *item_of = ROOM(&c->memory, int64_t, MOST_ITEMS * MOST_ITEM_BYTES);
    for (int64_t item = 0; item < n_items; item++) {
        const int64_t n_pieces = below(in, MOST_ITEM_BYTES / 4);
        int64_t length = 0;
        for (int64_t i = 0; i < n_pieces; i++) {
            length += read_piece(in, N_IN_ITEMS, text + length);
        }
        const int64_t n_words = split_words(c->letters, text, length, bytes + size, ends);
        for (int64_t word = 0; word < n_words; word++) {
            const int64_t begin = word ? ends[word - 1] + 1 : 0;
            c->longest = ends[word] - begin > c->longest ? ends[word] - begin : c->longest;
            if (word + 1 >= n) {
                spans[2 * n_found] = size + (word >= n ? ends[word - n] + 1 : 0);
                spans[2 * n_found + 1] = size + ends[word];
                item_of[n_found++] = item;
            }
        }
        size += n_words ? ends[n_words - 1] : 0;
        items[item + 1] = size;
    }
    int64_t n_slots = 2;
    while (n_slots < 2 * n_found) {
        n_slots *= 2;
    }
    arena *memory = &c->memory;
    c->n_items = n_items;
    c->item_of = item_of;
    c->set = (tokdfa_ngram_set){
        .bytes = exactly(memory, bytes, size, 1), .n_bytes = size,
        .items = exactly(memory, items, n_items + 1, sizeof *items), .n_items = n_items + 1, .n = n,
        .ring = ROOM(memory, uint64_t, 2 * n), .n_ring = 2 * n, .of_item = ROOM(memory, int32_t, n_found),
        .n_of_item = n_found, .spans = ROOM(memory, int64_t, 2 * n_found), .n_spans = 2 * n_found,
        .n_filter = n_slots >= 8 ? n_slots / 8 : 1, .n_table = 2 * n_slots,
    };
    c->set.filter = ZEROS(memory, uint64_t, c->set.n_filter);
    c->set.table = ZEROS(memory, uint64_t, c->set.n_table);
    c->n_ngrams = tokdfa_number_ngrams(&c->reader, &c->set);
    check_numbers(c, spans, n_found);
    find_owners(c);
}

#endif
