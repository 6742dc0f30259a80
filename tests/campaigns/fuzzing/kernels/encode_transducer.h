/* The transducer of a small dictionary. */
#ifndef TOKDFA_ENCODE_TRANSDUCER_H
#define TOKDFA_ENCODE_TRANSDUCER_H

#include "encode_tables.h"

static void free_words(tokdfa_numbered_words *words) {
    free(words->pool);
    free(words->offsets);
    free(words->table);
}

static tokdfa_numbered_words first_words(int64_t n_pool, int64_t n_offsets, int64_t n_table, int64_t first) {
    tokdfa_numbered_words words = {
        calloc((size_t)n_pool, sizeof(int32_t)), n_pool, calloc((size_t)n_offsets, sizeof(int64_t)), n_offsets,
        calloc((size_t)n_table, sizeof(int32_t)), n_table, 1,
    };
    REQUIRE(words.pool && words.offsets && words.table);
    words.offsets[1] = first;
    tokdfa_rehash(&words);
    return words;
}

static void *doubled(void *array, int64_t n, size_t size) {
    void *larger = calloc((size_t)(2 * n), size);
    REQUIRE(larger);
    memcpy(larger, array, (size_t)n * size);
    free(array);
    return larger;
}

static void grow_words(tokdfa_numbered_words *words) {
    words->pool = doubled(words->pool, words->n_pool, sizeof *words->pool);
    words->n_pool *= 2;
    words->offsets = doubled(words->offsets, words->n_offsets, sizeof *words->offsets);
    words->n_offsets *= 2;
    free(words->table);
    words->n_table *= 2;
    words->table = calloc((size_t)words->n_table, sizeof *words->table);
    REQUIRE(words->table);
    tokdfa_rehash(words);
}

/* The transducer of a small dictionary, and its partition, run over a text. */
static void transduce(const encoder *e, input *in) {
    enum { MOST_NODES = 128, MOST_ROUNDS = 5 };
    const dictionary *d = e->d;
    arena memory = {NULL, 0, 0};
    const int64_t n_symbols = d->n_symbols, n_tokens = d->n_tokens, n_dfa = d->n_states;
    int32_t *child = MINUS_ONES(&memory, int32_t, (d->offsets[n_tokens] + 1) * n_symbols);
    int32_t *token_at = MINUS_ONES(&memory, int32_t, d->offsets[n_tokens] + 1);
    int64_t n_nodes = 1;
    for (int64_t token = 0; token < n_tokens; token++) {
        int64_t node = 0;
        for (int64_t i = d->offsets[token]; i < d->offsets[token + 1] && d->birth[token] >= 0; i++) {
            int32_t *next = child + node * n_symbols + d->symbol[d->text[i]];
            *next = *next < 0 ? (int32_t)n_nodes++ : *next;
            node = *next;
        }
        token_at[node] = node ? (int32_t)token : token_at[node];
    }
    if (n_nodes > MOST_NODES) {
        give_back(&memory);
        return;
    }
    child = exactly(&memory, child, n_nodes * n_symbols, sizeof *child);
    token_at = exactly(&memory, token_at, n_nodes, sizeof *token_at);
    uint8_t *allowed = ZEROS(&memory, uint8_t, n_dfa * n_tokens), *goes_on = ZEROS(&memory, uint8_t, n_dfa * n_nodes);
    int32_t *reached = ZEROS(&memory, int32_t, n_tokens);
    for (int64_t token = 0; token < n_tokens; token++) {
        if (d->birth[token] < 0) {
            continue;
        }
        reached[token] = d->state[token];
        for (int64_t state = 0; state < n_dfa; state++) {
            /* The state allows what the token allows that the last of its rules was made with, at that time. */
            const int64_t left = state ? d->left[d->rule[state]] : -1;
            const bool may = left < 0 || tokdfa_forbidding_state(&d->history, left, token, state) == 0;
            allowed[state * n_tokens + token] = may;
            int64_t node = 0;
            for (int64_t i = d->offsets[token]; i + 1 < d->offsets[token + 1] && may; i++) {
                node = child[node * n_symbols + d->symbol[d->text[i]]];
                goes_on[state * n_nodes + node] = 1;
            }
        }
    }
    const tokdfa_live_trie trie = {child, n_symbols, token_at, n_nodes, allowed, goes_on, reached, n_tokens};
    tokdfa_numbered_words states = first_words(64, 4, 4, 3), outputs = first_words(64, 4, 4, 0);
    int64_t n_room = 2;
    tokdfa_transducer_construction c = {
        &states, &outputs, calloc((size_t)(n_room * n_symbols), sizeof(int32_t)),
        calloc((size_t)(n_room * n_symbols), sizeof(int32_t)), n_room * n_symbols, calloc((size_t)n_room, sizeof(int32_t)), 0,
    };
    REQUIRE(c.target && c.written && c.ends);
    int64_t status = TOKDFA_FULL;
    for (int round = 0; round < 14 && status; round++) {
        WITH_MEMORY(status, tokdfa_write_out(&trie, &c));
        REQUIRE(status == 0 || status == TOKDFA_FULL);
        if (status) {
            grow_words(&states);
            grow_words(&outputs);
            c.target = doubled(c.target, c.n_target, sizeof *c.target);
            c.written = doubled(c.written, c.n_target, sizeof *c.written);
            c.n_target *= 2;
            c.ends = doubled(c.ends, n_room, sizeof *c.ends);
            n_room *= 2;
        }
        if (states.n_words > 3000) {
            break;
        }
    }
    if (!status) {
        const int64_t n = states.n_words;
        int32_t *block = ROOM(&memory, int32_t, n), *first = MINUS_ONES(&memory, int32_t, n);
        int64_t n_blocks;
        WITH_MEMORY(n_blocks, tokdfa_transducer_partition(c.target, c.written, c.ends, n, n_symbols, block));
        for (int64_t state = 0; state < n; state++) {
            REQUIRE(block[state] >= 0 && block[state] < n_blocks);
            if (first[block[state]] < 0) {
                first[block[state]] = (int32_t)state;
            }
        }
        /* The transducer, and the one of its blocks. */
        uint8_t text[200];
        int64_t size = 0;
        while (has_more(in) && size < (int64_t)sizeof text) {
            text[size++] = d->text[take(in) % n_symbols];
        }
        int32_t expected[sizeof text], out[sizeof text + 1];
        const int64_t n_expected = tokenize_naively(d, text, size, expected);
        for (int merged = 0; merged < 2; merged++) {
            int64_t state = 0, n_out = 0;
            for (int64_t i = 0; i <= size; i++) {
                state = merged ? first[block[state]] : state;
                const int64_t at = state * n_symbols + (i < size ? d->symbol[text[i]] : 0);
                const int64_t word = i < size ? c.written[at] : c.ends[state];
                for (int64_t k = outputs.offsets[word]; k < outputs.offsets[word + 1]; k++) {
                    REQUIRE(n_out <= size);
                    out[n_out++] = outputs.pool[k];
                }
                state = i < size ? c.target[at] : state;
            }
            REQUIRE(n_out == n_expected && !memcmp(out, expected, (size_t)n_out * sizeof *out));
        }
    }
    free_words(&states);
    free_words(&outputs);
    free(c.target);
    free(c.written);
    free(c.ends);
    give_back(&memory);
}

#endif
