/* Whether the best way through a word depends on the sum before it.

   Take "ab" with pieces ab (-3.0), a (-1.0), b (-1.9): the way a, b is better by 0.1 than the way ab. SentencePiece
   adds to the sum of all pieces before the word and rounds to 32 bits each time. With 100,000 before it, a unit in the
   last place is 2^-7, each of the two sums of a, b is off by half a unit at most, and the one of ab as well; 1.5 units
   are less than 0.1, so a, b is found wherever the word is. Were it better by 0.001 only, then as long as the sum
   before it is below 2048 or so, and a unit below 2^-12.

   In general let P be the best way in exact numbers, and let all sums be so small that none is off by more than h when
   it is rounded. Suppose that for all offsets v < w of P and each way Q from v to w that passes no offset of P between
   them, the pieces of P from v to w have a sum that is greater by more than h for each piece of both. Then the loop
   finds P. By induction over the offsets of P: the best way found to w from the left leaves P for the last time at some
   v < w, unless its last piece is the one of P. Up to v it is P, so both have the same rounded sum there, and from
   there on the sum of P is the greater one after rounding, too: it is found, and no tie decides. Late rounding, which
   compares a sum before it is rounded, errs less.

   One pass over the word finds out for a given h: from each offset of P ways start with the sum of P less h for each of
   its pieces, and get h more for each piece of their own. None may reach P at its sum there. */
#ifndef TOKDFA_STUDY_H
#define TOKDFA_STUDY_H

#include "words.h"

/* The magnitude from which on SentencePiece subtracts the sum at an offset from the sums there and later, since version
   0.2.2. */
#define TOO_LARGE 1e5

/* The units in the last place that are tried, each half of the one before. Sums of 32 bits that are less than 2^24
   units in magnitude are rounded by half a unit at most; 2^24 units of the largest one exceed TOO_LARGE. */
#define LARGEST_UNIT 0.0078125
enum { N_UNITS = 12 };

/* Half a unit, and more than the sums of doubles here are off. */
#define HALF_AND_MORE 0.51

/* The number of bytes of the symbol that begins with a byte, in valid UTF-8. */
ALWAYS_INLINE int64_t symbol_size(uint8_t byte) {
    return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/* A piece in a word, or cell 0 for an unknown symbol. */
typedef struct {
    int32_t stop, cell;
} edge;

enum { MOST_EDGES_OF_WORD = LONGEST_WORD * (LONGEST_WORD + 1) / 2 };

/* The pieces in a word, the first piece that begins at each offset, and the best sums of exact scores. For the best way
   to each offset: where its last piece begins, -1 for none; the cell of that piece, and its number. */
typedef struct {
    edge edges[MOST_EDGES_OF_WORD];
    int32_t first[LONGEST_WORD + 1];
    double best[LONGEST_WORD + 1];
    int32_t start[LONGEST_WORD + 1], cell[LONGEST_WORD + 1], number[LONGEST_WORD + 1];
    int64_t n_symbols;
} lattice;

/* Add the pieces that begin at an offset, or else its symbol as an unknown one; returns the number of pieces so far. */
ALWAYS_INLINE int32_t add_edges(const tokdfa_unigram *m, const uint8_t *word, int64_t size, int64_t at, edge *edges,
                                int32_t n) {
    const int64_t after = at + symbol_size(word[at]);
    int32_t cell = 0;
    bool is_known = false;
    for (int64_t key = at; key < size;) {
        const int32_t next = m->cells[2 * cell] + word[key];
        const int32_t link = m->cells[2 * next + 1];
        if (link >> 1 != cell) {
            break;
        }
        cell = next;
        key++;
        if (link & 1) {
            is_known |= key == after;
            edges[n++] = (edge){(int32_t)key, cell};
        }
    }
    if (!is_known) {
        edges[n++] = (edge){(int32_t)after, 0};
    }
    return n;
}

/* Find the pieces and the best way of a word. */
static void find_way(const tokdfa_unigram *m, const uint8_t *word, int64_t size, lattice *l) {
    double *best = l->best;
    int32_t n = 0;
    for (int64_t i = 0; i <= size; i++) {
        best[i] = -INFINITY;
        l->start[i] = -1;
    }
    best[0] = 0;
    l->n_symbols = 0;
    for (int64_t at = 0; at < size; at += symbol_size(word[at])) {
        l->n_symbols++;
        l->first[at] = n;
        n = add_edges(m, word, size, at, l->edges, n);
        for (const edge *e = l->edges + l->first[at]; e < l->edges + n; e++) {
            const double sum = best[at] + m->scores[e->cell];
            if (sum > best[e->stop]) {
                best[e->stop] = sum;
                l->start[e->stop] = (int32_t)at;
                l->cell[e->stop] = e->cell;
            }
        }
    }
    l->first[size] = n;
    int64_t end = size;
    for (int64_t at = size; at > 0; at--) {
        if (at == end) {
            end = l->start[at];
        } else {
            l->start[at] = -1;
        }
    }
    for (int64_t at = 1, number = 0; at <= size; at++) {
        number += l->start[at] >= 0;
        l->number[at] = (int32_t)number;
    }
}

/* Whether the best way leads everywhere, if rounding changes each sum by no more than h. */
static bool leads(const tokdfa_unigram *m, const uint8_t *word, int64_t size, const lattice *l, double h) {
    double sum[LONGEST_WORD + 1];
    sum[0] = 0;
    for (int64_t i = 1; i <= size; i++) {
        sum[i] = l->start[i] < 0 ? -INFINITY : l->best[i] - h * (double)l->number[i];
    }
    for (int64_t at = 0, after; at < size; at = after) {
        after = at + symbol_size(word[at]);
        for (const edge *e = l->edges + l->first[at]; e < l->edges + l->first[after]; e++) {
            const double other = sum[at] + m->scores[e->cell] + h;
            if (l->start[e->stop] < 0) {
                sum[e->stop] = fmax(sum[e->stop], other);
            } else if (l->start[e->stop] != at && !(other < sum[e->stop])) {
                return false;
            }
        }
    }
    return true;
}

/* The largest magnitude of the sum before a word for which its best way is the one found; negative if there is none. */
static double largest_before(const tokdfa_unigram *m, const uint8_t *word, int64_t size, const lattice *l) {
    double unit = LARGEST_UNIT;
    for (int i = 0; i < N_UNITS; i++, unit /= 2) {
        if (leads(m, word, size, l, HALF_AND_MORE * unit)) {
            return fmin(TOO_LARGE, 0x1p24 * unit) - (m->longest_step + 1) * (double)l->n_symbols;
        }
    }
    return -1;
}

/* Find the ids of a word, of LONGEST_WORD bytes at most, where sums are rounded to 32 bits, and how large the sum before
   it may be. Returns false if they depend on more than that, because the first character is unknown. */
static bool study(const tokdfa_unigram *m, const uint8_t *word, int64_t size, known_word *known) {
    lattice l;
    find_way(m, word, size, &l);
    int64_t stops[LONGEST_WORD], n = 0;
    for (int64_t at = size; at > 0; at = l.start[at]) {
        stops[n++] = at;
    }
    known->n_ids = known->n_scores = 0;
    bool is_unknown = false;
    for (int64_t i = n - 1; i >= 0; i--) {
        const int32_t cell = l.cell[stops[i]];
        const double score = m->scores[cell];
        const bool was_unknown = is_unknown;
        is_unknown = !cell;
        if ((double)(float)score != score || (is_unknown && i == n - 1) || m->ids[cell] < 0) {
            return false;
        }
        known->scores[known->n_scores++] = (float)score;
        if (is_unknown && m->n_byte_ids) {
            for (int64_t at = l.start[stops[i]]; at < stops[i]; at++) {
                known->ids[known->n_ids++] = m->byte_ids[word[at]];
            }
        } else if (!is_unknown || !was_unknown) {
            known->ids[known->n_ids++] = m->ids[cell];
        }
    }
    known->ends_unknown = is_unknown;
    known->limit = (float)(largest_before(m, word, size, &l) - 1);
    return true;
}

#endif
