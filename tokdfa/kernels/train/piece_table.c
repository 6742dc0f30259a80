/* Counting pieces of text: different pieces in the order of their first occurrence, and a growing hash table of them.

   An entry has the piece (packed, see common/packed.h) and its count. A piece too long to pack has its hash and its
   length there instead, and is compared with its stored bytes. A slot of the table has the number of an entry plus one,
   0 if the slot is free. The slots are small and the entries of frequent pieces, which mostly come early, lie together:
   this takes less memory than slots that hold the entries, and fewer pages are touched. */
#include "../common/packed.h"
#include "api.h"
#include "capacity.h"

typedef struct {
    packed_word key;
    uint64_t count;
} entry;

/* The top byte of a packed piece is its length, 15 at most. */
#define LONG_PIECE ((uint64_t)0xFF << 56)

/* The number of pieces that are looked up at the same time, so that their slots and entries are fetched together. */
#define PIECES_AT_ONCE 16

/* The key of a piece of 16 bytes or more: a hash and the length. */
static packed_word long_piece_key(const uint8_t *piece, int64_t length) {
    uint64_t hashed = (uint64_t)length;
    int64_t at = 0;
    for (; at + 8 <= length; at += 8) {
        hashed = hash_packed(hashed, load_64(piece + at));
    }
    if (at < length) {
        hashed = hash_packed(hashed, load_64(piece + length - 8) >> (8 * (at + 8 - length)));
    }
    return (packed_word){hashed, LONG_PIECE | (uint64_t)length};
}

/* Double the size of the table. */
static bool double_table(tokdfa_pieces *pieces) {
    const int64_t n_slots = 2 * pieces->n_slots;
    uint32_t *larger = calloc((size_t)n_slots, sizeof *larger);
    if (!larger) {
        return false;
    }
    const uint64_t mask = (uint64_t)n_slots - 1;
    const entry *const entries = pieces->entries;
    for (int64_t i = 0; i < pieces->n_pieces; i++) {
        uint64_t at = hash_packed(entries[i].key.low, entries[i].key.high) & mask;
        while (larger[at]) {
            at = (at + 1) & mask;
        }
        larger[at] = (uint32_t)(i + 1);
    }
    free(pieces->slots);
    pieces->slots = larger;
    pieces->n_slots = n_slots;
    return true;
}

/* The slot of a piece with this hash, or the free one where it belongs. */
ALWAYS_INLINE uint32_t *find_hashed(const tokdfa_pieces *pieces, packed_word key, uint64_t hashed, const uint8_t *piece,
                                    int64_t length) {
    const entry *const entries = pieces->entries;
    const uint64_t mask = (uint64_t)pieces->n_slots - 1;
    for (uint64_t at = hashed & mask;; at = (at + 1) & mask) {
        uint32_t *const found = pieces->slots + at;
        if (!*found) {
            return found;
        }
        if (same_word(entries[*found - 1].key, key)) {
            const uint8_t *end = pieces->bytes + pieces->ends[*found - 1];
            if (LIKELY(length <= LONGEST_PACKED) || !memcmp(piece, end - length, (size_t)length)) {
                return found;
            }
        }
    }
}

/* The slot of a piece, or the free one where it belongs. */
static uint32_t *piece_slot(const tokdfa_pieces *pieces, packed_word key, const uint8_t *piece, int64_t length) {
    return find_hashed(pieces, key, hash_packed(key.low, key.high), piece, length);
}

/* Keep a new piece; returns its number plus one, 0 if out of memory. */
NEVER_INLINE uint32_t keep_piece(tokdfa_pieces *pieces, packed_word key, const uint8_t *piece, int64_t length) {
    uint8_t *bytes = with_capacity(pieces->bytes, &pieces->bytes_capacity, pieces->n_bytes, length, 1);
    pieces->bytes = bytes ? bytes : pieces->bytes;
    int64_t *ends = with_capacity(pieces->ends, &pieces->ends_capacity, pieces->n_pieces, 1, sizeof *ends);
    pieces->ends = ends ? ends : pieces->ends;
    entry *entries = with_capacity(pieces->entries, &pieces->entries_capacity, pieces->n_pieces, 1, sizeof *entries);
    pieces->entries = entries ? entries : pieces->entries;
    /* A slot has 32 bits for the number of an entry. */
    if (!bytes || !ends || !entries || pieces->n_pieces == UINT32_MAX - 1 ||
        (2 * pieces->n_pieces >= pieces->n_slots && !double_table(pieces))) {
        return 0;
    }
    uint32_t *const free_slot = piece_slot(pieces, key, piece, length);
    memcpy(bytes + pieces->n_bytes, piece, (size_t)length);
    pieces->n_bytes += length;
    ends[pieces->n_pieces] = pieces->n_bytes;
    entries[pieces->n_pieces++] = (entry){key, 0};
    *free_slot = (uint32_t)pieces->n_pieces;
    return *free_slot;
}

/* The key of a piece in a text of `size` bytes. */
ALWAYS_INLINE packed_word key_at(const uint8_t *text, int64_t size, int64_t start, int64_t length) {
    return LIKELY(length <= LONGEST_PACKED) ? pack_at(text, size, start, length) : long_piece_key(text + start, length);
}

/* Free a slot; pieces after it move up, so that they are found. */
static void take_out(tokdfa_pieces *pieces, const uint32_t *found) {
    uint32_t *const slots = pieces->slots;
    const entry *const entries = pieces->entries;
    const uint64_t mask = (uint64_t)pieces->n_slots - 1;
    uint64_t gap = (uint64_t)(found - slots);
    for (uint64_t at = (gap + 1) & mask; slots[at]; at = (at + 1) & mask) {
        const packed_word key = entries[slots[at] - 1].key;
        const uint64_t home = hash_packed(key.low, key.high) & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            slots[gap] = slots[at];
            gap = at;
        }
    }
    slots[gap] = 0;
}

/* Take back the counts of the first spans, and the pieces from number n_pieces on, which came with them. */
NEVER_INLINE void take_back(tokdfa_pieces *pieces, const uint8_t *text, int64_t size, const int64_t *spans,
                            int64_t n_spans, const int64_t *weights, int64_t n_pieces) {
    entry *const entries = pieces->entries;
    for (int64_t i = 0; i < n_spans; i++) {
        const int64_t start = spans[2 * i], length = spans[2 * i + 1] - start;
        const uint32_t *found = piece_slot(pieces, key_at(text, size, start, length), text + start, length);
        entries[*found - 1].count -= weights ? (uint64_t)weights[i] : 1;
    }
    for (; pieces->n_pieces > n_pieces; pieces->n_pieces--) {
        const int64_t start = pieces->n_pieces > 1 ? pieces->ends[pieces->n_pieces - 2] : 0;
        const int64_t length = pieces->n_bytes - start;
        const uint8_t *piece = pieces->bytes + start;
        take_out(pieces, piece_slot(pieces, entries[pieces->n_pieces - 1].key, piece, length));
        pieces->n_bytes = start;
    }
}

/* Count the pieces of a text of `size` bytes: those from spans[2 * i] to spans[2 * i + 1], none empty, once each or, if
   there are weights, as often as these say. Returns 0, or TOKDFA_NO_MEMORY; then none of them is counted. */
TOKDFA_API int64_t tokdfa_add_pieces(tokdfa_pieces *pieces, const uint8_t *text, int64_t size, const int64_t *spans,
                                      int64_t n_spans, const int64_t *weights) {
    const int64_t n_before = pieces->n_pieces;
    packed_word keys[PIECES_AT_ONCE];
    uint64_t hashes[PIECES_AT_ONCE];
    for (int64_t first = 0; first < n_spans; first += PIECES_AT_ONCE) {
        const int64_t n_keys = least(PIECES_AT_ONCE, n_spans - first);
        const uint32_t *const slots = pieces->slots;
        const uint64_t mask = (uint64_t)pieces->n_slots - 1;
        for (int64_t k = 0; k < n_keys; k++) {
            const int64_t start = spans[2 * (first + k)], length = spans[2 * (first + k) + 1] - start;
            keys[k] = key_at(text, size, start, length);
            hashes[k] = hash_packed(keys[k].low, keys[k].high);
            PREFETCH(slots + (hashes[k] & mask));
        }
        for (int64_t k = 0; k < n_keys; k++) {
            PREFETCH((const entry *)pieces->entries + slots[hashes[k] & mask]);
        }
        for (int64_t k = 0; k < n_keys; k++) {
            const int64_t i = first + k, start = spans[2 * i], length = spans[2 * i + 1] - start;
            uint32_t number = *find_hashed(pieces, keys[k], hashes[k], text + start, length);
            if (UNLIKELY(!number)) {
                number = keep_piece(pieces, keys[k], text + start, length);
                if (!number) {
                    take_back(pieces, text, size, spans, i, weights, n_before);
                    return TOKDFA_NO_MEMORY;
                }
            }
            ((entry *)pieces->entries)[number - 1].count += weights ? (uint64_t)weights[i] : 1;
        }
    }
    return 0;
}

/* Write all pieces one after the other, the end of each, and the count of each. */
TOKDFA_API void tokdfa_copy_pieces(const tokdfa_pieces *pieces, uint8_t *bytes, int64_t *ends, int64_t *counts) {
    const entry *const entries = pieces->entries;
    memcpy(bytes, pieces->bytes, (size_t)pieces->n_bytes);
    memcpy(ends, pieces->ends, (size_t)pieces->n_pieces * sizeof *ends);
    for (int64_t i = 0; i < pieces->n_pieces; i++) {
        counts[i] = (int64_t)entries[i].count;
    }
}

/* An empty table; NULL if out of memory. */
TOKDFA_API tokdfa_pieces *tokdfa_new_pieces(void) {
    tokdfa_pieces *pieces = calloc(1, sizeof *pieces);
    if (!pieces) {
        return NULL;
    }
    pieces->n_slots = 1 << 13;
    pieces->bytes_capacity = 1 << 14;
    pieces->ends_capacity = pieces->entries_capacity = 1 << 12;
    pieces->slots = calloc((size_t)pieces->n_slots, sizeof *pieces->slots);
    pieces->bytes = malloc((size_t)pieces->bytes_capacity);
    pieces->ends = malloc((size_t)pieces->ends_capacity * sizeof *pieces->ends);
    pieces->entries = malloc((size_t)pieces->entries_capacity * sizeof(entry));
    if (!pieces->slots || !pieces->bytes || !pieces->ends || !pieces->entries) {
        tokdfa_free_pieces(pieces);
        return NULL;
    }
    return pieces;
}

TOKDFA_API void tokdfa_free_pieces(tokdfa_pieces *pieces) {
    free(pieces->slots);
    free(pieces->bytes);
    free(pieces->ends);
    free(pieces->entries);
    free(pieces);
}
