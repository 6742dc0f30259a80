/* The rows of token DFAs, against sets of pairs by definition. */
#ifndef TOKDFA_DFA_ROWS_H
#define TOKDFA_DFA_ROWS_H

#include "../../../../tokdfa/kernels/dfa/api.h"
#include "dictionary.h"

static int compare_ints(const void *a, const void *b) {
    return *(const int32_t *)a < *(const int32_t *)b ? -1 : *(const int32_t *)a > *(const int32_t *)b;
}

/* Tokens forbidden by the states of a token DFA, as rows of intervals, and as sets by definition; returns the rows. */
typedef struct {
    int64_t n_rows, n_tokens;
    int32_t *pointer, *start, *stop;
    uint8_t *forbidden; /* rows by positions */
    arena memory;
} gathered;

static gathered gather(const dictionary *d, int64_t skipped) {
    gathered g = {.n_tokens = d->n_tokens};
    arena *memory = &g.memory;
    int32_t *counts = ZEROS(memory, int32_t, d->n_tokens), *offset = ZEROS(memory, int32_t, d->n_tokens);
    int32_t *position = MINUS_ONES(memory, int32_t, d->n_tokens), *width = ZEROS(memory, int32_t, d->n_states);
    int32_t *product = MINUS_ONES(memory, int32_t, d->n_states), *removed = ROOM(memory, int32_t, d->n_states);
    int32_t *parent = ROOM(memory, int32_t, d->n_states), *first = ZEROS(memory, int32_t, d->n_states);
    int64_t n_live = 0, n_states = 0;
    for (int64_t token = 0; token < d->n_tokens; token++) {
        n_live += d->birth[token] >= 0;
    }
    for (int64_t state = 0; state < d->n_states; state++) {
        removed[state] = d->removed[state];
        parent[state] = d->parent[state];
        product[state] = state ? d->product[d->rule[state]] : -1;
    }
    tokdfa_arrange(&(tokdfa_arrangement){removed, d->n_states, d->birth, d->n_tokens, d->head, product, d->n_symbols,
                                         counts, offset, position, width});
    for (int64_t state = 1; state < d->n_states; state++) {
        first[state] = position[removed[state]];
    }
    int32_t *states = ROOM(memory, int32_t, d->n_states), *depth = ROOM(memory, int32_t, d->n_states), deepest = 0;
    for (int64_t state = 0; state < d->n_states; state++) {
        if (state == 0 || !(skipped >> state % 8 & 1)) {
            states[n_states++] = (int32_t)state;
        }
    }
    qsort(states, (size_t)n_states, sizeof *states, compare_ints);
    tokdfa_depths(parent, d->n_states, depth);
    for (int64_t state = 0; state < d->n_states; state++) {
        REQUIRE(depth[state] == (state ? depth[parent[state]] + 1 : 0));
        deepest = depth[state] > deepest ? depth[state] : deepest;
    }
    int64_t buckets = 4, room = 1;
    while (buckets < 2 * n_states) {
        buckets *= 2;
    }
    int32_t *row = MINUS_ONES(memory, int32_t, d->n_states);
    tokdfa_row_job job = {
        .parent = parent, .first = first, .width = width, .states = exactly(memory, states, n_states, sizeof *states),
        .n_states = n_states, .n_live = n_live, .n_tokens = d->n_tokens, .table = MINUS_ONES(memory, int32_t, buckets),
        .n_table = buckets, .own = ROOM(memory, int64_t, deepest + 1), .row = row,
        .pointer = ZEROS(memory, int32_t, n_states + 1), .start = ROOM(memory, int32_t, room),
        .stop = ROOM(memory, int32_t, room), .n_start = room,
    };
    while (tokdfa_gather_rows(&job) < n_states) {
        int32_t *start = ROOM(memory, int32_t, 2 * room), *stop = ROOM(memory, int32_t, 2 * room);
        memcpy(start, job.start, (size_t)room * sizeof *start);
        memcpy(stop, job.stop, (size_t)room * sizeof *stop);
        job.start = start;
        job.stop = stop;
        job.n_start = room *= 2;
    }
    g.n_rows = job.n_rows;
    g.pointer = exactly(memory, job.pointer, job.n_rows + 1, sizeof *job.pointer);
    g.start = exactly(memory, job.start, g.pointer[g.n_rows], sizeof *job.start);
    g.stop = exactly(memory, job.stop, g.pointer[g.n_rows], sizeof *job.stop);
    g.forbidden = ZEROS(memory, uint8_t, g.n_rows * d->n_tokens);
    for (int64_t r = 0; r < g.n_rows; r++) {
        int32_t last = -1;
        for (int32_t i = g.pointer[r]; i < g.pointer[r + 1]; i++) {
            REQUIRE(g.start[i] > last && g.stop[i] > g.start[i] && g.stop[i] <= d->n_tokens);
            last = g.stop[i];
            memset(g.forbidden + r * d->n_tokens + g.start[i], 1, (size_t)(g.stop[i] - g.start[i]));
        }
    }
    for (int64_t i = 0; i < n_states; i++) {
        uint8_t expected[sizeof usual_symbols + MOST_RULES] = {0};
        for (int64_t state = states[i]; state > 0; state = parent[state]) {
            memset(expected + first[state], 1, (size_t)width[state]);
        }
        memset(expected + n_live, 1, (size_t)(d->n_tokens - n_live));
        const int64_t r = row[states[i]];
        REQUIRE(r >= 0 && r < g.n_rows);
        REQUIRE(!memcmp(expected, g.forbidden + r * d->n_tokens, (size_t)d->n_tokens));
    }
    for (int64_t r = 0; r < g.n_rows; r++) {
        for (int64_t s = 0; s < r; s++) {
            REQUIRE(memcmp(g.forbidden + r * d->n_tokens, g.forbidden + s * d->n_tokens, (size_t)d->n_tokens));
        }
    }
    return g;
}

static void compare_rows(input *in) {
    arena memory = {NULL, 0, 0};
    const int64_t skipped = take(in), n_ranks = below(in, 80), n_pairs = below(in, 12), seed = take(in);
    dictionary *d[2];
    gathered g[2];
    tokdfa_ranked_rows rows[2];
    int32_t *rank[2], *chosen[2];
    for (int k = 0; k < 2; k++) {
        d[k] = k && seed & 1 ? d[0] : read_dictionary(in);
        g[k] = gather(d[k], skipped);
        rank[k] = MINUS_ONES(&memory, int32_t, g[k].n_tokens);
        chosen[k] = ROOM(&memory, int32_t, n_pairs);
        /* Each rank at one place, in an order of its own. */
        for (int64_t r = 0; r < n_ranks; r++) {
            const int64_t at = (r * (2 * k + 1) + seed * k) % 97;
            if (at < g[k].n_tokens && (r % 5 || !k) && rank[k][at] < 0) {
                rank[k][at] = (int32_t)r;
            }
        }
        rows[k] = (tokdfa_ranked_rows){g[k].pointer, g[k].start, g[k].stop, rank[k]};
        for (int64_t i = 0; i < n_pairs; i++) {
            chosen[k][i] = (int32_t)((take(in) + i) % g[k].n_rows);
        }
    }
    /* Only ranks that both have count. */
    for (int64_t r = 0; r < n_ranks; r++) {
        int64_t at[2] = {-1, -1};
        for (int k = 0; k < 2; k++) {
            for (int64_t i = 0; i < g[k].n_tokens; i++) {
                at[k] = rank[k][i] == r ? i : at[k];
            }
        }
        if (at[0] < 0 || at[1] < 0) {
            for (int k = 0; k < 2; k++) {
                if (at[k] >= 0) {
                    rank[k][at[k]] = -1;
                }
            }
        }
    }
    const int64_t n_bits = ((n_ranks + 63) / 64 + 7) / 8 * 8;
    uint64_t *bits = ZEROS(&memory, uint64_t, n_bits);
    int32_t *least_rank = ROOM(&memory, int32_t, n_pairs);
    int64_t *only_first = ROOM(&memory, int64_t, n_pairs), *only_second = ROOM(&memory, int64_t, n_pairs);
    tokdfa_compare_rows(&rows[0], &rows[1], &(tokdfa_row_pairs){chosen[0], chosen[1], n_pairs, bits, n_bits, least_rank,
                                                                only_first, only_second});
    for (int64_t i = 0; i < n_pairs; i++) {
        int64_t least_found = -1, only[2] = {0, 0};
        for (int64_t r = 0; r < n_ranks; r++) {
            bool allowed[2] = {false, false};
            for (int k = 0; k < 2; k++) {
                for (int64_t at = 0; at < g[k].n_tokens; at++) {
                    allowed[k] |= rank[k][at] == r && !g[k].forbidden[chosen[k][i] * g[k].n_tokens + at];
                }
            }
            if (allowed[0] != allowed[1]) {
                least_found = least_found < 0 ? r : least_found;
                only[allowed[1]]++;
            }
        }
        REQUIRE(least_rank[i] == least_found && only_first[i] == only[0] && only_second[i] == only[1]);
    }
    for (int64_t i = 0; i < n_bits; i++) {
        REQUIRE(!bits[i]);
    }
    for (int k = 0; k < 2; k++) {
        give_back(&g[k].memory);
        if (!k || d[1] != d[0]) {
            free_dictionary(d[k]);
        }
    }
    give_back(&memory);
}

#endif
