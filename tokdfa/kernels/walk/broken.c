/* The symbols of texts of ids that are not UTF-8, and the last boundary before each where the text is always cut. */
#include "../common/base.h"
#include "api.h"
#include "symbol.h"

enum { NO_ROOM = -1, N_FIELDS = 6 };

/* Read the text of the ids from `token` to `stop`, up to the first symbol that is not UTF-8: note it in `row`, and
   return whether there is one. Id k has the bytes from ends[k - 1] to ends[k]. */
static bool find_broken(const tokdfa_text_cuts *cuts, const uint8_t *text, const int64_t *ends, int64_t token,
                        int64_t stop, int64_t *row) {
    const int64_t begin = token ? ends[token - 1] : 0, end = token < stop ? ends[stop - 1] : begin;
    int64_t next = token, sure = token, last = token; /* the last cut that enough symbols follow, and the last one */
    int32_t before = -1;
    for (int64_t at = begin; at < end;) {
        const symbol here = read_symbol(text + at, end - at);
        if (here.is_broken) {
            int64_t first = next, past;
            while (first > token && ends[first - 1] > at) {
                first--;
            }
            while (ends[first] <= at) {
                first++;
            }
            for (past = first; ends[past] < at + here.size; past++) {
            }
            row[0] = token;
            row[1] = sure;
            row[2] = first;
            row[3] = past + 1;
            row[4] = at;
            row[5] = at + here.size;
            return true;
        }
        const uint16_t class = cuts->class_of[here.code_point];
        sure = last;
        while (next < stop && (next ? ends[next - 1] : 0) < at) {
            next++;
        }
        const bool begins = next < stop && (next ? ends[next - 1] : 0) == at;
        if (begins && before >= 0 && cuts->certain[cuts->n_classes * before + class]) {
            last = next;
        }
        before = class;
        at += here.size;
    }
    return false;
}

/* Write down the symbols that are not UTF-8 in texts of ids: text k has the ids from bounds[k] to bounds[k + 1], and
   after such a symbol a text begins anew with the next id. Each row has the id with which the text before it begins;
   the last one, the same if there is none, before which that text is always cut, two symbols or more before its end;
   the first id of the symbol, and the one after its last; its first byte, and the one after its last. Returns the
   number of rows; -1 if `rows` is full. */
TOKDFA_API int64_t tokdfa_broken(const tokdfa_text_cuts *cuts, const uint8_t *text, const int64_t *ends,
                                  const int64_t *bounds, int64_t n_texts, int64_t *rows, int64_t room) {
    int64_t n = 0, row[N_FIELDS];
    for (int64_t k = 0; k < n_texts; k++) {
        for (int64_t token = bounds[k]; find_broken(cuts, text, ends, token, bounds[k + 1], row); token = row[3]) {
            if (n == room) {
                return NO_ROOM;
            }
            memcpy(rows + N_FIELDS * n++, row, sizeof row);
        }
    }
    return n;
}
