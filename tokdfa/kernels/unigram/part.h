/* The words of a part of a text as it is given, and the entries of the cache that may have them.

   A bit for each byte says whether it is a blank; where neighbouring bits differ, a word begins or ends. */
#ifndef TOKDFA_UNIGRAM_PART_H
#define TOKDFA_UNIGRAM_PART_H

#include "../encode/packing.h"
#include "words.h"

/* A part of a text: where its words begin and end, in turn, the keys of these without their kinds, and their entries. */
enum { CHUNK = 64, MOST_EDGES = 8 * CHUNK, AT_ONCE = 8 };
typedef struct {
    int64_t edges[MOST_EDGES + AT_ONCE];
    packed_word keys[MOST_EDGES / 2];
    word_entry *entries[MOST_EDGES / 2];
} text_part;

/* A bit for each of 64 bytes: whether it is a blank. */
#ifdef TOKDFA_VECTORS
ALWAYS_INLINE uint64_t blanks_of(const tokdfa_unigram_texts *t, const uint8_t *bytes) {
    static const uint8_t bit_of[16] = {1, 2, 4, 8, 16, 32, 64, 128};
    const vector low = load_table(t->blank_low), high = load_table(bit_of);
    vector part[WORD_VECTORS];
    for (int i = 0; i < WORD_VECTORS; i++) {
        const vector here = load_vector(bytes + i * VECTOR_BYTES);
        part[i] = vector_and(look_up_ascii_16(low, here), look_up_16(high, high_halves(here)));
    }
    return bits_of_nonzero(part, CHUNK);
}
#else
ALWAYS_INLINE uint64_t blanks_of(const tokdfa_unigram_texts *t, const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < CHUNK; i++) {
        bits |= (uint64_t)t->blank[bytes[i]] << i;
    }
    return bits;
}
#endif

/* Note the offsets where words begin and end, in turn, from a word on, including the end of the last one. Returns the
   number of offsets. Text up to `limit` can be read. */
ALWAYS_INLINE int64_t find_edges(const tokdfa_unigram_texts *t, const uint8_t *text, int64_t at, int64_t end, int64_t limit,
                                 int64_t *edges) {
    const int64_t stop = least(end, at + MOST_EDGES);
    uint64_t before = 1;
    int64_t n = 0;
    for (int64_t base = at; base < stop; base += CHUNK) {
        uint64_t blanks;
        if (LIKELY(base + CHUNK <= limit)) {
            blanks = blanks_of(t, text + base);
        } else {
            uint8_t padded[CHUNK] = {0};
            memcpy(padded, text + base, (size_t)(limit - base));
            blanks = blanks_of(t, padded);
        }
        if (UNLIKELY(end - base < CHUNK)) {
            blanks |= ~(uint64_t)0 << (end - base);
        }
        uint64_t bits = blanks ^ (blanks << 1 | before);
        before = blanks >> (CHUNK - 1);
        const int64_t count = count_ones(bits);
        for (int64_t i = 0; i < count; i += AT_ONCE) {
            /* Without a branch for each. */
            for (int64_t k = i; k < i + AT_ONCE; k++) {
                edges[n + k] = base + trailing_zeros(bits);
                bits &= bits - 1;
            }
        }
        n += count;
    }
    if (n & 1) {
        int64_t last = stop;
        if (n == 1) {
            while (last < end && !t->blank[text[last]]) {
                last++;
            }
        } else if (stop < end) {
            return n - 1;
        }
        edges[n++] = last;
    }
    return n;
}

/* Note the keys and entries of words, and fetch the entries. */
ALWAYS_INLINE void find_keys(const tokdfa_unigram_buffers *r, const uint8_t *text, int64_t limit, int64_t n_words,
                             text_part *part) {
    for (int64_t k = 0; k < n_words; k++) {
        const int64_t begin = part->edges[2 * k], size = part->edges[2 * k + 1] - begin;
        packed_word key = {0, 0};
        if (LIKELY((size <= LONGEST_PACKED) & (begin + 16 <= limit))) {
            key = pack_short(text + begin, size, part->keys + k);
        } else if (size <= LONGEST_KEY) {
            key = key_of(text, limit, begin, size);
        }
        word_entry *entries = entries_of(r, key);
        PREFETCH(entries);
        PREFETCH(entries + 1);
        part->keys[k] = key;
        part->entries[k] = entries;
    }
}

#endif
