/* A machine from bytes: a dictionary with its pair tests, and a table of random entries with the marks that a table must
   have, built as tokdfa/automata/compact.py and tokdfa/kernels/walk/walk.py have them built. */
#ifndef TOKDFA_WALK_MACHINE_H
#define TOKDFA_WALK_MACHINE_H

#include "../../../../tokdfa/kernels/walk/api.h"
#include "dictionary.h"
#include "normalization_form.h"

enum { CUT = -1, NO_TOKEN = -2, ALONE = -3 };
enum { BLOCK = 512, BLOCK_WORDS = BLOCK / 64 };
enum { LOOK = 1, UNKNOWN = 2, CLOSELY = 2 };
enum { DONE, ALARM, UNSURE, NOT_FINAL, NO_ID, UNDECIDED, NO_ROOM_FOR_PARTS = 5 };
enum { JOINS = 1, PARTS = 2 };
enum { MOST_IDS = 3 * 4096, MOST_STATES = 8, N_CODE_POINTS = 0x110000, MOST_CLASSES = 4 };

typedef struct {
    dictionary *d;
    int64_t n_ids;
    int32_t *tokens; /* of ids */
    uint8_t *id_text;
    int64_t *id_offsets;
    tokdfa_pair_test by_history, by_table;
    tokdfa_walker walker;
    int64_t n_states, n_classes;
    bool is_normalized;
    form form; /* if it is */
    arena memory;
} machine;

/* The table of all pairs, as tokdfa/automata/compact.py has it built. */
static void build_pairs(machine *m) {
    const dictionary *d = m->d;
    arena *memory = &m->memory;
    int32_t *below_ = ZEROS(memory, int32_t, d->n_tokens), *offset = ZEROS(memory, int32_t, d->n_tokens);
    int32_t *position = MINUS_ONES(memory, int32_t, d->n_tokens), *width = ZEROS(memory, int32_t, d->n_states);
    int32_t *product = MINUS_ONES(memory, int32_t, d->n_states);
    int64_t n_live = 0, deepest = 0;
    for (int64_t state = 1; state < d->n_states; state++) {
        product[state] = d->product[d->rule[state]];
    }
    for (int64_t token = 0; token < d->n_tokens; token++) {
        n_live += d->birth[token] >= 0;
    }
    int32_t *removed = exactly(memory, d->removed, d->n_states, sizeof *removed);
    tokdfa_arrange(&(tokdfa_arrangement){removed, d->n_states, d->birth, d->n_tokens, d->head, product, d->n_symbols,
                                         below_, offset, position, width});
    uint8_t *seen = ZEROS(memory, uint8_t, d->n_tokens);
    for (int64_t token = 0; token < d->n_tokens; token++) {
        REQUIRE(position[token] >= 0 && position[token] < d->n_tokens && !seen[position[token]]);
        REQUIRE((position[token] < n_live) == (d->birth[token] >= 0));
        seen[position[token]] = 1;
    }
    int32_t *first = ZEROS(memory, int32_t, d->n_states), *last = ZEROS(memory, int32_t, d->n_states);
    uint8_t *cut = ZEROS(memory, uint8_t, d->n_tokens + 1);
    for (int64_t state = 1; state < d->n_states; state++) {
        first[state] = position[removed[state]];
        last[state] = first[state] + width[state];
        cut[first[state]] = cut[last[state]] = 1;
    }
    cut[n_live] = 1;
    int32_t *column_at = ROOM(memory, int32_t, d->n_tokens + 1), column = 0;
    for (int64_t at = 0; at <= d->n_tokens; at++) {
        column_at[at] = column += cut[at];
    }
    const int64_t free_column = column + 1, n_columns = free_column + 2, a_row = (n_columns + BLOCK - 1) / BLOCK;
    const int64_t dead = n_live == d->n_tokens ? free_column : column_at[n_live];
    for (int64_t state = 0; state < d->n_states; state++) {
        first[state] = column_at[first[state]];
        last[state] = column_at[last[state]];
    }
    /* The states that some token reaches, and the initial one. */
    int32_t *states = ZEROS(memory, int32_t, d->n_tokens + 1);
    int64_t n_found = 1, n_states = 0;
    for (int64_t token = 0; token < d->n_tokens; token++) {
        if (d->birth[token] >= 0) {
            states[n_found++] = d->state[token];
        }
    }
    qsort(states, (size_t)n_found, sizeof *states, compare_points);
    for (int64_t i = 0; i < n_found; i++) {
        if (!n_states || states[n_states - 1] != states[i]) {
            states[n_states++] = states[i];
        }
    }
    states = exactly(memory, states, n_states, sizeof *states);
    int32_t *parent = exactly(memory, d->parent, d->n_states, sizeof *parent);
    int32_t *depth = ROOM(memory, int32_t, d->n_states);
    tokdfa_depths(parent, d->n_states, depth);
    for (int64_t state = 0; state < d->n_states; state++) {
        deepest = depth[state] > deepest ? depth[state] : deepest;
    }
    const int64_t n_rows = n_states + 1;
    int64_t buckets = 4, room = 1;
    while (buckets < 2 * n_rows) {
        buckets *= 2;
    }
    tokdfa_pair_job job = {
        .parent = parent, .start = first, .stop = last, .states = states, .n_states = n_states, .n_columns = n_columns,
        .first_dead = dead, .row_of = MINUS_ONES(memory, int32_t, d->n_states + 1), .n_row_of = d->n_states + 1,
        .blocks = ROOM(memory, int32_t, n_rows * a_row), .hashes = ROOM(memory, uint64_t, n_rows),
        .rows = MINUS_ONES(memory, int32_t, buckets), .n_rows = buckets, .bits = ZEROS(memory, uint64_t, BLOCK_WORDS),
        .own = ROOM(memory, int64_t, deepest + 2), .n_distinct = 1,
    };
    /* From hardly any room on, so that it is met that there is none. */
    for (;;) {
        job.n_bits = room * BLOCK_WORDS;
        job.known = ROOM(memory, int32_t, 2 * room);
        job.n_known = 2 * room;
        if (tokdfa_build_pair_table(&job) > n_states) {
            break;
        }
        uint64_t *larger = ZEROS(memory, uint64_t, 2 * room * BLOCK_WORDS);
        memcpy(larger, job.bits, (size_t)(room * BLOCK_WORDS) * sizeof *larger);
        job.bits = larger;
        room *= 2;
    }
    int64_t *lookup = ROOM(memory, int64_t, m->n_ids);
    for (int64_t id = 0; id < m->n_ids; id++) {
        const int32_t token = m->tokens[id];
        const int64_t row = token >= 0 ? job.row_of[d->state[token]] : token == ALONE ? job.row_of[d->n_states] : 0;
        const int64_t at = token >= 0 ? column_at[position[token]] : token == CUT ? free_column : free_column + 1;
        REQUIRE(row >= 0 && row < job.n_made);
        lookup[id] = (row * a_row) << 32 | at;
    }
    /* Few answers are kept, so that they are overwritten; or none. */
    const int64_t n_memo = m->n_ids % 4 ? 1 << m->n_ids % 3 : 0;
    m->by_history = (tokdfa_pair_test){
        NULL, 0, NULL, NULL, m->tokens, &d->history, ROOM(memory, uint64_t, n_memo), n_memo};
    memset(m->by_history.memo, 0xFF, (size_t)n_memo * sizeof *m->by_history.memo);
    m->by_table = (tokdfa_pair_test){
        lookup, m->n_ids, exactly(memory, job.blocks, job.n_made * a_row, sizeof *job.blocks),
        exactly(memory, job.bits, job.n_distinct * BLOCK_WORDS, sizeof *job.bits), m->tokens, &d->history, NULL, 0};
}

/* Whether id v may not follow id u, by tokenizing what they spell. An id that cuts the text may follow anything. */
static bool is_forbidden(const machine *m, int64_t u, int64_t v) {
    const int32_t left = m->tokens[u], right = m->tokens[v];
    if (left < 0 || right < 0) {
        return right <= NO_TOKEN || (left == ALONE && right != CUT);
    }
    const dictionary *d = m->d;
    const int64_t size = length_of_token(d, left), more = length_of_token(d, right);
    uint8_t word[2 * LONGEST_TOKEN];
    int32_t tokens[2 * LONGEST_TOKEN];
    memcpy(word, d->text + d->offsets[left], (size_t)size);
    memcpy(word + size, d->text + d->offsets[right], (size_t)more);
    return tokenize_naively(d, word, size + more, tokens) != 2 || tokens[0] != left || tokens[1] != right;
}

/* A tree of special tokens read backwards: the node after node n on byte b. */
static int32_t *read_specials(input *in, machine *m, int64_t *n_nodes) {
    enum { MOST_NODES = 16 };
    int32_t children[MOST_NODES][256] = {{0}};
    *n_nodes = 1;
    const int n_specials = (int)below(in, 3);
    for (int k = 0; k < n_specials; k++) {
        const int64_t length = between(in, 2, 5);
        int64_t node = 0;
        for (int64_t i = 0; i < length && node >= 0; i++) {
            const uint8_t byte = m->d->text[take(in) % m->d->n_symbols];
            if (i + 1 == length) {
                /* No special token ends another one. */
                if (!children[node][byte]) {
                    children[node][byte] = -1;
                }
            } else if (children[node][byte] <= 0) {
                if (children[node][byte] < 0 || *n_nodes == MOST_NODES) {
                    break;
                }
                children[node][byte] = (int32_t)(*n_nodes)++;
            }
            node = children[node][byte];
        }
    }
    return exactly(&m->memory, children, 256 * *n_nodes, sizeof **children);
}

/* The nodes reached on an id's part of special tokens that began before it. */
static int64_t nodes_of(const int32_t *children, const uint8_t *begin, const uint8_t *end, int32_t *nodes, bool *whole) {
    int64_t n = 0;
    for (const uint8_t *last = begin + 1; last <= end; last++) {
        int64_t node = 0;
        const uint8_t *byte = last;
        do {
            node = children[256 * node + *--byte];
        } while (node > 0 && byte > begin);
        *whole = *whole || node < 0;
        if (node > 0) {
            nodes[n++] = (int32_t)node;
        }
    }
    return n;
}

static void build_walker(machine *m, input *in) {
    arena *memory = &m->memory;
    int64_t n_nodes;
    const int32_t *children = read_specials(in, m, &n_nodes);
    m->n_states = between(in, 2, MOST_STATES);
    /* Ids with parts of special tokens have classes of their own. */
    int32_t nodes[LONGEST_TOKEN], *all_nodes = NULL;
    uint16_t *class_of = ROOM(memory, uint16_t, m->n_ids), *length_of = ROOM(memory, uint16_t, m->n_ids);
    int64_t n_all = 0, n_plain = between(in, 2, 6);
    m->n_classes = n_plain;
    int32_t *trigger = ZEROS(memory, int32_t, n_plain + m->n_ids + 1);
    all_nodes = ROOM(memory, int32_t, m->n_ids * LONGEST_TOKEN);
    for (int64_t id = 0; id < m->n_ids; id++) {
        bool whole = false;
        const uint8_t *begin = m->id_text + m->id_offsets[id], *end = m->id_text + m->id_offsets[id + 1];
        length_of[id] = (uint16_t)(end - begin);
        const int64_t n = nodes_of(children, begin, end, nodes, &whole);
        /* Nothing canonical has an id without text. */
        class_of[id] = (uint16_t)(whole || begin == end ? 0 : below(in, n_plain));
        if (n && !whole) {
            class_of[id] = (uint16_t)m->n_classes++;
            memcpy(all_nodes + n_all, nodes, (size_t)n * sizeof *nodes);
            n_all += n;
            trigger[m->n_classes] = (int32_t)n_all;
        }
    }
    /* The ids that join with the text before them, and the text that classes spell. */
    uint8_t *role = ZEROS(memory, uint8_t, m->n_classes), *joins_text = ZEROS(memory, uint8_t, m->n_ids);
    if (m->is_normalized) {
        tokdfa_find_joining(&m->form.tables, m->id_text, m->id_offsets, m->n_ids, joins_text);
    }
    for (int64_t id = 0; id < m->n_ids; id++) {
        role[class_of[id]] |= joins_text[id] ? JOINS : 0;
        role[class_of[id]] |= m->is_normalized && m->tokens[id] == CUT ? PARTS : 0;
    }
    const int64_t width = m->n_classes + below(in, 3), n_entries = m->n_states * width;
    uint32_t *allowed = ROOM(memory, uint32_t, n_entries), *other = ROOM(memory, uint32_t, n_entries);
    uint8_t *is_final = ROOM(memory, uint8_t, m->n_states);
    for (int64_t state = 0; state < m->n_states; state++) {
        is_final[state] = take(in) & 1;
        for (int64_t number = 0; number < width; number++) {
            const int what = take(in);
            /* Most entries lead on, or walks would be short. */
            uint32_t target = what & 7 ? 1 + (uint32_t)(what >> 3) % (uint32_t)(m->n_states - 1) : 0;
            uint32_t otherwise = what & 16 ? target : what & 32 ? 0 : 1 + (uint32_t)(what >> 2) % (uint32_t)(m->n_states - 1);
            const bool is_empty = state == 0 || number == 0 || number >= m->n_classes;
            /* A walk that guesses may continue from row 0, wherever that leads. */
            const uint32_t again = state == 0 && number > 0 && number < m->n_classes ? target : 0;
            target = is_empty ? 0 : target;
            otherwise = is_empty ? 0 : otherwise;
            const bool triggers = number < m->n_classes && trigger[number + 1] > trigger[number];
            const bool unknown = !is_empty && what == 0xF8;
            const bool joins = number < m->n_classes && role[number] & JOINS;
            const bool closely = target && (triggers || joins), look = !target || target != otherwise || closely;
            allowed[state * width + number] =
                unknown ? UNKNOWN | LOOK
                        : (uint32_t)((target + again) * width) << 2 | (look ? LOOK : 0) | (closely ? CLOSELY : 0);
            other[state * width + number] = unknown ? UNKNOWN | LOOK : (uint32_t)(otherwise * width) << 2;
        }
    }
    /* Sequences of ids that call for a closer look. */
    enum { MOST_DOUBTS = 4 };
    const int64_t n_doubts = below(in, MOST_DOUBTS + 1), n_keys = n_doubts ? 16 : 0;
    int64_t *keys = MINUS_ONES(memory, int64_t, n_keys);
    int32_t *range = ZEROS(memory, int32_t, 2 * n_keys), *bounds = ZEROS(memory, int32_t, n_doubts + 1);
    int32_t *doubt_ids = ROOM(memory, int32_t, 3 * n_doubts);
    int64_t n_sequences = 0, n_doubt_ids = 0;
    for (int64_t k = 0; k < n_doubts; k++) {
        const int64_t key = (int64_t)((uint64_t)below(in, m->n_ids) << 32 | (uint64_t)below(in, m->n_ids));
        /* The slot is where pair_slot.h looks for it. */
        uint64_t slot = ((uint64_t)key * 0x9E3779B97F4A7C15u >> 32) & (uint64_t)(n_keys - 1);
        while (keys[slot] >= 0 && keys[slot] != key) {
            slot = (slot + 1) & (uint64_t)(n_keys - 1);
        }
        const int64_t n_before = below(in, 4);
        for (int64_t i = 0; i < n_before; i++) {
            doubt_ids[n_doubt_ids + i] = (int32_t)below(in, m->n_ids);
        }
        if (keys[slot] >= 0) {
            continue;
        }
        keys[slot] = key;
        n_doubt_ids += n_before;
        range[2 * slot] = (int32_t)n_sequences;
        range[2 * slot + 1] = (int32_t)++n_sequences;
        bounds[n_sequences] = (int32_t)n_doubt_ids;
    }
    static const tokdfa_form no_form = {0};
    m->walker = (tokdfa_walker){
        .role = role, .n_role = m->n_classes, .form = m->is_normalized ? &m->form.tables : &no_form,
        .class_of = class_of, .n_class_of = m->n_ids, .length_of = length_of, .allowed = allowed, .other = other,
        .is_final = is_final, .width = width, .initial = width * between(in, 1, m->n_states - 1),
        .trigger = exactly(memory, trigger, m->n_classes + 1, sizeof *trigger),
        .node_at = exactly(memory, all_nodes, n_all, sizeof *all_nodes), .n_node_at = n_all, .children = children,
        .text = m->id_text, .offsets = m->id_offsets, .doubt_keys = keys, .n_doubt_keys = n_keys,
        .doubt_range = range, .doubt_bounds = bounds,
        .doubt_ids = exactly(memory, doubt_ids, n_doubt_ids, sizeof *doubt_ids),
        .pairs = take(in) & 1 ? &m->by_table : &m->by_history,
    };
}

static void *build(input *in) {
    machine *m = calloc(1, sizeof *m);
    REQUIRE(m);
    m->d = read_dictionary(in);
    const dictionary *d = m->d;
    /* Some ids more than tokens: that cut, that are nothing, and that stand alone. */
    m->n_ids = d->n_tokens + between(in, 0, 4);
    m->tokens = ROOM(&m->memory, int32_t, m->n_ids);
    m->id_offsets = ZEROS(&m->memory, int64_t, m->n_ids + 1);
    const int flags = take(in);
    for (int64_t id = 0; id < m->n_ids; id++) {
        const int64_t token = flags & 1 ? (id + 1) % m->n_ids : id;
        const bool is_token = token < d->n_tokens;
        m->tokens[id] = is_token ? (d->birth[token] >= 0 ? (int32_t)token : NO_TOKEN) : CUT - (int32_t)(token % 3);
        m->id_offsets[id + 1] = m->id_offsets[id] + (is_token ? length_of_token(d, token) : token % 5);
    }
    m->id_text = ROOM(&m->memory, uint8_t, m->id_offsets[m->n_ids]);
    for (int64_t id = 0; id < m->n_ids; id++) {
        const int64_t token = flags & 1 ? (id + 1) % m->n_ids : id;
        const size_t length = (size_t)(m->id_offsets[id + 1] - m->id_offsets[id]);
        if (token < d->n_tokens) {
            memcpy(m->id_text + m->id_offsets[id], d->text + d->offsets[token], length);
        } else {
            memset(m->id_text + m->id_offsets[id], d->text[0], length);
        }
    }
    build_pairs(m);
    m->is_normalized = flags & 2;
    if (m->is_normalized) {
        /* From the bytes that the dictionary is from, so that the bytes deciding about the walk stay in place. */
        input again = {in->data, in->size, 0};
        read_form(&m->form, &again, &m->memory);
    }
    build_walker(m, in);
    return m;
}

static void release(void *shared) {
    machine *m = shared;
    free_dictionary(m->d);
    give_back(&m->memory);
    free(m);
}

#endif
