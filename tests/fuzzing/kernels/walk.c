/* The pair test, taking words apart, and the walk over ids, against definitions.

   The pair test is that of a dictionary from bytes; the machine is a table of random entries with the marks that a
   table must have. What makes the walk fast - lanes, marks, looking ahead - must change nothing. */
#include "../../../tokdfa/kernels/walk/door.h"
#include "dictionary.h"

enum { CUT = -1, NO_TOKEN = -2, ALONE = -3 };
enum { BLOCK = 512, BLOCK_WORDS = BLOCK / 64 };
enum { LOOK = 1, UNKNOWN = 2 };
enum { DONE, ALARM, UNSURE, NOT_FINAL, NO_ID };
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
    arena memory;
} machine;

static int compare_ints(const void *a, const void *b) {
    return *(const int32_t *)a < *(const int32_t *)b ? -1 : *(const int32_t *)a > *(const int32_t *)b;
}

/* The table of all pairs, as tokdfa/automata/pairs.py has it built. */
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
    tokdfa_arrange(removed, d->n_states, d->birth, d->n_tokens, d->head, product, d->n_symbols, below_, offset,
                   position, width);
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
    qsort(states, (size_t)n_found, sizeof *states, compare_ints);
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
    m->by_history = (tokdfa_pair_test){NULL, 0, NULL, NULL, m->tokens, &d->history};
    m->by_table = (tokdfa_pair_test){
        lookup, m->n_ids, exactly(memory, job.blocks, job.n_made * a_row, sizeof *job.blocks),
        exactly(memory, job.bits, job.n_distinct * BLOCK_WORDS, sizeof *job.bits), m->tokens, &d->history};
}

/* Whether id v may not follow id u, by tokenizing what they spell. What cuts the text may follow anything. */
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

/* A tree of special tokens read backwards: what follows node n on byte b. */
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

/* The nodes that are reached on what an id has of special tokens that began before it. */
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
            target = is_empty ? 0 : target;
            otherwise = is_empty ? 0 : otherwise;
            const bool triggers = number < m->n_classes && trigger[number + 1] > trigger[number];
            const bool unknown = !is_empty && what == 0xF8;
            const bool look = unknown || !target || target != otherwise || triggers;
            allowed[state * width + number] =
                unknown ? UNKNOWN | LOOK : (uint32_t)(target * width) << 2 | (look ? LOOK : 0);
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
    /* What classes spell is in their roles; there is no normalization. */
    enum { SPELLS = 4 };
    uint8_t *role = ZEROS(memory, uint8_t, m->n_classes);
    for (int64_t number = 0; number < m->n_classes; number++) {
        role[number] = trigger[number + 1] > trigger[number] ? SPELLS : 0;
    }
    static const tokdfa_form no_form = {0};
    m->walker = (tokdfa_walker){
        .role = role, .n_role = m->n_classes, .form = &no_form,
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
    build_walker(m, in);
    return m;
}

/* Ids: those that bytes say, with stretches that are repeated, so that lanes and blocks are filled. */
static int64_t read_ids(input *in, int64_t n_ids, uint32_t *ids, int64_t most) {
    int64_t n = 0;
    while (has_more(in) && n < most) {
        const uint8_t what = take(in);
        if (what < 0xF0 || !n) {
            ids[n++] = (uint32_t)(what % n_ids);
        } else {
            int64_t period = 1 + take(in) % 64;
            period = period > n ? n : period;
            const int64_t times = (int64_t)(what & 15) * 16 + 1;
            for (int64_t i = 0; i < period * times && n < most; i++, n++) {
                ids[n] = ids[n - period];
            }
        }
    }
    return n;
}

/* The walk by definition: one id after the other. */
static int walk_naively(const machine *m, const uint8_t *forbidden, const uint32_t *ids, int64_t n, tokdfa_place *place) {
    const tokdfa_walker *w = &m->walker;
    for (; place->at < n; place->at++) {
        const int64_t at = place->at, id = ids[at], number = w->class_of[id], here = place->row + number;
        const bool may_not = at > 0 && forbidden[ids[at - 1] * m->n_ids + id];
        uint32_t entry = w->allowed[here];
        if (entry >> 2 && entry & LOOK) {
            for (int32_t k = w->trigger[number]; k < w->trigger[number + 1]; k++) {
                int64_t node = w->node_at[k];
                for (int64_t before = at - 1; before >= 0 && node > 0; before--) {
                    const uint8_t *begin = w->text + w->offsets[ids[before]], *byte = w->text + w->offsets[ids[before] + 1];
                    while (byte > begin && node > 0) {
                        node = w->children[256 * node + *--byte];
                    }
                }
                if (node < 0) {
                    return ALARM;
                }
            }
            if (may_not) {
                entry = w->other[here];
            } else if (at > 0 && w->allowed[here] >> 2 != w->other[here] >> 2) {
                for (int64_t slot = 0; slot < w->n_doubt_keys; slot++) {
                    const int64_t key = w->doubt_keys[slot];
                    if (key < 0 || key >> 32 != ids[at - 1] || (key & 0xFFFFFFFF) != id) {
                        continue;
                    }
                    for (int32_t k = w->doubt_range[2 * slot]; k < w->doubt_range[2 * slot + 1]; k++) {
                        const int64_t length = w->doubt_bounds[k + 1] - w->doubt_bounds[k];
                        bool same = at - 1 - length >= 0;
                        for (int64_t i = 0; i < length && same; i++) {
                            same = ids[at - 1 - length + i] == (uint32_t)w->doubt_ids[w->doubt_bounds[k] + i];
                        }
                        if (same) {
                            return ALARM;
                        }
                    }
                }
            }
        }
        if (!(entry >> 2)) {
            return entry & UNKNOWN ? UNSURE : ALARM;
        }
        place->row = entry >> 2;
        place->size += w->length_of[id];
    }
    return DONE;
}

static void walk(const machine *m, input *in) {
    arena memory = {NULL, 0, 0};
    const tokdfa_walker *w = &m->walker;
    uint8_t *forbidden = ROOM(&memory, uint8_t, m->n_ids * m->n_ids), *marks = ROOM(&memory, uint8_t, m->n_ids);
    uint8_t *others = ROOM(&memory, uint8_t, m->n_ids);
    int32_t *every = ROOM(&memory, int32_t, m->n_ids);
    for (int64_t v = 0; v < m->n_ids; v++) {
        every[v] = (int32_t)v;
    }
    /* All pairs, in one row after the other; of the first id of each row the one behind is another. */
    const int64_t compared = take(in) % 16;
    for (int64_t u = 0; u < m->n_ids; u++) {
        for (int64_t v = 0; v < m->n_ids; v++) {
            uint8_t mark, other;
            tokdfa_mark_pairs(&m->by_history, every + v, 1, u, &mark);
            tokdfa_mark_pairs(&m->by_table, every + v, 1, u, &other);
            REQUIRE(mark == other);
            forbidden[u * m->n_ids + v] = mark;
            REQUIRE(u % 16 != compared || mark == is_forbidden(m, u, v));
        }
    }
    uint32_t *read = ROOM(&memory, uint32_t, MOST_IDS);
    const int64_t behind = take(in) % (m->n_ids + 1) - 1, pause = take(in);
    const int64_t n = read_ids(in, m->n_ids, read, MOST_IDS);
    uint32_t *ids = exactly(&memory, read, n, sizeof *ids);
    /* Streams of ids are marked at once. */
    marks = ROOM(&memory, uint8_t, n);
    others = ROOM(&memory, uint8_t, n);
    tokdfa_mark_pairs(&m->by_history, (const int32_t *)ids, n, behind, marks);
    tokdfa_mark_pairs(&m->by_table, (const int32_t *)ids, n, behind, others);
    for (int64_t i = 0; i < n; i++) {
        const int64_t left = i ? (int64_t)ids[i - 1] : behind;
        const bool expected = left < 0 ? m->tokens[ids[i]] <= NO_TOKEN : forbidden[left * m->n_ids + ids[i]];
        REQUIRE(marks[i] == expected && others[i] == expected);
    }
    /* In two steps, the first of which ends somewhere; a walk that was stopped goes on after the id, some times. */
    int restarts = 0;
    tokdfa_place place = {0, w->initial, 0}, twin = place;
    const int64_t stops[2] = {n ? pause * 67 % (n + 1) : 0, n};
    for (int step = 0; step < 2; step++) {
        int status = DONE;
        do {
            status = tokdfa_walk(w, ids, stops[step], &place);
            REQUIRE(status == walk_naively(m, forbidden, ids, stops[step], &twin));
            REQUIRE(place.at == twin.at && place.row == twin.row && place.size == twin.size);
            if (status != DONE) {
                place.at = ++twin.at;
                place.row = twin.row = w->initial;
            }
        } while (status != DONE && ++restarts < 40);
    }
    tokdfa_place whole = {0, w->initial, 0};
    const int accepts = walk_naively(m, forbidden, ids, n, &whole);
    const int expected = accepts != DONE ? accepts : w->is_final[whole.row / w->width] ? DONE : NOT_FINAL;
    REQUIRE(tokdfa_accepts(w, ids, n) == expected);
    int64_t *wide = ROOM(&memory, int64_t, n);
    for (int64_t i = 0; i < n; i++) {
        wide[i] = ids[i];
    }
    uint32_t *narrow = ROOM(&memory, uint32_t, n);
    REQUIRE(tokdfa_accepts_wide(w, wide, n, narrow) == expected);
    /* An id that is out of range is said to be so, wherever it is. */
    if (n) {
        const int64_t at = pause % n;
        ids[at] = (uint32_t)m->n_ids + (uint32_t)pause * 0x1000001u % (UINT32_MAX - (uint32_t)m->n_ids);
        REQUIRE(tokdfa_accepts(w, ids, n) == NO_ID);
        wide[at] = pause & 1 ? -1 - pause : (int64_t)1 << (32 + pause % 31);
        REQUIRE(tokdfa_accepts_wide(w, wide, n, narrow) == NO_ID);
    }
    give_back(&memory);
}

/* The classes of code points, made once for each number of them. */
static uint16_t classes[MOST_CLASSES + 1][N_CODE_POINTS];

__attribute__((constructor)) static void number_code_points(void) {
    for (int n = 1; n <= MOST_CLASSES; n++) {
        for (int point = 0; point < N_CODE_POINTS; point++) {
            classes[n][point] = (uint16_t)((point ^ point >> 7) % n);
        }
    }
}

/* The effect after another one, and a symbol: one of many, or of few. */
static int64_t effect_after(int64_t before, int64_t symbol, int64_t many) {
    return (before * 7 + 3 * symbol + 8) % many;
}

/* The length of the symbol at a place and its code point; 0 if it is cut short, -1 if it is none. */
static int decode(const uint8_t *at, int64_t left, int64_t *point) {
    const int length = at[0] < 0x80 ? 1 : at[0] < 0xC0 ? -1 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF8 ? 4 : -1;
    if (length < 0) {
        return -1;
    }
    static const int64_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    /* All ways in which what is missing may come. */
    int64_t low = length == 1 ? at[0] : at[0] & (0xFF >> (length + 1)), high = low;
    for (int k = 1; k < length; k++) {
        const bool is_there = k < left;
        if (is_there && (at[k] & 0xC0) != 0x80) {
            return -1;
        }
        low = low << 6 | (is_there ? at[k] & 0x3F : 0);
        high = high << 6 | (is_there ? at[k] & 0x3F : 0x3F);
    }
    bool any = false;
    for (int64_t value = low; value <= high && !any; value++) {
        any = value >= least[length] && value < N_CODE_POINTS && !(value >= 0xD800 && value < 0xE000);
        value = any || value + 1 >= least[length] ? value : least[length] - 1;
        value = any || value < 0xD800 || value >= 0xDFFF ? value : 0xDFFF;
    }
    if (!any) {
        return -1;
    }
    *point = low;
    return length <= left ? length : 0;
}

static void take_words_apart(const machine *m, input *in) {
    arena memory = {NULL, 0, 0};
    const int64_t n_classes = between(in, 1, MOST_CLASSES), many = take(in) & 1 ? 5 : 300, most = take(in) & 7;
    const int64_t n_words = below(in, 40);
    int64_t *offsets = ZEROS(&memory, int64_t, n_words + 1);
    for (int64_t i = 0; i < n_words; i++) {
        offsets[i + 1] = offsets[i] + take(in) % 12;
    }
    const int64_t size = offsets[n_words];
    uint8_t *read = ROOM(&memory, uint8_t, size);
    const int64_t n = read_text(in, m->d, read, size);
    memset(read + n, 0xF0, (size_t)(size - n));
    uint8_t *text = exactly(&memory, read, size, 1), *skipped = ROOM(&memory, uint8_t, n_words);
    for (int64_t i = 0; i < n_words; i++) {
        skipped[i] = size && text[(i * 5 + 1) % size] % 11 == 0;
    }
    uint64_t *keys = ROOM(&memory, uint64_t, n_words);
    uint8_t *told = ROOM(&memory, uint8_t, n_words);
    int64_t room = 2;
    tokdfa_part_job job = {
        .text = text, .offsets = offsets, .n_words = n_words, .skipped = skipped, .class_of = classes[n_classes],
        .n_classes = n_classes, .children = m->walker.children, .key = keys, .told = told,
    };
    int32_t *following = MINUS_ONES(&memory, int32_t, room * n_classes);
    for (bool done = false; !done;) {
        job.following = following;
        int64_t effect = 0;
        while (effect + 1 < room && !done) {
            done = tokdfa_take_apart(&job) != 0;
            if (!done) {
                REQUIRE(job.before + 1 < room && job.symbol < n_classes);
                effect = effect_after(job.before, job.symbol, many);
                following[(job.before + 1) * n_classes + job.symbol] = (int32_t)effect;
            }
        }
        if (!done) {
            const int64_t larger = 2 * (room > effect ? room : effect);
            int32_t *grown = MINUS_ONES(&memory, int32_t, larger * n_classes);
            memcpy(grown, following, (size_t)(room * n_classes) * sizeof *grown);
            following = grown;
            room = larger;
        }
    }
    int32_t *first = ROOM(&memory, int32_t, n_words), *last = ROOM(&memory, int32_t, n_words);
    tokdfa_outer_symbols(text, offsets, n_words, first, last);
    for (int64_t i = 0; i < n_words; i++) {
        const uint8_t *at = text + offsets[i], *begin = at, *end = text + offsets[i + 1];
        uint64_t head = 0, tail = 0;
        int64_t effect = -1, point = -1, outer = -1, length = 0;
        int n_head = 0;
        bool bad = skipped[i] || at == end;
        if (begin < end) {
            const int first_length = decode(begin, end - begin, &point);
            REQUIRE(first[i] == (first_length > 0 ? point : -1));
            /* The last symbol is the one that ends where the word does. */
            for (int64_t back = 1; back <= 4 && back <= end - begin; back++) {
                if (decode(end - back, back, &point) == back) {
                    outer = point;
                    break;
                }
            }
            REQUIRE(last[i] == outer);
        } else {
            REQUIRE(first[i] == -1 && last[i] == -1);
        }
        for (; at < end && (*at & 0xC0) == 0x80; at++) {
            head = head << 8 | *at;
            bad = bad || ++n_head > 3;
        }
        for (; at < end && !bad; at += length) {
            length = decode(at, end - at, &point);
            if (length < 0) {
                bad = true;
                break;
            }
            if (!length) {
                for (; at < end; at++) {
                    tail = tail << 8 | *at;
                }
                break;
            }
            effect = effect_after(effect, classes[n_classes][point], many);
        }
        int32_t nodes[256];
        bool whole = false;
        const bool has_nodes = begin < end && (nodes_of(m->walker.children, begin, end, nodes, &whole) || whole);
        REQUIRE(told[i] == (bad ? 1 : has_nodes ? 2 : 0));
        REQUIRE(keys[i] == (bad ? 0 : head << 40 | tail << 16 | (uint64_t)(effect + 1)));
    }
    /* Numbers of keys. */
    int64_t n_known = 16;
    while (n_known < 2 * most) {
        n_known *= 2;
    }
    int32_t *known = MINUS_ONES(&memory, int32_t, n_known), *number = ROOM(&memory, int32_t, n_words);
    uint64_t *distinct = ROOM(&memory, uint64_t, most);
    const int64_t n_distinct = tokdfa_number_keys(keys, n_words, known, n_known, distinct, most, number);
    int64_t n_expected = 0;
    uint64_t expected[40];
    for (int64_t i = 0; i < n_words; i++) {
        int64_t place = 0;
        while (place < n_expected && expected[place] != keys[i]) {
            place++;
        }
        if (place == n_expected) {
            expected[n_expected++] = keys[i];
        }
        REQUIRE(n_distinct < 0 || number[i] == place);
    }
    REQUIRE(n_distinct == (n_expected > most ? -1 : n_expected));
    give_back(&memory);
}

static void use(const void *shared, input *in) {
    if (take(in) % 4 == 0) {
        take_words_apart(shared, in);
    } else {
        walk(shared, in);
    }
}

static void release(void *shared) {
    machine *m = shared;
    free_dictionary(m->d);
    give_back(&m->memory);
    free(m);
}

const target walk_target = {"walk", build, use, release};
