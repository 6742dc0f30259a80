/* Languages of texts for guides, the ids grouped by them, and the caches of searches. */
#ifndef TOKDFA_GUIDING_TEXTS_H
#define TOKDFA_GUIDING_TEXTS_H

#include "guiding_tables.h"

/* The automaton of a language over bytes and special tokens. */
typedef struct {
    int32_t *table, *column, *special_target, *special_column;
    int64_t n_columns, n_texts, n_special_columns;
    uint8_t *final;
} language;

/* The states after special tokens, by columns of which several tokens may share one. */
static void read_specials(tables *t, language *of, input *in) {
    of->n_special_columns = t->n_specials ? between(in, 1, t->n_specials) : 0;
    of->special_target = ZEROS(&t->memory, int32_t, of->n_texts * of->n_special_columns);
    of->special_column = ROOM(&t->memory, int32_t, t->n_specials);
    for (int64_t k = of->n_special_columns; k < of->n_texts * of->n_special_columns; k++) {
        of->special_target[k] = (int32_t)below(in, of->n_texts);
    }
    for (int64_t k = 0; k < t->n_specials; k++) {
        of->special_column[k] = (int32_t)(k < of->n_special_columns ? k : below(in, of->n_special_columns));
    }
}

static bool leads_to(const int32_t *targets, int64_t n, const int32_t *distance, int32_t wanted) {
    bool found = false;
    for (int64_t k = 0; k < n; k++) {
        found = found || (targets[k] > 0 && distance[targets[k]] == wanted);
    }
    return found;
}

/* The distances to an end, and -1 for states that lead to none; no state leads to these any more. */
static int32_t *find_distances(tables *t, language *of) {
    int32_t *distance = ROOM(&t->memory, int32_t, of->n_texts);
    for (int64_t q = 0; q < of->n_texts; q++) {
        distance[q] = of->final[q] ? 0 : -1;
    }
    for (int32_t length = 1; length < of->n_texts; length++) {
        for (int64_t q = 1; q < of->n_texts; q++) {
            if (distance[q] < 0 && (leads_to(of->table + q * of->n_columns, of->n_columns, distance, length - 1) ||
                                    leads_to(of->special_target + q * of->n_special_columns, of->n_special_columns,
                                             distance, length - 1))) {
                distance[q] = length;
            }
        }
    }
    for (int64_t k = 0; k < of->n_texts * of->n_columns; k++) {
        of->table[k] = distance[of->table[k]] < 0 ? 0 : of->table[k];
    }
    for (int64_t k = 0; k < of->n_texts * of->n_special_columns; k++) {
        of->special_target[k] = distance[of->special_target[k]] < 0 ? 0 : of->special_target[k];
    }
    return distance;
}

/* By state, a byte after which the distance is least; words have it. */
static uint8_t *find_nearest(tables *t, const language *of, const int32_t *distance) {
    static const uint8_t byte_of[N_COLUMNS] = {0xC3, 'a', 'b'};
    uint8_t *nearest = ZEROS(&t->memory, uint8_t, of->n_texts);
    for (int64_t q = 0; q < of->n_texts; q++) {
        int32_t least = INT32_MAX;
        for (int64_t c = 0; c < of->n_columns; c++) {
            const int32_t to = of->table[q * of->n_columns + c];
            if (to > 0 && distance[to] < least) {
                least = distance[to];
                nearest[q] = byte_of[c];
            }
        }
    }
    return nearest;
}

/* The nodes of the words, merged by columns: column, depth and end of each. Returns the node of each node of the words,
   -1 if no text has its columns. */
static int32_t *merge(tables *t, const language *of, int32_t **merged, int64_t *n) {
    int32_t *columns = ROOM(&t->memory, int32_t, t->n_nodes), *out[6];
    uint8_t *is_dead = ROOM(&t->memory, uint8_t, of->n_columns);
    for (int64_t c = 0; c < of->n_columns; c++) {
        is_dead[c] = 1;
        for (int64_t q = 0; q < of->n_texts; q++) {
            is_dead[c] = is_dead[c] && of->table[q * of->n_columns + c] == 0;
        }
    }
    for (int64_t v = 0; v < t->n_nodes; v++) {
        columns[v] = v ? of->column[t->symbol[v]] : 0;
    }
    for (int k = 0; k < 6; k++) {
        out[k] = ROOM(&t->memory, int32_t, t->n_nodes);
    }
    *n = tokdfa_merge_nodes(&(tokdfa_merge_job){columns, t->n_nodes, t->end, is_dead, of->n_columns, out[0], out[1],
                                                out[2], out[3], out[4], out[5]});
    REQUIRE(*n >= 1 && *n <= t->n_nodes);
    for (int64_t v = 0; v < t->n_nodes; v++) {
        REQUIRE(out[0][v] >= -1 && out[0][v] < *n);
        REQUIRE(out[0][v] < 0 || (out[4][out[0][v]] == t->depth[v] && (!v || out[3][out[0][v]] == columns[v])));
    }
    for (int k = 0; k < 3; k++) {
        merged[k] = exactly(&t->memory, out[3 + k], *n, 4);
    }
    if (of->n_columns == 1 && of->n_texts == 2 && !is_dead[0]) {
        /* No byte leads from a state to another, so the number of them does not matter either. */
        *n = 1, merged[0][0] = merged[1][0] = 0, merged[2][0] = 1;
        memset(out[0], 0, (size_t)t->n_nodes * sizeof **out);
    }
    return out[0];
}

/* Put the ids of a node into atoms: those of one class, and with one state of the scan. */
static void add_node(const tables *t, const int32_t *node_of, int64_t node, tokdfa_guide_texts *made, int32_t *begin,
                     int32_t *ids, bool *is_in) {
    for (int64_t v = 0; v < t->n_nodes; v++) {
        for (int32_t k = t->first[v]; node_of[v] == node && k < t->first[v + 1]; k++) {
            const int32_t word = t->words[k];
            if (is_in[word] || t->ids.from_start[word] < 0) {
                continue;
            }
            const int64_t atom = made->n_atom_class++;
            begin[atom + 1] = begin[atom];
            for (int64_t i = 0; i < t->n_nodes; i++) {
                for (int32_t j = t->first[i]; node_of[i] == node && j < t->first[i + 1]; j++) {
                    const int32_t other = t->words[j];
                    if (t->ids.class_of[other] == t->ids.class_of[word] &&
                        t->ids.from_start[other] == t->ids.from_start[word]) {
                        ids[begin[atom + 1]++] = other;
                        is_in[other] = true;
                    }
                }
            }
        }
    }
}

/* Group the ids by a language, in the order of the nodes; special tokens follow. Some atoms are bits too. */
static void group(tables *t, const int32_t *node_of, int64_t n_nodes, tokdfa_guide_texts *made, input *in) {
    arena *memory = &t->memory;
    int32_t *at_node = ROOM(memory, int32_t, n_nodes + 1), *begin = ZEROS(memory, int32_t, t->n_ids + 1);
    int32_t *ids = ROOM(memory, int32_t, t->n_ids), *row = MINUS_ONES(memory, int32_t, t->n_ids);
    int32_t *class = ROOM(memory, int32_t, t->n_ids), *spelled = ROOM(memory, int32_t, t->n_ids), n_rows = 0;
    uint32_t *bits = ZEROS(memory, uint32_t, t->n_ids * t->n_mask);
    bool *is_in = ZEROS(memory, bool, t->n_ids);
    for (int64_t node = 0; node < n_nodes; node++) {
        at_node[node] = (int32_t)made->n_atom_class;
        add_node(t, node_of, node, made, begin, ids, is_in);
    }
    at_node[n_nodes] = (int32_t)made->n_atom_class;
    for (int64_t id = t->n_words; id < t->n_ids; id++) {
        const int64_t atom = made->n_atom_class++;
        begin[atom + 1] = begin[atom] + 1;
        ids[begin[atom]] = (int32_t)id;
    }
    for (int64_t atom = 0; atom < made->n_atom_class; atom++) {
        class[atom] = t->ids.class_of[ids[begin[atom]]], spelled[atom] = t->ids.from_start[ids[begin[atom]]];
        row[atom] = take(in) & 1 ? n_rows++ : -1;
        for (int32_t k = begin[atom]; k < begin[atom + 1] && row[atom] >= 0; k++) {
            bits[row[atom] * t->n_mask + ids[k] / 32] |= (uint32_t)1 << ids[k] % 32;
        }
    }
    made->at_node = at_node, made->atom_begin = exactly(memory, begin, made->n_atom_class + 1, 4);
    made->atom_ids = exactly(memory, ids, begin[made->n_atom_class], 4), made->atom_row = row, made->atom_bits = bits;
    made->atom_class = class, made->atom_spelled = spelled;
}

static tokdfa_guide_texts read_texts(tables *t, language of, input *in) {
    int32_t *merged[3];
    int64_t n;
    const int32_t *distance = find_distances(t, &of), *node_of = merge(t, &of, merged, &n);
    tokdfa_guide_texts made = {.table = of.table, .column = of.column, .n_columns = of.n_columns, .final = of.final,
                               .n_final = of.n_texts, .distance = distance, .nearest = find_nearest(t, &of, distance),
                               .special_target = of.special_target, .n_special_columns = of.n_special_columns,
                               .special_column = of.special_column, .n_special_column = t->n_specials,
                               .node_column = merged[0], .n_node_column = n, .node_depth = merged[1],
                               .node_end = merged[2]};
    group(t, node_of, n, &made, in);
    return made;
}

/* The language of the input, and that of all texts, in whose state 1 all bytes and special tokens remain. */
static void read_languages(tables *t, input *in) {
    language own = {.table = t->table, .column = t->column, .n_columns = N_COLUMNS, .n_texts = t->n_texts,
                    .final = t->final_text};
    read_specials(t, &own, in);
    t->texts = read_texts(t, own, in);
    language every = {.table = ZEROS(&t->memory, int32_t, 2), .column = ZEROS(&t->memory, int32_t, 256), .n_columns = 1,
                      .n_texts = 2, .final = ZEROS(&t->memory, uint8_t, 2), .n_special_columns = 1,
                      .special_target = ZEROS(&t->memory, int32_t, 2),
                      .special_column = ZEROS(&t->memory, int32_t, t->n_specials)};
    every.table[1] = every.special_target[1] = every.final[1] = 1;
    t->every_text = read_texts(t, every, in);
}

static void make_slots(tables *t, tokdfa_guide_cache *cache, int64_t n) {
    arena *memory = &t->memory;
    const int32_t *keys = cache->keys, *enough = cache->enough;
    const uint8_t *values = cache->values;
    const int64_t n_before = cache->n_values;
    cache->keys = ZEROS(memory, int32_t, 4 * n), cache->values = ZEROS(memory, uint8_t, n);
    cache->n_values = n, cache->n_known = 0, cache->low = ZEROS(memory, int32_t, n);
    cache->needed = ZEROS(memory, int32_t, n), cache->enough = ZEROS(memory, int32_t, n);
    tokdfa_guide_enter(cache, keys, values, enough, n_before);
}

static void make_trail(tables *t, tokdfa_guide_cache *cache, int64_t n) {
    cache->trail = ZEROS(&t->memory, int32_t, n), cache->n_trail = n;
    cache->frames = ZEROS(&t->memory, int32_t, 5 * n), cache->attempts = ZEROS(&t->memory, int32_t, N_ATTEMPT * n);
}

static void make_cache(tables *t, tokdfa_guide_cache *cache, int64_t n_texts, input *in) {
    arena *memory = &t->memory;
    make_slots(t, cache, 2);
    make_trail(t, cache, 1);
    cache->path = ZEROS(memory, int32_t, MOST_LENGTH + 1), cache->trace = ZEROS(memory, int32_t, MOST_LENGTH + 1);
    cache->hint = MINUS_ONES(memory, int32_t, 8), cache->n_hint = 8;
    cache->n_verdict_sets = 1, cache->verdicts = ZEROS(memory, int32_t, 4 * N_VERDICT);
    cache->most_ways = 1 + n_texts % 3;
    cache->n_beginnings = 2, cache->beginnings = ZEROS(memory, int32_t, 2 * N_BEGINNINGS);
    cache->least_ids = ZEROS(memory, int32_t, n_texts), cache->nearer = ROOM(memory, int32_t, n_texts);
    cache->n_nearer_entries = between(in, 1, 12), cache->n_nearer_used = 1;
    cache->nearer_entries = ROOM(memory, int32_t, 3 * cache->n_nearer_entries);
    cache->near = ROOM(memory, int32_t, 4 * n_texts), cache->drops = ZEROS(memory, uint64_t, n_texts);
    cache->visited = ZEROS(memory, int32_t, n_texts), cache->queue = ROOM(memory, int32_t, n_texts);
    cache->most_searched = between(in, 1, 16);
    for (int64_t q = 0; q < n_texts; q++) {
        cache->nearer[q] = -2;
    }
    for (int64_t k = 0; k < 4 * n_texts; k++) {
        cache->near[k] = -2;
    }
}

#endif
