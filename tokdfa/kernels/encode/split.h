/* Splitting UTF-8 by the machine of a split pattern, a segment at a time; or where nothing joins characters, see cut.h.

   First the machine runs over the segment and writes down its action at each symbol: an event where it has one
   hypothesis. Where it has several, the action is unsettled, and going back from an offset with one hypothesis decides
   between them. Last, the events are gathered. */
#ifndef TOKDFA_SPLIT_H
#define TOKDFA_SPLIT_H

#include "chains.h"
#include "cut.h"

#define UNSETTLED TOKDFA_UNSETTLED

/* Append to `out` the events of the symbols of a trail, given the hypothesis after them; return their number. */
static inline int64_t settle(const tokdfa_splitting *splitting, const int32_t *trail, const int64_t *trail_at,
                      int64_t n_trail, int64_t hypothesis, int64_t *out) {
    int64_t n_out = 0;
    for (int64_t place = n_trail - 1; place >= 0; place--) {
        const int64_t cell = trail[place] * splitting->width + hypothesis;
        if (splitting->event[cell]) {
            out[n_out++] = trail_at[place] << EVENT_BITS | splitting->event[cell];
        }
        hypothesis = splitting->parent[cell];
    }
    for (int64_t first = 0, last = n_out - 1; first < last; first++, last--) {
        const int64_t swapped = out[first];
        out[first] = out[last];
        out[last] = swapped;
    }
    return n_out;
}

/* Put the symbols at the end of a segment that remain unsettled on the trail; return where they begin. */
ALWAYS_INLINE int64_t leave_open(const tokdfa_splitting *splitting, const uint8_t *text, int64_t n, int64_t base,
                                 uint8_t *actions, int32_t *trail, int64_t *trail_at, int64_t *n_trail) {
    int64_t first = n, n_open = 0;
    while (first > 0) {
        int64_t at = first - 1;
        while ((text[at] & 0xC0) == 0x80) {
            at--;
        }
        if (actions[at] < UNSETTLED || splitting->settles[actions[at] - UNSETTLED]) {
            break;
        }
        first = at;
        n_open++;
    }
    *n_trail += n_open;
    int64_t place = *n_trail;
    for (int64_t at = n - 1; at >= first; at--) {
        if (actions[at]) {
            place--;
            trail[place] = actions[at] - UNSETTLED;
            trail_at[place] = base + at;
            actions[at] = 0;
        }
    }
    return first;
}

/* The width of rows that are one machine word. */
#define WIDTH_OF_WORD 8

/* Replace the unsettled actions of the first `n` symbols by events, given that there is one hypothesis after them;
   return the hypothesis before them.

   A row that is one word is read before it is known which hypothesis holds, so that a step waits for the one before it
   no longer than a shift takes. */
ALWAYS_INLINE int64_t settle_segment(const tokdfa_splitting *splitting, uint8_t *actions, int64_t n) {
    const int64_t width = splitting->width;
    const uint8_t *event = splitting->event, *parent = splitting->parent;
    uint64_t shift = 0;
    int64_t hypothesis = 0;
    for (int64_t block = (n - 1) / WORD * WORD; block >= 0; block -= WORD) {
        for (uint64_t open = high_bytes_backwards(actions + block); open; open &= open - 1) {
            uint8_t *action = actions + block + WORD - 1 - __builtin_ctzll(open);
            const int64_t row = (*action - UNSETTLED) * width;
            if (LIKELY(width == WIDTH_OF_WORD)) {
                *action = (uint8_t)(load_64(event + row) >> (shift & 63));
                shift = load_64(parent + row) << 3 >> (shift & 63);
            } else {
                *action = event[row + hypothesis];
                hypothesis = parent[row + hypothesis];
            }
        }
    }
    return width == WIDTH_OF_WORD ? (int64_t)(shift >> 3 & 7) : hypothesis;
}

/* The number of events that are written without checking how many there are. */
#define EVENTS_AT_ONCE 16

/* Append the events of `n` bytes to `out`; return their number. */
ALWAYS_INLINE int64_t gather(const uint8_t *events, int64_t n, int64_t base, int64_t *out) {
    int64_t n_out = 0;
    for (int64_t block = 0; block < n; block += WORD) {
        uint64_t bits = small_bytes(events + block);
        const int64_t first = (base + block) << EVENT_BITS;
        int64_t *place = out + n_out;
        n_out += count_ones(bits);
        if (UNLIKELY(second_bits(events + block))) {
            for (; bits; bits &= bits - 1) {
                const int64_t at = __builtin_ctzll(bits);
                *place++ = (first + (at << EVENT_BITS)) | events[block + at];
            }
            continue;
        }
        const int64_t begins = first | TOKDFA_BEGINS;
        if (LIKELY(n - block >= EVENTS_AT_ONCE)) {
            /* Without a branch for each: no predictor can know where pieces begin. */
            for (int i = 0; i < EVENTS_AT_ONCE; i++) {
                *place++ = begins + (trailing_zeros(bits) << EVENT_BITS);
                bits &= bits - 1;
            }
        }
        for (; bits; bits &= bits - 1) {
            *place++ = begins + (trailing_zeros(bits) << EVENT_BITS);
        }
    }
    return n_out;
}

/* Read a text symbol by symbol, with a machine that is too large for segments; see `split_text`. */
NEVER_INLINE split_end split_by_symbols(const tokdfa_split_run *split, const uint8_t *text, int64_t size, int64_t base,
                                        int64_t state, int64_t n_trail, int64_t *out) {
    const tokdfa_splitting *splitting = split->splitting;
    int32_t *trail = split->trail;
    int64_t *trail_at = split->trail_at;
    split_end end = {state, n_trail, 0, 0, 1};
    for (; end.read < size; end.read += end.length) {
        int64_t cell = end.state;
        if (text[end.read] < 0x80) {
            cell += splitting->ascii_class[text[end.read]];
            end.length = 1;
        } else {
            uint32_t point;
            end.length = read_symbol(text, end.read, size, &point);
            if (UNLIKELY(end.length <= 0)) {
                return end;
            }
            cell += class_of(splitting, point);
        }
        const int32_t action = splitting->action[cell];
        end.state = splitting->target[cell];
        if (action >= UNSETTLED) {
            trail[end.n_trail] = action - UNSETTLED;
            trail_at[end.n_trail++] = base + end.read;
            if (splitting->settles[action - UNSETTLED]) {
                end.n_out += settle(splitting, trail, trail_at, end.n_trail, 0, out + end.n_out);
                end.n_trail = 0;
            }
        } else {
            out[end.n_out] = (base + end.read) << EVENT_BITS | action;
            end.n_out += action != TOKDFA_CONTINUES;
        }
    }
    return end;
}

/* Read a text a segment at a time; see `split_text`. */
NEVER_INLINE split_end split_by_segments(const tokdfa_split_run *split, const uint8_t *text, int64_t size, int64_t base,
                                         int64_t state, int64_t n_trail, int64_t *out) {
    uint8_t actions[TOKDFA_LONGEST_PART + WORD], classes[TOKDFA_LONGEST_PART + WORD];
    const tokdfa_splitting *splitting = split->splitting;
    int32_t *trail = split->trail;
    int64_t *trail_at = split->trail_at;
    split_end end = {state, n_trail, 0, 0, 1};
    while (end.read < size && end.length > 0) {
        const int64_t left = size - end.read;
        const uint8_t *rest = text + end.read, *written = rest;
        int64_t n = least(left, splitting->block);
        if (has_other_symbols(rest, n)) {
            written = classes;
            n = whole_symbols(rest, n);
            if (UNLIKELY(!write_classes(splitting, rest, n, classes))) {
                n = valid_bytes(rest, left, n, &end.length);
                write_classes(splitting, rest, n, classes);
            }
        }
        end.state = run_chains(splitting, written, n, end.state, actions);
        memset(actions + n, 0, WORD);
        const int64_t n_before = end.n_trail, from = base + end.read;
        const int64_t settled = leave_open(splitting, rest, n, from, actions, trail, trail_at, &end.n_trail);
        if (settled) {
            const int64_t hypothesis = settle_segment(splitting, actions, settled);
            if (n_before) {
                end.n_out += settle(splitting, trail, trail_at, n_before, hypothesis, out + end.n_out);
                end.n_trail -= n_before;
                memmove(trail, trail + n_before, (size_t)end.n_trail * sizeof *trail);
                memmove(trail_at, trail_at + n_before, (size_t)end.n_trail * sizeof *trail_at);
            }
            end.n_out += gather(actions, settled, from, out + end.n_out);
        }
        end.read += n;
    }
    return end;
}

/* Split `size` bytes of text from `state` on; the first one has the offset `base` in the whole text.

   The trail of `split` has `n_trail` entries, and a capacity for one a byte more; `out` gets the events, at most an
   entry for each byte and each entry of the trail, and one more. */
ALWAYS_INLINE split_end split_text(const tokdfa_split_run *split, const uint8_t *text, int64_t size, int64_t base,
                                   int64_t state, int64_t n_trail, int64_t *out) {
    if (split->characters) {
        return cut_text(split->characters, text, size, base, state, out);
    }
    return split->splitting->pair_bits ? split_by_segments(split, text, size, base, state, n_trail, out)
                                       : split_by_symbols(split, text, size, base, state, n_trail, out);
}

/* Settle a trail for the hypothesis that the end of the text confirms; return the number of entries. */
ALWAYS_INLINE int64_t settle_at_end(const tokdfa_splitting *splitting, const int32_t *trail, const int64_t *trail_at,
                                    int64_t n_trail, int64_t state, int64_t *out) {
    if (n_trail == 0) {
        return 0;
    }
    const int64_t hypothesis = splitting->borne_out[state >> splitting->class_bits];
    return settle(splitting, trail, trail_at, n_trail, hypothesis, out);
}

#endif
