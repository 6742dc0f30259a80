/* The segmentation of texts that are normalized. */
#include "segment.h"

static int64_t segment_recorded(const tokdfa_unigram *m, const uint8_t *text, int64_t sentence, int64_t end, int64_t until,
                                tokdfa_unigram_buffers *r) {
    if (!m->single) {
        return segment(m, text, sentence, end, until, r, RECORDED);
    }
    return m->rounded_late ? segment(m, text, sentence, end, until, r, RECORDED | SINGLE | LATE)
                           : segment(m, text, sentence, end, until, r, RECORDED | SINGLE);
}

/* Some sentences: the keys of the sentences that are words, with their kinds, and their entries. */
enum { SENTENCES = 64 };
typedef struct {
    packed_word keys[SENTENCES];
    word_entry *entries[SENTENCES];
    int64_t first, n;
} sentence_block;

/* Note the keys of the next sentences, and fetch their entries. */
static void find_sentences(const uint8_t *text, const int64_t *ends, int64_t n_ends, const tokdfa_unigram_buffers *r,
                           sentence_block *block) {
    const int64_t first = r->sentence, n = least(SENTENCES, n_ends - first);
    int64_t begin = first ? ends[first - 1] : 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t end = ends[first + i];
        const bool spaced = is_space(text, begin, end);
        const int64_t from = begin + (spaced ? SPACE_SIZE : 0);
        packed_word key = {0, 0};
        if (end - from <= LONGEST_KEY) {
            key = key_of(text, ends[n_ends - 1], from, end - from);
        }
        block->entries[i] = entries_of(r, key);
        PREFETCH(block->entries[i]);
        key.high |= spaced ? SPACED_WORD : BARE_WORD;
        block->keys[i] = key;
        begin = end;
    }
    block->first = first;
    block->n = n;
}

/* Write the ids of a sentence from the cache, where sums restart; false unless it is at the front of its set. */
ALWAYS_INLINE bool take_sentence(const uint8_t *text, int64_t begin, int64_t end, const sentence_block *block,
                                 tokdfa_unigram_buffers *r) {
    const int64_t i = r->sentence - block->first;
    const word_entry *entry = block->entries[i];
    const packed_word key = block->keys[i];
    const int64_t from = begin + (key.high & SPACED_WORD ? SPACE_SIZE : 0), size = end - from;
    if (UNLIKELY(entry->low != key.low || entry->high != key.high || size > LONGEST_KEY ||
                 r->n + entry->n_ids + IDS_INSIDE > r->n_ids || r->unknown_from >= 0 || r->at != begin ||
                 !is_same(r, entry, text + from, size))) {
        return false;
    }
    float none = 0;
    r->n = take(r->overflow, entry, size, r->ids + r->n, &none) - r->ids;
    r->at = end;
    return true;
}

/* Write the ids of texts, valid UTF-8, that come one after the other and end at `ends`, ascending. Returns their
   number, or why the call has stopped. */
TOKDFA_API int64_t tokdfa_segment(const tokdfa_unigram *model, const uint8_t *text, const int64_t *ends, int64_t n_ends,
                                   tokdfa_unigram_buffers *buffers) {
    const int64_t until = buffers->at_a_time ? buffers->at + buffers->at_a_time : INT64_MAX;
    const bool remembers = model->restarts && model->has_words && !buffers->n_sums;
    const segment_run run = buffers->n_sums ? segment_recorded : run_of(model);
    sentence_block block;
    block.n = block.first = 0;
    for (; buffers->sentence < n_ends; buffers->sentence++) {
        const int64_t end = ends[buffers->sentence];
        if (buffers->at < end) {
            const int64_t sentence = buffers->sentence ? ends[buffers->sentence - 1] : 0;
            if (remembers && buffers->sentence >= block.first + block.n) {
                find_sentences(text, ends, n_ends, buffers, &block);
            }
            if (!remembers || buffers->at >= until || UNLIKELY(!take_sentence(text, sentence, end, &block, buffers))) {
                const int64_t done = run(model, text, sentence, end, until, buffers);
                if (done != 1) {
                    return done;
                }
            }
        }
        if (model->restarts) {
            end_run(model, text, end, buffers);
            buffers->score = 0;
        }
    }
    return buffers->n;
}

/* Move the words of a cache to an empty one; the words of a set keep their order. */
TOKDFA_API void tokdfa_move_words(const uint64_t *from, int64_t n_from, uint64_t *to, int64_t n_to) {
    for (const uint64_t *at = from; at < from + n_from; at += ENTRY) {
        word_entry entry;
        memcpy(&entry, at, sizeof entry);
        word_entry *place = set_of(to, n_to, (packed_word){entry.low, entry.high & ~ANY_KIND}), *end = place + WAYS;
        while (place < end && place->high) {
            place++;
        }
        if (entry.high && place < end) {
            *place = entry;
        }
    }
}
