/* Skipping tokens at which nothing happens, by their classes.

   Each token takes a look-up of what its class does to the state, which is a chain of look-ups that wait for each other.
   Once a token has led where it is assumed, the next restless one is found without such a chain: see survey.h. Only
   restless tokens are read one by one, and those after them until one leads where it is assumed. */
#ifndef TOKDFA_SEARCH_BY_CLASS_H
#define TOKDFA_SEARCH_BY_CLASS_H

#include "survey.h"

/* The place of a search between two tokens. */
typedef struct {
    int64_t token, state, position, idle_token;
} place_between;

ALWAYS_INLINE int64_t class_of(const int32_t *properties, int32_t id) {
    return properties[(uint32_t)id] & CLASS_MASK;
}

/* Read tokens of a surveyed stretch, from one place and entry to another: before a token at which something happens, or the
   end of the stretch. What is noted of idle tokens is corrected where it was wrongly assumed. Returns the place. */
ALWAYS_INLINE int64_t read_stretch(tokdfa_search *search, const tokdfa_moves *moves, int64_t idle,
                                   const int32_t *restrict ids, int64_t place, int64_t size, int64_t *entry_reached,
                                   bool leads) {
    const int32_t *restrict properties = moves->properties, *restrict entries = moves->entries;
    const int64_t idle_entry = idle * moves->n_classes;
    const int32_t *restrict of_idle = entries + idle_entry;
    const int32_t to_second = (int32_t)(4 * moves->n_classes * moves->second);
    uint64_t *room = (uint64_t *)search->room, *idles = room + IDLE;
    const uint64_t *restless = room + RESTLESS, *led = room + LED;
    int64_t entry = *entry_reached;
    while (place < size) {
        const int64_t class = class_of(properties, ids[place]);
        int32_t following = entries[entry + class];
        if (following & 1) {
            break;
        }
        const int32_t assumed = leads && has_bit(led, place) ? to_second : of_idle[class];
        entry = following >> 2;
        if (following != assumed) {
            const uint64_t bit = (uint64_t)1 << place % WORD, is_idle = entry == idle_entry;
            idles[place / WORD] = (idles[place / WORD] & ~bit) | (is_idle ? bit : 0);
            place++;
            if (!is_idle || place == size || (leads && has_bit(led, place))) {
                continue;
            }
            /* After the idle state a token is at rest by definition. Read here, it does not wait for the last look-up. */
            following = of_idle[class_of(properties, ids[place])];
            if (following & 1) {
                break;
            }
            entry = following >> 2;
        }
        const int64_t next = next_restless(restless, ++place);
        if (next > place) {
            place = next;
            const int64_t last = class_of(properties, ids[place - 1]);
            entry = (leads && has_bit(led, place - 1) ? to_second : of_idle[last]) >> 2;
        }
    }
    *entry_reached = entry;
    return place;
}

/* Skip the tokens at which nothing happens. The place is then at the end or before a token at which something does. */
NEVER_INLINE void skip_by_class(place_between *at, tokdfa_search *search, const tokdfa_moves *moves, int64_t idle,
                                const int32_t *restrict ids, int64_t n, uintptr_t ahead) {
    const int64_t n_classes = moves->n_classes, *begins = search->room + BEGINS;
    int64_t entry = at->state * n_classes, token = at->token;
    int64_t first = search->stretch_begin, stop = search->stretch_end;
    bool happens = false;
    if (at->state == idle) {
        at->idle_token = token;
    }
    while (token < n && !happens) {
        if (token < first || token >= stop) {
            /* Where a stretch has been read to its end, that is where its last group ends. */
            first = token;
            stop = least(n, token + SURVEYED);
            survey(search, moves, idle, ids, first, stop, at->position, ahead);
        }
        const int64_t begin = token - first;
        const int64_t size = stop - first;
        const int64_t place =
            search->leads ? read_stretch(search, moves, idle, ids + first, begin, size, &entry, true)
                          : read_stretch(search, moves, idle, ids + first, begin, size, &entry, false);
        const int64_t idle_place = place > begin ? last_idle(search, begin, place) : -1;
        at->idle_token = idle_place < 0 ? at->idle_token : first + idle_place;
        token = first + place;
        happens = token < stop;
        int64_t counted = place / GROUP * GROUP;
        at->position = begins[place / GROUP];
        for (; counted < place; counted++) {
            at->position += length_by_class(moves->properties, ids[first + counted]);
        }
    }
    at->token = token;
    at->state = entry / n_classes;
    search->stretch_begin = first;
    search->stretch_end = stop;
}

#endif
