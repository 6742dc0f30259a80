/* A cache of pieces and their ids: 4-way set-associative, bounded in size and exact.

   An entry is four machine words, two are a line of the processor's cache. A short piece is kept packed, with up to
   three ids: two in one word, and the third with the number of ids in the other. Longer pieces and more ids are kept in
   the overflow area, and the entry has their index there; the number of ids tells it. For a longer piece the entry has
   the hash. A piece that is met again is promoted by one entry in its set. A new piece takes the first free entry, or
   replaces the last one. So the frequent pieces are at the front and stay. When the overflow area is full, the cache is
   cleared.

   It begins small, so that it stays in the processor's caches. It grows only if that helps: if many of the pieces that
   are missing, or not at the front, have been there before. A bit for each piece tells that, much like a Bloom filter.
   Any number of pieces that never come back leaves it as it is. A set of the larger cache gets pieces of one set of the
   smaller one only, in their order, so that all of them fit. */
#ifndef TOKDFA_ENCODE_PIECE_CACHE_H
#define TOKDFA_ENCODE_PIECE_CACHE_H

#include "../common/vectors.h"
#include "api.h"

#define ENTRY 4
#define WAYS 4
#define SET (ENTRY * WAYS)
#define IDS_INSIDE 3
/* Added to the number of ids of an entry if they are in the overflow area. */
#define IN_OVERFLOW ((int64_t)1 << 16)
/* Longer pieces, and pieces of more ids, are not cached. */
#define LONGEST_KEPT TOKDFA_LONGEST_KEPT

#define LONG_PIECE ((uint64_t)0xFF << 56)
#define LOW_HALF ((uint64_t)0xFFFFFFFF)

/* The bytes text[begin] to text[end], at most the first eight, as a number. */
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

/* The key of a piece, two words: its packing, or for long ones a hash. */
ALWAYS_INLINE packed_word key_of(const uint8_t *text, int64_t size, int64_t begin, int64_t end) {
    if (LIKELY(end - begin <= LONGEST_PACKED)) {
        return pack_at(text, size, begin, end - begin);
    }
    return key_of_long(text, size, begin, end);
}

/* The index of the first entry of a key's set; `n_entries` is a power of two. */
ALWAYS_INLINE int64_t set_of(int64_t n_entries, packed_word key) {
    return (int64_t)(mix_packed(key.low, key.high) >> 36 & (uint64_t)(n_entries - SET));
}

/* Read the ids of a piece from the overflow area; returns -1 if another piece is there. */
NEVER_INLINE int64_t look_up_overflow(const tokdfa_piece_cache *cache, const uint8_t *text, int64_t size,
                                       int64_t begin, int64_t end, int64_t index, int64_t n_ids, int32_t *out) {
    const uint64_t *overflow = cache->overflow + index;
    if (end - begin > LONGEST_PACKED) {
        if (index + (end - begin + 7) / 8 > cache->used) {
            return -1;
        }
        for (int64_t at = begin; at < end; at += 8) {
            if (*overflow++ != word_within(text, size, at, end)) {
                return -1;
            }
        }
    }
    for (int64_t i = 0; i < n_ids; i += 2) {
        uint64_t pair = *overflow++;
        out[i] = (int32_t)(uint32_t)(pair & LOW_HALF);
        out[i + 1] = (int32_t)(uint32_t)(pair >> 32);
    }
    return n_ids;
}

/* Exchange an entry with the one before it in its set. */
ALWAYS_INLINE void promote(tokdfa_piece_cache *cache, int64_t entry) {
    if (entry % SET) {
        uint64_t *here = cache->entries + entry;
        for (int i = 0; i < ENTRY; i++) {
            uint64_t before = here[i - ENTRY];
            here[i - ENTRY] = here[i];
            here[i] = before;
        }
    }
}

/* Which words of the keys of two entries are equal to the words of `key`: two bits for the entry at `entry`, and above
   them two for the entry after it.

   Results from IN_SECOND on say that the second entry has the key. IN_FRONT has a bit for each result that says that
   one of them has it. */
#define IN_SECOND 12u
#define IN_FRONT 0xF888u
ALWAYS_INLINE unsigned same_words(const uint64_t *entry, const packed_word *key) {
#ifdef TOKDFA_VECTORS
    return equal_words(load_two(key), load_two(entry), load_two(entry + ENTRY));
#else
    const bool in_first = (entry[0] == key->low) & (entry[1] == key->high);
    const bool in_second = (entry[ENTRY] == key->low) & (entry[ENTRY + 1] == key->high);
    return (in_first ? 3u : 0u) | (in_second ? IN_SECOND : 0u);
#endif
}

/* The entry of a key among the entries from `first` to `stop`, or -1. */
ALWAYS_INLINE int64_t find_among(const uint64_t *entries, int64_t first, int64_t stop, packed_word key) {
    int64_t found = -1;
    for (int64_t entry = stop - ENTRY; entry >= first; entry -= ENTRY) {
        bool same = (entries[entry] == key.low) & (entries[entry + 1] == key.high);
        found = same ? entry : found;
    }
    return found;
}

/* Write the three ids of an entry to `out`, and maybe a fourth value, which is not an id; return the number of ids.
   `ids` are the two words after the key. */
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

   Up to AT_ONCE entries of `out` are written, even if the ids are fewer. Returns -1 if the entry belongs to another
   long piece with the same hash. */
ALWAYS_INLINE int64_t look_up_ids(const tokdfa_piece_cache *cache, int64_t entry, const uint8_t *text, int64_t size,
                             int64_t begin, int64_t end, int32_t *out) {
    const uint64_t *ids = cache->entries + entry + ENTRY / 2;
    const int64_t n_ids = copy_ids(ids, out);
    if (UNLIKELY(n_ids > IDS_INSIDE)) {
        return look_up_overflow(cache, text, size, begin, end, (int64_t)ids[0], n_ids - IN_OVERFLOW, out);
    }
    return n_ids;
}

ALWAYS_INLINE uint64_t two_ids(const int32_t *ids, int64_t n_ids) {
    uint64_t second = n_ids > 1 ? (uint32_t)ids[1] : 0;
    return (uint32_t)ids[0] | second << 32;
}

/* Add a piece's ids to the overflow area, and the piece if it is long; return the two words of its entry. */
NEVER_INLINE packed_word add_overflow(tokdfa_piece_cache *cache, const uint8_t *text, int64_t size, int64_t begin,
                                      int64_t end, const int32_t *ids, int64_t n_ids) {
    if (cache->used + LONGEST_KEPT > cache->n_overflow) {
        cache->used = 0;
        memset(cache->entries, 0, (size_t)cache->n_entries * sizeof *cache->entries);
    }
    const int64_t first = cache->used;
    uint64_t *to = cache->overflow + first;
    if (end - begin > LONGEST_PACKED) {
        for (int64_t at = begin; at < end; at += 8) {
            *to++ = word_within(text, size, at, end);
        }
    }
    for (int64_t i = 0; i < n_ids; i += 2) {
        *to++ = two_ids(ids + i, n_ids - i);
    }
    cache->used = to - cache->overflow;
    packed_word words = {(uint64_t)first, (uint64_t)(IN_OVERFLOW + n_ids) << 32};
    return words;
}

/* Count a piece that was not cached. */
ALWAYS_INLINE void count_missed(tokdfa_piece_cache *cache, uint64_t hashed) {
    const bool again = may_have(cache->seen, cache->n_seen, hashed);
    add_bit(cache->seen, cache->n_seen, hashed);
    cache->n_missed++;
    cache->n_again += again;
    cache->n_distinct += !again;
}

/* Count a piece that is cached, but not at the front of its set: in a larger cache it would be there. Only among pieces
   that are known, where nothing else takes time. */
ALWAYS_INLINE void count_late(tokdfa_piece_cache *cache) {
    if (cache->n_seen) {
        cache->n_missed++;
        cache->n_again++;
    }
}

/* Whether enough pieces were missing to ask whether a larger cache would help. */
ALWAYS_INLINE bool missed_many(const tokdfa_piece_cache *cache) {
    return cache->n_missed >= TOKDFA_MANY_MISSED;
}

/* Cache, in the set that begins at `set`, the ids of a piece.

   Up to IDS_INSIDE of `ids` are read, even if the ids are fewer. A piece of up to LONGEST_KEPT bytes has as many ids at
   most, so that the overflow area suffices: a word for every eight bytes, and one for every two ids. */
ALWAYS_INLINE void add_piece(tokdfa_piece_cache *cache, int64_t set, packed_word key, const uint8_t *text,
                            int64_t size, int64_t begin, int64_t end, const int32_t *ids, int64_t n_ids) {
    if (end - begin > LONGEST_KEPT) {
        return;
    }
    if (LIKELY(cache->n_seen)) {
        count_missed(cache, hash_packed(key.low, key.high));
    }
    packed_word words;
    if (UNLIKELY((n_ids > IDS_INSIDE) | (end - begin > LONGEST_PACKED))) {
        words = add_overflow(cache, text, size, begin, end, ids, n_ids);
    } else {
        words.low = (uint32_t)ids[0] | (uint64_t)(uint32_t)ids[1] << 32;
        words.high = (uint32_t)ids[2] | (uint64_t)n_ids << 32;
    }
    /* The first entry that is free or the piece's own, or the last one. */
    uint64_t *entry = cache->entries + set + SET - ENTRY;
    for (int64_t way = WAYS - 2; way >= 0; way--) {
        uint64_t *other = cache->entries + set + ENTRY * way;
        bool fits = (other[1] == 0) | ((other[1] == key.high) & (other[0] == key.low));
        entry = fits ? other : entry;
    }
    entry[0] = key.low;
    entry[1] = key.high;
    entry[2] = words.low;
    entry[3] = words.high;
}

#endif
