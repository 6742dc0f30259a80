/* Encoding texts: splitting and encoding in turn, a segment at a time that stays in the first-level cache. */
#include "../common/wide.h"
#include "pieces.h"

int64_t VARIANT(encode_pieces)(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size, const int64_t *begun,
                               int64_t stop, int32_t *out, int64_t *ends);
int64_t VARIANT(encode_on)(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size, int32_t *out);

int64_t VARIANT(encode_pieces)(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size, const int64_t *begun,
                               int64_t stop, int32_t *out, int64_t *ends) {
    return encode_pieces(pieces, text, size, begun, stop, out, ends);
}

/* Put the prefix before the text at hand, up to `stop`. Appends to the `*n` events after begun[0]. Returns 0, or an
   error of `put_prefix`. */
ALWAYS_INLINE int64_t begin_with_prefix(tokdfa_text_encoder *texts, const uint8_t *text, int64_t stop, int64_t *n) {
    tokdfa_split_run *split = texts->split;
    int64_t n_entries = *n + 1;
    const int64_t taken = put_prefix(texts, text, split->at, stop, split->begun, &n_entries);
    if (taken >= 0) {
        *n = n_entries - 1;
        split->at += taken;
        split->state = AFTER_CUT;
    }
    return least(taken, 0);
}

/* Split the next bytes of a text, about TOKDFA_SPLIT_BLOCK of them: with each added token the splitting begins again.
   The events are appended to begun[0], and texts->n_pieces gets the number of entries that have ended. Returns 0; or
   NO_ROOM, INVALID, CUT_SHORT or FOREIGN. */
ALWAYS_INLINE int64_t split_next(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size) {
    tokdfa_split_run *split = texts->split;
    const tokdfa_splitting *splitting = split->splitting;
    const int64_t most = split->at + TOKDFA_SPLIT_BLOCK;
    int64_t *begun = split->begun, n = 0;
    /* The last entry has not ended yet. */
    begun[0] = begun[texts->n_pieces];
    texts->pieces->next = texts->n_pieces = 0;
    keep_added(texts, begun[0]);
    do {
        const int64_t stop = texts->added ? texts->scan->found.start : size;
        if (!split->state && split->at < size && puts_prefix(split, text, split->at, stop, !split->at)) {
            const int64_t status = begin_with_prefix(texts, text, stop, &n);
            if (status == TOKDFA_FULL && n) {
                break;
            }
            if (status < 0) {
                return status;
            }
        }
        const int64_t segment = least(TOKDFA_SPLIT_BLOCK, stop - split->at);
        if (n + split->n_waiting + segment + 3 > split->n_trail) {
            if (n) {
                break;
            }
            return TOKDFA_FULL;
        }
        if (segment > 0) {
            const split_end end = split_text(split, text + split->at, segment, split->at, split->state,
                                             split->n_waiting, begun + n + 1);
            split->at += end.read;
            split->state = end.state;
            split->n_waiting = end.n_trail;
            n += end.n_out;
            if (end.length < 0 || end.read == 0) {
                texts->n_pieces = n;
                return end.length < 0 ? TOKDFA_INVALID : TOKDFA_CUT_SHORT;
            }
        }
        if (split->at < stop) {
            break;
        }
        n += settle_at_end(splitting, split->trail, split->trail_at, split->n_waiting, split->state, begun + n + 1);
        split->state = split->n_waiting = 0;
        if (!texts->added || texts->scan->found.token < 0) {
            begun[++n] = size << EVENT_BITS;
            texts->is_over = 1;
            break;
        }
        begun[++n] = put_added(texts);
        split->at = texts->scan->found.stop;
        find_next(texts->added, texts->scan, text);
    } while (split->at < most && texts->n_found < texts->n_added_ids);
    texts->n_pieces = n;
    return 0;
}

/* Encode a text, UTF-8 and all of it, from where `texts` says to its end. `out` has a capacity of the most ids a byte
   and AT_ONCE more. Returns the number of ids; or FOREIGN or TOO_LONG at the piece that begins at begun[pieces->next],
   INVALID or CUT_SHORT at split->at where the text is not UTF-8 or ends within a symbol, NO_ROOM when the buffers of
   `split` must grow, PAUSED when there is more to do. For Python also LACKS_IDS, when there is a token without an
   id. */
int64_t VARIANT(encode_on)(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size, int32_t *out) {
    tokdfa_piece_encoder *pieces = texts->pieces;
    tokdfa_split_run *split = texts->split;
    const int64_t most = pieces->at_a_time ? split->at + pieces->at_a_time : INT64_MAX;
    if (texts->added && !texts->is_begun) {
        find_first(texts->added, texts->scan, text, 0, size);
    }
    texts->is_begun = 1;
    while (true) {
        int64_t status = encode_pieces(pieces, text, size, split->begun, texts->n_pieces, out, NULL);
        if (status) {
            return status;
        }
        if (texts->is_over) {
            return pieces->n;
        }
        if (UNLIKELY(split->at >= most)) {
            return TOKDFA_PAUSED;
        }
        status = split_next(texts, text, size);
        if (status) {
            return status;
        }
    }
}

#ifndef TOKDFA_WIDE
int64_t encode_pieces_wide(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size, const int64_t *begun,
                           int64_t stop, int32_t *out, int64_t *ends);
int64_t encode_on_wide(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size, int32_t *out);

TOKDFA_API int64_t tokdfa_encode_pieces(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size,
                                         const int64_t *begun, int64_t stop, int32_t *out, int64_t *ends) {
    return CHOOSE(encode_pieces)(pieces, text, size, begun, stop, out, ends);
}

/* Continue with a text that did not fit into the buffers, or after a piece that was encoded elsewhere; see
   `encode_on`. */
TOKDFA_API int64_t tokdfa_encode_on(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size, int32_t *out) {
    const int64_t n = CHOOSE(encode_on)(texts, text, size, out);
    if (n > 0 && texts->lacks_ids) {
        int32_t all = 0;
        for (int64_t i = 0; i < n; i++) {
            all |= out[i];
        }
        if (all < 0) {
            return TOKDFA_LACKS_IDS;
        }
    }
    return n;
}

/* Encode a text, UTF-8 and all of it; see `encode_on`. CROWDED, before anything is done, if the cache of pieces is to
   grow first. */
TOKDFA_API int64_t tokdfa_encode_text(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size, int32_t *out) {
    if (UNLIKELY(missed_many(texts->pieces->cache))) {
        return TOKDFA_CROWDED;
    }
    texts->split->at = texts->split->state = texts->split->n_waiting = 0;
    texts->split->begun[0] = 0;
    texts->pieces->next = texts->pieces->n = 0;
    forget_pause(texts->pieces);
    texts->n_pieces = texts->is_over = texts->is_begun = texts->n_found = 0;
    texts->pieces->next_added = 0;
    return tokdfa_encode_on(texts, text, size, out);
}

/* Encode a text that fits into the buffers of `texts`. */
TOKDFA_API int64_t tokdfa_encode_short(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size) {
    return tokdfa_encode_text(texts, text, size, texts->out);
}
#endif
