/* A memory of pieces and their ids, bounded in size and exact.

   It is a cache of sets of four entries; an entry is four machine words, two are a cache line. A short piece is kept
   packed, with up to three ids beside it: two in one word, and the third with the number of ids in the other. Longer
   pieces and more ids are kept on a shelf, and the entry has their place there, which the number of ids says; for a
   longer piece the entry has the hash. A piece that is met again moves up by one place in its set. A new piece takes the
   first free place, or replaces the last one. So the frequent pieces are at the front and stay. When the shelf is full,
   everything is forgotten.

   It begins small, so that it stays in the caches, and touching it costs little. It grows only if that helps: if many of
   the pieces that are not there, or not at the front, have been there before, which a bit for each of them says, about
   as a Bloom filter does. Pieces that never come back, however many, let it stay as it is. A set of the larger memory
   gets pieces of one set of the smaller one only, in their order, so that all of them fit. */
#ifndef TOKDFA_MEMORY_H
#define TOKDFA_MEMORY_H

#include "../common/packed.h"
#include "api.h"

#if defined(TOKDFA_WIDE) && defined(__AVX2__)
#include <immintrin.h>
#endif

#define ENTRY 4
#define WAYS 4
#define SET (ENTRY * WAYS)
#define IDS_INSIDE 3
/* Added to the number of ids of an entry whose ids are on the shelf. */
#define ON_SHELF ((int64_t)1 << 16)
/* Longer pieces, and pieces of more ids, are not remembered. */
#define LONGEST_KEPT TOKDFA_LONGEST_KEPT

#define LONG_PIECE ((uint64_t)0xFF << 56)
#define LOW_HALF ((uint64_t)0xFFFFFFFF)

/* The bytes text[begin] to text[end], of which the first eight are taken, as a number. */
ALWAYS_INLINE uint64_t word_within(const uint8_t *text, int64_t size, int64_t begin, int64_t end) {
    return load_within(text, size, begin) & tokdfa_first_bytes[8 + least(end - begin, 8)];
}

NEVER_INLINE packed_word key_of_long(const uint8_t *text, int64_t size, int64_t begin, int64_t end) {
    uint64_t hashed = (uint64_t)(end - begin);
    for (int64_t at = begin; at < least(end, begin + LONGEST_KEPT); at += 8) {
        hashed = (hashed ^ word_within(text, size, at, end)) * 0x9E3779B97F4A7C15u;
        hashed ^= hashed >> 32;
    }
    packed_word key = {hashed, LONG_PIECE | (hashed * 0xD6E8FEB86659FD93u) >> 8};
    return key;
}

/* The two words by which a piece is remembered: its packing, or for long ones a hash. */
ALWAYS_INLINE packed_word key_of(const uint8_t *text, int64_t size, int64_t begin, int64_t end) {
    if (LIKELY(end - begin <= LONGEST_PACKED)) {
        return pack_at(text, size, begin, end - begin);
    }
    return key_of_long(text, size, begin, end);
}

/* Where in `n_entries` entries, a power of two, the set of a key begins. */
ALWAYS_INLINE int64_t set_of(int64_t n_entries, packed_word key) {
    return (int64_t)(mix_packed(key.low, key.high) >> 36 & (uint64_t)(n_entries - SET));
}

/* Take the ids of a piece from the shelf; returns -1 if another piece is there. */
NEVER_INLINE int64_t recall_from_shelf(const tokdfa_piece_memory *memory, const uint8_t *text, int64_t size,
                                       int64_t begin, int64_t end, int64_t place, int64_t n_ids, int32_t *out) {
    const uint64_t *shelf = memory->shelf + place;
    if (end - begin > LONGEST_PACKED) {
        if (place + (end - begin + 7) / 8 > memory->used) {
            return -1;
        }
        for (int64_t at = begin; at < end; at += 8) {
            if (*shelf++ != word_within(text, size, at, end)) {
                return -1;
            }
        }
    }
    for (int64_t i = 0; i < n_ids; i += 2) {
        uint64_t pair = *shelf++;
        out[i] = (int32_t)(uint32_t)(pair & LOW_HALF);
        out[i + 1] = (int32_t)(uint32_t)(pair >> 32);
    }
    return n_ids;
}

/* Exchange an entry with the one before it in its set. */
ALWAYS_INLINE void move_up(tokdfa_piece_memory *memory, int64_t entry) {
    if (entry % SET) {
        uint64_t *here = memory->entries + entry;
        for (int i = 0; i < ENTRY; i++) {
            uint64_t before = here[i - ENTRY];
            here[i - ENTRY] = here[i];
            here[i] = before;
        }
    }
}

/* Which words of the keys of two entries are those of a key, a bit for each: the first two bits are those of the entry
   at `place`, the others those of the entry after it.

   From IN_SECOND on the key is that of the second entry; IN_FRONT has a bit for each number that says it is that of one
   of them. */
#define IN_SECOND 12u
#define IN_FRONT 0xF888u
ALWAYS_INLINE unsigned same_words(const uint64_t *place, const packed_word *key) {
#if defined(TOKDFA_WIDE) && defined(__AVX2__)
    const __m128i wanted = _mm_loadu_si128((const __m128i *)(const void *)key);
    const __m128i first = _mm_cmpeq_epi64(wanted, _mm_loadu_si128((const __m128i *)(const void *)place));
    const __m128i second = _mm_cmpeq_epi64(wanted, _mm_loadu_si128((const __m128i *)(const void *)(place + ENTRY)));
    return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(_mm_packs_epi32(first, second)));
#else
    const bool in_first = (place[0] == key->low) & (place[1] == key->high);
    const bool in_second = (place[ENTRY] == key->low) & (place[ENTRY + 1] == key->high);
    return (in_first ? 3u : 0u) | (in_second ? IN_SECOND : 0u);
#endif
}

/* The entry of a key, of those from `first` to `stop`, or -1. */
ALWAYS_INLINE int64_t find_among(const uint64_t *entries, int64_t first, int64_t stop, packed_word key) {
    int64_t found = -1;
    for (int64_t entry = stop - ENTRY; entry >= first; entry -= ENTRY) {
        bool same = (entries[entry] == key.low) & (entries[entry + 1] == key.high);
        found = same ? entry : found;
    }
    return found;
}

/* Write the three ids of an entry to `out`, and after them what is no id; return their number. `ids` are the two words
   after the key. */
ALWAYS_INLINE int64_t copy_ids(const uint64_t *ids, int32_t *out) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    out[0] = (int32_t)(uint32_t)(ids[0] & LOW_HALF);
    out[1] = (int32_t)(uint32_t)(ids[0] >> 32);
    out[2] = (int32_t)(uint32_t)(ids[1] & LOW_HALF);
#else
    memcpy(out, ids, (IDS_INSIDE + 1) * sizeof *out);
#endif
    return (int64_t)(ids[1] >> 32);
}

/* Write the ids of an entry to `out` and return their number.

   Up to AT_ONCE places of `out` are written, even if the ids are fewer. Returns -1 if the entry is that of another long
   piece with the same hash. */
ALWAYS_INLINE int64_t recall(const tokdfa_piece_memory *memory, int64_t entry, const uint8_t *text, int64_t size,
                             int64_t begin, int64_t end, int32_t *out) {
    const uint64_t *ids = memory->entries + entry + ENTRY / 2;
    const int64_t n_ids = copy_ids(ids, out);
    if (UNLIKELY(n_ids > IDS_INSIDE)) {
        return recall_from_shelf(memory, text, size, begin, end, (int64_t)ids[0], n_ids - ON_SHELF, out);
    }
    return n_ids;
}

ALWAYS_INLINE uint64_t two_ids(const int32_t *ids, int64_t n_ids) {
    uint64_t second = n_ids > 1 ? (uint32_t)ids[1] : 0;
    return (uint32_t)ids[0] | second << 32;
}

/* Put a piece's ids on the shelf, and the piece if it is long; return the two words by which they are found. */
NEVER_INLINE packed_word put_on_shelf(tokdfa_piece_memory *memory, const uint8_t *text, int64_t size, int64_t begin,
                                      int64_t end, const int32_t *ids, int64_t n_ids) {
    if (memory->used + LONGEST_KEPT > memory->n_shelf) {
        memory->used = 0;
        memset(memory->entries, 0, (size_t)memory->n_entries * sizeof *memory->entries);
    }
    const int64_t first = memory->used;
    uint64_t *place = memory->shelf + first;
    if (end - begin > LONGEST_PACKED) {
        for (int64_t at = begin; at < end; at += 8) {
            *place++ = word_within(text, size, at, end);
        }
    }
    for (int64_t i = 0; i < n_ids; i += 2) {
        *place++ = two_ids(ids + i, n_ids - i);
    }
    memory->used = place - memory->shelf;
    packed_word words = {(uint64_t)first, (uint64_t)(ON_SHELF + n_ids) << 32};
    return words;
}

/* Count a piece that was not remembered. */
ALWAYS_INLINE void count_missed(tokdfa_piece_memory *memory, uint64_t hashed) {
    const bool again = may_have(memory->seen, memory->n_seen, hashed);
    add_bit(memory->seen, memory->n_seen, hashed);
    memory->n_missed++;
    memory->n_again += again;
    memory->n_distinct += !again;
}

/* Count a piece that is remembered, but not at the front of its set: with more room it would be there. Only among pieces
   that are known, where nothing else takes time. */
ALWAYS_INLINE void count_late(tokdfa_piece_memory *memory) {
    if (memory->n_seen) {
        memory->n_missed++;
        memory->n_again++;
    }
}

/* Whether so many pieces were not remembered that it is time to ask whether more room would help. */
ALWAYS_INLINE bool missed_many(const tokdfa_piece_memory *memory) {
    return memory->n_missed >= TOKDFA_MANY_MISSED;
}

/* Remember, in the set that begins at `set`, the ids of a piece.

   Up to IDS_INSIDE of `ids` are read, even if the ids are fewer. A piece of up to LONGEST_KEPT bytes has as many ids at
   most, so that the shelf has room: a word for every eight bytes, and one for every two ids. */
ALWAYS_INLINE void remember(tokdfa_piece_memory *memory, int64_t set, packed_word key, const uint8_t *text,
                            int64_t size, int64_t begin, int64_t end, const int32_t *ids, int64_t n_ids) {
    if (end - begin > LONGEST_KEPT) {
        return;
    }
    if (LIKELY(memory->n_seen)) {
        count_missed(memory, hash_packed(key.low, key.high));
    }
    packed_word words;
    if (UNLIKELY((n_ids > IDS_INSIDE) | (end - begin > LONGEST_PACKED))) {
        words = put_on_shelf(memory, text, size, begin, end, ids, n_ids);
    } else {
        words.low = (uint32_t)ids[0] | (uint64_t)(uint32_t)ids[1] << 32;
        words.high = (uint32_t)ids[2] | (uint64_t)n_ids << 32;
    }
    /* The first place that is free or the piece's own, or the last one. */
    uint64_t *entry = memory->entries + set + SET - ENTRY;
    for (int64_t way = WAYS - 2; way >= 0; way--) {
        uint64_t *place = memory->entries + set + ENTRY * way;
        bool fits = (place[1] == 0) | ((place[1] == key.high) & (place[0] == key.low));
        entry = fits ? place : entry;
    }
    entry[0] = key.low;
    entry[1] = key.high;
    entry[2] = words.low;
    entry[3] = words.high;
}

#endif
