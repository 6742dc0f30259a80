/* Tables of bans and of guides, made of bytes: words, splits, and ids grouped by a language. */
#ifndef TOKDFA_GUIDING_TABLES_H
#define TOKDFA_GUIDING_TABLES_H

#include "../../../../tokdfa/kernels/dfa/api.h"
#include "../../../../tokdfa/kernels/guiding/api.h"
#include "harness.h"


enum { MOST_IDS = 20, MOST_LENGTH = 4, MOST_TEXTS = 5, MOST_CORES = 4, MOST_CUTS = 3, MOST_ROWS = 4, N_COLUMNS = 3 };
enum { MISSING = -1, TABLE_FULL = -2, TABLE_OF_ANY_FULL = -5 };

typedef struct {
    arena memory;
    int64_t n_ids, n_texts, n_cores, n_cuts, n_rows, n_classes, width, n_nodes;
    uint8_t *text, *final_text;
    int64_t *offsets;
    int32_t *table, *column, *symbol, *depth, *end, *first, *words, *targets, *head_length;
    tokdfa_followers followers;
    tokdfa_split_machine splits;
    tokdfa_guide_ids ids;
    tokdfa_guide_texts texts, every_text;
    tokdfa_guide_cache cache, every_cache;
    tokdfa_guide guide, every;
} tables;

typedef struct {
    int64_t core, cut, row, text;
} spot;

static const uint8_t LETTERS[6] = {'a', 'b', ' ', 0x80, 0x81, 0xC3};

static int compare_words(const tables *t, int64_t a, int64_t b) {
    for (int64_t k = 0;; k++) {
        const int64_t x = t->offsets[a] + k, y = t->offsets[b] + k;
        if (x == t->offsets[a + 1] || y == t->offsets[b + 1]) {
            return (x == t->offsets[a + 1]) ? -(y < t->offsets[b + 1]) : 1;
        }
        if (t->text[x] != t->text[y]) {
            return t->text[x] < t->text[y] ? -1 : 1;
        }
    }
}

static void read_words(tables *t, input *in) {
    arena *memory = &t->memory;
    t->n_ids = between(in, 1, MOST_IDS);
    t->text = ROOM(memory, uint8_t, t->n_ids * MOST_LENGTH);
    t->offsets = ROOM(memory, int64_t, t->n_ids + 1);
    t->offsets[0] = 0;
    for (int64_t id = 0; id < t->n_ids; id++) {
        int64_t length = between(in, 1, MOST_LENGTH), at = t->offsets[id];
        for (int64_t k = 0; k < length; k++) {
            t->text[at++] = LETTERS[take(in) % 6];
        }
        t->offsets[id + 1] = at;
    }
    const int64_t size = t->offsets[t->n_ids];
    t->text = exactly(memory, t->text, size, 1);
    int32_t *symbols = ROOM(memory, int32_t, size);
    for (int64_t at = 0; at < size; at++) {
        symbols[at] = t->text[at];
    }
    int64_t *order = ROOM(memory, int64_t, t->n_ids);
    for (int64_t n = 0; n < t->n_ids; n++) {
        int64_t place = n;
        for (; place > 0 && compare_words(t, order[place - 1], n) > 0; place--) {
            order[place] = order[place - 1];
        }
        order[place] = n;
    }
    int32_t *made[4];
    for (int k = 0; k < 4; k++) {
        made[k] = ROOM(memory, int32_t, size + 2);
    }
    WITH_MEMORY(t->n_nodes, tokdfa_build_trie(symbols, t->offsets, order, t->n_ids, made[0], made[1], made[2], made[3]));
    t->symbol = exactly(memory, made[0], t->n_nodes, 4);
    t->depth = exactly(memory, made[1], t->n_nodes, 4);
    t->end = exactly(memory, made[2], t->n_nodes, 4);
    t->first = exactly(memory, made[3], t->n_nodes + 1, 4);
    t->words = ROOM(memory, int32_t, t->n_ids);
    for (int64_t n = 0; n < t->n_ids; n++) {
        t->words[n] = (int32_t)order[n];
    }
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

static int64_t text_after(const tables *t, int64_t state, int64_t id) {
    for (int64_t at = t->offsets[id]; at < t->offsets[id + 1]; at++) {
        state = t->table[state * N_COLUMNS + t->column[t->text[at]]];
    }
    return state;
}

static void read_splits(tables *t, input *in) {
    arena *memory = &t->memory;
    t->n_cores = between(in, 2, MOST_CORES), t->n_cuts = between(in, 1, MOST_CUTS), t->n_rows = between(in, 2, MOST_ROWS);
    t->n_classes = t->n_ids + 1;
    const int64_t n_symbols = 2;
    t->width = 4 * t->n_classes + n_symbols;
    int32_t *targets = MINUS_ONES(memory, int32_t, t->n_cores * t->width), *filled = ROOM(memory, int32_t, t->n_cores * t->width);
    for (int64_t k = 0; k < t->n_cores * t->width; k++) {
        filled[k] = k < t->width ? 0 : (int32_t)below(in, t->n_cores);
    }
    /* The ids that a row forbids may only take hypotheses away. */
    for (int64_t core = 1; core < t->n_cores; core++) {
        for (int64_t number = 0; number < t->n_classes; number++) {
            int32_t *both = filled + core * t->width + 2 * number;
            both[0] = take(in) & 1 ? both[1] : 0;
        }
    }
    memset(targets, 0, (size_t)t->width * sizeof *targets);
    t->targets = filled;
    uint8_t *final = ZEROS(memory, uint8_t, t->n_cores), *shape = ZEROS(memory, uint8_t, t->n_classes);
    int32_t *next_cut = ZEROS(memory, int32_t, 64 * t->n_cuts), *tail = ZEROS(memory, int32_t, t->n_classes);
    uint32_t *head = ZEROS(memory, uint32_t, t->n_classes);
    for (int64_t core = 1; core < t->n_cores; core++) {
        final[core] = take(in) % 3 == 0;
    }
    for (int64_t cut = 1; cut < t->n_cuts; cut++) {
        for (int64_t byte = 0; byte < 2; byte++) {
            next_cut[64 * cut + byte] = (int32_t)between(in, -n_symbols, t->n_cuts - 1);
        }
    }
    int32_t *class_of = ROOM(memory, int32_t, t->n_ids), *row_of = ROOM(memory, int32_t, t->n_ids);
    int32_t *position = ROOM(memory, int32_t, t->n_ids), *none = MINUS_ONES(memory, int32_t, t->n_ids);
    int32_t *ending = ROOM(memory, int32_t, t->n_ids), *ending_from = ZEROS(memory, int32_t, t->n_ids + 1);
    int32_t *byte_id = MINUS_ONES(memory, int32_t, 256);
    int64_t n_ending = 0;
    for (int32_t id = 0; id < t->n_ids; id++) {
        const int64_t number = id + 1, at = t->offsets[id], length = t->offsets[id + 1] - at;
        class_of[id] = (int32_t)number;
        row_of[id] = (int32_t)below(in, t->n_rows);
        position[id] = id;
        int64_t n_head = 0;
        while (n_head < length && n_head < 3 && (t->text[at + n_head] & 0xC0) == 0x80) {
            head[number] |= (uint32_t)t->text[at + n_head] << (8 * n_head);
            n_head++;
        }
        head[number] |= (uint32_t)n_head << 24;
        tail[number] = (int32_t)below(in, t->n_cuts);
        shape[number] = (uint8_t)(take(in) & 3);
        if (shape[number] & 2) {
            /* No row forbids a whole piece. */
            position[id] = -1;
            for (int64_t core = 1; core < t->n_cores; core++) {
                filled[core * t->width + 2 * number + 1] = filled[core * t->width + 2 * number];
            }
        }
        ending_from[id] = (int32_t)n_ending;
        if (n_head > 0 && position[id] >= 0) {
            ending[n_ending++] = id;
        }
        if (length == 1) {
            byte_id[t->text[at]] = id;
        }
    }
    ending_from[t->n_ids] = (int32_t)n_ending;
    /* Row 0 forbids nothing, row 1 all, the others up to two intervals. */
    int32_t *pointer = ZEROS(memory, int32_t, t->n_rows + 1), *start = ROOM(memory, int32_t, 2 * MOST_ROWS);
    int32_t *stop = ROOM(memory, int32_t, 2 * MOST_ROWS), n = 0;
    for (int64_t row = 1; row < t->n_rows; row++) {
        int64_t from = 0;
        for (int k = 0; k < (row == 1 ? 1 : 2) && from < t->n_ids; k++) {
            start[n] = row == 1 ? 0 : (int32_t)between(in, from, t->n_ids - 1);
            stop[n] = row == 1 ? (int32_t)t->n_ids : (int32_t)between(in, start[n] + 1, t->n_ids);
            from = stop[n++] + 1;
        }
        pointer[row + 1] = n;
    }
    t->followers = (tokdfa_followers){.pointer = pointer, .n_pointer = t->n_rows + 1, .start = start, .stop = stop,
                                      .id_at = ending};
    t->splits = (tokdfa_split_machine){.targets = targets, .n_targets = t->n_cores * t->width, .final = final,
                                       .n_final = t->n_cores, .next_cut = next_cut, .head = head, .tail = tail,
                                       .shape = shape, .n_classes = t->n_classes, .n_cuts = t->n_cuts, .width = t->width};
    t->ids = (tokdfa_guide_ids){.class_of = class_of, .n_class_of = t->n_ids, .row_of = row_of, .position = position,
                                .special_of = none, .from_start = ZEROS(memory, int32_t, t->n_ids),
                                .spelled = ZEROS(memory, int32_t, 256), .n_spelled = 256,
                                .order_after = ZEROS(memory, int32_t, 256), .n_orders = 1, .text = t->text,
                                .offsets = t->offsets, .symbol = t->symbol, .n_symbol = t->n_nodes, .depth = t->depth,
                                .end = t->end, .first = t->first, .words = t->words, .byte_id = byte_id,
                                .special_ids = none, .n_special_ids = 0, .ending = ending, .n_ending = n_ending,
                                .ending_from = ending_from};
}

/* Group the ids by a language: one atom an id; some atoms are bits too. */
static tokdfa_guide_texts read_groups(tables *t, int32_t *table, int64_t n_texts, uint8_t *final_text, input *in) {
    arena *memory = &t->memory;
    /* Distances, and -1 for states that lead to no end. */
    int32_t *distance = ROOM(memory, int32_t, n_texts);
    uint8_t *nearest = ZEROS(memory, uint8_t, n_texts), *is_dead = ROOM(memory, uint8_t, N_COLUMNS);
    for (int64_t q = 0; q < n_texts; q++) {
        distance[q] = final_text[q] ? 0 : -1;
    }
    for (int64_t length = 1; length < n_texts; length++) {
        for (int64_t q = 1; q < n_texts; q++) {
            for (int64_t c = 0; c < N_COLUMNS && distance[q] < 0; c++) {
                const int32_t to = table[q * N_COLUMNS + c];
                if (to > 0 && distance[to] == length - 1) {
                    distance[q] = (int32_t)length;
                    /* The least byte of the column. */
                    nearest[q] = (uint8_t)c;
                }
            }
        }
    }
    for (int64_t c = 0; c < N_COLUMNS; c++) {
        is_dead[c] = 1;
        for (int64_t q = 0; q < n_texts; q++) {
            int32_t *to = table + q * N_COLUMNS + c;
            *to = distance[*to] < 0 ? 0 : *to;
            is_dead[c] = is_dead[c] && *to == 0;
        }
    }
    int32_t *columns = ROOM(memory, int32_t, t->n_nodes), *out[6];
    for (int64_t v = 0; v < t->n_nodes; v++) {
        columns[v] = v ? t->column[t->symbol[v]] : 0;
    }
    for (int k = 0; k < 6; k++) {
        out[k] = ROOM(memory, int32_t, t->n_nodes);
    }
    const int64_t n = tokdfa_merge_nodes(&(tokdfa_merge_job){columns, t->n_nodes, t->end, is_dead, N_COLUMNS, out[0],
                                                             out[1], out[2], out[3], out[4], out[5]});
    REQUIRE(n >= 1 && n <= t->n_nodes);
    /* An atom an id, in the order of the nodes; ids with a dead column are in none. */
    int32_t *at_node = ROOM(memory, int32_t, n + 1), *atom_class = ROOM(memory, int32_t, t->n_ids);
    int32_t *atom_begin = ROOM(memory, int32_t, t->n_ids + 1), *atom_ids = ROOM(memory, int32_t, t->n_ids), found = 0;
    for (int64_t node = 0; node < n; node++) {
        at_node[node] = found;
        for (int64_t v = 0; v < t->n_nodes; v++) {
            REQUIRE(out[0][v] >= -1 && out[0][v] < n);
            REQUIRE(out[0][v] < 0 || (out[4][out[0][v]] == t->depth[v] && (!v || out[3][out[0][v]] == columns[v])));
            for (int32_t k = t->first[v]; out[0][v] == node && k < t->first[v + 1]; k++) {
                atom_begin[found] = found;
                atom_class[found] = t->words[k] + 1;
                atom_ids[found++] = t->words[k];
            }
        }
    }
    at_node[n] = atom_begin[found] = found;
    int32_t *atom_row = MINUS_ONES(memory, int32_t, t->n_ids);
    uint32_t *atom_bits = ROOM(memory, uint32_t, t->n_ids);
    for (int32_t atom = 0; atom < found; atom++) {
        atom_bits[atom] = (uint32_t)1 << atom_ids[atom];
        atom_row[atom] = take(in) & 1 ? atom : -1;
    }
    return (tokdfa_guide_texts){.table = table, .column = t->column, .n_columns = N_COLUMNS,
                                    .final = final_text, .n_final = n_texts, .distance = distance,
                                    .nearest = nearest, .special_target = ZEROS(memory, int32_t, 1), .n_specials = 0,
                                    .node_column = exactly(memory, out[3], n, 4), .n_node_column = n,
                                    .node_depth = exactly(memory, out[4], n, 4), .node_end = exactly(memory, out[5], n, 4),
                                    .at_node = at_node, .atom_class = atom_class, .n_atom_class = found,
                                    .atom_spelled = ZEROS(memory, int32_t, t->n_ids), .atom_begin = atom_begin,
                                    .atom_ids = atom_ids, .atom_row = atom_row, .atom_bits = atom_bits};
}

static void make_slots(tables *t, tokdfa_guide_cache *cache, int64_t n) {
    arena *memory = &t->memory;
    const int32_t *keys = cache->keys;
    const uint8_t *values = cache->values;
    const int64_t n_before = cache->n_values;
    cache->keys = ZEROS(memory, int32_t, 4 * n), cache->values = ZEROS(memory, uint8_t, n);
    cache->n_values = n, cache->n_known = 0, cache->low = ZEROS(memory, int32_t, n);
    tokdfa_guide_enter(cache, keys, values, n_before);
}

static void make_trail(tables *t, tokdfa_guide_cache *cache, int64_t n) {
    cache->trail = ZEROS(&t->memory, int32_t, n), cache->n_trail = n;
    cache->frames = ZEROS(&t->memory, int32_t, 5 * n);
}

static void make_cache(tables *t, tokdfa_guide_cache *cache, int64_t n_texts) {
    arena *memory = &t->memory;
    make_slots(t, cache, 2);
    make_trail(t, cache, 1);
    cache->path = ZEROS(memory, int32_t, MOST_LENGTH + 1), cache->trace = ZEROS(memory, int32_t, MOST_LENGTH + 1);
    cache->hint = MINUS_ONES(memory, int32_t, 8), cache->n_hint = 8;
    cache->near = ROOM(memory, int32_t, 4 * n_texts);
    for (int64_t k = 0; k < 4 * n_texts; k++) {
        cache->near[k] = -2;
    }
}

#endif
