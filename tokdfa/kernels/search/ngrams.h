/* Shared by the kernels of n-grams: reading words from bytes, and hashes of words and of n-grams. */
#ifndef TOKDFA_SEARCH_NGRAMS_H
#define TOKDFA_SEARCH_NGRAMS_H

#include "search.h"

/* Marks of a byte: it is left out; and of a node of the trie of white space: a character is complete. */
enum { NO_LETTER = 256, COMPLETE_SPACE = 255 };
/* Added to the number of letters that a byte settles: white space comes after them. */
enum { THEN_SPACE = 8, N_LETTERS = 7 };
/* One more than the bytes of the longest character of white space, and the numbers of an id in `effects`. */
enum { LONGEST_SPACE = 4, N_OF_EFFECT = 2 };

/* The effect of an id that begins in no character of white space: a hash and marks. A word ends within it; its letters
   come before that, and the hash is added to the hash of the current word; or after it, and the hash belongs to a
   new word. If this is not enough, its bytes are read one by one. From bit 8 on there is the number of letters, by which the
   current hash is multiplied; and from bit 32 on where white space begins.

   PERF: 16 bytes an id, for a vocabulary of 100,000 in four of them leaves the cache. */
enum { HASH_OF_ID, MARKS };
enum { ENDS_WORD = 1, BEFORE_BIT = 1, AFTER_BIT = 2, BYTE_BY_BYTE = 8, LENGTH_OF_ID_SHIFT = 8, SPACE_AT_SHIFT = 32 };
enum { N_FACTORS = 256 };

/* The hash of a word without letters, so that hashes tell lengths apart. */
#define EMPTY_WORD 1u
/* The factor of the hashes of words in the hash of an n-gram. */
#define WORD_FACTOR 0xD6E8FEB86659FD93u

ALWAYS_INLINE uint64_t with_letter(uint64_t hash, uint64_t letter) {
    return hash * HASH + letter + 1;
}

ALWAYS_INLINE uint64_t mixed_hash(uint64_t hash) {
    hash = (hash ^ hash >> 32) * HASH;
    return hash ^ hash >> 29;
}

/* Read a byte. Returns the number of letters that are settled now, written to `letters`, plus THEN_SPACE. Bytes that
   may begin a character of white space are held back: of E2 80 94, an em dash, all three are letters once 94 is read,
   and of E2 80 89, a thin space, none. */
ALWAYS_INLINE int64_t read_byte(const tokdfa_word_reader *reader, int64_t *node, uint8_t byte, uint8_t *letters) {
    int64_t n = 0, to = reader->spaces[*node << 8 | byte];
    if (to == 0 && *node != 0) {
        const uint8_t *held = reader->held + LONGEST_SPACE * *node;
        for (; n < held[0]; n++) {
            letters[n] = held[n + 1];
        }
        to = reader->spaces[byte];
    }
    *node = to == COMPLETE_SPACE ? 0 : to;
    if (to == COMPLETE_SPACE) {
        return n + THEN_SPACE;
    }
    if (to == 0) {
        letters[n++] = byte;
    }
    return n;
}

/* The letters that are held back, once no byte follows. */
ALWAYS_INLINE int64_t release(const tokdfa_word_reader *reader, int64_t *node, uint8_t *letters) {
    const uint8_t *held = reader->held + LONGEST_SPACE * *node;
    const int64_t n = *node == 0 ? 0 : held[0];
    for (int64_t i = 0; i < n; i++) {
        letters[i] = held[i + 1];
    }
    *node = 0;
    return n;
}

/* Where a hash is in the filter, and its three bits there. */
ALWAYS_INLINE int64_t slot_in_filter(const tokdfa_ngram_set *set, uint64_t key) {
    return (int64_t)(key >> 18 & (uint64_t)(set->n_filter - 1));
}

ALWAYS_INLINE uint64_t filter_bits(uint64_t key) {
    return (uint64_t)1 << (key & 63) | (uint64_t)1 << (key >> 6 & 63) | (uint64_t)1 << (key >> 12 & 63);
}

/* Where a hash may be in the table. */
ALWAYS_INLINE int64_t slot_in_table(const tokdfa_ngram_set *set, uint64_t key) {
    return (int64_t)(key >> 20 & (uint64_t)(set->n_table / 2 - 1)) * 2;
}

ALWAYS_INLINE int64_t next_slot(const tokdfa_ngram_set *set, int64_t slot) {
    return (slot + 2) & (set->n_table - 1);
}

#endif
