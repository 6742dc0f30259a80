/* Where two streams of ids of the same text both have a boundary. */
#include "../common/base.h"
#include "api.h"

enum { EIGHT_BYTES = 8 };

/* One side of a text: the next id is ids[at], and the one before it has `left` bytes at `from` that are not read. */
typedef struct {
    const tokdfa_spelled_ids *side;
    int64_t at;
    int64_t stop;
    const uint8_t *from;
    int64_t left;
} reader;

ALWAYS_INLINE bool read_id(reader *r) {
    if (r->at == r->stop) {
        return false;
    }
    const int64_t id = r->side->ids[r->at++];
    const int64_t begin = r->side->offsets[id];
    r->from = r->side->text + begin;
    r->left = r->side->offsets[id + 1] - begin;
    return true;
}

/* Read the ids without bytes that come next. */
ALWAYS_INLINE void read_silent(reader *r) {
    while (r->at < r->stop) {
        const int64_t id = r->side->ids[r->at];
        if (r->side->offsets[id + 1] != r->side->offsets[id]) {
            return;
        }
        r->at++;
    }
}

/* How many of the next n bytes are the same. Eight bytes after each text may be read. */
ALWAYS_INLINE int64_t n_equal(const uint8_t *a, const uint8_t *b, int64_t n) {
    int64_t k = 0;
    /* PERF: most ids have at most eight bytes, which one load compares. */
    do {
        const uint64_t differing = load_64(a + k) ^ load_64(b + k);
        if (differing) {
            return least(k + trailing_zeros(differing) / 8, n);
        }
        k += EIGHT_BYTES;
    } while (k < n);
    return n;
}

/* The arrays that are written, and the place in the text. */
typedef struct {
    const tokdfa_units *units;
    int64_t n;
    int64_t offset;
} unit_writer;

ALWAYS_INLINE void write_unit(unit_writer *w, const reader *a, const reader *b) {
    w->units->a_ends[w->n] = a->at;
    w->units->b_ends[w->n] = b->at;
    w->units->offsets[w->n++] = w->offset;
}

/* Read an id of each side if both have the same bytes, at least one. */
ALWAYS_INLINE bool read_equal(unit_writer *w, reader *a, reader *b) {
    const int64_t *a_word = a->side->offsets + a->side->ids[a->at], *b_word = b->side->offsets + b->side->ids[b->at];
    const int64_t n = a_word[1] - a_word[0];
    if (n != b_word[1] - b_word[0] || n == 0 || n_equal(a->side->text + a_word[0], b->side->text + b_word[0], n) < n) {
        return false;
    }
    a->at++;
    b->at++;
    w->offset += n;
    return true;
}

/* Read one text. Returns whether both sides spell the same. */
static bool align_text(unit_writer *w, reader *a, reader *b) {
    while (true) {
        /* PERF: most units have an id on each side; this loop halves their time. */
        while (a->at < a->stop && b->at < b->stop && read_equal(w, a, b)) {
            write_unit(w, a, b);
        }
        const int64_t a_begin = a->at, b_begin = b->at;
        read_silent(a);
        read_silent(b);
        if (a->at > a_begin || b->at > b_begin) {
            write_unit(w, a, b);
        }
        const bool a_ends = !read_id(a), b_ends = !read_id(b);
        if (a_ends || b_ends) {
            return a_ends && b_ends;
        }
        while (a->left || b->left) {
            if ((!a->left && !read_id(a)) || (!b->left && !read_id(b))) {
                return false;
            }
            const int64_t n = least(a->left, b->left), same = n_equal(a->from, b->from, n);
            w->offset += same;
            if (same < n) {
                return false;
            }
            a->from += n;
            b->from += n;
            a->left -= n;
            b->left -= n;
        }
        write_unit(w, a, b);
    }
}

/* Write down the units of texts, and for each text the number of units up to its end. Returns the number of texts that
   both sides spell alike; if this is not all of them, the next one has a last unit that is none: where the text
   differs, with the ids read on each side, and the offset of the first byte. */
TOKDFA_API int64_t tokdfa_align(const tokdfa_spelled_ids *a, const tokdfa_spelled_ids *b, int64_t n_texts,
                                const tokdfa_units *units) {
    unit_writer w = {units, 0, 0};
    for (int64_t k = 0; k < n_texts; k++) {
        reader left = {a, a->bounds[k], a->bounds[k + 1], NULL, 0}, right = {b, b->bounds[k], b->bounds[k + 1], NULL, 0};
        const bool is_same = align_text(&w, &left, &right);
        if (!is_same) {
            write_unit(&w, &left, &right);
        }
        units->texts[k] = w.n;
        if (!is_same) {
            return k;
        }
    }
    return n_texts;
}
