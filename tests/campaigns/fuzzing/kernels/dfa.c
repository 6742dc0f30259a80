/* Explicit automata, tries and the rows of token DFAs, against definitions over all pairs, all words, all places. */
#include "dfa_rows.h"
#include "dfa_words.h"

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
    /* Pairs that differ, until none are left; the dead end counts as a state too. */
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
