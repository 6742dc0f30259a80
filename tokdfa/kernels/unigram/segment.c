/* The segmentation of texts that are normalized. */
#include "segment.h"

static int64_t segment_recorded(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end, int64_t until,
                                tokdfa_unigram_room *r) {
    return segment(m, text, sentence, end, until, r, m->single, m->rounded_late, true, false);
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

/* Move the words of a memory to an empty one, where those of a set keep their order. */
TOKDFA_DOOR void tokdfa_move_words(const uint64_t *from, int64_t n_from, uint64_t *to, int64_t n_to) {
    for (const uint64_t *at = from; at < from + n_from; at += ENTRY) {
        word_entry entry;
        memcpy(&entry, at, sizeof entry);
        word_entry *place = set_of(to, n_to, (packed_word){entry.low, entry.high & ~ANY_KIND}), *end = place + WAYS;
        while (place < end && place->high) {
            place++;
        }
        if (entry.high && place < end) {
            *place = entry;
        }
    }
}
