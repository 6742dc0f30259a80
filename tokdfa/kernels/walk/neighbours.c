/* The states of neighbouring ids of a text, and the parts of it between cuts in which something is in doubt. */
#include "neighbours.h"
#include "pair_cache.h"

enum { NO_ROOM = -1, IS_UNKNOWN = -2, BLOCK = 256 };

/* Whether the text is cut after an id, given its kinds and the kinds of the id before it. Nothing may be left of spaces
   at the beginning of a text, and nothing is put before an empty text. */
ALWAYS_INLINE bool is_cut(uint8_t state, uint8_t kinds, uint8_t before) {
    return (state == CUT) & !(kinds & before & KIND_BLANK);
}

/* The state of two ids, where tokens may go across a cut between byte tokens. */
ALWAYS_INLINE uint8_t between_bytes(uint8_t state, uint8_t left, uint8_t right) {
    return (state == CUT) & left & right & KIND_BYTE ? FINE : state;
}

/* Write down the cached states of the neighbouring characters of ids, and in `seen` all kinds of ids. Returns how many
   pairs of characters are not cached. */
TOKDFA_API int64_t tokdfa_by_characters(const tokdfa_neighbours *tables, const tokdfa_pair_cache *cache,
                                        const int32_t *ids, int64_t n, uint8_t *states, uint8_t *seen) {
    int64_t n_missing = 0;
    int32_t last = n ? tables->last[ids[0]] : 0;
    uint8_t left = n ? tables->kinds[ids[0]] : 0;
    *seen = left;
    for (int64_t i = 0; i + 1 < n; i++) {
        const int32_t id = ids[i + 1];
        const uint8_t right = tables->kinds[id];
        const uint8_t state = cached_value(cache, last, tables->first[id]);
        n_missing += state == NOT_CACHED;
        states[i] = between_bytes(state, left, right);
        last = tables->last[id];
        left = right;
        *seen |= right;
    }
    return n_missing;
}

/* Change the n - 1 states of neighbouring ids: tokens may go across a cut between byte tokens. */
TOKDFA_API void tokdfa_between_bytes(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n, uint8_t *states) {
    for (int64_t i = 0; i + 1 < n; i++) {
        states[i] = between_bytes(states[i], tables->kinds[ids[i]], tables->kinds[ids[i + 1]]);
    }
}

/* Change the n - 1 states of neighbouring ids: next to a special token more is in doubt. */
TOKDFA_API void tokdfa_beside_specials(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n,
                                       uint8_t *states) {
    for (int64_t i = 0; i + 1 < n; i++) {
        const bool is_beside = (tables->kinds[ids[i]] | tables->kinds[ids[i + 1]]) & KIND_SPECIAL;
        if (is_beside && (tables->touches || states[i] == FINE)) {
            states[i] = DOUBT;
        }
    }
}

/* Find the values of neighbours that are FINE in a cache. Returns how many are not there, which are NOT_CACHED. */
TOKDFA_API int64_t tokdfa_find_inner_pairs(const tokdfa_pair_cache *cache, const int32_t *ids, int64_t n,
                                           uint8_t *states) {
    int64_t n_missing = 0, places[BLOCK];
    for (int64_t low = 0; low + 1 < n; low += BLOCK) {
        const int64_t stop = least(low + BLOCK, n - 1);
        int64_t n_inner = 0;
        /* PERF: which neighbours are FINE cannot be predicted, and the cache is large: it is read for many at once. */
        for (int64_t i = low; i < stop; i++) {
            places[n_inner] = i;
            n_inner += states[i] == FINE;
        }
        for (int64_t k = 0; k < n_inner; k++) {
            PREFETCH(entries_of(cache, pair_of(ids[places[k]], ids[places[k] + 1])));
        }
        for (int64_t k = 0; k < n_inner; k++) {
            const uint8_t state = cached_value(cache, ids[places[k]], ids[places[k] + 1]);
            states[places[k]] = state;
            n_missing += state == NOT_CACHED;
        }
    }
    return n_missing;
}

/* Mark the ids, except for the first, before which the text is cut. */
TOKDFA_API void tokdfa_mark_cuts(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n, const uint8_t *states,
                                 int begins, uint8_t *marks) {
    uint8_t before = begins ? KIND_BLANK : 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        const uint8_t kinds = tables->kinds[ids[i]];
        marks[i] = is_cut(states[i], kinds, before);
        before = kinds;
    }
}

/* Write down the parts between cuts in which an id is not alone in its text, or neighbours are in doubt; the last one
   in any case, and the first one of a text that begins with the ids. Returns their number; -1 if `parts` is full, and
   -2 at an id that is NOT_LEARNED. */
TOKDFA_API int64_t tokdfa_doubtful_parts(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n,
                                         const uint8_t *states, int begins, int64_t *parts, int64_t room) {
    int64_t n_parts = 0, first = 0;
    bool is_doubtful = begins;
    uint8_t before = begins ? KIND_BLANK : 0;
    for (int64_t i = 0; i < n; i++) {
        const uint8_t kinds = tables->kinds[ids[i]], alone = tables->alone[ids[i]];
        const bool is_last = i + 1 == n, ends = is_last || is_cut(states[i], kinds, before);
        is_doubtful |= is_last | (alone != ALONE);
        if (UNLIKELY(alone == NOT_LEARNED)) {
            return IS_UNKNOWN;
        }
        /* PERF: that a part ends cannot be predicted, that it is doubtful can. */
        if (UNLIKELY(ends & is_doubtful)) {
            if (n_parts == room) {
                return NO_ROOM;
            }
            parts[2 * n_parts] = first;
            parts[2 * n_parts++ + 1] = i + 1;
        }
        first = ends ? i + 1 : first;
        is_doubtful = !ends && (is_doubtful | (states[i] == DOUBT));
        before = kinds;
    }
    return n_parts;
}
