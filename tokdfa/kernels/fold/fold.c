/* Folding a dictionary, rule by rule, into the universal token DFA.

   State 0 is the initial state, and the k-th live rule makes state k. Whether a state allows a token is decided by
   going back in time; see common/back_in_time.h. */
#include "../common/back_in_time.h"
#include "api.h"

enum { LEFT_DEAD = -2, RIGHT_DEAD = -3 };

/* Fold all rules. All arrays are filled with -1, except `made`, with 0; `state` and `birth` are 0 for symbols. Returns
   the number of states. */
TOKDFA_API int64_t tokdfa_fold(tokdfa_fold_job *job) {
    int32_t *birth = job->birth, *head = job->head, *tail = job->tail, *state = job->state, *made = job->made;
    const tokdfa_folding so_far = {job->pairs, job->n_pairs, made, birth, head, tail};
    int64_t n_states = 1;
    for (int64_t index = 0; index < job->n_left; index++) {
        int32_t u = job->left[index], v = job->right[index], uv = job->product[index];
        if (birth[u] < 0 || birth[v] < 0) {
            job->blocker[index] = birth[u] < 0 ? LEFT_DEAD : RIGHT_DEAD;
            continue;
        }
        int64_t culprit = forbidding_state(&so_far, u, v, n_states - 1);
        if (culprit > 0) {
            job->blocker[index] = job->rule[culprit];
            continue;
        }
        int64_t slot = pair_slot(job->pairs, job->n_pairs, pair_key(u, v));
        job->pairs[slot] = pair_key(u, v);
        made[slot] = (int32_t)n_states;
        job->parent[n_states] = state[u];
        job->removed[n_states] = v;
        job->rule[n_states] = (int32_t)index;
        birth[uv] = (int32_t)n_states;
        head[uv] = u;
        tail[uv] = v;
        /* For u = v the product leads to the state to which u led before this rule. */
        state[uv] = state[v];
        state[u] = (int32_t)n_states;
        n_states++;
    }
    return n_states;
}

TOKDFA_API int64_t tokdfa_forbidding_state(const tokdfa_folding *folding, int64_t u, int64_t v, int64_t time) {
    return forbidding_state(folding, u, v, time);
}

/* Order the tokens such that the tokens that one rule forbids form an interval. */
TOKDFA_API void tokdfa_arrange(const tokdfa_arrangement *job) {
    const int32_t *head = job->head, *product = job->product;
    int32_t *below = job->below, *offset = job->offset, *position = job->position;
    for (int64_t state = job->n_removed - 1; state > 0; state--) {
        int32_t uv = product[state];
        offset[uv] = below[head[uv]];
        below[head[uv]] += 1 + below[uv];
        job->width[state] = 1 + below[job->removed[state]];
    }
    int32_t last = 0;
    for (int64_t symbol = 0; symbol < job->n_symbols; symbol++) {
        position[symbol] = last;
        last += 1 + below[symbol];
    }
    for (int64_t state = 1; state < job->n_removed; state++) {
        int32_t uv = product[state];
        position[uv] = position[head[uv]] + 1 + offset[uv];
    }
    for (int64_t token = job->n_symbols; token < job->n_birth; token++) {
        if (job->birth[token] < 0) {
            position[token] = last++;
        }
    }
}

/* The number of states above each one. */
TOKDFA_API void tokdfa_depths(const int32_t *parent, int64_t n_states, int32_t *depth) {
    depth[0] = 0;
    for (int64_t state = 1; state < n_states; state++) {
        depth[state] = depth[parent[state]] + 1;
    }
}
