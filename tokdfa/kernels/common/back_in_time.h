/* The pair test by going back in time.

   At every time one pair of tokens meets at the boundary between the text read and the text to come. A live rule merges
   across the boundary iff that pair is its own, and going back the younger token falls into its parts first. */
#ifndef TOKDFA_BACK_IN_TIME_H
#define TOKDFA_BACK_IN_TIME_H

#include "../fold/api.h"
#include "pair_slot.h"

/* Look at the pair that meets at the boundary at a time, and go back to the one before it. Returns the state with the
   rule that merges that pair, 0 if no pair before it is another one, and -1 if there is a pair to look at. */
ALWAYS_INLINE int64_t look_back(const tokdfa_folding *folding, int64_t *u, int64_t *v, int64_t *time) {
    int64_t state = folding->made[pair_slot(folding->pairs, folding->n_pairs, pair_key(*u, *v))];
    if (state > 0 && state <= *time) {
        return state;
    }
    int64_t born_u = folding->birth[*u], born_v = folding->birth[*v];
    if (born_u > born_v) {
        *time = born_u - 1;
        *u = folding->tail[*u];
    } else if (born_v > 0) {
        /* Up to and with the rule that made v: if v is uu, it would have taken this u first. */
        *time = born_v;
        *v = folding->head[*v];
    } else {
        return 0;
    }
    return -1;
}

/* The state up to `time` with the rule that merges across the boundary between u and v; 0 when there is none. Both
   tokens are live, and u is not younger than `time`. */
ALWAYS_INLINE int64_t forbidding_state(const tokdfa_folding *folding, int64_t u, int64_t v, int64_t time) {
    while (folding->birth[v] > time) {
        v = folding->head[v];
    }
    int64_t state;
    do {
        state = look_back(folding, &u, &v, &time);
    } while (state < 0);
    return state;
}

/* Whether some live rule merges across the boundary between two live tokens. */
ALWAYS_INLINE bool merges_across(const tokdfa_folding *folding, int64_t u, int64_t v) {
    return forbidding_state(folding, u, v, folding->n_pairs) > 0;
}

#endif
