/* The best segmentation of texts into pieces, from left to right.

   For each offset that a way reaches, the best way is known: the sum of its scores, and its last piece. A way is
   replaced only by one with a greater sum, so among equal ways the first counts, with the last piece that begins first.
   All ways pass an offset that no earlier piece extends beyond. The text before such an offset is settled and
   forgotten; only the sum is kept. So there are as many nodes as the longest span without such an offset has bytes, and
   they stay in the cache.

   A word begins at a visible space, or is a whole sentence where sums restart. It is cached with its ids, and with the
   largest sum before it for which they are right. */
#ifndef TOKDFA_SEGMENT_H
#define TOKDFA_SEGMENT_H

#include "study.h"

typedef tokdfa_unigram_node node;

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
                        tokdfa_unigram_buffers *r) {
    for (int64_t at = begin; at < end; at++) {
        r->ids[r->n++] = m->byte_ids[text[at]];
    }
}

/* End a run of unknown characters, as tokenizers does: it may be a piece, or become its bytes. */
static void end_run(const tokdfa_unigram *m, const uint8_t *text, int64_t end, tokdfa_unigram_buffers *r) {
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

/* Write the ids of the best way from the first node to node `last`, and mark its offsets if it is recorded. */
ALWAYS_INLINE void write_way(const tokdfa_unigram *m, const uint8_t *text, int64_t base, node *nodes, int64_t last,
                             tokdfa_unigram_buffers *r, const bool recorded) {
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
        const bool is_unknown = !cell || (!m->single && id == unknown);
        if (recorded) {
            r->marks[end] = is_unknown ? TOKDFA_ENDS_UNKNOWN : TOKDFA_ENDS_PIECE;
        }
        if (LIKELY(!is_unknown)) {
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

ALWAYS_INLINE bool is_space(const uint8_t *text, int64_t at, int64_t end) {
    return at + SPACE_SIZE <= end && text[at] == 0xE2 && text[at + 1] == 0x96 && text[at + 2] == 0x81;
}

/* The end of the word at an offset, -1 for one that is too long to be cached. */
ALWAYS_INLINE int64_t end_of_word(const uint8_t *text, int64_t at, int64_t end) {
    const int64_t last = least(end, at + (is_space(text, at, end) ? SPACE_SIZE : 0) + LONGEST_KEY);
    for (int64_t stop = at + 1; stop < last; stop++) {
        if (text[stop] == 0xE2 && is_space(text, stop, end)) {
            return stop;
        }
    }
    return last == end || is_space(text, last, end) ? last : -1;
}

/* A word of normalized text: its key, with its kind; the rest after its space, and the size of this; and the entries
   that may have it. */
typedef struct {
    packed_word key;
    const uint8_t *rest;
    int64_t size;
    word_entry *entries;
} text_word;

ALWAYS_INLINE text_word word_at(const tokdfa_unigram_buffers *r, const uint8_t *text, int64_t begin, int64_t end) {
    const bool spaced = is_space(text, begin, end);
    const int64_t first = begin + (spaced ? SPACE_SIZE : 0);
    const packed_word key = key_of(text, end, first, end - first);
    text_word word = {key, text + first, end - first, entries_of(r, key)};
    word.key.high |= spaced ? SPACED_WORD : BARE_WORD;
    return word;
}

/* Remember the ids of a word that has just been segmented, the last ones that were written, from `first` on. */
NEVER_INLINE void remember_word(const tokdfa_unigram *m, const uint8_t *text, int64_t begin, int64_t end, int64_t first,
                                tokdfa_unigram_buffers *r) {
    known_word known;
    if (!m->single) {
        known.n_ids = r->n - first;
        known.n_scores = 0;
        known.limit = INFINITY;
        known.ends_unknown = false;
        if (known.n_ids > LONGEST_WORD) {
            return;
        }
        memcpy(known.ids, r->ids + first, (size_t)known.n_ids * sizeof *known.ids);
    } else if (!study(m, text + begin, end - begin, &known)) {
        return;
    }
    const text_word word = word_at(r, text, begin, end);
    remember(r, word.entries, word.key, word.rest, word.size, &known);
}

/* How a loop segments: whether it rounds sums, and only after it has compared them; whether it is recorded; whether
   words are cached. Known when it is compiled. */
enum { SINGLE = 1, LATE = 2, RECORDED = 4, CACHED = 8 };

/* The nodes of the text from `base` on; `reach` is the last offset that a way has reached. */
typedef struct {
    node *nodes;
    int64_t n_nodes, base, reach;
} window;

/* Let ways reach an offset; false if more nodes are needed. */
ALWAYS_INLINE bool reach(window *w, int64_t stop, tokdfa_unigram_buffers *r) {
    if (UNLIKELY(stop - w->base >= w->n_nodes)) {
        r->n_needed = stop - w->base + 1;
        return false;
    }
    while (++w->reach < stop) {
        w->nodes[w->reach - w->base].start = -1;
    }
    return true;
}

/* Extend the best way to `at` by each piece that begins there, or by an unknown character up to `after`. Returns 1, or
   the reason for stopping. */
ALWAYS_INLINE int64_t extend_way(const tokdfa_unigram *m, const uint8_t *text, int64_t at, int64_t end, window *w,
                                 tokdfa_unigram_buffers *r, const int how) {
    const int64_t after = at + symbol_size(text[at]);
    const int32_t start = (int32_t)(at - w->base);
    const double here = w->nodes[start].score;
    bool is_known = false;
    int32_t cell = 0;
    for (int64_t key = at; key < end;) {
        const int32_t next = m->cells[2 * cell] + text[key];
        const int32_t link = m->cells[2 * next + 1];
        if (link >> 1 != cell) {
            break;
        }
        key++;
        cell = next;
        if (!(link & 1)) {
            continue;
        }
        const double exact = m->scores[cell] + here, total = rounded(exact, how & SINGLE);
        node *there = w->nodes + (key - w->base);
        if (key > w->reach) {
            if (!reach(w, key, r)) {
                return TOKDFA_SEGMENT_ROOM;
            }
            *there = (node){total, start, cell};
        } else if (there->start < 0 || (how & LATE ? exact : total) > there->score) {
            *there = (node){total, start, cell};
        }
        is_known |= key == after;
    }
    if (is_known) {
        return 1;
    }
    const double sum = rounded(m->scores[0] + here, how & SINGLE);
    node *there = w->nodes + (after - w->base);
    if (after <= w->reach && there->start >= 0 && !(sum > there->score)) {
        return 1;
    }
    if (UNLIKELY(m->ids[0] < 0)) {
        r->at = at;
        return TOKDFA_SEGMENT_UNKNOWN;
    }
    if (after > w->reach && !reach(w, after, r)) {
        return TOKDFA_SEGMENT_ROOM;
    }
    *there = (node){sum, start, 0};
    return 1;
}

/* The word that is being segmented, to be cached: where it begins, -1 for none, and ends, and where its ids begin. */
typedef struct {
    int64_t begin, end, ids;
} new_word;

/* Write the ids of the word at an offset from the cache. Returns its end; or `at` if there is none, or it is not cached
   or depends on the sum. A word that is not cached becomes the new one. */
ALWAYS_INLINE int64_t take_cached_word(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t at,
                                       int64_t end, tokdfa_unigram_buffers *r, new_word *word, const int how) {
    if (how & SINGLE && !(how & LATE) && fabs(r->score) > TOO_LARGE) {
        r->score = 0;
    }
    const bool begins = how & SINGLE ? at == 0 || is_space(text, at, end) : at == sentence && r->unknown_from < 0;
    word->end = m->has_words && begins ? end_of_word(text, at, end) : -1;
    if (word->end < 0 || (!(how & SINGLE) && word->end < end)) {
        return at;
    }
    const text_word next = word_at(r, text, at, word->end);
    const word_entry *found = find_entry(r, next.entries, next.key, next.rest, next.size);
    if (found && fabs(r->score) <= (double)found->limit) {
        recall(found, next.size, r);
        return r->at = word->end;
    }
    if (!found) {
        word->begin = at;
        word->ids = r->n;
    }
    return at;
}

/* Segment the sentence up to `end` from where the last call has stopped; 1 at its end, or the reason for stopping. */
ALWAYS_INLINE int64_t segment(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end,
                              int64_t until, tokdfa_unigram_buffers *r, const int how) {
    node *nodes = (node *)(void *)r->nodes;
    int64_t at = r->at;
    window w = {nodes, r->n_nodes, at, at};
    new_word word = {-1, -1, 0};
    nodes[0] = (node){r->score, -1, 0};
    for (;;) {
        if (how & RECORDED) {
            r->sums[at] = nodes[at - w.base].score;
            if (nodes[at - w.base].start >= 0) {
                r->starts[at] = w.base + nodes[at - w.base].start;
            }
        }
        if (at == w.reach) {
            if (at > w.base) {
                const double score = nodes[at - w.base].score;
                write_way(m, text, w.base, nodes, at - w.base, r, how & RECORDED);
                nodes[0].score = r->score = score;
                w.base = r->at = at;
            }
            if (how & CACHED && word.begin >= 0 && at == word.end) {
                if (!(how & SINGLE)) {
                    end_run(m, text, end, r);
                }
                remember_word(m, text, word.begin, at, word.ids, r);
                word.begin = -1;
            }
            if (at == end || at >= until) {
                return at == end ? 1 : TOKDFA_SEGMENT_PAUSED;
            }
            if (how & CACHED && word.begin < 0) {
                const int64_t after = take_cached_word(m, text, sentence, at, end, r, &word, how);
                nodes[0].score = r->score;
                if (after > at) {
                    w.base = w.reach = at = after;
                    continue;
                }
            }
        }
        if (how & SINGLE && !(how & LATE) && UNLIKELY(fabs(nodes[at - w.base].score) > TOO_LARGE)) {
            shift(nodes, at - w.base, w.reach - w.base);
        }
        const int64_t done = extend_way(m, text, at, end, &w, r, how);
        if (UNLIKELY(done != 1)) {
            return done;
        }
        at += symbol_size(text[at]);
    }
}

NEVER_INLINE int64_t segment_single(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end,
                                    int64_t until, tokdfa_unigram_buffers *r) {
    return segment(m, text, sentence, end, until, r, SINGLE | CACHED);
}

NEVER_INLINE int64_t segment_single_late(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end,
                                         int64_t until, tokdfa_unigram_buffers *r) {
    return segment(m, text, sentence, end, until, r, SINGLE | LATE | CACHED);
}

NEVER_INLINE int64_t segment_double(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end,
                                    int64_t until, tokdfa_unigram_buffers *r) {
    return segment(m, text, sentence, end, until, r, CACHED);
}

typedef int64_t (*segment_run)(const tokdfa_unigram *, const uint8_t *, int64_t, int64_t, int64_t,
                               tokdfa_unigram_buffers *);

/* The loop for the arithmetic of a model. */
ALWAYS_INLINE segment_run run_of(const tokdfa_unigram *m) {
    return !m->single ? segment_double : m->rounded_late ? segment_single_late : segment_single;
}

#endif
