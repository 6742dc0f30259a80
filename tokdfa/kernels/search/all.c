/* Searching a stream of ids for all matches of a pattern over its text. */
#include "backwards.h"
#include "by_class.h"
#include "retention.h"
#include "search.h"

/* A chunk of ids, and the machine and search for it; constant during a call. */
typedef struct {
    const tokdfa_machine *machine;
    tokdfa_search *search;
    const int32_t *ids;
    int64_t n;       /* the number of ids */
    int64_t options; /* ALIGNED, FINAL */
} chunk_for_all;

/* The end of matches: where it is, in bytes and in tokens; the kind of the symbol after it; and the state after it, 0
   at the end of the text. */
typedef struct {
    id_position where;
    int64_t position, right, state;
} match_end;

/* The matches that end at a position and begin no earlier than the floor: their number. Their beginnings go to
   `starts`, the nearest first, as far as they fit. */
static int64_t starts_of(const chunk_for_all *c, const match_end *end) {
    const tokdfa_backward *backward = c->machine->backward;
    const int64_t floor = c->search->floor;
    id_position here = end->where;
    int64_t count = 0, position = end->position, state = backward->initial[end->right];
    while (state > 0) {
        int64_t length;
        id_position next = here;
        int64_t symbol = symbol_before(c->ids, c->machine->text, backward, &next, &length);
        const bool at_start = symbol < 0;
        symbol = at_start ? backward->n_classes + 1 : symbol;
        state = backward->table[state * (backward->n_classes + 3) + symbol];
        if (backward->accepts[state]) {
            /* With assertions it takes the symbol before the match to know that it begins after that symbol. */
            const int64_t offset = backward->delayed ? here.offset : next.offset;
            const int64_t start = backward->delayed ? position : position - length;
            if (start >= floor && !((c->options & ALIGNED) && offset > 0)) {
                if (count < c->search->n_starts) {
                    c->search->starts[count] = start;
                }
                count++;
            }
        }
        position -= length;
        here = next;
        if (at_start || position < floor) {
            break;
        }
    }
    return count;
}

/* The same where the lengths of the matches are known: of the longest one, in the state given, and of the shorter
   ones. */
static int64_t fixed_starts(const chunk_for_all *c, const match_end *end) {
    const tokdfa_forward *forward = c->machine->forward;
    int64_t count = 0;
    for (int64_t state = end->state; state > 0; state = info_of(forward, state)->shorter) {
        count++;
    }
    int64_t left = count;
    for (int64_t state = end->state; state > 0; state = info_of(forward, state)->shorter) {
        if (--left < c->search->n_starts) {
            c->search->starts[left] = end->position - info_of(forward, state)->fixed;
        }
    }
    return count;
}

/* Write down the matches of an end, the leftmost first. Returns their number, or minus their number if they do
   not fit. */
static int64_t write_matches(const chunk_for_all *c, const match_end *end, int64_t n_found) {
    const tokdfa_spelled *text = c->machine->text;
    const int64_t *starts = c->search->starts;
    const bool is_fixed = info_of(c->machine->forward, end->state)->fixed > 0;
    const int64_t n_starts = is_fixed ? fixed_starts(c, end) : starts_of(c, end);
    if (n_starts > c->search->n_starts || n_found + 4 * n_starts > c->search->n_found) {
        return -n_starts;
    }
    int64_t start_token = end->where.token, begins_at = end->position - end->where.offset;
    for (int64_t i = 0; i < n_starts; i++) {
        while (starts[i] < begins_at) {
            begins_at -= length_of(text, c->ids[--start_token]);
        }
        int64_t *match = c->search->found + n_found + 4 * (n_starts - 1 - i);
        match[0] = starts[i];
        match[1] = end->position;
        match[2] = start_token;
        match[3] = token_after(text, c->ids, end->where.token, end->where.offset);
    }
    return n_starts;
}

/* Read the symbol at the offset of the token, or the end of the text after the last one; `length` is the token's.
   Returns whether matches end there, and where. */
ALWAYS_INLINE bool read_symbol_of_all(const chunk_for_all *c, tokdfa_search *at, int64_t length, match_end *end) {
    const tokdfa_forward *forward = c->machine->forward;
    const tokdfa_spelled *text = c->machine->text;
    int64_t offset = 0, delay;
    if (at->token == c->n) {
        const int64_t ending = info_of(forward, at->state)->ending;
        *end = (match_end){.right = ending >> 4, .state = 0};
        delay = ending >= 0 ? ending & 15 : ending;
    } else {
        const int64_t id = c->ids[at->token];
        const bool special = is_special(text, id),
                   at_boundary = forward->boundary >= 0 && at->offset == (special ? 1 : length);
        const int64_t symbol = special ? EDGE : at_boundary ? 0 : text->bytes[begin_of(text, id) + at->offset];
        at->state = target(forward, at->state, at_boundary ? forward->boundary : forward->column_of[symbol]);
        delay = info_of(forward, at->state)->delay;
        *end = (match_end){.right = info_of(forward, at->state)->right, .state = at->state};
        /* With a delay the match ended before the symbol that ends with the byte just read. */
        offset = at_boundary ? length : at->offset + (delay == 0);
        delay -= delay > 0;
    }
    at->offset++;
    if (delay < 0) {
        return false;
    }
    end->position = at->position + offset - delay;
    end->where.token = at->token;
    while (delay > offset) {
        delay -= offset;
        offset = length_of(text, c->ids[--end->where.token]);
    }
    end->where.offset = offset - delay;
    return true;
}

/* Skip the tokens at which nothing happens. */
ALWAYS_INLINE void skip_for_all(const chunk_for_all *c, tokdfa_search *at) {
    const int64_t idle = c->machine->forward->idle;
    if (at->offset == 0 && c->machine->moves->n_classes > 0) {
        token_position here = {at->token, at->state, at->position, at->idle_token};
        skip_by_class(&here, c->search, c->machine->moves, idle, c->ids, c->n, (uintptr_t)c->ids);
        at->token = here.token;
        at->state = here.state;
        at->position = here.position;
        at->idle_token = here.idle_token;
    }
    if (at->state == idle) {
        at->idle_token = at->token;
    }
}

/* Find all matches in a chunk of ids, in the order of their ends and then of their starts, and write them down
   until the buffer is full. Returns how many numbers have been written; `more` says whether a part of the chunk
   is still to be searched. If the matches that end at one position do not fit into a whole buffer, it returns
   minus their number. */
TOKDFA_API int64_t tokdfa_find_all(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *ids, int64_t n,
                                   int64_t options) {
    const chunk_for_all c = {machine, search, ids, n, options};
    tokdfa_search at = *search;
    int64_t n_found = 0;
    at.more = 0;
    while (!at.more) {
        skip_for_all(&c, &at);
        if (at.token == n && !(options & FINAL)) {
            break;
        }
        const int64_t length = at.token < n ? length_of(machine->text, ids[at.token]) : 0;
        const bool special = at.token == n || is_special(machine->text, ids[at.token]);
        const int64_t n_read = (special ? 1 : length) + (at.token < n && machine->forward->boundary >= 0);
        while (at.offset < n_read && !at.more) {
            const int64_t state = at.state, offset = at.offset;
            match_end end;
            const int64_t n_matches = read_symbol_of_all(&c, &at, length, &end) ? write_matches(&c, &end, n_found) : 0;
            if (n_matches < 0) {
                /* This symbol is read again when the buffer is empty. */
                at.state = state;
                at.offset = offset;
                at.more = 1;
                n_found = n_found > 0 ? n_found : n_matches;
            }
            n_found += n_matches > 0 ? 4 * n_matches : 0;
        }
        if (at.more || at.token == n) {
            break;
        }
        at.position += length;
        at.token++;
        at.offset = 0;
    }
    search->token = at.token;
    search->offset = at.offset;
    search->state = at.state;
    search->position = at.position;
    search->idle_token = at.idle_token;
    search->more = at.more;
    count_from_first(search->found, n_found, search->first);
    return n_found;
}
