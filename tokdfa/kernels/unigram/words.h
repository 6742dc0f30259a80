/* A cache of words and their ids, bounded in size.

   It is 4-way set-associative; an entry is a cache line. A short word is kept packed in its entry, with up to four ids
   and the scores that its pieces add to the sum; longer words, and more ids, are in the overflow area. When
   it is full and cannot grow, everything is forgotten.

   Each entry has the largest magnitude of the sum before its word for which the ids are proven right despite rounding;
   see study.h. A larger sum sends the word through the loop. */
#ifndef TOKDFA_WORDS_H
#define TOKDFA_WORDS_H

#include <math.h>

#include "../common/base.h"
#include "../common/packed.h"
#include "api.h"

enum { ENTRY = 8, WAYS = 4, IDS_INSIDE = 4, SPACE_SIZE = 3, KIND_AT = 60 };
/* The longest words that are cached, as texts have them and as they are segmented. */
enum { LONGEST_KEY = 63, LONGEST_WORD = 96 };

/* Added to the length of a key: whether the word follows a space that is not part of the key; and whether it has not been
   normalized. No key of an empty entry has any. */
#define BARE_WORD ((uint64_t)1 << KIND_AT)
#define SPACED_WORD ((uint64_t)2 << KIND_AT)
#define GIVEN_WORD ((uint64_t)4 << KIND_AT)
#define LONG_KEY ((uint64_t)8 << KIND_AT)
#define ANY_KIND (BARE_WORD | SPACED_WORD | GIVEN_WORD)

typedef struct {
    uint64_t low, high; /* the key: the word packed, or the hash of a long one */
    int32_t ids[IDS_INSIDE];
    float scores[IDS_INSIDE]; /* the scores added to the sum, in turn; zeros after the last */
    float limit;              /* the largest magnitude of a sum before the word for which the ids are right */
    uint16_t n_ids, n_scores;
    uint32_t place;        /* one more than the index in the overflow area; 0 if nothing is there */
    uint32_t ends_unknown; /* whether the last character is unknown */
} word_entry;

_Static_assert(sizeof(word_entry) == ENTRY * sizeof(uint64_t), "an entry is a cache line");

/* The ids of a word, and the other values of its entry. */
typedef struct {
    int32_t ids[LONGEST_WORD];
    float scores[LONGEST_WORD];
    int64_t n_ids, n_scores;
    float limit;
    bool ends_unknown;
} known_word;

/* The key of a word of `size` bytes, LONGEST_KEY at most, without its kind. Text up to `limit` can be read. */
ALWAYS_INLINE packed_word key_of(const uint8_t *text, int64_t limit, int64_t at, int64_t size) {
    if (LIKELY(size <= LONGEST_PACKED)) {
        return pack_at(text, limit, at, size);
    }
    uint64_t hashed = (uint64_t)size;
    for (int64_t key = at; key < at + size; key += 8) {
        const uint64_t eight = load_within(text, limit, key) & tokdfa_first_bytes[8 + least(at + size - key, 8)];
        hashed = (hashed ^ eight) * 0x9E3779B97F4A7C15u;
        hashed ^= hashed >> 32;
    }
    packed_word key = {hashed, LONG_KEY | (hashed * 0xD6E8FEB86659FD93u) >> 8};
    key.high &= ~ANY_KIND;
    return key;
}

/* The entries of a cache in which a word may be; its key is without a kind. */
ALWAYS_INLINE word_entry *set_of(uint64_t *cache, int64_t n_cache, packed_word key) {
    const uint64_t n_sets = (uint64_t)(n_cache / (WAYS * ENTRY));
    return (word_entry *)(void *)(cache + WAYS * ENTRY * (hash_packed(key.low, key.high) >> 20 & (n_sets - 1)));
}

ALWAYS_INLINE word_entry *entries_of(const tokdfa_unigram_buffers *r, packed_word key) {
    return set_of(r->cache, r->n_cache, key);
}

/* The number of 64-bit words in the overflow area for a long key, and for so many ids or scores, in whole groups of
   IDS_INSIDE. */
ALWAYS_INLINE int64_t key_in_overflow(int64_t size) {
    return size > LONGEST_PACKED ? 1 + (size + 7) / 8 : 0;
}

ALWAYS_INLINE int64_t values_in_overflow(int64_t n) {
    return (n + IDS_INSIDE - 1) / IDS_INSIDE * 2;
}

/* Whether a word is the one of an entry with its key. */
ALWAYS_INLINE bool is_same(const tokdfa_unigram_buffers *r, const word_entry *entry, const uint8_t *word, int64_t size) {
    if (LIKELY(size <= LONGEST_PACKED)) {
        return true;
    }
    const uint64_t *place = r->overflow + entry->place - 1;
    return place[0] == (uint64_t)size && !memcmp(place + 1, word, (size_t)size);
}

/* The entry of a word, NULL if it is not there; it is promoted by one way in its set, `entries`. */
NEVER_INLINE const word_entry *find_entry(const tokdfa_unigram_buffers *r, word_entry *entries, packed_word key,
                                          const uint8_t *word, int64_t size) {
    for (int way = 0; way < WAYS; way++) {
        word_entry *entry = entries + way;
        if (entry->low == key.low && entry->high == key.high && is_same(r, entry, word, size)) {
            if (!way) {
                return entry;
            }
            const word_entry found = *entry;
            *entry = entry[-1];
            entry[-1] = found;
            return entry - 1;
        }
    }
    return NULL;
}

/* Put a word into its set, in the last way if the set is full. So of five words that take turns, three stay. */
NEVER_INLINE void remember(tokdfa_unigram_buffers *r, word_entry *entries, packed_word key, const uint8_t *word, int64_t size,
                           const known_word *known) {
    const int64_t n_key = key_in_overflow(size), n_ids = values_in_overflow(known->n_ids);
    const int64_t n = n_key + n_ids + values_in_overflow(known->n_scores);
    const bool is_inside = !n_key && known->n_ids <= IDS_INSIDE && known->n_scores <= IDS_INSIDE;
    if (!is_inside && r->used + n > r->n_overflow) {
        if (r->n_dropped < r->most_dropped && r->most_dropped < INT64_MAX) {
            /* The cache will be enlarged. */
            r->n_dropped = r->most_dropped;
        }
        if (r->most_dropped < INT64_MAX || n > r->n_overflow) {
            return;
        }
        r->used = 0;
        memset(r->cache, 0, (size_t)r->n_cache * sizeof *r->cache);
    }
    r->n_dropped += entries[WAYS - 1].high != 0;
    word_entry entry = {.low = key.low, .high = key.high, .limit = known->limit, .n_ids = (uint16_t)known->n_ids,
                        .n_scores = (uint16_t)known->n_scores, .ends_unknown = known->ends_unknown};
    if (is_inside) {
        memcpy(entry.ids, known->ids, (size_t)known->n_ids * sizeof *known->ids);
        memcpy(entry.scores, known->scores, (size_t)known->n_scores * sizeof *known->scores);
    } else {
        uint64_t *place = r->overflow + r->used;
        entry.place = (uint32_t)r->used + 1;
        r->used += n;
        memset(place, 0, (size_t)n * sizeof *place);
        if (n_key) {
            place[0] = (uint64_t)size;
            memcpy(place + 1, word, (size_t)size);
        }
        memcpy(place + n_key, known->ids, (size_t)known->n_ids * sizeof *known->ids);
        memcpy(place + n_key + n_ids, known->scores, (size_t)known->n_scores * sizeof *known->scores);
    }
    int way = 0;
    while (way < WAYS - 1 && entries[way].high) {
        way++;
    }
    entries[way] = entry;
}

/* Write the ids of an entry that has them in the overflow area, for a word of `size` bytes, in whole groups of IDS_INSIDE;
   return their end. Their scores are added to the sum. */
ALWAYS_INLINE int32_t *take_from_overflow(const uint64_t *overflow, const word_entry *entry, int64_t size, int32_t *out,
                                       float *sum) {
    const uint64_t *place = overflow + entry->place - 1 + key_in_overflow(size);
    int32_t *to = out;
    for (int64_t left = entry->n_ids; left > 0; left -= IDS_INSIDE, place += 2, to += IDS_INSIDE) {
        memcpy(to, place, IDS_INSIDE * sizeof *to);
    }
    for (int64_t left = entry->n_scores; left > 0; left -= IDS_INSIDE, place += 2) {
        float scores[IDS_INSIDE];
        memcpy(scores, place, sizeof scores);
        for (int i = 0; i < IDS_INSIDE; i++) {
            *sum += scores[i];
        }
    }
    return out + entry->n_ids;
}

/* The same of any entry. */
ALWAYS_INLINE int32_t *take(const uint64_t *overflow, const word_entry *entry, int64_t size, int32_t *out, float *sum) {
    if (UNLIKELY(entry->place)) {
        return take_from_overflow(overflow, entry, size, out, sum);
    }
    memcpy(out, entry->ids, sizeof entry->ids);
    for (int i = 0; i < IDS_INSIDE; i++) {
        *sum += entry->scores[i];
    }
    return out + entry->n_ids;
}

/* Write the ids of an entry for a word of `size` bytes, and update the sum and the unknown run; the ids fit. */
NEVER_INLINE void recall(const word_entry *entry, int64_t size, tokdfa_unigram_buffers *r) {
    int32_t ids[LONGEST_WORD + IDS_INSIDE];
    float sum = (float)r->score;
    take(r->overflow, entry, size, ids, &sum);
    memcpy(r->ids + r->n, ids, entry->n_ids * sizeof *ids);
    r->n += entry->n_ids;
    r->score = (double)sum;
    r->unknown_from = (int64_t)entry->ends_unknown - 1;
}

#endif
