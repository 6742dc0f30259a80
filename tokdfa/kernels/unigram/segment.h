/* The best segmentation of texts into pieces, from left to right.

   For each place that a way reaches, the best one is known: the sum of its scores, and its last piece. A way is replaced
   only by one with a greater sum, so that of equal ones the first counts, whose last piece begins first. Wherever no
   piece that began before goes on, all ways pass. What is before such a place is settled and forgotten; only the sum
   goes on. So the nodes are as many as the longest stretch without such a place has bytes, and stay in the cache.

   A word is what begins at a visible space, or a whole sentence where sums restart. Its best segmentation may depend on
   the sum before it only by rounding. Along a way of k pieces each sum is off by half a unit in the last place at most,
   so that two ways that differ by more than k units keep their order. Words that are short and whose best way leads by
   more are remembered, with their ids; the sum is added up again. */
#ifndef TOKDFA_SEGMENT_H
#define TOKDFA_SEGMENT_H

#include <math.h>

#include "../common/base.h"
#include "../common/packed.h"
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

/* Write the ids of the best way from the first node to node `last`, and mark its places if it is recorded. */
ALWAYS_INLINE void write_way(const tokdfa_unigram *m, const uint8_t *text, int64_t base, node *nodes, int64_t last,
                             tokdfa_unigram_room *r, const bool recorded) {
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
        r->n_unknown += is_unknown;
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

enum { ENTRY = 4, WAYS = 2, MOST_IDS = 4, SPACE_SIZE = 3, LONGEST_WORD = SPACE_SIZE + LONGEST_PACKED, AFTER_SPACE = 60 };

/* Words are remembered whose own sums are below this, and used where sums stay below TOO_LARGE, so that nothing is
   subtracted within a word and a unit in the last place is 2^-7 or less. */
#define LARGEST_WORD 4000.0
#define UNIT 0.0078125

/* The magnitude of a sum up to which words are taken from the memory. */
ALWAYS_INLINE double largest_sum(const tokdfa_unigram *m) {
    const double word = m->longest_step * LONGEST_WORD;
    return TOO_LARGE - (word < LARGEST_WORD ? word : LARGEST_WORD);
}

ALWAYS_INLINE bool is_space(const uint8_t *text, int64_t at, int64_t end) {
    return at + SPACE_SIZE <= end && text[at] == 0xE2 && text[at + 1] == 0x96 && text[at + 2] == 0x81;
}

/* The end of the word at a place, -1 for a long one: what follows its space is packed. */
ALWAYS_INLINE int64_t end_of_word(const uint8_t *text, int64_t at, int64_t end) {
    const int64_t last = least(end, at + (is_space(text, at, end) ? SPACE_SIZE : 0) + LONGEST_PACKED);
    for (int64_t stop = at + 1; stop < last; stop++) {
        if (text[stop] == 0xE2 && is_space(text, stop, end)) {
            return stop;
        }
    }
    return last == end || is_space(text, last, end) ? last : -1;
}

/* The key of a word: what follows its space, packed, and whether it has one. */
ALWAYS_INLINE packed_word key_of(packed_word packed, bool spaced) {
    packed.high |= (uint64_t)(1 + spaced) << AFTER_SPACE;
    return packed;
}

ALWAYS_INLINE packed_word key_of_word(const uint8_t *text, int64_t begin, int64_t end) {
    const bool spaced = is_space(text, begin, end);
    const int64_t first = begin + (spaced ? SPACE_SIZE : 0);
    return key_of(pack_at(text, end, first, end - first), spaced);
}

/* The two entries in which a word may be, the later one first. */
ALWAYS_INLINE uint64_t *entries_of(const tokdfa_unigram_room *r, packed_word key) {
    return r->memory + WAYS * ENTRY * (hash_packed(key.low, key.high) >> 20 & (uint64_t)(r->n_memory / (WAYS * ENTRY) - 1));
}

/* The entry of a word, NULL if it is not there. */
ALWAYS_INLINE const uint64_t *find_entry(const tokdfa_unigram_room *r, packed_word key) {
    const uint64_t *entry = entries_of(r, key);
    if (LIKELY(entry[0] == key.low && entry[1] == key.high)) {
        return entry;
    }
    entry += ENTRY;
    return entry[0] == key.low && entry[1] == key.high ? entry : NULL;
}

/* Whether the best way through a word leads by more than rounding can take away. */
NEVER_INLINE bool leads(const tokdfa_unigram *m, const uint8_t *text, int64_t begin, int64_t end) {
    double best[LONGEST_WORD + 1], second[LONGEST_WORD + 1];
    const int64_t size = end - begin;
    int64_t n_symbols = 0;
    for (int64_t i = 0; i <= size; i++) {
        best[i] = second[i] = -INFINITY;
    }
    best[0] = 0;
    for (int64_t at = 0; at < size;) {
        const int64_t after = at + symbol_size(text[begin + at]);
        bool is_known = false;
        int32_t cell = 0;
        n_symbols++;
        for (int64_t key = at; key <= size;) {
            double score;
            int64_t stop;
            if (key < size) {
                const int32_t next = m->cells[2 * cell] + text[begin + key];
                const int32_t link = m->cells[2 * next + 1];
                if (link >> 1 == cell) {
                    cell = next;
                    key++;
                    if (!(link & 1)) {
                        continue;
                    }
                    stop = key;
                    score = m->scores[cell];
                    is_known |= stop == after;
                    goto take;
                }
            }
            /* No longer piece; last, the symbol as an unknown one. */
            key = size + 1;
            if (is_known) {
                break;
            }
            stop = after;
            score = m->scores[0];
        take:
            for (int way = 0; way < 2; way++) {
                const double sum = (way ? second[at] : best[at]) + score;
                if (sum > best[stop]) {
                    second[stop] = best[stop];
                    best[stop] = sum;
                } else if (sum > second[stop]) {
                    second[stop] = sum;
                }
            }
        }
        at = after;
    }
    return best[size] - second[size] > 1.01 * UNIT * (double)n_symbols;
}

/* Remember the ids of a word, if it may be remembered. */
NEVER_INLINE void remember(const tokdfa_unigram *m, const uint8_t *text, int64_t begin, int64_t end, const int32_t *ids,
                           int64_t n_ids, tokdfa_unigram_room *r) {
    if (n_ids > MOST_IDS || m->longest_step * (double)(end - begin) > LARGEST_WORD) {
        return;
    }
    if (m->single && !leads(m, text, begin, end)) {
        return;
    }
    const packed_word key = key_of_word(text, begin, end);
    uint64_t *entry = entries_of(r, key);
    uint64_t packed[2] = {UINT64_MAX, UINT64_MAX};
    for (int64_t i = 0; i < n_ids; i++) {
        const uint64_t id = (uint32_t)ids[i];
        packed[i >> 1] = i & 1 ? (packed[i >> 1] & 0xFFFFFFFFu) | id << 32 : id | 0xFFFFFFFF00000000u;
    }
    memcpy(entry + ENTRY, entry, ENTRY * sizeof *entry);
    entry[0] = key.low;
    entry[1] = key.high;
    entry[2] = packed[0];
    entry[3] = packed[1];
}

/* Write the ids of a word from the memory and add up their scores; false if it is not there. */
ALWAYS_INLINE bool recall(const tokdfa_unigram *m, packed_word key, tokdfa_unigram_room *r, const bool single) {
    const uint64_t *entry = find_entry(r, key);
    if (!entry) {
        return false;
    }
    int32_t *out = r->ids + r->n;
    int64_t n = 0;
    double score = r->score;
    for (; n < MOST_IDS; n++) {
        const int32_t id = (int32_t)(uint32_t)(entry[2 + (n >> 1)] >> (n & 1 ? 32 : 0));
        if (id < 0) {
            break;
        }
        out[n] = id;
        score = rounded(score + m->id_scores[id], single);
    }
    r->n += n;
    r->score = score;
    r->unknown_from = -1;
    return true;
}

/* Segment the sentence up to `end` from where the room has stopped; 1 at its end, or the reason for stopping. */
ALWAYS_INLINE int64_t segment(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end,
                              int64_t until, tokdfa_unigram_room *r, const bool single, const bool late,
                              const bool recorded) {
    node *nodes = (node *)(void *)r->nodes;
    const int64_t n_nodes = r->n_nodes;
    const int32_t *cells = m->cells;
    const double *scores = m->scores;
    int64_t base = r->at, at = base, reach = base;
    const double most = largest_sum(m);
    /* The word that is being segmented, to be remembered: where it begins and ends, and what was there before it. */
    int64_t word = -1, word_end = -1, word_ids = 0, word_unknown = 0;
    nodes[0] = (node){r->score, -1, 0};
    for (;;) {
        if (recorded) {
            r->sums[at] = nodes[at - base].score;
            if (nodes[at - base].start >= 0) {
                r->starts[at] = base + nodes[at - base].start;
            }
        }
        if (at == reach) {
            if (at > base) {
                const double score = nodes[at - base].score;
                write_way(m, text, base, nodes, at - base, r, recorded);
                nodes[0].score = r->score = score;
                base = r->at = at;
            }
            if (word >= 0 && at == word_end) {
                if (r->n_unknown == word_unknown) {
                    remember(m, text, word, at, r->ids + word_ids, r->n - word_ids, r);
                }
                word = -1;
            }
            if (at == end) {
                return 1;
            }
            if (at >= until) {
                return TOKDFA_SEGMENT_PAUSED;
            }
            if (!recorded && m->has_words && word < 0) {
                if (single && !late && fabs(r->score) > TOO_LARGE) {
                    nodes[0].score = r->score = 0;
                }
                const bool begins = single ? at == 0 || is_space(text, at, end) : at == sentence;
                word_end = begins && r->unknown_from < 0 ? end_of_word(text, at, end) : -1;
                if (word_end >= 0 && !(single && fabs(r->score) > most) && (single || word_end == end)) {
                    if (recall(m, key_of_word(text, at, word_end), r, single)) {
                        nodes[0].score = r->score;
                        r->at = base = at = reach = word_end;
                        continue;
                    }
                    word = at;
                    word_ids = r->n;
                    word_unknown = r->n_unknown;
                }
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

NEVER_INLINE int64_t segment_single(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end,
                                    int64_t until, tokdfa_unigram_room *r) {
    return segment(m, text, sentence, end, until, r, true, false, false);
}

NEVER_INLINE int64_t segment_single_late(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end,
                                         int64_t until, tokdfa_unigram_room *r) {
    return segment(m, text, sentence, end, until, r, true, true, false);
}

NEVER_INLINE int64_t segment_double(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end,
                                    int64_t until, tokdfa_unigram_room *r) {
    return segment(m, text, sentence, end, until, r, false, false, false);
}

typedef int64_t (*segment_run)(const tokdfa_unigram *, const uint8_t *, int64_t, int64_t, int64_t,
                               tokdfa_unigram_room *);

/* The loop for the arithmetic of a model. */
ALWAYS_INLINE segment_run run_of(const tokdfa_unigram *m) {
    return !m->single ? segment_double : m->rounded_late ? segment_single_late : segment_single;
}

#endif
