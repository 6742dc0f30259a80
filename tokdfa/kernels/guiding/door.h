#ifndef TOKDFA_GUIDING_DOOR_H
#define TOKDFA_GUIDING_DOOR_H

#include <stdint.h>

/* The ids that may not follow a token within a piece: row r forbids those at the positions start[i] to stop[i] of
   `id_at` (-1 for none), for i from pointer[r] to pointer[r + 1]. Read-only once it is built. */
typedef struct {
    const int32_t *pointer;
    const int32_t *start;
    const int32_t *stop;
    const int32_t *id_at;
} tokdfa_followers;

/* What a state makes of ids, and what goes on after them: `class_of` and `spelled` are by id (-1 for ids after which
   nothing goes on; states above 0 are never settled here), `allowed` and `cut` by class (0 for nowhere). The verdict on
   a state of the pre-tokenizer and one of the texts is at verdicts[n_texts * place_of[state] + text], if the place is
   not negative. It belongs to one thread. */
typedef struct {
    const int32_t *class_of;
    const int32_t *spelled;
    const int32_t *allowed;
    const int32_t *cut;
    const int32_t *place_of;
    const uint8_t *verdicts;
    int64_t n_texts;
} tokdfa_next_job;

void tokdfa_forbid(const tokdfa_followers *followers, int32_t row, const uint32_t *fragile, uint32_t *mask);
void tokdfa_forbidding(const tokdfa_followers *followers, const int32_t *rows, int64_t n, int32_t position,
                       uint8_t *forbids);
int64_t tokdfa_next_ids(const tokdfa_next_job *job, const int32_t *ids, const int32_t *texts, int64_t n,
                        uint32_t *allowed, uint32_t *fragile, int32_t *open);

#endif
