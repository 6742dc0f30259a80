/* Encoding pieces with a memory of those seen before, a block at a time.

   Memory answers late, so it is asked early: each of several passes over a block computes one thing about every piece,
   and prefetches what the next pass needs. */
#ifndef TOKDFA_PIECES_H
#define TOKDFA_PIECES_H

#include "alone.h"
#include "door.h"
#include "memory.h"
#include "one_pass.h"
#include "split.h"
#include "together.h"

/* Blocks are small, so that they stay in the first-level cache, until many pieces of one are new. Then there are more
   words to be merged together, which wait for memory at the same time. */
#define BLOCK 128
#define LARGE_BLOCK 512
#define MANY_NEW 8
/* The number of longer words that are merged together in a block; more are merged one by one. */
#define MOST_MANY 64

/* Where the ids of a piece are: in an entry of the memory, or found in one of these ways, or it is the token that is
   IS_TOKEN minus this. */
enum { LEFT_OUT = -1, MERGED = -2, ALONE = -3, IS_TOKEN = -4 };

/* What the passes compute about a piece. */
typedef struct {
    packed_word key;
    int64_t begin, end;
    int64_t set, where;
    int32_t *ids;
    int32_t n_ids;
    int32_t word; /* if it is MERGED */
} noted_piece;

typedef struct {
    noted_piece noted[LARGE_BLOCK];
    int32_t rest[LARGE_BLOCK];
    /* The words that are merged, of few lanes and of all lanes, the lanes where their tokens begin, and which of the words
       wait. */
    _Alignas(64) uint32_t few[LARGE_BLOCK * ROOM_OF(FEW_LANES)];
    _Alignas(64) uint32_t many[MOST_MANY * ROOM_OF(LANES)];
    uint64_t starts_few[LARGE_BLOCK], starts_many[MOST_MANY];
    int32_t waiting_few[LARGE_BLOCK], waiting_many[MOST_MANY];
} piece_block;

/* Note the keys of all pieces of a block, and where the remembered ones are; return the number of pieces that need
   another look. Text that is left out may spell a piece that is remembered, so it is sorted out before the memory is
   asked. */
ALWAYS_INLINE int look_into_memory(const tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size,
                                   const int64_t *begun, int count, piece_block *block) {
    const uint64_t *entries = pieces->memory->entries;
    int64_t begin = begun[0] >> EVENT_BITS;
    for (int k = 0; k < count; k++) {
        noted_piece *piece = block->noted + k;
        const int64_t end = begun[k + 1] >> EVENT_BITS;
        piece->begin = begin;
        piece->end = end;
        piece->key = key_of(text, size, begin, end);
        piece->set = set_of(pieces->memory, hash_packed(piece->key.low, piece->key.high));
        PREFETCH(entries + piece->set);
        begin = end;
    }
    int n_rest = 0;
    for (int k = 0; k < count; k++) {
        noted_piece *piece = block->noted + k;
        const packed_word key = piece->key;
        const uint64_t *set = entries + piece->set;
        const bool in_first = (set[0] == key.low) & (set[1] == key.high);
        const bool in_second = (set[ENTRY] == key.low) & (set[ENTRY + 1] == key.high);
        const bool is_piece = (begun[k] & EVENT_MASK) == TOKDFA_BEGINS;
        piece->where = is_piece ? piece->set + (in_first ? 0 : ENTRY) : LEFT_OUT;
        block->rest[n_rest] = k;
        n_rest += is_piece & !(in_first | in_second);
    }
    for (int i = 0; i < n_rest; i++) {
        const noted_piece *piece = block->noted + block->rest[i];
        PREFETCH(entries + piece->set + SET / 2);
        prefetch_word(pieces->whole, hash_packed(piece->key.low, piece->key.high));
    }
    return n_rest;
}

/* Note where the ids of those pieces are that are not at the front of their sets, and merge the pieces that are
   unknown. */
NEVER_INLINE void look_further(const tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size, int n_rest,
                               piece_block *block) {
    const tokdfa_token_tables *tables = pieces->tables;
    int32_t n_few = 0, n_many = 0, n_waiting_few = 0, n_waiting_many = 0;
    for (int i = 0; i < n_rest; i++) {
        noted_piece *piece = block->noted + block->rest[i];
        const int64_t length = piece->end - piece->begin;
        piece->where = find_among(pieces->memory->entries, piece->set + SET / 2, piece->set + SET, piece->key);
        if (piece->where >= 0) {
            continue;
        }
        const int64_t token = find_word(pieces->whole, text, size, piece->begin, piece->end, piece->key);
        if (token >= 0) {
            PREFETCH(pieces->whole->ids + token);
            piece->where = IS_TOKEN - token;
        } else if (length >= LANES || !tables->n_symbol || (length >= FEW_LANES && n_many == MOST_MANY)) {
            piece->where = ALONE;
        } else if (length < FEW_LANES) {
            const int32_t w = n_few++;
            piece->where = MERGED;
            piece->word = w;
            block->starts_few[w] = begin_short_word(tables->of_symbols, tables->symbol, piece->key, length,
                                                    block->few + ROOM_OF(FEW_LANES) * w);
            block->waiting_few[n_waiting_few] = w;
            n_waiting_few += block->starts_few[w] != 0;
        } else {
            const int32_t w = n_many++;
            piece->where = MERGED;
            piece->word = w;
            block->starts_many[w] = begin_long_word(tables->of_symbols, tables->symbol, text + piece->begin, length,
                                                    block->many + ROOM_OF(LANES) * w);
            block->waiting_many[n_waiting_many] = w;
            n_waiting_many += block->starts_many[w] != 0;
        }
    }
    for (int32_t i = 0; i < n_waiting_few; i += MOST_TOGETHER) {
        merge_together(tables->rules, tables->n_rules, block->few, block->starts_few, block->waiting_few + i,
                       least(MOST_TOGETHER, n_waiting_few - i), FEW_LANES);
    }
    for (int32_t i = 0; i < n_waiting_many; i += MOST_TOGETHER) {
        merge_together(tables->rules, tables->n_rules, block->many, block->starts_many, block->waiting_many + i,
                       least(MOST_TOGETHER, n_waiting_many - i), LANES);
    }
    for (int32_t w = 0; w < n_few; w++) {
        prefetch_ids(block->few + ROOM_OF(FEW_LANES) * w, FEW_LANES, block->starts_few[w], tables->ids_of_numbers);
    }
}

/* Forget where a tokenization has paused that was not continued. */
ALWAYS_INLINE void forget_pause(tokdfa_piece_encoder *pieces) {
    if (UNLIKELY(pieces->pause.is_on)) {
        pieces->pause.is_on = 0;
        memset(pieces->left, 0, (size_t)pieces->n_left * sizeof *pieces->left);
    }
}

/* Write the ids of a piece that is encoded on its own; return their number, or how the encoding ends here. */
NEVER_INLINE int64_t tokenize_alone(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size,
                                    int64_t begin, int64_t end, int32_t *out) {
    if (pieces->tables->n_symbol && end - begin <= LONGEST_MERGED) {
        const int64_t n_ids = merge_alone(pieces->tables, text + begin, end - begin, out);
        return n_ids < 0 ? TOKDFA_FOREIGN : n_ids;
    }
    if (!pieces->one_pass) {
        return TOKDFA_TOO_LONG;
    }
    const int64_t n_ids = tokenize(pieces->one_pass, text, size, begin, end, out, pieces->left, pieces->at_a_time,
                                   &pieces->pause);
    if (n_ids == TOKDFA_PAUSED) {
        return n_ids;
    }
    for (int64_t i = 0; i < n_ids; i++) {
        out[i] = pieces->one_pass->ids[out[i]];
    }
    return n_ids < 0 ? TOKDFA_FOREIGN : n_ids;
}

/* Write the ids of a piece that is not at the front of its set; return their number, or how the encoding ends here. */
NEVER_INLINE int64_t write_other(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size,
                                 const piece_block *block, int k, int32_t *out) {
    const noted_piece *piece = block->noted + k;
    const int64_t length = piece->end - piece->begin;
    if (piece->where == MERGED) {
        const int32_t w = piece->word;
        const int32_t *ids = pieces->tables->ids_of_numbers;
        const bool is_short = length < FEW_LANES;
        const uint64_t starts = is_short ? block->starts_few[w] : block->starts_many[w];
        if (!starts) {
            return TOKDFA_FOREIGN;
        }
        return is_short ? finish_word(block->few + ROOM_OF(FEW_LANES) * w, FEW_LANES, starts, ids, out)
                        : finish_word(block->many + ROOM_OF(LANES) * w, LANES, starts, ids, out);
    }
    if (piece->where <= IS_TOKEN) {
        out[0] = pieces->whole->ids[IS_TOKEN - piece->where];
        return 1;
    }
    if (piece->where >= 0) {
        /* Another long piece has this hash. This one may be a token, which has not been looked for yet. */
        const int64_t token = find_word(pieces->whole, text, size, piece->begin, piece->end, piece->key);
        if (token >= 0) {
            out[0] = pieces->whole->ids[token];
            return 1;
        }
    }
    return tokenize_alone(pieces, text, size, piece->begin, piece->end, out);
}

/* Encode the pieces of begun[next] to begun[stop]: where pieces and text that is left out begin, ascending, as offset
   and event; each ends where the next one begins, and none is empty.

   `next` and the number of ids `n` are in `pieces`, and are set to where the encoding ends. `out` has room for one id
   per byte and AT_ONCE more; `ends` gets, at i, where the ids of entry i end, unless it is NULL. Returns 0; or FOREIGN
   before a piece with a symbol that is not in the alphabet, TOO_LONG before one that is too long to be merged without the tables
   of one pass; or PAUSED, when a call with the same arguments continues. */
ALWAYS_INLINE int64_t encode_pieces(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size,
                                    const int64_t *begun, int64_t stop, int32_t *out, int64_t *ends) {
    piece_block block;
    int64_t n = pieces->n;
    const int64_t most = pieces->at_a_time ? (begun[pieces->next] >> EVENT_BITS) + pieces->at_a_time : INT64_MAX;
    int count = BLOCK, most_pieces = BLOCK;
    for (int64_t start = pieces->next; start < stop; start += count) {
        if (UNLIKELY(begun[start] >> EVENT_BITS >= most)) {
            pieces->next = start;
            pieces->n = n;
            return TOKDFA_PAUSED;
        }
        count = (int)least(most_pieces, stop - start);
        const int n_rest = look_into_memory(pieces, text, size, begun + start, count, &block);
        most_pieces = MANY_NEW * n_rest > count ? LARGE_BLOCK : BLOCK;
        if (n_rest) {
            look_further(pieces, text, size, n_rest, &block);
        }
        for (int k = 0; k < count; k++) {
            noted_piece *piece = block.noted + k;
            int64_t n_ids = piece->where == LEFT_OUT ? 0 : -1;
            if (LIKELY(piece->where >= 0)) {
                n_ids = recall(pieces->memory, piece->where, text, size, piece->begin, piece->end, out + n);
            }
            if (UNLIKELY(n_ids < 0)) {
                n_ids = write_other(pieces, text, size, &block, k, out + n);
                if (n_ids < 0) {
                    pieces->next = start + k;
                    pieces->n = n;
                    return n_ids;
                }
            }
            piece->ids = out + n;
            piece->n_ids = (int32_t)n_ids;
            n += n_ids;
            if (ends) {
                ends[start + k] = n;
            }
        }
        for (int i = 0; i < n_rest; i++) {
            noted_piece *piece = block.noted + block.rest[i];
            if (piece->where >= 0) {
                move_up(pieces->memory, piece->where);
            } else {
                remember(pieces->memory, piece->set, piece->key, text, size, piece->begin, piece->end, piece->ids,
                         piece->n_ids);
            }
        }
    }
    pieces->next = greatest(pieces->next, stop);
    pieces->n = n;
    return 0;
}

#endif
