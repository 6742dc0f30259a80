/* A 4-way set-associative cache of the outcomes of tokens in states that are not idle. */
#ifndef TOKDFA_SEARCH_PAIR_CACHE_H
#define TOKDFA_SEARCH_PAIR_CACHE_H

#include "outcomes.h"
#include "search.h"

/* An entry is two numbers: the groups of tokens that may continue after the pair, with a tag of the pair in the bits
   above them, and its outcome. Four entries share a line of the processor's cache; free ones come last. The index of a
   line and a tag make up the whole number of a pair. */
enum { OUTCOME = 1, PAIR_ENTRY = 2, LINE = 8, TAG_SHIFT = 40, TAG_BITS = 24, FREE_PAIR = -1 };

/* Owned by the search whose `cache` it is. */
typedef struct {
    int64_t *entries;
    uint64_t n_ids; /* the number of ids: a pair has the number state * n_ids + id */
    uint64_t mask;  /* of the numbers of pairs, mixed_pair */
} pair_cache;

/* 1 if a token of these marks is of one of the groups, otherwise 0. */
ALWAYS_INLINE uint64_t concerns(uint64_t groups, uint64_t marks) {
    return groups >> (marks >> GROUP_SHIFT & GROUP_MASK) & 1;
}

ALWAYS_INLINE int64_t size_by_marks(uint64_t marks) {
    return (int64_t)(marks >> SIZE_OF_MARKS);
}

ALWAYS_INLINE pair_cache cache_of(const tokdfa_machine *machine, const tokdfa_search *search) {
    const uint64_t lines = (uint64_t)search->n_cache / LINE;
    return (pair_cache){search->cache, (uint64_t)machine->text->n_starts - 1, (lines << TAG_BITS) - 1};
}

/* The number of a pair, mixed_pair: multiplied by an odd number. */
ALWAYS_INLINE uint64_t mixed_pair(pair_cache cache, int64_t state, int64_t id) {
    return ((uint64_t)state * cache.n_ids + (uint64_t)id) * HASH & cache.mask;
}

ALWAYS_INLINE int64_t *line_of(pair_cache cache, uint64_t pair) {
    return cache.entries + (pair >> TAG_BITS) * LINE;
}

/* 1 if an entry is the pair's, otherwise 0. */
ALWAYS_INLINE uint64_t has_tag(const int64_t *entry, uint64_t pair) {
    const uint64_t differs = ((uint64_t)*entry >> TAG_SHIFT ^ pair) << (64 - TAG_BITS) >> 1;
    return (differs - 1) >> 63;
}

/* The entry of a pair in its line; the last one if the pair is not cached. */
ALWAYS_INLINE int64_t *entry_in(int64_t *line, uint64_t pair) {
    const uint64_t found = has_tag(line, pair) | has_tag(line + PAIR_ENTRY, pair) << 1 |
                           has_tag(line + 2 * PAIR_ENTRY, pair) << 2;
    return line + PAIR_ENTRY * trailing_zeros(found | 8);
}

/* Compute a pair that is not cached, and return its entry. */
NEVER_INLINE int64_t *add_pair(const tokdfa_machine *machine, pair_cache cache, int64_t state, int64_t id) {
    const uint64_t pair = mixed_pair(cache, state, id);
    int64_t *entry = line_of(cache, pair), *last = entry + LINE - PAIR_ENTRY;
    /* In a full line the last entry is replaced. */
    while (entry < last && entry[0] != FREE_PAIR) {
        entry += PAIR_ENTRY;
    }
    const int64_t outcome = outcome_of(machine, state, id);
    const bool pending = (outcome & (MATCH | COMPLETE)) == MATCH;
    const uint64_t continuing = machine->moves->groups[2 * (greatest(outcome, 0) >> STATE_SHIFT) + pending];
    entry[0] = (int64_t)(continuing | pair << TAG_SHIFT);
    entry[OUTCOME] = outcome;
    return entry;
}

/* The entry of a pair, which is computed if it is not cached. */
ALWAYS_INLINE const int64_t *entry_of(const tokdfa_machine *machine, pair_cache cache, int64_t state, int64_t id) {
    const uint64_t pair = mixed_pair(cache, state, id);
    const int64_t *entry = entry_in(line_of(cache, pair), pair);
    return has_tag(entry, pair) ? entry : add_pair(machine, cache, state, id);
}

#endif
