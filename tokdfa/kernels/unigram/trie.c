/* The trie of pieces, packed into a double array. */
#include <stdlib.h>

#include "../common/base.h"
#include "api.h"

/* The number of free cells that are tried for a node before it goes to the end of the array, and the number of cells
   that are looked at: free ones that no label reaches would otherwise keep all searches at the beginning. */
enum { TRIES = 64, MOST_SEEN = 4096, LABELS = 256 };

#define FREE (-1)

/* A node with children to place: its cell, and the keys that begin with its word of `depth` bytes. */
typedef struct {
    int64_t cell, low, high, depth;
} node;

typedef struct {
    tokdfa_unigram_trie *trie;
    int64_t capacity;
    int64_t end;   /* one more than the last cell in use */
    int64_t start; /* free cells are tried from here on */
} layout;

static bool is_free(const layout *l, int64_t cell) {
    return l->trie->cells[2 * cell + 1] == FREE;
}

/* Enlarge the arrays for cells up to `n`, and the labels past them. */
static bool grow(layout *l, int64_t n) {
    if (n + LABELS <= l->capacity) {
        return true;
    }
    int64_t capacity = 2 * (n + LABELS);
    int32_t *cells = realloc(l->trie->cells, (size_t)capacity * 2 * sizeof *cells);
    if (!cells) {
        return false;
    }
    l->trie->cells = cells;
    int32_t *keys = realloc(l->trie->keys, (size_t)capacity * sizeof *keys);
    if (!keys) {
        return false;
    }
    l->trie->keys = keys;
    for (int64_t cell = l->capacity; cell < capacity; cell++) {
        cells[2 * cell] = 0;
        cells[2 * cell + 1] = FREE;
        keys[cell] = -1;
    }
    l->capacity = capacity;
    return true;
}

/* The base of a node with these labels, ascending: the cells for all of them are free. */
static int64_t find_base(layout *l, const uint8_t *labels, int64_t n) {
    while (l->start < l->end && !is_free(l, l->start)) {
        l->start++;
    }
    int64_t tries = 0;
    const int64_t begin = greatest(l->start, labels[0] + 1);
    for (int64_t at = begin; at < l->end; at++) {
        if (at - begin == MOST_SEEN) {
            l->start = at;
            break;
        }
        if (!is_free(l, at)) {
            continue;
        }
        int64_t fitting = 1;
        while (fitting < n && is_free(l, at - labels[0] + labels[fitting])) {
            fitting++;
        }
        if (fitting == n) {
            return at - labels[0];
        }
        if (++tries == TRIES) {
            l->start = at;
            break;
        }
    }
    return greatest(l->end - labels[0], 1);
}

/* Place the children of a node and put them on the stack. Returns their number, -1 if out of memory. */
static int64_t place_children(layout *l, const uint8_t *text, const int64_t *offsets, int64_t gap, node parent,
                              node *children) {
    uint8_t labels[LABELS];
    int64_t n = 0, low = parent.low;
    if (low < parent.high && offsets[low + 1] - offsets[low] == parent.depth + gap) {
        /* Keys ascend, so the one that ends here comes first; others that are equal are not there. */
        l->trie->keys[parent.cell] = (int32_t)low;
        low++;
    }
    for (int64_t at = low; at < parent.high;) {
        const uint8_t label = text[offsets[at] + parent.depth];
        int64_t stop = at + 1;
        while (stop < parent.high && text[offsets[stop] + parent.depth] == label) {
            stop++;
        }
        children[n] = (node){label, at, stop, parent.depth + 1};
        labels[n++] = label;
        at = stop;
    }
    if (!n) {
        return 0;
    }
    const int64_t base = find_base(l, labels, n);
    if (!grow(l, base + LABELS)) {
        return -1;
    }
    l->trie->cells[2 * parent.cell] = (int32_t)base;
    for (int64_t i = 0; i < n; i++) {
        children[i].cell += base;
        l->trie->cells[2 * children[i].cell + 1] = (int32_t)(2 * parent.cell);
        l->end = greatest(l->end, children[i].cell + 1);
    }
    return n;
}

/* Pack keys, not empty, distinct and ascending by their bytes, with a gap of so many bytes after each, into a trie.
   Returns 0. */
TOKDFA_API int64_t tokdfa_build_unigram_trie(const uint8_t *text, const int64_t *offsets, int64_t n_keys, int64_t gap,
                                              tokdfa_unigram_trie *trie) {
    layout l = {trie, 0, 1, 1};
    *trie = (tokdfa_unigram_trie){0};
    /* Nodes wait in the order of their depth, so that those near the root are side by side. */
    int64_t n_waiting = 0, first = 0, n_room = LABELS + 1;
    node *waiting = malloc((size_t)n_room * sizeof *waiting);
    if (!waiting || !grow(&l, 1)) {
        free(waiting);
        tokdfa_free_unigram_trie(trie);
        return TOKDFA_NO_MEMORY;
    }
    trie->cells[1] = 0;
    waiting[n_waiting++] = (node){0, 0, n_keys, 0};
    while (first < n_waiting) {
        if (n_waiting + LABELS > n_room) {
            /* The nodes that are done give way to others. */
            memmove(waiting, waiting + first, (size_t)(n_waiting - first) * sizeof *waiting);
            n_waiting -= first;
            first = 0;
            if (n_waiting + LABELS > n_room / 2) {
                node *more = realloc(waiting, (size_t)n_room * 2 * sizeof *waiting);
                if (!more) {
                    free(waiting);
                    tokdfa_free_unigram_trie(trie);
                    return TOKDFA_NO_MEMORY;
                }
                waiting = more;
                n_room *= 2;
            }
        }
        const int64_t n = place_children(&l, text, offsets, gap, waiting[first++], waiting + n_waiting);
        if (n < 0) {
            free(waiting);
            tokdfa_free_unigram_trie(trie);
            return TOKDFA_NO_MEMORY;
        }
        n_waiting += n;
    }
    free(waiting);
    for (int64_t cell = 0; cell < l.end; cell++) {
        trie->cells[2 * cell + 1] += trie->keys[cell] >= 0;
    }
    trie->n_cells = l.end + LABELS;
    return 0;
}

TOKDFA_API void tokdfa_free_unigram_trie(tokdfa_unigram_trie *trie) {
    free(trie->cells);
    free(trie->keys);
    *trie = (tokdfa_unigram_trie){0};
}
