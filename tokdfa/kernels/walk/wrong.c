/* Walking over many streams, and continuing after violations in them.

   A violation is enclosed between two boundaries where the text is always cut. The walk begins again after the second
   one, with few ids at a time at first, because more violations are often near. */
#include "pairs.h"
#include "spells.h"

enum { DONE = 0, UNSURE = 2, NO_ROOM = 5 };
enum { SHORT = 128, LONG = 1 << 20 };

ALWAYS_INLINE bool is_cut(const tokdfa_cuts *cuts, uint32_t left, uint32_t right) {
    return cuts->certain[cuts->n_classes * cuts->last_symbol[left] + cuts->first_symbol[right]];
}

/* Note the part around the id of a stream at which a violation is noticed, and begin again after it. A special token
   that the text spells up to the end of the part is all in it. */
static void note(const tokdfa_walker *walker, const tokdfa_cuts *cuts, const uint32_t *ids, int64_t n, int64_t first,
                 int64_t place, tokdfa_wrong_job *job) {
    int64_t end = place;
    bool is_spelled = false;
    do {
        is_spelled = is_spelled || (end < n && walker->n_node_at > 0 && spells(walker, ids, end));
        end++;
    } while (end < n && !is_cut(cuts, ids[end - 1], ids[end]));
    int64_t begin = greatest(place - (is_spelled ? job->reach : 0) - job->back, 0);
    /* The end of a stream, where it is noticed that more is wanting, is not a cut within it. */
    while (begin > 0 && (begin == n || !is_cut(cuts, ids[begin - 1], ids[begin]))) {
        begin--;
    }
    end = least(end, n);
    begin += first;
    for (; job->count; job->count--) {
        const int64_t *last = job->found + 2 * (job->count - 1);
        if (last[0] < first || last[1] < begin) {
            break;
        }
        begin = least(begin, last[0]);
    }
    job->found[2 * job->count] = begin;
    job->found[2 * job->count + 1] = first + end;
    job->count++;
    job->at = end;
    job->step = SHORT;
}

/* Returns DONE at the end of the last stream; UNSURE where the table does not know the entry of the row at `row` for
   the id at `at`; NO_ROOM if `found` is full. */
TOKDFA_API int tokdfa_wrong_parts(const tokdfa_walker *walker, const tokdfa_cuts *cuts, const uint32_t *ids,
                                   tokdfa_wrong_job *job) {
    for (; job->stream < job->n_begins; job->stream++, job->at = 0, job->row = walker->initial, job->step = LONG) {
        int64_t first = job->begins[job->stream], n = job->ends[job->stream] - first;
        const uint32_t *here = ids + first;
        while (true) {
            if (job->count == job->room) {
                return NO_ROOM;
            }
            tokdfa_place place = {job->at, job->row, 0};
            int status = tokdfa_walk(walker, here, least(n, job->at + job->step), &place);
            job->at = place.at;
            job->row = place.row;
            job->size += place.size;
            if (status == UNSURE) {
                return UNSURE;
            }
            const bool is_end = job->at == n && job->stream < job->n_closed;
            if (status != DONE || (is_end && !walker->is_final[job->row / walker->width])) {
                note(walker, cuts, here, n, first, job->at, job);
                job->row = walker->initial;
            }
            if (job->at == n) {
                break;
            }
            job->step = status == DONE ? least(2 * job->step, LONG) : SHORT;
        }
    }
    return DONE;
}
