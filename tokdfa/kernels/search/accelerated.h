/* Skipping tokens at which nothing happens, if the automaton is too large for a table of the effects of tokens.

   A state is accelerated if the token read last leads to it from the idle state, too. Then the token alone determines
   the possible effects of the next one: as long as no token continues a match that the token before it has begun, each
   leads to an accelerated state. So a block of tokens is scanned as a whole for those at which something may happen
   (runs.h), and only these are read, by a cache of pairs of states and tokens. */
#ifndef TOKDFA_SEARCH_ACCELERATED_H
#define TOKDFA_SEARCH_ACCELERATED_H

#include "runs.h"

/* The state of a leftmost search between two tokens, in registers; see tokdfa_search. */
typedef struct {
    int64_t token, state, position, idle_token;
    uint64_t continuing;      /* the groups of tokens that may continue from the state */
    int64_t n_found;          /* a pending match is written after those found, until it is sure or replaced */
    int64_t first, stop, run; /* the block that has been scanned, and the next run in it */
    bool pending;
} skipping;

/* The effect of a token: its outcome, and the groups that may continue from there. */
typedef struct {
    int64_t outcome;
    uint64_t continuing;
} token_effect;

/* Write down the match of an outcome of a token that begins at a position. */
ALWAYS_INLINE void write_match(const int32_t *ids, const uint64_t *marks, int64_t token, int64_t position,
                               int64_t outcome, int64_t *found) {
    const int64_t start = position + (outcome & START_MASK) - BIAS;
    found[0] = start;
    found[1] = position + (outcome >> END_SHIFT & END_MASK);
    found[3] = token + 1;
    while (start < position) {
        position -= size_by_marks(marks[(uint32_t)ids[--token]]);
    }
    found[2] = first_token(token, start - position);
}

/* The pending match ends within the token before. Restart there, unless the next token may change the match, or the
   rest of that token has another one: then return false. */
ALWAYS_INLINE bool restart_within(const tokdfa_machine *machine, skipping *at, int64_t before, uint64_t marks,
                                  const int64_t *match) {
    const tokdfa_moves *moves = machine->moves;
    const int64_t offset = match[1] - at->position + size_by_marks(moves->marks[before]);
    const int64_t state = concerns(at->continuing, marks) ? -1 : state_after(machine, before, offset);
    if (state < 0) {
        return false;
    }
    at->n_found += 4;
    at->pending = false;
    at->state = state;
    at->continuing = moves->groups[2 * state];
    return true;
}

/* Find the effect of a token that may continue from the state. Returns false if it must be read symbol by symbol. */
ALWAYS_INLINE bool continue_with(const tokdfa_machine *machine, pair_cache cache, skipping *at, int64_t id,
                                 token_effect *effect) {
    const int64_t *entry = entry_of(machine, cache, at->state, id);
    const int64_t outcome = entry[OUTCOME];
    if (outcome == INTRICATE || (at->pending && outcome != DEAD && !(outcome & MATCH))) {
        return false;
    }
    if (outcome != DEAD) {
        *effect = (token_effect){outcome, (uint64_t)entry[0]};
        at->pending = false;
    }
    return true;
}

/* After a token in an accelerated state, write down the matches of the runs that follow, up to a run that must be
   read. */
ALWAYS_INLINE void skip_runs(const tokdfa_search *search, const tokdfa_moves *moves, const int32_t *ids, skipping *at) {
    const int64_t *positions = search->buffer + POSITIONS * RUN_ROW, *starts = search->buffer + STARTS * RUN_ROW;
    const int64_t *expected = search->buffer + EXPECTED * RUN_ROW, *matched = search->buffer + MATCHED * RUN_ROW;
    const int64_t *until = search->buffer + UNTIL * RUN_ROW;
    int64_t *found = search->found;
    for (;;) {
        while (at->first + starts[at->run] < at->token) {
            at->run++;
        }
        if (expected[at->run] < 0 || at->n_found + 8 > search->n_found) {
            break;
        }
        if (expected[at->run] > 0) {
            const int64_t index = matched[at->run];
            write_match(ids, moves->marks, at->first + index, positions[index], expected[at->run], found + at->n_found);
            at->n_found += 4;
        }
        at->token = at->first + until[at->run] + 1;
    }
    at->token = at->first + starts[at->run];
    at->position = positions[at->token - at->first];
    const uint32_t last = (uint32_t)ids[at->token - 1];
    at->state = moves->outcomes[last] >> STATE_SHIFT;
    at->continuing = moves->marks[last];
}

/* Write the state of a skip back to its search. */
ALWAYS_INLINE void end_skip(const skipping *at, tokdfa_search *search, const uint64_t *marks, const int32_t *ids) {
    const int64_t *match = search->found + at->n_found;
    search->token = at->token;
    search->state = at->state;
    search->position = at->position;
    search->pending = at->pending;
    search->idle_token = at->idle_token;
    search->block_begin = at->first;
    search->block_end = at->stop;
    search->run = at->run;
    if (at->pending) {
        search->start = match[0];
        search->end = match[1];
        search->end_token = at->token - 1;
        search->end_offset = match[1] - at->position + size_by_marks(marks[ids[at->token - 1]]);
    }
}

/* Read the token at hand, given its effect from the idle state. Returns false if it must be read symbol by symbol. */
ALWAYS_INLINE bool take_token(const tokdfa_machine *machine, const tokdfa_search *search, pair_cache cache,
                              const int32_t *ids, skipping *at, token_effect effect) {
    const uint64_t *marks = machine->moves->marks, it_is = effect.continuing;
    const int64_t idle = machine->forward->idle, id = ids[at->token];
    int64_t *found = search->found;
    if (at->pending &&
        (size_by_marks(it_is) == 0 || (found[at->n_found + 1] < at->position &&
                                 !restart_within(machine, at, ids[at->token - 1], it_is, found + at->n_found)))) {
        return false; /* a token without text ends nothing */
    }
    if (at->state == idle) {
        at->idle_token = at->token;
    } else if (concerns(at->continuing, it_is) && !continue_with(machine, cache, at, id, &effect)) {
        return false;
    }
    if (at->pending) {
        /* No better match has come: the search begins anew where this one ends, before the token. */
        at->n_found += 4;
        at->pending = false;
        at->state = idle;
        at->idle_token = at->token;
    }
    if (effect.outcome == INTRICATE || (effect.outcome & LOOSE && at->state != idle)) {
        return false;
    }
    at->state = effect.outcome >> STATE_SHIFT;
    at->continuing = effect.continuing;
    if (effect.outcome & MATCH) {
        write_match(ids, marks, at->token, at->position, effect.outcome, found + at->n_found);
        at->pending = !(effect.outcome & COMPLETE);
        at->n_found += at->pending ? 0 : 4;
    }
    at->token++;
    at->position = (search->buffer + POSITIONS * RUN_ROW)[at->token - at->first];
    if (effect.outcome & ACCELERATED) {
        skip_runs(search, machine->moves, ids, at);
    }
    return true;
}

/* Continue a leftmost search that is between two tokens with no match pending, as long as all is simple.

   Returns how many numbers have been written to `found` now. The search is then at the end or before a token that is
   not simple, or the buffer for matches is almost full; a match may be pending. */
NEVER_INLINE int64_t skip_accelerated(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *restrict ids,
                                      int64_t n, int64_t n_found) {
    const tokdfa_moves *moves = machine->moves;
    const pair_cache cache = cache_of(machine, search);
    skipping at = {.token = search->token,
                   .state = search->state,
                   .position = search->position,
                   .idle_token = search->idle_token,
                   .continuing = moves->groups[2 * search->state],
                   .n_found = n_found,
                   .first = search->block_begin,
                   .stop = search->block_end,
                   .run = search->run};
    while (at.token < n && at.n_found + 12 <= search->n_found) {
        if (at.token < at.first || at.token >= at.stop) {
            at.first = at.token;
            at.stop = least(n, at.token + RUN_BLOCK);
            at.run = 0;
            const run_block block = {ids + at.first, at.stop - at.first, moves, cache, search->buffer};
            filter_runs(&block, scan_marks(block.ids, moves->marks, block.size, at.position,
                                           block.buffer + POSITIONS * RUN_ROW, block.buffer + STARTS * RUN_ROW));
        }
        const int64_t id = ids[at.token];
        if (!take_token(machine, search, cache, ids, &at, (token_effect){moves->outcomes[id], moves->marks[id]})) {
            break;
        }
    }
    if (at.state == machine->forward->idle && !at.pending) {
        at.idle_token = at.token;
    }
    end_skip(&at, search, moves->marks, ids);
    if (at.n_found > n_found) {
        search->floor = search->found[at.n_found - 3];
    }
    return at.n_found;
}

#endif
