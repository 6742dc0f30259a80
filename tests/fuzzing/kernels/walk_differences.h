/* Finding where two tokenizations of texts differ, against the definition. */
#ifndef TOKDFA_WALK_DIFFERENCES_H
#define TOKDFA_WALK_DIFFERENCES_H

#include "harness.h"

/* One tokenization of texts: that of text k has the ids from bounds[k] to bounds[k + 1]. */
typedef struct {
    int32_t *ids;
    int64_t *ends, *bounds;
} tokenization;

static tokenization read_tokenization(input *in, arena *memory, int64_t n_texts) {
    int64_t *bounds = ZEROS(memory, int64_t, n_texts + 1);
    for (int64_t k = 0; k < n_texts; k++) {
        bounds[k + 1] = bounds[k] + below(in, 12);
    }
    const int64_t n = bounds[n_texts];
    tokenization read = {ROOM(memory, int32_t, n), ROOM(memory, int64_t, n), bounds};
    for (int64_t i = 0, end = 0; i < n; i++) {
        const uint8_t token = take(in);
        read.ids[i] = token >> 6;
        read.ends[i] = end += (token & 7) % 3;
    }
    return read;
}

/* How many of the ids of text k end at a place of it; the first of them is noted. */
static int64_t ending_at(const tokenization *side, int64_t k, int64_t place, int64_t *first) {
    int64_t n = 0;
    const int64_t begin = side->bounds[k], base = begin ? side->ends[begin - 1] : 0;
    for (int64_t i = side->bounds[k + 1] - 1; i >= begin; i--) {
        if (side->ends[i] - base == place) {
            n++;
            *first = i;
        }
    }
    return n;
}

static bool adds_nothing(const tokenization *side, int64_t begin, int64_t stop) {
    bool found = false;
    for (int64_t i = begin; i < stop; i++) {
        found |= side->ends[i] == (i ? side->ends[i - 1] : 0);
    }
    return found;
}

static void find_different_parts(input *in) {
    arena memory = {NULL, 0, 0};
    const int64_t n_texts = below(in, 4);
    const tokenization x = read_tokenization(in, &memory, n_texts), y = read_tokenization(in, &memory, n_texts);
    const int64_t most = x.bounds[n_texts] + y.bounds[n_texts] + n_texts;
    int64_t *rows = ROOM(&memory, int64_t, 6 * most), n_rows = 0;
    const int64_t n = tokdfa_differences(x.ids, x.ends, x.bounds, y.ids, y.ends, y.bounds, n_texts, rows, most);
    REQUIRE(n >= 0);
    for (int64_t k = 0; k < n_texts; k++) {
        int64_t start = x.bounds[k], low = y.bounds[k];
        for (int64_t place = 1; place <= 64; place++) {
            int64_t stop = x.bounds[k + 1] - 1, high = y.bounds[k + 1] - 1;
            const bool is_last = place == 64;
            if (!is_last && (ending_at(&x, k, place, &stop) != 1 || ending_at(&y, k, place, &high) != 1)) {
                continue;
            }
            bool differ = stop - start != high - low;
            for (int64_t i = start; !differ && i <= stop; i++) {
                differ = x.ids[i] != y.ids[low + i - start];
            }
            if (differ) {
                const bool is_silent = adds_nothing(&x, start, stop + 1) || adds_nothing(&y, low, high + 1);
                const int64_t row[6] = {k, start, stop + 1, low, high + 1, is_silent};
                REQUIRE(n_rows < n && !memcmp(rows + 6 * n_rows++, row, sizeof row));
            }
            start = stop + 1;
            low = high + 1;
        }
    }
    REQUIRE(n_rows == n);
    /* With too little room it says so. */
    REQUIRE(!n || tokdfa_differences(x.ids, x.ends, x.bounds, y.ids, y.ends, y.bounds, n_texts, rows, n - 1) == -1);
    give_back(&memory);
}

#endif
