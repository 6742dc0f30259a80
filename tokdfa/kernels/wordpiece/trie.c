/* Building the trie of LinMaxMatch: its nodes, their double array, and failure links and pops. */
#include <stdlib.h>

#include "../common/base.h"
#include "api.h"

/* The number of free cells that are tried for a node before it goes to the end of the array, and the number of cells
   that are looked at: free ones that no symbol reaches would otherwise keep all searches at the beginning. */
#define TRIES 64
#define MOST_SEEN 4096
#define ROOT 0
#define SUFFIX_ROOT 1
#define MOST_NODES ((int64_t)1 << 28)

/* Cells under construction; `end` is one more than the last one in use. */
typedef struct {
    int32_t *cells;
    int64_t n_cells, end;
    int64_t start; /* free cells are tried from here on; after many failures, those before are given up */
} layout;

typedef struct {
    int32_t parent, symbol;
    int32_t entry; /* -1 where no word ends */
    int32_t depth;
} node;

/* The nodes in the order in which words add them; 0 and 1 are the roots, and every other one comes after its parent.
   The children of node v are child[first[v]] to child[first[v + 1]], their symbols ascending. */
typedef struct {
    int64_t n;
    node *all;
    int32_t *first, *child, *edge;            /* edge[i] is the symbol of child[i] */
    int32_t *cell_of;                         /* the cell of each node */
    uint32_t *slots;                          /* the child by its parent and symbol; 0 for none */
    uint64_t n_slots;
} nodes;

static void free_nodes(nodes *t) {
    void *all[] = {t->all, t->first, t->child, t->edge, t->cell_of, t->slots};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
}

/* Memory for numbers of 32 bits; one at least, so that NULL means that there is none. */
static void *new_numbers(int64_t n) {
    return malloc((size_t)(n + 1) * sizeof(int32_t));
}

/* Add the nodes of all words. */
static bool add_words(nodes *t, const tokdfa_trie_words *words) {
    const int64_t most = words->n_symbols + 2;
    t->n_slots = 16;
    int shift = 60;
    while (t->n_slots < (uint64_t)(2 * most)) {
        t->n_slots *= 2;
        shift--;
    }
    t->all = malloc((size_t)most * sizeof *t->all);
    t->slots = calloc(t->n_slots, sizeof *t->slots);
    if (!t->all || !t->slots) {
        return false;
    }
    t->all[ROOT] = t->all[SUFFIX_ROOT] = (node){-1, -1, -1, 0};
    t->n = 2;
    for (int64_t word = 0; word + 1 < words->n_offsets; word++) {
        int32_t parent = word < words->n_beginnings ? ROOT : SUFFIX_ROOT;
        for (int64_t at = words->offsets[word]; at < words->offsets[word + 1]; at++) {
            const int32_t symbol = words->symbols[at];
            const uint64_t key = ((uint64_t)parent << 32 | (uint64_t)symbol) ^ words->key_0;
            uint64_t slot = key * (words->key_1 | 1) >> shift;
            uint32_t child;
            while ((child = t->slots[slot]) != 0 && (t->all[child].parent != parent || t->all[child].symbol != symbol)) {
                slot = (slot + 1) & (t->n_slots - 1);
            }
            if (!child) {
                child = t->slots[slot] = (uint32_t)t->n++;
                t->all[child] = (node){parent, symbol, -1, t->all[parent].depth + 1};
            }
            parent = (int32_t)child;
        }
        t->all[parent].entry = words->ids[word];
    }
    return true;
}

/* Arrange the children of each node by their symbols: all nodes by symbol first, then by parent. */
static bool arrange_children(nodes *t, int64_t n_kinds) {
    int32_t *ends = calloc((size_t)n_kinds + 1, sizeof *ends), *by_symbol = new_numbers(t->n);
    t->first = calloc((size_t)t->n + 2, sizeof *t->first);
    t->child = new_numbers(t->n);
    t->edge = new_numbers(t->n);
    t->cell_of = new_numbers(t->n);
    const bool is_there = ends && by_symbol && t->first && t->child && t->edge && t->cell_of;
    if (is_there) {
        for (int64_t node = 2; node < t->n; node++) {
            ends[t->all[node].symbol + 1]++;
            t->first[t->all[node].parent + 2]++;
        }
        for (int64_t kind = 0; kind < n_kinds; kind++) {
            ends[kind + 1] += ends[kind];
        }
        for (int64_t node = 0; node < t->n; node++) {
            t->first[node + 2] += t->first[node + 1];
        }
        for (int32_t node = 2; node < t->n; node++) {
            by_symbol[ends[t->all[node].symbol]++] = node;
        }
        /* first[v + 1] is where the children of node v begin, and where they end when all are there. */
        for (int64_t i = 0; i < t->n - 2; i++) {
            const int32_t node = by_symbol[i], at = t->first[t->all[node].parent + 1]++;
            t->child[at] = node;
            t->edge[at] = t->all[node].symbol;
        }
    }
    free(ends);
    free(by_symbol);
    return is_there;
}

static bool is_free(const layout *l, int64_t cell) {
    return l->cells[4 * cell + 1] == -1;
}

/* The cell for the first of some symbols such that the cells for all of them are free. */
static int64_t find_base(layout *l, const int32_t *symbols, int64_t n) {
    const int64_t low = symbols[0];
    while (l->start < l->end && !is_free(l, l->start)) {
        l->start++;
    }
    int64_t tries = 0;
    const int64_t begin = greatest(l->start, low);
    for (int64_t at = begin; at < l->end; at++) {
        if (at - begin == MOST_SEEN) {
            l->start = at;
            break;
        }
        if (!is_free(l, at)) {
            continue;
        }
        int64_t fitting = 1;
        while (fitting < n && is_free(l, at - low + symbols[fitting])) {
            fitting++;
        }
        if (fitting == n) {
            return at;
        }
        if (++tries == TRIES) {
            l->start = at;
            break;
        }
    }
    return greatest(l->end, low);
}

static bool have_room(layout *l, int64_t n_cells) {
    if (n_cells <= l->n_cells) {
        return true;
    }
    const int64_t larger = greatest(2 * l->n_cells, n_cells);
    int32_t *cells = (uint64_t)larger > SIZE_MAX / 32 ? NULL : realloc(l->cells, 4 * (size_t)larger * sizeof *cells);
    if (!cells) {
        return false;
    }
    memset(cells + 4 * l->n_cells, -1, 4 * (size_t)(larger - l->n_cells) * sizeof *cells);
    l->cells = cells;
    l->n_cells = larger;
    return true;
}

/* Give every node a cell: the nodes become a double array, in which any symbol may be looked up in any cell. Returns 0,
   or why not. */
static int64_t lay_out(layout *l, nodes *t, int64_t n_kinds) {
    /* With n_kinds more cells, every lookup stays in bounds, because every base is less than `end`. */
    if (!have_room(l, 2 * t->n + 2 * n_kinds + 16)) {
        return TOKDFA_NO_MEMORY;
    }
    t->cell_of[ROOT] = 0;
    t->cell_of[SUFFIX_ROOT] = 1;
    for (int64_t node = 0; node < t->n; node++) {
        const int64_t first = t->first[node], last = t->first[node + 1];
        const int32_t cell = t->cell_of[node];
        l->cells[4 * (int64_t)cell] = 0;
        if (first == last) {
            continue;
        }
        const int64_t base = find_base(l, t->edge + first, last - first) - t->edge[first];
        const int64_t end = base + t->edge[last - 1] + 1;
        if (end + n_kinds > INT32_MAX) {
            return TOKDFA_MANY_CELLS;
        }
        if (!have_room(l, greatest(end, l->end) + 2 * n_kinds + 1)) {
            return TOKDFA_NO_MEMORY;
        }
        for (int64_t i = first; i < last; i++) {
            const int64_t target = base + t->edge[i];
            l->cells[4 * target + 1] = cell;
            t->cell_of[t->child[i]] = (int32_t)target;
        }
        l->end = greatest(l->end, end);
        l->cells[4 * (int64_t)cell] = (int32_t)base;
    }
    return 0;
}

/* Pops under construction, and how many tokens all nodes pop. */
typedef struct {
    int32_t *pops;
    int64_t n, capacity, n_tokens;
} popping;

static bool have_pops(popping *p, int64_t n) {
    if (p->n + n > p->capacity) {
        const int64_t capacity = 2 * (p->n + n) + 64;
        int32_t *pops = realloc(p->pops, (size_t)capacity * sizeof *pops);
        if (!pops) {
            return false;
        }
        p->pops = pops;
        p->capacity = capacity;
    }
    return true;
}

/* Append the tokens popped at a cell that has a failure link. */
static bool append_pops(popping *p, const int32_t *cells, int64_t cell, const int32_t *depth) {
    const int32_t pop = cells[4 * cell + 3], one[2] = {pop, depth[cell]};
    const int64_t n = pop >= 0 ? 1 : p->pops[-1 - pop];
    if (!have_pops(p, 2 * n)) {
        return false;
    }
    memcpy(p->pops + p->n, pop >= 0 ? one : p->pops - pop, (size_t)n * sizeof one);
    p->n += 2 * n;
    return true;
}

/* Find the failure link and the pops of a cell, given its parent and the symbol that leads to it. */
static bool link_cell(popping *p, int32_t *cells, int64_t cell, int64_t parent, int32_t symbol, const int32_t *depth) {
    const int64_t begin = p->n;
    int64_t from = parent, target = cells[4 * parent + 2];
    if (target < 0) {
        return true;
    }
    /* The number of tokens comes first. */
    if (!have_pops(p, 1)) {
        return false;
    }
    p->n++;
    for (;;) {
        if (!append_pops(p, cells, from, depth)) {
            return false;
        }
        const int64_t next = (int64_t)cells[4 * target] + symbol;
        if (cells[4 * next + 1] == target) {
            const int64_t n = (p->n - begin - 1) / 2;
            p->pops[begin] = (int32_t)n;
            p->n_tokens += n;
            cells[4 * cell + 2] = (int32_t)next;
            cells[4 * cell + 3] = (int32_t)(-1 - begin);
            return true;
        }
        from = target;
        target = cells[4 * target + 2];
        if (target < 0) {
            p->n = begin;
            return true;
        }
    }
}

/* Compute failure links and pops, nearest to the roots first. Returns 0, or why not.

   *Fast WordPiece Tokenization*, EMNLP 2021, algorithm 2. */
static int64_t link_cells(layout *l, const nodes *t, popping *p) {
    int32_t *queue = new_numbers(t->n), *depth = calloc((size_t)l->n_cells, sizeof *depth);
    int64_t status = queue && depth ? 0 : TOKDFA_NO_MEMORY, n_queue = 2;
    if (!status) {
        queue[0] = ROOT;
        queue[1] = SUFFIX_ROOT;
    }
    for (int64_t at = 0; !status && at < n_queue; at++) {
        const int32_t node = queue[at];
        for (int64_t i = t->first[node]; !status && i < t->first[node + 1]; i++) {
            const int32_t child = t->child[i];
            const int64_t cell = t->cell_of[child];
            queue[n_queue++] = child;
            depth[cell] = t->all[child].depth;
            if (t->all[child].entry >= 0) {
                /* The longest match is the whole path. */
                l->cells[4 * cell + 2] = SUFFIX_ROOT;
                l->cells[4 * cell + 3] = t->all[child].entry;
                p->n_tokens++;
            } else if (!link_cell(p, l->cells, cell, t->cell_of[node], t->edge[i], depth)) {
                status = TOKDFA_NO_MEMORY;
            }
            if (!status && p->n_tokens > TOKDFA_MOST_POPS) {
                status = TOKDFA_MANY_POPS;
            }
        }
    }
    free(queue);
    free(depth);
    return status;
}

/* Build the trie of words: O(symbols and pops) but for the packing. If a word occurs twice, the last id counts. Returns
   0; TOKDFA_MANY_CELLS if they cannot be numbered with 31 bits, TOKDFA_MANY_POPS if there are more than
   TOKDFA_MOST_POPS. */
TOKDFA_API int64_t tokdfa_build_word_trie(const tokdfa_trie_words *words, tokdfa_built_trie *built) {
    nodes t = {0};
    layout l = {.end = 2, .start = 2};
    popping p = {0};
    *built = (tokdfa_built_trie){0};
    int64_t status = add_words(&t, words) ? 0 : TOKDFA_NO_MEMORY;
    if (!status && t.n > MOST_NODES) {
        status = TOKDFA_MANY_CELLS;
    }
    if (!status && !arrange_children(&t, words->n_kinds)) {
        status = TOKDFA_NO_MEMORY;
    }
    status = status ? status : lay_out(&l, &t, words->n_kinds);
    status = status ? status : link_cells(&l, &t, &p);
    free_nodes(&t);
    if (status) {
        free(l.cells);
        free(p.pops);
        return status;
    }
    *built = (tokdfa_built_trie){l.cells, l.end + words->n_kinds, p.pops, p.n, t.n};
    return 0;
}

TOKDFA_API void tokdfa_free_word_trie(tokdfa_built_trie *built) {
    free(built->cells);
    free(built->pops);
    *built = (tokdfa_built_trie){0};
}
