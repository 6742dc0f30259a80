#ifndef TOKDFA_SPELLING_DOOR_H
#define TOKDFA_SPELLING_DOOR_H

#include <stdint.h>

int64_t tokdfa_spelled_lengths(const int64_t *offsets, const int32_t *numbers, int64_t n, int64_t *lengths);
void tokdfa_spell(const uint8_t *text, int64_t n_text, const int64_t *offsets, const int32_t *numbers, int64_t n,
                  uint8_t *spelled, int64_t n_spelled);

#endif
