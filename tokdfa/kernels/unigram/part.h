/* The words of a part of a text as it is given, and the entries of the cache that may have them.

   A bit for each byte says whether it is a blank; where neighbouring bits differ, a word begins or ends. */
#ifndef TOKDFA_UNIGRAM_PART_H
#define TOKDFA_UNIGRAM_PART_H

#include "words.h"

#if defined(TOKDFA_WIDE) && defined(__AVX2__)
#include "../encode/packing.h"
#endif

/* A part of a text: where its words begin and end, in turn, the keys of these without their kinds, and their entries. */
enum { CHUNK = 64, MOST_EDGES = 8 * CHUNK, AT_ONCE = 8 };
typedef struct {
    int64_t edges[MOST_EDGES + AT_ONCE];
    packed_word keys[MOST_EDGES / 2];
    word_entry *entries[MOST_EDGES / 2];
} text_part;

/* A bit for each of 64 bytes: whether it is a blank. */
#if defined(TOKDFA_WIDE) && defined(__AVX2__)
ALWAYS_INLINE uint64_t blanks_of(const tokdfa_unigram_texts *t, const uint8_t *bytes) {
    const __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)t->blank_low));
    const __m256i high = _mm256_broadcastsi128_si256(_mm_set_epi64x(0, (long long)0x8040201008040201u));
    uint64_t bits = 0;
    for (int i = 0; i < 2; i++) {
        const __m256i here = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32 * i));
        const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(here, 4), _mm256_set1_epi8(0xF));
        const __m256i both = _mm256_and_si256(_mm256_shuffle_epi8(low, here), _mm256_shuffle_epi8(high, upper));
        const __m256i others = _mm256_cmpeq_epi8(both, _mm256_setzero_si256());
        bits |= (uint64_t)~(uint32_t)_mm256_movemask_epi8(others) << 32 * i;
    }
    return bits;
}

ALWAYS_INLINE packed_word key_of_short(const uint8_t *word, int64_t size) {
    const __m128i packed = pack_16_bytes(word, size);
    return (packed_word){(uint64_t)_mm_cvtsi128_si64(packed), (uint64_t)_mm_extract_epi64(packed, 1)};
}
#else
ALWAYS_INLINE uint64_t blanks_of(const tokdfa_unigram_texts *t, const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < CHUNK; i++) {
        bits |= (uint64_t)t->blank[bytes[i]] << i;
    }
    return bits;
}

ALWAYS_INLINE packed_word key_of_short(const uint8_t *word, int64_t size) {
    return pack(load_64(word), load_64(word + 8), size);
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
            key = key_of_short(text + begin, size);
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
