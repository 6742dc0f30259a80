/* Sorting words by their bytes. */
#include <stdlib.h>

#include "../common/base.h"
#include "api.h"

#define KEY_BYTES 8

/* A word, by its next eight bytes: as a big-endian number, zeros past its end. `left` is how many bytes there are from
   them on, nine for all that are longer. */
typedef struct {
    uint64_t key;
    int32_t number, left;
} part;

/* Words that are equal up to an offset. */
typedef struct {
    int64_t low, high, depth;
} group;

static int compare_keys(const void *one, const void *other) {
    const part *a = one, *b = other;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->left != b->left) {
        return a->left < b->left ? -1 : 1;
    }
    return (a->number > b->number) - (a->number < b->number);
}

static part part_at(const uint8_t *text, const int64_t *offsets, int64_t gap, int32_t number, int64_t depth) {
    const int64_t begin = offsets[number] + depth, left = offsets[number + 1] - gap - begin;
    part made = {0, number, (int32_t)least(left, KEY_BYTES + 1)};
    for (int64_t i = 0; i < KEY_BYTES; i++) {
        made.key = made.key << 8 | (i < left ? text[begin + i] : 0);
    }
    return made;
}

/* Sort words, which begin at offsets[i], with a gap of so many bytes after each. `order` gets their numbers; equal
   words keep their order. Returns 0. */
TOKDFA_API int64_t tokdfa_sort_words(const uint8_t *text, const int64_t *offsets, int64_t n_words, int64_t gap,
                                      int32_t *order) {
    part *parts = malloc((size_t)(n_words + 1) * sizeof *parts);
    group *groups = malloc((size_t)(n_words + 1) * sizeof *groups);
    if (!parts || !groups) {
        free(parts);
        free(groups);
        return TOKDFA_NO_MEMORY;
    }
    for (int32_t i = 0; i < n_words; i++) {
        order[i] = i;
    }
    /* Those that wait do not overlap, and have two words or more. */
    int64_t n_groups = 1;
    groups[0] = (group){0, n_words, 0};
    while (n_groups) {
        const group here = groups[--n_groups];
        for (int64_t i = here.low; i < here.high; i++) {
            parts[i] = part_at(text, offsets, gap, order[i], here.depth);
        }
        qsort(parts + here.low, (size_t)(here.high - here.low), sizeof *parts, compare_keys);
        for (int64_t i = here.low, begin = i; i < here.high; i++) {
            order[i] = parts[i].number;
            const bool is_equal = i + 1 < here.high && parts[i + 1].key == parts[i].key;
            if (is_equal && parts[i + 1].left > KEY_BYTES && parts[i].left > KEY_BYTES) {
                continue;
            }
            if (i > begin) {
                groups[n_groups++] = (group){begin, i + 1, here.depth + KEY_BYTES};
            }
            begin = i + 1;
        }
    }
    free(parts);
    free(groups);
    return 0;
}
