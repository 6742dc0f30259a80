/* The state that encodes texts, and encoding one with its help. */
#ifndef TOKDFA_ENCODE_WORKPLACE_H
#define TOKDFA_ENCODE_WORKPLACE_H

#include "encode_twin.h"

/* The state of one thread. */
typedef struct {
    arena memory;
    tokdfa_piece_cache known;
    tokdfa_piece_encoder pieces;
    tokdfa_split_run split;
    tokdfa_text_encoder texts;
} workplace;

static void make_room(workplace *w, int64_t room) {
    int32_t *trail = ROOM(&w->memory, int32_t, room);
    int64_t *trail_at = ROOM(&w->memory, int64_t, room), *begun = ROOM(&w->memory, int64_t, room + 1);
    if (w->split.n_waiting) {
        memcpy(trail, w->split.trail, (size_t)w->split.n_waiting * sizeof *trail);
        memcpy(trail_at, w->split.trail_at, (size_t)w->split.n_waiting * sizeof *trail_at);
    }
    if (w->split.begun) {
        begun[0] = w->split.begun[0];
    }
    w->split.trail = trail;
    w->split.n_trail = room;
    w->split.trail_at = trail_at;
    w->split.begun = begun;
}

static void open_workplace(workplace *w, const encoder *e, input *in, int64_t size) {
    memset(w, 0, sizeof *w);
    const int64_t sets = (int64_t)1 << below(in, 4), overflow = TOKDFA_LONGEST_KEPT + below(in, 600);
    const int64_t n_seen = (1 << below(in, 4)) >> 1;
    w->known = (tokdfa_piece_cache){
        .entries = ZEROS(&w->memory, uint64_t, 16 * sets), .n_entries = 16 * sets,
        .overflow = ZEROS(&w->memory, uint64_t, overflow), .n_overflow = overflow,
        .seen = ZEROS(&w->memory, uint64_t, n_seen), .n_seen = n_seen,
    };
    const int64_t n_left = (size >> 6) + 1;
    w->pieces = (tokdfa_piece_encoder){
        .tables = &e->tables, .whole = &e->whole, .cache = &w->known, .one_pass = e->is_proper ? &e->tables : NULL,
        .left = ZEROS(&w->memory, uint64_t, n_left), .n_left = n_left,
    };
    w->split.splitting = &e->splitting;
    make_room(w, 2 * TOKDFA_SPLIT_BLOCK);
    w->texts = (tokdfa_text_encoder){.pieces = &w->pieces, .split = &w->split, .lacks_ids = e->lacks_ids};
    w->texts.n_out = TOKDFA_AT_ONCE + below(in, 300);
    w->texts.out = ROOM(&w->memory, int32_t, w->texts.n_out);
}

/* Whether nothing is left of a call that has paused. */
static bool is_at_rest(const workplace *w) {
    bool rests = !w->pieces.pause.is_on;
    for (int64_t i = 0; i < w->pieces.n_left; i++) {
        rests = rests && !w->pieces.left[i];
    }
    return rests;
}

/* Give up a call that has paused, as Encoder.go_on of pieces.py does, and begin again. */
static void begin_again(workplace *w) {
    if (w->pieces.pause.is_on) {
        w->pieces.pause.is_on = 0;
        memset(w->pieces.left, 0, (size_t)w->pieces.n_left * sizeof *w->pieces.left);
    }
    w->pieces.next = w->pieces.n = 0;
}

/* Encode a text as TextRun does: more room where it is wanted, and long pieces of improper rules by definition. A call
   that pauses is continued; the first one to pause may also be given up, as after Ctrl-C. */
static int64_t encode_text(workplace *w, const encoder *e, const uint8_t *text, int64_t size, int32_t *out) {
    int64_t n = tokdfa_encode_text(&w->texts, text, size, out), n_pauses = 0;
    if (n == TOKDFA_PAUSED && w->pieces.at_a_time & 1) {
        n = tokdfa_encode_text(&w->texts, text, size, out);
    }
    while (n == TOKDFA_TOO_LONG || n == TOKDFA_FULL || n == TOKDFA_PAUSED) {
        if (n == TOKDFA_PAUSED) {
            REQUIRE(w->pieces.at_a_time && ++n_pauses <= 4 * size + 4);
        } else if (n == TOKDFA_TOO_LONG) {
            const int64_t index = w->pieces.next, begin = w->split.begun[index] >> TOKDFA_EVENT_BITS;
            const int64_t end = w->split.begun[index + 1] >> TOKDFA_EVENT_BITS;
            REQUIRE(!e->is_proper && end - begin >= 64);
            const int64_t made = encode_piece(e, text + begin, end - begin, out + w->pieces.n);
            if (made < 0) {
                return made;
            }
            w->pieces.next++;
            w->pieces.n += made;
        } else {
            make_room(w, 2 * w->split.n_trail);
        }
        n = tokdfa_encode_on(&w->texts, text, size, out);
    }
    return n;
}

#endif
