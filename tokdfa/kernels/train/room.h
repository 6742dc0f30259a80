/* Growing arrays. */
#ifndef TOKDFA_TRAIN_ROOM_H
#define TOKDFA_TRAIN_ROOM_H

#include <stdlib.h>

#include "../common/base.h"

/* An array with room for `more` elements after those used, moved and at least doubled if need be. NULL if there is no
   memory; then the array stays unchanged. */
static inline void *with_room(void *array, int64_t *room, int64_t used, int64_t more, size_t size) {
    if (LIKELY(used + more <= *room)) {
        return array;
    }
    int64_t larger = greatest(used + more, 2 * *room);
    if ((uint64_t)larger > SIZE_MAX / 2 / size) {
        return NULL;
    }
    void *moved = realloc(array, (size_t)larger * size);
    if (moved) {
        *room = larger;
    }
    return moved;
}

#endif
