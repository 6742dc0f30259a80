/* Masks of the ids that can come next, with one bit an id. */
#include "../common/base.h"
#include "door.h"

/* What is known of a state of the pre-tokenizer together with one of the texts: that a stream goes on from it whatever
   the last id forbids, or from none; or it is to be looked at. */
enum { OPEN = 0, GOES_ON = 1, DEAD_END = 2 };

ALWAYS_INLINE void set_bit(uint32_t *mask, int32_t id) {
    mask[id >> 5] |= (uint32_t)1 << (id & 31);
}

ALWAYS_INLINE int verdict_on(const tokdfa_next_job *job, int32_t split, int32_t text) {
    int32_t place = job->place_of[split];
    return place < 0 ? OPEN : job->verdicts[place * job->n_texts + text];
}

/* Take the fragile ids that a row forbids out of a mask. */
TOKDFA_DOOR void tokdfa_forbid(const tokdfa_followers *followers, int32_t row, const uint32_t *fragile,
                               uint32_t *mask) {
    for (int32_t k = followers->pointer[row]; k < followers->pointer[row + 1]; k++) {
        for (int32_t at = followers->start[k]; at < followers->stop[k]; at++) {
            int32_t id = followers->id_at[at];
            if (id >= 0) {
                mask[id >> 5] &= ~(fragile[id >> 5] & (uint32_t)1 << (id & 31));
            }
        }
    }
}

/* Whether each row forbids the id at a position. */
TOKDFA_DOOR void tokdfa_forbidding(const tokdfa_followers *followers, const int32_t *rows, int64_t n, int32_t position,
                                   uint8_t *forbids) {
    for (int64_t i = 0; i < n; i++) {
        bool found = false;
        for (int32_t k = followers->pointer[rows[i]]; k < followers->pointer[rows[i] + 1] && !found; k++) {
            found = followers->start[k] <= position && position < followers->stop[k];
        }
        forbids[i] = found;
    }
}

/* Set the bits of the ids that go on if they are not forbidden, and of those of them that do not if they are; the state
   of the texts after ids[k] is texts[k]. The numbers k of those that are not settled are written to `open`. Returns how
   many there are. */
TOKDFA_DOOR int64_t tokdfa_next_ids(const tokdfa_next_job *job, const int32_t *ids, const int32_t *texts, int64_t n,
                                    uint32_t *allowed, uint32_t *fragile, int32_t *open) {
    int64_t n_open = 0;
    for (int64_t k = 0; k < n; k++) {
        int32_t id = ids[k], number = job->class_of[id], split = job->allowed[number], spelled = job->spelled[id];
        if (split == 0 || spelled < 0) {
            continue;
        }
        int verdict = spelled > 0 ? OPEN : verdict_on(job, split, texts[k]);
        if (verdict == GOES_ON) {
            int32_t cut = job->cut[number];
            int otherwise = cut == split ? GOES_ON : cut == 0 ? DEAD_END : verdict_on(job, cut, texts[k]);
            if (otherwise == OPEN) {
                open[n_open++] = (int32_t)k;
                continue;
            }
            set_bit(allowed, id);
            if (otherwise == DEAD_END) {
                set_bit(fragile, id);
            }
        } else if (verdict == OPEN) {
            open[n_open++] = (int32_t)k;
        }
    }
    return n_open;
}
