/* Splitting by itself. */
#include "../common/wide.h"
#include "split.h"

int VARIANT(split_on)(tokdfa_split_run *split, const uint8_t *text, int64_t size, int64_t base);
int64_t VARIANT(split_texts)(tokdfa_split_run *split, const uint8_t *text, const int64_t *ends, int64_t n_texts);

/* Read more of a text: `size` bytes that begin at the offset `base`; the last symbol may be cut short. `begun` gets the
   settled events. The capacity is n_waiting + size, and one more for `begun`. Returns 0 if it is not UTF-8. */
int VARIANT(split_on)(tokdfa_split_run *split, const uint8_t *text, int64_t size, int64_t base) {
    split_end end = split_text(split, text, size, base, split->state, split->n_waiting, split->begun);
    split->state = end.state;
    split->n_waiting = end.n_trail;
    split->n_begun = end.n_out;
    split->at = base + end.read;
    return end.length >= 0;
}

/* Split texts that stand one after the other, each by itself: `ends` are their ends, ascending. `begun` has a capacity
   of one event a byte and one more. Returns the number of events; -1 if one of the texts is not UTF-8. */
int64_t VARIANT(split_texts)(tokdfa_split_run *split, const uint8_t *text, const int64_t *ends, int64_t n_texts) {
    int64_t n_begun = 0, start = 0;
    for (int64_t i = 0; i < n_texts; i++) {
        const int64_t length = ends[i] - start;
        split_end end = split_text(split, text + start, length, start, 0, 0, split->begun + n_begun);
        if (end.length < 0 || end.read < length) {
            return -1;
        }
        n_begun += end.n_out;
        n_begun += settle_at_end(split->splitting, split->trail, split->trail_at, end.n_trail, end.state,
                                 split->begun + n_begun);
        start += length;
    }
    return n_begun;
}

#ifndef TOKDFA_WIDE
int split_on_wide(tokdfa_split_run *split, const uint8_t *text, int64_t size, int64_t base);
int64_t split_texts_wide(tokdfa_split_run *split, const uint8_t *text, const int64_t *ends, int64_t n_texts);

TOKDFA_API int tokdfa_split_on(tokdfa_split_run *split, const uint8_t *text, int64_t size, int64_t base) {
    return CHOOSE(split_on)(split, text, size, base);
}

TOKDFA_API int64_t tokdfa_split_texts(tokdfa_split_run *split, const uint8_t *text, const int64_t *ends,
                                       int64_t n_texts) {
    return CHOOSE(split_texts)(split, text, ends, n_texts);
}

/* Settle the symbols that wait for the end of the text; `begun` gets their events. */
TOKDFA_API void tokdfa_walk_back(tokdfa_split_run *split) {
    split->n_begun = settle_at_end(split->splitting, split->trail, split->trail_at, split->n_waiting, split->state,
                                   split->begun);
    split->n_waiting = 0;
}

/* Write down the pieces, start and end, that end at an event of `begun`. `before` is the event before these. Returns
   the number of pieces; the capacity of `spans` is one for each event. */
TOKDFA_API int64_t tokdfa_close(const int64_t *begun, int64_t n_begun, int64_t before, int64_t *spans) {
    int64_t n_spans = 0;
    for (int64_t i = 0; i < n_begun; i++) {
        spans[2 * n_spans] = before >> EVENT_BITS;
        spans[2 * n_spans + 1] = begun[i] >> EVENT_BITS;
        n_spans += (before & EVENT_MASK) == TOKDFA_BEGINS;
        before = begun[i];
    }
    return n_spans;
}
#endif
