/* Explicit DFAs: breadth-first search, the coarsest partition, the first difference. */
#include <stdlib.h>

#include "../common/base.h"
#include "api.h"

/* The states reached from distinct ones, in breadth-first order. `seen` is all zeros; returns the number of states. */
TOKDFA_API int64_t tokdfa_breadth_first(const int64_t *offsets, const int32_t *targets, const int32_t *starts,
                                        int64_t n_starts, uint8_t *seen, int32_t *order) {
    int64_t found = 0;
    for (int64_t i = 0; i < n_starts; i++) {
        seen[starts[i]] = 1;
        order[found++] = starts[i];
    }
    for (int64_t head = 0; head < found; head++) {
        int32_t state = order[head];
        for (int64_t i = offsets[state]; i < offsets[state + 1]; i++) {
            int32_t target = targets[i];
            if (!seen[target]) {
                seen[target] = 1;
                order[found++] = target;
            }
        }
    }
    return found;
}

/* Positions by key: key k has positions[offsets[k]] to positions[offsets[k + 1]], in order. `offsets` has n_groups + 2
   entries, one more than there are groups and an end, for counting. */
static void group(const int32_t *keys, int64_t n_keys, int64_t n_groups, int64_t *offsets, int32_t *positions) {
    memset(offsets, 0, (size_t)(n_groups + 2) * sizeof *offsets);
    /* While positions are being assigned, offsets[k + 1] is the index of the next one with key k. */
    for (int64_t i = 0; i < n_keys; i++) {
        offsets[keys[i] + 2]++;
    }
    for (int64_t key = 1; key < n_groups; key++) {
        offsets[key + 1] += offsets[key];
    }
    for (int64_t i = 0; i < n_keys; i++) {
        positions[offsets[keys[i] + 1]++] = (int32_t)i;
    }
}

TOKDFA_API void tokdfa_group(const int32_t *keys, int64_t n_keys, int64_t n_groups, int64_t *offsets,
                             int32_t *positions) {
    group(keys, n_keys, n_groups, offsets, positions);
}

/* A refinable partition: part s has the members elements[first[s]] to elements[end[s]], the marked ones first. */
typedef struct {
    int32_t *elements; /* the members, part by part */
    int32_t *index;    /* by member: where it is in `elements` */
    int32_t *part;     /* by member */
    int32_t *first, *end;
    int32_t *marked; /* by part: how many members are marked */
    int64_t n_parts;
} partition;

static int64_t mark(partition *p, int32_t *touched, int64_t n_touched, int32_t element) {
    int32_t s = p->part[element];
    int32_t i = p->index[element];
    int32_t j = p->first[s] + p->marked[s];
    int32_t other = p->elements[j];
    p->elements[i] = other;
    p->index[other] = i;
    p->elements[j] = element;
    p->index[element] = j;
    if (p->marked[s] == 0) {
        touched[n_touched++] = s;
    }
    p->marked[s]++;
    return n_touched;
}

/* Split every touched part into marked and unmarked members; the smaller half becomes the new part. */
static void split(partition *p, const int32_t *touched, int64_t n_touched) {
    for (int64_t t = 0; t < n_touched; t++) {
        int32_t s = touched[t];
        int32_t middle = p->first[s] + p->marked[s];
        if (middle < p->end[s]) {
            int64_t made = p->n_parts++;
            if (p->marked[s] <= p->end[s] - middle) {
                p->first[made] = p->first[s];
                p->end[made] = middle;
                p->first[s] = middle;
            } else {
                p->first[made] = middle;
                p->end[made] = p->end[s];
                p->end[s] = middle;
            }
            for (int32_t i = p->first[made]; i < p->end[made]; i++) {
                p->part[p->elements[i]] = (int32_t)made;
            }
        }
        p->marked[s] = 0;
    }
}

static partition take_partition(int32_t **unused, int64_t n_members) {
    partition p = {.n_parts = 0};
    int32_t **arrays[] = {&p.elements, &p.index, &p.part, &p.first, &p.end, &p.marked};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = *unused;
        *unused += n_members + 1;
    }
    return p;
}

/* The first two blocks: states that are not final, and final states. */
static void first_blocks(const tokdfa_columns *dfa, partition *states, int32_t *touched) {
    const int64_t n = dfa->n_final;
    int64_t n_touched = 0;
    for (int64_t state = 0; state < n; state++) {
        states->elements[state] = states->index[state] = (int32_t)state;
    }
    states->end[0] = (int32_t)n;
    states->n_parts = 1;
    for (int64_t state = 0; state < n; state++) {
        if (dfa->final[state]) {
            n_touched = mark(states, touched, n_touched, (int32_t)state);
        }
    }
    split(states, touched, n_touched);
}

/* The first cords: the transitions on each token. `by_token` is working memory. */
static void first_cords(const tokdfa_columns *dfa, partition *cords, int64_t *by_token) {
    group(dfa->tokens, dfa->n_sources, dfa->n_tokens, by_token, cords->elements);
    for (int64_t token = 0; token < dfa->n_tokens; token++) {
        if (by_token[token] < by_token[token + 1]) {
            int64_t cord = cords->n_parts++;
            cords->first[cord] = (int32_t)by_token[token];
            cords->end[cord] = (int32_t)by_token[token + 1];
            for (int64_t i = by_token[token]; i < by_token[token + 1]; i++) {
                cords->index[cords->elements[i]] = (int32_t)i;
                cords->part[cords->elements[i]] = (int32_t)cord;
            }
        }
    }
}

/* Let blocks and cords split each other until none does. The transitions into state q are incoming[into[q]] to
   incoming[into[q + 1]]. */
static void refine(const tokdfa_columns *dfa, partition *states, partition *cords, const int64_t *into,
                   const int32_t *incoming, int32_t *touched) {
    /* The cords begin as if block 0 had split them already: transitions that lead into no other block lead there. */
    int64_t next_block = 1, next_cord = 0;
    while (next_block < states->n_parts || next_cord < cords->n_parts) {
        int64_t n_touched = 0;
        if (next_block < states->n_parts) {
            for (int32_t s = states->first[next_block]; s < states->end[next_block]; s++) {
                int32_t state = states->elements[s];
                for (int64_t i = into[state]; i < into[state + 1]; i++) {
                    n_touched = mark(cords, touched, n_touched, incoming[i]);
                }
            }
            split(cords, touched, n_touched);
            next_block++;
        } else {
            for (int32_t i = cords->first[next_cord]; i < cords->end[next_cord]; i++) {
                n_touched = mark(states, touched, n_touched, dfa->sources[cords->elements[i]]);
            }
            split(states, touched, n_touched);
            next_cord++;
        }
    }
}

/* For each state the number of its class of states with equal languages; every state must lead to a final one.

   Blocks of states and cords (sets of transitions on one token) split each other in turn, smaller halves first:
   O(m log n) for m transitions, missing ones being free. `block` has one entry more than there are states. */
TOKDFA_API int64_t tokdfa_coarsest_partition(const tokdfa_columns *dfa, int32_t *block) {
    const int64_t n = dfa->n_final, m = dfa->n_sources;
    const size_t n_ints = 6 * ((size_t)n + 1) + 6 * ((size_t)m + 1) + (size_t)greatest(n, m) + 1 + (size_t)m;
    const size_t n_longs = (size_t)n + 2 + (size_t)dfa->n_tokens + 2;
    int32_t *ints = calloc(n_ints, sizeof *ints);
    int64_t *longs = malloc(n_longs * sizeof *longs);
    if (!ints || !longs) {
        free(ints);
        free(longs);
        return TOKDFA_NO_MEMORY;
    }
    int32_t *unused = ints;
    partition states = take_partition(&unused, n), cords = take_partition(&unused, m);
    int32_t *touched = unused, *incoming = touched + greatest(n, m) + 1;
    int64_t *by_token = longs, *into = longs + dfa->n_tokens + 2;
    first_blocks(dfa, &states, touched);
    first_cords(dfa, &cords, by_token);
    group(dfa->targets, m, n, into, incoming);
    refine(dfa, &states, &cords, into, incoming, touched);
    memcpy(block, states.part, (size_t)n * sizeof *block);
    free(ints);
    free(longs);
    return states.n_parts;
}

static int32_t find_root(int32_t *parent, int32_t state) {
    while (parent[state] != state) {
        parent[state] = parent[parent[state]];
        state = parent[state];
    }
    return state;
}

/* The length of a shortest token sequence, written to `path`, by which the languages of p and q differ; -1 if none.

   The last state is a sink without transitions, not final. Pairs that should be equal are merged in a union-find
   forest, breadth first. A pair skipped as already implied cannot hide a shorter difference, because the same sequence
   distinguishes one of the merged pairs that imply it, and none of these is later. */
TOKDFA_API int64_t tokdfa_first_difference(const tokdfa_rows *dfa, int32_t p, int32_t q, int32_t *path) {
    const int64_t n = dfa->n_final;
    const int32_t sink = (int32_t)(n - 1);
    int32_t *parent = malloc(5 * (size_t)n * sizeof *parent);
    if (!parent) {
        return TOKDFA_NO_MEMORY;
    }
    int32_t *left = parent + n, *right = left + n, *origin = right + n, *label = origin + n;
    for (int64_t state = 0; state < n; state++) {
        parent[state] = (int32_t)state;
    }
    left[0] = p, right[0] = q, origin[0] = -1, label[0] = -1;
    parent[p] = q;
    int64_t length = -1, tail = 1;
    for (int64_t head = 0; head < tail; head++) {
        p = left[head], q = right[head];
        if (dfa->final[p] != dfa->final[q]) {
            length = 0;
            for (int64_t i = head; origin[i] >= 0; i = origin[i]) {
                length++;
            }
            int64_t k = length;
            for (int64_t i = head; origin[i] >= 0; i = origin[i]) {
                path[--k] = label[i];
            }
            break;
        }
        int64_t i = dfa->offsets[p], j = dfa->offsets[q];
        const int64_t i_end = dfa->offsets[p + 1], j_end = dfa->offsets[q + 1];
        while (i < i_end || j < j_end) {
            bool in_p = i < i_end && (j == j_end || dfa->tokens[i] <= dfa->tokens[j]);
            bool in_q = j < j_end && (i == i_end || dfa->tokens[j] <= dfa->tokens[i]);
            int32_t token = in_p ? dfa->tokens[i] : dfa->tokens[j];
            int32_t p_next = in_p ? dfa->targets[i] : sink, q_next = in_q ? dfa->targets[j] : sink;
            i += in_p;
            j += in_q;
            int32_t p_root = find_root(parent, p_next), q_root = find_root(parent, q_next);
            if (p_root != q_root) {
                parent[p_root] = q_root;
                left[tail] = p_next, right[tail] = q_next, origin[tail] = (int32_t)head, label[tail] = token;
                tail++;
            }
        }
    }
    free(parent);
    return length;
}
