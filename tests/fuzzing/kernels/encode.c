/* Encoding, against definitions: splitting by a machine of random steps, and merging each piece by the rules in turn.

   Structs are as in tokdfa/transducers/one_pass.py and tokdfa/encoding: a proper dictionary from bytes with its tables,
   tokens that stand for a piece when they are all of it, a machine that cuts texts, and a memory so small that what it
   knows is forgotten all the time. */
#include "../../../tokdfa/kernels/encode/door.h"
#include "dictionary.h"

enum { RECORD = 8, LENGTH = 0, SHORTER, STATE, READ, BIRTH, HEAD, TAIL, NUMBER };
enum { MOST_TEXT = 3 * 8192, MOST_STATES = 6, MOST_WIDTH = 3, CLASS_BITS = 3, N_CLASSES = 1 << CLASS_BITS };
enum { N_PAGES = 0x110000 >> TOKDFA_BLOCK_BITS, PAGE = 1 << TOKDFA_BLOCK_BITS };

typedef struct {
    dictionary *d;
    tokdfa_token_tables tables, whole;
    const uint8_t *chosen; /* of the tokens, those that stand for pieces */
    tokdfa_splitting splitting;
    int64_t n_states, n_hypotheses[MOST_STATES];
    bool is_proper, lacks_ids;
    /* Rules between numbers, for dictionaries that are not proper. */
    int32_t *left, *right, *product;
    int64_t n_numbers, n_rules;
    arena memory;
} encoder;

/* The tables in which words are found; see one_pass.py. */
static void index_words(arena *memory, const dictionary *d, const uint8_t *live, tokdfa_token_tables *tables) {
    int64_t sizes[4];
    const int64_t n = d->n_tokens;
    tokdfa_size_words(d->offsets, live, n, sizes);
    uint64_t *slots = ZEROS(memory, uint64_t, sizes[0]), *filter = ZEROS(memory, uint64_t, sizes[1]);
    int64_t *edges = MINUS_ONES(memory, int64_t, sizes[2]);
    int32_t *ending = MINUS_ONES(memory, int32_t, sizes[3]), *records = ZEROS(memory, int32_t, RECORD * n);
    tokdfa_index_words(d->text, d->offsets, live, n, slots, sizes[0], filter, sizes[1], edges, sizes[2], ending,
                       records);
    *tables = (tokdfa_token_tables){
        .slots = slots, .n_slots = sizes[0], .filter = filter, .n_filter = sizes[1], .edges = edges,
        .n_edges = sizes[2], .ending = ending, .records = records,
    };
}

/* The table of rules; as small as it may be, or as Python makes it. */
static void index_rules(arena *memory, const int32_t *left, const int32_t *right, const int32_t *product, int64_t n,
                        bool is_tight, tokdfa_token_tables *tables) {
    const int64_t n_rules = 8 * (is_tight ? n / 8 + 1 : (int64_t)((double)n / 4.4) + 1);
    uint64_t *rules = ZEROS(memory, uint64_t, n_rules);
    int32_t *of_symbols = ZEROS(memory, int32_t, 1 << 16);
    tokdfa_index_rules(left, right, product, n, rules, n_rules, of_symbols);
    tables->rules = rules;
    tables->n_rules = n_rules;
    tables->of_symbols = of_symbols;
}

static void build_dictionary(encoder *e, input *in) {
    const dictionary *d = e->d;
    arena *memory = &e->memory;
    const int64_t n = d->n_tokens, n_live = d->n_states - 1;
    const int32_t last_symbol = (int32_t)d->n_symbols - 1;
    const int flags = take(in);
    uint8_t *live = ROOM(memory, uint8_t, n), *chosen = ROOM(memory, uint8_t, n);
    int32_t *number = ROOM(memory, int32_t, n), *ids = ROOM(memory, int32_t, n);
    e->lacks_ids = (flags & 14) == 14;
    for (int64_t token = 0; token < n; token++) {
        live[token] = d->birth[token] >= 0;
        number[token] = d->birth[token] > 0 ? d->birth[token] + last_symbol : (int32_t)token;
        chosen[token] = flags & 1 && (take(in) & 3) == 0;
        ids[token] = e->lacks_ids && token % 5 == 4 ? -1 : (int32_t)(token * 1000003 % 1000000);
    }
    index_words(memory, d, live, &e->tables);
    int32_t *columns[3];
    e->is_proper = flags >> 4 != 15;
    e->n_rules = e->is_proper ? n_live : d->n_rules;
    for (int k = 0; k < 3; k++) {
        columns[k] = ROOM(memory, int32_t, e->n_rules);
    }
    e->left = columns[0], e->right = columns[1], e->product = columns[2];
    e->n_numbers = e->is_proper ? n : d->n_symbols + e->n_rules;
    for (int64_t i = 0; i < e->n_rules; i++) {
        if (e->is_proper) {
            const int64_t rule = d->rule[i + 1];
            columns[0][i] = number[d->left[rule]];
            columns[1][i] = number[d->right[rule]];
            columns[2][i] = number[d->product[rule]];
        } else {
            columns[0][i] = (int32_t)below(in, e->n_numbers);
            columns[1][i] = (int32_t)below(in, e->n_numbers);
            columns[2][i] = (int32_t)(d->n_symbols + i);
        }
    }
    index_rules(memory, columns[0], columns[1], columns[2], e->n_rules, flags & 32, &e->tables);
    int32_t *records = (int32_t *)e->tables.records;
    for (int64_t token = 0; token < n; token++) {
        int32_t *record = records + RECORD * token;
        const int32_t state = d->state[token] > 0 ? d->state[token] : 0, birth = d->birth[token];
        REQUIRE(record[LENGTH] == length_of_token(d, token));
        record[STATE] = state + last_symbol;
        record[READ] = state ? d->left[d->rule[state]] : -1;
        record[BIRTH] = (birth > 0 ? birth : 0) + last_symbol;
        record[HEAD] = d->head[token];
        record[TAIL] = d->tail[token];
        record[NUMBER] = number[token];
    }
    const int64_t n_of_numbers = (e->is_proper ? n : e->n_numbers) + 1;
    int32_t *of_numbers = MINUS_ONES(memory, int32_t, n_of_numbers);
    for (int64_t token = 0; token < n && e->is_proper; token++) {
        if (live[token]) {
            of_numbers[number[token]] = ids[token];
        }
    }
    for (int64_t i = 0; i < e->n_numbers && !e->is_proper; i++) {
        of_numbers[i] = e->lacks_ids && i % 7 == 6 ? -1 : (int32_t)(3 * i + 5);
    }
    e->tables.symbol = exactly(memory, d->symbol, 256, sizeof *d->symbol);
    e->tables.n_symbol = 256;
    e->tables.ids = ids;
    e->tables.ids_of_numbers = of_numbers;
    index_words(memory, d, chosen, &e->whole);
    index_rules(memory, NULL, NULL, NULL, 0, false, &e->whole);
    int32_t *names = ROOM(memory, int32_t, n);
    for (int64_t token = 0; token < n; token++) {
        names[token] = (int32_t)(2000000 + token);
    }
    e->whole.ids = names;
    e->chosen = chosen;
}

/* A machine of random steps: what a symbol does to a state has parents and events for each hypothesis. */
static void build_splitting(encoder *e, input *in) {
    arena *memory = &e->memory;
    e->n_states = between(in, 1, MOST_STATES);
    const int64_t n_cells = e->n_states << CLASS_BITS, width = between(in, 1, MOST_WIDTH);
    const int64_t pair_bits = CLASS_BITS, n_kinds = between(in, 1, 3);
    uint8_t *ascii = ROOM(memory, uint8_t, 128), *classes = ROOM(memory, uint8_t, n_kinds * PAGE);
    uint16_t *pages = ROOM(memory, uint16_t, N_PAGES);
    uint8_t *quick = ROOM(memory, uint8_t, n_cells), *single = ROOM(memory, uint8_t, e->n_states);
    uint8_t *parent = ROOM(memory, uint8_t, n_cells * width), *event = ROOM(memory, uint8_t, n_cells * width);
    uint8_t *borne_out = ROOM(memory, uint8_t, e->n_states);
    int32_t *target = ROOM(memory, int32_t, n_cells), *pairs = ROOM(memory, int32_t, e->n_states << 2 * pair_bits);
    const int shift = take(in) & 7;
    for (int i = 0; i < 128; i++) {
        ascii[i] = (uint8_t)((i ^ i >> 3) * (shift + 1) & (N_CLASSES - 1));
    }
    for (int64_t i = 0; i < n_kinds * PAGE; i++) {
        classes[i] = (uint8_t)((i + i / 5 + shift) & (N_CLASSES - 1));
    }
    for (int64_t i = 0; i < N_PAGES; i++) {
        pages[i] = (uint16_t)(i % n_kinds);
    }
    for (int64_t state = 0; state < e->n_states; state++) {
        e->n_hypotheses[state] = state ? between(in, 1, width) : 1;
        single[state] = e->n_hypotheses[state] == 1;
        borne_out[state] = (uint8_t)below(in, e->n_hypotheses[state]);
    }
    for (int64_t cell = 0; cell < n_cells; cell++) {
        const int64_t from = cell >> CLASS_BITS, to = below(in, e->n_states);
        target[cell] = (int32_t)(to << CLASS_BITS);
        for (int64_t h = 0; h < width; h++) {
            const int what = h < e->n_hypotheses[to] ? take(in) : 0;
            parent[cell * width + h] = (uint8_t)(what % e->n_hypotheses[from]);
            event[cell * width + h] = (uint8_t)((what >> 4) % 3);
        }
        quick[cell] = single[from] && single[to] ? event[cell * width] : TOKDFA_UNSETTLED;
    }
    for (int64_t state = 0; state < e->n_states; state++) {
        for (int64_t c = 0; c < N_CLASSES; c++) {
            for (int64_t d = 0; d < N_CLASSES; d++) {
                const int64_t first = state << CLASS_BITS | c, second = target[first] | d;
                const bool unsettled = quick[first] == TOKDFA_UNSETTLED || quick[second] == TOKDFA_UNSETTLED;
                const int64_t after = target[second] >> CLASS_BITS;
                pairs[(state << 2 * pair_bits) + (c << pair_bits) + d] =
                    unsettled ? 1 << 2 * TOKDFA_EVENT_BITS
                              : (int32_t)((after << 2 * pair_bits) << TOKDFA_PAIR_EVENTS) |
                                    quick[first] << TOKDFA_EVENT_BITS | quick[second];
            }
        }
    }
    e->splitting = (tokdfa_splitting){
        .ascii_class = ascii, .pages = pages, .classes = classes, .target = target, .quick = quick, .single = single,
        .parent = parent, .event = event, .width = width, .class_bits = CLASS_BITS, .pairs = pairs,
        .pair_class = ascii, .pair_bits = pair_bits, .borne_out = borne_out,
    };
}

static void *build(input *in) {
    encoder *e = calloc(1, sizeof *e);
    REQUIRE(e);
    e->d = read_dictionary(in);
    build_dictionary(e, in);
    build_splitting(e, in);
    return e;
}

/* The length of the valid symbol at a place; 0 if it is cut short by the end, -1 if no text has it. */
static int64_t symbol_at(const uint8_t *at, int64_t left, int64_t *point) {
    const int64_t length = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? -1 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF5 ? 4 : -1;
    if (length < 0) {
        return -1;
    }
    static const int64_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    /* The least and the greatest number that may come of it. */
    int64_t low = length == 1 ? at[0] : at[0] & (0xFF >> (length + 1)), high = low;
    for (int64_t k = 1; k < length; k++) {
        if (k < left && (at[k] & 0xC0) != 0x80) {
            return -1;
        }
        low = low << 6 | (k < left ? at[k] & 0x3F : 0);
        high = high << 6 | (k < left ? at[k] & 0x3F : 0x3F);
    }
    if (high < least[length] || low > 0x10FFFF || (low >= 0xD800 && high < 0xE000)) {
        return -1;
    }
    *point = low;
    return length <= left ? length : 0;
}

/* What begins in a text, by definition: run through it, and go back from the end. Returns the number of entries, or how
   the text ends it, at *at. */
static int64_t split_naively(const encoder *e, const uint8_t *text, int64_t size, int64_t *begun, int64_t *at,
                             int64_t *cells, int64_t *places) {
    const tokdfa_splitting *s = &e->splitting;
    int64_t state = 0, n = 0;
    for (*at = 0; *at < size;) {
        int64_t point;
        const int64_t length = symbol_at(text + *at, size - *at, &point);
        if (length <= 0) {
            return length < 0 ? TOKDFA_INVALID : TOKDFA_CUT_SHORT;
        }
        const int64_t number =
            point < 128 ? s->ascii_class[point] : s->classes[s->pages[point / PAGE] * PAGE + point % PAGE];
        cells[n] = state * N_CLASSES + number;
        places[n++] = *at;
        state = s->target[cells[n - 1]] / N_CLASSES;
        *at += length;
    }
    int64_t hypothesis = s->borne_out[state], n_begun = 0;
    for (int64_t k = n - 1; k >= 0; k--) {
        const int64_t cell = cells[k] * s->width + hypothesis;
        if (s->event[cell]) {
            begun[n_begun++] = places[k] * 4 + s->event[cell];
        }
        hypothesis = s->parent[cell];
    }
    for (int64_t i = 0; i < n_begun / 2; i++) {
        const int64_t other = begun[i];
        begun[i] = begun[n_begun - 1 - i];
        begun[n_begun - 1 - i] = other;
    }
    return n_begun;
}

/* Merge by numbers: the least product first, of equals the leftmost. */
static int64_t merge_numbers(const encoder *e, const uint8_t *piece, int64_t n, int32_t *numbers) {
    for (int64_t i = 0; i < n; i++) {
        numbers[i] = e->d->symbol[piece[i]];
        if (numbers[i] < 0) {
            return -1;
        }
    }
    for (;;) {
        int64_t best = INT64_MAX, place = 0;
        for (int64_t i = 0; i + 1 < n; i++) {
            for (int64_t rule = 0; rule < e->n_rules; rule++) {
                if (e->left[rule] == numbers[i] && e->right[rule] == numbers[i + 1]) {
                    if (e->product[rule] < best) {
                        best = e->product[rule];
                        place = i;
                    }
                    break;
                }
            }
        }
        if (best == INT64_MAX) {
            return n;
        }
        numbers[place] = (int32_t)best;
        memmove(numbers + place + 1, numbers + place + 2, (size_t)(n - place - 2) * sizeof *numbers);
        n--;
    }
}

/* The ids of a piece by definition; FOREIGN if it has none. */
static int64_t encode_piece(const encoder *e, const uint8_t *piece, int64_t size, int32_t *out) {
    const dictionary *d = e->d;
    for (int64_t token = 0; token < d->n_tokens; token++) {
        if (e->chosen[token] && length_of_token(d, token) == size && !memcmp(d->text + d->offsets[token], piece, (size_t)size)) {
            out[0] = e->whole.ids[token];
            return 1;
        }
    }
    int64_t n;
    if (e->is_proper) {
        n = tokenize_naively(d, piece, size, out);
        for (int64_t i = 0; i < n; i++) {
            out[i] = e->tables.ids[out[i]];
        }
    } else {
        n = merge_numbers(e, piece, size, out);
        for (int64_t i = 0; i < n; i++) {
            out[i] = e->tables.ids_of_numbers[out[i]];
        }
    }
    return n < 0 ? TOKDFA_FOREIGN : n;
}

/* What a thread has for itself. */
typedef struct {
    arena memory;
    tokdfa_piece_memory known;
    tokdfa_piece_encoder pieces;
    tokdfa_split_run split;
    tokdfa_text_encoder texts;
} workplace;

static void make_room(workplace *w, int64_t room) {
    int32_t *trail = ROOM(&w->memory, int32_t, room);
    int64_t *trail_at = ROOM(&w->memory, int64_t, room), *begun = ROOM(&w->memory, int64_t, room + 1);
    if (w->split.n_waiting) {
        memcpy(trail, w->split.trail, (size_t)w->split.n_waiting * sizeof *trail);
        memcpy(trail_at, w->split.trail_at, (size_t)w->split.n_waiting * sizeof *trail_at);
    }
    if (w->split.begun) {
        begun[0] = w->split.begun[0];
    }
    w->split.trail = trail;
    w->split.n_trail = room;
    w->split.trail_at = trail_at;
    w->split.begun = begun;
}

static void open_workplace(workplace *w, const encoder *e, input *in, int64_t size) {
    memset(w, 0, sizeof *w);
    const int64_t sets = (int64_t)1 << below(in, 4), shelf = TOKDFA_LONGEST_KEPT + below(in, 600);
    w->known = (tokdfa_piece_memory){ZEROS(&w->memory, uint64_t, 16 * sets), 16 * sets,
                                     ZEROS(&w->memory, uint64_t, shelf), shelf, 0};
    const int64_t n_left = (size >> 6) + 1;
    w->pieces = (tokdfa_piece_encoder){
        .tables = &e->tables, .whole = &e->whole, .memory = &w->known, .is_proper = e->is_proper,
        .left = ZEROS(&w->memory, uint64_t, n_left), .n_left = n_left,
    };
    w->split.splitting = &e->splitting;
    make_room(w, 2 * TOKDFA_STRETCH);
    w->texts = (tokdfa_text_encoder){.pieces = &w->pieces, .split = &w->split, .lacks_ids = e->lacks_ids};
    w->texts.n_out = TOKDFA_AT_ONCE + below(in, 300);
    w->texts.out = ROOM(&w->memory, int32_t, w->texts.n_out);
}

/* Encode a text as TextRun does: more room where it is wanted, and long pieces of improper rules by definition. */
static int64_t encode_text(workplace *w, const encoder *e, const uint8_t *text, int64_t size, int32_t *out) {
    int64_t n = tokdfa_encode_text(&w->texts, text, size, out);
    while (n == TOKDFA_TOO_LONG || n == TOKDFA_NO_ROOM) {
        if (n == TOKDFA_TOO_LONG) {
            const int64_t index = w->pieces.next, begin = w->split.begun[index] >> TOKDFA_EVENT_BITS;
            const int64_t end = w->split.begun[index + 1] >> TOKDFA_EVENT_BITS;
            REQUIRE(!e->is_proper && end - begin >= 64);
            const int64_t made = encode_piece(e, text + begin, end - begin, out + w->pieces.n);
            if (made < 0) {
                return made;
            }
            w->pieces.next++;
            w->pieces.n += made;
        } else {
            make_room(w, 2 * w->split.n_trail);
        }
        n = tokdfa_encode_on(&w->texts, text, size, out);
    }
    return n;
}

static void encode_texts(const encoder *e, input *in) {
    workplace w;
    const bool is_long = (take(in) & 31) == 31;
    uint8_t *read = malloc(MOST_TEXT);
    REQUIRE(read);
    open_workplace(&w, e, in, MOST_TEXT);
    arena *memory = &w.memory;
    const int n_texts = (int)between(in, 1, 3);
    const int pause = take(in);
    int64_t n_read = read_text(in, e->d, read, is_long ? MOST_TEXT : 1500);
    for (int k = 0; k < 2 * n_texts; k++) {
        /* The same texts again, when the memory knows some of it. */
        const int64_t begin = n_read * (k % n_texts) / n_texts, size = n_read * (k % n_texts + 1) / n_texts - begin;
        uint8_t *text = exactly(memory, read + begin, size, 1);
        const int64_t n_ids = size + TOKDFA_AT_ONCE;
        int32_t *out = ROOM(memory, int32_t, n_ids), *expected = ROOM(memory, int32_t, n_ids);
        int64_t *begun = ROOM(memory, int64_t, size + 1), at, *cells = ROOM(memory, int64_t, size + 1);
        int64_t *places = ROOM(memory, int64_t, size + 1), *piece_ends = ROOM(memory, int64_t, size + 1);
        const int64_t n_begun = split_naively(e, text, size, begun, &at, cells, places);
        const int64_t status = encode_text(&w, e, text, size, out);
        if (n_begun < 0) {
            /* What is whole before that may have ended it. */
            const bool may_be_foreign = n_begun == TOKDFA_CUT_SHORT || size > TOKDFA_STRETCH;
            REQUIRE(status == n_begun || (status == TOKDFA_FOREIGN && may_be_foreign));
            REQUIRE(status != n_begun || w.split.at == at);
            /* It is read to where it goes wrong. */
            w.split.state = w.split.n_waiting = 0;
            REQUIRE(tokdfa_split_lines(&w.split, text, size) == -1);
            continue;
        }
        begun[n_begun] = size << TOKDFA_EVENT_BITS;
        int64_t n = 0, foreign = -1, lacking = 0;
        for (int64_t i = 0; i < n_begun && foreign < 0; i++) {
            const int64_t first = begun[i] >> TOKDFA_EVENT_BITS, stop = begun[i + 1] >> TOKDFA_EVENT_BITS;
            if ((begun[i] & 3) == TOKDFA_BEGINS) {
                const int64_t made = encode_piece(e, text + first, stop - first, expected + n);
                foreign = made < 0 ? i : foreign;
                n += made < 0 ? 0 : made;
            }
            piece_ends[i] = n;
        }
        for (int64_t i = 0; i < n; i++) {
            lacking += expected[i] < 0;
        }
        const int64_t wanted = foreign >= 0 ? TOKDFA_FOREIGN : lacking && e->lacks_ids ? TOKDFA_LACKS_IDS : n;
        REQUIRE(status == wanted);
        if (status >= 0) {
            REQUIRE(!memcmp(out, expected, (size_t)n * sizeof *out));
        } else if (status == TOKDFA_FOREIGN && w.pieces.next < w.texts.n_pieces) {
            REQUIRE(w.split.begun[w.pieces.next] >> TOKDFA_EVENT_BITS == begun[foreign] >> TOKDFA_EVENT_BITS);
        }
        if (size + TOKDFA_AT_ONCE <= w.texts.n_out) {
            const int64_t again = tokdfa_encode_short(&w.texts, text, size);
            REQUIRE(again == (status < 0 ? status : n) || again == TOKDFA_TOO_LONG);
            REQUIRE(again < 0 || !memcmp(w.texts.out, expected, (size_t)n * sizeof *expected));
        }
        /* The pieces alone, in two steps. */
        memset(out, 0xA5, (size_t)n_ids * sizeof *out);
        int64_t *exact = exactly(memory, begun, n_begun + 1, sizeof *begun), *ends = ROOM(memory, int64_t, n_begun);
        w.pieces.next = w.pieces.n = 0;
        const int64_t stops[2] = {n_begun * (pause % 4) / 4, n_begun};
        for (int step = 0; step < 2; step++) {
            int64_t ended;
            while ((ended = tokdfa_encode_pieces(&w.pieces, text, size, exact, stops[step], out, ends)) < 0) {
                const int64_t i = w.pieces.next;
                const int64_t first = exact[i] >> TOKDFA_EVENT_BITS, stop = exact[i + 1] >> TOKDFA_EVENT_BITS;
                if (ended == TOKDFA_FOREIGN) {
                    REQUIRE(i == foreign);
                    break;
                }
                REQUIRE(ended == TOKDFA_TOO_LONG && !e->is_proper && stop - first >= 64);
                const int64_t made = encode_piece(e, text + first, stop - first, out + w.pieces.n);
                if (made < 0) {
                    REQUIRE(i == foreign);
                    break;
                }
                w.pieces.n += made;
                ends[i] = w.pieces.n;
                w.pieces.next++;
            }
            if (ended < 0) {
                break;
            }
        }
        const int64_t n_done = foreign >= 0 ? foreign : n_begun;
        REQUIRE(w.pieces.n == n && (foreign >= 0 || w.pieces.next == n_begun));
        REQUIRE(!memcmp(out, expected, (size_t)n * sizeof *out));
        for (int64_t i = 0; i < n_done; i++) {
            REQUIRE(ends[i] == piece_ends[i]);
        }
        /* Splitting alone, a part at a time, of which each begins where the one before was cut short. */
        tokdfa_split_run alone = {.splitting = &e->splitting};
        workplace room = {.split = alone};
        make_room(&room, size + 1);
        int64_t n_found = 0, base = 0;
        for (int64_t part = 1 + pause % 37; base < size; part = part * 3 % 41 + 1) {
            int64_t length = part < size - base ? part : size - base;
            uint8_t *some = exactly(&room.memory, text + base, length, 1);
            REQUIRE(tokdfa_split_on(&room.split, some, length, base));
            REQUIRE(!memcmp(room.split.begun, begun + n_found, (size_t)room.split.n_begun * sizeof *begun));
            n_found += room.split.n_begun;
            REQUIRE(room.split.at > base || length < 4);
            base = room.split.at;
            if (room.split.at < base + length && part < 4) {
                part = 4;
            }
        }
        tokdfa_walk_back(&room.split);
        REQUIRE(n_found + room.split.n_begun == n_begun);
        REQUIRE(!memcmp(room.split.begun, begun + n_found, (size_t)room.split.n_begun * sizeof *begun));
        int64_t *spans = ROOM(&room.memory, int64_t, 2 * (n_begun + 1)), place = 0;
        const int64_t n_spans = tokdfa_close(exact, n_begun + 1, TOKDFA_CONTINUES, spans);
        for (int64_t i = 0; i < n_begun; i++) {
            if ((begun[i] & 3) == TOKDFA_BEGINS) {
                REQUIRE(spans[2 * place] == begun[i] >> 2 && spans[2 * place + 1] == begun[i + 1] >> 2);
                place++;
            }
        }
        REQUIRE(place == n_spans);
        /* Each line by itself. */
        room.split.state = room.split.n_waiting = 0;
        const int64_t n_lines = tokdfa_split_lines(&room.split, text, size);
        int64_t n_checked = 0;
        for (int64_t line = 0, stop; line < size; line = stop) {
            for (stop = line; stop < size && text[stop] != '\n'; stop++) {
            }
            stop += stop < size;
            const int64_t n_line = split_naively(e, text + line, stop - line, begun, &at, cells, places);
            for (int64_t i = 0; i < n_line; i++) {
                REQUIRE(n_checked < n_lines && room.split.begun[n_checked++] == begun[i] + 4 * line);
            }
        }
        REQUIRE(n_checked == n_lines);
        give_back(&room.memory);
    }
    free(read);
    give_back(memory);
}

/* Whole words: tokenizing, the longest token, the pair test, the merges. */
static void encode_words(const encoder *e, input *in) {
    const dictionary *d = e->d;
    arena memory = {NULL, 0, 0};
    uint8_t read[1200];
    const int64_t size = read_text(in, d, read, sizeof read);
    uint8_t *text = exactly(&memory, read, size, 1);
    int32_t *out = ROOM(&memory, int32_t, size), *expected = ROOM(&memory, int32_t, size);
    if (e->is_proper && size) {
        uint64_t *left = ZEROS(&memory, uint64_t, (size >> 6) + 1);
        const int64_t n = tokenize_naively(d, text, size, expected);
        REQUIRE(tokdfa_tokenize(&e->tables, text, size, out, left) == n);
        REQUIRE(n < 0 || !memcmp(out, expected, (size_t)n * sizeof *out));
        for (int64_t i = 0; i <= size >> 6; i++) {
            REQUIRE(!left[i]);
        }
    }
    for (int64_t begin = 0; begin < size; begin += 1 + size / 16) {
        for (int64_t end = begin + 1; end <= size; end += 1 + (end - begin) / 4) {
            int64_t longest = -1;
            for (int64_t token = 0; token < d->n_tokens; token++) {
                const int64_t length = length_of_token(d, token);
                if (d->birth[token] >= 0 && length <= end - begin &&
                    (longest < 0 || length > length_of_token(d, longest)) &&
                    !memcmp(text + begin, d->text + d->offsets[token], (size_t)length)) {
                    longest = token;
                }
            }
            REQUIRE(tokdfa_longest_token(&e->tables, text, size, begin, end) == longest);
        }
    }
    for (int64_t u = 0; u < d->n_tokens && e->is_proper; u += 3) {
        for (int64_t v = u % 7; v < d->n_tokens; v += 7) {
            if (d->birth[u] < 0 || d->birth[v] < 0) {
                continue;
            }
            uint8_t word[2 * LONGEST_TOKEN];
            int32_t tokens[2 * LONGEST_TOKEN];
            const int64_t length = length_of_token(d, u), more = length_of_token(d, v);
            memcpy(word, d->text + d->offsets[u], (size_t)length);
            memcpy(word + length, d->text + d->offsets[v], (size_t)more);
            const bool allowed =
                tokenize_naively(d, word, length + more, tokens) == 2 && tokens[0] == u && tokens[1] == v;
            REQUIRE(tokdfa_allows(&e->tables, u, v) == allowed);
        }
    }
    for (int64_t u = 0; u < e->n_numbers; u++) {
        for (int64_t v = 0; v < e->n_numbers; v++) {
            int64_t made = 0;
            for (int64_t rule = 0; rule < e->n_rules && !made; rule++) {
                made = e->left[rule] == u && e->right[rule] == v ? e->product[rule] : 0;
            }
            REQUIRE(tokdfa_merged(&e->tables, u, v) == made);
        }
    }
    give_back(&memory);
}

/* The memory of pieces: what it answers was told it last. */
static void remember(const encoder *e, input *in) {
    workplace w;
    open_workplace(&w, e, in, 64);
    uint8_t read[1100];
    typedef struct {
        int64_t begin, end, n;
        int32_t ids[TOKDFA_LONGEST_KEPT];
    } memo;
    enum { MOST_MEMOS = 24 };
    memo *memos = ROOM(&w.memory, memo, MOST_MEMOS);
    const int64_t n_memos = between(in, 1, MOST_MEMOS);
    uint8_t plan[2 * MOST_MEMOS], rounds[96];
    for (int i = 0; i < 2 * MOST_MEMOS; i++) {
        plan[i] = take(in);
    }
    for (size_t i = 0; i < sizeof rounds; i++) {
        rounds[i] = take(in);
    }
    const int64_t size = read_text(in, e->d, read, sizeof read);
    if (size) {
        uint8_t *text = exactly(&w.memory, read, size, 1);
        for (int64_t i = 0; i < n_memos; i++) {
            memo *m = memos + i;
            m->begin = plan[2 * i] * 7 % size;
            const int64_t most = size - m->begin, wanted = plan[2 * i + 1] < 200 ? plan[2 * i + 1] % 40 : plan[2 * i + 1] * 5;
            m->end = m->begin + 1 + wanted % most;
            const int64_t length = m->end - m->begin;
            m->n = 1 + (plan[2 * i] >> 3) % length;
            m->n = m->n > TOKDFA_LONGEST_KEPT ? TOKDFA_LONGEST_KEPT : m->n;
            for (int64_t k = 0; k < m->n; k++) {
                m->ids[k] = (int32_t)(i * 10000 + k);
            }
            /* Equal pieces have equal ids. */
            for (int64_t other = 0; other < i; other++) {
                const memo *o = memos + other;
                if (o->end - o->begin == length && !memcmp(text + o->begin, text + m->begin, (size_t)length)) {
                    m->n = o->n;
                    memcpy(m->ids, o->ids, sizeof m->ids);
                }
            }
        }
        for (size_t i = 0; i < sizeof rounds; i++) {
            const memo *m = memos + rounds[i] % n_memos;
            int32_t *out = ROOM(&w.memory, int32_t, TOKDFA_LONGEST_KEPT + 2);
            const int64_t n = tokdfa_recall_piece(&w.known, text, size, m->begin, m->end, out);
            REQUIRE(n == -1 || (n == m->n && !memcmp(out, m->ids, (size_t)n * sizeof *out)));
            if (n < 0) {
                int32_t *ids = ROOM(&w.memory, int32_t, m->n < 3 ? 3 : m->n);
                memcpy(ids, m->ids, (size_t)m->n * sizeof *ids);
                tokdfa_remember_piece(&w.known, text, size, m->begin, m->end, ids, m->n);
                const bool is_kept = m->end - m->begin <= TOKDFA_LONGEST_KEPT;
                REQUIRE(tokdfa_recall_piece(&w.known, text, size, m->begin, m->end, out) == (is_kept ? m->n : -1));
            }
            uint64_t key[2];
            tokdfa_key_of_piece(text, size, m->begin, m->end, key);
            REQUIRE(key[1]);
        }
    }
    give_back(&w.memory);
}

/* Lines of base64 and a rank, from any bytes; what is read is written again, and read again. */
static void read_ranks(input *in) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    arena memory = {NULL, 0, 0};
    const bool is_raw = take(in) & 1;
    const int64_t most = 3 * left_in(in) + 8;
    char *read = ROOM(&memory, char, most + 32);
    int64_t size = 0;
    while (has_more(in) && size < most) {
        const uint8_t what = take(in);
        if (is_raw) {
            read[size++] = (char)what;
        } else if (what < 0x80) {
            size += sprintf(read + size, "%c%c%c%c", digits[what & 63], digits[take(in) & 63], what & 64 ? '=' : 'B',
                            what & 64 ? '=' : '0');
        } else if (what < 0xE0) {
            size += sprintf(read + size, " %u\n", (unsigned)what * (what & 1 ? 1 : 1000003));
        } else {
            read[size++] = " \n=9A\r\0+"[what & 7];
        }
    }
    uint8_t *data = exactly(&memory, read, size, 1);
    for (int round = 0; round < 2; round++) {
        int64_t n_lines = 1;
        for (int64_t i = 0; i < size; i++) {
            n_lines += data[i] == '\n';
        }
        REQUIRE(tokdfa_count_lines(data, size) == n_lines);
        tokdfa_rank_lines found = {
            .text = ROOM(&memory, uint8_t, 3 * (size / 4) + 3), .offsets = ROOM(&memory, int64_t, n_lines + 1),
            .ranks = ROOM(&memory, int64_t, n_lines), .lines = ROOM(&memory, int64_t, n_lines),
        };
        tokdfa_read_rank_lines(data, size, &found);
        REQUIRE(found.place >= 0 && found.place <= size + 1 && found.n_words <= n_lines);
        const int64_t n = found.n_words - (found.fault != 0);
        const int64_t n_bytes = found.offsets[n];
        char *again = ROOM(&memory, char, 2 * n_bytes + 32 * (n + 1));
        int64_t written = 0, last = 0;
        for (int64_t i = 0; i < n; i++) {
            REQUIRE(found.lines[i] > last && found.ranks[i] >= 0 && found.ranks[i] <= 0xFFFFFFFF);
            last = found.lines[i];
            const uint8_t *word = found.text + found.offsets[i];
            const int64_t length = found.offsets[i + 1] - found.offsets[i];
            REQUIRE(length >= 0);
            for (int64_t k = 0; k < length; k += 3) {
                const uint32_t bits = (uint32_t)word[k] << 16 | (k + 1 < length ? (uint32_t)word[k + 1] << 8 : 0) |
                                      (k + 2 < length ? word[k + 2] : 0);
                again[written++] = digits[bits >> 18];
                again[written++] = digits[bits >> 12 & 63];
                again[written++] = k + 1 < length ? digits[bits >> 6 & 63] : '=';
                again[written++] = k + 2 < length ? digits[bits & 63] : '=';
            }
            written += sprintf(again + written, " %lld\n", (long long)found.ranks[i]);
        }
        REQUIRE(!round || (!found.fault && written == size && !memcmp(again, data, (size_t)size)));
        data = exactly(&memory, again, written, 1);
        size = written;
    }
    give_back(&memory);
}

static void free_words(tokdfa_numbered_words *words) {
    free(words->pool);
    free(words->offsets);
    free(words->table);
}

static tokdfa_numbered_words first_words(int64_t n_pool, int64_t n_offsets, int64_t n_table, int64_t first) {
    tokdfa_numbered_words words = {
        calloc((size_t)n_pool, sizeof(int32_t)), n_pool, calloc((size_t)n_offsets, sizeof(int64_t)), n_offsets,
        calloc((size_t)n_table, sizeof(int32_t)), n_table, 1,
    };
    REQUIRE(words.pool && words.offsets && words.table);
    words.offsets[1] = first;
    tokdfa_rehash(&words);
    return words;
}

static void *doubled(void *array, int64_t n, size_t size) {
    void *larger = calloc((size_t)(2 * n), size);
    REQUIRE(larger);
    memcpy(larger, array, (size_t)n * size);
    free(array);
    return larger;
}

static void grow_words(tokdfa_numbered_words *words) {
    words->pool = doubled(words->pool, words->n_pool, sizeof *words->pool);
    words->n_pool *= 2;
    words->offsets = doubled(words->offsets, words->n_offsets, sizeof *words->offsets);
    words->n_offsets *= 2;
    free(words->table);
    words->n_table *= 2;
    words->table = calloc((size_t)words->n_table, sizeof *words->table);
    REQUIRE(words->table);
    tokdfa_rehash(words);
}

/* The transducer of a small dictionary, and its partition, run over a text. */
static void transduce(const encoder *e, input *in) {
    enum { MOST_NODES = 128, MOST_ROUNDS = 5 };
    const dictionary *d = e->d;
    arena memory = {NULL, 0, 0};
    const int64_t n_symbols = d->n_symbols, n_tokens = d->n_tokens, n_dfa = d->n_states;
    int32_t *child = MINUS_ONES(&memory, int32_t, (d->offsets[n_tokens] + 1) * n_symbols);
    int32_t *token_at = MINUS_ONES(&memory, int32_t, d->offsets[n_tokens] + 1);
    int64_t n_nodes = 1;
    for (int64_t token = 0; token < n_tokens; token++) {
        int64_t node = 0;
        for (int64_t i = d->offsets[token]; i < d->offsets[token + 1] && d->birth[token] >= 0; i++) {
            int32_t *next = child + node * n_symbols + d->symbol[d->text[i]];
            *next = *next < 0 ? (int32_t)n_nodes++ : *next;
            node = *next;
        }
        token_at[node] = node ? (int32_t)token : token_at[node];
    }
    if (n_nodes > MOST_NODES) {
        give_back(&memory);
        return;
    }
    child = exactly(&memory, child, n_nodes * n_symbols, sizeof *child);
    token_at = exactly(&memory, token_at, n_nodes, sizeof *token_at);
    uint8_t *allowed = ZEROS(&memory, uint8_t, n_dfa * n_tokens), *goes_on = ZEROS(&memory, uint8_t, n_dfa * n_nodes);
    int32_t *reached = ZEROS(&memory, int32_t, n_tokens);
    for (int64_t token = 0; token < n_tokens; token++) {
        if (d->birth[token] < 0) {
            continue;
        }
        reached[token] = d->state[token];
        for (int64_t state = 0; state < n_dfa; state++) {
            /* The state allows what the token allows that the last of its rules was made with, at that time. */
            const int64_t left = state ? d->left[d->rule[state]] : -1;
            const bool may = left < 0 || tokdfa_forbidding_state(&d->history, left, token, state) == 0;
            allowed[state * n_tokens + token] = may;
            int64_t node = 0;
            for (int64_t i = d->offsets[token]; i + 1 < d->offsets[token + 1] && may; i++) {
                node = child[node * n_symbols + d->symbol[d->text[i]]];
                goes_on[state * n_nodes + node] = 1;
            }
        }
    }
    const tokdfa_live_trie trie = {child, n_symbols, token_at, n_nodes, allowed, goes_on, reached, n_tokens};
    tokdfa_numbered_words states = first_words(64, 4, 4, 3), outputs = first_words(64, 4, 4, 0);
    int64_t n_room = 2;
    tokdfa_transducer_construction c = {
        &states, &outputs, calloc((size_t)(n_room * n_symbols), sizeof(int32_t)),
        calloc((size_t)(n_room * n_symbols), sizeof(int32_t)), n_room * n_symbols, calloc((size_t)n_room, sizeof(int32_t)), 0,
    };
    REQUIRE(c.target && c.written && c.ends);
    int64_t status = TOKDFA_NO_ROOM;
    for (int round = 0; round < 14 && status; round++) {
        WITH_MEMORY(status, tokdfa_write_out(&trie, &c));
        REQUIRE(status == 0 || status == TOKDFA_NO_ROOM);
        if (status) {
            grow_words(&states);
            grow_words(&outputs);
            c.target = doubled(c.target, c.n_target, sizeof *c.target);
            c.written = doubled(c.written, c.n_target, sizeof *c.written);
            c.n_target *= 2;
            c.ends = doubled(c.ends, n_room, sizeof *c.ends);
            n_room *= 2;
        }
        if (states.n_words > 3000) {
            break;
        }
    }
    if (!status) {
        const int64_t n = states.n_words;
        int32_t *block = ROOM(&memory, int32_t, n), *first = MINUS_ONES(&memory, int32_t, n);
        int64_t n_blocks;
        WITH_MEMORY(n_blocks, tokdfa_transducer_partition(c.target, c.written, c.ends, n, n_symbols, block));
        for (int64_t state = 0; state < n; state++) {
            REQUIRE(block[state] >= 0 && block[state] < n_blocks);
            if (first[block[state]] < 0) {
                first[block[state]] = (int32_t)state;
            }
        }
        /* The transducer, and the one of its blocks. */
        uint8_t text[200];
        int64_t size = 0;
        while (has_more(in) && size < (int64_t)sizeof text) {
            text[size++] = d->text[take(in) % n_symbols];
        }
        int32_t expected[sizeof text], out[sizeof text + 1];
        const int64_t n_expected = tokenize_naively(d, text, size, expected);
        for (int merged = 0; merged < 2; merged++) {
            int64_t state = 0, n_out = 0;
            for (int64_t i = 0; i <= size; i++) {
                state = merged ? first[block[state]] : state;
                const int64_t at = state * n_symbols + (i < size ? d->symbol[text[i]] : 0);
                const int64_t word = i < size ? c.written[at] : c.ends[state];
                for (int64_t k = outputs.offsets[word]; k < outputs.offsets[word + 1]; k++) {
                    REQUIRE(n_out <= size);
                    out[n_out++] = outputs.pool[k];
                }
                state = i < size ? c.target[at] : state;
            }
            REQUIRE(n_out == n_expected && !memcmp(out, expected, (size_t)n_out * sizeof *out));
        }
    }
    free_words(&states);
    free_words(&outputs);
    free(c.target);
    free(c.written);
    free(c.ends);
    give_back(&memory);
}

static void use(const void *shared, input *in) {
    const int what = take(in) % 16;
    if (what < 9) {
        encode_texts(shared, in);
    } else if (what < 11) {
        encode_words(shared, in);
    } else if (what < 13) {
        remember(shared, in);
    } else if (what < 15) {
        transduce(shared, in);
    } else {
        read_ranks(in);
    }
}

static void release(void *shared) {
    encoder *e = shared;
    free_dictionary(e->d);
    give_back(&e->memory);
    free(e);
}

const target encode_target = {"encode", build, use, release};
