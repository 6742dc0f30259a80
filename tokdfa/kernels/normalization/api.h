#ifndef TOKDFA_NORMALIZATION_API_H
#define TOKDFA_NORMALIZATION_API_H

#include <stdint.h>

/* Memory: every array is allocated by Python (numpy), and lives as long as the Struct that points to it; texts belong
   to the caller. C allocates nothing. */

/* The results of tokdfa_normalize: done; a segment is too long; the buffer is full. */
enum { TOKDFA_IN_FORM = 0, TOKDFA_SEGMENT_TOO_LONG = 1, TOKDFA_FORM_BUFFER_FULL = 2 };

/* A normalization form; the Hangul syllables are computed. Without boundaries it stands for no form. Read-only once it
   is built. */
typedef struct {
    const uint64_t *boundary; /* bit c, of 17,408 words, is set if there is a boundary before code point c */
    int64_t n_boundary;
    const int32_t *mark; /* the code points with a combining class other than 0, ascending */
    int64_t n_mark;
    const uint8_t *order; /* the combining class of each */
    int64_t n_order;
    const int32_t *whole; /* the code points that decompose, ascending */
    int64_t n_whole;
    const int32_t *bounds; /* number i decomposes to parts[bounds[i]] to parts[bounds[i + 1]] */
    int64_t n_bounds;
    const int32_t *parts;
    int64_t n_parts;
    const int64_t *pair; /* the pairs that compose, left << 32 | right, ascending */
    int64_t n_pair;
    const int32_t *composed; /* the code point that each composes to */
    int64_t n_composed;
    int64_t composes;      /* whether it composes after it has decomposed */
    const uint8_t *filter; /* 576: which bytes may begin a character without a boundary before it; see `may_begin` */
} tokdfa_form;

/* A text that is being normalized, each part between spans by itself. It belongs to one thread. */
typedef struct {
    int64_t *spans; /* start, stop and anything else: offsets in the text, which become offsets in the result */
    int64_t n_spans;
    int64_t next;          /* the entry of the next span */
    int64_t read, written; /* the bytes done, of the text and of the result */
    uint8_t *out;          /* the result */
    int64_t n_out;
} tokdfa_normalizing;

int tokdfa_normalize(const tokdfa_form *form, tokdfa_normalizing *job, const uint8_t *text, int64_t n);

int64_t tokdfa_first_change(const tokdfa_form *form, const uint8_t *text, int64_t n);
void tokdfa_find_changed(const tokdfa_form *form, const uint64_t *places, const int64_t *offsets, int64_t n_texts,
                         uint8_t *changes);
void tokdfa_find_joining(const tokdfa_form *form, const uint8_t *text, const int64_t *offsets, int64_t n_words,
                         uint8_t *joins);

#endif
