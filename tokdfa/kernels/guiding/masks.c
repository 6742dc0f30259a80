/* Masks of the ids that can come next, with one bit an id. */
#include "../common/base.h"
#include "api.h"

/* Take the fragile ids that a row forbids out of a mask. */
TOKDFA_API void tokdfa_forbid(const tokdfa_followers *followers, int32_t row, const uint32_t *fragile,
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
