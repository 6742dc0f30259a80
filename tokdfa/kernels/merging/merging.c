/* Merging by priority: of all adjacent pairs that may merge, the strongest first, with ties going to the leftmost. */
#include <stdlib.h>

#include "../common/pair_slot.h"
#include "api.h"

/* Add a pair, unless the table already has it. */
static void insert(const tokdfa_merges *merges, int32_t left, int32_t right, int32_t priority, int32_t product) {
    int64_t key = pair_key(left, right), slot = pair_slot(merges->keys, merges->n_keys, key);
    if (merges->keys[slot] < 0) {
        merges->keys[slot] = key;
        merges->priority[slot] = priority;
        merges->product[slot] = product;
    }
}

/* The slot of a pair; -1 if it does not merge. */
ALWAYS_INLINE int64_t find_merge(const tokdfa_merges *merges, int32_t left, int32_t right) {
    int64_t key = pair_key(left, right), slot = pair_slot(merges->keys, merges->n_keys, key);
    return merges->keys[slot] == key ? slot : -1;
}

/* How many pairs ahead of adding to prefetch. */
enum { PAIRS_AHEAD = 16 };

TOKDFA_API void tokdfa_add_pairs(const tokdfa_merges *merges, const int32_t *left, const int32_t *right,
                                  const int32_t *priority, const int32_t *product, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        if (i + PAIRS_AHEAD < n) {
            const uint64_t slot = first_pair_slot(merges->n_keys, pair_key(left[i + PAIRS_AHEAD], right[i + PAIRS_AHEAD]));
            PREFETCH(merges->keys + slot);
            PREFETCH(merges->priority + slot);
            PREFETCH(merges->product + slot);
        }
        insert(merges, left[i], right[i], priority[i], product[i]);
    }
}

/* Working memory for merging a word: neighbours as a linked list, and a heap of priorities and indices. An entry of the
   heap is stale if the pair at that index now has another priority. */
typedef struct {
    int64_t *heap;
    int64_t size;
    int32_t *after, *before, *tokens;
} merge_memory;

static bool open_memory(merge_memory *w, int64_t longest) {
    size_t n = (size_t)longest + 1;
    w->heap = malloc(n * (3 * sizeof *w->heap + 3 * sizeof *w->after));
    if (!w->heap) {
        return false;
    }
    w->after = (int32_t *)(w->heap + 3 * n);
    w->before = w->after + n;
    w->tokens = w->before + n;
    return true;
}

static int64_t longest_piece(const int64_t *offsets, int64_t n) {
    int64_t longest = 0;
    for (int64_t i = 0; i < n; i++) {
        longest = greatest(longest, offsets[i + 1] - offsets[i]);
    }
    return longest;
}

static void push(merge_memory *w, int64_t entry) {
    int64_t *heap = w->heap, child = w->size++;
    while (child > 0) {
        int64_t above = (child - 1) >> 1;
        if (heap[above] <= entry) {
            break;
        }
        heap[child] = heap[above];
        child = above;
    }
    heap[child] = entry;
}

static int64_t pop(merge_memory *w) {
    int64_t *heap = w->heap, least_entry = heap[0], size = --w->size, entry = heap[size], hole = 0;
    for (;;) {
        int64_t child = 2 * hole + 1;
        if (child >= size) {
            break;
        }
        if (child + 1 < size && heap[child + 1] < heap[child]) {
            child++;
        }
        if (heap[child] >= entry) {
            break;
        }
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = entry;
    return least_entry;
}

/* Push the pair at index i, if it merges. */
ALWAYS_INLINE void consider(const tokdfa_merges *merges, merge_memory *w, int32_t left, int32_t right, int64_t i) {
    int64_t slot = find_merge(merges, left, right);
    if (slot >= 0) {
        push(w, pair_key(merges->priority[slot], i));
    }
}

/* Most words have fewer symbols: for these a look at all pairs is faster than a heap. */
enum { FEW_SYMBOLS = 16 };

/* Merge few tokens in place, the strongest pair first, ties going to the leftmost; return the number of tokens left. */
static int64_t merge_few(const tokdfa_merges *merges, int32_t *tokens, int64_t n) {
    int64_t slots[FEW_SYMBOLS]; /* of each token and the next one */
    int32_t priority[FEW_SYMBOLS];
    for (int64_t i = 0; i + 1 < n; i++) {
        slots[i] = find_merge(merges, tokens[i], tokens[i + 1]);
        priority[i] = slots[i] < 0 ? INT32_MAX : merges->priority[slots[i]];
    }
    for (;;) {
        int64_t best = -1;
        for (int64_t i = 0; i + 1 < n; i++) {
            if (slots[i] >= 0 && (best < 0 || priority[i] < priority[best])) {
                best = i;
            }
        }
        if (best < 0) {
            return n;
        }
        tokens[best] = merges->product[slots[best]];
        n--;
        for (int64_t i = best + 1; i < n; i++) {
            tokens[i] = tokens[i + 1];
            slots[i - 1] = slots[i];
            priority[i - 1] = priority[i];
        }
        for (int64_t i = greatest(best - 1, 0); i <= best && i + 1 < n; i++) {
            slots[i] = find_merge(merges, tokens[i], tokens[i + 1]);
            priority[i] = slots[i] < 0 ? INT32_MAX : merges->priority[slots[i]];
        }
    }
}

/* Merge n tokens in place and return the number of tokens left. */
static int64_t merge(const tokdfa_merges *merges, merge_memory *w, int32_t *tokens, int64_t n) {
    if (n <= FEW_SYMBOLS) {
        return merge_few(merges, tokens, n);
    }
    int32_t *after = w->after, *before = w->before;
    w->size = 0;
    for (int64_t i = 0; i < n; i++) {
        after[i] = (int32_t)(i + 1);
        before[i] = (int32_t)(i - 1);
        if (i + 1 < n) {
            consider(merges, w, tokens[i], tokens[i + 1], i);
        }
    }
    while (w->size > 0) {
        int64_t entry = pop(w), i = entry & 0xFFFFFFFF;
        if (tokens[i] < 0 || after[i] >= n) {
            continue;
        }
        int32_t j = after[i];
        int64_t slot = find_merge(merges, tokens[i], tokens[j]);
        if (slot < 0 || merges->priority[slot] != entry >> 32) {
            continue;
        }
        tokens[i] = merges->product[slot];
        tokens[j] = -1;
        int32_t k = after[j], h = before[i];
        after[i] = k;
        if (k < n) {
            before[k] = (int32_t)i;
            consider(merges, w, tokens[i], tokens[k], i);
        }
        if (h >= 0) {
            consider(merges, w, tokens[h], tokens[i], h);
        }
    }
    int64_t left = 0;
    for (int64_t i = 0; i < n; i++) {
        if (tokens[i] >= 0) {
            tokens[left++] = tokens[i];
        }
    }
    return left;
}

/* Merge the n tokens of a word in place; return the number of tokens left, or NO_MEMORY. */
TOKDFA_API int64_t tokdfa_merge_word(const tokdfa_merges *merges, int32_t *tokens, int64_t n) {
    if (n <= FEW_SYMBOLS) {
        return merge_few(merges, tokens, n);
    }
    merge_memory w;
    if (!open_memory(&w, n)) {
        return TOKDFA_NO_MEMORY;
    }
    const int64_t left = merge(merges, &w, tokens, n);
    free(w.heap);
    return left;
}

/* Merge every piece separately. `tokens` has an entry for each symbol; returns the number of tokens. */
TOKDFA_API int64_t tokdfa_merge_pieces(const tokdfa_merges *merges, const int32_t *symbols, const int64_t *pieces,
                                        int64_t n_pieces, int64_t *offsets, int32_t *tokens) {
    merge_memory w;
    if (!open_memory(&w, longest_piece(pieces, n_pieces))) {
        return TOKDFA_NO_MEMORY;
    }
    int64_t end = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i < n_pieces; i++) {
        int64_t n = pieces[i + 1] - pieces[i];
        memmove(tokens + end, symbols + pieces[i], (size_t)n * sizeof *tokens);
        end += merge(merges, &w, tokens + end, n);
        offsets[i + 1] = end;
    }
    free(w.heap);
    return end;
}

/* The last pairs found, by hash, so that most repeated pairs are left out. */
enum { LAST_PAIRS = 1 << 12 };

/* Find the pairs of symbols at the boundaries of parts, of the rules with parts that are known or made by rules before
   them; write them to `pairs`, most of them once, and return their number. `*is_open` gets whether there are other
   rules. */
static int64_t find_boundaries(const int32_t *left, const int32_t *right, const int32_t *product, int64_t n,
                            int32_t *first, int32_t *last, int64_t *pairs, bool *is_open) {
    int64_t known[LAST_PAIRS], n_pairs = 0;
    memset(known, 0xFF, sizeof known);
    *is_open = false;
    for (int64_t i = 0; i < n; i++) {
        const int32_t outer = first[left[i]], before = last[left[i]], after = first[right[i]];
        if (before < 0 || after < 0) {
            *is_open = true;
            continue;
        }
        /* No predictor can know which rules are the first of their products or bring a new pair. All rules of a product
           give it the same symbols. */
        const int32_t made = product[i];
        const int64_t pair = pair_key(before, after);
        const uint64_t slot = first_pair_slot(LAST_PAIRS, pair);
        first[made] = outer;
        last[made] = last[right[i]];
        pairs[n_pairs] = pair;
        n_pairs += known[slot] != pair;
        known[slot] = pair;
    }
    return n_pairs;
}

/* Find the symbols that are side by side where rules join their parts. `first` and `last` are, by token, its own number
   for a symbol, and -1 for a product, and get its first and last symbol. `pairs` gets pairs, the last symbol of a left
   part << 32 | the first one of the right part, some of them more than once; a rule with a part that is made of no
   symbols has none. Returns their number, at most `n`, the number of rules. */
TOKDFA_API int64_t tokdfa_inner_pairs(const int32_t *left, const int32_t *right, const int32_t *product, int64_t n,
                                       int32_t *first, int32_t *last, int64_t *pairs) {
    /* Usually parts are made before the rules that join them, so that one round is enough. */
    bool is_open;
    int64_t n_pairs = find_boundaries(left, right, product, n, first, last, pairs, &is_open);
    for (bool more = true; more && is_open;) {
        more = false;
        for (int64_t i = 0; i < n; i++) {
            if (first[product[i]] < 0 && first[left[i]] >= 0 && first[right[i]] >= 0) {
                first[product[i]] = first[left[i]];
                last[product[i]] = last[right[i]];
                more = true;
            }
        }
        if (!more) {
            n_pairs = find_boundaries(left, right, product, n, first, last, pairs, &is_open);
        }
    }
    return n_pairs;
}

/* Find the pairs that make words, strongest word first; see merging.py. `merges` is empty, and large enough for all
   pairs. */
TOKDFA_API int tokdfa_derive(const tokdfa_word_job *job, const tokdfa_merges *merges) {
    merge_memory w;
    if (!open_memory(&w, longest_piece(job->offsets, job->n_words))) {
        return TOKDFA_NO_MEMORY;
    }
    bool given = job->n_start > 0;
    for (int last = 0; last < (given ? 1 : 2); last++) {
        for (int64_t i = 0; i < job->n_words; i++) {
            if (last && job->left[i] >= 0) {
                continue;
            }
            int64_t n = job->offsets[i + 1] - job->offsets[i];
            int32_t product = (int32_t)(job->n_symbols + i);
            memcpy(w.tokens, job->text + job->offsets[i], (size_t)n * sizeof *w.tokens);
            bool two = merge(merges, &w, w.tokens, n) == 2;
            if (two && last) {
                job->first[i] = w.tokens[0];
                job->second[i] = w.tokens[1];
            } else if (two) {
                job->left[i] = w.tokens[0];
                job->right[i] = w.tokens[1];
                if (!given) {
                    insert(merges, w.tokens[0], w.tokens[1], (int32_t)i, product);
                }
            }
            if (given) {
                for (int64_t k = job->start[i]; k < job->start[i + 1]; k++) {
                    insert(merges, job->split_left[k], job->split_right[k], (int32_t)i, product);
                }
            }
        }
    }
    free(w.heap);
    return 0;
}

/* Merge words completely by examining all pairs before each step. For each word `last` has four entries: the number of
   tokens left, and the parts and the priority of the last merge, -1 if there was none. `ascending` records whether no
   merge was stronger than the one before it. */
TOKDFA_API int tokdfa_derivations(const tokdfa_merges *merges, const int32_t *symbols, const int64_t *offsets,
                                   int64_t n_words, int32_t *last, uint8_t *ascending) {
    merge_memory w;
    if (!open_memory(&w, longest_piece(offsets, n_words))) {
        return TOKDFA_NO_MEMORY;
    }
    int32_t *tokens = w.tokens;
    for (int64_t word = 0; word < n_words; word++, last += 4) {
        int64_t n = offsets[word + 1] - offsets[word];
        memcpy(tokens, symbols + offsets[word], (size_t)n * sizeof *tokens);
        last[1] = last[2] = last[3] = -1;
        ascending[word] = 1;
        for (;;) {
            int64_t best = -1, at = 0;
            for (int64_t i = 0; i + 1 < n; i++) {
                int64_t slot = find_merge(merges, tokens[i], tokens[i + 1]);
                if (slot >= 0 && (best < 0 || merges->priority[slot] < merges->priority[best])) {
                    best = slot;
                    at = i;
                }
            }
            if (best < 0) {
                break;
            }
            if (merges->priority[best] < last[3]) {
                ascending[word] = 0;
            }
            last[1] = tokens[at];
            last[2] = tokens[at + 1];
            last[3] = merges->priority[best];
            tokens[at] = merges->product[best];
            memmove(tokens + at + 1, tokens + at + 2, (size_t)(n - at - 2) * sizeof *tokens);
            n--;
        }
        last[0] = (int32_t)n;
    }
    free(w.heap);
    return 0;
}
