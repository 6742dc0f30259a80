/* Unigram, against the definition: segmenting normalized texts, texts as they are given, and judging ids.

   Pieces, scores and arithmetic are up to the bytes. The memory of words is small, so that they meet in it; texts are
   segmented twice, and the room for nodes, ids and words grows. */
#include "unigram_twin.h"

enum { PAUSED = -1, NODES = -2, UNKNOWN = -3, FULL = -4, OTHERWISE = -5, LONG_WORD = -6, CROWDED = -7 };

static void *build(input *in) {
    unigram *u = calloc(1, sizeof *u);
    REQUIRE(u);
    build_model(u, in);
    return u;
}

static tokdfa_unigram_buffers buffers_of(arena *memory, int64_t n_ids, int64_t n_words, int64_t at_a_time) {
    return (tokdfa_unigram_buffers){
        .nodes = ROOM(memory, double, 2 * 2), .n_nodes = 2, .ids = ROOM(memory, int32_t, n_ids), .n_ids = n_ids,
        .at_a_time = at_a_time, .unknown_from = -1, .cache = ZEROS(memory, uint64_t, 32 * n_words), .n_cache = 32 * n_words,
        .overflow = ROOM(memory, uint64_t, 8 * n_words), .n_overflow = 8 * n_words, .most_dropped = n_words + n_ids % 4,
    };
}

static void grow_nodes(arena *memory, tokdfa_unigram_buffers *r) {
    const int64_t n = 2 * r->n_nodes > r->n_needed ? 2 * r->n_nodes : r->n_needed;
    r->nodes = ROOM(memory, double, 2 * n);
    r->n_nodes = n;
}

/* A text of symbols; without spaces if so wanted. */
static int64_t read_text(input *in, uint8_t *text, int64_t most, bool is_without) {
    int64_t n = 0, begin[MOST_SYMBOLS], at = 0;
    const int64_t wanted = below(in, most);
    while (n < wanted && has_more(in)) {
        const uint8_t what = take(in);
        if (what >= 0xE0 && n) {
            /* Some symbols again. */
            const int64_t back = 1 + what % 16, times = 1 + take(in) % 30, from = n < back ? 0 : n - back, size = at - begin[from];
            for (int64_t k = 0; k < times && at + size < LONGEST_SYMBOL * most; k++) {
                memcpy(text + at, text + begin[from], (size_t)size);
                at += size;
            }
            break;
        }
        int symbol = what % N_SYMBOLS;
        symbol = is_without && symbol == SPACE ? 0 : symbol;
        begin[n++] = at;
        at += put(text + at, symbol);
    }
    return at;
}

/* Sentences that are normalized. */
static void segment(const unigram *u, input *in) {
    enum { MOST_SENTENCES = 4 };
    arena memory = {NULL, 0, 0};
    const uint8_t shift = take(in);
    uint8_t *all = ROOM(&memory, uint8_t, MOST_SENTENCES * LONGEST_SYMBOL * MOST_SYMBOLS);
    int64_t ends[MOST_SENTENCES], n = u->tables.single ? 1 : 1 + shift % MOST_SENTENCES, size = 0;
    for (int64_t i = 0; i < n; i++) {
        size += read_text(in, all + size, MOST_SYMBOLS, false);
        ends[i] = size;
    }
    uint8_t *text = exactly(&memory, all, size, 1);
    int32_t *expected = ROOM(&memory, int32_t, size + 1);
    /* The sum so far, as if more text came before this one. */
    const double before = u->tables.single ? (double)(float)(-1.3e3 * (shift >> 1)) : 0;
    double sum = before;
    bool unknown = false, is_known = true;
    int64_t n_expected = 0;
    for (int64_t i = 0; i < n && is_known; i++) {
        const int64_t begin = i ? ends[i - 1] : 0;
        sum = u->tables.single ? sum : 0;
        unknown = u->tables.single && unknown;
        is_known = encode_by_definition(u, text + begin, ends[i] - begin, &sum, &unknown, expected, &n_expected);
    }
    tokdfa_unigram_buffers r = buffers_of(&memory, size, 1 + shift % 8, shift & 0x40 ? 1 + shift % 16 : 0);
    for (int round = 0; round < 3; round++) {
        if (round == 2) {
            /* Recorded. */
            r.sums = ROOM(&memory, double, size + 1);
            r.starts = MINUS_ONES(&memory, int64_t, size + 1);
            r.marks = ZEROS(&memory, uint8_t, size + 1);
            r.n_sums = r.n_starts = r.n_marks = size + 1;
        }
        r.sentence = r.at = r.n = 0;
        r.score = before;
        r.unknown_from = -1;
        int64_t made, n_pauses = 0;
        while ((made = tokdfa_segment(&u->tables, text, ends, n, &r)) < 0 && made != UNKNOWN) {
            REQUIRE(made == NODES || (made == PAUSED && r.at_a_time));
            REQUIRE(++n_pauses < 4 * size + 64);
            if (made == NODES) {
                grow_nodes(&memory, &r);
            }
        }
        REQUIRE((made == UNKNOWN) == !is_known);
        if (is_known) {
            REQUIRE(made == n_expected && !memcmp(r.ids, expected, (size_t)made * sizeof *expected));
            REQUIRE(!u->tables.single || (r.score == sum && (!size || (r.unknown_from >= 0) == unknown)));
        }
    }
    give_back(&memory);
}

/* A text as it is given: rules replace some symbols, spaces are trimmed or not. */
static void segment_given(const unigram *u, input *in) {
    enum { N_RULES = 5, MOST_TEXTS = 3 };
    static const char *const words[N_RULES] = {"\n", ".", "b\xC3\xA9", "x", "\xE6\x97\xA5"};
    static const char *const replacements[6] = {" ", "", "a b", "q", "  ", "aaaaaaaaaaaaaaaaaaaa"};
    arena memory = {NULL, 0, 0};
    const uint8_t flags = take(in), shift = take(in);
    uint8_t text[MOST_TEXTS * LONGEST_SYMBOL * MOST_SYMBOLS], rule_text[16], replaced[128];
    int64_t offsets[N_RULES + 1] = {0}, bounds[N_RULES + 1] = {0}, n_rules = 0, chosen[N_RULES];
    for (int64_t i = 0; i < N_RULES; i++) {
        if (!(shift >> i & 1)) {
            continue;
        }
        const char *by = replacements[take(in) % 6];
        chosen[n_rules] = i;
        memcpy(rule_text + offsets[n_rules], words[i], strlen(words[i]));
        memcpy(replaced + bounds[n_rules], by, strlen(by));
        offsets[n_rules + 1] = offsets[n_rules] + (int64_t)strlen(words[i]);
        bounds[n_rules + 1] = bounds[n_rules] + (int64_t)strlen(by);
        n_rules++;
    }
    uint64_t *touched = ZEROS(&memory, uint64_t, 0x110000 / 64);
    const uint32_t codes[N_RULES] = {'\n', '.', 0xE9, 'x', 0x65E5};
    for (int64_t i = 0; i < n_rules; i++) {
        touched[codes[chosen[i]] >> 6] |= (uint64_t)1 << (codes[chosen[i]] & 63);
    }
    touched[0x2581 >> 6] |= (uint64_t)1 << (0x2581 & 63);
    uint8_t *blank = ZEROS(&memory, uint8_t, 256);
    blank[' '] = 1;
    blank['\n'] = n_rules && !chosen[0] && bounds[1] == 1 && replaced[0] == ' ';
    uint8_t *blank_low = ZEROS(&memory, uint8_t, 16);
    for (int i = 0; i < 128; i++) {
        blank_low[i & 15] |= (uint8_t)(blank[i] << (i >> 4));
    }
    int32_t *rule_of, *unused;
    int64_t n_cells, n_kept;
    const int32_t *cells = trie_of(&memory, rule_text, offsets, n_rules, &n_cells, &rule_of);
    const bool has_kept = flags & 4;
    const int64_t kept_offsets[2] = {0, 2};
    const int32_t *kept = trie_of(&memory, (const uint8_t *)"a.", kept_offsets, has_kept, &n_kept, &unused);
    const tokdfa_unigram_texts t = {
        .model = &u->tables, .rules = cells, .n_rules = n_cells, .rule_of = rule_of,
        .replacements = exactly(&memory, replaced, bounds[n_rules], 1), .n_replacements = bounds[n_rules],
        .starts = exactly(&memory, bounds, n_rules, 8), .stops = exactly(&memory, bounds + 1, n_rules, 8),
        .kept = kept, .n_kept = n_kept, .blank = blank, .n_blank = 256, .blank_low = blank_low, .n_blank_low = 16, .touched = touched, .n_touched = 0x110000 / 64,
        .has_kept = has_kept,
        .puts_space = flags & 1, .trims_spaces = flags >> 1 & 1,
    };
    const int64_t n = 1 + (flags >> 5) % MOST_TEXTS;
    int64_t ends[MOST_TEXTS], size = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t begin = size;
        size += read_text(in, text + size, MOST_SYMBOLS / 3, true);
        /* Spaces and line ends. */
        for (int64_t at = begin; at < size; at++) {
            if (text[at] == 'q' && take(in) % 2) {
                text[at] = take(in) % 4 ? ' ' : '\n';
            }
        }
        ends[i] = size;
    }
    /* By definition: rules, then spaces, then the best way. */
    int32_t *expected = ROOM(&memory, int32_t, 24 * size + 64);
    int64_t n_expected = 0, expected_ends[MOST_TEXTS];
    for (int64_t i = 0; i < n; i++) {
        const int64_t begin = i ? ends[i - 1] : 0;
        uint8_t *one = ROOM(&memory, uint8_t, 24 * (ends[i] - begin) + 64), *two = ROOM(&memory, uint8_t, 72 * (ends[i] - begin) + 192);
        int64_t n_one = 0, n_two = 0;
        for (int64_t at = begin; at < ends[i];) {
            int64_t rule = -1, length = 0;
            if (has_kept && at + 2 <= ends[i] && !memcmp(text + at, "a.", 2)) {
                length = 2;
            } else {
                for (int64_t k = 0; k < n_rules; k++) {
                    const int64_t longer = offsets[k + 1] - offsets[k];
                    if (at + longer <= ends[i] && !memcmp(text + at, rule_text + offsets[k], (size_t)longer)) {
                        rule = k;
                        length = longer;
                    }
                }
            }
            length = length ? length : 1;
            const uint8_t *from = rule < 0 ? text + at : replaced + bounds[rule];
            const int64_t n_from = rule < 0 ? length : bounds[rule + 1] - bounds[rule];
            memcpy(one + n_one, from, (size_t)n_from);
            n_one += n_from;
            at += length;
        }
        while (t.trims_spaces && n_one && one[n_one - 1] == ' ') {
            n_one--;
        }
        int64_t at = 0;
        while (t.trims_spaces && at < n_one && one[at] == ' ') {
            at++;
        }
        if (t.puts_space && begin < ends[i] && (at < n_one || !t.trims_spaces)) {
            n_two += put(two + n_two, SPACE);
        }
        for (; at < n_one; at++) {
            if (one[at] != ' ') {
                two[n_two++] = one[at];
            } else if (!t.trims_spaces || one[at - 1] != ' ') {
                n_two += put(two + n_two, SPACE);
            }
        }
        double sum = 0;
        bool unknown = false;
        REQUIRE(encode_by_definition(u, two, n_two, &sum, &unknown, expected, &n_expected));
        expected_ends[i] = n_expected;
    }
    tokdfa_unigram_buffers r = buffers_of(&memory, 4, 1 + shift % 8, flags & 0x10 ? 1 + shift % 16 : 0);
    tokdfa_unigram_writer w = {.texts = &t, .buffers = &r, .word = ROOM(&memory, uint8_t, 8), .n_word = 8};
    const uint8_t *given = exactly(&memory, text, size, 1);
    for (int round = 0; round < 2; round++) {
        int64_t made, id_ends[MOST_TEXTS], n_calls = 0;
        w.text = w.is_begun = 0;
        r.n = 0;
        while ((made = tokdfa_segment_texts(given, ends, n, id_ends, &w)) < 0) {
            REQUIRE(made == NODES || made == FULL || made == LONG_WORD || made == CROWDED || (made == PAUSED && r.at_a_time));
            REQUIRE(++n_calls < 4 * size + 64);
            if (made == NODES) {
                grow_nodes(&memory, &r);
            } else if (made == FULL) {
                int32_t *ids = ROOM(&memory, int32_t, 2 * r.n_ids);
                memcpy(ids, r.ids, (size_t)r.n_ids * sizeof *ids);
                r.ids = ids;
                r.n_ids *= 2;
            } else if (made == CROWDED) {
                uint64_t *more = ZEROS(&memory, uint64_t, 4 * r.n_cache);
                tokdfa_move_words(r.cache, r.n_cache, more, 4 * r.n_cache);
                r.cache = more;
                r.n_cache *= 4;
                r.most_dropped = INT64_MAX;
            } else if (made == LONG_WORD) {
                w.n_word *= 2;
                w.word = ROOM(&memory, uint8_t, w.n_word);
            }
        }
        REQUIRE(made == n_expected && !memcmp(r.ids, expected, (size_t)made * sizeof *expected));
        REQUIRE(!memcmp(id_ends, expected_ends, (size_t)n * sizeof *id_ends));
    }
    give_back(&memory);
}

/* Ids: accepted words are the best way through the text of their pieces; others are written down, if asked for. */
static void judge(const unigram *u, input *in) {
    enum { MOST = 200, N_KINDS = MOST_PIECES + 2, N_IDS = FIRST_BYTE + 256 };
    arena memory = {NULL, 0, 0};
    const uint8_t shift = take(in);
    uint8_t bytes[N_KINDS * 6 * LONGEST_SYMBOL], *kinds = ZEROS(&memory, uint8_t, N_IDS);
    int64_t *bounds = ZEROS(&memory, int64_t, u->n + 3), *shown_bounds = ZEROS(&memory, int64_t, N_IDS + 1), n_shown = 0;
    uint8_t shown[sizeof bytes];
    const int64_t special = u->n + 1;
    for (int64_t i = 0; i < u->n; i++) {
        const piece *p = &u->pieces[i];
        memcpy(bytes + bounds[i + 1], p->bytes, (size_t)p->n);
        bounds[i + 2] = bounds[i + 1] + p->n;
        const bool is_spaced = p->n >= 3 && !memcmp(p->bytes, symbols[SPACE], 3);
        const bool is_doubtful = memchr(p->bytes, 'q', (size_t)p->n) != NULL;
        const bool is_shown = shift >> 4 & 1;
        kinds[i + 1] = (uint8_t)(1 | is_spaced << 1 | (is_spaced && p->n == 3) << 2 | is_doubtful << 3 | is_shown << 5);
        for (int64_t at = 0; at < p->n; at++) {
            const bool is_space = at + 3 <= p->n && !memcmp(p->bytes + at, symbols[SPACE], 3);
            shown[n_shown++] = is_space ? ' ' : p->bytes[at];
            at += is_space ? 2 : 0;
        }
        shown_bounds[i + 2] = n_shown;
    }
    for (int64_t id = u->n + 1; id < N_IDS; id++) {
        shown_bounds[id + 1] = n_shown;
    }
    memcpy(bytes + bounds[special], "qa", 2);
    bounds[special + 1] = bounds[special] + 2;
    const bool has_special = !u->tables.single && shift & 1;
    kinds[special] = has_special ? 16 : 0;
    int32_t *unused;
    int64_t n_specials;
    const int64_t offsets[2] = {0, 2};
    const int32_t *specials = trie_of(&memory, (const uint8_t *)"qa", offsets, has_special, &n_specials, &unused);
    const tokdfa_unigram_pieces p = {
        .model = &u->tables, .text = exactly(&memory, bytes, bounds[special + 1], 1), .bounds = bounds, .kinds = kinds,
        .n_kinds = N_IDS, .shown = exactly(&memory, shown, n_shown, 1), .shown_bounds = shown_bounds, .specials = specials, .n_specials = n_specials, .keeps_spaces = shift >> 1 & 1,
    };
    /* Ids of the best way through some text, some of them others. */
    uint8_t text[LONGEST_SYMBOL * MOST_SYMBOLS + 8];
    int64_t size = put(text, SPACE), n = 0;
    size += read_text(in, text + size, MOST_SYMBOLS / 2, false);
    int32_t *ids = ROOM(&memory, int32_t, size + 8);
    double sum = 0;
    bool unknown = false;
    if (!u->has_unknown) {
        n = 0;
    } else {
        for (int64_t at = 0; at < size;) {
            /* Words by themselves, as sums may begin anew. */
            int64_t stop = at + 3;
            while (stop < size && memcmp(text + stop, symbols[SPACE], size - stop < 3 ? (size_t)(size - stop) : 3)) {
                stop++;
            }
            stop = stop > size ? size : stop;
            sum = u->tables.single ? sum : 0;
            unknown = u->tables.single && unknown;
            if (!encode_by_definition(u, text + at, stop - at, &sum, &unknown, ids, &n)) {
                break;
            }
            at = stop;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        ids[i] = ids[i] >= FIRST_BYTE ? 0 : ids[i];
        const uint8_t what = take(in);
        ids[i] = what >= 0xF0 ? (int32_t)(take(in) % (u->n + 2)) : ids[i];
    }
    const int32_t *stream = exactly(&memory, ids, n, sizeof *ids);
    tokdfa_unigram_buffers r = buffers_of(&memory, 4096, 1 + shift % 8, 0);
    uint64_t *known = MINUS_ONES(&memory, uint64_t, 2 * 4);
    tokdfa_unigram_reader k = {
        .word = ROOM(&memory, uint8_t, 64), .n_word = 64, .known = known, .n_known = 8,
        .alone = ZEROS(&memory, uint8_t, u->n + 2), .n_alone = u->n + 2, .at_a_time = shift & 0x40 ? 1 + shift % 4 : MOST,
    };
    k.goes_on = shift >> 3 & 1;
    k.wrong = ROOM(&memory, int64_t, TOKDFA_WRONG_WORD * (n + 1));
    k.sums = ROOM(&memory, double, n + 1);
    k.right = ROOM(&memory, int32_t, 4096 + size * (n + 1));
    int64_t first = -1;
    for (int round = 0; round < 2; round++) {
        int64_t made, n_calls = 0;
        k.at = k.size = k.n_words = k.n_ids = 0;
        k.n_wrong = TOKDFA_WRONG_WORD;
        k.n_sums = k.n_right = 1;
        k.begins = shift >> 2 & 1;
        r.score = 0;
        r.unknown_from = -1;
        r.n = 0;
        while ((made = tokdfa_accept_ids(&p, stream, n, &k, &r)) < 0) {
            const bool is_full = made == TOKDFA_SEGMENT_WRONG;
            REQUIRE((made == NODES || made == PAUSED || is_full) && ++n_calls < 8 * n + 64);
            if (made == NODES) {
                grow_nodes(&memory, &r);
            } else if (is_full) {
                k.n_wrong = TOKDFA_WRONG_WORD * (n + 1);
                k.n_sums = n + 1;
                k.n_right = 4096 + size * (n + 1);
            }
        }
        REQUIRE(made <= n && (first < 0 || made == first));
        int64_t n_wrong = 0, n_right = 0;
        bool was = false;
        first = made;
        /* Each word by definition, with the running sum. */
        double total = 0;
        int64_t text_size = 0;
        for (int64_t at = 0; at < made;) {
            if (kinds[stream[at]] == 16) {
                total = 0;
                text_size += 2;
                at++;
                continue;
            }
            REQUIRE(kinds[stream[at]] & 2);
            uint8_t word[4096];
            int64_t stop = at, n_word = 0, n_made = 0;
            do {
                REQUIRE(kinds[stream[stop]] & 1);
                memcpy(word + n_word, bytes + bounds[stream[stop]], (size_t)(bounds[stream[stop] + 1] - bounds[stream[stop]]));
                n_word += bounds[stream[stop] + 1] - bounds[stream[stop]];
                stop++;
            } while (stop < made && (kinds[stream[stop]] & 3) == 1);
            int32_t again[4096];
            total = u->tables.single ? total : 0;
            was = u->tables.single && was;
            const double before = total;
            const bool was_before = was;
            REQUIRE(encode_by_definition(u, word, n_word, &total, &was, again, &n_made));
            if (n_made != stop - at || memcmp(again, stream + at, (size_t)n_made * sizeof *again)) {
                REQUIRE(k.goes_on && n_wrong < k.n_words);
                const int64_t *row = k.wrong + TOKDFA_WRONG_WORD * n_wrong;
                REQUIRE(row[0] == at && row[1] == stop && row[2] == n_right + n_made && row[3] == text_size);
                REQUIRE(!u->tables.single || (k.sums[n_wrong] == before && row[4] == was_before));
                REQUIRE(!memcmp(k.right + n_right, again, (size_t)n_made * sizeof *again));
                /* All pieces are shown, or none is; unknown characters and bytes are not. */
                bool is_shown = shift >> 4 & 1 && !(!at && k.begins);
                for (int64_t i = 0; i < n_made; i++) {
                    is_shown = is_shown && again[i] > 0 && again[i] < FIRST_BYTE;
                }
                REQUIRE(row[5] == (is_shown ? TOKDFA_TEXT_SAME : TOKDFA_TEXT_ASKED));
                n_right += n_made;
                n_wrong++;
            }
            for (int64_t i = 0; has_special && i + 1 < n_word; i++) {
                REQUIRE(memcmp(word + i, "qa", 2));
            }
            REQUIRE(stop > at + 1 || n_word > 3 || p.keeps_spaces);
            text_size += n_word - 2;
            at = stop;
        }
        REQUIRE(k.size == text_size && k.n_words == n_wrong && k.n_ids == n_right);
        /* A sum that is too large begins anew with the next word, which may be the one that is not accepted. */
        const bool anew = made < n && !r.score && (total > 1e5 || total < -1e5);
        REQUIRE(!u->tables.single || !made || r.score == total || anew);
    }
    give_back(&memory);
}

static void use(const void *shared, input *in) {
    const unigram *u = shared;
    do {
        const int what = take(in) % 3;
        if (what == 1 && u->tables.single && u->spaced) {
            segment_given(u, in);
        } else if (what == 2 && u->spaced) {
            judge(u, in);
        } else {
            segment(u, in);
        }
    } while (has_more(in));
}

static void release(void *shared) {
    unigram *u = shared;
    give_back(&u->memory);
    free(u);
}

const target unigram_target = {"unigram", build, use, release};
