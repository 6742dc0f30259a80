/* Searching a stream of ids for the leftmost matches of a pattern over its text, none overlapping another.

   Ids are read one token at a time as long as nothing happens: for each state and each class of tokens, a table has the
   state that the token leads to, and whether something happens on the way. If something does, the token's symbols are
   read one by one. That finds the end of a match; its beginning is found by reading backwards from there. */
#include "../common/wide.h"
#include "at_rest.h"
#include "backwards.h"
#include "by_class.h"
#include "kept.h"
#include "search.h"

/* The interval, in tokens read beyond a pending match, at which it is remembered that they lead to nothing. */
enum { STRIDE = 16 };

/* The place of a search, in registers; see tokdfa_search. */
typedef struct {
    int64_t token, offset, state, position;
    int64_t end_token, end_offset, end, start, last;
    int64_t floor, idle_token;
    bool pending;
} cursor;

/* Go back from the end of a match, at an offset of a token, by a number of bytes. */
ALWAYS_INLINE void step_back(cursor *at, const tokdfa_spelled *text, const int32_t *ids, int64_t delay) {
    while (delay > at->end_offset) {
        delay -= at->end_offset;
        at->end_offset = length_of(text, ids[--at->end_token]);
    }
    at->end_offset -= delay;
}

/* Read the symbols of a token from the offset on, as far as the search is not dead, and note the last match. */
ALWAYS_INLINE void read_symbols(cursor *at, const tokdfa_spelled *text, const tokdfa_forward *forward,
                                const int32_t *ids, int64_t length, int64_t *n_passed) {
    const int64_t id = ids[at->token], boundary = forward->boundary, special = is_special(text, id);
    const uint8_t *bytes = text->bytes + begin_of(text, id);
    const int64_t stop = (special ? 1 : length) + (boundary >= 0);
    int64_t place = at->offset, state = at->state;
    while (place < stop && state > 0) {
        const bool at_boundary = boundary >= 0 && place == stop - 1;
        state = target(forward, state, at_boundary ? boundary : forward->column_of[special ? EDGE : bytes[place]]);
        place++;
        const tokdfa_told *told = told_of(forward, state);
        int64_t delay = told->delay;
        if (delay >= 0) {
            /* With a delay the match ended before the symbol whose last byte has been read now. */
            at->end_token = at->token;
            at->end_offset = at_boundary ? length : place;
            if (delay > 0) {
                at->end_offset--;
                delay--;
            }
            at->end = at->position + at->end_offset - delay;
            step_back(at, text, ids, delay);
            at->last = state;
            at->start = at->end - told->fixed;
            at->pending = true;
            *n_passed = 0;
            if (told->alive == 0) {
                state = 0;
            }
        }
    }
    at->state = state;
}

/* Find where a match begins whose length is not fixed: the farthest place, not before the floor. Returns the token, with
   the place in it. */
ALWAYS_INLINE int64_t find_start(cursor *at, const tokdfa_spelled *text, const tokdfa_backward *backward,
                                 const int32_t *ids, int64_t right, bool aligned) {
    const int64_t n_columns = backward->n_classes + 3;
    const bool delayed = backward->delayed;
    place_in_ids here = {at->end_token, at->end_offset};
    int64_t position = at->end, start_token = first_token(at->end_token, at->end_offset);
    int64_t state = backward->initial[right];
    while (state > 0) {
        place_in_ids next = here;
        int64_t length = 1, symbol = 0x80;
        if (here.offset > 0) {
            symbol = text->bytes[begin_of(text, ids[here.token]) + here.offset - 1];
        }
        if (symbol < 0x80) {
            symbol = backward->class_of[symbol];
            next.offset--;
        } else {
            symbol = symbol_before(ids, text, backward, &next, &length);
        }
        const bool at_start = symbol < 0;
        state = backward->table[state * n_columns + (at_start ? backward->n_classes + 1 : symbol)];
        if (backward->accepts[state]) {
            /* With assertions it takes the symbol before the match to know that it begins after that symbol. */
            const int64_t start = delayed ? position : position - length;
            const place_in_ids where = delayed ? here : next;
            if (start >= at->floor && !(aligned && where.offset > 0)) {
                at->start = start;
                start_token = first_token(where.token, where.offset);
            }
        }
        here = next;
        position -= length;
        if (at_start || position < at->floor || (position == at->floor && !delayed)) {
            break;
        }
    }
    return start_token;
}

/* Find the matches in a chunk of ids, and write them down as far as there is room. For `ahead` see survey. */
NEVER_INLINE int64_t search_chunk(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *ids, int64_t n,
                                  int64_t options, uintptr_t ahead) {
    const tokdfa_spelled *text = machine->text;
    const tokdfa_forward *forward = machine->forward;
    const tokdfa_moves *moves = machine->moves;
    const int64_t idle = forward->idle, boundary = forward->boundary, n_classes = moves->n_classes;
    const int64_t n_states = forward->n_told / (int64_t)(sizeof(tokdfa_told) / sizeof(int64_t));
    const uint64_t mask = (uint64_t)search->n_futile - 1;
    const int64_t most = search->n_found;
    int64_t *found = search->found, *futile = search->futile, *passed = search->passed;
    int64_t n_found = 0, n_passed = 0;
    cursor at = {search->token,      search->offset, search->state, search->position, search->end_token,
                 search->end_offset, search->end,    search->start, search->last,     search->floor,
                 search->idle_token, search->pending};
    while (n_found + 4 <= most) {
        if (at.offset == 0 && !at.pending) {
            if (n_classes > 0) {
                place_between here = {at.token, at.state, at.position, at.idle_token};
                skip_by_class(&here, search, moves, idle, ids, n, ahead);
                at.token = here.token;
                at.state = here.state;
                at.position = here.position;
                at.idle_token = here.idle_token;
            } else if (moves->n_runs > 0) {
                search->token = at.token;
                search->state = at.state;
                search->position = at.position;
                search->floor = at.floor;
                search->idle_token = at.idle_token;
                n_found = skim(machine, search, ids, n, n_found);
                at = (cursor){search->token,      0,           search->state, search->position, search->end_token,
                              search->end_offset, search->end, search->start, 0,                search->floor,
                              search->idle_token, search->pending};
            }
        }
        int64_t right = -1;
        if (at.token < n) {
            const int64_t id = ids[at.token];
            const int64_t length = length_of(text, id);
            if (at.offset == 0 && at.pending) {
                if ((search->first + at.token) % STRIDE == 0) {
                    const uint64_t key = (uint64_t)((search->first + at.token) * n_states + at.state);
                    if (search->has_futile && (uint64_t)futile[(key * HASH) >> 20 & mask] == key) {
                        at.state = 0;
                    } else if (n_passed < search->n_passed) {
                        passed[n_passed++] = (int64_t)key;
                    }
                }
                if (n_classes > 0 && at.state > 0) {
                    const int32_t following =
                        moves->entries[at.state * n_classes + (moves->properties[id] & CLASS_MASK)];
                    if (!(following & 3)) {
                        at.state = following / (4 * n_classes);
                        at.position += length;
                        at.token++;
                        continue;
                    }
                    if (following & 2) {
                        /* Most often a match ends where the next token begins. */
                        at.state = 0;
                    }
                } else if (boundary < 0 && length > 0 &&
                           !((uint64_t)told_of(forward, at.state)->alive >>
                                 (first_column(text, forward, id) & 63) &
                             1)) {
                    at.state = 0;
                }
            } else if (at.offset == 0 && at.state == idle) {
                at.idle_token = at.token;
                const int64_t outcome = moves->n_outcomes > 0 ? moves->outcomes[id] : 0;
                if (outcome > 0 && outcome & MATCH) {
                    at.start = at.position + (outcome & START_MASK) - BIAS;
                    at.end_offset = outcome >> END_SHIFT & END_MASK;
                    at.end = at.position + at.end_offset;
                    at.state = outcome >> STATE_SHIFT;
                    at.position += length;
                    at.token++;
                    if (outcome & COMPLETE) {
                        found[n_found] = at.start;
                        found[n_found + 1] = at.end;
                        found[n_found + 2] = first_token(at.token - 1, at.start - at.position + length);
                        found[n_found + 3] = at.token;
                        n_found += 4;
                        at.floor = at.end;
                    } else {
                        at.pending = true;
                        at.end_token = at.token - 1;
                        at.last = 0;
                    }
                    continue;
                }
            }
            read_symbols(&at, text, forward, ids, length, &n_passed);
            if (at.state > 0) {
                at.position += length;
                at.token++;
                at.offset = 0;
                continue;
            }
        } else if (!(options & FINAL)) {
            break;
        } else {
            const int64_t ending = told_of(forward, at.state)->ending;
            if (ending >= 0) {
                at.pending = true;
                right = ending >> 4;
                at.end_token = at.token;
                at.end_offset = 0;
                at.end = at.start = at.position - (ending & 15);
                step_back(&at, text, ids, ending & 15);
            }
            if (!at.pending) {
                break;
            }
        }
        /* No better match than the pending one can come any more. */
        if (n_passed > 0 && !search->has_futile) {
            memset(futile, -1, (size_t)search->n_futile * sizeof *futile);
            search->has_futile = 1;
        }
        while (n_passed > 0) {
            const uint64_t key = (uint64_t)passed[--n_passed];
            futile[(key * HASH) >> 20 & mask] = (int64_t)key;
        }
        const bool at_end = right >= 0;
        const int64_t restart = at_end ? told_of(forward, at.state)->end_restart : told_of(forward, at.last)->restart;
        int64_t start_token = at.end_token;
        if (at.start < at.end) {
            int64_t position = at.end - at.end_offset;
            while (at.start < position) {
                position -= length_of(text, ids[--start_token]);
            }
            start_token = first_token(start_token, at.start - position);
        } else {
            right = at_end ? right : told_of(forward, at.last)->right;
            start_token = find_start(&at, text, machine->backward, ids, right, options & ALIGNED);
        }
        found[n_found] = at.start;
        found[n_found + 1] = at.end;
        found[n_found + 2] = start_token;
        found[n_found + 3] = token_after(text, ids, at.end_token, at.end_offset);
        n_found += 4;
        at.floor = at.end;
        at.pending = false;
        at.state = restart;
        at.token = at.end_token;
        at.offset = at.end_offset;
        at.position = at.end - at.end_offset;
        if (at.offset > 0 && at.offset == length_of(text, ids[at.token])) {
            at.position += at.offset;
            at.token++;
            at.offset = 0;
        }
        at.idle_token = at.token;
    }
    count_from_first(found, n_found, search->first);
    search->more = n_found + 4 > most ? MORE_MATCHES : 0;
    search->token = at.token;
    search->offset = at.offset;
    search->state = at.state;
    search->position = at.position;
    search->pending = at.pending;
    search->end_token = at.end_token;
    search->end_offset = at.end_offset;
    search->start = at.start;
    search->end = at.end;
    search->last = at.last;
    search->floor = at.floor;
    search->idle_token = at.idle_token;
    return n_found;
}

/* Search a chunk of ids. Returns how many numbers have been written; `more` says whether a part of the chunk is still to
   be searched. */
int64_t VARIANT(find_leftmost)(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *ids, int64_t n,
                               int64_t options);

int64_t VARIANT(find_leftmost)(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *ids, int64_t n,
                               int64_t options) {
    return search_chunk(machine, search, ids, n, options, (uintptr_t)ids);
}

/* Copy the next ids, and return whether all of them are in range. What is checked is the copy: whoever owns the source
   may write to it. */
ALWAYS_INLINE bool copy_more(tokdfa_copying *copying, int32_t *restrict ids, int64_t n) {
    const int32_t *restrict source = copying->source + copying->done;
    int32_t *restrict place = ids + copying->filled;
    uint32_t largest = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t id = (uint32_t)source[i];
        place[i] = (int32_t)id;
        largest = largest > id ? largest : id;
    }
    if (n > 0 && largest >= (uint32_t)copying->limit) {
        return false;
    }
    copying->done += n;
    copying->filled += n;
    return true;
}

/* Search as tokdfa_find_leftmost does, in a chunk with room for n ids to which more are copied as the search gets
   there. If they do not fit, those that are not needed any more are forgotten. It stops early at an id that is not below
   the limit, or if it needs more than half of the room for what it keeps. */
int64_t VARIANT(find_leftmost_in_copy)(const tokdfa_machine *machine, tokdfa_search *search, tokdfa_copying *copying,
                                       int32_t *ids, int64_t n, int64_t options);

int64_t VARIANT(find_leftmost_in_copy)(const tokdfa_machine *machine, tokdfa_search *search, tokdfa_copying *copying,
                                       int32_t *ids, int64_t n, int64_t options) {
    int64_t *const found = search->found;
    const int64_t room = search->n_found, n_ids = machine->text->n_starts - 1;
    int64_t n_found = 0;
    bool is_all = false;
    if (machine->moves->n_classes > 0 && copying->n_source - copying->done > n_ids) {
        fetch_tables(machine->moves, n_ids);
    }
    do {
        int64_t n_more = least(copying->step, copying->n_source - copying->done);
        search->more = 0;
        if (copying->filled + n_more > n) {
            copying->filled = forget(machine->text, search, ids, copying->filled, copying->longest);
            if (copying->filled > n / 2) {
                search->more = MORE_IDS;
                break;
            }
            n_more = least(n_more, n - copying->filled);
        }
        if (!copy_more(copying, ids, n_more)) {
            break;
        }
        is_all = copying->done == copying->n_source;
        search->found = found + n_found;
        search->n_found = room - n_found;
        /* While a token just copied is surveyed, the id one step after it is fetched. */
        const uintptr_t ahead = (uintptr_t)(copying->source + copying->done) -
                                (uintptr_t)(copying->filled - n_more) * sizeof *ids;
        n_found += search_chunk(machine, search, ids, copying->filled, is_all ? options : options & ~(int64_t)FINAL,
                                is_all ? (uintptr_t)ids : ahead);
    } while (!is_all && !search->more);
    search->found = found;
    search->n_found = room;
    return n_found;
}

#ifndef TOKDFA_WIDE
#ifdef TOKDFA_HAS_WIDE
int64_t find_leftmost_wide(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *ids, int64_t n,
                           int64_t options);
int64_t find_leftmost_in_copy_wide(const tokdfa_machine *machine, tokdfa_search *search, tokdfa_copying *copying,
                                   int32_t *ids, int64_t n, int64_t options);
#endif

TOKDFA_API int64_t tokdfa_find_leftmost(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *ids,
                                         int64_t n, int64_t options) {
    return CHOOSE(find_leftmost)(machine, search, ids, n, options);
}

TOKDFA_API int64_t tokdfa_find_leftmost_in_copy(const tokdfa_machine *machine, tokdfa_search *search,
                                                 tokdfa_copying *copying, int32_t *ids, int64_t n, int64_t options) {
    return CHOOSE(find_leftmost_in_copy)(machine, search, copying, ids, n, options);
}
#endif
