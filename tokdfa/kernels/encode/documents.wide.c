/* Encoding many short texts, which lie one after the other, with few calls and with full blocks of pieces. */
#include "../common/wide.h"
#include "pieces.h"

int64_t VARIANT(encode_documents)(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size, const int64_t *offsets,
                                  int64_t first, int64_t n_documents, int32_t *out, int64_t *id_offsets);

/* Split text without added tokens, which `begins` a document or not, and append its events to `begun`. Returns their
   number; INVALID if it is not UTF-8, or FOREIGN. */
ALWAYS_INLINE int64_t split_between(tokdfa_text_encoder *texts, const uint8_t *text, int64_t begin, int64_t end,
                                    bool begins, int64_t *begun) {
    const tokdfa_split_run *split = texts->split;
    int64_t n = 0, state = 0;
    if (puts_prefix(split, text, begin, end, begins)) {
        const int64_t taken = put_prefix(texts, text, begin, end, begun, &n);
        if (taken < 0) {
            return taken;
        }
        begin += taken;
        begun += n;
        state = AFTER_CUT;
    }
    const split_end found = split_text(split, text + begin, end - begin, begin, state, 0,
                                       begun);
    if (found.length < 0 || found.read < end - begin) {
        return TOKDFA_INVALID;
    }
    return n + found.n_out + settle_at_end(split->splitting, split->trail, split->trail_at, found.n_trail, found.state,
                                       begun + found.n_out);
}

/* The same for text with added tokens. */
NEVER_INLINE int64_t split_around(tokdfa_text_encoder *texts, const uint8_t *text, int64_t begin, int64_t end,
                                  int64_t *begun) {
    const tokdfa_added_scan *scan = texts->scan;
    int64_t n = 0, at = begin;
    find_first(texts->added, texts->scan, text, begin, end);
    while (true) {
        if (at < scan->found.start || at == begin) {
            const int64_t n_more = split_between(texts, text, at, scan->found.start, at == begin, begun + n);
            if (n_more < 0) {
                return n_more;
            }
            n += n_more;
        }
        if (scan->found.token < 0) {
            return n;
        }
        begun[n++] = put_added(texts);
        at = scan->found.stop;
        find_next(texts->added, texts->scan, text);
    }
}

/* Split a document, and append its events to `begun`. If none is at its beginning, one without ids is put there.
   Returns the number of events; INVALID if it is not UTF-8, or FOREIGN. */
ALWAYS_INLINE int64_t split_document(tokdfa_text_encoder *texts, const uint8_t *text, int64_t begin, int64_t end,
                                     int64_t *begun) {
    if (begin == end) {
        return 0;
    }
    int64_t n = texts->added ? split_around(texts, text, begin, end, begun)
                             : split_between(texts, text, begin, end, true, begun);
    if (UNLIKELY(n < 0)) {
        return n;
    }
    if (UNLIKELY(n == 0 || begun[0] >> EVENT_BITS != begin)) {
        memmove(begun + 1, begun, (size_t)n * sizeof *begun);
        begun[0] = begin << EVENT_BITS | TOKDFA_CONTINUES;
        n++;
    }
    return n;
}

/* Encode the documents from `first` on; document i is text[offsets[i]] to text[offsets[i + 1]]. Ids are written to
   `out` from pieces->n on; the ids of document i end at id_offsets[i + 1]. `out` has a capacity of the most ids a byte
   and AT_ONCE more. Returns the document before which it ends: `n_documents`, or the first that is longer than the
   buffers, or one after about `at_a_time` bytes. Otherwise how the encoding ends: TOO_LONG or PAUSED in the documents
   from pieces->next on, FOREIGN, INVALID or LACKS_IDS in any. */
int64_t VARIANT(encode_documents)(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size, const int64_t *offsets,
                                  int64_t first, int64_t n_documents, int32_t *out, int64_t *id_offsets) {
    tokdfa_piece_encoder *pieces = texts->pieces;
    tokdfa_split_run *split = texts->split;
    int64_t *ends = texts->ends, *marks = texts->marks;
    const int64_t most_a_byte = most_ids_a_byte(split);
    const int64_t n_ids = texts->added || most_a_byte > 1 ? texts->n_added_ids : INT64_MAX;
    const int64_t room = least(least(texts->n_ends, split->n_trail), n_ids) - 2;
    const int64_t most = pieces->at_a_time ? offsets[first] + pieces->at_a_time : INT64_MAX;
    int64_t document = first;
    while (document < n_documents && offsets[document] < most) {
        const int64_t first_together = document, n_before = pieces->n;
        int64_t n_entries = 0;
        keep_added(texts, 0);
        while (document < n_documents) {
            const int64_t begin = offsets[document], end = offsets[document + 1];
            if (n_entries + 1 + most_a_byte * (end - begin) > room || document - first_together == room) {
                break;
            }
            marks[document - first_together] = n_entries;
            const int64_t n = split_document(texts, text, begin, end, split->begun + n_entries);
            if (n < 0) {
                return n;
            }
            n_entries += n;
            document++;
        }
        if (document == first_together) {
            break;
        }
        split->begun[n_entries] = offsets[document] << EVENT_BITS;
        pieces->next = 0;
        const int64_t status = encode_pieces(pieces, text, size, split->begun, n_entries, out, ends);
        if (status) {
            pieces->next = first_together;
            pieces->n = n_before;
            return status;
        }
        for (int64_t i = 1; i < document - first_together; i++) {
            id_offsets[first_together + i] = marks[i] ? ends[marks[i] - 1] : n_before;
        }
        id_offsets[document] = pieces->n;
        if (texts->lacks_ids) {
            int32_t all = 0;
            for (int64_t i = n_before; i < pieces->n; i++) {
                all |= out[i];
            }
            if (all < 0) {
                return TOKDFA_LACKS_IDS;
            }
        }
    }
    return document;
}

#ifndef TOKDFA_WIDE
int64_t encode_documents_wide(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size, const int64_t *offsets,
                              int64_t first, int64_t n_documents, int32_t *out, int64_t *id_offsets);

TOKDFA_API int64_t tokdfa_encode_documents(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size,
                                            const int64_t *offsets, int64_t first, int64_t n_documents, int32_t *out,
                                            int64_t *id_offsets) {
    forget_pause(texts->pieces);
    return CHOOSE(encode_documents)(texts, text, size, offsets, first, n_documents, out, id_offsets);
}
#endif
