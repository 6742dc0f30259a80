/* A vocabulary from bytes, and an automaton of machines.py, prepared for searching. */
#ifndef TOKDFA_SEARCH_MACHINE_H
#define TOKDFA_SEARCH_MACHINE_H

#include "../../../../tokdfa/kernels/search/api.h"
#include "../../../../tokdfa/kernels/spelling/api.h"
#include "harness.h"

typedef struct {
    const char *pattern;
    int wanted, aligned;
    const int32_t *table;
    int64_t n_table;
    const uint16_t *column_of;
    int64_t n_column_of;
    const int64_t *info;
    int64_t n_info;
    const int32_t *back;
    int64_t n_back;
    const uint8_t *accepts;
    int64_t n_accepts;
    const int32_t *initial;
    int64_t n_initial;
    const int32_t *runs;
    int64_t n_runs, n_columns, boundary, idle, start, n_classes, delayed;
} given;

#include "machines.h"

enum { LONGEST, ALL, FIRST };
enum { ALIGNED = 1, FINAL = 2 };
enum { N_MACHINES = sizeof machines / sizeof *machines, N_CODE_POINTS = 0x110000, N_INFO = 8 };
enum { MOST_TOKENS = 24, LONGEST_TOKEN = 12, MOST_IDS = 3000, MOST_PLACES = 250, RUN_BLOCK = 1024, ROWS = 8 };

static uint16_t *class_of[N_MACHINES];

__attribute__((constructor)) static void write_out_classes(void) {
    for (int i = 0; i < N_MACHINES; i++) {
        const given *g = machines + i;
        for (int k = 0; k < i && !class_of[i]; k++) {
            if (machines[k].n_runs == g->n_runs && !memcmp(machines[k].runs, g->runs, (size_t)g->n_runs * sizeof *g->runs)) {
                class_of[i] = class_of[k];
            }
        }
        if (class_of[i]) {
            continue;
        }
        class_of[i] = malloc(N_CODE_POINTS * sizeof **class_of);
        REQUIRE(class_of[i]);
        for (int64_t run = 0; run < g->n_runs / 2; run++) {
            const int64_t end = run + 1 < g->n_runs / 2 ? g->runs[2 * run + 2] : N_CODE_POINTS;
            for (int64_t point = g->runs[2 * run]; point < end; point++) {
                class_of[i][point] = (uint16_t)g->runs[2 * run + 1];
            }
        }
    }
}

typedef struct {
    const given *g;
    int64_t n_tokens;
    uint8_t *bytes;
    int64_t *offsets;
    uint8_t *special;
    tokdfa_spelled text;
    tokdfa_forward forward;
    tokdfa_backward backward;
    tokdfa_moves moves[4];
    tokdfa_machine known[4];
    int n_known;
    arena memory;
} machine;

static void *copied(arena *memory, const void *from, int64_t n, size_t size) {
    void *made = room_for(memory, n, size, 0);
    memcpy(made, from, (size_t)n * size);
    return made;
}

static void read_vocabulary(machine *m, input *in) {
    static const char *const pieces[] = {"a", "b", " ", "\xC3\xA9", "\n", "\xC3", "\xA9", "\xE2\x82\xAC", "ab", "z",
                                         "\xF0\x9F\x98\x80", "\xE2\x82", "\xAC", "\xF0\x9F", "\x98\x80", "\xFF"};
    const int64_t n = between(in, 1, MOST_TOKENS), letters = between(in, 1, 16);
    uint8_t bytes[MOST_TOKENS * LONGEST_TOKEN];
    int64_t offsets[MOST_TOKENS + 1] = {0};
    m->special = ROOM(&m->memory, uint8_t, n);
    for (int64_t token = 0; token < n; token++) {
        const int what = take(in);
        const int64_t length = what >= 0xF8 ? 0 : 1 + (what & 3);
        m->special[token] = what % 13 == 12;
        int64_t size = 0;
        for (int64_t i = 0; i < length; i++) {
            const char *piece = pieces[below(in, letters)];
            const int64_t more = (int64_t)strlen(piece);
            if (size + more <= LONGEST_TOKEN) {
                memcpy(bytes + offsets[token] + size, piece, (size_t)more);
                size += more;
            }
        }
        offsets[token + 1] = offsets[token] + size;
    }
    m->n_tokens = n;
    m->bytes = copied(&m->memory, bytes, offsets[n], 1);
    m->offsets = copied(&m->memory, offsets, n + 1, sizeof *offsets);
    int64_t *starts = ROOM(&m->memory, int64_t, n + 1);
    for (int64_t token = 0; token <= n; token++) {
        starts[token] = offsets[token] << 1 | (token < n && m->special[token]);
    }
    m->text = (tokdfa_spelled){m->bytes, offsets[n], starts, n + 1};
}

static void learn_tokens(machine *m, input *in) {
    arena *memory = &m->memory;
    const given *g = m->g;
    const int64_t n_states = g->n_info / N_INFO, n_ids = m->n_tokens;
    const bool is_simple = g->wanted != ALL && !g->aligned && !g->delayed;
    m->moves[m->n_known++] = (tokdfa_moves){0};
    const int64_t most = take(in) & 1 ? between(in, 1, 8) : 4000;
    int32_t *effect = ROOM(memory, int32_t, n_ids), *effects = ROOM(memory, int32_t, (most + 1) * n_states);
    int64_t n_effects;
    WITH_MEMORY(n_effects, tokdfa_token_effects(&m->text, &m->forward, most, effect, effects));
    REQUIRE(n_effects >= 0 && n_effects <= most);
    int64_t *outcomes = NULL;
    int32_t *runs = NULL;
    if (is_simple) {
        outcomes = ROOM(memory, int64_t, n_ids);
        runs = ROOM(memory, int32_t, m->text.n_bytes);
        tokdfa_idle_outcomes(&m->text, &m->forward, &m->backward, outcomes, NULL);
        uint64_t *groups = ROOM(memory, uint64_t, 2 * n_states), *marks = ROOM(memory, uint64_t, n_ids);
        int64_t *again = ROOM(memory, int64_t, n_ids);
        tokdfa_idle_outcomes(&m->text, &m->forward, &m->backward, again, runs);
        REQUIRE(!memcmp(outcomes, again, (size_t)n_ids * sizeof *again));
        tokdfa_mark_groups(&m->text, &m->forward, outcomes, groups, marks);
        if (m->text.n_bytes) {
            m->moves[m->n_known++] = (tokdfa_moves){.outcomes = outcomes, .n_outcomes = n_ids, .runs = runs,
                                                    .n_runs = m->text.n_bytes, .marks = marks, .groups = groups};
        }
    }
    if (n_effects) {
        effects = copied(memory, effects, n_effects * n_states, sizeof *effects);
        int32_t *class_of_effect = ROOM(memory, int32_t, n_effects);
        const int64_t n_classes = tokdfa_number_classes(effect, n_ids, n_effects, class_of_effect);
        int32_t *properties = ROOM(memory, int32_t, n_ids), *entries = ROOM(memory, int32_t, n_states * n_classes);
        uint16_t *codes = ROOM(memory, uint16_t, n_ids), *rows = ROOM(memory, uint16_t, 33);
        const tokdfa_class_job job = {effect, effects, n_effects, class_of_effect, n_classes, properties, entries};
        tokdfa_fill_classes(&m->text, &m->forward, &job);
        int64_t second;
        WITH_MEMORY(second, tokdfa_fill_prefilter(properties, n_ids, entries, n_classes, n_states, m->forward.idle, codes,
                                                rows));
        REQUIRE(-1 <= second && second < n_states);
        m->moves[m->n_known++] = (tokdfa_moves){.properties = properties, .entries = entries, .n_classes = n_classes,
                                                .codes = codes, .rows = rows, .second = second};
        if (is_simple) {
            m->moves[m->n_known] = m->moves[m->n_known - 1];
            m->moves[m->n_known].outcomes = outcomes;
            m->moves[m->n_known++].n_outcomes = n_ids;
        }
    }
    for (int k = 0; k < m->n_known; k++) {
        m->known[k] = (tokdfa_machine){&m->text, &m->forward, &m->backward, m->moves + k};
    }
}

static void *build(input *in) {
    machine *m = calloc(1, sizeof *m);
    REQUIRE(m);
    const int64_t which = below(in, N_MACHINES);
    const given *g = m->g = machines + which;
    arena *memory = &m->memory;
    read_vocabulary(m, in);
    int64_t *info = copied(memory, g->info, g->n_info, sizeof *info);
    const int32_t *table = copied(memory, g->table, g->n_table, sizeof *table);
    const uint16_t *columns = copied(memory, g->column_of, g->n_column_of, sizeof *columns);
    const int64_t n_states = g->n_info / N_INFO;
    for (int64_t state = 0; state < n_states; state++) {
        info[N_INFO * state + 6] = 0;
    }
    tokdfa_alive_columns(table, n_states, g->n_columns, columns, g->boundary, info);
    REQUIRE(!memcmp(info, g->info, (size_t)g->n_info * sizeof *info));
    m->forward = (tokdfa_forward){.column_of = columns, .table = table, .n_table = g->n_table,
                                  .n_columns = g->n_columns, .boundary = g->boundary, .info = info, .n_info = g->n_info,
                                  .idle = g->idle};
    m->backward = (tokdfa_backward){
        .table = copied(memory, g->back, g->n_back, sizeof *g->back),
        .accepts = copied(memory, g->accepts, g->n_accepts, 1),
        .initial = copied(memory, g->initial, g->n_initial, sizeof *g->initial), .class_of = class_of[which],
        .n_classes = g->n_classes, .delayed = g->delayed,
    };
    learn_tokens(m, in);
    return m;
}

#endif
