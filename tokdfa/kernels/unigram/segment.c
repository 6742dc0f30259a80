/* The best segmentation of texts into pieces, from left to right.

   For each place that a way reaches, the best one is known: the sum of its scores, and its last piece. A way is replaced
   only by one with a greater sum, so that of equal ones the first counts, whose last piece begins first. Wherever no
   piece that began before goes on, all ways pass. What is before such a place is settled and forgotten; only the sum
   goes on. So the nodes are as many as the longest stretch without such a place has bytes, and stay in the cache. */
#include <math.h>

#include "../common/base.h"
#include "door.h"

typedef tokdfa_unigram_node node;

/* The magnitude from which on SentencePiece subtracts the sum at a place from all that go on, since version 0.2.2. */
#define TOO_LARGE 1e5

/* The number of bytes of the symbol that begins with a byte, in valid UTF-8. */
ALWAYS_INLINE int64_t symbol_size(uint8_t byte) {
    return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

ALWAYS_INLINE double rounded(double sum, bool single) {
    return single ? (double)(float)sum : sum;
}

/* Subtract the sum at a node from those up to `last`, as SentencePiece does where it is too large for 32 bits. */
NEVER_INLINE void shift(node *nodes, int64_t first, int64_t last) {
    const double sum = nodes[first].score;
    for (int64_t i = first; i <= last; i++) {
        nodes[i].score = rounded(nodes[i].score - sum, true);
    }
}

/* The cell of a word in the trie if it is a piece, otherwise 0. */
static int32_t find_piece(const tokdfa_unigram *m, const uint8_t *text, int64_t begin, int64_t end) {
    int32_t cell = 0;
    for (int64_t at = begin; at < end; at++) {
        const int32_t next = m->cells[2 * cell] + text[at];
        if (m->cells[2 * next + 1] >> 1 != cell) {
            return 0;
        }
        cell = next;
    }
    return m->cells[2 * cell + 1] & 1 ? cell : 0;
}

/* Write the ids of the bytes of a symbol, or of several. */
static void write_bytes(const tokdfa_unigram *m, const uint8_t *text, int64_t begin, int64_t end,
                        tokdfa_unigram_room *r) {
    for (int64_t at = begin; at < end; at++) {
        r->ids[r->n++] = m->byte_ids[text[at]];
    }
}

/* End a run of unknown characters, as tokenizers does: it may be a piece, or become its bytes. */
static void end_run(const tokdfa_unigram *m, const uint8_t *text, int64_t end, tokdfa_unigram_room *r) {
    const int64_t begin = r->unknown_from;
    r->unknown_from = -1;
    if (begin < 0 || m->single) {
        return;
    }
    const int32_t cell = find_piece(m, text, begin, end);
    if (cell) {
        r->ids[r->n++] = m->ids[cell];
        return;
    }
    bool has_all = m->n_byte_ids > 0;
    for (int64_t at = begin; has_all && at < end; at++) {
        has_all = m->byte_ids[text[at]] >= 0;
    }
    if (has_all) {
        write_bytes(m, text, begin, end, r);
    } else {
        r->ids[r->n++] = m->ids[0];
    }
}

/* Write the ids of the best way from the first node to node `last`. */
ALWAYS_INLINE void write_way(const tokdfa_unigram *m, const uint8_t *text, int64_t base, node *nodes, int64_t last,
                             tokdfa_unigram_room *r) {
    /* Turn the links round. */
    int32_t next = -1;
    for (int32_t at = (int32_t)last; at > 0;) {
        const int32_t start = nodes[at].start;
        nodes[at].start = next;
        next = at;
        at = start;
    }
    const int32_t unknown = m->ids[0];
    int64_t begin = base;
    for (int32_t at = next; at >= 0; at = nodes[at].start) {
        const int32_t cell = nodes[at].cell, id = m->ids[cell];
        const int64_t end = base + at;
        if (LIKELY(cell && (m->single || id != unknown))) {
            if (UNLIKELY(r->unknown_from >= 0)) {
                end_run(m, text, begin, r);
            }
            r->ids[r->n++] = id;
        } else if (m->single) {
            if (m->n_byte_ids) {
                write_bytes(m, text, begin, end, r);
            } else if (r->unknown_from < 0) {
                r->ids[r->n++] = unknown;
            }
            r->unknown_from = begin;
        } else if (r->unknown_from < 0) {
            r->unknown_from = begin;
        }
        begin = end;
    }
}

/* Segment the sentence up to `end` from where the room has stopped; 1 at its end, or the reason for stopping. */
ALWAYS_INLINE int64_t segment(const tokdfa_unigram *m, const uint8_t *text, int64_t end, int64_t until,
                              tokdfa_unigram_room *r, const bool single, const bool late) {
    node *nodes = (node *)(void *)r->nodes;
    const int64_t n_nodes = r->n_nodes;
    const int32_t *cells = m->cells;
    const double *scores = m->scores;
    int64_t base = r->at, at = base, reach = base;
    nodes[0] = (node){r->score, -1, 0};
    for (;;) {
        if (at == reach) {
            if (at > base) {
                const double score = nodes[at - base].score;
                write_way(m, text, base, nodes, at - base, r);
                nodes[0].score = r->score = score;
                base = r->at = at;
            }
            if (at == end) {
                return 1;
            }
            if (at >= until) {
                return TOKDFA_SEGMENT_PAUSED;
            }
        }
        if (single && !late && UNLIKELY(fabs(nodes[at - base].score) > TOO_LARGE)) {
            shift(nodes, at - base, reach - base);
        }
        const double here = nodes[at - base].score;
        const int64_t after = at + symbol_size(text[at]);
        bool is_known = false;
        int32_t cell = 0;
        for (int64_t key = at; key < end;) {
            const int32_t next = cells[2 * cell] + text[key];
            const int32_t link = cells[2 * next + 1];
            if (link >> 1 != cell) {
                break;
            }
            key++;
            cell = next;
            if (!(link & 1)) {
                continue;
            }
            const double exact = scores[cell] + here, total = rounded(exact, single);
            if (key > reach) {
                if (UNLIKELY(key - base >= n_nodes)) {
                    r->n_needed = key - base + 1;
                    return TOKDFA_SEGMENT_ROOM;
                }
                while (++reach < key) {
                    nodes[reach - base].start = -1;
                }
                nodes[key - base] = (node){total, (int32_t)(at - base), cell};
            } else {
                node *there = nodes + (key - base);
                if (there->start < 0 || (late ? exact : total) > there->score) {
                    *there = (node){total, (int32_t)(at - base), cell};
                }
            }
            is_known |= key == after;
        }
        if (!is_known) {
            const double sum = rounded(scores[0] + here, single);
            const bool is_first = after > reach || nodes[after - base].start < 0;
            if (is_first || sum > nodes[after - base].score) {
                if (UNLIKELY(m->ids[0] < 0)) {
                    r->at = at;
                    return TOKDFA_SEGMENT_UNKNOWN;
                }
                if (after > reach) {
                    if (UNLIKELY(after - base >= n_nodes)) {
                        r->n_needed = after - base + 1;
                        return TOKDFA_SEGMENT_ROOM;
                    }
                    while (++reach < after) {
                        nodes[reach - base].start = -1;
                    }
                }
                nodes[after - base] = (node){sum, (int32_t)(at - base), 0};
            }
        }
        at = after;
    }
}

static int64_t segment_single(const tokdfa_unigram *m, const uint8_t *text, int64_t end, int64_t until,
                              tokdfa_unigram_room *r) {
    return segment(m, text, end, until, r, true, false);
}

static int64_t segment_single_late(const tokdfa_unigram *m, const uint8_t *text, int64_t end, int64_t until,
                                   tokdfa_unigram_room *r) {
    return segment(m, text, end, until, r, true, true);
}

static int64_t segment_double(const tokdfa_unigram *m, const uint8_t *text, int64_t end, int64_t until,
                              tokdfa_unigram_room *r) {
    return segment(m, text, end, until, r, false, false);
}

/* Write the ids of texts, valid UTF-8, that come one after the other and end at `ends`, ascending. Returns their
   number, or why the call has stopped. */
TOKDFA_DOOR int64_t tokdfa_segment(const tokdfa_unigram *model, const uint8_t *text, const int64_t *ends, int64_t n_ends,
                                   tokdfa_unigram_room *room) {
    const int64_t until = room->at_a_time ? room->at + room->at_a_time : INT64_MAX;
    int64_t (*run)(const tokdfa_unigram *, const uint8_t *, int64_t, int64_t, tokdfa_unigram_room *) =
        !model->single ? segment_double : model->rounded_late ? segment_single_late : segment_single;
    while (room->sentence < n_ends) {
        const int64_t end = ends[room->sentence];
        if (room->at < end) {
            const int64_t done = run(model, text, end, until, room);
            if (done != 1) {
                return done;
            }
        }
        if (model->restarts) {
            end_run(model, text, end, room);
            room->score = 0;
        }
        if (room->n_stops) {
            room->stops[room->sentence] = room->n;
        }
        room->sentence++;
    }
    return room->n;
}
