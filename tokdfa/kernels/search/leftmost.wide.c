/* Searching a stream of ids for the leftmost matches of a pattern over its text, none overlapping another.

   Ids are read one token at a time as long as nothing happens: for each state and each class of tokens, a table has the
   state that the token leads to, and whether something happens on the way. If something does, the token's symbols are
   read one by one. That finds the end of a match; its beginning is found by reading backwards from there. */
#include "../common/wide.h"
#include "backwards.h"
#include "leftmost.h"
#include "retention.h"

/* Find the beginning of a match without a fixed length: the farthest position, not before the floor. Returns the token,
   with the offset in it. */
ALWAYS_INLINE int64_t find_start(const chunk *c, cursor *at, int64_t right) {
    const tokdfa_backward *backward = c->machine->backward;
    const int64_t n_columns = backward->n_classes + 3;
    const bool delayed = backward->delayed, aligned = c->options & ALIGNED;
    id_position here = {at->end_token, at->end_offset};
    int64_t position = at->end, start_token = first_token(at->end_token, at->end_offset);
    int64_t state = backward->initial[right];
    while (state > 0) {
        id_position next = here;
        int64_t length = 1, symbol = 0x80;
        if (here.offset > 0) {
            symbol = c->text->bytes[begin_of(c->text, c->ids[here.token]) + here.offset - 1];
        }
        if (symbol < 0x80) {
            symbol = backward->class_of[symbol];
            next.offset--;
        } else {
            symbol = symbol_before(c->ids, c->text, backward, &next, &length);
        }
        const bool at_start = symbol < 0;
        state = backward->table[state * n_columns + (at_start ? backward->n_classes + 1 : symbol)];
        if (backward->accepts[state]) {
            /* With assertions it takes the symbol before the match to know that it begins after that symbol. */
            const int64_t start = delayed ? position : position - length;
            const id_position where = delayed ? here : next;
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

/* Record that the tokens read beyond the match have led to nothing. */
ALWAYS_INLINE void keep_futile(tokdfa_search *search, cursor *at) {
    if (at->n_passed > 0 && !search->has_futile) {
        memset(search->futile, -1, (size_t)search->n_futile * sizeof *search->futile);
        search->has_futile = 1;
    }
    while (at->n_passed > 0) {
        const uint64_t key = (uint64_t)search->passed[--at->n_passed];
        search->futile[(key * HASH) >> 20 & ((uint64_t)search->n_futile - 1)] = (int64_t)key;
    }
}

/* Write down the pending match, and restart at its end. `right` is the kind of the symbol after a match at the end of
   the stream; otherwise -1. */
ALWAYS_INLINE void settle_match(const chunk *c, cursor *at, int64_t right) {
    const tokdfa_state_info *info = info_of(c->forward, right >= 0 ? at->state : at->last);
    const int64_t kind = right >= 0 ? right : info->right;
    int64_t start_token = at->end_token;
    at->state = right >= 0 ? info->end_restart : info->restart;
    if (at->start < at->end) {
        int64_t position = at->end - at->end_offset;
        while (at->start < position) {
            position -= length_of(c->text, c->ids[--start_token]);
        }
        start_token = first_token(start_token, at->start - position);
    } else {
        start_token = find_start(c, at, kind);
    }
    int64_t *match = c->search->found + at->n_found;
    match[0] = at->start;
    match[1] = at->end;
    match[2] = start_token;
    match[3] = token_after(c->text, c->ids, at->end_token, at->end_offset);
    match[3] |= c->options & KINDS ? kind << OFFSET_SHIFT : 0;
    at->n_found += 4;
    at->floor = at->end;
    at->pending = false;
    at->token = at->end_token;
    at->offset = at->end_offset;
    at->position = at->end - at->end_offset;
    if (at->offset > 0 && at->offset == length_of(c->text, c->ids[at->token])) {
        at->position += at->offset;
        at->token++;
        at->offset = 0;
    }
    at->idle_token = at->token;
}

/* Find the matches in a chunk of ids, and write them down until the buffer is full. For `ahead` see scan_block. */
NEVER_INLINE int64_t search_chunk(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *ids, int64_t n,
                                  int64_t options, uintptr_t ahead) {
    const int64_t n_states = machine->forward->n_info / (int64_t)(sizeof(tokdfa_state_info) / sizeof(int64_t));
    const chunk c = {.machine = machine,
                     .text = machine->text,
                     .forward = machine->forward,
                     .moves = machine->moves,
                     .search = search,
                     .ids = ids,
                     .n = n,
                     .options = options,
                     .ahead = ahead,
                     .n_states = n_states,
                     .n_classes = machine->moves->n_classes,
                     .boundary = machine->forward->boundary,
                     .idle = machine->forward->idle};
    const int64_t most = search->n_found;
    cursor at = cursor_of(search, 0);
    while (at.n_found + 4 <= most) {
        int64_t right = -1;
        if (at.offset == 0 && !at.pending) {
            skip_tokens(&c, &at);
        }
        if (at.token < n) {
            if (read_next(&c, &at)) {
                continue;
            }
        } else {
            right = options & FINAL ? end_stream(&c, &at) : -1;
            if (!(options & FINAL) || !at.pending) {
                break;
            }
        }
        keep_futile(search, &at);
        settle_match(&c, &at, right);
    }
    count_from_first(search->found, at.n_found, search->first);
    search->more = at.n_found + 4 > most ? MORE_MATCHES : 0;
    keep_cursor(&at, search);
    return at.n_found;
}

/* Search a chunk of ids. Returns how many numbers have been written; `more` says whether a part of the chunk is still
   to be searched. */
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
    int32_t *restrict copied = ids + copying->filled;
    uint32_t largest = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t id = (uint32_t)source[i];
        copied[i] = (int32_t)id;
        largest = largest > id ? largest : id;
    }
    if (n > 0 && largest >= (uint32_t)copying->limit) {
        return false;
    }
    copying->done += n;
    copying->filled += n;
    return true;
}

/* Search as tokdfa_find_leftmost does, in a buffer of n ids to which more are copied as the search gets there. If they
   do not fit, those that are not needed any more are forgotten. It stops early at an id that is not below the limit, or
   if those that are still needed take more than half of the buffer. */
int64_t VARIANT(find_leftmost_in_copy)(const tokdfa_machine *machine, tokdfa_search *search, tokdfa_copying *copying,
                                       int32_t *ids, int64_t n, int64_t options);

int64_t VARIANT(find_leftmost_in_copy)(const tokdfa_machine *machine, tokdfa_search *search, tokdfa_copying *copying,
                                       int32_t *ids, int64_t n, int64_t options) {
    int64_t *const found = search->found;
    const int64_t most = search->n_found, n_ids = machine->text->n_starts - 1;
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
        search->n_found = most - n_found;
        /* While a token just copied is scanned, the id one step after it is fetched. */
        const uintptr_t ahead = (uintptr_t)(copying->source + copying->done) -
                                (uintptr_t)(copying->filled - n_more) * sizeof *ids;
        n_found += search_chunk(machine, search, ids, copying->filled, is_all ? options : options & ~(int64_t)FINAL,
                                is_all ? (uintptr_t)ids : ahead);
    } while (!is_all && !search->more);
    search->found = found;
    search->n_found = most;
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
