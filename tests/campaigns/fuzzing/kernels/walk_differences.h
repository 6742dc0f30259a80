/* Finding where two tokenizations of texts differ, against the definition. */
#ifndef TOKDFA_WALK_DIFFERENCES_H
#define TOKDFA_WALK_DIFFERENCES_H

#include "harness.h"

/* Ids of texts, with gaps between them. */
static tokdfa_tokenizations read_tokenizations(input *in, arena *memory, int64_t n_texts) {
    int64_t *bounds = ZEROS(memory, int64_t, n_texts + 1);
    for (int64_t k = 0; k < n_texts; k++) {
        bounds[k + 1] = bounds[k] + below(in, 12);
    }
    const int64_t n = bounds[n_texts];
    int32_t *ids = ROOM(memory, int32_t, n);
    int64_t *ends = ROOM(memory, int64_t, n), *starts = ROOM(memory, int64_t, n_texts), end = 0;
    for (int64_t k = 0; k < n_texts; k++) {
        /* The first ids may end before their text begins. */
        starts[k] = (end += take(in) % 3) + take(in) % 3;
        for (int64_t i = bounds[k]; i < bounds[k + 1]; i++) {
            const uint8_t token = take(in);
            ids[i] = token >> 6;
            ends[i] = end += (token & 7) % 3;
        }
    }
    return (tokdfa_tokenizations){ids, ends, bounds, starts};
}

/* How many of the ids of text k end at a place of it; the first of them is noted. */
static int64_t ending_at(const tokdfa_tokenizations *side, int64_t k, int64_t place, int64_t *first) {
    int64_t n = 0;
    for (int64_t i = side->bounds[k + 1] - 1; i >= side->bounds[k]; i--) {
        if (side->ends[i] - side->starts[k] == place) {
            n++;
            *first = i;
        }
    }
    return n;
}

static bool adds_nothing(const tokdfa_tokenizations *side, int64_t k, int64_t begin, int64_t stop) {
    bool found = false;
    for (int64_t i = begin; i < stop; i++) {
        const int64_t before = i > side->bounds[k] ? side->ends[i - 1] - side->starts[k] : 0;
        found |= side->ends[i] - side->starts[k] <= (before > 0 ? before : 0);
    }
    return found;
}

static void find_different_parts(input *in) {
    arena memory = {NULL, 0, 0};
    const int64_t n_texts = below(in, 4);
    const tokdfa_tokenizations x = read_tokenizations(in, &memory, n_texts);
    const tokdfa_tokenizations y = read_tokenizations(in, &memory, n_texts);
    const int64_t most = x.bounds[n_texts] + y.bounds[n_texts] + n_texts;
    int64_t *rows = ROOM(&memory, int64_t, 6 * most), n_rows = 0;
    const int64_t n = tokdfa_differences(&x, &y, n_texts, rows, most);
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
                const bool is_silent = adds_nothing(&x, k, start, stop + 1) || adds_nothing(&y, k, low, high + 1);
                const int64_t row[6] = {k, start, stop + 1, low, high + 1, is_silent};
                REQUIRE(n_rows < n && !memcmp(rows + 6 * n_rows++, row, sizeof row));
            }
            start = stop + 1;
            low = high + 1;
        }
    }
    REQUIRE(n_rows == n);
    /* With too little room it says so. */
    REQUIRE(!n || tokdfa_differences(&x, &y, n_texts, rows, n - 1) == -1);
    give_back(&memory);
}

#endif
