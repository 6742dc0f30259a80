/* Where two tokenizations of texts differ, as parts of each between neighbouring ends that both share. */
#include "../common/base.h"
#include "api.h"

enum { NO_ROOM = -1, N_FIELDS = 6 };

/* One tokenization of a text: the ids from `first` to `stop`; id k ends at ends[k] - start. */
typedef struct {
    const int32_t *ids;
    const int64_t *ends;
    int64_t first;
    int64_t stop;
    int64_t start;
} tokens;

static tokens tokens_of(const tokdfa_tokenizations *side, int64_t k) {
    return (tokens){side->ids, side->ends, side->bounds[k], side->bounds[k + 1], side->starts[k]};
}

ALWAYS_INLINE int64_t end_of(const tokens *side, int64_t id) {
    return side->ends[id] - side->start;
}

/* The first id after `id` that ends elsewhere. */
static int64_t after_same_end(const tokens *side, int64_t id) {
    int64_t next = id + 1;
    while (next < side->stop && side->ends[next] == side->ends[id]) {
        next++;
    }
    return next;
}

/* Whether one of the ids from `begin` to `stop` adds nothing. */
static bool has_silent(const tokens *side, int64_t begin, int64_t stop) {
    for (int64_t id = begin; id < stop; id++) {
        if (end_of(side, id) <= (id > side->first ? greatest(end_of(side, id - 1), 0) : 0)) {
            return true;
        }
    }
    return false;
}

/* The rows that are written; `n` is -1 once another one does not fit. */
typedef struct {
    int64_t *at;
    int64_t n;
    int64_t room;
} part_rows;

/* Write down a part of each side if they differ. Returns whether it fits. */
static bool compare_parts(part_rows *rows, int64_t text, const tokens *given, int64_t start, int64_t stop,
                          const tokens *other, int64_t low, int64_t high) {
    const size_t size = (size_t)(stop - start) * sizeof *given->ids;
    if (stop - start == high - low && (!size || !memcmp(given->ids + start, other->ids + low, size))) {
        return true;
    }
    if (rows->n == rows->room) {
        rows->n = NO_ROOM;
        return false;
    }
    const int64_t row[N_FIELDS] = {text, start, stop, low, high,
                                   has_silent(given, start, stop) || has_silent(other, low, high)};
    memcpy(rows->at + N_FIELDS * rows->n++, row, sizeof row);
    return true;
}

/* Compare two tokenizations of a text, as far as the rows fit. */
static void compare_texts(part_rows *rows, int64_t text, const tokens *given, const tokens *other) {
    int64_t at = given->first, place = other->first, start = at, low = place;
    while (at < given->stop && place < other->stop) {
        const int64_t end = end_of(given, at), other_end = end_of(other, place);
        if (end != other_end) {
            at += end < other_end;
            place += other_end < end;
            continue;
        }
        /* Ids that add nothing end where others do, and such ends do not show which ids belong together. */
        const int64_t next = after_same_end(given, at), other_next = after_same_end(other, place);
        const bool is_shared = next == at + 1 && other_next == place + 1 && end > 0;
        at = next;
        place = other_next;
        if (!is_shared) {
            continue;
        }
        /* PERF: most parts are one id on each side, the same. */
        const bool is_same = start + 1 == at && low + 1 == place && given->ids[start] == other->ids[low];
        if (!is_same && !compare_parts(rows, text, given, start, at, other, low, place)) {
            return;
        }
        start = at;
        low = place;
    }
    compare_parts(rows, text, given, start, given->stop, other, low, other->stop);
}

/* Write down where two tokenizations of texts differ. Text k has the ids of `given` from bounds[k] to bounds[k + 1],
   and the same of `other`. An end is shared if it is above 0 and exactly one id on each side ends there.

   Each row has a text; the first id of a part and the one after its last; the same of the other tokenization; and
   whether one of the ids of both adds nothing. Returns the number of rows; -1 if `rows` is full. */
TOKDFA_API int64_t tokdfa_differences(const tokdfa_tokenizations *given, const tokdfa_tokenizations *other,
                                       int64_t n_texts, int64_t *rows, int64_t room) {
    part_rows found = {rows, 0, room};
    for (int64_t k = 0; k < n_texts && found.n >= 0; k++) {
        const tokens one = tokens_of(given, k), another = tokens_of(other, k);
        compare_texts(&found, k, &one, &another);
    }
    return found.n;
}
