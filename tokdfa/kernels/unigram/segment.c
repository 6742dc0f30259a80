/* The segmentation of texts that are normalized. */
#include "segment.h"

static int64_t segment_recorded(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end, int64_t until,
                                tokdfa_unigram_room *r) {
    return segment(m, text, sentence, end, until, r, m->single, m->rounded_late, true);
}

/* Write the ids of texts, valid UTF-8, that come one after the other and end at `ends`, ascending. Returns their
   number, or why the call has stopped. */
TOKDFA_DOOR int64_t tokdfa_segment(const tokdfa_unigram *model, const uint8_t *text, const int64_t *ends, int64_t n_ends,
                                   tokdfa_unigram_room *room) {
    const int64_t until = room->at_a_time ? room->at + room->at_a_time : INT64_MAX;
    const segment_run run = room->n_sums ? segment_recorded : run_of(model);
    while (room->sentence < n_ends) {
        const int64_t end = ends[room->sentence];
        if (room->at < end) {
            const int64_t sentence = room->sentence ? ends[room->sentence - 1] : 0;
            const int64_t done = run(model, text, sentence, end, until, room);
            if (done != 1) {
                return done;
            }
        }
        if (model->restarts) {
            end_run(model, text, end, room);
            room->score = 0;
        }
        room->sentence++;
    }
    return room->n;
}
