/* The ids around matches by definition: the closest cuts that stay, on both sides of each match. */
#ifndef TOKDFA_REPLACING_TWIN_H
#define TOKDFA_REPLACING_TWIN_H

#include "../../../../tokdfa/kernels/replacing/api.h"
#include "harness.h"

enum { ROW = 4, OPEN = -1 };

typedef struct {
    int64_t n_tokens, width;
    const int32_t *first, *last; /* classes; the class of the last symbol is not multiplied */
    tokdfa_id_cuts cuts;
    arena memory;
} vocabulary;

static int64_t size_of(const vocabulary *v, int32_t id) {
    return v->cuts.offsets[id + 1] - v->cuts.offsets[id];
}

static bool cuts_between(const vocabulary *v, int64_t left, int64_t right) {
    return v->cuts.table[left * v->width + right];
}

static bool cuts_before(const vocabulary *v, const int32_t *ids, int64_t place) {
    return cuts_between(v, v->last[ids[place - 1]], v->first[ids[place]]);
}

/* Whether bytes of the last id of a match are after it. */
static bool leaves_bytes(const vocabulary *v, const int32_t *ids, const int64_t *match) {
    int64_t size = 0;
    for (int64_t i = match[0]; i < match[1]; i++) {
        size += size_of(v, ids[i]);
    }
    return match[2] + match[3] < size;
}

static bool remains_before(const vocabulary *v, const tokdfa_around *job, int64_t number) {
    const int64_t *match = job->matches + ROW * number, start = match[0];
    const bool is_known = job->first_class >= 0;
    if (start == 0) {
        return job->begins;
    }
    if (v->cuts.parts[job->ids[start - 1]]) {
        return true;
    }
    if (match[3] == 0 || !cuts_before(v, job->ids, start)) {
        return false;
    }
    const bool touches = number > 0 && match[1 - ROW] == start && !leaves_bytes(v, job->ids, match - ROW);
    if (!is_known && (touches || match[2] == 0)) {
        return false;
    }
    return cuts_between(v, touches ? job->last_class : v->last[job->ids[start - 1]],
                        match[2] ? v->first[job->ids[start]] : job->first_class);
}

static bool remains_after(const vocabulary *v, const tokdfa_around *job, int64_t number) {
    const int64_t *match = job->matches + ROW * number, stop = match[1];
    if (stop == job->n_ids) {
        return job->final;
    }
    if (v->cuts.parts[job->ids[stop]]) {
        return true;
    }
    return match[3] > 0 && cuts_before(v, job->ids, stop) &&
           (leaves_bytes(v, job->ids, match) ||
            (job->last_class >= 0 && cuts_between(v, job->last_class, v->first[job->ids[stop]])));
}

/* Write the regions; one that begins within the one before continues it. Returns their number. */
static int64_t find_regions(const vocabulary *v, const tokdfa_around *job, int64_t *regions) {
    int64_t n = 0;
    for (int64_t number = 0; number < job->n_matches / ROW; number++) {
        const int64_t *match = job->matches + ROW * number;
        int64_t left = match[0], right = match[1];
        if (!remains_before(v, job, number)) {
            for (left -= left > 0; left > 0 && !cuts_before(v, job->ids, left); left--) {
            }
        }
        if (!remains_after(v, job, number)) {
            for (right++; right < job->n_ids && !cuts_before(v, job->ids, right); right++) {
            }
            if (right >= job->n_ids) {
                right = job->final && match[1] < job->n_ids ? job->n_ids : OPEN;
            }
        }
        int64_t *before = regions + ROW * (n - 1);
        if (n && (before[1] == OPEN || left < before[1])) {
            before[1] = before[1] == OPEN || right == OPEN ? OPEN : before[1] > right ? before[1] : right;
            before[3] = number + 1;
        } else {
            const int64_t region[ROW] = {left, right, number, number + 1};
            memcpy(regions + ROW * n++, region, sizeof region);
        }
    }
    return n;
}

/* Whether two regions have the same ids, and the same matches at the same places. */
static bool are_alike(const tokdfa_around *job, const int64_t *one, const int64_t *other) {
    bool same = one[1] - one[0] == other[1] - other[0] && one[3] - one[2] == other[3] - other[2] &&
                (!job->begins || (one[0] == 0) == (other[0] == 0));
    for (int64_t i = 0; same && i < one[1] - one[0]; i++) {
        same = job->ids[one[0] + i] == job->ids[other[0] + i];
    }
    for (int64_t i = 0; same && i < one[3] - one[2]; i++) {
        const int64_t *match = job->matches + ROW * (one[2] + i), *twin = job->matches + ROW * (other[2] + i);
        same = match[0] - one[0] == twin[0] - other[0] && match[1] - one[0] == twin[1] - other[0] &&
               match[2] == twin[2] && match[3] == twin[3];
    }
    return same;
}

#endif
