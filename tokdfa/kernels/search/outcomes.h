/* The effect of a token on a state of the search, read symbol by symbol. */
#ifndef TOKDFA_OUTCOMES_H
#define TOKDFA_OUTCOMES_H

#include "search.h"

/* The effect of a token on a state that is not idle. */
static int64_t outcome_of(const tokdfa_machine *machine, int64_t state, int64_t id) {
    const tokdfa_forward *forward = machine->forward;
    const tokdfa_moves *moves = machine->moves;
    const int64_t begin = begin_of(machine->text, id), special = is_special(machine->text, id);
    const int64_t length = special ? 1 : length_of(machine->text, id);
    const uint8_t *bytes = machine->text->bytes + begin;
    const int64_t alone = moves->outcomes[id];
    const bool accelerated = alone >= 0 && (alone & ACCELERATED);
    bool pending = false, complete = false;
    int64_t start = 0, end = 0;
    for (int64_t offset = 0; offset < length; offset++) {
        int64_t column = forward->column_of[special ? EDGE : bytes[offset]];
        state = target(forward, state, column);
        if (state == 0) {
            if (!pending && !complete) {
                return DEAD;
            }
            if (end < offset) {
                return INTRICATE;
            }
            state = target(forward, forward->idle, column);
            pending = false;
            complete = true;
        }
        const tokdfa_state_info *info = info_of(forward, state);
        if (info->delay >= 0) {
            if (complete || info->fixed == 0) {
                return INTRICATE;
            }
            end = offset + 1;
            start = end - info->fixed;
            pending = true;
            if (info->alive == 0) {
                pending = false;
                complete = true;
                state = forward->idle;
            }
        } else if (accelerated && !pending && !complete &&
                   state == (special ? alone >> STATE_SHIFT : moves->runs[begin + offset])) {
            /* From here on it no longer matters that something had begun to match. */
            return alone;
        }
    }
    if (!pending && !complete) {
        return state_bits(state);
    }
    if (special || length > END_MASK || start + BIAS < 0) {
        return INTRICATE;
    }
    return (start + BIAS) | end << END_SHIFT | MATCH | (complete ? COMPLETE : 0) | state_bits(state);
}

/* The state after a token that is read from an offset on, after a restart; -1 if there is another match. */
static int64_t state_after(const tokdfa_machine *machine, int64_t id, int64_t offset) {
    const tokdfa_forward *forward = machine->forward;
    const uint8_t *bytes = machine->text->bytes + begin_of(machine->text, id);
    const int64_t length = length_of(machine->text, id);
    int64_t state = forward->idle;
    for (; offset < length; offset++) {
        state = target(forward, state, forward->column_of[bytes[offset]]);
        if (info_of(forward, state)->delay >= 0) {
            return -1;
        }
    }
    return state;
}

#endif
