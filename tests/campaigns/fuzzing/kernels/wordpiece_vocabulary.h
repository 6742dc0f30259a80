/* A vocabulary from bytes, and its trie, compared with that by definition. */
#ifndef TOKDFA_WORDPIECE_VOCABULARY_H
#define TOKDFA_WORDPIECE_VOCABULARY_H

#include "../../../../tokdfa/kernels/wordpiece/api.h"
#include "harness.h"

enum { MOST_ENTRIES = 28, LONGEST_ENTRY = 40, MOST_NODES = 2 + MOST_ENTRIES * LONGEST_ENTRY, MOST_ADDED = 3 };
enum { N_PAGES = 0x110000 >> 8 };

/* The code points of texts; up to the gap they are letters and digits, and entries are made of them, too. */
static const int32_t points[] = {'a', 'b', '1', 'A', 'z', 0xE9, 0x4E2D, 0x1F600, 0xDF, 0x301, 0x345,
                                 ' ', '.', '\t', '\n', 0, '-', '~', 0x300, 0x327, 0x344, 0x4E00, 0xAC01, 0x10FFFF, 0x2028};
enum { N_POINTS = sizeof points / sizeof *points, N_LETTERS = 11, FIRST_MARK = 9 };

typedef struct {
    int32_t letters[LONGEST_ENTRY]; /* code points */
    int64_t length;
    bool continues;
} entry;

typedef struct {
    entry entries[MOST_ENTRIES];
    int64_t n_entries, foreign, n_symbol_points;
    int32_t symbol_points[N_LETTERS];
    tokdfa_word_trie trie;
    tokdfa_wordpiece tables;
    uint32_t codes[N_POINTS];
    int32_t parts[N_POINTS][2][2], n_parts[N_POINTS]; /* class and symbol; of marks only */
    bool is_mark[N_POINTS];
    int64_t n_added;
    uint8_t added[MOST_ADDED][8];
    int64_t added_length[MOST_ADDED], added_id[MOST_ADDED];
    arena memory;
} tokenizer;

static int64_t put_utf8(uint8_t *at, int32_t point) {
    if (point < 0x80) {
        at[0] = (uint8_t)point;
        return 1;
    }
    if (point < 0x800) {
        at[0] = (uint8_t)(0xC0 | point >> 6);
        at[1] = (uint8_t)(0x80 | (point & 63));
        return 2;
    }
    if (point < 0x10000) {
        at[0] = (uint8_t)(0xE0 | point >> 12);
        at[1] = (uint8_t)(0x80 | (point >> 6 & 63));
        at[2] = (uint8_t)(0x80 | (point & 63));
        return 3;
    }
    at[0] = (uint8_t)(0xF0 | point >> 18);
    at[1] = (uint8_t)(0x80 | (point >> 12 & 63));
    at[2] = (uint8_t)(0x80 | (point >> 6 & 63));
    at[3] = (uint8_t)(0x80 | (point & 63));
    return 4;
}

/* The number of a code point as a symbol. */
static int32_t symbol_of(const tokenizer *t, int32_t point) {
    if (point < 128) {
        return point;
    }
    for (int64_t i = 0; i < t->n_symbol_points; i++) {
        if (t->symbol_points[i] == point) {
            return (int32_t)(128 + i);
        }
    }
    return (int32_t)t->foreign;
}

static int compare_ints(const void *a, const void *b) {
    return *(const int32_t *)a < *(const int32_t *)b ? -1 : *(const int32_t *)a > *(const int32_t *)b;
}

static void read_entries(tokenizer *t, input *in) {
    const int64_t wanted = below(in, MOST_ENTRIES + 1), letters = between(in, 1, N_LETTERS);
    for (int64_t i = 0; i < wanted; i++) {
        entry *e = t->entries + t->n_entries;
        const int what = take(in);
        e->continues = what & 1;
        e->length = 1 + (what >= 0xE0 ? what % LONGEST_ENTRY : (what >> 1) % 5);
        for (int64_t k = 0; k < e->length; k++) {
            e->letters[k] = points[what >= 0xE0 && k > 1 ? (k + what) % letters : below(in, letters)];
        }
        bool is_new = true;
        for (int64_t other = 0; other < t->n_entries; other++) {
            const entry *o = t->entries + other;
            is_new = is_new && !(o->continues == e->continues && o->length == e->length &&
                                 !memcmp(o->letters, e->letters, (size_t)e->length * sizeof *e->letters));
        }
        t->n_entries += is_new;
    }
    for (int64_t i = 0; i < t->n_entries; i++) {
        for (int64_t k = 0; k < t->entries[i].length; k++) {
            const int32_t point = t->entries[i].letters[k];
            bool is_new = point >= 128;
            for (int64_t s = 0; s < t->n_symbol_points; s++) {
                is_new = is_new && t->symbol_points[s] != point;
            }
            if (is_new) {
                t->symbol_points[t->n_symbol_points++] = point;
            }
        }
    }
    qsort(t->symbol_points, (size_t)t->n_symbol_points, sizeof *t->symbol_points, compare_ints);
    t->foreign = 128 + t->n_symbol_points;
}

typedef struct {
    int32_t symbol, parent, failure, entry, depth;
    int32_t n_pops, pops[LONGEST_ENTRY + 1][2];
} node;

static int64_t child_of(const node *nodes, int64_t n, int64_t parent, int32_t symbol) {
    for (int64_t i = 2; i < n; i++) {
        if (nodes[i].parent == parent && nodes[i].symbol == symbol) {
            return i;
        }
    }
    return -1;
}

/* Build the trie, and require that its cells are the nodes and nothing else. */
static void check_trie(tokenizer *t, const node *nodes, int64_t n) {
    arena memory = {NULL, 0, 0};
    int32_t *symbols = ROOM(&memory, int32_t, MOST_ENTRIES * LONGEST_ENTRY + 1), *ids = ROOM(&memory, int32_t, MOST_ENTRIES);
    int64_t *offsets = ROOM(&memory, int64_t, MOST_ENTRIES + 1), n_words = 0, n_beginnings = 0, n_symbols = 0;
    int32_t *place = ROOM(&memory, int32_t, n);
    offsets[0] = 0;
    for (int continues = 0; continues < 2; continues++) {
        for (int64_t i = 0; i < t->n_entries; i++) {
            const entry *e = t->entries + i;
            if (e->continues != continues) {
                continue;
            }
            for (int64_t k = 0; k < e->length; k++) {
                symbols[n_symbols++] = symbol_of(t, e->letters[k]);
            }
            ids[n_words++] = (int32_t)i;
            offsets[n_words] = n_symbols;
        }
        n_beginnings = continues ? n_beginnings : n_words;
    }
    const tokdfa_trie_words words = {symbols, n_symbols, offsets, n_words + 1, ids, n_beginnings, t->foreign + 1,
                                     (uint64_t)n_symbols * 0x9E3779B97F4A7C15u, ~(uint64_t)n_words};
    tokdfa_built_trie built;
    int64_t status;
    WITH_MEMORY(status, tokdfa_build_word_trie(&words, &built));
    REQUIRE(status == 0 && built.n_nodes == n);
    int32_t *cells = ROOM(&t->memory, int32_t, 4 * built.n_cells), *pops = ROOM(&t->memory, int32_t, built.n_pops);
    memcpy(cells, built.cells, (size_t)(16 * built.n_cells));
    if (built.n_pops) {
        memcpy(pops, built.pops, (size_t)(4 * built.n_pops));
    }
    const int64_t n_cells = built.n_cells, n_pops = built.n_pops;
    tokdfa_free_word_trie(&built);
    REQUIRE(!built.cells && !built.pops);
    for (int64_t v = 0; v < n; v++) {
        place[v] = v < 2 ? (int32_t)v : cells[4 * (int64_t)place[nodes[v].parent]] + nodes[v].symbol;
        REQUIRE(place[v] >= 0 && place[v] < n_cells && cells[4 * (int64_t)place[v]] + t->foreign < n_cells);
    }
    /* Any symbol may be looked up in any cell, and leads where the trie does. */
    for (int64_t v = 0; v < n; v++) {
        for (int32_t s = 0; s <= t->foreign; s += s < 96 ? 1 + (s % 16) : 1) {
            const int64_t w = child_of(nodes, n, v, s), target = cells[4 * (int64_t)place[v]] + s;
            REQUIRE((cells[4 * target + 1] == place[v]) == (w >= 0));
            REQUIRE(w < 0 || target == place[w]);
        }
        const int32_t *links = cells + 4 * (int64_t)place[v];
        REQUIRE(links[2] == (nodes[v].failure < 0 ? -1 : place[nodes[v].failure]));
        if (nodes[v].entry >= 0) {
            REQUIRE(links[3] == nodes[v].entry);
        } else if (nodes[v].n_pops) {
            const int64_t at = -1 - links[3], size = 2 * nodes[v].n_pops;
            REQUIRE(at >= 0 && at + size < n_pops && pops[at] == nodes[v].n_pops);
            REQUIRE(!memcmp(pops + at + 1, nodes[v].pops, (size_t)size * sizeof *pops));
        }
    }
    t->trie = (tokdfa_word_trie){.cells = cells, .pops = pops};
    give_back(&memory);
}

static void build_trie(tokenizer *t) {
    arena memory = {NULL, 0, 0};
    node *nodes = ZEROS(&memory, node, MOST_NODES);
    int64_t n = 2;
    nodes[0] = nodes[1] = (node){.symbol = -1, .parent = -1, .failure = -1, .entry = -1};
    /* Breadth first: every node comes after its parent, and after all that are less deep. */
    for (int64_t depth = 1; depth <= LONGEST_ENTRY; depth++) {
        for (int64_t i = 0; i < t->n_entries; i++) {
            const entry *e = t->entries + i;
            if (e->length < depth) {
                continue;
            }
            int64_t at = e->continues;
            for (int64_t k = 0; k + 1 < depth; k++) {
                at = child_of(nodes, n, at, symbol_of(t, e->letters[k]));
            }
            const int32_t symbol = symbol_of(t, e->letters[depth - 1]);
            int64_t next = child_of(nodes, n, at, symbol);
            if (next < 0) {
                next = n++;
                nodes[next] = (node){.symbol = symbol, .parent = (int32_t)at, .failure = -1, .entry = -1,
                                     .depth = (int32_t)depth};
            }
            if (depth == e->length) {
                nodes[next].entry = (int32_t)i;
            }
        }
    }
    for (int64_t v = 2; v < n; v++) {
        node *here = nodes + v;
        if (here->entry >= 0) {
            here->failure = 1;
            here->n_pops = 1;
            here->pops[0][0] = here->entry;
            here->pops[0][1] = here->depth;
            continue;
        }
        const node *parent = nodes + here->parent;
        memcpy(here->pops, parent->pops, sizeof here->pops);
        here->n_pops = parent->n_pops;
        int64_t z = parent->failure;
        while (z >= 0 && child_of(nodes, n, z, here->symbol) < 0) {
            memcpy(here->pops[here->n_pops], nodes[z].pops, (size_t)nodes[z].n_pops * sizeof *here->pops);
            here->n_pops += nodes[z].n_pops;
            z = nodes[z].failure;
        }
        if (z >= 0) {
            here->failure = (int32_t)child_of(nodes, n, z, here->symbol);
        } else {
            here->n_pops = 0;
        }
    }
    check_trie(t, nodes, n);
    int32_t *used = ROOM(&t->memory, int32_t, t->n_symbol_points);
    memcpy(used, t->symbol_points, (size_t)t->n_symbol_points * sizeof *used);
    t->trie.points = used;
    t->trie.n_points = t->n_symbol_points;
    give_back(&memory);
}

#endif
