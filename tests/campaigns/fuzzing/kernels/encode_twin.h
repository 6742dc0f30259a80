/* Encoding by definition: splitting, and merging each piece by the rules in turn. */
#ifndef TOKDFA_ENCODE_TWIN_H
#define TOKDFA_ENCODE_TWIN_H

#include "encode_tables.h"

/* The length of the valid symbol at a place; 0 if it is cut short by the end, -1 if no text has it. */
static int64_t symbol_at(const uint8_t *at, int64_t left, int64_t *point) {
    const int64_t length = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? -1 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF5 ? 4 : -1;
    if (length < 0) {
        return -1;
    }
    static const int64_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    /* The least and the greatest number that may come of it. */
    int64_t low = length == 1 ? at[0] : at[0] & (0xFF >> (length + 1)), high = low;
    for (int64_t k = 1; k < length; k++) {
        if (k < left && (at[k] & 0xC0) != 0x80) {
            return -1;
        }
        low = low << 6 | (k < left ? at[k] & 0x3F : 0);
        high = high << 6 | (k < left ? at[k] & 0x3F : 0x3F);
    }
    if (high < least[length] || low > 0x10FFFF || (low >= 0xD800 && high < 0xE000)) {
        return -1;
    }
    *point = low;
    return length <= left ? length : 0;
}

/* Split a text, by definition: run through it, and go back from the end. Returns the number of entries, or how
   the text ends it, at *at. */
static int64_t split_naively(const encoder *e, const uint8_t *text, int64_t size, int64_t *begun, int64_t *at,
                             int64_t *cells, int64_t *places) {
    const tokdfa_splitting *s = &e->splitting;
    int64_t state = 0, n = 0;
    for (*at = 0; *at < size;) {
        int64_t point;
        const int64_t length = symbol_at(text + *at, size - *at, &point);
        if (length <= 0) {
            return length < 0 ? TOKDFA_INVALID : TOKDFA_CUT_SHORT;
        }
        const int64_t number =
            point < 128 ? s->ascii_class[point] : s->classes[s->pages[point / PAGE] * PAGE + point % PAGE];
        cells[n] = state * N_CLASSES + number;
        places[n++] = *at;
        state = s->target[cells[n - 1]] / N_CLASSES;
        *at += length;
    }
    int64_t hypothesis = s->borne_out[state], n_begun = 0;
    for (int64_t k = n - 1; k >= 0; k--) {
        const int64_t cell = cells[k] * s->width + hypothesis;
        if (e->event[cell]) {
            begun[n_begun++] = places[k] * 4 + e->event[cell];
        }
        hypothesis = e->parent[cell];
    }
    for (int64_t i = 0; i < n_begun / 2; i++) {
        const int64_t other = begun[i];
        begun[i] = begun[n_begun - 1 - i];
        begun[n_begun - 1 - i] = other;
    }
    return n_begun;
}

/* Merge by numbers: the least product first, of equals the leftmost. */
static int64_t merge_numbers(const encoder *e, const uint8_t *piece, int64_t n, int32_t *numbers) {
    for (int64_t i = 0; i < n; i++) {
        numbers[i] = e->d->symbol[piece[i]];
        if (numbers[i] < 0) {
            return -1;
        }
    }
    for (;;) {
        int64_t best = INT64_MAX, place = 0;
        for (int64_t i = 0; i + 1 < n; i++) {
            for (int64_t rule = 0; rule < e->n_rules; rule++) {
                if (e->left[rule] == numbers[i] && e->right[rule] == numbers[i + 1]) {
                    if (e->product[rule] < best) {
                        best = e->product[rule];
                        place = i;
                    }
                    break;
                }
            }
        }
        if (best == INT64_MAX) {
            return n;
        }
        numbers[place] = (int32_t)best;
        memmove(numbers + place + 1, numbers + place + 2, (size_t)(n - place - 2) * sizeof *numbers);
        n--;
    }
}

/* The ids of a piece by definition; FOREIGN if it has none. */
static int64_t encode_piece(const encoder *e, const uint8_t *piece, int64_t size, int32_t *out) {
    const dictionary *d = e->d;
    for (int64_t token = 0; token < d->n_tokens; token++) {
        if (e->chosen[token] && length_of_token(d, token) == size && !memcmp(d->text + d->offsets[token], piece, (size_t)size)) {
            out[0] = e->whole.ids[token];
            return 1;
        }
    }
    int64_t n;
    if (e->is_proper) {
        n = tokenize_naively(d, piece, size, out);
        for (int64_t i = 0; i < n; i++) {
            out[i] = e->tables.ids[out[i]];
        }
    } else {
        n = merge_numbers(e, piece, size, out);
        for (int64_t i = 0; i < n; i++) {
            out[i] = e->tables.ids_of_numbers[out[i]];
        }
    }
    return n < 0 ? TOKDFA_FOREIGN : n;
}

#endif
