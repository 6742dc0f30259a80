/* Greedy training: merge a most frequent pair everywhere, and keep the counts of all pairs as they change.

   The text is one array: the pieces with a boundary (-1) before, between and after them. A token that spans the
   positions p to e has its number at p and at e, so each neighbour of a token is found by one read. The position where
   its right part began has INSIDE: a position listed for a pair is still valid iff both tokens are where they were.

   A pair of neighbours can arise only when the younger of its tokens is made, and from then on it can only become
   rarer. So each pair gets its positions once, in order, and they are checked when it is merged; an entry of the queue
   is checked again when it comes up; and pairs that begin below the minimum frequency are dropped at once. */
#include "pairs.h"

#define INSIDE (-2)

/* The number that is compared first among equally frequent pairs. */
static int64_t tie_of(const tokdfa_corpus *c, int64_t row, int64_t first, int64_t u, int64_t v) {
    switch (c->tie) {
    case FIRST_SEEN:
        return first;
    case SENTENCEPIECE:
        return (int64_t)c->length[u] + c->length[v];
    case SUBWORD_NMT:
        return 0;
    default:
        /* Without ranks the pairs are ordered by age, and rows are numbered as they enter. */
        return c->n_rank ? pair_key(c->rank[u], c->rank[v]) : row;
    }
}

/* Count the pairs of symbols that begin before `stop`. For now `to` is the number of positions, and `from` the position
   of the second symbol of the pair that counted last, which is needed for runs. False if out of memory: then it can be
   called again. */
static bool count_symbols(tokdfa_training *t, int64_t stop) {
    const tokdfa_corpus *c = t->corpus;
    for (; t->at < stop; t->at++) {
        const int64_t at = t->at;
        const int32_t u = c->text[at], v = c->text[at + 1];
        if (u < 0 || v < 0) {
            continue;
        }
        const int64_t key = pair_key(u, v);
        int64_t row = find_pair(t, key);
        if (row < 0) {
            if (2 * (t->n_pairs + 1) > t->n_table || t->n_pairs == t->pairs_capacity) {
                if (!reserve_rows(t, 1) || !reserve_slots(t, 1)) {
                    return false;
                }
                row = find_pair(t, key);
            }
            const int64_t slot = -1 - row;
            row = t->n_pairs++;
            enter_pair(t, slot, key, row);
            t->pairs[row] = (pair){key, 0, tie_of(c, row, at, u, v), -1, 0};
        }
        pair *found = t->pairs + row;
        found->to++;
        if (u != v || c->overlapping || found->from != at) {
            found->count += c->weight[at];
            found->from = at + 1;
        }
    }
    return true;
}

/* Reserve the positions of the pairs that are frequent enough, and the queue for these. False if out of memory: then
   nothing has changed. */
static bool lay_out_pool(tokdfa_training *t) {
    const tokdfa_corpus *c = t->corpus;
    int64_t wanted = 0, n_queued = 0;
    for (int64_t row = 0; row < t->n_pairs; row++) {
        if (t->pairs[row].count >= c->least) {
            wanted += t->pairs[row].to;
            n_queued++;
        }
    }
    int32_t *pool = with_capacity(t->pool, &t->pool_capacity, 0, wanted + wanted / 2 + 16, sizeof *pool);
    entry *heap = with_capacity(t->heap, &t->heap_capacity, 0, n_queued + 16, sizeof *heap);
    t->pool = pool ? pool : t->pool;
    t->heap = heap ? heap : t->heap;
    if (!pool || !heap) {
        return false;
    }
    for (int64_t row = 0; row < t->n_pairs; row++) {
        pair *found = t->pairs + row;
        const int64_t n_positions = found->count < c->least ? 0 : found->to;
        found->count = n_positions ? found->count : 0;
        found->from = found->to = t->n_pool;
        t->n_pool += n_positions;
    }
    return true;
}

/* List the positions before `stop` of the pairs that are frequent enough. */
static void list_symbols(tokdfa_training *t, int64_t stop) {
    const int32_t *const text = t->corpus->text;
    for (; t->at < stop; t->at++) {
        if (text[t->at] < 0 || text[t->at + 1] < 0) {
            continue;
        }
        pair *found = t->pairs + find_pair(t, pair_key(text[t->at], text[t->at + 1]));
        if (found->count > 0) {
            t->pool[found->to++] = (int32_t)t->at;
        }
    }
}

/* Whether the run of `token` that ends with the one at `at` has an even number of tokens.

   The walks of one merge together are about as long as the text that it replaces: if the token's pair with itself were
   more frequent than the merged pair, it would have been merged first. */
static bool ends_even_run(const int32_t *text, int64_t at, int64_t token, int64_t length) {
    bool even = false;
    for (; text[at - 1] == token; at -= length) {
        even = !even;
    }
    return even;
}

/* Whether the run of `token` that begins with the one at `at` has an even number of tokens. */
static bool begins_even_run(const int32_t *text, int64_t at, int64_t token, int64_t length) {
    bool even = false;
    for (; text[at + length] == token; at += length) {
        even = !even;
    }
    return even;
}

/* Replace the pair everywhere, subtract its neighbours from their counts, and keep the positions where it was. Returns
   the number of replacements in the corpus. */
static int64_t replace(tokdfa_training *t, pair *merged, int32_t product) {
    const tokdfa_corpus *c = t->corpus;
    int32_t *restrict const text = c->text;
    int32_t *const pool = t->pool;
    const int64_t u = left_of(merged->key), v = right_of(merged->key);
    const int64_t first = c->length[u], last = c->length[v];
    const int64_t to = merged->to;
    int64_t gain = 0, kept = merged->from;
    for (int64_t i = merged->from; i < to; i++) {
        const int64_t at = pool[i], middle = at + first, end = middle + last;
        if (text[at] != u || text[middle] != v) {
            continue;
        }
        const int64_t x = text[at - 1], y = text[end], weight = c->weight[at];
        /* An x that is the product was made in this round, and the pair between was subtracted already. */
        if (x >= 0 && x != product) {
            int64_t row = find_pair(t, pair_key(x, u));
            if (row >= 0 && (x != u || c->overlapping || ends_even_run(text, at, u, first))) {
                t->pairs[row].count -= weight;
            }
        }
        if (y >= 0 && !(y == v && u == v)) {
            int64_t row = find_pair(t, pair_key(v, y));
            if (row >= 0 && (y != v || c->overlapping || begins_even_run(text, middle, v, last))) {
                t->pairs[row].count -= weight;
            }
        }
        text[middle] = INSIDE;
        text[at] = product;
        text[end - 1] = product;
        pool[kept++] = (int32_t)at;
        gain += weight;
    }
    merged->count = 0;
    merged->to = kept;
    return gain;
}

/* The row of the pair that the product makes with a token, created if there is none. */
ALWAYS_INLINE pair *new_pair(tokdfa_training *t, int32_t *number, int64_t *n_new, int64_t key, int64_t first) {
    if (*number < 0) {
        *number = (int32_t)*n_new;
        t->pairs[t->n_pairs + *n_new] = (pair){key, 0, 0, first, 0};
        ++*n_new;
    }
    return t->pairs + t->n_pairs + *number;
}

/* Count the pairs that `product` makes with its neighbours, in rows after the last; returns their number. For now
   `from` of such a row is its first position and `to` the number of its positions. */
static int64_t count_new(tokdfa_training *t, const pair *merged, int64_t product) {
    const tokdfa_corpus *c = t->corpus;
    const int32_t *const text = c->text;
    const int64_t length = c->length[product];
    int64_t n_new = 0, counted = -1;
    for (int64_t i = merged->from; i < merged->to; i++) {
        const int64_t at = t->pool[i], end = at + length, weight = c->weight[at];
        const int64_t x = text[at - 1], y = text[end];
        if (x >= 0 && x != product) {
            pair *made = new_pair(t, t->new_left + x, &n_new, pair_key(x, product), at - c->length[x]);
            made->count += weight;
            made->to++;
        }
        if (y >= 0) {
            pair *made = new_pair(t, t->new_right + y, &n_new, pair_key(product, y), at);
            made->to++;
            if (y != product) {
                made->count += weight;
            } else if (c->overlapping || counted != at) {
                made->count += weight;
                counted = end;
            }
        }
    }
    return n_new;
}

/* Keep the new rows that are frequent and short enough; returns where in the pool their positions will end. */
static int64_t keep_new(tokdfa_training *t, int64_t n_new, int64_t *n_kept) {
    const tokdfa_corpus *c = t->corpus;
    int64_t wanted = t->n_pool;
    *n_kept = 0;
    for (int64_t number = 0; number < n_new; number++) {
        const pair made = t->pairs[t->n_pairs + number];
        const int64_t u = left_of(made.key), v = right_of(made.key), row = t->n_pairs + *n_kept;
        t->row_of[number] = -1;
        if (made.count >= c->least && (int64_t)c->length[u] + c->length[v] <= c->longest) {
            t->row_of[number] = (int32_t)row;
            t->pairs[row] = (pair){made.key, made.count, tie_of(c, row, made.from, u, v), wanted, wanted};
            wanted += made.to;
            ++*n_kept;
        }
    }
    return wanted;
}

/* Write the positions of the pairs that `product` makes into the pool, and reset the record of these pairs. */
static void list_new(tokdfa_training *t, const pair *merged, int64_t product) {
    const tokdfa_corpus *c = t->corpus;
    const int32_t *const text = c->text;
    int32_t *const pool = t->pool;
    const int64_t length = c->length[product];
    for (int64_t i = merged->from; i < merged->to; i++) {
        const int64_t at = pool[i], x = text[at - 1], y = text[at + length];
        if (x >= 0 && x != product) {
            const int64_t row = t->row_of[t->new_left[x]];
            if (row >= 0) {
                pool[t->pairs[row].to++] = (int32_t)(at - c->length[x]);
            }
        }
        if (y >= 0) {
            const int64_t row = t->row_of[t->new_right[y]];
            if (row >= 0) {
                pool[t->pairs[row].to++] = (int32_t)at;
            }
        }
    }
    for (int64_t i = merged->from; i < merged->to; i++) {
        const int64_t x = text[pool[i] - 1], y = text[pool[i] + length];
        if (x >= 0) {
            t->new_left[x] = -1;
        }
        if (y >= 0) {
            t->new_right[y] = -1;
        }
    }
}

/* Whether the top of the queue is up to date; if not, move it down. */
static bool settle_top(tokdfa_training *t) {
    const tokdfa_corpus *c = t->corpus;
    entry top = t->heap[0];
    pair *found = t->pairs + top.row;
    if (found->count < c->least) {
        drop_top(t);
        return false;
    }
    int64_t tie = top.tie;
    if (c->tie == FIRST_SEEN) {
        const int64_t u = left_of(found->key), v = right_of(found->key), length = c->length[u];
        /* A pair that is counted has a position. */
        while (c->text[t->pool[found->from]] != u || c->text[t->pool[found->from] + length] != v) {
            found->from++;
        }
        tie = t->pool[found->from];
    }
    if (found->count == top.count && tie == top.tie) {
        return true;
    }
    sift_down(t, (entry){found->count, tie, top.row});
    return false;
}

/* The row to merge next: the top of the queue, which is up to date, or the wanted pair. If that is not a maximum, -1,
   and the top is written where the rule would be. */
static int64_t next_row(const tokdfa_training *t) {
    const tokdfa_corpus *c = t->corpus;
    const int64_t top = t->heap[0].row;
    if (!c->n_wanted_left) {
        return top;
    }
    const int32_t u = c->wanted_left[t->n_made], v = c->wanted_right[t->n_made];
    const int64_t row = u < 0 || v < 0 ? -1 : find_pair(t, pair_key(u, v));
    if (row >= 0 && (row == top || (c->any_tie && t->pairs[row].count == t->pairs[top].count))) {
        return row;
    }
    c->left[t->n_made] = (int32_t)left_of(t->pairs[top].key);
    c->right[t->n_made] = (int32_t)right_of(t->pairs[top].key);
    return -1;
}

/* Merge one of the most frequent pairs, and count the pairs that this makes; false if out of memory: then nothing has
   changed. A merged pair that is not the top of the queue is dropped when it comes up. */
static bool begin_merge(tokdfa_training *t, int64_t row) {
    const tokdfa_corpus *c = t->corpus;
    const int64_t u = left_of(t->pairs[row].key), v = right_of(t->pairs[row].key), rule = t->n_made;
    const int64_t product = t->n_tokens;
    const int64_t n_positions = t->pairs[row].to - t->pairs[row].from;
    /* No token makes more pairs than it has neighbours, nor more than there are tokens on either side. */
    if (!reserve_rows(t, least(2 * n_positions, 2 * c->n_length))) {
        return false;
    }
    if (t->heap[0].row == row) {
        drop_top(t);
    }
    pair *merged = t->pairs + row;
    c->left[rule] = (int32_t)u;
    c->right[rule] = (int32_t)v;
    c->length[product] = c->length[u] + c->length[v];
    c->gain[rule] = replace(t, merged, (int32_t)product);
    const int64_t n_new = count_new(t, merged, product);
    t->unlisted.n_pool = keep_new(t, n_new, &t->unlisted.n_kept);
    t->unlisted.row = row;
    return true;
}

/* List and queue the pairs that a merge has made; false if out of memory: then it can be called again. */
static bool end_merge(tokdfa_training *t) {
    const int64_t n_pool = t->unlisted.n_pool, n_kept = t->unlisted.n_kept;
    int32_t *pool = with_capacity(t->pool, &t->pool_capacity, t->n_pool, n_pool - t->n_pool, sizeof *pool);
    t->pool = pool ? pool : t->pool;
    entry *heap = with_capacity(t->heap, &t->heap_capacity, t->n_heap, n_kept, sizeof *heap);
    t->heap = heap ? heap : t->heap;
    if (!pool || !heap || !reserve_slots(t, n_kept)) {
        return false;
    }
    list_new(t, t->pairs + t->unlisted.row, t->n_tokens);
    t->n_pool = n_pool;
    for (int64_t i = 0; i < n_kept; i++) {
        const int64_t made = t->n_pairs++, key = t->pairs[made].key;
        enter_pair(t, -1 - find_pair(t, key), key, made);
        push_row(t, made);
    }
    t->unlisted.row = -1;
    t->n_tokens++;
    t->n_made++;
    return true;
}

/* Merge pairs until `target` rules are made, which must fit, or no pair is left or none that is wanted, or the merges
   have inspected `patience` positions, 1 or more. Returns the total number of rules made, more than before unless no
   pair is left or none that is wanted.
   After TOKDFA_NO_MEMORY the training stands where it stood, or within a merge, and can continue. */
TOKDFA_API int64_t tokdfa_train(tokdfa_training *training, int64_t target, int64_t patience) {
    if (training->unlisted.row >= 0 && !end_merge(training)) {
        return TOKDFA_NO_MEMORY;
    }
    while (training->n_made < target && training->n_heap > 0 && patience > 0) {
        if (settle_top(training)) {
            const int64_t row = next_row(training);
            if (row < 0) {
                break;
            }
            patience -= training->pairs[row].to - training->pairs[row].from;
            if (!(begin_merge(training, row) && end_merge(training))) {
                return TOKDFA_NO_MEMORY;
            }
        }
    }
    return training->n_made;
}

/* Begin to train; tokdfa_find_pairs comes next. NULL if out of memory. */
TOKDFA_API tokdfa_training *tokdfa_begin_training(const tokdfa_corpus *corpus) {
    tokdfa_training *t = calloc(1, sizeof *t);
    if (!t) {
        return NULL;
    }
    const size_t n_tokens = (size_t)corpus->n_length;
    t->corpus = corpus;
    t->n_tokens = corpus->n_symbols;
    t->at = 1;
    t->unlisted.row = -1;
    t->n_table = 1 << 11;
    t->table = malloc((size_t)t->n_table * sizeof *t->table);
    t->new_left = malloc((n_tokens + 1) * sizeof *t->new_left);
    t->new_right = malloc((n_tokens + 1) * sizeof *t->new_right);
    t->row_of = malloc((2 * n_tokens + 1) * sizeof *t->row_of);
    if (t->table && t->new_left && t->new_right && t->row_of) {
        memset(t->table, -1, (size_t)t->n_table * sizeof *t->table);
        memset(t->new_left, -1, n_tokens * sizeof *t->new_left);
        memset(t->new_right, -1, n_tokens * sizeof *t->new_right);
        return t;
    }
    tokdfa_end_training(t);
    return NULL;
}

/* Count the pairs of the text, list their positions and queue them, at `patience` positions, 1 or more, in a call.
   Returns 1 if there is more to do and 0 if not. After TOKDFA_NO_MEMORY it can continue. */
TOKDFA_API int64_t tokdfa_find_pairs(tokdfa_training *training, int64_t patience) {
    tokdfa_training *const t = training;
    const int64_t end = t->corpus->n_text - 1, stop = least(end, t->at + least(patience, end));
    switch (t->stage) {
    case COUNTING:
        if (!count_symbols(t, stop)) {
            return TOKDFA_NO_MEMORY;
        }
        if (t->at < end) {
            return 1;
        }
        t->stage = LAYING_OUT;
        /* fall through */
    case LAYING_OUT:
        if (!lay_out_pool(t)) {
            return TOKDFA_NO_MEMORY;
        }
        t->at = 1;
        t->stage = LISTING;
        return 1;
    case LISTING:
        list_symbols(t, stop);
        if (t->at < end) {
            return 1;
        }
        for (int64_t row = 0; row < t->n_pairs; row++) {
            if (t->pairs[row].count > 0 && t->corpus->longest >= 2) {
                push_row(t, row);
            }
        }
        t->stage = MERGING;
        break;
    case MERGING:
        break;
    }
    return 0;
}

/* Write the tokens of the text as it is now, -1 for boundaries, and the number of occurrences of the piece of each;
   both have the length of the text. Returns the number of entries written. */
TOKDFA_API int64_t tokdfa_copy_tokens(const tokdfa_training *training, int32_t *tokens, int64_t *weights) {
    const tokdfa_corpus *c = training->corpus;
    int64_t n = 0;
    for (int64_t at = 0; at < c->n_text; n++) {
        tokens[n] = c->text[at];
        weights[n] = c->weight[at];
        at += tokens[n] < 0 ? 1 : c->length[tokens[n]];
    }
    return n;
}

TOKDFA_API void tokdfa_end_training(tokdfa_training *training) {
    free(training->pairs);
    free(training->table);
    free(training->pool);
    free(training->heap);
    free(training->new_left);
    free(training->new_right);
    free(training->row_of);
    free(training);
}
