/* The ids read that a search keeps. */
#ifndef TOKDFA_SEARCH_RETENTION_H
#define TOKDFA_SEARCH_RETENTION_H

#include "search.h"

/* The number of bytes that are kept before the first match that may come: the length of the longest symbol. */
enum { CONTEXT = 4 };

/* Forget the ids of a chunk that no later match needs, and move the others to its front. Returns their number.

   Of the context only the last symbol is sure to be whole, so a search backwards must not find a match that begins in
   it: the floor rises to the first token in which one may begin. */
ALWAYS_INLINE int64_t forget(const tokdfa_spelled *text, tokdfa_search *search, int32_t *ids, int64_t n,
                             int64_t longest) {
    int64_t keep = search->idle_token;
    if (longest > 0) {
        int64_t token = search->pending ? search->end_token : search->token, left = longest;
        while (token > keep && left >= 0) {
            left -= length_of(text, ids[--token]);
        }
        keep = greatest(keep, token);
    }
    search->settled = search->first + keep;
    if (longest == 0) {
        int64_t begin = search->position;
        for (int64_t token = keep; token < search->token; token++) {
            begin -= length_of(text, ids[token]);
        }
        search->floor = greatest(search->floor, begin);
    }
    for (int64_t context = 0; keep > 0 && context < CONTEXT;) {
        const int32_t id = ids[--keep];
        context += is_special(text, id) ? CONTEXT : length_of(text, id);
    }
    if (keep == 0) {
        return n; /* more of a match that began long ago */
    }
    memmove(ids, ids + keep, (size_t)(n - keep) * sizeof *ids);
    search->first += keep;
    search->token -= keep;
    search->end_token -= keep;
    search->idle_token -= keep;
    search->run = search->block_begin = search->block_end = 0;
    return n - keep;
}

/* The token after the last one of a match that ends at an offset in a token, counted from the first of the stream.
   Tokens without text that lie between do not count. */
ALWAYS_INLINE int64_t token_after(const tokdfa_spelled *text, const int32_t *ids, int64_t token, int64_t offset) {
    token += offset > 0;
    while (length_of(text, ids[token - 1]) == 0) {
        token--;
    }
    return token;
}

/* Count the tokens of matches from the beginning of the stream. */
ALWAYS_INLINE void count_from_first(int64_t *found, int64_t n_found, int64_t first) {
    for (int64_t i = 0; first > 0 && i < n_found; i += 4) {
        found[i + 2] += first;
        found[i + 3] += first;
    }
}

#endif
