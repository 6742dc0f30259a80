/* Encoding texts and their pieces, and splitting alone, against definitions. */
#ifndef TOKDFA_ENCODE_TEXTS_H
#define TOKDFA_ENCODE_TEXTS_H

#include "encode_workplace.h"

static void encode_texts(const encoder *e, input *in) {
    workplace w;
    const bool is_long = (take(in) & 31) == 31;
    uint8_t *read = malloc(MOST_TEXT);
    REQUIRE(read);
    open_workplace(&w, e, in, MOST_TEXT);
    arena *memory = &w.memory;
    const int n_texts = (int)between(in, 1, 3);
    const int pause = take(in);
    /* Calls never pause, or after some bytes. */
    w.pieces.at_a_time = pause < 0x60 ? 0 : pause - 0x5F;
    int64_t n_read = read_text(in, e->d, read, is_long ? MOST_TEXT : 1500);
    for (int k = 0; k < 2 * n_texts; k++) {
        /* The same texts again, when the memory knows some of it. */
        const int64_t begin = n_read * (k % n_texts) / n_texts, size = n_read * (k % n_texts + 1) / n_texts - begin;
        uint8_t *text = exactly(memory, read + begin, size, 1);
        const int64_t n_ids = size + TOKDFA_AT_ONCE;
        int32_t *out = ROOM(memory, int32_t, n_ids), *expected = ROOM(memory, int32_t, n_ids);
        int64_t *begun = ROOM(memory, int64_t, size + 1), at, *cells = ROOM(memory, int64_t, size + 1);
        int64_t *places = ROOM(memory, int64_t, size + 1), *piece_ends = ROOM(memory, int64_t, size + 1);
        const int64_t n_begun = split_naively(e, text, size, begun, &at, cells, places);
        const int64_t status = encode_text(&w, e, text, size, out);
        REQUIRE(is_at_rest(&w));
        if (n_begun < 0) {
            /* The whole pieces before that may have ended it. */
            const bool may_be_foreign = n_begun == TOKDFA_CUT_SHORT || size > TOKDFA_SPLIT_BLOCK;
            REQUIRE(status == n_begun || (status == TOKDFA_FOREIGN && may_be_foreign));
            REQUIRE(status != n_begun || w.split.at == at);
            /* It is read to where it goes wrong. */
            w.split.state = w.split.n_waiting = 0;
            REQUIRE(tokdfa_split_texts(&w.split, text, &size, 1) == -1);
            continue;
        }
        begun[n_begun] = size << TOKDFA_EVENT_BITS;
        int64_t n = 0, foreign = -1, lacking = 0;
        for (int64_t i = 0; i < n_begun && foreign < 0; i++) {
            const int64_t first = begun[i] >> TOKDFA_EVENT_BITS, stop = begun[i + 1] >> TOKDFA_EVENT_BITS;
            if ((begun[i] & 3) == TOKDFA_BEGINS) {
                const int64_t made = encode_piece(e, text + first, stop - first, expected + n);
                foreign = made < 0 ? i : foreign;
                n += made < 0 ? 0 : made;
            }
            piece_ends[i] = n;
        }
        for (int64_t i = 0; i < n; i++) {
            lacking += expected[i] < 0;
        }
        const int64_t wanted = foreign >= 0 ? TOKDFA_FOREIGN : lacking && e->lacks_ids ? TOKDFA_LACKS_IDS : n;
        REQUIRE(status == wanted);
        if (status >= 0) {
            REQUIRE(!memcmp(out, expected, (size_t)n * sizeof *out));
        } else if (status == TOKDFA_FOREIGN && w.pieces.next < w.texts.n_pieces) {
            REQUIRE(w.split.begun[w.pieces.next] >> TOKDFA_EVENT_BITS == begun[foreign] >> TOKDFA_EVENT_BITS);
        }
        if (size + TOKDFA_AT_ONCE <= w.texts.n_out) {
            int64_t again = tokdfa_encode_short(&w.texts, text, size);
            while (again == TOKDFA_PAUSED) {
                again = tokdfa_encode_on(&w.texts, text, size, w.texts.out);
            }
            REQUIRE(again == (status < 0 ? status : n) || again == TOKDFA_TOO_LONG);
            REQUIRE(again < 0 || !memcmp(w.texts.out, expected, (size_t)n * sizeof *expected));
        }
        /* The pieces alone, in two steps. */
        memset(out, 0xA5, (size_t)n_ids * sizeof *out);
        int64_t *exact = exactly(memory, begun, n_begun + 1, sizeof *begun), *ends = ROOM(memory, int64_t, n_begun);
        begin_again(&w);
        bool may_give_up = w.pieces.at_a_time & 2;
        const int64_t stops[2] = {n_begun * (pause % 4) / 4, n_begun};
        for (int step = 0; step < 2; step++) {
            int64_t ended;
            while ((ended = tokdfa_encode_pieces(&w.pieces, text, size, exact, stops[step], out, ends)) < 0) {
                const int64_t i = w.pieces.next;
                if (ended == TOKDFA_PAUSED) {
                    if (may_give_up) {
                        begin_again(&w);
                        may_give_up = false;
                    }
                    continue;
                }
                const int64_t first = exact[i] >> TOKDFA_EVENT_BITS, stop = exact[i + 1] >> TOKDFA_EVENT_BITS;
                if (ended == TOKDFA_FOREIGN) {
                    REQUIRE(i == foreign);
                    break;
                }
                REQUIRE(ended == TOKDFA_TOO_LONG && !e->is_proper && stop - first >= 64);
                const int64_t made = encode_piece(e, text + first, stop - first, out + w.pieces.n);
                if (made < 0) {
                    REQUIRE(i == foreign);
                    break;
                }
                w.pieces.n += made;
                ends[i] = w.pieces.n;
                w.pieces.next++;
            }
            if (ended < 0) {
                break;
            }
        }
        const int64_t n_done = foreign >= 0 ? foreign : n_begun;
        REQUIRE(w.pieces.n == n && (foreign >= 0 || w.pieces.next == n_begun));
        REQUIRE(!memcmp(out, expected, (size_t)n * sizeof *out));
        for (int64_t i = 0; i < n_done; i++) {
            REQUIRE(ends[i] == piece_ends[i]);
        }
        /* Splitting alone, a part at a time; each part begins where the one before was cut short. */
        tokdfa_split_run alone = {.splitting = &e->splitting};
        workplace room = {.split = alone};
        make_room(&room, size + 1);
        int64_t n_found = 0, base = 0;
        for (int64_t part = 1 + pause % 37; base < size; part = part * 3 % 41 + 1) {
            int64_t length = part < size - base ? part : size - base;
            uint8_t *some = exactly(&room.memory, text + base, length, 1);
            REQUIRE(tokdfa_split_on(&room.split, some, length, base));
            REQUIRE(!memcmp(room.split.begun, begun + n_found, (size_t)room.split.n_begun * sizeof *begun));
            n_found += room.split.n_begun;
            REQUIRE(room.split.at > base || length < 4);
            base = room.split.at;
            if (room.split.at < base + length && part < 4) {
                part = 4;
            }
        }
        tokdfa_walk_back(&room.split);
        REQUIRE(n_found + room.split.n_begun == n_begun);
        REQUIRE(!memcmp(room.split.begun, begun + n_found, (size_t)room.split.n_begun * sizeof *begun));
        int64_t *spans = ROOM(&room.memory, int64_t, 2 * (n_begun + 1)), place = 0;
        const int64_t n_spans = tokdfa_close(exact, n_begun + 1, TOKDFA_CONTINUES, spans);
        for (int64_t i = 0; i < n_begun; i++) {
            if ((begun[i] & 3) == TOKDFA_BEGINS) {
                REQUIRE(spans[2 * place] == begun[i] >> 2 && spans[2 * place + 1] == begun[i + 1] >> 2);
                place++;
            }
        }
        REQUIRE(place == n_spans);
        /* Each line by itself. */
        room.split.state = room.split.n_waiting = 0;
        int64_t *line_ends = ROOM(&room.memory, int64_t, size + 1), n_ends = 0;
        for (int64_t i = 0; i < size; i++) {
            line_ends[n_ends] = i + 1;
            n_ends += text[i] == '\n' || i == size - 1;
        }
        const int64_t n_lines = tokdfa_split_texts(&room.split, text, line_ends, n_ends);
        int64_t n_checked = 0;
        for (int64_t line = 0, stop; line < size; line = stop) {
            for (stop = line; stop < size && text[stop] != '\n'; stop++) {
            }
            stop += stop < size;
            const int64_t n_line = split_naively(e, text + line, stop - line, begun, &at, cells, places);
            for (int64_t i = 0; i < n_line; i++) {
                REQUIRE(n_checked < n_lines && room.split.begun[n_checked++] == begun[i] + 4 * line);
            }
        }
        REQUIRE(n_checked == n_lines);
        give_back(&room.memory);
    }
    free(read);
    give_back(memory);
}

#endif
