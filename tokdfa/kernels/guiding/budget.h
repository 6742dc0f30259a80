/* Whether a canonical stream can end within a number of ids after a state: a search depth first, with the limit going
   down by one an id. What it finds is kept by state: the fewest ids known to be needed, and a number known to be enough.

   A state whose row forbids no id can end within as few ids as any with another row, and one whose row forbids every
   id needs as many. So the search asks for the former first: where it fails, all rows have failed.

   For the text "]]]" and the ids "]" and "]]" the limit 1 fails at once, because every way out of the texts takes two
   ids (`least_ids`); with limit 2 the search tries "]]", and finds the end after "]". */
#ifndef TOKDFA_GUIDING_BUDGET_H
#define TOKDFA_GUIDING_BUDGET_H

#include "search.h"

/* More than any limit, even with one id more. */
enum { UNKNOWN_NUMBER = 1 << 30 };

/* A state on the path, the ids being tried there, and the state after the current one. */
typedef struct {
    int32_t frame[N_FRAME];
    int32_t limit;
    int32_t is_waiting; /* whether `next` is still to be decided */
    int32_t id;         /* that leads to `next` */
    guide_state next;
} attempt;

_Static_assert(sizeof(attempt) == N_ATTEMPT * sizeof(int32_t), "attempts are arrays of int32");

/* A number of ids known to be enough after a state with some row; UNKNOWN_NUMBER if there is none. */
ALWAYS_INLINE int32_t known_enough(const tokdfa_guide_cache *cache, guide_state at, int32_t row) {
    at.row = row;
    const int64_t slot = find_state(cache, at);
    return cache->keys[4 * slot] != 0 && cache->enough[slot] != 0 ? cache->enough[slot] : UNKNOWN_NUMBER;
}

/* A number of ids known to be enough after a state; 0 at the end of a text. */
static int32_t enough_after(const tokdfa_guide *guide, guide_state at) {
    if (is_end(guide, at.split, at.text)) {
        return 0;
    }
    const int32_t own = known_enough(guide->cache, at, at.row), any = known_enough(guide->cache, at, EVERY_ROW);
    return own < any ? own : any;
}

/* Whether a stream can end within a number of ids, as far as it is known without a search. */
static int known_within(const tokdfa_guide *guide, guide_state at, int32_t limit) {
    const tokdfa_guide_cache *cache = guide->cache;
    if (limit >= 0 && is_end(guide, at.split, at.text)) {
        return YES;
    }
    if (limit <= 0 || cache->least_ids[at.text] > limit) {
        return NOWHERE;
    }
    if (enough_after(guide, at) <= limit) {
        return YES;
    }
    if (known_needed(cache, at, at.row) > limit || known_needed(cache, at, NO_ROW) > limit) {
        return NOWHERE;
    }
    return STILL_OPEN;
}

/* Whether a stream can end within a number of ids, known without a search, or by that for any end at all. */
static int easily_within(const tokdfa_guide *guide, guide_state at, int32_t limit) {
    const int known = known_within(guide, at, limit);
    const int status = known == STILL_OPEN ? goes_on(guide, at) : known;
    return known == STILL_OPEN && status == YES ? known_within(guide, at, limit) : status;
}

/* Put a state, for which no more is known, on the path. Returns YES, or the reason why it cannot be put there. */
static int put_attempt(const tokdfa_guide *guide, attempt *path, int64_t height, guide_state at, int32_t limit) {
    const int64_t slot = enter_state(guide->cache, at);
    if (slot < 0 || height == guide->cache->n_trail) {
        return TABLE_FULL;
    }
    path[height] = (attempt){{(int32_t)slot, 0, NEAR, 0, 0}, limit, 0, -1, at};
    return YES;
}

/* Move on from the last state of the path. Returns the change of its height, or the reason why it is not known. */
static int attempt_step(const tokdfa_guide *guide, attempt *path, int64_t height, int *change) {
    tokdfa_guide_cache *cache = guide->cache;
    attempt *top = path + height - 1;
    const int32_t slot = top->frame[SLOT], left = top->limit - 1;
    *change = 0;
    if (!top->is_waiting) {
        const int status = next_state(guide, state_at(cache, slot), top->frame, left, &top->next, &top->id);
        if (status < 0) {
            return status;
        }
        if (status == NOWHERE) {
            cache->needed[slot] = top->limit + 1;
            *change = -1;
            return YES;
        }
        top->is_waiting = 1;
    }
    const int known = easily_within(guide, top->next, left);
    if (known == STILL_OPEN) {
        guide_state first = top->next;
        first.row = NO_ROW;
        if (known_within(guide, first, left) != STILL_OPEN) {
            first = top->next;
        }
        *change = 1;
        return put_attempt(guide, path, height, first, left);
    }
    if (known == YES) {
        const int32_t found = 1 + enough_after(guide, top->next);
        if (cache->enough[slot] == 0 || found < cache->enough[slot]) {
            cache->enough[slot] = found;
        }
        *hint_of(guide, state_at(cache, slot)) = top->id;
        *change = -1;
        return YES;
    }
    top->is_waiting = 0;
    return known < 0 ? known : YES;
}

/* Search with one limit. Returns YES once more is known, or the reason why it is not. */
static int search_within(const tokdfa_guide *guide, guide_state at, int32_t limit) {
    attempt *path = (attempt *)guide->cache->attempts;
    int64_t height = 1, n_tried = 0;
    int status = put_attempt(guide, path, 0, at, limit);
    while (status == YES && height > 0) {
        int change;
        status = attempt_step(guide, path, height, &change);
        height += change;
        n_tried += change > 0;
        if (n_tried > guide->cache->most_searched) {
            return TOO_MANY;
        }
    }
    return status;
}

/* Whether a stream can end within a number of ids after a state: YES, NOWHERE, or the reason why this is not known.
   Smaller limits are tried before, so that what is found is nearly as short as can be. */
static int within(const tokdfa_guide *guide, guide_state at, int32_t limit) {
    int known = easily_within(guide, at, limit);
    int32_t more = 0;
    while (known == STILL_OPEN) {
        const int32_t least = guide->cache->least_ids[at.text], needed = known_needed(guide->cache, at, at.row);
        const int32_t low = (needed > least ? needed : least) + more;
        const int status = search_within(guide, at, low < limit ? low : limit);
        if (status != YES) {
            return status;
        }
        known = known_within(guide, at, limit);
        more = 2 * more + 1;
    }
    return known;
}

#endif
