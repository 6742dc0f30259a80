/* Growing arrays. */
#ifndef TOKDFA_TRAIN_CAPACITY_H
#define TOKDFA_TRAIN_CAPACITY_H

#include <stdlib.h>

#include "../common/base.h"

/* An array with a capacity for `more` elements after those used, moved and at least doubled if need be. NULL if out of
   memory; then the array stays unchanged. */
static inline void *with_capacity(void *array, int64_t *capacity, int64_t used, int64_t more, size_t size) {
    if (LIKELY(used + more <= *capacity)) {
        return array;
    }
    int64_t larger = greatest(used + more, 2 * *capacity);
    if ((uint64_t)larger > SIZE_MAX / 2 / size) {
        return NULL;
    }
    void *moved = realloc(array, (size_t)larger * size);
    if (moved) {
        *capacity = larger;
    }
    return moved;
}

#endif
