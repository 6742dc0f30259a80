/* The trie of LinMaxMatch: packing it into a double array, and matching single words. */
#include <stdlib.h>

#include "code_points.h"
#include "match.h"

/* The number of free cells that are tried for a node before it goes to the end of the array. */
#define TRIES 64

/* Cells under construction; `end` is one more than the last one in use. */
typedef struct {
    int32_t *cells;
    int64_t n_cells, end;
    int64_t start; /* free cells are tried from here on; after many failures, those before are given up */
} layout;

static bool is_free(const layout *l, int64_t cell) {
    return l->cells[4 * cell + 1] == -1;
}

/* The cell for the first of some symbols such that the cells for all of them are free. */
static int64_t find_place(layout *l, const int32_t *symbols, int64_t n) {
    const int64_t low = symbols[0];
    while (l->start < l->end && !is_free(l, l->start)) {
        l->start++;
    }
    int64_t tries = 0;
    for (int64_t at = greatest(l->start, low); at < l->end; at++) {
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

/* Lay a trie out as a double array, with room for failure links and pops, which are -1. Node v has the edges pointer[v]
   to pointer[v + 1], their symbols ascending; nodes 0 and 1 are the roots, and every other node is numbered after its
   parent. `place` gets the cell of each node. Any symbol may be looked up in any cell. Returns the number of cells; -1
   if they cannot be numbered with 31 bits. */
TOKDFA_DOOR int64_t tokdfa_pack_trie(const int32_t *pointer, int64_t n_nodes, const int32_t *symbol,
                                     const int32_t *child, int64_t n_symbols, int32_t *place, tokdfa_cells *packed) {
    layout l = {.end = 2, .start = 2};
    /* With n_symbols more cells, every lookup stays in bounds, because every base is less than `end`. */
    if (!have_room(&l, 2 * n_nodes + 2 * n_symbols + 16)) {
        return TOKDFA_NO_MEMORY;
    }
    place[0] = 0;
    place[1] = 1;
    for (int64_t node = 0; node < n_nodes; node++) {
        const int64_t first = pointer[node], last = pointer[node + 1];
        const int32_t cell = place[node];
        l.cells[4 * (int64_t)cell] = 0;
        if (first == last) {
            continue;
        }
        const int64_t base = find_place(&l, symbol + first, last - first) - symbol[first];
        const int64_t end = base + symbol[last - 1] + 1;
        if (end + n_symbols > INT32_MAX || !have_room(&l, greatest(end, l.end) + 2 * n_symbols + 1)) {
            free(l.cells);
            return end + n_symbols > INT32_MAX ? -1 : TOKDFA_NO_MEMORY;
        }
        for (int64_t edge = first; edge < last; edge++) {
            const int64_t target = base + symbol[edge];
            l.cells[4 * target + 1] = cell;
            place[child[edge]] = (int32_t)target;
        }
        l.end = greatest(l.end, end);
        l.cells[4 * (int64_t)cell] = (int32_t)base;
    }
    packed->cells = l.cells;
    packed->n_cells = l.end + n_symbols;
    return packed->n_cells;
}

TOKDFA_DOOR void tokdfa_free_cells(tokdfa_cells *packed) {
    free(packed->cells);
    packed->cells = NULL;
}

/* The number of a code point as a symbol; all those that the trie lacks get the number after the last. */
static int32_t symbol_of(const tokdfa_word_trie *trie, uint32_t point) {
    if (point < 128) {
        return (int32_t)point;
    }
    int64_t low = 0, high = trie->n_points;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if ((uint32_t)trie->points[middle] < point) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool found = low < trie->n_points && (uint32_t)trie->points[low] == point;
    return (int32_t)(128 + (found ? low : trie->n_points));
}

/* `n_read` as for match_word. */
ALWAYS_INLINE int64_t match_text(const tokdfa_word_trie *trie, const uint8_t *text, int64_t size, int32_t *room,
                                 int64_t *n_read) {
    int32_t *const symbols = room + 2 * size;
    int64_t n = 0;
    for (int64_t at = 0; at < size;) {
        const code_point read = decode(text + at);
        symbols[n++] = symbol_of(trie, read.point);
        at += read.width;
    }
    return match_word(trie, symbols, n, room, room + size, n_read);
}

/* Tokenize one word of one code point or more, of `size` bytes of UTF-8, in which surrogates may be encoded as well.
   `room` is for three entries a byte: the ids come first, and from `size` on their numbers of symbols. Returns the number
   of tokens; -1 if there is no tokenization. */
TOKDFA_DOOR int64_t tokdfa_match_word(const tokdfa_word_trie *trie, const uint8_t *text, int64_t size, int32_t *room) {
    return match_text(trie, text, size, room, NULL);
}

/* Do the same, and return the number of cells of the trie that are read. */
TOKDFA_DOOR int64_t tokdfa_count_cells_read(const tokdfa_word_trie *trie, const uint8_t *text, int64_t size,
                                            int32_t *room) {
    int64_t n_read;
    match_text(trie, text, size, room, &n_read);
    return n_read;
}
