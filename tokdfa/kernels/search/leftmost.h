/* Reading a chunk of ids token by token, in search of leftmost matches. */
#ifndef TOKDFA_SEARCH_LEFTMOST_H
#define TOKDFA_SEARCH_LEFTMOST_H

#include "accelerated.h"
#include "by_class.h"
#include "search.h"

/* The interval, in tokens read beyond a pending match, at which it is recorded that they lead to nothing. */
enum { STRIDE = 16 };

/* A chunk of ids, and the machine and search for it; constant during a call. */
typedef struct {
    const tokdfa_machine *machine;
    const tokdfa_spelled *text;
    const tokdfa_forward *forward;
    const tokdfa_moves *moves;
    tokdfa_search *search;
    const int32_t *ids;
    int64_t n;                                   /* the number of ids */
    int64_t options;                             /* ALIGNED, FINAL */
    uintptr_t ahead;                             /* the ids that are fetched meanwhile; see scan_block */
    int64_t n_states, n_classes, boundary, idle; /* of the forward automaton and the moves */
} chunk;

/* The state of a search, in registers; see tokdfa_search. */
typedef struct {
    int64_t token, offset, state, position;
    int64_t end_token, end_offset, end, start, last;
    int64_t floor, idle_token;
    int64_t n_found, n_passed;
    bool pending;
} cursor;

ALWAYS_INLINE cursor cursor_of(const tokdfa_search *search, int64_t n_found) {
    return (cursor){.token = search->token,
                    .offset = search->offset,
                    .state = search->state,
                    .position = search->position,
                    .end_token = search->end_token,
                    .end_offset = search->end_offset,
                    .end = search->end,
                    .start = search->start,
                    .last = search->last,
                    .floor = search->floor,
                    .idle_token = search->idle_token,
                    .n_found = n_found,
                    .pending = search->pending};
}

ALWAYS_INLINE void keep_cursor(const cursor *at, tokdfa_search *search) {
    search->token = at->token;
    search->offset = at->offset;
    search->state = at->state;
    search->position = at->position;
    search->pending = at->pending;
    search->end_token = at->end_token;
    search->end_offset = at->end_offset;
    search->start = at->start;
    search->end = at->end;
    search->last = at->last;
    search->floor = at->floor;
    search->idle_token = at->idle_token;
}

/* Go back from the end of a match, at an offset of a token, by a number of bytes. */
ALWAYS_INLINE void step_back(const chunk *c, cursor *at, int64_t delay) {
    while (delay > at->end_offset) {
        delay -= at->end_offset;
        at->end_offset = length_of(c->text, c->ids[--at->end_token]);
    }
    at->end_offset -= delay;
}

/* Skip tokens at which nothing happens, and those with simple matches. */
ALWAYS_INLINE void skip_tokens(const chunk *c, cursor *at) {
    tokdfa_search *search = c->search;
    if (c->n_classes > 0) {
        token_position here = {at->token, at->state, at->position, at->idle_token};
        skip_by_class(&here, search, c->moves, c->idle, c->ids, c->n, c->ahead);
        at->token = here.token;
        at->state = here.state;
        at->position = here.position;
        at->idle_token = here.idle_token;
    } else if (c->moves->n_runs > 0) {
        search->token = at->token;
        search->state = at->state;
        search->position = at->position;
        search->floor = at->floor;
        search->idle_token = at->idle_token;
        *at = cursor_of(search, skip_accelerated(c->machine, search, c->ids, c->n, at->n_found));
        at->offset = 0;
        at->last = 0;
    }
}

/* Look at the token after a pending match before it is read. The state becomes 0 if it cannot improve the match.
   Returns whether the token is skipped, as it changes nothing but the state. */
ALWAYS_INLINE bool skip_beyond(const chunk *c, cursor *at, int64_t id, int64_t length) {
    tokdfa_search *search = c->search;
    const int64_t n_classes = c->n_classes;
    if ((search->first + at->token) % STRIDE == 0) {
        const uint64_t key = (uint64_t)((search->first + at->token) * c->n_states + at->state);
        if (search->has_futile &&
            (uint64_t)search->futile[(key * HASH) >> 20 & ((uint64_t)search->n_futile - 1)] == key) {
            at->state = 0;
        } else if (at->n_passed < search->n_passed) {
            search->passed[at->n_passed++] = (int64_t)key;
        }
    }
    if (n_classes > 0 && at->state > 0) {
        const int32_t following = c->moves->entries[at->state * n_classes + (c->moves->properties[id] & CLASS_MASK)];
        if (!(following & 3)) {
            at->state = following / (4 * n_classes);
            at->position += length;
            at->token++;
            return true;
        }
        if (following & 2) {
            /* Most often a match ends where the next token begins. */
            at->state = 0;
        }
    } else if (c->boundary < 0 && length > 0 &&
               !((uint64_t)info_of(c->forward, at->state)->alive >> (first_column(c->text, c->forward, id) & 63) & 1)) {
        at->state = 0;
    }
    return false;
}

/* In the idle state, take the match that is known of a token. Returns whether there is one. */
ALWAYS_INLINE bool take_outcome(const chunk *c, cursor *at, int64_t id, int64_t length) {
    const int64_t outcome = c->moves->n_outcomes > 0 ? c->moves->outcomes[id] : 0;
    if (outcome <= 0 || !(outcome & MATCH)) {
        return false;
    }
    at->start = at->position + (outcome & START_MASK) - BIAS;
    at->end_offset = outcome >> END_SHIFT & END_MASK;
    at->end = at->position + at->end_offset;
    at->state = outcome >> STATE_SHIFT;
    at->position += length;
    at->token++;
    if (outcome & COMPLETE) {
        int64_t *match = c->search->found + at->n_found;
        match[0] = at->start;
        match[1] = at->end;
        match[2] = first_token(at->token - 1, at->start - at->position + length);
        match[3] = at->token;
        at->n_found += 4;
        at->floor = at->end;
    } else {
        at->pending = true;
        at->end_token = at->token - 1;
        at->last = 0;
    }
    return true;
}

/* Read the symbols of a token from the offset on, as far as the search is not dead, and note the last match. */
ALWAYS_INLINE void read_token_symbols(const chunk *c, cursor *at, int64_t length) {
    const tokdfa_forward *forward = c->forward;
    const int64_t id = c->ids[at->token], boundary = c->boundary, special = is_special(c->text, id);
    const uint8_t *bytes = c->text->bytes + begin_of(c->text, id);
    const int64_t stop = (special ? 1 : length) + (boundary >= 0);
    int64_t offset = at->offset, state = at->state;
    while (offset < stop && state > 0) {
        const bool at_boundary = boundary >= 0 && offset == stop - 1;
        state = target(forward, state, at_boundary ? boundary : forward->column_of[special ? EDGE : bytes[offset]]);
        offset++;
        const tokdfa_state_info *info = info_of(forward, state);
        int64_t delay = info->delay;
        if (delay >= 0) {
            /* With a delay the match ended before the symbol that ends with the byte just read. */
            at->end_token = at->token;
            at->end_offset = at_boundary ? length : offset;
            if (delay > 0) {
                at->end_offset--;
                delay--;
            }
            at->end = at->position + at->end_offset - delay;
            step_back(c, at, delay);
            at->last = state;
            at->start = at->end - info->fixed;
            at->pending = true;
            at->n_passed = 0;
            if (info->alive == 0) {
                state = 0;
            }
        }
    }
    at->state = state;
}

/* Read the next token. Returns false if no better match than the pending one can come any more. */
ALWAYS_INLINE bool read_next(const chunk *c, cursor *at) {
    const int64_t id = c->ids[at->token], length = length_of(c->text, id);
    if (at->offset == 0 && at->pending) {
        if (skip_beyond(c, at, id, length)) {
            return true;
        }
    } else if (at->offset == 0 && at->state == c->idle) {
        at->idle_token = at->token;
        if (take_outcome(c, at, id, length)) {
            return true;
        }
    }
    read_token_symbols(c, at, length);
    if (at->state > 0) {
        at->position += length;
        at->token++;
        at->offset = 0;
        return true;
    }
    return false;
}

/* At the end of the stream, note the match that ends there. Returns the kind of the symbol after it; -1 for none. */
ALWAYS_INLINE int64_t end_stream(const chunk *c, cursor *at) {
    const int64_t ending = info_of(c->forward, at->state)->ending;
    if (ending < 0) {
        return -1;
    }
    at->pending = true;
    at->end_token = at->token;
    at->end_offset = 0;
    at->end = at->start = at->position - (ending & 15);
    step_back(c, at, ending & 15);
    return ending >> 4;
}

#endif
