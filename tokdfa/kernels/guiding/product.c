/* The prefix automaton of a tokenizer and a language of texts: the state after an id, and whether a stream can continue
   from there. */
#include "budget.h"

static int find_target(const tokdfa_guide *guide, guide_state from, int32_t id, guide_state *to) {
    if (!is_state(guide, from) || id < 0 || id >= guide->ids->n_class_of) {
        return NO_SUCH_STATE;
    }
    const int status = after(guide, from, id, text_after(guide, from.text, id), to);
    if (status == YES) {
        guide->cache->found_split = to->split, guide->cache->found_row = to->row;
        guide->cache->found_spelled = to->spelled, guide->cache->found_text = to->text;
    }
    return status;
}

/* Enter states and their results into a cache with slots for all of them. */
TOKDFA_API void tokdfa_guide_enter(tokdfa_guide_cache *cache, const int32_t *keys, const uint8_t *values,
                                   const int32_t *enough, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        if (keys[4 * k] != 0 && values[k] != NOT_SEARCHED) {
            guide_state at;
            memcpy(&at, keys + 4 * k, sizeof at);
            const int64_t slot = enter_state(cache, at);
            if (slot >= 0) {
                cache->values[slot] = values[k];
                cache->enough[slot] = enough[k];
            }
        }
    }
}

/* The state after an id, whether or not a stream can continue from there. */
TOKDFA_API int32_t tokdfa_guide_target(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled,
                                       int32_t text, int32_t id) {
    guide_state to;
    return find_target(guide, (guide_state){split, row, spelled, text}, id, &to);
}

/* The parts of the states after ids that do not depend on the id alone: the states of the pre-tokenizer after each, if
   the row does not forbid it and if it does, 0 for nowhere; of the scan of the text; and of the texts. */
TOKDFA_API int32_t tokdfa_guide_targets(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text,
                                        const tokdfa_guide_targets_job *job) {
    if (!is_state(guide, (guide_state){split, NO_ROW, spelled, text})) {
        return NO_SUCH_STATE;
    }
    for (int64_t k = 0; k < job->n_ids; k++) {
        const int32_t id = job->ids[k];
        if (id < 0 || id >= guide->ids->n_class_of) {
            return NO_SUCH_STATE;
        }
        const int32_t class = guide->ids->class_of[id];
        job->free[k] = split_after(guide, split, class, true);
        job->cut[k] = split_after(guide, split, class, false);
        if (job->free[k] == MISSING || job->cut[k] == MISSING) {
            return MISSING;
        }
        job->spelled[k] = spelled_after(guide, spelled, id);
        job->text[k] = text_after(guide, text, id);
    }
    return YES;
}

/* The state after an id, if a stream can continue from there. */
TOKDFA_API int32_t tokdfa_guide_step(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled,
                                     int32_t text, int32_t id) {
    guide_state to;
    const int status = find_target(guide, (guide_state){split, row, spelled, text}, id, &to);
    return status != YES || is_known_to_go_on(guide, to) ? status : goes_on(guide, to);
}

/* Whether a stream can continue from a state, or end there. */
TOKDFA_API int32_t tokdfa_guide_goes_on(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled,
                                        int32_t text) {
    const guide_state at = {split, row, spelled, text};
    return is_state(guide, at) ? goes_on(guide, at) : NO_SUCH_STATE;
}

/* Whether a stream can end within `limit` ids, at most a million, after a state. */
TOKDFA_API int32_t tokdfa_guide_within(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled,
                                       int32_t text, int32_t limit) {
    const guide_state at = {split, row, spelled, text};
    return is_state(guide, at) ? within(guide, at, limit) : NO_SUCH_STATE;
}
