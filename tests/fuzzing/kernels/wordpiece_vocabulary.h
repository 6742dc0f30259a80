/* A vocabulary from bytes, and its trie by definition, packed. */
#ifndef TOKDFA_WORDPIECE_VOCABULARY_H
#define TOKDFA_WORDPIECE_VOCABULARY_H

#include "../../../tokdfa/kernels/wordpiece/door.h"
#include "harness.h"

enum { MOST_ENTRIES = 28, LONGEST_ENTRY = 40, MOST_NODES = 2 + MOST_ENTRIES * LONGEST_ENTRY, MOST_ADDED = 3 };
enum { N_PAGES = 0x110000 >> 8 };

/* The code points of texts; those up to the gap are letters and digits, of which entries are made, too. */
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
    tokdfa_cells packed;
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

static void build_trie(tokenizer *t) {
    arena memory = {NULL, 0, 0};
    node *nodes = ZEROS(&memory, node, MOST_NODES);
    int64_t n = 2, n_pops = 0;
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
    int32_t *pointer = ROOM(&memory, int32_t, n + 1), *symbol = ROOM(&memory, int32_t, n - 2);
    int32_t *child = ROOM(&memory, int32_t, n - 2), *place = ROOM(&memory, int32_t, n), *of = ROOM(&memory, int32_t, n);
    int64_t n_edges = 0;
    pointer[0] = 0;
    for (int64_t v = 0; v < n; v++) {
        for (int64_t w = 2; w < n; w++) {
            if (nodes[w].parent == v) {
                int64_t at = n_edges++;
                for (; at > pointer[v] && nodes[w].symbol < symbol[at - 1]; at--) {
                    symbol[at] = symbol[at - 1];
                    child[at] = child[at - 1];
                }
                symbol[at] = nodes[w].symbol;
                child[at] = (int32_t)w;
            }
        }
        pointer[v + 1] = (int32_t)n_edges;
    }
    int64_t n_cells;
    WITH_MEMORY(n_cells, tokdfa_pack_trie(pointer, n, symbol, child, t->foreign + 1, place, &t->packed));
    REQUIRE(n_cells > 0 && n_cells == t->packed.n_cells);
    int32_t *cells = ROOM(&t->memory, int32_t, 4 * n_cells), *pops = ROOM(&memory, int32_t, n * (2 * LONGEST_ENTRY + 3));
    memcpy(cells, t->packed.cells, (size_t)(16 * n_cells));
    tokdfa_free_cells(&t->packed);
    REQUIRE(!t->packed.cells && place[0] == 0 && place[1] == 1);
    for (int64_t v = 0; v < n; v++) {
        REQUIRE(place[v] >= 0 && place[v] < n_cells);
        of[v] = cells[4 * (int64_t)place[v]];
        REQUIRE(of[v] + t->foreign < n_cells);
        int32_t *links = cells + 4 * (int64_t)place[v];
        links[2] = nodes[v].failure < 0 ? -1 : place[nodes[v].failure];
        if (nodes[v].entry >= 0) {
            links[3] = nodes[v].entry;
        } else if (nodes[v].n_pops) {
            links[3] = (int32_t)(-1 - n_pops);
            pops[n_pops++] = nodes[v].n_pops;
            memcpy(pops + n_pops, nodes[v].pops, (size_t)nodes[v].n_pops * sizeof *nodes[v].pops);
            n_pops += 2 * nodes[v].n_pops;
        }
    }
    /* Any symbol may be looked up in any cell, and leads where the trie does. */
    for (int64_t v = 0; v < n; v++) {
        for (int32_t s = 0; s <= t->foreign; s += s < 96 ? 1 + (s % 16) : 1) {
            const int64_t w = child_of(nodes, n, v, s), target = of[v] + s;
            REQUIRE((cells[4 * target + 1] == place[v]) == (w >= 0));
            REQUIRE(w < 0 || target == place[w]);
        }
    }
    int32_t *kept = ROOM(&t->memory, int32_t, n_pops), *used = ROOM(&t->memory, int32_t, t->n_symbol_points);
    memcpy(kept, pops, (size_t)n_pops * sizeof *kept);
    memcpy(used, t->symbol_points, (size_t)t->n_symbol_points * sizeof *used);
    t->trie = (tokdfa_word_trie){cells, kept, used, t->n_symbol_points};
    give_back(&memory);
}

#endif
