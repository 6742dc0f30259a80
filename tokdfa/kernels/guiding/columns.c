/* The trie of the ids of a tokenizer, merged by columns of bytes. */
#include "../common/base.h"
#include "api.h"

/* A node ends where the next one comes that is not deeper. */
static void find_ends(tokdfa_merge_job *job, int64_t n) {
    int32_t *stack = job->stack, *depth = job->merged_depth;
    int64_t height = 0;
    for (int64_t node = 0; node < n; node++) {
        while (height > 0 && depth[stack[height - 1]] >= depth[node]) {
            job->merged_end[stack[--height]] = (int32_t)node;
        }
        stack[height++] = (int32_t)node;
    }
    while (height > 0) {
        job->merged_end[stack[--height]] = (int32_t)n;
    }
}

/* Merge the nodes of a trie that the same columns lead to, level by level. Returns the number of nodes, which are in
   depth-first order. */
TOKDFA_API int64_t tokdfa_merge_nodes(tokdfa_merge_job *job) {
    /* A list of nodes is its first one; the others follow each other. The nodes of one list become one node. */
    int32_t lists[256], *node_of = job->node_of, *following = job->following, *stack = job->stack;
    int64_t n = 0, height = 0;
    for (int64_t node = 0; node < job->n_column; node++) {
        node_of[node] = -1;
    }
    for (int64_t k = 0; k < job->n_is_dead; k++) {
        lists[k] = -1;
    }
    if (job->n_column > 0) {
        stack[height++] = 0, following[0] = -1;
    }
    while (height > 0) {
        const int32_t list = stack[--height];
        const int32_t made = (int32_t)n++;
        /* The depth of a list that waits is kept where its first node will not be looked for before it is merged. */
        const int32_t depth = node_of[list] < -1 ? -2 - node_of[list] : 0;
        job->merged_column[made] = job->column[list];
        job->merged_depth[made] = depth;
        for (int32_t node = list; node >= 0; node = following[node]) {
            node_of[node] = made;
            for (int64_t child = node + 1; child < job->end[node]; child = job->end[child]) {
                const int32_t its = job->column[child];
                if (!job->is_dead[its]) {
                    following[child] = lists[its];
                    lists[its] = (int32_t)child;
                }
            }
        }
        for (int64_t k = job->n_is_dead - 1; k >= 0; k--) {
            if (lists[k] >= 0) {
                node_of[lists[k]] = -2 - (depth + 1);
                stack[height++] = lists[k];
                lists[k] = -1;
            }
        }
    }
    find_ends(job, n);
    return n;
}
