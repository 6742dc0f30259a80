/* Whole words, and the memory of pieces. */
#ifndef TOKDFA_ENCODE_WORDS_H
#define TOKDFA_ENCODE_WORDS_H

#include "encode_texts.h"

/* Whole words: tokenizing, the longest token, the pair test, the merges. */
static void encode_words(const encoder *e, input *in) {
    const dictionary *d = e->d;
    arena memory = {NULL, 0, 0};
    uint8_t read[1200];
    const int64_t size = read_text(in, d, read, sizeof read);
    uint8_t *text = exactly(&memory, read, size, 1);
    int32_t *out = ROOM(&memory, int32_t, size), *expected = ROOM(&memory, int32_t, size);
    if (e->is_proper && size) {
        uint64_t *left = ZEROS(&memory, uint64_t, (size >> 6) + 1);
        const int64_t n = tokenize_naively(d, text, size, expected);
        REQUIRE(tokdfa_tokenize(&e->tables, text, size, out, left) == n);
        REQUIRE(n < 0 || !memcmp(out, expected, (size_t)n * sizeof *out));
        for (int64_t i = 0; i <= size >> 6; i++) {
            REQUIRE(!left[i]);
        }
    }
    for (int64_t begin = 0; begin < size; begin += 1 + size / 16) {
        for (int64_t end = begin + 1; end <= size; end += 1 + (end - begin) / 4) {
            int64_t longest = -1;
            for (int64_t token = 0; token < d->n_tokens; token++) {
                const int64_t length = length_of_token(d, token);
                if (d->birth[token] >= 0 && length <= end - begin &&
                    (longest < 0 || length > length_of_token(d, longest)) &&
                    !memcmp(text + begin, d->text + d->offsets[token], (size_t)length)) {
                    longest = token;
                }
            }
            REQUIRE(tokdfa_longest_token(&e->tables, text, size, begin, end) == longest);
        }
    }
    for (int64_t u = 0; u < d->n_tokens && e->is_proper; u += 3) {
        for (int64_t v = u % 7; v < d->n_tokens; v += 7) {
            if (d->birth[u] < 0 || d->birth[v] < 0) {
                continue;
            }
            uint8_t word[2 * LONGEST_TOKEN];
            int32_t tokens[2 * LONGEST_TOKEN];
            const int64_t length = length_of_token(d, u), more = length_of_token(d, v);
            memcpy(word, d->text + d->offsets[u], (size_t)length);
            memcpy(word + length, d->text + d->offsets[v], (size_t)more);
            const bool allowed =
                tokenize_naively(d, word, length + more, tokens) == 2 && tokens[0] == u && tokens[1] == v;
            REQUIRE(tokdfa_allows(&e->tables, u, v) == allowed);
        }
    }
    for (int64_t u = 0; u < e->n_numbers; u++) {
        for (int64_t v = 0; v < e->n_numbers; v++) {
            int64_t made = 0;
            for (int64_t rule = 0; rule < e->n_rules && !made; rule++) {
                made = e->left[rule] == u && e->right[rule] == v ? e->product[rule] : 0;
            }
            REQUIRE(tokdfa_merged(&e->tables, u, v) == made);
        }
    }
    give_back(&memory);
}

/* The piece cache: an answer is the last value stored. */
static void remember(const encoder *e, input *in) {
    workplace w;
    open_workplace(&w, e, in, 64);
    uint8_t read[1100];
    typedef struct {
        int64_t begin, end, n;
        int32_t ids[TOKDFA_LONGEST_KEPT];
    } memo;
    enum { MOST_MEMOS = 24 };
    memo *memos = ROOM(&w.memory, memo, MOST_MEMOS);
    const int64_t n_memos = between(in, 1, MOST_MEMOS);
    uint8_t plan[2 * MOST_MEMOS], rounds[96];
    for (int i = 0; i < 2 * MOST_MEMOS; i++) {
        plan[i] = take(in);
    }
    for (size_t i = 0; i < sizeof rounds; i++) {
        rounds[i] = take(in);
    }
    const int64_t size = read_text(in, e->d, read, sizeof read);
    if (size) {
        uint8_t *text = exactly(&w.memory, read, size, 1);
        for (int64_t i = 0; i < n_memos; i++) {
            memo *m = memos + i;
            m->begin = plan[2 * i] * 7 % size;
            const int64_t most = size - m->begin, wanted = plan[2 * i + 1] < 200 ? plan[2 * i + 1] % 40 : plan[2 * i + 1] * 5;
            m->end = m->begin + 1 + wanted % most;
            const int64_t length = m->end - m->begin;
            m->n = 1 + (plan[2 * i] >> 3) % length;
            m->n = m->n > TOKDFA_LONGEST_KEPT ? TOKDFA_LONGEST_KEPT : m->n;
            for (int64_t k = 0; k < m->n; k++) {
                m->ids[k] = (int32_t)(i * 10000 + k);
            }
            /* Equal pieces have equal ids. */
            for (int64_t other = 0; other < i; other++) {
                const memo *o = memos + other;
                if (o->end - o->begin == length && !memcmp(text + o->begin, text + m->begin, (size_t)length)) {
                    m->n = o->n;
                    memcpy(m->ids, o->ids, sizeof m->ids);
                }
            }
        }
        for (size_t i = 0; i < sizeof rounds; i++) {
            const memo *m = memos + rounds[i] % n_memos;
            int32_t *out = ROOM(&w.memory, int32_t, TOKDFA_LONGEST_KEPT + 2);
            const int64_t n = tokdfa_look_up_piece(&w.known, text, size, m->begin, m->end, out);
            REQUIRE(n == -1 || (n == m->n && !memcmp(out, m->ids, (size_t)n * sizeof *out)));
            if (n < 0) {
                int32_t *ids = ROOM(&w.memory, int32_t, m->n < 3 ? 3 : m->n);
                memcpy(ids, m->ids, (size_t)m->n * sizeof *ids);
                tokdfa_cache_piece(&w.known, text, size, m->begin, m->end, ids, m->n);
                const bool is_kept = m->end - m->begin <= TOKDFA_LONGEST_KEPT;
                REQUIRE(tokdfa_look_up_piece(&w.known, text, size, m->begin, m->end, out) == (is_kept ? m->n : -1));
            }
            uint64_t key[2];
            tokdfa_key_of_piece(text, size, m->begin, m->end, key);
            REQUIRE(key[1]);
        }
    }
    give_back(&w.memory);
}

#endif
