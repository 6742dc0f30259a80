/* Counting pieces of text: a growing hash table of different pieces, in the order of their first occurrence.

   A slot has the piece (packed, see common/packed.h), its count, and its number plus one, 0 if the slot is free. A piece
   too long to pack has its hash and its length there instead, and is compared with its stored bytes. */
#include "../common/packed.h"
#include "door.h"
#include "room.h"

typedef struct {
    packed_word key;
    uint64_t count, number;
} slot;

/* The top byte of a packed piece is its length, 15 at most. */
#define LONG_PIECE ((uint64_t)0xFF << 56)

/* The key of a piece of 16 bytes or more: a hash and the length. */
static packed_word key_of_long(const uint8_t *piece, int64_t length) {
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
static bool double_slots(tokdfa_pieces *pieces) {
    const int64_t n_slots = 2 * pieces->n_slots;
    slot *larger = calloc((size_t)n_slots, sizeof *larger), *old = pieces->slots;
    if (!larger) {
        return false;
    }
    const uint64_t mask = (uint64_t)n_slots - 1;
    for (int64_t i = 0; i < pieces->n_slots; i++) {
        if (old[i].number) {
            uint64_t at = hash_packed(old[i].key.low, old[i].key.high) & mask;
            while (larger[at].number) {
                at = (at + 1) & mask;
            }
            larger[at] = old[i];
        }
    }
    free(old);
    pieces->slots = larger;
    pieces->n_slots = n_slots;
    return true;
}

/* The slot of a piece, or the free one where it belongs. */
ALWAYS_INLINE slot *find_slot(const tokdfa_pieces *pieces, packed_word key, const uint8_t *piece, int64_t length) {
    slot *const slots = pieces->slots;
    const uint64_t mask = (uint64_t)pieces->n_slots - 1;
    for (uint64_t at = hash_packed(key.low, key.high) & mask;; at = (at + 1) & mask) {
        slot *const found = slots + at;
        if (!found->number) {
            return found;
        }
        if (same_word(found->key, key)) {
            const uint8_t *end = pieces->bytes + pieces->ends[found->number - 1];
            if (LIKELY(length <= LONGEST_PACKED) || !memcmp(piece, end - length, (size_t)length)) {
                return found;
            }
        }
    }
}

/* Keep a new piece; returns its slot, NULL if there is no memory. */
NEVER_INLINE slot *keep_piece(tokdfa_pieces *pieces, packed_word key, const uint8_t *piece, int64_t length) {
    uint8_t *bytes = with_room(pieces->bytes, &pieces->bytes_room, pieces->n_bytes, length, 1);
    pieces->bytes = bytes ? bytes : pieces->bytes;
    int64_t *ends = with_room(pieces->ends, &pieces->ends_room, pieces->n_pieces, 1, sizeof *ends);
    pieces->ends = ends ? ends : pieces->ends;
    if (!bytes || !ends || (2 * pieces->n_pieces >= pieces->n_slots && !double_slots(pieces))) {
        return NULL;
    }
    slot *const free_slot = find_slot(pieces, key, piece, length);
    memcpy(bytes + pieces->n_bytes, piece, (size_t)length);
    pieces->n_bytes += length;
    ends[pieces->n_pieces++] = pieces->n_bytes;
    *free_slot = (slot){key, 0, (uint64_t)pieces->n_pieces};
    return free_slot;
}

/* The key of a piece in a text of `size` bytes. */
ALWAYS_INLINE packed_word key_at(const uint8_t *text, int64_t size, int64_t start, int64_t length) {
    return LIKELY(length <= LONGEST_PACKED) ? pack_at(text, size, start, length) : key_of_long(text + start, length);
}

/* Take a piece out of the table; those after it move up, so that they are found. */
static void take_out(tokdfa_pieces *pieces, slot *found) {
    slot *const slots = pieces->slots;
    const uint64_t mask = (uint64_t)pieces->n_slots - 1;
    uint64_t gap = (uint64_t)(found - slots);
    for (uint64_t at = (gap + 1) & mask; slots[at].number; at = (at + 1) & mask) {
        const uint64_t home = hash_packed(slots[at].key.low, slots[at].key.high) & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            slots[gap] = slots[at];
            gap = at;
        }
    }
    slots[gap].number = 0;
}

/* Take back what was counted of the first spans, and the pieces from number n_pieces on, which came with them. */
NEVER_INLINE void take_back(tokdfa_pieces *pieces, const uint8_t *text, int64_t size, const int64_t *spans,
                            int64_t n_spans, const int64_t *weights, int64_t n_pieces) {
    for (int64_t i = 0; i < n_spans; i++) {
        const int64_t start = spans[2 * i], length = spans[2 * i + 1] - start;
        find_slot(pieces, key_at(text, size, start, length), text + start, length)->count -=
            weights ? (uint64_t)weights[i] : 1;
    }
    for (; pieces->n_pieces > n_pieces; pieces->n_pieces--) {
        const int64_t start = pieces->n_pieces > 1 ? pieces->ends[pieces->n_pieces - 2] : 0;
        const int64_t length = pieces->n_bytes - start;
        const uint8_t *piece = pieces->bytes + start;
        take_out(pieces, find_slot(pieces, key_at(pieces->bytes, pieces->n_bytes, start, length), piece, length));
        pieces->n_bytes = start;
    }
}

/* Count the pieces of a text of `size` bytes: those from spans[2 * i] to spans[2 * i + 1], none empty, once each or, if
   there are weights, as often as these say. Returns 0, or TOKDFA_NO_MEMORY; then none of them is counted. */
TOKDFA_DOOR int64_t tokdfa_add_pieces(tokdfa_pieces *pieces, const uint8_t *text, int64_t size, const int64_t *spans,
                                      int64_t n_spans, const int64_t *weights) {
    const int64_t n_before = pieces->n_pieces;
    for (int64_t i = 0; i < n_spans; i++) {
        const int64_t start = spans[2 * i], length = spans[2 * i + 1] - start;
        const packed_word key = key_at(text, size, start, length);
        slot *found = find_slot(pieces, key, text + start, length);
        if (UNLIKELY(!found->number)) {
            found = keep_piece(pieces, key, text + start, length);
            if (!found) {
                take_back(pieces, text, size, spans, i, weights, n_before);
                return TOKDFA_NO_MEMORY;
            }
        }
        found->count += weights ? (uint64_t)weights[i] : 1;
    }
    return 0;
}

/* Write all pieces one after the other, the end of each, and the count of each. */
TOKDFA_DOOR void tokdfa_copy_pieces(const tokdfa_pieces *pieces, uint8_t *bytes, int64_t *ends, int64_t *counts) {
    const slot *const slots = pieces->slots;
    memcpy(bytes, pieces->bytes, (size_t)pieces->n_bytes);
    memcpy(ends, pieces->ends, (size_t)pieces->n_pieces * sizeof *ends);
    for (int64_t i = 0; i < pieces->n_slots; i++) {
        if (slots[i].number) {
            counts[slots[i].number - 1] = (int64_t)slots[i].count;
        }
    }
}

/* An empty table; NULL if there is no memory. */
TOKDFA_DOOR tokdfa_pieces *tokdfa_new_pieces(void) {
    tokdfa_pieces *pieces = calloc(1, sizeof *pieces);
    if (!pieces) {
        return NULL;
    }
    pieces->n_slots = 1 << 13;
    pieces->bytes_room = 1 << 14;
    pieces->ends_room = 1 << 12;
    pieces->slots = calloc((size_t)pieces->n_slots, sizeof(slot));
    pieces->bytes = malloc((size_t)pieces->bytes_room);
    pieces->ends = malloc((size_t)pieces->ends_room * sizeof *pieces->ends);
    if (!pieces->slots || !pieces->bytes || !pieces->ends) {
        tokdfa_free_pieces(pieces);
        return NULL;
    }
    return pieces;
}

TOKDFA_DOOR void tokdfa_free_pieces(tokdfa_pieces *pieces) {
    free(pieces->slots);
    free(pieces->bytes);
    free(pieces->ends);
    free(pieces);
}
