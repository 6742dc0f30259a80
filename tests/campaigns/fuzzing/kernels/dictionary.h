/* A proper dictionary of a few rules, made from bytes, and its fold. */
#ifndef TOKDFA_DICTIONARY_H
#define TOKDFA_DICTIONARY_H

#include "../../../../tokdfa/kernels/fold/api.h"
#include "harness.h"

enum { MOST_RULES = 60, LONGEST_TOKEN = 160 };

/* The possible symbols: letters, a space and a line feed, and bytes that together are UTF-8. */
static const uint8_t usual_symbols[] = {'a', 'b', ' ', 0xC3, 0xA9, '\n', 'c', 0xE2, 0x82, 0xAC, 0x00, 'Z', 0xFF, '1'};

typedef struct {
    int64_t n_symbols, n_tokens, n_rules, n_states;
    uint8_t *text;    /* of token i text[offsets[i]] to text[offsets[i + 1]] */
    int64_t *offsets;
    int32_t symbol[256]; /* the token of each byte, or -1 */
    int32_t *left, *right, *product;
    int32_t *parent, *removed, *rule, *state, *birth, *head, *tail, *blocker, *made;
    int64_t *pairs, n_pairs;
    tokdfa_folding history;
    arena memory;
} dictionary;

static inline int64_t length_of_token(const dictionary *d, int64_t token) {
    return d->offsets[token + 1] - d->offsets[token];
}

/* The token that is spelled so, or -1. */
static inline int64_t find_token(const uint8_t *text, const int64_t *offsets, int64_t n, const uint8_t *word,
                                 int64_t length) {
    for (int64_t token = 0; token < n; token++) {
        if (offsets[token + 1] - offsets[token] == length && !memcmp(text + offsets[token], word, (size_t)length)) {
            return token;
        }
    }
    return -1;
}

static inline void fold_dictionary(dictionary *d) {
    arena *memory = &d->memory;
    d->n_pairs = 4;
    while (d->n_pairs < 2 * d->n_rules) {
        d->n_pairs *= 2;
    }
    int32_t **by_state[] = {&d->parent, &d->removed, &d->rule};
    for (int k = 0; k < 3; k++) {
        *by_state[k] = MINUS_ONES(memory, int32_t, d->n_rules + 1);
    }
    int32_t **by_token[] = {&d->state, &d->birth, &d->head, &d->tail};
    for (int k = 0; k < 4; k++) {
        *by_token[k] = MINUS_ONES(memory, int32_t, d->n_tokens);
    }
    memset(d->state, 0, (size_t)d->n_symbols * sizeof *d->state);
    memset(d->birth, 0, (size_t)d->n_symbols * sizeof *d->birth);
    d->blocker = MINUS_ONES(memory, int32_t, d->n_rules);
    d->pairs = MINUS_ONES(memory, int64_t, d->n_pairs);
    d->made = ZEROS(memory, int32_t, d->n_pairs);
    tokdfa_fold_job job = {
        .left = d->left, .n_left = d->n_rules, .right = d->right, .product = d->product, .n_symbols = d->n_symbols,
        .parent = d->parent, .removed = d->removed, .rule = d->rule, .state = d->state, .birth = d->birth,
        .n_birth = d->n_tokens, .head = d->head, .tail = d->tail, .blocker = d->blocker, .pairs = d->pairs,
        .n_pairs = d->n_pairs, .made = d->made,
    };
    d->n_states = tokdfa_fold(&job);
    d->history = (tokdfa_folding){d->pairs, d->n_pairs, d->made, d->birth, d->head, d->tail};
}

/* Read a dictionary: every part of a rule is a symbol or the product of an earlier rule. */
static inline dictionary *read_dictionary(input *in) {
    enum { MOST_TOKENS = sizeof usual_symbols + MOST_RULES };
    dictionary *d = calloc(1, sizeof *d);
    REQUIRE(d);
    memset(d->symbol, -1, sizeof d->symbol);
    uint8_t *text = malloc(sizeof usual_symbols + (size_t)MOST_RULES * LONGEST_TOKEN);
    int64_t offsets[MOST_TOKENS + 1] = {0}, n = 0;
    int32_t rules[3][MOST_RULES];
    REQUIRE(text);
    const int64_t first = below(in, sizeof usual_symbols), wanted = below(in, MOST_RULES + 1);
    d->n_symbols = between(in, 1, sizeof usual_symbols);
    for (; n < d->n_symbols; n++) {
        const uint8_t byte = usual_symbols[(size_t)(first + n) % sizeof usual_symbols];
        d->symbol[byte] = (int32_t)n;
        text[n] = byte;
        offsets[n + 1] = n + 1;
    }
    for (int64_t i = 0; i < wanted && has_more(in); i++) {
        /* Young tokens are chosen more often, so that long ones come about. */
        const int64_t u = below(in, n), v = take(in) & 1 ? n - 1 - below(in, n < 4 ? n : 4) : below(in, n);
        const int64_t size = offsets[u + 1] - offsets[u], more = offsets[v + 1] - offsets[v];
        if (size + more > LONGEST_TOKEN) {
            continue;
        }
        uint8_t *word = text + offsets[n];
        memcpy(word, text + offsets[u], (size_t)size);
        memcpy(word + size, text + offsets[v], (size_t)more);
        int64_t token = find_token(text, offsets, n, word, size + more);
        if (token < 0) {
            token = n++;
            offsets[n] = offsets[token] + size + more;
        }
        rules[0][d->n_rules] = (int32_t)u;
        rules[1][d->n_rules] = (int32_t)v;
        rules[2][d->n_rules++] = (int32_t)token;
    }
    d->n_tokens = n;
    d->text = exactly(&d->memory, text, offsets[n], 1);
    d->offsets = exactly(&d->memory, offsets, n + 1, sizeof *offsets);
    d->left = exactly(&d->memory, rules[0], d->n_rules, sizeof **rules);
    d->right = exactly(&d->memory, rules[1], d->n_rules, sizeof **rules);
    d->product = exactly(&d->memory, rules[2], d->n_rules, sizeof **rules);
    free(text);
    fold_dictionary(d);
    return d;
}

static inline void free_dictionary(dictionary *d) {
    give_back(&d->memory);
    free(d);
}

/* Tokenize by definition: each rule in turn, from left to right, wherever its parts stand side by side. Returns the
   number of tokens; -1 if a byte is not a symbol. */
static inline int64_t tokenize_naively(const dictionary *d, const uint8_t *text, int64_t size, int32_t *tokens) {
    for (int64_t i = 0; i < size; i++) {
        tokens[i] = d->symbol[text[i]];
        if (tokens[i] < 0) {
            return -1;
        }
    }
    for (int64_t rule = 0; rule < d->n_rules; rule++) {
        int64_t kept = 0;
        for (int64_t at = 0; at < size; kept++) {
            const bool merges = at + 1 < size && tokens[at] == d->left[rule] && tokens[at + 1] == d->right[rule];
            tokens[kept] = merges ? d->product[rule] : tokens[at];
            at += merges ? 2 : 1;
        }
        size = kept;
    }
    return size;
}

/* A text, mostly of symbols: bytes of the input stand for symbols, for characters beyond ASCII, or for themselves. */
static inline int64_t read_text(input *in, const dictionary *d, uint8_t *text, int64_t most) {
    static const char *const beyond_ascii[] = {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xCC\x81", "\xED\x9F\xBF",
                                             "\xF4\x8F\xBF\xBF", "\xC2\x80", "\xE0\xA0\x80"};
    int64_t n = 0;
    while (has_more(in)) {
        const uint8_t what = take(in);
        if (what < 0xC0) {
            if (n + 1 > most) {
                break;
            }
            text[n++] = d->text[what % d->n_symbols];
        } else if (what < 0xE0) {
            const char *character = beyond_ascii[what & 7];
            const int64_t length = (int64_t)strlen(character);
            if (n + length > most) {
                break;
            }
            memcpy(text + n, character, (size_t)length);
            n += length;
        } else if (what < 0xF0) {
            if (n + 1 > most) {
                break;
            }
            text[n++] = take(in);
        } else {
            /* The last bytes once more, some times. */
            const int64_t period = 1 + (what & 7), times = 1 + take(in) % 80;
            for (int64_t i = 0; i < period * times && n < most && n >= period; i++) {
                text[n] = text[n - period];
                n++;
            }
        }
    }
    return n;
}

#endif
