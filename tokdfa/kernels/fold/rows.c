/* The tokens that the states of a token DFA do not allow, as rows of intervals of positions; equal rows are shared.

   A state forbids the intervals of its parent and one more. The intervals of one state are disjoint, so only intervals
   that touch are joined. */
#include "../common/base.h"
#include "../common/sort.h"
#include "api.h"

/* Write, from index `begin` on, the row made of `length` own intervals and the intervals from `above` to `above_end`;
   returns its end. */
static int64_t join(tokdfa_row_job *job, int64_t length, int64_t above, int64_t above_end, int64_t begin, int64_t end) {
    int32_t *start = job->start, *stop = job->stop;
    int64_t taken = 0;
    while (taken < length || above < above_end) {
        int32_t low, high;
        if (taken < length && (above == above_end || (int32_t)(job->own[taken] >> 32) < start[above])) {
            low = (int32_t)(job->own[taken] >> 32);
            high = (int32_t)(job->own[taken] & 0x7FFFFFFF);
            taken++;
        } else {
            low = start[above];
            high = stop[above];
            above++;
        }
        if (end > begin && stop[end - 1] == low) {
            stop[end - 1] = high;
        } else {
            start[end] = low;
            stop[end] = high;
            end++;
        }
    }
    return end;
}

/* The bucket of the row from `begin` to `end`: the one of an equal row, or a free one. */
static int64_t row_bucket(const tokdfa_row_job *job, int64_t begin, int64_t end) {
    const int32_t *start = job->start, *stop = job->stop;
    uint64_t key = 0x9E3779B97F4A7C15u;
    for (int64_t k = begin; k < end; k++) {
        key = (key ^ (uint64_t)start[k]) * 0xBF58476D1CE4E5B9u;
        key = (key ^ (key >> 29) ^ (uint64_t)stop[k]) * 0x94D049BB133111EBu;
    }
    uint64_t mask = (uint64_t)job->n_table - 1, bucket = (key ^ (key >> 32)) & mask;
    size_t size = (size_t)(end - begin) * sizeof *start;
    for (; job->table[bucket] >= 0; bucket = (bucket + 1) & mask) {
        int64_t other = job->pointer[job->table[bucket]];
        if (job->pointer[job->table[bucket] + 1] - other == end - begin &&
            !memcmp(start + other, start + begin, size) && !memcmp(stop + other, stop + begin, size)) {
            break;
        }
    }
    return (int64_t)bucket;
}

/* Gather the rows of the states that have none yet. Returns the number of states done, which is less than the number of
   states if the buffer for intervals is full. */
TOKDFA_API int64_t tokdfa_gather_rows(tokdfa_row_job *job) {
    for (; job->done < job->n_states; job->done++) {
        int32_t wanted = job->states[job->done], state = wanted;
        /* Its own intervals, up to the next state above that has a row, which is copied. */
        int64_t length = 0;
        for (; state > 0 && job->row[state] < 0; state = job->parent[state]) {
            job->own[length++] = (int64_t)job->first[state] << 32 | (int64_t)(job->first[state] + job->width[state]);
        }
        int64_t above = 0, above_end = 0;
        if (wanted > 0) {
            above = job->pointer[job->row[state]];
            above_end = job->pointer[job->row[state] + 1];
        }
        int64_t begin = job->pointer[job->n_rows], end = begin;
        if (end + length + (above_end - above) + 1 > job->n_start) {
            return job->done;
        }
        sort_longs(job->own, length);
        if (wanted == 0 && job->n_live < job->n_tokens) {
            job->start[0] = (int32_t)job->n_live;
            job->stop[0] = (int32_t)job->n_tokens;
            end++;
        }
        end = join(job, length, above, above_end, begin, end);
        int64_t bucket = row_bucket(job, begin, end);
        if (job->table[bucket] < 0) {
            job->table[bucket] = (int32_t)job->n_rows++;
            job->pointer[job->n_rows] = (int32_t)end;
        }
        job->row[wanted] = job->table[bucket];
    }
    return job->done;
}
