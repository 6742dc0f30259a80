/* Explicit automata, tries and the rows of token DFAs, against definitions over all pairs, all words, all places. */
#include "../../../tokdfa/kernels/dfa/door.h"
#include "dictionary.h"

enum { MOST_STATES = 14, MOST_SYMBOLS = 4 };

/* A random automaton: where it goes is -1 for nowhere. */
typedef struct {
    int64_t n_states, n_symbols, n;
    int32_t to[MOST_STATES + 1][MOST_SYMBOLS];
    uint8_t final[MOST_STATES + 1];
} automaton;

static automaton read_automaton(input *in) {
    automaton a = {.n_states = between(in, 1, MOST_STATES), .n_symbols = between(in, 1, MOST_SYMBOLS)};
    const int gaps = take(in) & 3;
    for (int64_t p = 0; p < a.n_states; p++) {
        const int what = take(in);
        a.final[p] = what & 1;
        for (int64_t s = 0; s < a.n_symbols; s++) {
            const int next = take(in);
            a.to[p][s] = (next & 3) < gaps ? -1 : (int32_t)((next >> 2) % a.n_states);
            a.n += a.to[p][s] >= 0;
        }
    }
    return a;
}

/* Keep the states that lead to final ones; returns false if there are none. */
static bool trim(automaton *a) {
    bool useful[MOST_STATES] = {false};
    for (bool more = true; more;) {
        more = false;
        for (int64_t p = 0; p < a->n_states; p++) {
            bool is_useful = a->final[p];
            for (int64_t s = 0; s < a->n_symbols; s++) {
                is_useful = is_useful || (a->to[p][s] >= 0 && useful[a->to[p][s]]);
            }
            more = more || is_useful != useful[p];
            useful[p] = is_useful;
        }
    }
    int32_t number[MOST_STATES], n = 0;
    for (int64_t p = 0; p < a->n_states; p++) {
        number[p] = useful[p] ? n++ : -1;
    }
    a->n = 0;
    for (int64_t p = 0; p < a->n_states; p++) {
        if (!useful[p]) {
            continue;
        }
        const int32_t q = number[p];
        a->final[q] = a->final[p];
        for (int64_t s = 0; s < a->n_symbols; s++) {
            a->to[q][s] = a->to[p][s] < 0 ? -1 : number[a->to[p][s]];
            a->n += a->to[q][s] >= 0;
        }
    }
    a->n_states = n;
    return n > 0;
}

static tokdfa_rows rows_of(arena *memory, const automaton *a, bool has_sink) {
    const int64_t n = a->n_states + has_sink;
    int64_t *offsets = ROOM(memory, int64_t, n + 1), at = 0;
    int32_t *tokens = ROOM(memory, int32_t, a->n), *targets = ROOM(memory, int32_t, a->n);
    uint8_t *final = ZEROS(memory, uint8_t, n);
    offsets[0] = 0;
    for (int64_t p = 0; p < n; p++) {
        for (int64_t s = 0; s < a->n_symbols && p < a->n_states; s++) {
            if (a->to[p][s] >= 0) {
                tokens[at] = (int32_t)s;
                targets[at++] = a->to[p][s];
            }
        }
        final[p] = p < a->n_states && a->final[p];
        offsets[p + 1] = at;
    }
    return (tokdfa_rows){.offsets = offsets, .tokens = tokens, .targets = targets, .final = final, .n_final = n};
}

static void explore(input *in) {
    arena memory = {NULL, 0, 0};
    automaton a = read_automaton(in);
    const tokdfa_rows rows = rows_of(&memory, &a, false);
    /* Distinct states to start from. */
    int32_t *starts = ROOM(&memory, int32_t, a.n_states);
    int64_t n_starts = 0;
    const int64_t chosen = take(in) | (int64_t)take(in) << 8;
    for (int64_t p = a.n_states - 1; p >= 0; p--) {
        if (chosen >> p & 1) {
            starts[n_starts++] = (int32_t)p;
        }
    }
    starts = exactly(&memory, starts, n_starts, sizeof *starts);
    uint8_t *seen = ZEROS(&memory, uint8_t, a.n_states);
    int32_t *order = ROOM(&memory, int32_t, a.n_states);
    const int64_t found = tokdfa_breadth_first(rows.offsets, rows.targets, starts, n_starts, seen, order);
    int64_t distance[MOST_STATES];
    for (int64_t p = 0; p < a.n_states; p++) {
        distance[p] = chosen >> p & 1 ? 0 : INT64_MAX / 2;
    }
    for (int64_t round = 0; round < a.n_states; round++) {
        for (int64_t p = 0; p < a.n_states; p++) {
            for (int64_t s = 0; s < a.n_symbols; s++) {
                const int32_t q = a.to[p][s];
                if (q >= 0 && distance[q] > distance[p] + 1) {
                    distance[q] = distance[p] + 1;
                }
            }
        }
    }
    int64_t n_reached = 0;
    for (int64_t p = 0; p < a.n_states; p++) {
        n_reached += distance[p] < MOST_STATES;
    }
    REQUIRE(found == n_reached);
    for (int64_t i = 0; i < found; i++) {
        REQUIRE(distance[order[i]] < MOST_STATES && (!i || distance[order[i - 1]] <= distance[order[i]]));
    }
    /* Groups of positions by key. */
    const int64_t n_keys = left_in(in), n_groups = between(in, 1, 7);
    int32_t *keys = ROOM(&memory, int32_t, n_keys), *positions = ROOM(&memory, int32_t, n_keys);
    int64_t *offsets = ROOM(&memory, int64_t, n_groups + 2), place = 0;
    for (int64_t i = 0; i < n_keys; i++) {
        keys[i] = (int32_t)below(in, n_groups);
    }
    tokdfa_group(keys, n_keys, n_groups, offsets, positions);
    for (int64_t key = 0; key < n_groups; key++) {
        REQUIRE(offsets[key] == place);
        for (int64_t i = 0; i < n_keys; i++) {
            if (keys[i] == key) {
                REQUIRE(positions[place++] == i);
            }
        }
    }
    REQUIRE(offsets[n_groups] == n_keys);
    give_back(&memory);
}

static void partition(input *in) {
    arena memory = {NULL, 0, 0};
    automaton a = read_automaton(in);
    if (!trim(&a)) {
        return;
    }
    const int64_t n = a.n_states;
    int32_t *sources = ROOM(&memory, int32_t, a.n), *tokens = ROOM(&memory, int32_t, a.n);
    int32_t *targets = ROOM(&memory, int32_t, a.n), *block = ROOM(&memory, int32_t, n);
    uint8_t *final = exactly(&memory, a.final, n, 1);
    /* In an order of their own. */
    const int64_t first = take(in) % (a.n_symbols ? a.n_symbols : 1);
    int64_t at = 0;
    for (int64_t k = 0; k < a.n_symbols; k++) {
        const int64_t s = (first + k) % a.n_symbols;
        for (int64_t p = n - 1; p >= 0; p--) {
            if (a.to[p][s] >= 0) {
                sources[at] = (int32_t)p;
                tokens[at] = (int32_t)s;
                targets[at++] = a.to[p][s];
            }
        }
    }
    const tokdfa_columns columns = {.sources = sources, .n_sources = a.n, .tokens = tokens, .targets = targets,
                                    .final = final, .n_final = n, .n_tokens = a.n_symbols};
    int64_t n_blocks;
    WITH_MEMORY(n_blocks, tokdfa_coarsest_partition(&columns, block));
    /* Pairs that differ, until there are no more; nowhere is a state too. */
    bool differ[MOST_STATES + 1][MOST_STATES + 1] = {{false}};
    for (int64_t p = 0; p <= n; p++) {
        for (int64_t q = 0; q <= n; q++) {
            differ[p][q] = (p < n && a.final[p]) != (q < n && a.final[q]);
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (int64_t p = 0; p <= n; p++) {
            for (int64_t q = 0; q <= n; q++) {
                for (int64_t s = 0; s < a.n_symbols && !differ[p][q]; s++) {
                    const int64_t p_to = p < n && a.to[p][s] >= 0 ? a.to[p][s] : n;
                    const int64_t q_to = q < n && a.to[q][s] >= 0 ? a.to[q][s] : n;
                    differ[p][q] = differ[p_to][q_to];
                    more = more || differ[p][q];
                }
            }
        }
    }
    int64_t n_expected = 0;
    for (int64_t p = 0; p < n; p++) {
        bool is_first = true;
        for (int64_t q = 0; q < n; q++) {
            REQUIRE((block[p] == block[q]) == !differ[p][q]);
            is_first = is_first && (q >= p || differ[p][q]);
        }
        n_expected += is_first;
        REQUIRE(block[p] >= 0 && block[p] < n_blocks);
    }
    REQUIRE(n_blocks == n_expected);
    give_back(&memory);
}

static void tell_apart(input *in) {
    arena memory = {NULL, 0, 0};
    automaton a = read_automaton(in);
    const tokdfa_rows rows = rows_of(&memory, &a, true);
    const int64_t n = a.n_states;
    const int32_t p = (int32_t)below(in, n + 1), q = (int32_t)below(in, n + 1);
    int32_t *path = ROOM(&memory, int32_t, n + 1);
    int64_t length;
    WITH_MEMORY(length, tokdfa_first_difference(&rows, p, q, path));
    /* The least number of symbols after which a pair of states differs. */
    int64_t steps[MOST_STATES + 1][MOST_STATES + 1];
    for (int64_t i = 0; i <= n; i++) {
        for (int64_t j = 0; j <= n; j++) {
            steps[i][j] = rows.final[i] != rows.final[j] ? 0 : INT64_MAX / 2;
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (int64_t i = 0; i <= n; i++) {
            for (int64_t j = 0; j <= n; j++) {
                for (int64_t s = 0; s < a.n_symbols; s++) {
                    const int64_t i_to = i < n && a.to[i][s] >= 0 ? a.to[i][s] : n;
                    const int64_t j_to = j < n && a.to[j][s] >= 0 ? a.to[j][s] : n;
                    if (steps[i][j] > steps[i_to][j_to] + 1) {
                        steps[i][j] = steps[i_to][j_to] + 1;
                        more = true;
                    }
                }
            }
        }
    }
    REQUIRE(length == (steps[p][q] < INT64_MAX / 2 ? steps[p][q] : -1));
    int64_t i = p, j = q;
    for (int64_t k = 0; k < length; k++) {
        REQUIRE(path[k] >= 0 && path[k] < a.n_symbols);
        i = i < n && a.to[i][path[k]] >= 0 ? a.to[i][path[k]] : n;
        j = j < n && a.to[j][path[k]] >= 0 ? a.to[j][path[k]] : n;
    }
    REQUIRE(length < 0 || rows.final[i] != rows.final[j]);
    give_back(&memory);
}

/* Words over a few symbols, in lexicographic order. */
typedef struct {
    const int32_t *symbols;
    const int64_t *offsets;
} words;

static int compare_words(const words *w, int64_t i, int64_t j) {
    const int64_t n = w->offsets[i + 1] - w->offsets[i], m = w->offsets[j + 1] - w->offsets[j];
    for (int64_t k = 0; k < n && k < m; k++) {
        const int32_t a = w->symbols[w->offsets[i] + k], b = w->symbols[w->offsets[j] + k];
        if (a != b) {
            return a < b ? -1 : 1;
        }
    }
    return (n > m) - (n < m);
}

static void find_words(input *in) {
    enum { MOST_WORDS = 20, MOST_TEXT = 60 };
    arena memory = {NULL, 0, 0};
    const int64_t n_words = below(in, MOST_WORDS + 1), n_symbols = between(in, 1, MOST_SYMBOLS);
    const int64_t n_columns = n_symbols + (take(in) & 1);
    int64_t *offsets = ROOM(&memory, int64_t, n_words + 1), *order = ROOM(&memory, int64_t, n_words);
    offsets[0] = 0;
    for (int64_t i = 0; i < n_words; i++) {
        offsets[i + 1] = offsets[i] + take(in) % 7;
    }
    int32_t *symbols = ROOM(&memory, int32_t, offsets[n_words]);
    for (int64_t i = 0; i < offsets[n_words]; i++) {
        symbols[i] = (int32_t)below(in, n_symbols);
    }
    const words w = {symbols, offsets};
    for (int64_t i = 0; i < n_words; i++) {
        int64_t at = i;
        for (; at > 0 && compare_words(&w, order[at - 1], i) > 0; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    const int64_t room = offsets[n_words] + 1;
    int32_t *symbol = ROOM(&memory, int32_t, room), *depth = ROOM(&memory, int32_t, room);
    int32_t *end = ROOM(&memory, int32_t, room), *first = ROOM(&memory, int32_t, room + 1);
    int64_t n_nodes;
    WITH_MEMORY(n_nodes, tokdfa_build_trie(symbols, offsets, order, n_words, symbol, depth, end, first));
    REQUIRE(n_nodes >= 1 && n_nodes <= room && first[n_nodes] == n_words);
    int32_t longest = 0;
    for (int64_t node = 0; node < n_nodes; node++) {
        longest = depth[node] > longest ? depth[node] : longest;
        REQUIRE(end[node] > node && end[node] <= n_nodes);
        for (int32_t place = first[node]; place < first[node + 1]; place++) {
            const int64_t word = order[place];
            REQUIRE(offsets[word + 1] - offsets[word] == depth[node]);
            REQUIRE(!depth[node] || symbols[offsets[word + 1] - 1] == symbol[node]);
        }
    }
    int32_t *column = exactly(&memory, symbol, n_nodes, sizeof *symbol);
    tokdfa_trie trie = {
        .column = column, .depth = exactly(&memory, depth, n_nodes, sizeof *depth), .n_depth = n_nodes,
        .end = exactly(&memory, end, n_nodes, sizeof *end), .first = exactly(&memory, first, n_nodes + 1, sizeof *first),
        .longest = longest,
    };
    /* What an automaton reads of them. */
    const int64_t n_states = between(in, 1, 6);
    int32_t *table = ZEROS(&memory, int32_t, n_states * n_columns);
    for (int64_t i = n_columns; i < n_states * n_columns; i++) {
        const int what = take(in);
        table[i] = what & 3 ? (int32_t)((what >> 2) % n_states) : 0;
    }
    const int32_t state = (int32_t)below(in, n_states);
    int32_t *places = ROOM(&memory, int32_t, n_words), *targets = ROOM(&memory, int32_t, n_words);
    int64_t n_read, n_expected = 0;
    WITH_MEMORY(n_read, tokdfa_tokens_from(&trie, table, n_columns, state, places, targets));
    for (int64_t place = 0; place < n_words; place++) {
        int32_t at = state;
        const int64_t word = order[place];
        bool dies = false;
        for (int64_t i = offsets[word]; i < offsets[word + 1] && !dies; i++) {
            at = table[at * n_columns + symbols[i]];
            dies = at == 0;
        }
        if (!dies) {
            REQUIRE(n_expected < n_read && places[n_expected] == place && targets[n_expected] == at);
            n_expected++;
        }
    }
    REQUIRE(n_read == n_expected);
    /* The automata that find them. */
    int32_t text[MOST_TEXT];
    int64_t n_text = 0;
    while (has_more(in) && n_text < MOST_TEXT) {
        text[n_text++] = (int32_t)below(in, n_columns);
    }
    for (int leftmost = 0; leftmost < 2; leftmost++) {
        int32_t *found = ZEROS(&memory, int32_t, (n_nodes + 1) * n_columns);
        int32_t *length = ZEROS(&memory, int32_t, n_nodes + 1), *shorter = ZEROS(&memory, int32_t, n_nodes + 1);
        int64_t n_found;
        WITH_MEMORY(n_found, tokdfa_find_words(&trie, n_columns, leftmost, found, length, shorter));
        REQUIRE(n_found == n_nodes + 1);
        int64_t at = 1, start = -1, stop = -1, best = -1, best_stop = -1;
        for (int64_t i = 0; i < n_text && at; i++) {
            at = found[at * n_columns + text[i]];
            if (leftmost) {
                start = length[at] ? i + 1 - length[at] : start;
                stop = length[at] ? i + 1 : stop;
                continue;
            }
            int64_t known = at;
            for (int64_t size = i + 1; size > 0; size--) {
                bool is_word = false;
                for (int64_t word = 0; word < n_words && !is_word; word++) {
                    is_word = offsets[word + 1] - offsets[word] == size &&
                              !memcmp(symbols + offsets[word], text + i + 1 - size, (size_t)size * sizeof *text);
                }
                if (is_word) {
                    REQUIRE(length[known] == size);
                    known = shorter[known];
                }
            }
            REQUIRE(known == 0 || length[known] == 0);
        }
        for (int64_t from = 0; from < n_text && best < 0; from++) {
            for (int64_t word = 0; word < n_words; word++) {
                const int64_t size = offsets[word + 1] - offsets[word];
                if (size && from + size <= n_text && from + size > best_stop &&
                    !memcmp(symbols + offsets[word], text + from, (size_t)size * sizeof *text)) {
                    best = from;
                    best_stop = from + size;
                }
            }
        }
        REQUIRE(!leftmost || (start == best && stop == best_stop));
    }
    give_back(&memory);
}

static int compare_ints(const void *a, const void *b) {
    return *(const int32_t *)a < *(const int32_t *)b ? -1 : *(const int32_t *)a > *(const int32_t *)b;
}

/* What the states of a token DFA forbid, as rows of intervals, and as sets by definition; returns the rows. */
typedef struct {
    int64_t n_rows, n_tokens;
    int32_t *pointer, *start, *stop;
    uint8_t *forbidden; /* rows by positions */
    arena memory;
} gathered;

static gathered gather(const dictionary *d, int64_t skipped) {
    gathered g = {.n_tokens = d->n_tokens};
    arena *memory = &g.memory;
    int32_t *counts = ZEROS(memory, int32_t, d->n_tokens), *offset = ZEROS(memory, int32_t, d->n_tokens);
    int32_t *position = MINUS_ONES(memory, int32_t, d->n_tokens), *width = ZEROS(memory, int32_t, d->n_states);
    int32_t *product = MINUS_ONES(memory, int32_t, d->n_states), *removed = ROOM(memory, int32_t, d->n_states);
    int32_t *parent = ROOM(memory, int32_t, d->n_states), *first = ZEROS(memory, int32_t, d->n_states);
    int64_t n_live = 0, n_states = 0;
    for (int64_t token = 0; token < d->n_tokens; token++) {
        n_live += d->birth[token] >= 0;
    }
    for (int64_t state = 0; state < d->n_states; state++) {
        removed[state] = d->removed[state];
        parent[state] = d->parent[state];
        product[state] = state ? d->product[d->rule[state]] : -1;
    }
    tokdfa_arrange(removed, d->n_states, d->birth, d->n_tokens, d->head, product, d->n_symbols, counts, offset,
                   position, width);
    for (int64_t state = 1; state < d->n_states; state++) {
        first[state] = position[removed[state]];
    }
    int32_t *states = ROOM(memory, int32_t, d->n_states), *depth = ROOM(memory, int32_t, d->n_states), deepest = 0;
    for (int64_t state = 0; state < d->n_states; state++) {
        if (state == 0 || !(skipped >> state % 8 & 1)) {
            states[n_states++] = (int32_t)state;
        }
    }
    qsort(states, (size_t)n_states, sizeof *states, compare_ints);
    tokdfa_depths(parent, d->n_states, depth);
    for (int64_t state = 0; state < d->n_states; state++) {
        REQUIRE(depth[state] == (state ? depth[parent[state]] + 1 : 0));
        deepest = depth[state] > deepest ? depth[state] : deepest;
    }
    int64_t buckets = 4, room = 1;
    while (buckets < 2 * n_states) {
        buckets *= 2;
    }
    int32_t *row = MINUS_ONES(memory, int32_t, d->n_states);
    tokdfa_row_job job = {
        .parent = parent, .first = first, .width = width, .states = exactly(memory, states, n_states, sizeof *states),
        .n_states = n_states, .n_live = n_live, .n_tokens = d->n_tokens, .table = MINUS_ONES(memory, int32_t, buckets),
        .n_table = buckets, .own = ROOM(memory, int64_t, deepest + 1), .row = row,
        .pointer = ZEROS(memory, int32_t, n_states + 1), .start = ROOM(memory, int32_t, room),
        .stop = ROOM(memory, int32_t, room), .n_start = room,
    };
    while (tokdfa_gather_rows(&job) < n_states) {
        int32_t *start = ROOM(memory, int32_t, 2 * room), *stop = ROOM(memory, int32_t, 2 * room);
        memcpy(start, job.start, (size_t)room * sizeof *start);
        memcpy(stop, job.stop, (size_t)room * sizeof *stop);
        job.start = start;
        job.stop = stop;
        job.n_start = room *= 2;
    }
    g.n_rows = job.n_rows;
    g.pointer = exactly(memory, job.pointer, job.n_rows + 1, sizeof *job.pointer);
    g.start = exactly(memory, job.start, g.pointer[g.n_rows], sizeof *job.start);
    g.stop = exactly(memory, job.stop, g.pointer[g.n_rows], sizeof *job.stop);
    g.forbidden = ZEROS(memory, uint8_t, g.n_rows * d->n_tokens);
    for (int64_t r = 0; r < g.n_rows; r++) {
        int32_t last = -1;
        for (int32_t i = g.pointer[r]; i < g.pointer[r + 1]; i++) {
            REQUIRE(g.start[i] > last && g.stop[i] > g.start[i] && g.stop[i] <= d->n_tokens);
            last = g.stop[i];
            memset(g.forbidden + r * d->n_tokens + g.start[i], 1, (size_t)(g.stop[i] - g.start[i]));
        }
    }
    for (int64_t i = 0; i < n_states; i++) {
        uint8_t expected[sizeof usual_symbols + MOST_RULES] = {0};
        for (int64_t state = states[i]; state > 0; state = parent[state]) {
            memset(expected + first[state], 1, (size_t)width[state]);
        }
        memset(expected + n_live, 1, (size_t)(d->n_tokens - n_live));
        const int64_t r = row[states[i]];
        REQUIRE(r >= 0 && r < g.n_rows);
        REQUIRE(!memcmp(expected, g.forbidden + r * d->n_tokens, (size_t)d->n_tokens));
    }
    for (int64_t r = 0; r < g.n_rows; r++) {
        for (int64_t s = 0; s < r; s++) {
            REQUIRE(memcmp(g.forbidden + r * d->n_tokens, g.forbidden + s * d->n_tokens, (size_t)d->n_tokens));
        }
    }
    return g;
}

static void compare_rows(input *in) {
    arena memory = {NULL, 0, 0};
    const int64_t skipped = take(in), n_ranks = below(in, 80), n_pairs = below(in, 12), seed = take(in);
    dictionary *d[2];
    gathered g[2];
    tokdfa_ranked_rows rows[2];
    int32_t *rank[2], *chosen[2];
    for (int k = 0; k < 2; k++) {
        d[k] = k && seed & 1 ? d[0] : read_dictionary(in);
        g[k] = gather(d[k], skipped);
        rank[k] = MINUS_ONES(&memory, int32_t, g[k].n_tokens);
        chosen[k] = ROOM(&memory, int32_t, n_pairs);
        /* Each rank at one place, in an order of its own. */
        for (int64_t r = 0; r < n_ranks; r++) {
            const int64_t at = (r * (2 * k + 1) + seed * k) % 97;
            if (at < g[k].n_tokens && (r % 5 || !k) && rank[k][at] < 0) {
                rank[k][at] = (int32_t)r;
            }
        }
        rows[k] = (tokdfa_ranked_rows){g[k].pointer, g[k].start, g[k].stop, rank[k]};
        for (int64_t i = 0; i < n_pairs; i++) {
            chosen[k][i] = (int32_t)((take(in) + i) % g[k].n_rows);
        }
    }
    /* Only ranks that both have count. */
    for (int64_t r = 0; r < n_ranks; r++) {
        int64_t at[2] = {-1, -1};
        for (int k = 0; k < 2; k++) {
            for (int64_t i = 0; i < g[k].n_tokens; i++) {
                at[k] = rank[k][i] == r ? i : at[k];
            }
        }
        if (at[0] < 0 || at[1] < 0) {
            for (int k = 0; k < 2; k++) {
                if (at[k] >= 0) {
                    rank[k][at[k]] = -1;
                }
            }
        }
    }
    const int64_t n_bits = ((n_ranks + 63) / 64 + 7) / 8 * 8;
    uint64_t *bits = ZEROS(&memory, uint64_t, n_bits);
    int32_t *least_rank = ROOM(&memory, int32_t, n_pairs);
    int64_t *only_first = ROOM(&memory, int64_t, n_pairs), *only_second = ROOM(&memory, int64_t, n_pairs);
    tokdfa_compare_rows(&rows[0], &rows[1], chosen[0], chosen[1], n_pairs, bits, n_bits, least_rank, only_first,
                        only_second);
    for (int64_t i = 0; i < n_pairs; i++) {
        int64_t least_found = -1, only[2] = {0, 0};
        for (int64_t r = 0; r < n_ranks; r++) {
            bool allowed[2] = {false, false};
            for (int k = 0; k < 2; k++) {
                for (int64_t at = 0; at < g[k].n_tokens; at++) {
                    allowed[k] |= rank[k][at] == r && !g[k].forbidden[chosen[k][i] * g[k].n_tokens + at];
                }
            }
            if (allowed[0] != allowed[1]) {
                least_found = least_found < 0 ? r : least_found;
                only[allowed[1]]++;
            }
        }
        REQUIRE(least_rank[i] == least_found && only_first[i] == only[0] && only_second[i] == only[1]);
    }
    for (int64_t i = 0; i < n_bits; i++) {
        REQUIRE(!bits[i]);
    }
    for (int k = 0; k < 2; k++) {
        give_back(&g[k].memory);
        if (!k || d[1] != d[0]) {
            free_dictionary(d[k]);
        }
    }
    give_back(&memory);
}

static void *build(input *in) {
    (void)in;
    return NULL;
}

static void use(const void *shared, input *in) {
    (void)shared;
    switch (take(in) % 6) {
    case 0:
        explore(in);
        break;
    case 1:
        partition(in);
        break;
    case 2:
        tell_apart(in);
        break;
    case 3:
        compare_rows(in);
        break;
    default:
        find_words(in);
    }
}

static void release(void *shared) {
    (void)shared;
}

const target dfa_target = {"dfa", build, use, release};
