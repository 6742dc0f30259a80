/* Texts as they are given to ids: SentencePiece's normalization and the segmentation in one pass.

   A text is cut at its spaces, some hundred bytes at a time: first the offsets where words begin and end, then the keys
   of the words, while their cache entries are fetched, then their ids. A word that is not cached is normalized symbol
   by symbol into the buffer for a word, and segmented at each space that this makes. If it makes none, the word is
   cached as it is given. */
#include "../common/wide.h"
#include "part.h"
#include "segment.h"

int64_t VARIANT(segment_texts)(const uint8_t *text, const int64_t *ends, int64_t n_texts, int64_t *id_ends,
                               tokdfa_unigram_writer *writer);

/* Longer words are normalized elsewhere, so that signals are heeded. */
#define LONGEST_WRITTEN ((int64_t)1 << 22)

typedef struct {
    const tokdfa_unigram_texts *t;
    tokdfa_unigram_writer *w;
    tokdfa_unigram_buffers *r;
    segment_run run;
    int64_t n;      /* the number of bytes of the word */
    int64_t n_spaces; /* the number of spaces that were written */
    bool has_space; /* whether a space comes before the next bytes */
    bool has_text;  /* whether the text has anything but spaces so far */
} writing;

ALWAYS_INLINE bool is_touched(const tokdfa_unigram_texts *t, uint32_t code) {
    return t->touched[code >> 6] >> (code & 63) & 1;
}

/* The code point of a symbol of valid UTF-8. */
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

/* Whether a rule may apply in text. */
ALWAYS_INLINE bool has_touched(const tokdfa_unigram_texts *t, const uint8_t *text, int64_t at, int64_t end) {
    for (int64_t size; at < end; at += size) {
        size = symbol_size(text[at]);
        if (is_touched(t, code_at(text + at, size))) {
            return true;
        }
    }
    return false;
}

/* The end of the longest word of a trie that begins at an offset, `at` if there is none; the cell of that word. */
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

/* Write bytes other than a space. Returns 1, or the reason for stopping. */
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
    j->n_spaces++;
    if (!j->t->trims_spaces && j->has_space) {
        done = write(j, (const uint8_t *)"", 0);
    }
    if (done == 1 && j->n) {
        done = end_word(j);
    }
    j->has_space = j->has_space || j->has_text || !j->t->trims_spaces;
    return done;
}

/* Write the replacement of a word by a rule. Returns 1, or the reason for stopping. */
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

/* Encode the symbol at an offset, or the word there that a rule replaces or a piece keeps, and go past it. Returns 1,
   or the reason. */
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

/* Write the ids of the word that has been written. Returns 1, or the reason for stopping. */
static int64_t write_known(writing *j, const known_word *known) {
    tokdfa_unigram_buffers *r = j->r;
    if (r->n + known->n_ids > r->n_ids) {
        return TOKDFA_SEGMENT_FULL;
    }
    memcpy(r->ids + r->n, known->ids, (size_t)known->n_ids * sizeof *known->ids);
    r->n += known->n_ids;
    float sum = (float)r->score;
    for (int64_t i = 0; i < known->n_scores; i++) {
        sum += known->scores[i];
    }
    r->score = (double)sum;
    r->unknown_from = (int64_t)known->ends_unknown - 1;
    j->n = 0;
    return 1;
}

/* Normalize and segment a word as it is given, and cache it if that is possible and it `is_new`. Returns 1, or the
   reason for stopping. */
NEVER_INLINE int64_t encode_word(writing *j, const uint8_t *text, int64_t at, int64_t end, word_entry *entries,
                                 packed_word key, bool is_new) {
    const tokdfa_unigram_texts *t = j->t;
    const int64_t begin = at, n_spaces = j->n_spaces;
    int64_t done = 1;
    if (!has_touched(t, text, at, end)) {
        done = write(j, text + at, end - at);
        at = end;
    }
    while (done == 1 && at < end) {
        done = write_symbol(j, text, &at, end);
    }
    if (done != 1 || !j->n) {
        return done;
    }
    known_word known;
    if (is_new && j->n_spaces == n_spaces && end - begin <= LONGEST_KEY && j->n <= LONGEST_WORD &&
        study(t->model, j->w->word, j->n, &known)) {
        remember(j->r, entries, key, text + begin, end - begin, &known);
        if (fabs(j->r->score) <= (double)known.limit) {
            return write_known(j, &known);
        }
    }
    return end_word(j);
}

/* How many words ahead the overflow area is fetched. */
enum { AHEAD = 6 };

/* The values that each word changes.

   PERF: in registers; the sum through memory took as long as all else. */
typedef struct {
    int32_t *out; /* where the next ids are written */
    float sum;
    uint32_t ends_unknown;
    uint64_t kind; /* of the next word */
    bool has_text, has_space;
} word_state;

ALWAYS_INLINE word_state load_word_state(const writing *j) {
    const tokdfa_unigram_buffers *r = j->r;
    const bool spaced = j->has_space || j->has_text || !j->t->trims_spaces;
    const uint64_t kind = GIVEN_WORD | (spaced ? SPACED_WORD : BARE_WORD);
    return (word_state){r->ids + r->n, (float)r->score, r->unknown_from >= 0, kind, j->has_text, j->has_space};
}

ALWAYS_INLINE void store_word_state(const word_state *s, bool has_space, writing *j) {
    j->r->n = s->out - j->r->ids;
    j->r->score = (double)s->sum;
    j->r->unknown_from = (int64_t)s->ends_unknown - 1;
    j->has_text = s->has_text;
    j->has_space = has_space;
}

/* Encode the next words of a text, which is at one, and go past them. Returns 1, or the reason for stopping. */
ALWAYS_INLINE int64_t encode_words(writing *j, const uint8_t *text, int64_t *place, int64_t end, int64_t limit) {
    const bool trims = j->t->trims_spaces;
    const tokdfa_unigram_buffers *r = j->r;
    text_part part;
    const int64_t n_words = find_edges(j->t, text, *place, end, limit, part.edges) / 2;
    find_keys(r, text, limit, n_words, &part);
    const uint64_t *overflow = r->overflow;
    /* Ids are copied in whole groups, which must fit. */
    const int32_t *last = r->ids + r->n_ids - IDS_INSIDE;
    word_state s = load_word_state(j);
    s.kind = GIVEN_WORD | (j->has_space ? SPACED_WORD : BARE_WORD);
    s.has_space = false;
    int64_t k = 0;
    for (; k < n_words; k++) {
        const int64_t begin = part.edges[2 * k], size = part.edges[2 * k + 1] - begin;
        if (UNLIKELY(!trims && k && (s.has_space || begin > part.edges[2 * k - 1] + 1))) {
            /* More than one space before it: each is written. */
            break;
        }
        PREFETCH(overflow + part.entries[least(k + AHEAD, n_words - 1)]->place);
        packed_word key = part.keys[k];
        key.high |= s.kind;
        word_entry *entries = part.entries[k];
        /* It is the first or the second one, without a branch between them; or one of the others. */
        const word_entry *entry = entries + ((entries->low != key.low) | (entries->high != key.high));
        bool is_there = (entry->low == key.low) & (entry->high == key.high) && is_same(r, entry, text + begin, size);
        if (UNLIKELY(!is_there) && size <= LONGEST_KEY) {
            entry = find_entry(r, entries, key, text + begin, size);
            is_there = entry;
        }
        if (LIKELY(is_there && fabsf(s.sum) <= entry->limit && s.out + entry->n_ids <= last)) {
            s.out = take(overflow, entry, size, s.out, &s.sum);
            s.ends_unknown = entry->ends_unknown;
            s.has_text = true;
            s.has_space = false;
            s.kind = GIVEN_WORD | SPACED_WORD;
        } else {
            store_word_state(&s, s.kind & SPACED_WORD, j);
            const int64_t done = encode_word(j, text, begin, begin + size, entries, key, !is_there);
            if (UNLIKELY(done != 1)) {
                return done;
            }
            s = load_word_state(j);
        }
    }
    store_word_state(&s, s.has_space, j);
    *place = part.edges[2 * k - 1];
    return 1;
}

/* Encode a text from the position of the writer. Returns 1, or the reason for stopping. */
ALWAYS_INLINE int64_t encode(writing *j, const uint8_t *text, int64_t end, int64_t until, int64_t limit) {
    tokdfa_unigram_writer *w = j->w;
    tokdfa_unigram_buffers *r = j->r;
    int64_t at = w->at;
    j->n = 0;
    j->has_space = w->has_space;
    j->has_text = w->has_text;
    while (at < end) {
        int64_t done;
        if (j->t->blank[text[at]]) {
            done = write_space(j);
            at++;
        } else {
            w->at = at;
            w->has_space = j->has_space;
            w->has_text = j->has_text;
            w->n = r->n;
            w->score = r->score;
            w->unknown_from = r->unknown_from;
            if (UNLIKELY(at >= until)) {
                return TOKDFA_SEGMENT_PAUSED;
            }
            if (UNLIKELY(r->n_dropped >= r->most_dropped)) {
                return TOKDFA_SEGMENT_CROWDED;
            }
            done = encode_words(j, text, &at, end, limit);
        }
        if (UNLIKELY(done != 1)) {
            return done;
        }
    }
    if (j->n || (!j->t->trims_spaces && j->has_space)) {
        const int64_t done = write(j, (const uint8_t *)"", 0);
        return done == 1 ? end_word(j) : done;
    }
    return 1;
}

NEVER_INLINE int64_t segment_given(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end,
                                   int64_t until, tokdfa_unigram_buffers *r) {
    return segment(m, text, sentence, end, until, r, SINGLE);
}

NEVER_INLINE int64_t segment_given_late(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end,
                                        int64_t until, tokdfa_unigram_buffers *r) {
    return segment(m, text, sentence, end, until, r, SINGLE | LATE);
}

/* Write the ids of texts, valid UTF-8, that come one after the other and end at `ends`, ascending; and where the ids of
   each end. Returns their number, or why the call has stopped: it continues where it stopped when it is repeated. */
int64_t VARIANT(segment_texts)(const uint8_t *text, const int64_t *ends, int64_t n_texts, int64_t *id_ends,
                               tokdfa_unigram_writer *writer) {
    tokdfa_unigram_writer *w = writer;
    tokdfa_unigram_buffers *buffers = w->buffers;
    const tokdfa_unigram_texts *texts = w->texts;
    writing j = {texts, w, buffers, texts->model->rounded_late ? segment_given_late : segment_given, 0, 0, false, false};
    int64_t budget = buffers->at_a_time ? buffers->at_a_time : INT64_MAX / 2;
    for (; w->text < n_texts; w->text++) {
        const int64_t end = ends[w->text];
        if (!w->is_begun) {
            w->is_begun = true;
            w->at = w->text ? ends[w->text - 1] : 0;
            w->has_space = texts->puts_space && !w->continues;
            w->has_text = w->continues;
            w->n = buffers->n;
            w->score = w->continues ? buffers->score : 0;
            w->unknown_from = w->continues ? buffers->unknown_from : -1;
        }
        const int64_t begin = w->at;
        buffers->n = w->n;
        buffers->score = w->score;
        buffers->unknown_from = w->unknown_from;
        const int64_t done = begin == end ? 1 : encode(&j, text, end, begin + budget, ends[n_texts - 1]);
        if (done != 1) {
            return done;
        }
        budget = greatest(budget - (end - begin), 1);
        w->is_begun = false;
        id_ends[w->text] = buffers->n;
    }
    return buffers->n;
}

#ifndef TOKDFA_WIDE
int64_t segment_texts_wide(const uint8_t *text, const int64_t *ends, int64_t n_texts, int64_t *id_ends,
                           tokdfa_unigram_writer *writer);

TOKDFA_API int64_t tokdfa_segment_texts(const uint8_t *text, const int64_t *ends, int64_t n_texts, int64_t *id_ends,
                                        tokdfa_unigram_writer *writer) {
    return CHOOSE(segment_texts)(text, ends, n_texts, id_ends, writer);
}

/* The same of one text, without `ends`; it begins anew unless it has stopped. */
TOKDFA_API int64_t tokdfa_segment_text(const uint8_t *text, int64_t n_text, tokdfa_unigram_writer *writer) {
    int64_t end;
    if (!writer->is_begun) {
        writer->text = writer->buffers->n = 0;
    }
    return tokdfa_segment_texts(text, &n_text, 1, &end, writer);
}
#endif
