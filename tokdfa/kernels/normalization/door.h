#ifndef TOKDFA_NORMALIZATION_DOOR_H
#define TOKDFA_NORMALIZATION_DOOR_H

#include <stdint.h>

/* A normalization form; see quick_check.py. Without borders there is no form. Read-only once it is built. */
typedef struct {
    const uint64_t *border;
    int64_t n_border;
    const int32_t *mark;
    int64_t n_mark;
    const uint8_t *order;
    int64_t n_order;
    const int32_t *whole;
    int64_t n_whole;
    const int32_t *bounds;
    int64_t n_bounds;
    const int32_t *parts;
    int64_t n_parts;
    const int64_t *pair;
    int64_t n_pair;
    const int32_t *composed;
    int64_t n_composed;
    int64_t composes;
} tokdfa_form;

int64_t tokdfa_first_change(const tokdfa_form *form, const uint8_t *text, int64_t n);
void tokdfa_find_joining(const tokdfa_form *form, const uint8_t *text, const int64_t *offsets, int64_t n_words,
                         uint8_t *joins);

#endif
