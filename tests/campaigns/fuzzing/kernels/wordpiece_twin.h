/* WordPiece by definition: longest match first, over the symbols of one word after the other. */
#ifndef TOKDFA_WORDPIECE_TWIN_H
#define TOKDFA_WORDPIECE_TWIN_H

#include "wordpiece_codes.h"

/* A symbol of a word, and its origin. */
typedef struct {
    int32_t symbol;
    int64_t begin, end;
} gathered;

typedef struct {
    int32_t *ids;
    int64_t *begins, *ends, n;
} tokens;

static void add(tokens *to, int64_t id, int64_t begin, int64_t end) {
    to->ids[to->n] = (int32_t)id;
    to->begins[to->n] = begin;
    to->ends[to->n++] = end;
}

/* Longest match first, over symbols; returns false if no tokenization exists. */
static bool match(const tokenizer *t, const gathered *word, int64_t n, tokens *to) {
    const int64_t before = to->n;
    for (int64_t at = 0; at < n;) {
        int64_t best = -1;
        for (int64_t i = 0; i < t->n_entries; i++) {
            const entry *e = t->entries + i;
            bool same = e->continues == (at > 0) && e->length <= n - at && (best < 0 || e->length > t->entries[best].length);
            for (int64_t k = 0; k < e->length && same; k++) {
                same = symbol_of(t, e->letters[k]) == word[at + k].symbol;
            }
            best = same ? i : best;
        }
        if (best < 0) {
            to->n = before;
            return false;
        }
        const int64_t stop = at + t->entries[best].length;
        add(to, best, word[at].begin, word[stop - 1].end);
        at = stop;
    }
    return true;
}

static void end_word(const tokenizer *t, gathered *word, int64_t *n, tokens *to) {
    if (*n) {
        const int64_t limit = t->tables.longest_word;
        if ((limit >= 0 && *n > limit) || !match(t, word, *n, to)) {
            add(to, t->tables.unknown, word[0].begin, word[*n - 1].end);
        }
    }
    *n = 0;
}

/* Tokenize a text, given as places among `points`, by definition. Offsets count bytes or code points. */
static void tokenize(const tokenizer *t, const uint8_t *which, int64_t n, bool bytes, gathered *word, tokens *to) {
    int64_t n_word = 0, begin = 0, start = 0;
    uint8_t scratch[4];
    for (int64_t at = 0; at < n;) {
        /* The longest added token here. */
        int64_t longest = -1, n_points = 0;
        for (int64_t k = 0; k < t->n_added; k++) {
            int64_t place = at, length = 0;
            bool same = true;
            while (same && length < t->added_length[k] && place < n) {
                const int64_t width = put_utf8(scratch, points[which[place++]]);
                same = length + width <= t->added_length[k] && !memcmp(scratch, t->added[k] + length, (size_t)width);
                length += width;
            }
            if (same && length == t->added_length[k] && (longest < 0 || length > t->added_length[longest])) {
                longest = k;
                n_points = place - at;
            }
        }
        if (longest >= 0) {
            const int64_t end = begin + (bytes ? t->added_length[longest] : n_points);
            end_word(t, word, &n_word, to);
            add(to, t->added_id[longest], begin, end);
            begin = end;
            start = at += n_points;
            continue;
        }
        const int64_t width = bytes ? put_utf8(scratch, points[which[at]]) : 1;
        const uint32_t c = t->codes[which[at]];
        const uint32_t *items = &c;
        int64_t n_items = 1;
        if ((c & TOKDFA_CODE_KIND) == TOKDFA_CODE_REORDER) {
            /* Back to the first code point that continues the sequence, and on to its end. */
            int64_t first = at, stop = at + 1, from = begin;
            while (t->codes[which[first]] & TOKDFA_CODE_CONTINUES && first > start &&
                   t->codes[which[first - 1]] & TOKDFA_CODE_CONTINUES) {
                first--;
                from -= bytes ? put_utf8(scratch, points[which[first]]) : 1;
            }
            while (stop < n && t->codes[which[stop]] & TOKDFA_CODE_CONTINUES) {
                stop++;
            }
            int64_t cursor = first, source = from, source_end = from;
            for (int order = 0; order < 256; order++) {
                for (int64_t i = first; i < stop; i++) {
                    for (int k = 0; t->is_mark[which[i]] && k < t->n_parts[which[i]]; k++) {
                        if (t->parts[which[i]][k][0] != order) {
                            continue;
                        }
                        if (!k) {
                            bool is_source;
                            do {
                                source = source_end;
                                source_end += bytes ? put_utf8(scratch, points[which[cursor]]) : 1;
                                is_source = t->is_mark[which[cursor++]];
                            } while (!is_source);
                        }
                        if (t->parts[which[i]][k][1] >= 0) {
                            word[n_word++] = (gathered){t->parts[which[i]][k][1], source, source_end};
                        }
                    }
                }
            }
            for (; cursor < stop; cursor++) {
                source_end += bytes ? put_utf8(scratch, points[which[cursor]]) : 1;
            }
            begin = source_end;
            at = stop;
            continue;
        }
        if ((c & TOKDFA_CODE_KIND) == TOKDFA_CODE_SEQUENCE) {
            items = t->tables.pool + (c >> TOKDFA_CODE_KIND_BITS) + 1;
            n_items = items[-1];
        }
        for (int64_t k = 0; k < n_items; k++) {
            const int64_t payload = items[k] >> TOKDFA_CODE_KIND_BITS;
            switch (items[k] & TOKDFA_CODE_KIND) {
            case TOKDFA_CODE_SYMBOL:
                word[n_word++] = (gathered){(int32_t)payload, begin, begin + width};
                break;
            case TOKDFA_CODE_SPACE:
                end_word(t, word, &n_word, to);
                break;
            case TOKDFA_CODE_ALONE:
                end_word(t, word, &n_word, to);
                add(to, payload - 1, begin, begin + width);
                break;
            default:
                break;
            }
        }
        begin += width;
        at++;
    }
    end_word(t, word, &n_word, to);
}

#endif
