/* Streams of ids whose text is that of their pieces, with real spaces: whether they are the best segmentation.

   A word is an id whose piece begins with a visible space, and those after it up to the next such id. Words that have
   been found to be canonical are remembered by their ids, where rounding cannot matter; others are spelled and
   segmented. */
#include "segment.h"

enum { KNOWN = 2, MOST_KNOWN = 4 };

/* The magnitude of the sum before words up to which those that are known are canonical: of usual words of so many
   symbols, see study.h. */
#define USUAL_WORD 24
ALWAYS_INLINE double largest_sum(const tokdfa_unigram *m) {
    return TOO_LARGE - 1.5 - (m->longest_step + 1) * USUAL_WORD;
}

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

/* What comes of a word: nothing is known, these ids, or others. */
enum { UNSURE = 0, SAME = 1, OTHERS = 2 };

/* Spell and segment a word; one of the above, or the reason for stopping. The sum is that after the word if it is the
   same or others come of it, which are in the room then. */
NEVER_INLINE int64_t segment_word(const tokdfa_unigram_pieces *p, const int32_t *ids, int64_t n, bool doubtful,
                                     segment_run run, tokdfa_unigram_reader *k, tokdfa_unigram_room *r) {
    const tokdfa_unigram *m = p->model;
    int64_t size = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t begin = p->bounds[ids[i]], length = p->bounds[ids[i] + 1] - begin;
        if (size + length > k->n_word) {
            return UNSURE;
        }
        memcpy(k->word + size, p->text + begin, (size_t)length);
        size += length;
    }
    if (size > r->n_ids || (doubtful && spells_special(p, k->word, size))) {
        return UNSURE;
    }
    const double before = r->score;
    const int64_t unknown_from = r->unknown_from;
    r->at = r->n = 0;
    const int64_t done = run(m, k->word, 0, size, INT64_MAX, r);
    if (done != 1) {
        /* The call is repeated from this word on. */
        r->score = before;
        r->unknown_from = unknown_from;
        return done == TOKDFA_SEGMENT_UNKNOWN ? UNSURE : done;
    }
    if (m->restarts) {
        end_run(m, k->word, size, r);
        r->score = 0;
    }
    if (r->n != n || memcmp(r->ids, ids, (size_t)n * sizeof *ids)) {
        return OTHERS;
    }
    if (n <= MOST_KNOWN && size - SPACE_SIZE <= LONGEST_KEY) {
        const text_word word = word_at(r, k->word, 0, size);
        const word_entry *found = find_entry(r, word.entries, word.key, word.rest, word.size);
        if (found && largest_sum(m) <= (double)found->limit) {
            if (n == 1) {
                k->alone[ids[0]] = 1;
            } else {
                const id_word word = pack_ids(ids, n);
                uint64_t *known = known_of(k, word);
                known[0] = word.low;
                known[1] = word.high;
            }
        }
    }
    return SAME;
}

/* Write down a word from `at` to `stop` that is wrong, with the ids that are in the room. Returns whether there is room. */
NEVER_INLINE bool write_wrong(tokdfa_unigram_reader *k, const tokdfa_unigram_room *r, int64_t at, int64_t stop,
                              int64_t size, double sum, bool unknown) {
    const int64_t end = k->n_ids + r->n;
    if ((k->n_words + 1) * TOKDFA_WRONG_WORD > k->n_wrong || k->n_words == k->n_sums || end > k->n_right) {
        return false;
    }
    memcpy(k->right + k->n_ids, r->ids, (size_t)r->n * sizeof *r->ids);
    const int64_t row[TOKDFA_WRONG_WORD] = {at, stop, end, size, unknown};
    memcpy(k->wrong + k->n_words * TOKDFA_WRONG_WORD, row, sizeof row);
    k->sums[k->n_words++] = sum;
    k->n_ids = end;
    return true;
}

ALWAYS_INLINE int64_t accept(const tokdfa_unigram_pieces *p, const int32_t *ids, int64_t n, tokdfa_unigram_reader *k,
                             tokdfa_unigram_room *r, segment_run run, const bool single) {
    const tokdfa_unigram *m = p->model;
    const uint8_t *kinds = p->kinds;
    const int64_t until = least(n, k->at + k->at_a_time);
    const double *scores = m->id_scores;
    const double most = largest_sum(m);
    int64_t at = k->at, size = k->size;
    double score = r->score;
    while (at < until) {
        const int32_t first = ids[at];
        const uint8_t kind = kinds[first];
        if (UNLIKELY(kind == TOKDFA_PIECE_SPECIAL)) {
            /* A special token that is found in the text; the sum begins anew after it. */
            size += p->bounds[first + 1] - p->bounds[first];
            score = 0;
            at++;
            continue;
        }
        if (UNLIKELY((kind & (TOKDFA_PIECE_PLAIN | TOKDFA_PIECE_SPACED)) != (TOKDFA_PIECE_PLAIN | TOKDFA_PIECE_SPACED))) {
            break;
        }
        uint8_t all = kind, next = 0;
        int64_t stop = at + 1, bytes = p->bounds[first + 1] - p->bounds[first];
        for (; stop < n; stop++) {
            next = kinds[ids[stop]];
            if ((next & (TOKDFA_PIECE_PLAIN | TOKDFA_PIECE_SPACED)) != TOKDFA_PIECE_PLAIN) {
                break;
            }
            all |= next;
            bytes += p->bounds[ids[stop] + 1] - p->bounds[ids[stop]];
        }
        /* What follows belongs to the word unless it begins another one or is a special token, which must not begin
           before; and a space alone may be no word. */
        const uint8_t ends = all & TOKDFA_PIECE_DOUBTFUL ? TOKDFA_PIECE_SPACED : TOKDFA_PIECE_SPACED | TOKDFA_PIECE_SPECIAL;
        const bool is_bare = stop == at + 1 && kind & TOKDFA_PIECE_BARE;
        if (UNLIKELY((stop < n && !(next & ends)) || (is_bare && (!p->keeps_spaces || (!at && k->begins))))) {
            break;
        }
        const double before = score;
        if (single && !m->rounded_late && UNLIKELY(fabs(score) > TOO_LARGE)) {
            score = 0;
        }
        bool is_known = false;
        if (LIKELY(!single || fabs(score) <= most)) {
            if (stop == at + 1) {
                is_known = k->alone[first];
            } else if (stop - at <= MOST_KNOWN) {
                const id_word word = pack_ids(ids + at, stop - at);
                const uint64_t *known = known_of(k, word);
                is_known = known[0] == word.low && known[1] == word.high;
            }
        }
        if (LIKELY(is_known)) {
            for (int64_t i = at; single && i < stop; i++) {
                score = rounded(score + scores[ids[i]], true);
            }
            r->unknown_from = -1;
        } else {
            r->score = score;
            const int64_t unknown_from = r->unknown_from;
            const int64_t done =
                segment_word(p, ids + at, stop - at, all & TOKDFA_PIECE_DOUBTFUL, run, k, r);
            const bool is_written =
                done == OTHERS && k->goes_on && write_wrong(k, r, at, stop, size, before, unknown_from >= 0);
            if (done != SAME && !is_written) {
                r->score = score;
                r->unknown_from = unknown_from;
                k->at = at;
                k->size = size;
                return done == OTHERS && k->goes_on ? TOKDFA_SEGMENT_WRONG : done < 0 ? done : at;
            }
            score = r->score;
        }
        at = stop;
        size += bytes - (SPACE_SIZE - 1);
    }
    r->score = score;
    k->at = at;
    k->size = size;
    return at < n && at >= until ? TOKDFA_SEGMENT_PAUSED : at;
}

/* Accept ids of a text, valid ones, from a place on where it is certainly cut or begins, with the sum of scores up to
   there in the room: the number of the first ones that certainly are the best segmentation of their text, which ends or
   is cut after the last id, and up to a place where it is cut. If the reader goes on after wrong words, it writes these
   down, and they count as well. Or why the call has stopped: it goes on when it is repeated. */
TOKDFA_API int64_t tokdfa_accept_ids(const tokdfa_unigram_pieces *pieces, const int32_t *ids, int64_t n,
                                      tokdfa_unigram_reader *reader, tokdfa_unigram_room *room) {
    const segment_run run = run_of(pieces->model);
    return pieces->model->single ? accept(pieces, ids, n, reader, room, run, true)
                                 : accept(pieces, ids, n, reader, room, run, false);
}
