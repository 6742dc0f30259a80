/* Whether a stream of ids is the best segmentation of its text: the text of its pieces, with real spaces.

   A word is an id with a piece that begins with a visible space, and the ids after it up to the next such id. Words
   found to be canonical are cached by their ids, where rounding cannot matter; other words are spelled and segmented.
   Ids that are not made of such words, as where they spell an unknown character, are spelled as they are decoded, up to
   the next cut of the text, which is normalized and segmented. */
#include "segment.h"

enum { KNOWN = 2, MOST_KNOWN = 4 };
enum { WORD_KINDS = TOKDFA_PIECE_PLAIN | TOKDFA_PIECE_SPACED };

/* The magnitude of the sum before words up to which known words are canonical: the limit of usual words, of so many
   symbols; see study.h. */
#define USUAL_WORD 24
ALWAYS_INLINE double largest_sum(const tokdfa_unigram *m) {
    return TOO_LARGE - 1.5 - (m->longest_step + 1) * USUAL_WORD;
}

/* A stream of `n` ids, and the tables and buffers to judge it with. */
typedef struct {
    const tokdfa_unigram_pieces *p;
    const int32_t *ids;
    int64_t n;
    tokdfa_unigram_reader *k;
    tokdfa_unigram_buffers *r;
    segment_run run;
} id_stream;

/* Some ids of a stream that are judged at once, and the bytes that they add to its text. */
typedef struct {
    int64_t at, stop, n_bytes;
    bool is_doubtful; /* whether a special token may be spelled there */
} id_span;

/* Up to four ids as two entries, with ones after the last. */
typedef struct {
    uint64_t low, high;
} id_word;

ALWAYS_INLINE id_word pack_ids(const int32_t *ids, int64_t n) {
    id_word word = {(uint32_t)ids[0] | 0xFFFFFFFF00000000u, UINT64_MAX};
    if (n > 1) {
        word.low = (uint32_t)ids[0] | (uint64_t)(uint32_t)ids[1] << 32;
    }
    if (n > 2) {
        word.high = (uint32_t)ids[2] | (n > 3 ? (uint64_t)(uint32_t)ids[3] << 32 : 0xFFFFFFFF00000000u);
    }
    return word;
}

ALWAYS_INLINE uint64_t *known_of(const tokdfa_unigram_reader *k, id_word word) {
    return k->known + KNOWN * (hash_packed(word.low, word.high) >> 20 & (uint64_t)(k->n_known / KNOWN - 1));
}

/* Whether a word is known to be canonical after a sum that is not too large. */
ALWAYS_INLINE bool is_known_word(const id_stream *s, const id_span *w) {
    const int64_t n = w->stop - w->at;
    if (n == 1) {
        return s->k->alone[s->ids[w->at]];
    }
    if (n > MOST_KNOWN) {
        return false;
    }
    const id_word word = pack_ids(s->ids + w->at, n);
    const uint64_t *known = known_of(s->k, word);
    return known[0] == word.low && known[1] == word.high;
}

/* Remember a word of `size` bytes that has been found to be canonical, if that does not depend on usual sums. */
static void remember_ids(const id_stream *s, const id_span *w, int64_t size) {
    tokdfa_unigram_reader *k = s->k;
    const int64_t n = w->stop - w->at;
    if (n > MOST_KNOWN || size - SPACE_SIZE > LONGEST_KEY) {
        return;
    }
    const text_word word = word_at(s->r, k->word, 0, size);
    const word_entry *found = find_entry(s->r, word.entries, word.key, word.rest, word.size);
    if (!found || largest_sum(s->p->model) > (double)found->limit) {
        return;
    }
    if (n == 1) {
        k->alone[s->ids[w->at]] = 1;
    } else {
        const id_word packed = pack_ids(s->ids + w->at, n);
        uint64_t *known = known_of(k, packed);
        known[0] = packed.low;
        known[1] = packed.high;
    }
}

/* Whether a special token is spelled anywhere in a word. */
NEVER_INLINE bool spells_special(const tokdfa_unigram_pieces *p, const uint8_t *word, int64_t n) {
    for (int64_t at = 0; at < n; at++) {
        int32_t cell = 0;
        for (int64_t key = at; key < n; key++) {
            const int32_t next = p->specials[2 * cell] + word[key];
            const int32_t link = p->specials[2 * next + 1];
            if (link >> 1 != cell) {
                break;
            }
            if (link & 1) {
                return true;
            }
            cell = next;
        }
    }
    return false;
}

/* Find the word at an index; false if this is not a word, or not known to be one. */
ALWAYS_INLINE bool find_word(const id_stream *s, int64_t at, id_span *w) {
    const tokdfa_unigram_pieces *p = s->p;
    const int32_t first = s->ids[at];
    const uint8_t kind = p->kinds[first];
    if (UNLIKELY((kind & WORD_KINDS) != WORD_KINDS)) {
        return false;
    }
    uint8_t all = kind, next = 0;
    int64_t stop = at + 1, bytes = p->bounds[first + 1] - p->bounds[first];
    for (; stop < s->n; stop++) {
        next = p->kinds[s->ids[stop]];
        if ((next & WORD_KINDS) != TOKDFA_PIECE_PLAIN) {
            break;
        }
        all |= next;
        bytes += p->bounds[s->ids[stop] + 1] - p->bounds[s->ids[stop]];
    }
    /* The word must end with the ids, before another word, or before a special token, which must not begin within the
       word; and a lone space may not be a word. */
    *w = (id_span){at, stop, bytes - (SPACE_SIZE - 1), all & TOKDFA_PIECE_DOUBTFUL};
    const uint8_t ends = w->is_doubtful ? TOKDFA_PIECE_SPACED : TOKDFA_PIECE_SPACED | TOKDFA_PIECE_SPECIAL;
    const bool is_bare = stop == at + 1 && kind & TOKDFA_PIECE_BARE;
    return LIKELY((stop == s->n || next & ends) && !(is_bare && (!p->keeps_spaces || (!at && s->k->begins))));
}

/* The outcome for some ids: nothing is known; they are canonical; or others are, which are in the buffers then. */
enum { UNSURE = 0, SAME = 1, OTHERS = 2 };

ALWAYS_INLINE int64_t compare(const id_stream *s, const id_span *w) {
    const int64_t n = w->stop - w->at;
    return s->r->n == n && !memcmp(s->r->ids, s->ids + w->at, (size_t)n * sizeof *s->ids) ? SAME : OTHERS;
}

/* Spell and segment a word; one of the above, or the reason for stopping. The sum is the one after the word unless
   nothing is known. */
NEVER_INLINE int64_t segment_word(const id_stream *s, const id_span *w) {
    const tokdfa_unigram_pieces *p = s->p;
    const tokdfa_unigram *m = p->model;
    tokdfa_unigram_reader *k = s->k;
    tokdfa_unigram_buffers *r = s->r;
    int64_t size = 0;
    for (int64_t i = w->at; i < w->stop; i++) {
        const int64_t begin = p->bounds[s->ids[i]], length = p->bounds[s->ids[i] + 1] - begin;
        if (size + length > k->n_word) {
            return UNSURE;
        }
        memcpy(k->word + size, p->text + begin, (size_t)length);
        size += length;
    }
    if (size > r->n_ids || (w->is_doubtful && spells_special(p, k->word, size))) {
        return UNSURE;
    }
    r->at = r->n = 0;
    const int64_t done = s->run(m, k->word, 0, size, INT64_MAX, r);
    if (done != 1) {
        /* The call is repeated from this word on. */
        return done == TOKDFA_SEGMENT_UNKNOWN ? UNSURE : done;
    }
    if (m->restarts) {
        end_run(m, k->word, size, r);
        r->score = 0;
    }
    const int64_t found = compare(s, w);
    if (found == SAME) {
        remember_ids(s, w, size);
    }
    return found;
}

/* Spell ids from an index to the next cut of the text, as they are decoded, into the buffer for a word. False if one of
   them is decoded otherwise, or the buffer is too small. */
static bool spell_unit(const id_stream *s, int64_t at, id_span *w) {
    const tokdfa_unigram_pieces *p = s->p;
    const bool begins = !at && s->k->begins;
    bool drops = begins && p->drops;
    uint8_t before = 0;
    *w = (id_span){.at = at, .stop = at};
    for (; w->stop < s->n; w->stop++) {
        const int32_t id = s->ids[w->stop];
        const uint8_t kind = p->kinds[id];
        if (before & TOKDFA_PIECE_ENDS && kind & TOKDFA_PIECE_BEGINS) {
            break;
        }
        before = kind;
        int64_t begin = p->shown_bounds[id], length = p->shown_bounds[id + 1] - begin;
        if (!(kind & TOKDFA_PIECE_SHOWN) || w->n_bytes + length > s->k->n_word ||
            (begins && w->stop == at && id == p->model->ids[0])) {
            return false;
        }
        if (drops) {
            /* The text for an unknown character keeps its spaces. */
            const bool spaced = length && p->shown[begin] == ' ' && id != p->model->ids[0];
            begin += spaced;
            length -= spaced;
            drops = p->drops == TOKDFA_DROPS_ALL && !length;
        }
        memcpy(s->k->word + w->n_bytes, p->shown + begin, (size_t)length);
        w->n_bytes += length;
    }
    return true;
}

/* Spell, normalize and segment ids up to the next cut of the text; see `segment_word`. */
NEVER_INLINE int64_t segment_unit(const id_stream *s, int64_t at, id_span *w) {
    tokdfa_unigram_buffers *r = s->r;
    tokdfa_unigram_writer *writer = s->k->writer;
    if (!writer || !spell_unit(s, at, w)) {
        return UNSURE;
    }
    int64_t n_ids;
    r->n = writer->text = 0;
    writer->is_begun = false;
    writer->continues = at || !s->k->begins;
    const int64_t done = tokdfa_segment_texts(s->k->word, &w->n_bytes, 1, &n_ids, writer);
    writer->is_begun = writer->continues = false;
    if (done >= 0) {
        return compare(s, w);
    }
    const bool is_repeated =
        done == TOKDFA_SEGMENT_ROOM || done == TOKDFA_SEGMENT_FULL || done == TOKDFA_SEGMENT_CROWDED;
    return is_repeated ? done : UNSURE;
}

/* Where the next byte of the text of some ids is. */
typedef struct {
    const int32_t *ids, *end;
    int64_t at;
} shown_byte;

/* The next byte of a text, -1 at its end. */
ALWAYS_INLINE int32_t next_byte(const tokdfa_unigram_pieces *p, shown_byte *place) {
    while (place->ids < place->end) {
        const int64_t at = p->shown_bounds[*place->ids] + place->at;
        if (at < p->shown_bounds[*place->ids + 1]) {
            place->at++;
            return p->shown[at];
        }
        place->ids++;
        place->at = 0;
    }
    return -1;
}

/* Whether the ids in the buffers have the text of the ids that they would replace. */
static int64_t compare_texts(const id_stream *s, const id_span *w) {
    const tokdfa_unigram_pieces *p = s->p;
    const tokdfa_unigram_buffers *r = s->r;
    if (!w->at && s->k->begins) {
        return TOKDFA_TEXT_ASKED;
    }
    bool is_same = true;
    for (int64_t i = 0; i < r->n; i++) {
        if (!(p->kinds[r->ids[i]] & TOKDFA_PIECE_SHOWN)) {
            return TOKDFA_TEXT_ASKED;
        }
    }
    shown_byte given = {s->ids + w->at, s->ids + w->stop, 0}, right = {r->ids, r->ids + r->n, 0};
    for (;;) {
        int32_t byte = next_byte(p, &given), other = next_byte(p, &right);
        if (byte != other) {
            for (; byte == ' '; is_same = false) {
                byte = next_byte(p, &given);
            }
            for (; other == ' '; is_same = false) {
                other = next_byte(p, &right);
            }
        }
        if (byte != other) {
            return TOKDFA_TEXT_OTHER;
        }
        if (byte < 0) {
            return is_same ? TOKDFA_TEXT_SAME : TOKDFA_TEXT_ASKED;
        }
    }
}

/* Write down wrong ids, the right ones in the buffers, and the state before them. Returns whether they fit. */
NEVER_INLINE bool write_wrong(const id_stream *s, const id_span *w, int64_t size, double sum, bool unknown) {
    tokdfa_unigram_reader *k = s->k;
    const tokdfa_unigram_buffers *r = s->r;
    const int64_t end = k->n_ids + r->n;
    if ((k->n_words + 1) * TOKDFA_WRONG_WORD > k->n_wrong || k->n_words == k->n_sums || end > k->n_right) {
        return false;
    }
    memcpy(k->right + k->n_ids, r->ids, (size_t)r->n * sizeof *r->ids);
    const int64_t row[TOKDFA_WRONG_WORD] = {w->at, w->stop, end, greatest(size, 0), unknown, compare_texts(s, w)};
    memcpy(k->wrong + k->n_words * TOKDFA_WRONG_WORD, row, sizeof row);
    k->sums[k->n_words++] = sum;
    k->n_ids = end;
    return true;
}

/* Judge ids at an index that are not known to be canonical. Returns 1 if the stream continues after them, or else the
   reason. */
NEVER_INLINE int64_t judge_span(const id_stream *s, bool is_word, int64_t size, id_span *w) {
    tokdfa_unigram_reader *k = s->k;
    tokdfa_unigram_buffers *r = s->r;
    const int64_t at = k->at, unknown_from = r->unknown_from;
    const double before = r->score;
    int64_t done = is_word ? segment_word(s, w) : UNSURE;
    if (done == UNSURE) {
        r->score = before;
        r->unknown_from = unknown_from;
        done = segment_unit(s, at, w);
        /* The space that the first word drops is not in its text. */
        w->n_bytes -= at ? 0 : size;
    }
    const bool is_written = done == OTHERS && k->goes_on && write_wrong(s, w, size, before, unknown_from >= 0);
    if (done == SAME || is_written) {
        return 1;
    }
    r->score = before;
    r->unknown_from = unknown_from;
    return done == OTHERS && k->goes_on ? TOKDFA_SEGMENT_WRONG : done < 0 ? done : 0;
}

ALWAYS_INLINE int64_t accept(const id_stream *s, const bool single) {
    const tokdfa_unigram_pieces *p = s->p;
    const tokdfa_unigram *m = p->model;
    const int32_t *ids = s->ids;
    tokdfa_unigram_reader *k = s->k;
    tokdfa_unigram_buffers *r = s->r;
    const int64_t until = least(s->n, k->at + k->at_a_time);
    const double most = largest_sum(m);
    const bool drops = s->n && k->begins && p->drops && p->kinds[ids[0]] & TOKDFA_PIECE_SPACED;
    int64_t at = k->at, size = at ? k->size : -(int64_t)drops, done = 1;
    double score = r->score;
    while (at < until) {
        if (UNLIKELY(p->kinds[ids[at]] & TOKDFA_PIECE_SPECIAL)) {
            /* A special token that is found in the text; the sum begins anew after it. */
            size += p->bounds[ids[at] + 1] - p->bounds[ids[at]];
            score = 0;
            at++;
            continue;
        }
        id_span w = {0};
        const bool is_word = find_word(s, at, &w);
        const double before = score;
        if (single && !m->rounded_late && UNLIKELY(fabs(score) > TOO_LARGE)) {
            score = 0;
        }
        if (LIKELY(is_word && (!single || fabs(score) <= most) && is_known_word(s, &w))) {
            for (int64_t i = at; single && i < w.stop; i++) {
                score = rounded(score + m->id_scores[ids[i]], true);
            }
            r->unknown_from = -1;
        } else {
            score = r->score = before;
            k->at = at;
            /* PERF: a copy, so that the span of a known word stays in registers. */
            id_span other = w;
            done = judge_span(s, is_word, size, &other);
            if (done != 1) {
                break;
            }
            w = other;
            score = r->score;
        }
        at = w.stop;
        size += w.n_bytes;
    }
    r->score = score;
    k->at = at;
    k->size = at ? size : 0;
    return done < 0 ? done : done && at < s->n ? TOKDFA_SEGMENT_PAUSED : at;
}

/* Accept valid ids that begin a text or follow a known cut of it, with the sum of scores up to there in the buffers. The
   text ends or is cut after the last id. Returns the number of the first ids that are proven to be the best
   segmentation of their text, up to a cut. If the reader continues after wrong words, it writes these down, and they
   count as well. Or returns why the call has stopped: it continues when it is repeated. */
TOKDFA_API int64_t tokdfa_accept_ids(const tokdfa_unigram_pieces *pieces, const int32_t *ids, int64_t n,
                                      tokdfa_unigram_reader *reader, tokdfa_unigram_buffers *buffers) {
    const id_stream stream = {pieces, ids, n, reader, buffers, run_of(pieces->model)};
    return pieces->model->single ? accept(&stream, true) : accept(&stream, false);
}
