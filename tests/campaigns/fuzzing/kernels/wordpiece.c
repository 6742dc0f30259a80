/* WordPiece, against longest match first, one code point at a time.

   A vocabulary from bytes becomes a trie with failure links (algorithm 2 of *Fast WordPiece Tokenization*, as printed),
   which is packed; the meaning of code points is up to the bytes, too, within the promises of wordpiece/codes.py. */
#include "wordpiece_twin.h"

static void *build(input *in) {
    tokenizer *t = calloc(1, sizeof *t);
    REQUIRE(t);
    read_entries(t, in);
    build_trie(t);
    build_codes(t, in);
    return t;
}

/* Buffers for texts of so many bytes; see end_to_end.py. A call pauses after some bytes, or never. */
static tokdfa_wordpiece_buffers buffers_of(arena *memory, const tokenizer *t, int64_t n_bytes, bool offsets, int64_t at_a_time) {
    const int64_t limit = t->tables.longest_word;
    int64_t symbols = limit < 0 || limit > n_bytes ? n_bytes : limit;
    symbols = 1 + (symbols < TOKDFA_LONGEST_INDEXED ? TOKDFA_LONGEST_INDEXED : symbols);
    return (tokdfa_wordpiece_buffers){
        .ids = ROOM(memory, int32_t, n_bytes + 1), .begins = ROOM(memory, int64_t, offsets ? n_bytes + 1 : 0),
        .ends = ROOM(memory, int64_t, offsets ? n_bytes + 1 : 0), .n_ends = offsets ? n_bytes + 1 : 0,
        .symbols = ROOM(memory, int32_t, symbols), .n_symbols = symbols,
        .sources = ROOM(memory, int64_t, offsets ? 2 * symbols : 0), .lengths = ROOM(memory, int32_t, symbols),
        .at_a_time = at_a_time,
    };
}

static void encode(const tokenizer *t, input *in) {
    enum { MOST_TEXTS = 4, MOST_POINTS = 700 };
    arena memory = {NULL, 0, 0};
    uint8_t which[MOST_POINTS];
    int64_t n = 0, begins[MOST_TEXTS + 1];
    const int64_t n_texts = between(in, 1, MOST_TEXTS), shift = take(in), at_a_time = shift & 0x40 ? 1 + (shift & 0x1F) : 0;
    while (has_more(in) && n < MOST_POINTS) {
        const uint8_t what = take(in);
        if (what < 0xF0 || !n) {
            which[n++] = (uint8_t)((what + (what < 128 ? 0 : shift)) % N_POINTS);
        } else {
            const int64_t period = 1 + (what & 3) % n, times = 1 + take(in) % 20;
            for (int64_t i = 0; i < period * times && n < MOST_POINTS; i++, n++) {
                which[n] = which[n - period];
            }
        }
    }
    uint8_t *bytes = ROOM(&memory, uint8_t, 4 * n + MOST_TEXTS);
    int64_t size = 0, stops[MOST_TEXTS];
    for (int64_t text = 0; text < n_texts; text++) {
        begins[text] = n * text / n_texts;
        begins[text + 1] = n * (text + 1) / n_texts;
        for (int64_t i = begins[text]; i < begins[text + 1]; i++) {
            size += put_utf8(bytes + size, points[which[i]]);
        }
        stops[text] = size;
        if (text + 1 < n_texts) {
            bytes[size++] = '\n';
        }
    }
    uint8_t *data = ROOM(&memory, uint8_t, size);
    memcpy(data, bytes, (size_t)size);
    gathered *word = ROOM(&memory, gathered, 4 * n + 1);
    tokens expected = {ROOM(&memory, int32_t, 4 * n + 1), ROOM(&memory, int64_t, 4 * n + 1),
                       ROOM(&memory, int64_t, 4 * n + 1), 0};
    for (int mode = 0; mode < 3; mode++) {
        /* Without offsets, and in code points and bytes. */
        tokdfa_wordpiece_buffers buffers = buffers_of(&memory, t, size, mode > 0, at_a_time);
        int64_t *rows = ROOM(&memory, int64_t, n_texts + 1);
        int64_t made, n_pauses = 0;
        while ((made = tokdfa_encode_wordpiece(&t->tables, data, size, stops, n_texts, mode == 2, &buffers, rows)) < 0) {
            REQUIRE(made == -1 && at_a_time && ++n_pauses <= size);
        }
        expected.n = 0;
        for (int64_t text = 0; text < n_texts; text++) {
            REQUIRE(rows[text] == expected.n);
            tokenize(t, which + begins[text], begins[text + 1] - begins[text], mode == 2, word, &expected);
        }
        REQUIRE(made == expected.n && rows[n_texts] == made);
        REQUIRE(!memcmp(buffers.ids, expected.ids, (size_t)made * sizeof *buffers.ids));
        for (int64_t i = 0; i < made && mode; i++) {
            REQUIRE(buffers.begins[i] == expected.begins[i] && buffers.ends[i] == expected.ends[i]);
        }
    }
    /* One text by itself. */
    uint8_t *first = ROOM(&memory, uint8_t, stops[0]);
    memcpy(first, bytes, (size_t)stops[0]);
    tokdfa_wordpiece_buffers buffers = buffers_of(&memory, t, stops[0], false, at_a_time);
    expected.n = 0;
    tokenize(t, which, begins[1], false, word, &expected);
    int64_t made;
    while ((made = tokdfa_encode_wordpiece_text(&t->tables, first, stops[0], &buffers)) < 0) {
        REQUIRE(made == -1 && buffers.is_paused && at_a_time);
    }
    REQUIRE(made == expected.n && !buffers.is_paused);
    REQUIRE(!memcmp(buffers.ids, expected.ids, (size_t)expected.n * sizeof *buffers.ids));
    /* The same text again and again, as long as there is room for one token a byte and one more. */
    const int64_t n_shared = between(in, 1, 3) * (stops[0] + 1);
    tokdfa_wordpiece_buffers short_buffers = buffers_of(&memory, t, n_shared - 1, false, 0);
    tokdfa_wordpiece_shared shared = {&t->tables, &short_buffers, stops[0] - !between(in, 0, 7), n_shared, 0};
    int64_t used = 0;
    while (stops[0] <= shared.longest && used + stops[0] < n_shared) {
        made = tokdfa_encode_wordpiece_short(&shared, first, stops[0]);
        REQUIRE(made == (used << TOKDFA_SHARED_BITS | (used + expected.n)));
        used += expected.n;
        if (!expected.n) {
            break;
        }
    }
    REQUIRE(shared.n_used == used);
    if (expected.n || stops[0] > shared.longest) {
        REQUIRE(tokdfa_encode_wordpiece_short(&shared, first, stops[0]) == -1);
    }
    for (int64_t at = 0; at < used; at += expected.n) {
        REQUIRE(!memcmp(short_buffers.ids + at, expected.ids, (size_t)expected.n * sizeof *buffers.ids));
    }
    give_back(&memory);
}

/* Single words, with any code points. */
static void match_words(const tokenizer *t, input *in) {
    arena memory = {NULL, 0, 0};
    for (int round = 0; round < 8 && has_more(in); round++) {
        const int64_t n = between(in, 1, 60);
        uint8_t spelled[240];
        int64_t size = 0;
        gathered *symbols = ROOM(&memory, gathered, n);
        const int64_t letters = between(in, 1, N_LETTERS);
        for (int64_t i = 0; i < n; i++) {
            const int what = take(in);
            const int32_t point = what < 0xF0 ? points[what % letters] : (what << 16 | take(in) << 8 | take(in)) % 0x110000;
            size += put_utf8(spelled + size, point);
            symbols[i] = (gathered){symbol_of(t, point), i, i + 1};
        }
        uint8_t *word = ROOM(&memory, uint8_t, size);
        memcpy(word, spelled, (size_t)size);
        int32_t *buffer = ROOM(&memory, int32_t, 3 * size), *again = ROOM(&memory, int32_t, 3 * size);
        tokens expected = {ROOM(&memory, int32_t, n), ROOM(&memory, int64_t, n), ROOM(&memory, int64_t, n), 0};
        const bool matches = match(t, symbols, n, &expected);
        const int64_t made = tokdfa_match_word(&t->trie, word, size, buffer);
        REQUIRE(made == (matches ? expected.n : -1));
        for (int64_t i = 0; i < made; i++) {
            REQUIRE(buffer[i] == expected.ids[i] && buffer[size + i] == expected.ends[i] - expected.begins[i]);
        }
        REQUIRE(tokdfa_count_cells_read(&t->trie, word, size, again) <= 3 * n + 1);
    }
    give_back(&memory);
}

static void use(const void *shared, input *in) {
    if (take(in) % 4 == 0) {
        match_words(shared, in);
    } else {
        encode(shared, in);
    }
}

static void release(void *shared) {
    tokenizer *t = shared;
    give_back(&t->memory);
    free(t);
}

const target wordpiece_target = {"wordpiece", build, use, release};
