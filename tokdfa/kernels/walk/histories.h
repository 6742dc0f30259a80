/* The pair test by going back in time, for many pairs side by side.

   Each step back is some look-ups that depend on one another, in tables that are in no near cache. So every pair goes
   one step back while the data for the next steps of the others is on its way. Most pairs of a text come again soon,
   and the answers of the last ones are kept. */
#ifndef TOKDFA_HISTORIES_H
#define TOKDFA_HISTORIES_H

#include "pairs.h"

/* The most pairs that are tested side by side. */
enum { GROUP = 64 };

/* An entry of the memo is a pair of ids, which are less than 2^31, and in the last bit the answer. */
ALWAYS_INLINE uint64_t memo_key(uint32_t left, uint32_t right) {
    return (uint64_t)left << 32 | (uint64_t)right << 1;
}

ALWAYS_INLINE uint64_t *memo_place(const tokdfa_pair_test *test, uint64_t key) {
    return test->memo + first_pair_slot(test->n_memo, (int64_t)key);
}

/* Find for n `places`, at most GROUP, whether the id there may not follow the one before it. Returns whether one of
   them may not. */
NEVER_INLINE bool forbidden_by_histories(const tokdfa_pair_test *test, const uint32_t *ids, const uint32_t *places,
                                         int64_t n, uint8_t *is_forbidden) {
    const tokdfa_folding *folding = test->folding;
    int64_t u[GROUP], v[GROUP], time[GROUP];
    uint8_t open[GROUP];
    int64_t n_open = 0;
    bool found = false;
    for (int64_t k = 0; k < n; k++) {
        uint32_t left = ids[(int64_t)places[k] - 1], right = ids[places[k]];
        if (test->n_memo) {
            uint64_t key = memo_key(left, right), known = __atomic_load_n(memo_place(test, key), __ATOMIC_RELAXED);
            if (known >> 1 == key >> 1) {
                is_forbidden[k] = known & 1;
                found |= is_forbidden[k];
                continue;
            }
        }
        int32_t a = test->tokens[left], b = test->tokens[right];
        if (a < 0 || b < 0) {
            is_forbidden[k] = forbidden_without_token(a, b);
            found |= is_forbidden[k];
            continue;
        }
        u[k] = a;
        v[k] = b;
        time[k] = folding->n_pairs;
        open[n_open++] = (uint8_t)k;
    }
    for (int64_t n_left = 0; n_open; n_open = n_left, n_left = 0) {
        for (int64_t i = 0; i < n_open; i++) {
            int64_t k = open[i];
            PREFETCH(folding->pairs + first_pair_slot(folding->n_pairs, pair_key(u[k], v[k])));
            PREFETCH(folding->made + first_pair_slot(folding->n_pairs, pair_key(u[k], v[k])));
            PREFETCH(folding->birth + u[k]);
            PREFETCH(folding->birth + v[k]);
            PREFETCH(folding->tail + u[k]);
            PREFETCH(folding->head + v[k]);
        }
        for (int64_t i = 0; i < n_open; i++) {
            int64_t k = open[i];
            int64_t state = look_back(folding, &u[k], &v[k], &time[k]);
            if (state < 0) {
                open[n_left++] = (uint8_t)k;
                continue;
            }
            is_forbidden[k] = state > 0;
            found |= is_forbidden[k];
            if (test->n_memo) {
                uint64_t key = memo_key(ids[(int64_t)places[k] - 1], ids[places[k]]);
                __atomic_store_n(memo_place(test, key), key | is_forbidden[k], __ATOMIC_RELAXED);
            }
        }
    }
    return found;
}

#endif
