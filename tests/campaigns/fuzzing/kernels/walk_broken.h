/* Finding what is not UTF-8 in texts of ids, against the definition. */
#ifndef TOKDFA_WALK_BROKEN_H
#define TOKDFA_WALK_BROKEN_H

#include "walk_parts.h"

static bool broken_naively(const tokdfa_text_cuts *cuts, const uint8_t *text, const int64_t *offsets, int64_t token,
                           int64_t stop, int64_t *row) {
    int64_t places[256], points[256], n = 0;
    for (int64_t at = offsets[token], length; at < offsets[stop]; at += length, n++) {
        places[n] = at;
        length = decode(text + at, offsets[stop] - at, &points[n]);
        if (length > 0) {
            continue;
        }
        int64_t size = 1, ignored;
        while (size < offsets[stop] - at && !decode(text + at, size + 1, &ignored)) {
            size++;
        }
        memcpy(row, ((int64_t[]){token, token, 0, 0, at, at + size}), 6 * sizeof *row);
        for (int64_t id = token; id < stop; id++) {
            const int64_t begin = offsets[id], end = offsets[id + 1];
            row[2] = begin <= at && at < end ? id : row[2];
            row[3] = begin < at + size && at + size <= end ? id + 1 : row[3];
            for (int64_t k = 1; k + 1 < n; k++) {
                const int64_t left = cuts->class_of[points[k - 1]], right = cuts->class_of[points[k]];
                row[1] = places[k] == begin && cuts->certain[cuts->n_classes * left + right] ? id : row[1];
            }
        }
        return true;
    }
    return false;
}

static void find_broken_symbols(const machine *m, input *in) {
    arena memory = {NULL, 0, 0};
    const int64_t n_classes = between(in, 1, MOST_CLASSES), n_words = below(in, 40), n_texts = between(in, 1, 3);
    uint8_t *certain = ROOM(&memory, uint8_t, n_classes * n_classes);
    for (int64_t i = 0; i < n_classes * n_classes; i++) {
        certain[i] = take(in) & 1;
    }
    const tokdfa_text_cuts cuts = {classes[n_classes], certain, n_classes};
    int64_t *offsets = ZEROS(&memory, int64_t, n_words + 1), *bounds = ZEROS(&memory, int64_t, n_texts + 1);
    for (int64_t i = 0; i < n_words; i++) {
        offsets[i + 1] = offsets[i] + 1 + take(in) % 6;
    }
    for (int64_t k = 1; k <= n_texts; k++) {
        bounds[k] = k == n_texts ? n_words : between(in, bounds[k - 1], n_words);
    }
    const int64_t size = offsets[n_words];
    uint8_t *read = ROOM(&memory, uint8_t, size);
    const int64_t n = read_text(in, m->d, read, size);
    memset(read + n, 0xF0, (size_t)(size - n));
    const uint8_t *text = exactly(&memory, read, size, 1);
    const int64_t *ends = exactly(&memory, offsets + 1, n_words, sizeof *offsets);
    int64_t *rows = ROOM(&memory, int64_t, 6 * n_words), row[6], n_rows = 0;
    const int64_t n_found = tokdfa_broken(&cuts, text, ends, bounds, n_texts, rows, n_words);
    REQUIRE(n_found >= 0);
    for (int64_t k = 0; k < n_texts; k++) {
        for (int64_t id = bounds[k]; broken_naively(&cuts, text, offsets, id, bounds[k + 1], row); id = row[3]) {
            REQUIRE(n_rows < n_found && !memcmp(rows + 6 * n_rows++, row, sizeof row));
        }
    }
    REQUIRE(n_rows == n_found);
    /* With too little room it says so. */
    REQUIRE(!n_found || tokdfa_broken(&cuts, text, ends, bounds, n_texts, rows, n_found - 1) == -1);
    give_back(&memory);
}

#endif
