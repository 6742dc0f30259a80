/* An encoder from bytes: a dictionary with its tables, and a machine that cuts texts. */
#ifndef TOKDFA_ENCODE_TABLES_H
#define TOKDFA_ENCODE_TABLES_H

#include "../../../../tokdfa/kernels/encode/api.h"
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
    const uint8_t *parent, *event; /* by cell and hypothesis after it */
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
    uint32_t *slots = ZEROS(memory, uint32_t, sizes[0]);
    uint64_t *keys = ZEROS(memory, uint64_t, 2 * n), *filter = ZEROS(memory, uint64_t, sizes[1]);
    int64_t *edges = MINUS_ONES(memory, int64_t, sizes[2]);
    int32_t *ending = MINUS_ONES(memory, int32_t, sizes[3]), *records = ZEROS(memory, int32_t, RECORD * n);
    const tokdfa_word_index words = {d->text, d->offsets, live, n, slots, sizes[0], keys, filter, sizes[1], edges,
                                     sizes[2], ending, records};
    tokdfa_index_words(&words);
    tokdfa_find_shorter(&words);
    *tables = (tokdfa_token_tables){
        .slots = slots, .n_slots = sizes[0], .keys = keys, .filter = filter, .n_filter = sizes[1],
        .edges = edges, .n_edges = sizes[2], .ending = ending, .records = records,
    };
}

/* The table of rules; as small as it may be, or as Python makes it. */
static void index_rules(arena *memory, const int32_t *left, const int32_t *right, const int32_t *product, int64_t n,
                        bool is_tight, tokdfa_token_tables *tables) {
    const int64_t n_rules = 8 * (is_tight ? n / 8 + 1 : (int64_t)((double)n / 4.4) + 1);
    uint64_t *rules = ZEROS(memory, uint64_t, n_rules);
    int32_t *of_symbols = ZEROS(memory, int32_t, 1 << 16);
    tokdfa_index_rules(left, right, product, n, NULL, rules, n_rules, of_symbols);
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

/* The table for two bytes of a transcript: classes that are told apart by nothing stay apart here. */
static void build_pairs(encoder *e, const uint8_t *ascii) {
    enum { N_COLUMNS = N_CLASSES + 1, PAIR_BITS = 2 * CLASS_BITS + 1, SKIP = N_CLASSES };
    arena *memory = &e->memory;
    const int32_t *target = e->splitting.target, *action = e->splitting.action;
    uint32_t *pairs = ZEROS(memory, uint32_t, e->n_states << PAIR_BITS);
    int32_t *known_after = ROOM(memory, int32_t, N_COLUMNS * N_COLUMNS);
    uint8_t *pair_class = ROOM(memory, uint8_t, 1 << 16);
    for (int c = 0; c < N_COLUMNS * N_COLUMNS; c++) {
        const int first = c / N_COLUMNS, second = c % N_COLUMNS;
        for (int64_t state = 0; state < e->n_states; state++) {
            int64_t at = state << CLASS_BITS;
            uint32_t does = 0;
            if (first != SKIP) {
                does = (uint32_t)action[at | first];
                at = target[at | first];
            }
            if (second != SKIP) {
                does |= (uint32_t)action[at | second] << 8;
                at = target[at | second];
            }
            const int32_t row = (int32_t)(at >> CLASS_BITS << PAIR_BITS);
            pairs[(state << PAIR_BITS) + c] = (uint32_t)row << 16 | does;
            known_after[c] = state == 0 || known_after[c] == row ? row : -1;
        }
    }
    for (int two = 0; two < 1 << 16; two++) {
        int column[2];
        for (int k = 0; k < 2; k++) {
            const int byte = two >> 8 * k & 0xFF, other = byte - TOKDFA_CONTINUATION - 1;
            column[k] = byte < 128 ? ascii[byte] : other >= 0 && other < N_CLASSES ? other : SKIP;
        }
        pair_class[two] = (uint8_t)(column[0] * N_COLUMNS + column[1]);
    }
    e->splitting.pairs = pairs;
    e->splitting.pair_class = pair_class;
    e->splitting.known_after = known_after;
    e->splitting.pair_bits = PAIR_BITS;
}

/* A machine of random steps: the step of a state on a symbol has parents and events for each hypothesis. */
static void build_splitting(encoder *e, input *in) {
    arena *memory = &e->memory;
    e->n_states = between(in, 1, MOST_STATES);
    const int64_t n_cells = e->n_states << CLASS_BITS, width = between(in, 1, MOST_WIDTH);
    /* Rows of eight are read in another way. */
    const int64_t row = e->n_states % 2 ? 8 : width;
    const int64_t n_kinds = between(in, 1, 3);
    uint8_t *ascii = ROOM(memory, uint8_t, 128), *classes = ROOM(memory, uint8_t, n_kinds * PAGE);
    uint16_t *pages = ROOM(memory, uint16_t, N_PAGES);
    uint8_t *settles = ROOM(memory, uint8_t, n_cells), *borne_out = ROOM(memory, uint8_t, e->n_states);
    uint8_t *parent = ZEROS(memory, uint8_t, n_cells * row), *event = ZEROS(memory, uint8_t, n_cells * row);
    uint8_t *parents = ROOM(memory, uint8_t, n_cells * row), *events = ROOM(memory, uint8_t, n_cells * row);
    int32_t *target = ROOM(memory, int32_t, n_cells), *action = ROOM(memory, int32_t, n_cells);
    const int flags = take(in), shift = flags & 7;
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
        borne_out[state] = (uint8_t)below(in, e->n_hypotheses[state]);
    }
    int32_t n_open = 0;
    for (int64_t cell = 0; cell < n_cells; cell++) {
        const int64_t from = cell >> CLASS_BITS, to = below(in, e->n_states);
        target[cell] = (int32_t)(to << CLASS_BITS);
        for (int64_t h = 0; h < width; h++) {
            const int what = h < e->n_hypotheses[to] ? take(in) : 0;
            parent[cell * row + h] = (uint8_t)(what % e->n_hypotheses[from]);
            event[cell * row + h] = (uint8_t)((what >> 4) % 3);
        }
        action[cell] = event[cell * row];
        if (e->n_hypotheses[from] > 1 || e->n_hypotheses[to] > 1) {
            memcpy(parents + n_open * row, parent + cell * row, (size_t)row);
            memcpy(events + n_open * row, event + cell * row, (size_t)row);
            settles[n_open] = e->n_hypotheses[to] == 1;
            action[cell] = TOKDFA_UNSETTLED + n_open++;
        }
    }
    e->parent = parent;
    e->event = event;
    static const int64_t blocks[4] = {TOKDFA_LONGEST_PART, 4, 37, 200}, least_chains[4] = {64, 1, 5, 1000};
    e->splitting = (tokdfa_splitting){
        .ascii_class = ascii, .pages = pages, .classes = classes, .target = target, .action = action,
        .settles = settles, .parent = parents, .event = events, .width = row, .class_bits = CLASS_BITS,
        .borne_out = borne_out, .block = blocks[flags >> 4 & 3], .least_chain = least_chains[flags >> 6],
    };
    if (!(flags & 8)) {
        build_pairs(e, ascii);
    }
}

static void *build(input *in) {
    encoder *e = calloc(1, sizeof *e);
    REQUIRE(e);
    e->d = read_dictionary(in);
    build_dictionary(e, in);
    build_splitting(e, in);
    return e;
}

static void release(void *shared) {
    encoder *e = shared;
    free_dictionary(e->d);
    give_back(&e->memory);
    free(e);
}

#endif
