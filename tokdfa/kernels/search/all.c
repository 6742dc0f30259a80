/* Searching a stream of ids for all matches of a pattern over its text. */
#include "backwards.h"
#include "by_class.h"
#include "kept.h"
#include "search.h"

/* The number of matches that end at a place and begin no earlier than the floor. Their beginnings go to `starts`, the
   nearest first, as far as there is room. `right` is the kind of the symbol after the place. */
static int64_t starts_of(const int32_t *ids, const tokdfa_machine *machine, bool aligned, int64_t right,
                         place_in_ids here, int64_t end, int64_t floor, int64_t *starts, int64_t most) {
    const tokdfa_backward *backward = machine->backward;
    int64_t count = 0, position = end, state = backward->initial[right];
    while (state > 0) {
        int64_t length;
        place_in_ids next = here;
        int64_t symbol = symbol_before(ids, machine->text, backward, &next, &length);
        const bool at_start = symbol < 0;
        symbol = at_start ? backward->n_classes + 1 : symbol;
        state = backward->table[state * (backward->n_classes + 3) + symbol];
        if (backward->accepts[state]) {
            /* With assertions it takes the symbol before the match to know that it begins after that symbol. */
            const int64_t offset = backward->delayed ? here.offset : next.offset;
            const int64_t start = backward->delayed ? position : position - length;
            if (start >= floor && !(aligned && offset > 0)) {
                if (count < most) {
                    starts[count] = start;
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

/* The same where the lengths of matches are known: of `last`, the longest one, and of those shorter. */
static int64_t fixed_starts(const tokdfa_forward *forward, int64_t last, int64_t end, int64_t *starts, int64_t most) {
    int64_t count = 0;
    for (int64_t state = last; state > 0; state = told_of(forward, state)->shorter) {
        count++;
    }
    int64_t left = count;
    for (int64_t state = last; state > 0; state = told_of(forward, state)->shorter) {
        if (--left < most) {
            starts[left] = end - told_of(forward, state)->fixed;
        }
    }
    return count;
}

/* Find all matches in a chunk of ids, in the order of their ends and then of their starts, and write them down as far
   as there is room. Returns how many numbers have been written; `more` says whether a part of the chunk is still to be
   searched. If there is no room for the matches that end at one place, it returns minus their number. */
TOKDFA_API int64_t tokdfa_find_all(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *ids, int64_t n,
                                    int64_t options) {
    const tokdfa_spelled *text = machine->text;
    const tokdfa_forward *forward = machine->forward;
    tokdfa_search at = *search;
    int64_t *starts = search->starts, *found = search->found;
    int64_t n_found = 0;
    at.more = 0;
    while (!at.more) {
        if (at.offset == 0 && machine->moves->n_classes > 0) {
            place_between here = {at.token, at.state, at.position, at.idle_token};
            skip_by_class(&here, search, machine->moves, forward->idle, ids, n, (uintptr_t)ids);
            at.token = here.token;
            at.state = here.state;
            at.position = here.position;
            at.idle_token = here.idle_token;
        }
        if (at.state == forward->idle) {
            at.idle_token = at.token;
        }
        const uint8_t *bytes = NULL;
        int64_t n_read = 1, length = 0;
        bool special = false;
        if (at.token < n) {
            const int64_t id = ids[at.token];
            special = is_special(text, id);
            bytes = text->bytes + begin_of(text, id);
            length = length_of(text, id);
            n_read = (special ? 1 : length) + (forward->boundary >= 0);
        } else if (!(options & FINAL)) {
            break;
        }
        for (int64_t place = at.offset; place < n_read; place++) {
            const int64_t before = at.state;
            int64_t delay, right, last = 0;
            at.end_offset = 0;
            if (at.token == n) {
                const int64_t ending = told_of(forward, at.state)->ending;
                right = ending >> 4;
                delay = ending >= 0 ? ending & 15 : ending;
            } else {
                const bool at_boundary = forward->boundary >= 0 && place == n_read - 1;
                const int64_t column = at_boundary ? forward->boundary : forward->column_of[special ? EDGE : bytes[place]];
                at.state = target(forward, at.state, column);
                delay = told_of(forward, at.state)->delay;
                right = told_of(forward, at.state)->right;
                /* With a delay the match ended before the symbol whose last byte has been read now. */
                at.end_offset = at_boundary ? length : place + (delay == 0);
                delay -= delay > 0;
                last = at.state;
            }
            at.offset = place + 1;
            if (delay < 0) {
                continue;
            }
            at.end = at.position + at.end_offset - delay;
            at.end_token = at.token;
            while (delay > at.end_offset) {
                delay -= at.end_offset;
                at.end_offset = length_of(text, ids[--at.end_token]);
            }
            at.end_offset -= delay;
            /* The nearest start first. */
            const place_in_ids where = {at.end_token, at.end_offset};
            const int64_t n_starts =
                told_of(forward, last)->fixed > 0
                    ? fixed_starts(forward, last, at.end, starts, search->n_starts)
                    : starts_of(ids, machine, options & ALIGNED, right, where, at.end, search->floor, starts,
                                search->n_starts);
            if (n_starts > search->n_starts || n_found + 4 * n_starts > search->n_found) {
                /* This symbol is read again when there is room. */
                at.state = before;
                at.offset = place;
                at.more = 1;
                n_found = n_found > 0 ? n_found : -n_starts;
                break;
            }
            /* The leftmost one is written first. */
            int64_t start_token = at.end_token, begins_at = at.end - at.end_offset;
            for (int64_t i = 0; i < n_starts; i++) {
                while (starts[i] < begins_at) {
                    begins_at -= length_of(text, ids[--start_token]);
                }
                int64_t *match = found + n_found + 4 * (n_starts - 1 - i);
                match[0] = starts[i];
                match[1] = at.end;
                match[2] = start_token;
                match[3] = token_after(text, ids, at.end_token, at.end_offset);
            }
            n_found += 4 * n_starts;
        }
        if (at.more || at.token == n) {
            break;
        }
        if (at.offset == n_read) {
            at.position += length;
            at.token++;
            at.offset = 0;
        }
    }
    search->token = at.token;
    search->offset = at.offset;
    search->state = at.state;
    search->position = at.position;
    search->idle_token = at.idle_token;
    search->more = at.more;
    count_from_first(found, n_found, search->first);
    return n_found;
}
