/* The subsequential transducer of a dictionary with all its states: construction, and the coarsest partition.

   A state is a sequence of candidates, by where the last token may begin, the end of the text first. A candidate is the
   tokens before the last one that are not written yet, the node of the trie that spells the part of the last one that
   has been read, and the state of the token DFA before it. Its form is `number of tokens, tokens, node, state`, one
   candidate after the other. */
#include <stdlib.h>

#include "../common/base.h"
#include "api.h"

/* The longest a state may be when it is written down. */
#define LONGEST_STATE TOKDFA_LONGEST_STATE

ALWAYS_INLINE uint64_t mix(uint64_t hashed, uint64_t value) {
    const uint64_t mixed = (hashed ^ value) * 0x9E3779B97F4A7C15u;
    return mixed ^ (mixed >> 29);
}

static uint64_t hash_word(const int32_t *word, int64_t size) {
    uint64_t hashed = (uint64_t)size;
    for (int64_t i = 0; i < size; i++) {
        hashed = mix(hashed, (uint64_t)(int64_t)word[i]);
    }
    return hashed;
}

/* The number of a word; a new one is appended, or -1 returned if a buffer is full. */
static int64_t number_of(tokdfa_numbered_words *words, const int32_t *word, int64_t size) {
    const int64_t mask = words->n_table - 1, n = words->n_words;
    int64_t slot = (int64_t)(hash_word(word, size) >> 20) & mask;
    for (; words->table[slot]; slot = (slot + 1) & mask) {
        const int64_t number = words->table[slot] - 1, first = words->offsets[number];
        if (words->offsets[number + 1] - first == size &&
            !memcmp(words->pool + first, word, (size_t)size * sizeof *word)) {
            return number;
        }
    }
    const int64_t end = words->offsets[n];
    if (2 * n >= words->n_table || n + 2 > words->n_offsets || end + size > words->n_pool) {
        return -1;
    }
    words->table[slot] = (int32_t)(n + 1);
    memcpy(words->pool + end, word, (size_t)size * sizeof *word);
    words->offsets[n + 1] = end + size;
    words->n_words = n + 1;
    return n;
}

/* Put all words into the hash table, which is empty. */
TOKDFA_API void tokdfa_rehash(tokdfa_numbered_words *words) {
    const int64_t mask = words->n_table - 1;
    for (int64_t number = 0; number < words->n_words; number++) {
        const int64_t first = words->offsets[number];
        int64_t slot = (int64_t)(hash_word(words->pool + first, words->offsets[number + 1] - first) >> 20) & mask;
        while (words->table[slot]) {
            slot = (slot + 1) & mask;
        }
        words->table[slot] = (int32_t)(number + 1);
    }
}

/* A candidate of a state: the tokens that are not written yet, and the node and the DFA state of the last token. */
typedef struct {
    const int32_t *tokens;
    int64_t n_tokens;
    int32_t node, dfa;
} pending;

/* The state after a symbol: the candidate in which the last token is complete, and the other candidates. */
typedef struct {
    const int32_t *tokens;
    int64_t n_tokens;
    int32_t token;
    pending *others;
    int64_t n_others;
} following;

ALWAYS_INLINE int32_t token_at(const following *after, int64_t i) {
    return i < after->n_tokens ? after->tokens[i] : after->token;
}

static void follow(const tokdfa_live_trie *trie, const int32_t *state, const int32_t *stop, int64_t symbol,
                   following *after) {
    after->tokens = state + 1;
    after->n_tokens = after->n_others = 0;
    after->token = 0;
    while (state < stop) {
        const int64_t size = state[0];
        const int32_t node = state[1 + size], dfa = state[2 + size];
        const int32_t below = trie->child[node * trie->n_symbols + symbol];
        if (below >= 0) {
            const int32_t last = trie->token[below];
            if (last >= 0 && trie->allowed[dfa * trie->n_reached + last]) {
                after->tokens = state + 1;
                after->n_tokens = size;
                after->token = last;
            }
            if (trie->goes_on[dfa * trie->n_token + below]) {
                pending *other = after->others + after->n_others++;
                other->tokens = state + 1;
                other->n_tokens = size;
                other->node = below;
                other->dfa = dfa;
            }
        }
        state += size + 3;
    }
}

/* The number of tokens that all candidates have in common. */
static int64_t common_tokens(const following *after) {
    int64_t common = after->n_tokens + 1;
    for (int64_t k = 0; k < after->n_others; k++) {
        const pending *other = after->others + k;
        const int64_t bound = least(common, other->n_tokens);
        int64_t shared = 0;
        while (shared < bound && other->tokens[shared] == token_at(after, shared)) {
            shared++;
        }
        common = shared;
    }
    return common;
}

/* Write down the state without the tokens that are common to all candidates; return its length. */
static int64_t write_state(const following *after, int64_t common, const int32_t *reached, int32_t *word) {
    int64_t place = 0;
    word[place++] = (int32_t)(after->n_tokens + 1 - common);
    for (int64_t i = common; i <= after->n_tokens; i++) {
        word[place++] = token_at(after, i);
    }
    word[place++] = 0;
    word[place++] = reached[after->token];
    for (int64_t k = 0; k < after->n_others; k++) {
        const pending *other = after->others + k;
        word[place++] = (int32_t)(other->n_tokens - common);
        for (int64_t i = common; i < other->n_tokens; i++) {
            word[place++] = other->tokens[i];
        }
        word[place++] = other->node;
        word[place++] = other->dfa;
    }
    return place;
}

/* Continue the construction until all states have their transitions (0), or a buffer is full (NO_ROOM). The first state
   is there, and the empty output, number 0. A state that has L numbers leads to states of 2 L + 4 at most, so that
   LONGEST_STATE is enough after states of a quarter of it. */
TOKDFA_API int tokdfa_write_out(const tokdfa_live_trie *trie, tokdfa_transducer_construction *construction) {
    tokdfa_numbered_words *states = construction->states, *outputs = construction->outputs;
    const int64_t n_symbols = trie->n_symbols;
    int32_t *word = malloc(LONGEST_STATE * sizeof *word);
    pending *others = malloc(LONGEST_STATE / 4 * sizeof *others);
    int status = word && others ? 0 : TOKDFA_NO_MEMORY;
    while (!status && construction->n_read < states->n_words) {
        const int64_t here = construction->n_read, begin = states->offsets[here], stop = states->offsets[here + 1];
        if ((here + 1) * n_symbols > construction->n_target || 4 * (stop - begin) + 64 > LONGEST_STATE) {
            status = TOKDFA_FULL;
            break;
        }
        const int64_t output = number_of(outputs, states->pool + begin + 1, states->pool[begin]);
        if (output < 0) {
            status = TOKDFA_FULL;
            break;
        }
        construction->ends[here] = (int32_t)output;
        for (int64_t symbol = 0; symbol < n_symbols; symbol++) {
            following after = {.others = others};
            follow(trie, states->pool + begin, states->pool + stop, symbol, &after);
            const int64_t common = common_tokens(&after);
            for (int64_t i = 0; i < common; i++) {
                word[i] = token_at(&after, i);
            }
            const int64_t written = number_of(outputs, word, common);
            const int64_t target = number_of(states, word, write_state(&after, common, trie->reached, word));
            if (written < 0 || target < 0) {
                status = TOKDFA_FULL;
                break;
            }
            construction->target[here * n_symbols + symbol] = (int32_t)target;
            construction->written[here * n_symbols + symbol] = (int32_t)written;
        }
        construction->n_read += !status;
    }
    free(word);
    free(others);
    return status;
}

/* Whether two states are in one block and have equal outputs and equal next blocks. */
static bool behave_alike(const int32_t *target, const int32_t *written, const int32_t *ends, const int32_t *block,
                         int64_t n_symbols, int64_t one, int64_t two) {
    if (block[one] != block[two] || ends[one] != ends[two]) {
        return false;
    }
    one *= n_symbols;
    two *= n_symbols;
    for (int64_t i = 0; i < n_symbols; i++) {
        if (written[one + i] != written[two + i] || block[target[one + i]] != block[target[two + i]]) {
            return false;
        }
    }
    return true;
}

/* The coarsest partition of the states into blocks of equal outputs and equal next blocks; blocks are numbered as they
   come. They are split, round by round, by the blocks that their states lead to. Returns the number of blocks. */
TOKDFA_API int64_t tokdfa_transducer_partition(const int32_t *target, const int32_t *written, const int32_t *ends,
                                                int64_t n_ends, int64_t n_symbols, int32_t *block) {
    int64_t size = 16;
    while (size < 2 * n_ends) {
        size *= 2;
    }
    int32_t *table = malloc((size_t)size * sizeof *table);
    int32_t *refined = malloc(((size_t)n_ends + 1) * sizeof *refined);
    int32_t *first = malloc(((size_t)n_ends + 1) * sizeof *first); /* a state of each block */
    int64_t n_blocks = table && refined && first ? 1 : TOKDFA_NO_MEMORY;
    if (n_blocks > 0) {
        memset(block, 0, (size_t)n_ends * sizeof *block);
    }
    for (int64_t n_before = 0; n_blocks > 0 && n_blocks != n_before;) {
        n_before = n_blocks;
        n_blocks = 0;
        memset(table, 0, (size_t)size * sizeof *table);
        for (int64_t state = 0; state < n_ends; state++) {
            const int64_t row = state * n_symbols;
            uint64_t hashed = mix((uint64_t)block[state], (uint64_t)ends[state]);
            for (int64_t i = row; i < row + n_symbols; i++) {
                hashed = mix(hashed, (uint64_t)written[i] << 32 | (uint64_t)block[target[i]]);
            }
            int64_t slot = (int64_t)(hashed >> 20) & (size - 1);
            while (table[slot] &&
                   !behave_alike(target, written, ends, block, n_symbols, first[table[slot] - 1], state)) {
                slot = (slot + 1) & (size - 1);
            }
            if (!table[slot]) {
                first[n_blocks] = (int32_t)state;
                table[slot] = (int32_t)++n_blocks;
            }
            refined[state] = table[slot] - 1;
        }
        memcpy(block, refined, (size_t)n_ends * sizeof *block);
    }
    free(table);
    free(refined);
    free(first);
    return n_blocks;
}
