#ifndef TOKDFA_NORMALIZATION_API_H
#define TOKDFA_NORMALIZATION_API_H

#include <stdint.h>

/* How far normalizing has come. */
enum { TOKDFA_IN_FORM = 0, TOKDFA_STRETCH_TOO_LONG = 1, TOKDFA_NO_ROOM_FOR_FORM = 2 };

/* A normalization form; see quick_check.py. Without boundaries there is no form. Read-only once it is built. */
typedef struct {
    const uint64_t *boundary;
    int64_t n_boundary;
    const int32_t *mark;
    int64_t n_mark;
    const uint8_t *order;
    int64_t n_order;
    const int32_t *whole;
    int64_t n_whole;
    const int32_t *bounds;
    int64_t n_bounds;
    const int32_t *parts;
    int64_t n_parts;
    const int64_t *pair;
    int64_t n_pair;
    const int32_t *composed;
    int64_t n_composed;
    int64_t composes;
    const uint8_t *filter; /* 576: which bytes may begin a character without a boundary before it; see `may_begin` */
} tokdfa_form;

/* A text on its way into a form: what is between spans is normalized by itself. It belongs to one thread. */
typedef struct {
    int64_t *spans; /* start, stop and anything else: places in the text, and where it is done, in what becomes of it */
    int64_t n_spans;
    int64_t next;          /* the entry of the next span */
    int64_t read, written; /* how much of the text is done, and of what becomes of it */
    uint8_t *out;
    int64_t n_out;
} tokdfa_normalizing;

int tokdfa_normalize(const tokdfa_form *form, tokdfa_normalizing *job, const uint8_t *text, int64_t n);

int64_t tokdfa_first_change(const tokdfa_form *form, const uint8_t *text, int64_t n);
void tokdfa_find_changed(const tokdfa_form *form, const uint64_t *places, const int64_t *offsets, int64_t n_texts,
                         uint8_t *changes);
void tokdfa_find_joining(const tokdfa_form *form, const uint8_t *text, const int64_t *offsets, int64_t n_words,
                         uint8_t *joins);

#endif
