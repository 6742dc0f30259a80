/* Finding added tokens by itself. */
#include "../common/wide.h"
#include "added.h"

int64_t VARIANT(find_added)(const tokdfa_added_tokens *added, tokdfa_added_scan *scan, const uint8_t *text,
                            int64_t size, int64_t *spans, int64_t n_spans);

/* Write down the added tokens of a text from where `scan` is: start, stop and token, up to n_spans of them. A scan with
   a negative end of the outer level begins anew. Returns their number, less than n_spans when there are no more. */
int64_t VARIANT(find_added)(const tokdfa_added_tokens *added, tokdfa_added_scan *scan, const uint8_t *text,
                            int64_t size, int64_t *spans, int64_t n_spans) {
    int64_t n = 0;
    if (scan->outer.end < 0) {
        find_first(added, scan, text, 0, size);
    }
    while (n < n_spans && scan->found.token >= 0) {
        spans[3 * n] = scan->found.start;
        spans[3 * n + 1] = scan->found.stop;
        spans[3 * n + 2] = scan->found.token;
        n++;
        find_next(added, scan, text);
    }
    return n;
}

#ifndef TOKDFA_WIDE
int64_t find_added_wide(const tokdfa_added_tokens *added, tokdfa_added_scan *scan, const uint8_t *text, int64_t size,
                        int64_t *spans, int64_t n_spans);

TOKDFA_API int64_t tokdfa_find_added(const tokdfa_added_tokens *added, tokdfa_added_scan *scan, const uint8_t *text,
                                      int64_t size, int64_t *spans, int64_t n_spans) {
    return CHOOSE(find_added)(added, scan, text, size, spans, n_spans);
}
#endif
