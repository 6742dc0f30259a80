#ifndef TOKDFA_SPELLING_DOOR_H
#define TOKDFA_SPELLING_DOOR_H

#include <stdint.h>

/* Distinct words by their spelling: word i is text[offsets[i]] to text[offsets[i + 1] - 2], and a separator follows it.
   Read-only once it is built. */
typedef struct {
    const uint8_t *text;
    const int64_t *offsets;
    int64_t n_offsets;
    uint64_t *slots;
    int64_t n_slots;
    uint64_t key_0;
    uint64_t key_1;
} tokdfa_word_table;

/* Rules as they are written: two parts, separated by `inner`, and rules separated by `outer`, which may be the same.
   `found` has a row of three for each: the numbers of the left part, of the right one, and of the
   word that they make. It belongs to one thread. */
typedef struct {
    const uint8_t *text;
    int64_t n_text;
    uint8_t inner;
    uint8_t outer;
    int64_t skipped;
    int32_t *found;
    int64_t n_rules;
} tokdfa_rule_lines;

int64_t tokdfa_spelled_lengths(const int64_t *offsets, const int32_t *numbers, int64_t n, int64_t *lengths);
void tokdfa_spell(const uint8_t *text, int64_t n_text, const int64_t *offsets, const int32_t *numbers, int64_t n,
                  uint8_t *spelled, int64_t n_spelled);
void tokdfa_enter_words(const tokdfa_word_table *table);
int64_t tokdfa_find_rules_in(const tokdfa_word_table *table, const tokdfa_rule_lines *lines);

#endif
