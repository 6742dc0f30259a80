/* Merging by priority, against a definition that looks for the strongest pair anew each time. */
#ifndef TOKDFA_TRAIN_MERGES_H
#define TOKDFA_TRAIN_MERGES_H

#include "../../../../tokdfa/kernels/merging/api.h"
#include "harness.h"

/* Pairs in the order in which they were added. */
typedef struct {
    int32_t left, right, priority, product;
} pair;

typedef struct {
    pair *pairs;
    int64_t n;
} pair_list;

static const pair *find_pair(const pair_list *list, int32_t left, int32_t right) {
    for (int64_t i = 0; i < list->n; i++) {
        if (list->pairs[i].left == left && list->pairs[i].right == right) {
            return list->pairs + i;
        }
    }
    return NULL;
}

/* Merge the strongest pair, of equals the leftmost, until there is none. */
static int64_t merge_naively(const pair_list *list, int32_t *tokens, int64_t n, int32_t *last, bool *ascending) {
    last[1] = last[2] = last[3] = -1;
    *ascending = true;
    for (;;) {
        const pair *best = NULL;
        int64_t place = 0;
        for (int64_t i = 0; i + 1 < n; i++) {
            const pair *found = find_pair(list, tokens[i], tokens[i + 1]);
            if (found && (!best || found->priority < best->priority)) {
                best = found;
                place = i;
            }
        }
        if (!best) {
            last[0] = (int32_t)n;
            return n;
        }
        *ascending = *ascending && best->priority >= last[3];
        last[1] = tokens[place];
        last[2] = tokens[place + 1];
        last[3] = best->priority;
        tokens[place] = best->product;
        for (int64_t i = place + 1; i + 1 < n; i++) {
            tokens[i] = tokens[i + 1];
        }
        n--;
    }
}

static tokdfa_merges empty_table(arena *memory, int64_t n_pairs) {
    int64_t capacity = 16;
    while (capacity < 2 * n_pairs) {
        capacity *= 2;
    }
    return (tokdfa_merges){MINUS_ONES(memory, int64_t, capacity), capacity, ROOM(memory, int32_t, capacity),
                           ROOM(memory, int32_t, capacity)};
}

static void merge(input *in) {
    enum { MOST_PAIRS = 40, MOST_WORDS = 24 };
    arena memory = {NULL, 0, 0};
    const int64_t n_tokens = between(in, 1, 8), n_pairs = below(in, MOST_PAIRS + 1), n_words = below(in, MOST_WORDS + 1);
    const bool given = take(in) & 1;
    int32_t *columns[4];
    pair_list list = {ROOM(&memory, pair, n_pairs), 0};
    for (int k = 0; k < 4; k++) {
        columns[k] = ROOM(&memory, int32_t, n_pairs);
    }
    for (int64_t i = 0; i < n_pairs; i++) {
        const pair made = {(int32_t)below(in, n_tokens), (int32_t)below(in, n_tokens), (int32_t)below(in, 200),
                           (int32_t)below(in, n_tokens)};
        columns[0][i] = made.left;
        columns[1][i] = made.right;
        columns[2][i] = made.priority;
        columns[3][i] = made.product;
        if (!find_pair(&list, made.left, made.right)) {
            list.pairs[list.n++] = made;
        }
    }
    tokdfa_merges table = empty_table(&memory, n_pairs);
    tokdfa_add_pairs(&table, columns[0], columns[1], columns[2], columns[3], n_pairs);
    int64_t *offsets = ROOM(&memory, int64_t, n_words + 1), n = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i < n_words; i++) {
        const int length = take(in);
        offsets[i + 1] = offsets[i] + (length >= 0xF0 ? 100 : length % 12);
    }
    const int64_t n_symbols = offsets[n_words];
    int32_t *symbols = ROOM(&memory, int32_t, n_symbols), *tokens = ROOM(&memory, int32_t, n_symbols);
    for (int64_t i = 0; i < n_symbols; i++) {
        symbols[i] = (int32_t)below(in, n_tokens);
    }
    int64_t *ends = ROOM(&memory, int64_t, n_words + 1), status;
    WITH_MEMORY(status, tokdfa_merge_pieces(&table, symbols, offsets, n_words, ends, tokens));
    int32_t *last = ROOM(&memory, int32_t, 4 * n_words), expected[4];
    uint8_t *ascending = ROOM(&memory, uint8_t, n_words);
    int64_t derived;
    WITH_MEMORY(derived, tokdfa_derivations(&table, symbols, offsets, n_words, last, ascending));
    REQUIRE(derived == 0);
    for (int64_t i = 0; i < n_words; i++) {
        const int64_t length = offsets[i + 1] - offsets[i];
        int32_t *word = ROOM(&memory, int32_t, length);
        memcpy(word, symbols + offsets[i], (size_t)length * sizeof *word);
        bool ascends;
        const int64_t kept = merge_naively(&list, word, length, expected, &ascends);
        REQUIRE(ends[i + 1] - ends[i] == kept && !memcmp(tokens + ends[i], word, (size_t)kept * sizeof *word));
        REQUIRE(!memcmp(last + 4 * i, expected, sizeof expected) && ascending[i] == ascends);
        n += kept;
    }
    REQUIRE(status == n && ends[0] == 0);
    /* The pairs that make words; the list gives some for each word. */
    int64_t *start = ROOM(&memory, int64_t, given ? n_words + 1 : 0);
    for (int64_t i = 0; i <= n_words && given; i++) {
        start[i] = n_words ? n_pairs * i / n_words : 0;
    }
    tokdfa_word_job job = {
        .text = symbols, .offsets = offsets, .n_words = n_words, .n_symbols = n_tokens, .start = start,
        .n_start = given ? n_words + 1 : 0, .split_left = columns[0], .split_right = columns[1],
        .left = MINUS_ONES(&memory, int32_t, n_words), .right = MINUS_ONES(&memory, int32_t, n_words),
        .first = MINUS_ONES(&memory, int32_t, n_words), .second = MINUS_ONES(&memory, int32_t, n_words),
    };
    tokdfa_merges found = empty_table(&memory, given ? n_pairs : n_words);
    /* A call that got no memory has added nothing to the table. */
    WITH_MEMORY(derived, tokdfa_derive(&job, &found));
    REQUIRE(derived == 0);
    list = (pair_list){ROOM(&memory, pair, n_pairs + n_words), 0};
    int32_t *twin[4];
    for (int k = 0; k < 4; k++) {
        twin[k] = MINUS_ONES(&memory, int32_t, n_words);
    }
    for (int round = 0; round < (given ? 1 : 2); round++) {
        for (int64_t i = 0; i < n_words; i++) {
            if (round && twin[0][i] >= 0) {
                continue;
            }
            const int64_t length = offsets[i + 1] - offsets[i];
            int32_t *word = ROOM(&memory, int32_t, length);
            memcpy(word, symbols + offsets[i], (size_t)length * sizeof *word);
            bool ascends;
            if (merge_naively(&list, word, length, expected, &ascends) == 2) {
                twin[2 * round][i] = word[0];
                twin[2 * round + 1][i] = word[1];
                if (!given && !round && !find_pair(&list, word[0], word[1])) {
                    list.pairs[list.n++] = (pair){word[0], word[1], (int32_t)i, (int32_t)(n_tokens + i)};
                }
            }
            for (int64_t k = given ? start[i] : 0; given && k < start[i + 1]; k++) {
                if (!find_pair(&list, columns[0][k], columns[1][k])) {
                    list.pairs[list.n++] = (pair){columns[0][k], columns[1][k], (int32_t)i, (int32_t)(n_tokens + i)};
                }
            }
        }
    }
    const size_t size = (size_t)n_words * sizeof **twin;
    REQUIRE(!memcmp(twin[0], job.left, size) && !memcmp(twin[1], job.right, size));
    REQUIRE(!memcmp(twin[2], job.first, size) && !memcmp(twin[3], job.second, size));
    give_back(&memory);
}

#endif
