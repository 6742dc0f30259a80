/* Bans and the product of guides, on small tables from bytes, against definitions that look at every place. */
#include "../../../tokdfa/kernels/dfa/door.h"
#include "../../../tokdfa/kernels/guiding/door.h"
#include "harness.h"

enum { MOST_IDS = 20, MOST_LENGTH = 4, MOST_TEXTS = 5, MOST_CORES = 4, MOST_CUTS = 3, MOST_ROWS = 4, N_COLUMNS = 3 };
enum { MISSING = -1, NO_ROOM = -2, NO_ROOM_FOR_ANY = -5 };

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
    tokdfa_guide_room room, every_room;
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

static void use_ban(tables *t, input *in) {
    uint8_t *alive = ZEROS(&t->memory, uint8_t, t->n_texts);
    for (int64_t q = 1; q < t->n_texts; q++) {
        alive[q] = take(in) % 4 > 0;
    }
    const tokdfa_ban ban = {.table = t->table, .column = t->column, .n_columns = N_COLUMNS, .alive = alive,
                            .n_alive = t->n_texts, .text = t->text, .offsets = t->offsets, .n_offsets = t->n_ids + 1,
                            .symbol = t->symbol, .n_symbol = t->n_nodes, .depth = t->depth, .end = t->end,
                            .first = t->first, .words = t->words};
    int32_t *path = ROOM(&t->memory, int32_t, 2 * (MOST_LENGTH + 1));
    for (int32_t state = 1; state < t->n_texts; state++) {
        uint32_t *mask = ZEROS(&t->memory, uint32_t, 1);
        const int32_t like = (int32_t)below(in, t->n_texts);
        if (like > 0) {
            tokdfa_ban_mask(&ban, like, 0, path, mask);
        }
        tokdfa_ban_mask(&ban, state, like, path, mask);
        for (int32_t id = 0; id < t->n_ids; id++) {
            const int64_t reached = text_after(t, state, id);
            REQUIRE((mask[0] >> id & 1) == alive[reached]);
            REQUIRE(tokdfa_ban_step(&ban, state, id) == (alive[reached] ? reached : 0));
        }
    }
    REQUIRE(tokdfa_ban_step(&ban, (int32_t)t->n_texts, 0) == 0 && tokdfa_ban_step(&ban, 1, (int32_t)t->n_ids) == 0);
}

/* The product */

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
    /* What a row forbids may only take hypotheses away. */
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
                                .spelled = ZEROS(memory, int32_t, 256), .n_spelled = 256, .text = t->text,
                                .offsets = t->offsets, .symbol = t->symbol, .n_symbol = t->n_nodes, .depth = t->depth,
                                .end = t->end, .first = t->first, .words = t->words, .byte_id = byte_id,
                                .special_ids = none, .n_special_ids = 0, .ending = ending, .n_ending = n_ending,
                                .ending_from = ending_from};
}

/* Group the ids by a language: one atom an id, some of which are bits too. */
static tokdfa_guide_texts read_groups(tables *t, int32_t *table, int64_t n_texts, uint8_t *final_text, input *in) {
    arena *memory = &t->memory;
    /* Distances, and nowhere for what leads to no end. */
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
    const int64_t n = tokdfa_merge_nodes(columns, t->end, t->n_nodes, is_dead, N_COLUMNS, out[0], out[1], out[2], out[3],
                                         out[4], out[5]);
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

static void make_slots(tables *t, tokdfa_guide_room *room, int64_t n) {
    arena *memory = &t->memory;
    const int32_t *keys = room->keys;
    const uint8_t *values = room->values;
    const int64_t n_before = room->n_values;
    room->keys = ZEROS(memory, int32_t, 4 * n), room->values = ZEROS(memory, uint8_t, n);
    room->n_values = n, room->n_known = 0, room->low = ZEROS(memory, int32_t, n);
    tokdfa_guide_enter(room, keys, values, n_before);
}

static void make_trail(tables *t, tokdfa_guide_room *room, int64_t n) {
    room->trail = ZEROS(&t->memory, int32_t, n), room->n_trail = n;
    room->frames = ZEROS(&t->memory, int32_t, 5 * n);
}

static void make_room(tables *t, tokdfa_guide_room *room, int64_t n_texts) {
    arena *memory = &t->memory;
    make_slots(t, room, 2);
    make_trail(t, room, 1);
    room->path = ZEROS(memory, int32_t, MOST_LENGTH + 1), room->trace = ZEROS(memory, int32_t, MOST_LENGTH + 1);
    room->hint = MINUS_ONES(memory, int32_t, 8), room->n_hint = 8;
    room->near = ROOM(memory, int32_t, 4 * n_texts);
    for (int64_t k = 0; k < 4 * n_texts; k++) {
        room->near[k] = -2;
    }
}

/* What the class in Python does where the kernel lacks something. */
static void help(tables *t, int64_t status) {
    REQUIRE(status == MISSING || status == NO_ROOM || status == NO_ROOM_FOR_ANY);
    tokdfa_guide_room *room = status == NO_ROOM_FOR_ANY ? &t->every_room : &t->room;
    if (status == MISSING) {
        const int64_t at = t->room.missing_core * t->width + t->room.missing_column;
        REQUIRE(t->splits.targets[at] == -1);
        ((int32_t *)(uintptr_t)t->splits.targets)[at] = t->targets[at];
    } else if (2 * room->n_known >= room->n_values) {
        make_slots(t, room, 2 * room->n_values);
    } else {
        make_trail(t, room, 2 * room->n_trail);
    }
}

#define HELPED_ONCE(status, call)                                                                                      \
    if (((status) = (call)) < 0) {                                                                                     \
        help(t, (status));                                                                                             \
    }

#define HELPED(status, call)                                                                                           \
    while (((status) = (call)) < 0) {                                                                                  \
        help(t, (status));                                                                                             \
    }

static bool is_forbidden(const tables *t, int64_t row, int64_t id) {
    const int32_t position = t->ids.position[id];
    bool found = false;
    for (int32_t k = t->followers.pointer[row]; k < t->followers.pointer[row + 1]; k++) {
        found = found || (t->followers.start[k] <= position && position < t->followers.stop[k]);
    }
    return found;
}

static bool step_by_definition(const tables *t, spot from, int64_t id, spot *to) {
    const int64_t number = id + 1, K = t->n_classes;
    const bool may_continue = !is_forbidden(t, from.row, id);
    const uint32_t head = t->splits.head[number];
    int64_t core, cut = t->splits.tail[number];
    if (from.cut == 0) {
        core = head ? 0 : t->targets[from.core * t->width + 2 * number + may_continue];
    } else {
        int64_t reached = from.cut;
        bool is_whole = false;
        for (uint32_t k = 0; k < head >> 24; k++) {
            if (is_whole || reached == 0) {
                return false;
            }
            reached = t->splits.next_cut[64 * reached + (head >> (8 * k) & 63)];
            is_whole = reached < 0;
        }
        if (!may_continue || !head || t->splits.shape[number] & 2 || reached == 0) {
            return false;
        }
        if (is_whole) {
            core = t->targets[from.core * t->width + 4 * K - 1 - reached];
            core = t->targets[core * t->width + 2 * K + number];
        } else {
            if (t->splits.shape[number] & 1 || cut) {
                return false;
            }
            core = t->targets[from.core * t->width + 3 * K + number];
            cut = reached;
        }
    }
    *to = (spot){core, cut, t->ids.row_of[id], text_after(t, from.text, id)};
    return core && to->text;
}

static void use_guide(tables *t, input *in) {
    read_splits(t, in);
    t->texts = read_groups(t, t->table, t->n_texts, t->final_text, in);
    int32_t *same = ZEROS(&t->memory, int32_t, 2 * N_COLUMNS);
    uint8_t *final = ZEROS(&t->memory, uint8_t, 2);
    final[1] = 1;
    for (int64_t c = 0; c < N_COLUMNS; c++) {
        same[N_COLUMNS + c] = 1;
    }
    t->every_text = read_groups(t, same, 2, final, in);
    make_room(t, &t->room, t->n_texts);
    make_room(t, &t->every_room, 2);
    t->every = (tokdfa_guide){&t->splits, &t->followers, &t->ids, &t->every_text, &t->every_room, NULL};
    t->guide = (tokdfa_guide){&t->splits, &t->followers, &t->ids, &t->texts, &t->room, take(in) % 4 ? &t->every : NULL};
    const int64_t n = t->n_cores * t->n_cuts * t->n_rows * t->n_texts;
    uint8_t *alive = ZEROS(&t->memory, uint8_t, n);
#define NUMBER(s) (((s.core * t->n_cuts + s.cut) * t->n_rows + s.row) * t->n_texts + s.text)
    for (bool more = true; more;) {
        more = false;
        for (int64_t k = 0; k < n; k++) {
            const spot s = {k / t->n_texts / t->n_rows / t->n_cuts, k / t->n_texts / t->n_rows % t->n_cuts,
                            k / t->n_texts % t->n_rows, k % t->n_texts};
            bool goes_on = s.core && s.text && !s.cut && t->splits.final[s.core] && t->final_text[s.text];
            for (int64_t id = 0; id < t->n_ids && !alive[k] && !goes_on && s.core && s.text; id++) {
                spot to;
                goes_on = step_by_definition(t, s, id, &to) && alive[NUMBER(to)];
            }
            more = more || (goes_on && !alive[k]);
            alive[k] = alive[k] || goes_on;
        }
    }
    const int64_t first = left_in(in) ? take(in) : 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = (i * 7 + first) % n;
        const spot s = {k / t->n_texts / t->n_rows / t->n_cuts, k / t->n_texts / t->n_rows % t->n_cuts,
                        k / t->n_texts % t->n_rows, k % t->n_texts};
        const int32_t split = (int32_t)(s.core * t->n_cuts + s.cut), row = (int32_t)s.row, text = (int32_t)s.text;
        if (!s.core || !s.text || t->texts.distance[s.text] < 0) {
            continue;
        }
        int64_t status;
        HELPED(status, tokdfa_guide_goes_on(&t->guide, split, row, 0, text));
        REQUIRE(status == alive[k]);
        uint32_t allowed, fragile;
        do {
            allowed = fragile = 0;
            HELPED_ONCE(status, tokdfa_guide_next(&t->guide, split, 0, text, NULL, 0, &allowed, &fragile));
        } while (status < 0);
        int32_t ids[MOST_IDS], free[MOST_IDS], cut[MOST_IDS], spelled_to[MOST_IDS], text_to[MOST_IDS];
        for (int32_t id = 0; id < t->n_ids; id++) {
            ids[id] = id;
        }
        HELPED(status, tokdfa_guide_targets(&t->guide, split, 0, text, ids, t->n_ids, free, cut, spelled_to, text_to));
        for (int32_t id = 0; id < t->n_ids; id++) {
            spot to;
            for (int64_t k = 0; k < 2; k++) {
                const bool is_way = step_by_definition(t, (spot){s.core, s.cut, k, s.text}, id, &to);
                const int32_t found = k ? cut[id] : free[id];
                REQUIRE(text_to[id] == text_after(t, s.text, id) && spelled_to[id] == 0);
                REQUIRE(is_way == (found && text_to[id]) && (!is_way || found == to.core * t->n_cuts + to.cut));
            }
            const bool is_one = step_by_definition(t, s, id, &to);
            HELPED(status, tokdfa_guide_target(&t->guide, split, row, 0, text, id));
            REQUIRE(status == is_one);
            REQUIRE(!is_one || (t->room.found_split == to.core * t->n_cuts + to.cut && t->room.found_row == to.row &&
                                t->room.found_text == to.text && t->room.found_spelled == 0));
            HELPED(status, tokdfa_guide_step(&t->guide, split, row, 0, text, id));
            REQUIRE(status == (is_one && alive[NUMBER(to)]));
            /* The mask of the row: what is allowed, without what is fragile and forbidden. */
            const bool is_cut = is_forbidden(t, row, id);
            REQUIRE(status == ((allowed >> id & 1) && !(is_cut && fragile >> id & 1)));
        }
    }
    REQUIRE(tokdfa_guide_goes_on(&t->guide, 0, 0, 0, 1) == -4 && tokdfa_guide_step(&t->guide, 1 << 20, 0, 0, 1, 0) == -4);
}

static void *build(input *in) {
    (void)in;
    return NULL;
}

static void use(const void *shared, input *in) {
    (void)shared;
    tables t;
    memset(&t, 0, sizeof t);
    const int what = take(in);
    read_words(&t, in);
    if (what & 1) {
        use_ban(&t, in);
    } else {
        use_guide(&t, in);
    }
    give_back(&t.memory);
}

static void release(void *shared) {
    (void)shared;
}

const target guiding_target = {"guiding", build, use, release};
