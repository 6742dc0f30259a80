/* The ids around matches that are encoded again: the ids up to the nearest cuts that a replacement leaves.

   A cut depends on the symbols on both sides of it. So a region reaches at least one id beyond its matches on either
   side, unless these symbols, or their replacements, make a cut as well. Where two matches touch, both change. */
#include "../common/base.h"
#include "api.h"

enum { MATCH_FIELDS = 4 };

/* The end of a region that is not known yet. */
enum { OPEN = -1 };

ALWAYS_INLINE bool is_cut_before(const tokdfa_id_cuts *cuts, const int32_t *ids, int64_t index) {
    return cuts->table[cuts->last[ids[index - 1]] + cuts->first[ids[index]]];
}

/* The number of bytes of the last id of a match after it. */
static int64_t bytes_after(const tokdfa_id_cuts *cuts, const tokdfa_around *job, const int64_t *match) {
    int64_t left = -match[2] - match[3];
    for (int64_t index = match[0]; index < match[1]; index++) {
        left += cuts->offsets[job->ids[index] + 1] - cuts->offsets[job->ids[index]];
    }
    return left;
}

/* Whether there is a cut before the first id of a match, with any replacement. `previous` is the match before, or
   NULL. */
static bool stays_before(const tokdfa_id_cuts *cuts, const tokdfa_around *job, const int64_t *match,
                         const int64_t *previous) {
    const int64_t start = match[0];
    if (start == 0) {
        return job->begins;
    }
    const int32_t before = job->ids[start - 1];
    if (cuts->parts[before]) {
        return true;
    }
    if (start == job->n_ids || match[3] == 0 || !is_cut_before(cuts, job->ids, start)) {
        return false;
    }
    /* Where the match does not begin with the id, the first symbol of the id stays. */
    const int64_t right = match[2] > 0 ? cuts->first[job->ids[start]] : job->first_class;
    int64_t left = cuts->last[before];
    if (previous && previous[1] == start && bytes_after(cuts, job, previous) == 0) {
        left = job->last_class * cuts->width;
    }
    return left >= 0 && right >= 0 && cuts->table[left + right];
}

/* Whether there is a cut after the last id of a match, with any replacement. */
static bool stays_after(const tokdfa_id_cuts *cuts, const tokdfa_around *job, const int64_t *match) {
    const int64_t stop = match[1];
    if (stop == job->n_ids) {
        return job->final;
    }
    const int32_t after = job->ids[stop];
    if (cuts->parts[after]) {
        return true;
    }
    if (match[3] == 0 || !is_cut_before(cuts, job->ids, stop)) {
        return false;
    }
    return bytes_after(cuts, job, match) > 0 ||
           (job->last_class >= 0 && cuts->table[job->last_class * cuts->width + cuts->first[after]]);
}

/* Write the regions, in order; none overlaps the next. Returns their number. The last may be open. */
TOKDFA_API int64_t tokdfa_regions(const tokdfa_id_cuts *cuts, tokdfa_around *job) {
    const int32_t *ids = job->ids;
    int64_t n_regions = 0, *region = job->regions - MATCH_FIELDS;
    for (int64_t number = 0; number < job->n_matches / MATCH_FIELDS; number++) {
        const int64_t *match = job->matches + MATCH_FIELDS * number;
        const bool stays = stays_before(cuts, job, match, number ? match - MATCH_FIELDS : NULL);
        int64_t left = match[0];
        /* At the end of a region there is a cut, so nothing before that is looked at. */
        const bool is_inside = n_regions > 0 &&
                               (region[1] == OPEN || left < region[1] || (left == region[1] && !stays));
        if (!is_inside) {
            if (!stays && left > 0) {
                do {
                    left--;
                } while (left > 0 && !is_cut_before(cuts, ids, left));
            }
            region += MATCH_FIELDS;
            n_regions++;
            region[0] = left;
            region[1] = 0;
            region[2] = number;
        }
        region[3] = number + 1;
        if (region[1] == OPEN || match[1] < region[1]) {
            continue;
        }
        int64_t right = match[1];
        if (!stays_after(cuts, job, match)) {
            do {
                right++;
            } while (right < job->n_ids && !is_cut_before(cuts, ids, right));
            if (right >= job->n_ids) {
                right = job->final && match[1] < job->n_ids ? job->n_ids : OPEN;
            }
        }
        region[1] = right;
    }
    return n_regions;
}

/* The number of ids of a region. */
ALWAYS_INLINE size_t region_size(const int64_t *region) {
    return (size_t)(region[1] - region[0]);
}

static uint64_t region_hash(const tokdfa_around *job, const int64_t *region) {
    uint64_t key = 0x9E3779B97F4A7C15u;
    for (int64_t index = region[0]; index < region[1]; index++) {
        key = (key ^ (uint64_t)job->ids[index]) * 0xBF58476D1CE4E5B9u;
        key ^= key >> 29;
    }
    for (int64_t number = region[2]; number < region[3]; number++) {
        const int64_t *match = job->matches + MATCH_FIELDS * number;
        key = (key ^ (uint64_t)(match[0] - region[0]) ^ (uint64_t)match[2] << 20 ^ (uint64_t)match[3] << 40) *
              0x94D049BB133111EBu;
        key ^= key >> 31;
    }
    return key ^ (key >> 32);
}

/* Whether two regions have the same ids, and the same matches in the same positions. */
static bool are_equal(const tokdfa_around *job, const int64_t *one, const int64_t *other) {
    if (region_size(one) != region_size(other) || one[3] - one[2] != other[3] - other[2] ||
        (job->begins && (one[0] == 0) != (other[0] == 0)) ||
        memcmp(job->ids + one[0], job->ids + other[0], region_size(one) * sizeof *job->ids)) {
        return false;
    }
    for (int64_t i = 0; i < one[3] - one[2]; i++) {
        const int64_t *match = job->matches + MATCH_FIELDS * (one[2] + i),
                      *match_of_other = job->matches + MATCH_FIELDS * (other[2] + i);
        if (match[0] - one[0] != match_of_other[0] - other[0] || match[2] != match_of_other[2] ||
            match[3] != match_of_other[3]) {
            return false;
        }
    }
    return true;
}

/* Number the kinds of regions: regions of one kind have the same ids and matches. Writes the kind of each region, and
   the first region of each kind; returns the number of kinds. The table has 2^k entries, more than there are regions,
   all -1 at first. No region is open. */
TOKDFA_API int64_t tokdfa_kinds_of_regions(const tokdfa_around *job, int64_t n_regions, int64_t *table, int64_t n_table,
                                           int64_t *kind, int64_t *example) {
    const uint64_t mask = (uint64_t)n_table - 1;
    int64_t n_kinds = 0;
    for (int64_t number = 0; number < n_regions; number++) {
        const int64_t *region = job->regions + MATCH_FIELDS * number;
        uint64_t bucket = region_hash(job, region) & mask;
        while (table[bucket] >= 0 && !are_equal(job, region, job->regions + MATCH_FIELDS * example[table[bucket]])) {
            bucket = (bucket + 1) & mask;
        }
        if (table[bucket] < 0) {
            example[n_kinds] = number;
            table[bucket] = n_kinds++;
        }
        kind[number] = table[bucket];
    }
    return n_kinds;
}

/* Write the ids with the spans exchanged. What is written may overlap the ids, if it begins at least as far before
   them as it ever gets ahead of them: then nothing is overwritten that is still to be moved. */
TOKDFA_API void tokdfa_splice(const tokdfa_exchange *job, int32_t *out) {
    int64_t read = 0, written = 0;
    for (int64_t number = 0; number < job->n_kind; number++) {
        const int64_t start = job->bounds[2 * number], kind = job->kind[number];
        const int64_t begin = job->offsets[kind], size = job->offsets[kind + 1] - begin;
        if (out + written != job->ids + read) {
            memmove(out + written, job->ids + read, (size_t)(start - read) * sizeof *out);
        }
        written += start - read;
        memcpy(out + written, job->fresh + begin, (size_t)size * sizeof *out);
        written += size;
        read = job->bounds[2 * number + 1];
    }
    if (out + written != job->ids + read) {
        memmove(out + written, job->ids + read, (size_t)(job->n_ids - read) * sizeof *out);
    }
}
