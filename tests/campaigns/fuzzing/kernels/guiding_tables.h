/* Tables of bans and of guides, made of bytes: words and special tokens, splits, rows, and the scan of the text. */
#ifndef TOKDFA_GUIDING_TABLES_H
#define TOKDFA_GUIDING_TABLES_H

#include "../../../../tokdfa/kernels/dfa/api.h"
#include "../../../../tokdfa/kernels/guiding/api.h"
#include "harness.h"

enum { MOST_WORDS = 34, MOST_SPECIALS = 2, MOST_IDS = MOST_WORDS + MOST_SPECIALS, MOST_LENGTH = 4 };
enum { MOST_TEXTS = 5, MOST_CORES = 4, MOST_CUTS = 3, MOST_ROWS = 5, MOST_SCANS = 3, MOST_ORDERS = 2, N_COLUMNS = 3 };
enum { MISSING = -1, TABLE_FULL = -2, TOO_MANY = -3, NO_SUCH_STATE = -4, TABLE_OF_ANY_FULL = -5 };
enum { NO_ROW = 0, EVERY_ROW = 1, N_OTHER_ROWS = 2, IS_ALONE = 2, IS_SPECIAL = 4 };

/* The ids are the words, and then the special tokens, which have no bytes. */
typedef struct {
    arena memory;
    int64_t n_words, n_specials, n_ids, n_mask, n_texts, n_cores, n_cuts, n_rows, n_classes, width, n_nodes, n_spelled;
    uint8_t *text, *final_text;
    int64_t *offsets;
    int32_t *table, *column, *symbol, *depth, *end, *first, *words;
    int32_t *targets; /* of the pre-tokenizer, with no cell missing */
    tokdfa_followers followers;
    tokdfa_forbidding forbidding;
    tokdfa_split_machine splits;
    tokdfa_guide_ids ids;
    tokdfa_guide_texts texts, every_text;
    tokdfa_guide_cache cache, every_cache;
    tokdfa_guide guide, every;
    bool knows_least;
} tables;

static const uint8_t LETTERS[6] = {'a', 'b', ' ', 0x80, 0x81, 0xC3};

static int compare_words(const uint8_t *text, const int64_t *offsets, int64_t a, int64_t b) {
    for (int64_t k = 0;; k++) {
        const int64_t x = offsets[a] + k, y = offsets[b] + k;
        if (x == offsets[a + 1] || y == offsets[b + 1]) {
            return (x == offsets[a + 1]) ? -(y < offsets[b + 1]) : 1;
        }
        if (text[x] != text[y]) {
            return text[x] < text[y] ? -1 : 1;
        }
    }
}

/* Make the trie of the words with some text: symbol, depth, end and first, and the words in its order. */
static int64_t make_trie(tables *t, const uint8_t *text, int32_t **made, int64_t *order) {
    arena *memory = &t->memory;
    const int64_t size = t->offsets[t->n_ids];
    int64_t n_nodes;
    int32_t *symbols = ROOM(memory, int32_t, size);
    for (int64_t at = 0; at < size; at++) {
        symbols[at] = text[at];
    }
    for (int64_t n = 0; n < t->n_words; n++) {
        int64_t place = n;
        for (; place > 0 && compare_words(text, t->offsets, order[place - 1], n) > 0; place--) {
            order[place] = order[place - 1];
        }
        order[place] = n;
    }
    for (int k = 0; k < 4; k++) {
        made[k] = ROOM(memory, int32_t, size + 2);
    }
    WITH_MEMORY(n_nodes, tokdfa_build_trie(symbols, t->offsets, order, t->n_words, made[0], made[1], made[2], made[3]));
    for (int k = 0; k < 4; k++) {
        made[k] = exactly(memory, made[k], n_nodes + (k == 3), 4);
    }
    return n_nodes;
}

static void read_words(tables *t, input *in) {
    arena *memory = &t->memory;
    t->n_words = between(in, 1, MOST_WORDS), t->n_specials = between(in, 0, MOST_SPECIALS);
    t->n_ids = t->n_words + t->n_specials, t->n_mask = (t->n_ids + 31) / 32;
    t->text = ROOM(memory, uint8_t, t->n_words * MOST_LENGTH);
    t->offsets = ROOM(memory, int64_t, t->n_ids + 1);
    t->offsets[0] = 0;
    for (int64_t id = 0; id < t->n_ids; id++) {
        int64_t length = id < t->n_words ? between(in, 1, MOST_LENGTH) : 0, at = t->offsets[id];
        for (int64_t k = 0; k < length; k++) {
            t->text[at++] = LETTERS[take(in) % 6];
        }
        t->offsets[id + 1] = at;
    }
    const int64_t size = t->offsets[t->n_ids];
    t->text = exactly(memory, t->text, size, 1);
    int64_t *order = ROOM(memory, int64_t, t->n_words);
    int32_t *made[4];
    t->n_nodes = make_trie(t, t->text, made, order);
    t->symbol = made[0], t->depth = made[1], t->end = made[2], t->first = made[3];
    t->words = ROOM(memory, int32_t, t->n_words);
    for (int64_t n = 0; n < t->n_words; n++) {
        t->words[n] = (int32_t)order[n];
    }
}

/* An automaton over bytes, for the texts or for what is banned. */
static void read_automaton(tables *t, input *in) {
    arena *memory = &t->memory;
    t->n_texts = between(in, 2, MOST_TEXTS);
    t->table = ZEROS(memory, int32_t, t->n_texts * N_COLUMNS);
    t->column = ROOM(memory, int32_t, 256);
    t->final_text = ZEROS(memory, uint8_t, t->n_texts);
    for (int64_t byte = 0; byte < 256; byte++) {
        t->column[byte] = (int32_t)(byte % N_COLUMNS);
    }
    for (int64_t q = 1; q < t->n_texts; q++) {
        t->final_text[q] = take(in) % 3 == 0;
        for (int64_t c = 0; c < N_COLUMNS; c++) {
            t->table[q * N_COLUMNS + c] = (int32_t)below(in, t->n_texts);
        }
    }
}

static int64_t text_through(const tables *t, int64_t state, int64_t id) {
    for (int64_t at = t->offsets[id]; at < t->offsets[id + 1]; at++) {
        state = t->table[state * N_COLUMNS + t->column[t->text[at]]];
    }
    return state;
}

/* The rows of ids that may not follow: row 0 forbids nothing, row 1 all, the others up to two intervals. */
static void read_rows(tables *t, input *in) {
    arena *memory = &t->memory;
    int32_t *pointer = ZEROS(memory, int32_t, t->n_rows + 1), *start = ROOM(memory, int32_t, 2 * MOST_ROWS);
    int32_t *stop = ROOM(memory, int32_t, 2 * MOST_ROWS), *id_at = MINUS_ONES(memory, int32_t, t->n_words), n = 0;
    for (int32_t id = 0; id < t->n_words; id++) {
        id_at[id] = t->ids.position[id] < 0 ? -1 : id;
    }
    for (int64_t row = EVERY_ROW; row < t->n_rows; row++) {
        int64_t from = 0;
        for (int k = 0; k < (row == EVERY_ROW ? 1 : 2) && from < t->n_words; k++) {
            start[n] = row == EVERY_ROW ? 0 : (int32_t)between(in, from, t->n_words - 1);
            stop[n] = row == EVERY_ROW ? (int32_t)t->n_words : (int32_t)between(in, start[n] + 1, t->n_words);
            from = stop[n++] + 1;
        }
        pointer[row + 1] = n;
    }
    t->followers = (tokdfa_followers){.pointer = pointer, .n_pointer = t->n_rows + 1, .start = start, .stop = stop,
                                      .id_at = id_at};
    t->forbidding = (tokdfa_forbidding){.of_position = ZEROS(memory, int32_t, t->n_words), .n_words = 1, .n_room = 2,
                                        .bits = ZEROS(memory, uint32_t, 2)};
}

/* The last bytes of a symbol at the beginning of a word, as in `head`. */
static uint32_t head_of(const tables *t, int64_t id) {
    const int64_t at = t->offsets[id], length = t->offsets[id + 1] - at;
    uint32_t head = 0, n = 0;
    for (; n < length && n < 3 && (t->text[at + n] & 0xC0) == 0x80; n++) {
        head |= (uint32_t)t->text[at + n] << (8 * n);
    }
    return head | n << 24;
}

/* The classes of the ids: a word may share that of a word before it; class 0 has no id. */
static int32_t *read_classes(tables *t, input *in, uint32_t *head, int32_t *tail, uint8_t *shape) {
    int32_t *class_of = ROOM(&t->memory, int32_t, t->n_ids);
    t->n_classes = 1;
    for (int64_t id = 0; id < t->n_words; id++) {
        const int64_t like = id - below(in, id + 1);
        if (like < id && head_of(t, id) == head[class_of[like]]) {
            class_of[id] = class_of[like];
            continue;
        }
        head[t->n_classes] = head_of(t, id);
        tail[t->n_classes] = (int32_t)below(in, t->n_cuts);
        shape[t->n_classes] = (uint8_t)(take(in) & 3);
        class_of[id] = (int32_t)t->n_classes++;
    }
    if (t->n_specials) {
        shape[t->n_classes++] = IS_SPECIAL;
    }
    for (int64_t id = t->n_words; id < t->n_ids; id++) {
        class_of[id] = (int32_t)t->n_classes - 1;
    }
    return class_of;
}

/* The cores of the pre-tokenizer. Forbidden ids may only take hypotheses away, and no row forbids a whole piece. */
static void read_cores(tables *t, input *in, const uint8_t *shape, int64_t n_symbols) {
    t->width = 4 * t->n_classes + n_symbols;
    t->targets = ROOM(&t->memory, int32_t, t->n_cores * t->width);
    for (int64_t k = 0; k < t->n_cores * t->width; k++) {
        t->targets[k] = k < t->width ? 0 : (int32_t)below(in, t->n_cores);
    }
    for (int64_t core = 1; core < t->n_cores; core++) {
        for (int64_t number = 0; number < t->n_classes; number++) {
            int32_t *both = t->targets + core * t->width + 2 * number;
            both[0] = take(in) & 1 || shape[number] & (IS_ALONE | IS_SPECIAL) ? both[1] : 0;
        }
    }
}

static int32_t *read_splits(tables *t, input *in) {
    arena *memory = &t->memory;
    t->n_cores = between(in, 2, MOST_CORES), t->n_cuts = between(in, 1, MOST_CUTS);
    const int64_t n_symbols = 2, n = t->n_words + 2;
    uint32_t *head = ZEROS(memory, uint32_t, n);
    int32_t *tail = ZEROS(memory, int32_t, n), *next_cut = ZEROS(memory, int32_t, 64 * t->n_cuts);
    uint8_t *shape = ZEROS(memory, uint8_t, n), *final = ZEROS(memory, uint8_t, t->n_cores);
    int32_t *class_of = read_classes(t, in, head, tail, shape);
    read_cores(t, in, shape, n_symbols);
    /* Python finds a cell of the table when it is asked for. */
    int32_t *targets = MINUS_ONES(memory, int32_t, t->n_cores * t->width);
    memset(targets, 0, (size_t)t->width * sizeof *targets);
    for (int64_t core = 1; core < t->n_cores; core++) {
        final[core] = take(in) % 3 == 0;
    }
    for (int64_t cut = 1; cut < t->n_cuts; cut++) {
        for (int64_t byte = 0; byte < 2; byte++) {
            next_cut[64 * cut + byte] = (int32_t)between(in, -n_symbols, t->n_cuts - 1);
        }
    }
    t->splits = (tokdfa_split_machine){.targets = targets, .n_targets = t->n_cores * t->width, .final = final,
                                       .n_final = t->n_cores, .next_cut = next_cut,
                                       .head = exactly(memory, head, t->n_classes, 4),
                                       .tail = exactly(memory, tail, t->n_classes, 4),
                                       .shape = exactly(memory, shape, t->n_classes, 1),
                                       .n_classes = t->n_classes, .n_cuts = t->n_cuts, .width = t->width};
    return class_of;
}

/* The states of a scan are a chain: what is refused after one is refused after every greater one, so 0 refuses least.
   Returns the next target, at least as great as the one before; beyond the greatest state comes -1, which refuses. */
static int32_t next_in_chain(int64_t *least, int64_t n, input *in) {
    *least = between(in, *least, n);
    return *least == n ? -1 : (int32_t)*least;
}

static int32_t *read_chain(tables *t, int64_t n, input *in) {
    int32_t *table = ROOM(&t->memory, int32_t, 256 * n);
    for (int64_t c = 0; c < N_COLUMNS; c++) {
        int64_t least = 0;
        for (int64_t state = 0; state < n; state++) {
            const int32_t to = next_in_chain(&least, n, in);
            for (int64_t byte = c; byte < 256; byte += N_COLUMNS) {
                table[256 * state + byte] = to;
            }
        }
    }
    return table;
}

/* The scan of the text: after a special token the order of marks begins anew. */
static void read_scan(tables *t, input *in) {
    tokdfa_guide_ids *ids = &t->ids;
    const int64_t n = between(in, 1, MOST_SCANS), n_columns = t->n_specials ? between(in, 1, MOST_SPECIALS) : 0;
    ids->n_orders = between(in, 1, MOST_ORDERS), ids->n_spelled = 256 * n, t->n_spelled = n * ids->n_orders;
    ids->spelled = read_chain(t, n, in), ids->order_after = read_chain(t, ids->n_orders, in);
    int32_t *after = ROOM(&t->memory, int32_t, n * n_columns), *column = ROOM(&t->memory, int32_t, t->n_specials);
    for (int64_t c = 0; c < n_columns; c++) {
        int64_t least = 0;
        for (int64_t state = 0; state < n; state++) {
            const int32_t to = next_in_chain(&least, n, in);
            after[state * n_columns + c] = to < 0 ? -1 : to * (int32_t)ids->n_orders;
        }
    }
    for (int64_t k = 0; k < t->n_specials; k++) {
        column[k] = (int32_t)below(in, n_columns);
    }
    ids->after_special = after, ids->special_column = column, ids->n_special_columns = n_columns;
}

static int32_t scan_after(const tables *t, int64_t state, int64_t id) {
    const tokdfa_guide_ids *ids = &t->ids;
    int32_t found = (int32_t)(state / ids->n_orders), order = (int32_t)(state % ids->n_orders);
    if (id >= t->n_words) {
        return ids->after_special[found * ids->n_special_columns + ids->special_column[id - t->n_words]];
    }
    for (int64_t at = t->offsets[id]; at < t->offsets[id + 1] && found >= 0 && order >= 0; at++) {
        found = ids->spelled[256 * found + t->text[at]], order = ids->order_after[256 * order + t->text[at]];
    }
    return found < 0 || order < 0 ? -1 : found * (int32_t)ids->n_orders + order;
}

/* The ids, their splits, their rows and the scan of their text. */
static void read_ids(tables *t, input *in) {
    arena *memory = &t->memory;
    const int32_t *class_of = read_splits(t, in);
    t->n_rows = between(in, N_OTHER_ROWS + 1, MOST_ROWS);
    int32_t *row_of = ZEROS(memory, int32_t, t->n_ids), *position = MINUS_ONES(memory, int32_t, t->n_ids);
    int32_t *special_of = MINUS_ONES(memory, int32_t, t->n_ids), *special_ids = ROOM(memory, int32_t, t->n_specials);
    int32_t *ending = ROOM(memory, int32_t, t->n_words), *ending_from = ZEROS(memory, int32_t, t->n_words + 1);
    int32_t *byte_id = MINUS_ONES(memory, int32_t, 256), *from_start = ROOM(memory, int32_t, t->n_ids), n_ending = 0;
    for (int32_t id = 0; id < t->n_words; id++) {
        const bool is_alone = t->splits.shape[class_of[id]] & IS_ALONE;
        row_of[id] = is_alone ? EVERY_ROW : (int32_t)between(in, N_OTHER_ROWS, t->n_rows - 1);
        position[id] = is_alone ? -1 : id;
        ending_from[id] = n_ending;
        if (!is_alone && t->splits.head[class_of[id]]) {
            ending[n_ending++] = id;
        }
        if (!is_alone && t->offsets[id + 1] - t->offsets[id] == 1) {
            byte_id[t->text[t->offsets[id]]] = id;
        }
    }
    ending_from[t->n_words] = n_ending;
    for (int32_t k = 0; k < t->n_specials; k++) {
        special_ids[k] = (int32_t)t->n_words + k;
        special_of[special_ids[k]] = k;
    }
    t->ids = (tokdfa_guide_ids){.class_of = class_of, .n_class_of = t->n_ids, .row_of = row_of, .position = position,
                                .special_of = special_of, .from_start = from_start, .text = t->text,
                                .offsets = t->offsets, .symbol = t->symbol, .n_symbol = t->n_nodes, .depth = t->depth,
                                .end = t->end, .first = t->first, .words = t->words, .byte_id = byte_id,
                                .special_ids = special_ids, .n_special_ids = t->n_specials,
                                .ending = exactly(memory, ending, n_ending, 4), .n_ending = n_ending,
                                .ending_from = ending_from};
    read_rows(t, in);
    read_scan(t, in);
    for (int64_t id = 0; id < t->n_ids; id++) {
        from_start[id] = scan_after(t, 0, id);
    }
}

#endif
