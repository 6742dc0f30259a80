/* Skipping tokens at which nothing happens, by their classes.

   Each token takes a look-up of the effect of its class on the state: a chain of look-ups that wait for each other.
   Once a token has led where it is assumed, the next active one is found without such a chain: see prefilter_scan.h.
   Only active tokens are read one by one, and those after them until one leads where it is assumed. */
#ifndef TOKDFA_SEARCH_BY_CLASS_H
#define TOKDFA_SEARCH_BY_CLASS_H

#include "prefilter_scan.h"

/* The state of a search between two tokens; see tokdfa_search. */
typedef struct {
    int64_t token, state, position, idle_token;
} token_position;

ALWAYS_INLINE int64_t class_of_id(const int32_t *properties, int32_t id) {
    return properties[(uint32_t)id] & CLASS_MASK;
}

/* Read tokens of a scanned block from an index and an entry on, up to a token at which something happens, or the end of
   the block. Fixes the idle bits that were mispredicted. Returns the index reached. */
ALWAYS_INLINE int64_t read_block(tokdfa_search *search, const tokdfa_moves *moves, int64_t idle,
                                 const int32_t *restrict ids, int64_t index, int64_t size, int64_t *entry_reached,
                                 bool leads) {
    const int32_t *restrict properties = moves->properties, *restrict entries = moves->entries;
    const int64_t idle_entry = idle * moves->n_classes;
    const int32_t *restrict of_idle = entries + idle_entry;
    const int32_t to_second = (int32_t)(4 * moves->n_classes * moves->second);
    uint64_t *bits = (uint64_t *)search->buffer, *idles = bits + IDLE;
    const uint64_t *active = bits + ACTIVE, *led = bits + LED;
    int64_t entry = *entry_reached;
    while (index < size) {
        const int64_t class = class_of_id(properties, ids[index]);
        int32_t following = entries[entry + class];
        if (following & 1) {
            break;
        }
        const int32_t assumed = leads && has_bit(led, index) ? to_second : of_idle[class];
        entry = following >> 2;
        if (following != assumed) {
            const uint64_t bit = (uint64_t)1 << index % WORD, is_idle = entry == idle_entry;
            idles[index / WORD] = (idles[index / WORD] & ~bit) | (is_idle ? bit : 0);
            index++;
            if (!is_idle || index == size || (leads && has_bit(led, index))) {
                continue;
            }
            /* After the idle state a token is accelerated by definition. PERF: read here, it does not wait for the last
               look-up. */
            following = of_idle[class_of_id(properties, ids[index])];
            if (following & 1) {
                break;
            }
            entry = following >> 2;
        }
        const int64_t next = next_active(active, ++index);
        if (next > index) {
            index = next;
            const int64_t last = class_of_id(properties, ids[index - 1]);
            entry = (leads && has_bit(led, index - 1) ? to_second : of_idle[last]) >> 2;
        }
    }
    *entry_reached = entry;
    return index;
}

/* Skip the tokens at which nothing happens, up to the end or a token at which something does. */
NEVER_INLINE void skip_by_class(token_position *at, tokdfa_search *search, const tokdfa_moves *moves, int64_t idle,
                                const int32_t *restrict ids, int64_t n, uintptr_t ahead) {
    const int64_t n_classes = moves->n_classes, *begins = search->buffer + BEGINS;
    int64_t entry = at->state * n_classes, token = at->token;
    int64_t first = search->block_begin, stop = search->block_end;
    bool happens = false;
    if (at->state == idle) {
        at->idle_token = token;
    }
    while (token < n && !happens) {
        if (token < first || token >= stop) {
            first = token;
            stop = least(n, token + SCAN_BLOCK);
            scan_block(search, moves, idle, ids, first, stop, at->position, ahead);
        }
        const int64_t begin = token - first;
        const int64_t size = stop - first;
        const int64_t index = search->leads ? read_block(search, moves, idle, ids + first, begin, size, &entry, true)
                                            : read_block(search, moves, idle, ids + first, begin, size, &entry, false);
        const int64_t idle_index = index > begin ? last_idle(search, begin, index) : -1;
        at->idle_token = idle_index < 0 ? at->idle_token : first + idle_index;
        token = first + index;
        happens = token < stop;
        int64_t counted = index / SCAN_GROUP * SCAN_GROUP;
        at->position = begins[index / SCAN_GROUP];
        for (; counted < index; counted++) {
            at->position += length_by_class(moves->properties, ids[first + counted]);
        }
    }
    at->token = token;
    at->state = entry / n_classes;
    search->block_begin = first;
    search->block_end = stop;
}

#endif
