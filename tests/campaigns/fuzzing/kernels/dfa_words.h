/* Automata of words, against definitions over all words and all places. */
#ifndef TOKDFA_DFA_WORDS_H
#define TOKDFA_DFA_WORDS_H

#include "../../../../tokdfa/kernels/dfa/api.h"
#include "dictionary.h"

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
    enum { MOST_WORDS = 20, MOST_TEXT = 60, MOST_LETTERS = 4 };
    arena memory = {NULL, 0, 0};
    const int64_t n_words = below(in, MOST_WORDS + 1), n_symbols = between(in, 1, MOST_LETTERS);
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
    /* An automaton that reads them. */
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

#endif
