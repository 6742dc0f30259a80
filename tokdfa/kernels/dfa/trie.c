/* Words as a trie in depth-first order; running an automaton over it; the automaton that finds the words.

   Node 0 is the root. The nodes below node i are i + 1 to end[i]; the words that end at node i have the ranks first[i]
   to first[i + 1] in lexicographic order. */
#include <stdlib.h>

#include "../common/base.h"
#include "api.h"

/* Build the trie of the words symbols[offsets[i]] to symbols[offsets[i + 1]], given in lexicographic order. The outputs
   have an entry for each symbol and the root; `first` for one more. Returns the number of nodes. */
TOKDFA_API int64_t tokdfa_build_trie(const int32_t *symbols, const int64_t *offsets, const int64_t *order,
                                     int64_t n_order, int32_t *symbol, int32_t *depth, int32_t *end, int32_t *first) {
    int64_t longest = 0;
    for (int64_t rank = 0; rank < n_order; rank++) {
        longest = greatest(longest, offsets[order[rank] + 1] - offsets[order[rank]]);
    }
    /* The nodes on the path to the last word. */
    int32_t *path = calloc((size_t)longest + 1, sizeof *path);
    if (!path) {
        return TOKDFA_NO_MEMORY;
    }
    symbol[0] = -1, depth[0] = 0, first[0] = 0;
    int64_t nodes = 1, height = 0;
    for (int64_t rank = 0; rank < n_order; rank++) {
        int64_t begin = offsets[order[rank]], length = offsets[order[rank] + 1] - begin, common = 0;
        while (common < least(height, length) && symbol[path[common + 1]] == symbols[begin + common]) {
            common++;
        }
        for (int64_t level = common + 1; level <= height; level++) {
            end[path[level]] = (int32_t)nodes;
        }
        for (int64_t level = common + 1; level <= length; level++) {
            symbol[nodes] = symbols[begin + level - 1];
            depth[nodes] = (int32_t)level;
            first[nodes] = (int32_t)rank;
            path[level] = (int32_t)nodes++;
        }
        height = length;
    }
    for (int64_t level = 0; level <= height; level++) {
        end[path[level]] = (int32_t)nodes;
    }
    first[nodes] = (int32_t)n_order;
    free(path);
    return nodes;
}

/* The words that an automaton can read from a state, as ranks, and the states reached. The target of
   state q on column c is table[q * n_columns + c]; state 0 is the sink. Returns the number of words. */
TOKDFA_API int64_t tokdfa_tokens_from(const tokdfa_trie *trie, const int32_t *table, int64_t n_columns, int32_t state,
                                      int32_t *ranks, int32_t *targets) {
    int32_t *path = malloc(((size_t)trie->longest + 1) * sizeof *path);
    if (!path) {
        return TOKDFA_NO_MEMORY;
    }
    path[0] = state;
    int64_t found = 0, node = 0;
    while (node < trie->n_depth) {
        int32_t level = trie->depth[node];
        if (level > 0) {
            path[level] = table[path[level - 1] * n_columns + trie->column[node]];
            if (path[level] == 0) {
                node = trie->end[node];
                continue;
            }
        }
        for (int32_t rank = trie->first[node]; rank < trie->first[node + 1]; rank++) {
            ranks[found] = rank;
            targets[found++] = path[level];
        }
        node++;
    }
    free(path);
    return found;
}

/* Complete the trie to the automaton of Aho and Corasick; see explicit.py. All outputs are zeros. */
TOKDFA_API int64_t tokdfa_find_words(const tokdfa_trie *trie, int64_t n_columns, int leftmost, int32_t *table,
                                     int32_t *length, int32_t *shorter) {
    const int64_t n_nodes = trie->n_depth;
    int32_t *fallback = calloc(2 * (size_t)n_nodes + 1, sizeof *fallback);
    uint8_t *settled = calloc((size_t)n_nodes + 1, 1);
    if (!fallback || !settled) {
        free(fallback);
        free(settled);
        return TOKDFA_NO_MEMORY;
    }
    int32_t *queue = fallback + n_nodes + 1;
    for (int64_t symbol = 0; symbol < n_columns; symbol++) {
        table[n_columns + symbol] = 1;
    }
    int64_t tail = 1;
    queue[0] = 0;
    for (int64_t head = 0; head < n_nodes; head++) {
        int64_t node = queue[head], state = node + 1, back = fallback[state];
        bool is_word = node > 0 && trie->first[node] < trie->first[node + 1];
        settled[state] = settled[state] || (leftmost && is_word);
        if (is_word) {
            length[state] = trie->depth[node];
            shorter[state] = length[back] > 0 ? (int32_t)back : 0;
        } else if (!settled[state]) {
            length[state] = length[back];
            shorter[state] = shorter[back];
        }
        if (node > 0 && !settled[state]) {
            memcpy(table + state * n_columns, table + back * n_columns, (size_t)n_columns * sizeof *table);
        }
        for (int64_t child = node + 1; child < trie->end[node]; child = trie->end[child]) {
            int64_t cell = state * n_columns + trie->column[child];
            fallback[child + 1] = table[cell];
            settled[child + 1] = settled[state];
            table[cell] = (int32_t)(child + 1);
            queue[tail++] = (int32_t)child;
        }
    }
    free(fallback);
    free(settled);
    return n_nodes + 1;
}
