/* Texts as they are given to ids: SentencePiece's normalization and the segmentation in one pass.

   A text is cut at its spaces. A word in which no rule may apply is looked up in the memory as it is; any other one is
   normalized symbol by symbol into the room for a word, and segmented at each space that comes of it. */
#include "segment.h"

/* Longer words are normalized elsewhere, so that signals are heeded. */
#define LONGEST_WRITTEN ((int64_t)1 << 22)

typedef struct {
    const tokdfa_unigram_texts *t;
    tokdfa_unigram_writer *w;
    tokdfa_unigram_room *r;
    segment_run run;
    int64_t n;      /* the number of bytes of the word */
    bool has_space; /* whether a space comes before what follows */
    bool has_text;  /* whether the text has anything but spaces so far */
} writing;

ALWAYS_INLINE bool is_touched(const tokdfa_unigram_texts *t, uint32_t code) {
    return t->touched[code >> 6] >> (code & 63) & 1;
}

/* The code point at a place of valid UTF-8. */
ALWAYS_INLINE uint32_t code_at(const uint8_t *text, int64_t size) {
    switch (size) {
    case 1: return text[0];
    case 2: return (uint32_t)(text[0] & 0x1F) << 6 | (text[1] & 0x3F);
    case 3: return (uint32_t)(text[0] & 0x0F) << 12 | (uint32_t)(text[1] & 0x3F) << 6 | (text[2] & 0x3F);
    default:
        return (uint32_t)(text[0] & 0x07) << 18 | (uint32_t)(text[1] & 0x3F) << 12 | (uint32_t)(text[2] & 0x3F) << 6 |
               (text[3] & 0x3F);
    }
}

/* The highest bit of each byte up to the first one that is not from 0x21 to 0x7E, which has it; those after it vary. */
ALWAYS_INLINE uint64_t ends_plain(uint64_t eight) {
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    return (((eight - 0x21 * ones) & ~eight) | eight | (eight + ones)) & high;
}

/* The number of bytes of the word at a place if it is short, no rule applies in it, and a space or the end of the text
   follows; otherwise 0. What is up to `limit` can be read. */
ALWAYS_INLINE int64_t plain_word(const tokdfa_unigram_texts *t, const uint8_t *text, int64_t at, int64_t end,
                                 int64_t limit) {
    if (LIKELY(t->plain_ascii && at + 16 <= limit)) {
        const uint64_t first = ends_plain(load_64(text + at)), second = ends_plain(load_64(text + at + 8));
        const int64_t size = first ? trailing_zeros(first) >> 3 : 8 + (trailing_zeros(second) >> 3);
        if (UNLIKELY(at + size >= end)) {
            return end - at <= LONGEST_PACKED ? end - at : 0;
        }
        if (UNLIKELY(size == 16)) {
            return 0;
        }
        if (LIKELY(t->blank[text[at + size]])) {
            return size;
        }
    }
    int64_t stop = at;
    while (stop < end && !t->blank[text[stop]] && stop - at <= LONGEST_PACKED) {
        const int64_t size = symbol_size(text[stop]);
        if (is_touched(t, code_at(text + stop, size))) {
            return 0;
        }
        stop += size;
    }
    return stop - at <= LONGEST_PACKED && (stop == end || t->blank[text[stop]]) ? stop - at : 0;
}

/* The end of the longest word of a trie that begins at a place, `at` if there is none; the cell of that word. */
ALWAYS_INLINE int64_t longest_of(const int32_t *cells, const uint8_t *text, int64_t at, int64_t end, int32_t *found) {
    int32_t cell = 0;
    int64_t stop = at;
    for (int64_t key = at; key < end; key++) {
        const int32_t next = cells[2 * cell] + text[key];
        const int32_t link = cells[2 * next + 1];
        if (link >> 1 != cell) {
            break;
        }
        cell = next;
        if (link & 1) {
            stop = key + 1;
            *found = cell;
        }
    }
    return stop;
}

/* Segment the word that has been written. Returns 1, or the reason for stopping. */
static int64_t end_word(writing *j) {
    if (j->r->n + j->n > j->r->n_ids) {
        return TOKDFA_SEGMENT_FULL;
    }
    j->r->at = 0;
    const int64_t done = j->run(j->t->model, j->w->word, 0, j->n, INT64_MAX, j->r);
    j->n = 0;
    return done;
}

/* Write bytes that are no space. Returns 1, or the reason for stopping. */
ALWAYS_INLINE int64_t write(writing *j, const uint8_t *bytes, int64_t n) {
    if (UNLIKELY(j->n + n + SPACE_SIZE > j->w->n_word)) {
        return j->n + n + SPACE_SIZE > LONGEST_WRITTEN ? TOKDFA_SEGMENT_OTHERWISE : TOKDFA_SEGMENT_LONG;
    }
    uint8_t *word = j->w->word;
    if (!j->n && j->has_space) {
        memcpy(word, "\xE2\x96\x81", SPACE_SIZE);
        j->n = SPACE_SIZE;
    }
    memcpy(word + j->n, bytes, (size_t)n);
    j->n += n;
    j->has_space = false;
    j->has_text = true;
    return 1;
}

/* Write a space. Returns 1, or the reason for stopping. */
ALWAYS_INLINE int64_t write_space(writing *j) {
    int64_t done = 1;
    if (!j->t->trims_spaces && j->has_space) {
        done = write(j, (const uint8_t *)"", 0);
    }
    if (done == 1 && j->n) {
        done = end_word(j);
    }
    j->has_space = j->has_space || j->has_text || !j->t->trims_spaces;
    return done;
}

/* Write what a rule makes of a word. Returns 1, or the reason for stopping. */
static int64_t write_replacement(writing *j, int64_t rule) {
    const uint8_t *bytes = j->t->replacements;
    int64_t done = 1;
    for (int64_t at = j->t->starts[rule], end = j->t->stops[rule]; done == 1 && at < end;) {
        const int64_t size = symbol_size(bytes[at]);
        done = bytes[at] == ' ' ? write_space(j) : write(j, bytes + at, size);
        at += size;
    }
    return done;
}

/* Encode the symbol, or what a rule replaces or a piece keeps, at a place, and go past it. Returns 1, or the reason. */
static int64_t write_symbol(writing *j, const uint8_t *text, int64_t *at, int64_t end) {
    const tokdfa_unigram_texts *t = j->t;
    if (t->lacks_rules) {
        return TOKDFA_SEGMENT_OTHERWISE;
    }
    int32_t cell = 0;
    int64_t stop = t->has_kept ? longest_of(t->kept, text, *at, end, &cell) : *at;
    if (stop == *at) {
        stop = longest_of(t->rules, text, *at, end, &cell);
        if (stop > *at) {
            *at = stop;
            return write_replacement(j, t->rule_of[cell]);
        }
        if (is_space(text, *at, end)) {
            return TOKDFA_SEGMENT_OTHERWISE;
        }
        stop = *at + symbol_size(text[*at]);
    }
    const int64_t done = write(j, text + *at, stop - *at);
    *at = stop;
    return done;
}

/* Take words from the memory, as long as they are there. Returns the number of bytes of a plain word that is not, 0 for
   a word that is not plain, or -1 at a space. The next word is fetched meanwhile. */
ALWAYS_INLINE int64_t recall_words(writing *j, const uint8_t *text, int64_t *place, int64_t end, int64_t until,
                                   int64_t limit) {
    const tokdfa_unigram_texts *t = j->t;
    const tokdfa_unigram *m = t->model;
    tokdfa_unigram_room *r = j->r;
    const double most = largest_sum(m);
    int64_t at = *place, size = plain_word(t, text, at, end, limit);
    packed_word key = {0, 0};
    if (size) {
        key = key_of(pack_at(text, limit, at, size), j->has_space);
    }
    while (size) {
        const int64_t stop = at + size, next = stop + (stop < end && t->trims_spaces);
        int64_t next_size = -1;
        packed_word next_key = {0, 0};
        if (LIKELY(next > stop && next < end && !t->blank[text[next]])) {
            next_size = plain_word(t, text, next, end, limit);
            if (LIKELY(next_size)) {
                next_key = key_of(pack_at(text, limit, next, next_size), true);
                PREFETCH(entries_of(r, next_key));
            }
        }
        if (!m->rounded_late && UNLIKELY(fabs(r->score) > TOO_LARGE)) {
            r->score = 0;
        }
        if (UNLIKELY(fabs(r->score) > most || r->n + MOST_IDS > r->n_ids || at >= until) || !recall(m, key, r, true)) {
            break;
        }
        j->has_space = next > stop;
        j->has_text = true;
        at = next;
        size = next_size;
        key = next_key;
        if (size < 0) {
            break;
        }
    }
    *place = at;
    return size;
}

/* Encode a text from where the writer has got to. Returns 1, or the reason for stopping. */
ALWAYS_INLINE int64_t encode(writing *j, const uint8_t *text, int64_t end, int64_t until, int64_t limit) {
    const tokdfa_unigram_texts *t = j->t;
    tokdfa_unigram_writer *w = j->w;
    tokdfa_unigram_room *r = j->r;
    const bool trims = t->trims_spaces;
    int64_t at = w->at;
    j->n = 0;
    j->has_space = w->has_space;
    j->has_text = w->has_text;
    while (at < end) {
        int64_t done = 1;
        if (t->blank[text[at]]) {
            done = write_space(j);
            at++;
        } else if (!j->n) {
            if (UNLIKELY(at >= until)) {
                w->at = at;
                w->has_space = j->has_space;
                w->has_text = j->has_text;
                w->n = r->n;
                w->score = r->score;
                w->unknown_from = r->unknown_from;
                return TOKDFA_SEGMENT_PAUSED;
            }
            const int64_t size = recall_words(j, text, &at, end, until, limit);
            if (at == end || size < 0) {
                continue;
            }
            if (size) {
                done = write(j, text + at, size);
                at += size;
            } else {
                done = write_symbol(j, text, &at, end);
            }
        } else {
            done = write_symbol(j, text, &at, end);
        }
        if (UNLIKELY(done != 1)) {
            return done;
        }
    }
    if (j->n || (!trims && j->has_space)) {
        const int64_t done = write(j, (const uint8_t *)"", 0);
        return done == 1 ? end_word(j) : done;
    }
    return 1;
}

/* Write the ids of texts, valid UTF-8, that come one after the other and end at `ends`, ascending; and where the ids of
   each end. Returns their number, or why the call has stopped: it goes on where it stopped when it is repeated. */
TOKDFA_DOOR int64_t tokdfa_segment_texts(const uint8_t *text, const int64_t *ends, int64_t n_texts, int64_t *id_ends,
                                        tokdfa_unigram_writer *writer) {
    tokdfa_unigram_writer *w = writer;
    tokdfa_unigram_room *room = w->room;
    const tokdfa_unigram_texts *texts = w->texts;
    writing j = {texts, w, room, run_of(texts->model), 0, false, false};
    int64_t budget = room->at_a_time ? room->at_a_time : INT64_MAX / 2;
    for (; w->text < n_texts; w->text++) {
        const int64_t end = ends[w->text];
        if (!w->is_begun) {
            w->is_begun = true;
            w->at = w->text ? ends[w->text - 1] : 0;
            w->has_space = texts->puts_space && !w->continues;
            w->has_text = w->continues;
            w->n = room->n;
            w->score = w->continues ? room->score : 0;
            w->unknown_from = w->continues ? room->unknown_from : -1;
        }
        const int64_t begin = w->at;
        room->n = w->n;
        room->score = w->score;
        room->unknown_from = w->unknown_from;
        const int64_t done = begin == end ? 1 : encode(&j, text, end, begin + budget, ends[n_texts - 1]);
        if (done != 1) {
            return done;
        }
        budget = greatest(budget - (end - begin), 1);
        w->is_begun = false;
        id_ends[w->text] = room->n;
    }
    return room->n;
}

/* The same of one text, without `ends`; it begins anew unless it has stopped. */
TOKDFA_DOOR int64_t tokdfa_segment_text(const uint8_t *text, int64_t n_text, tokdfa_unigram_writer *writer) {
    int64_t end;
    if (!writer->is_begun) {
        writer->text = writer->room->n = 0;
    }
    return tokdfa_segment_texts(text, &n_text, 1, &end, writer);
}
