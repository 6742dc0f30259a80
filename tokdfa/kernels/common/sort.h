/* Sorting a handful of numbers, or many. */
#ifndef TOKDFA_SORT_H
#define TOKDFA_SORT_H

#include <stdlib.h>

#include "base.h"

static inline int compare_longs(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static inline void sort_longs(int64_t *numbers, int64_t n) {
    if (n > 32) {
        qsort(numbers, (size_t)n, sizeof *numbers, compare_longs);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        int64_t number = numbers[i], k = i;
        for (; k > 0 && numbers[k - 1] > number; k--) {
            numbers[k] = numbers[k - 1];
        }
        numbers[k] = number;
    }
}

#endif
