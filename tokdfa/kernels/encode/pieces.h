/* Encoding pieces with a cache of the pieces seen before, a block at a time.

   Memory answers late, so it is asked early: the first pass over a block computes the keys of the pieces, and
   prefetches their sets. The second one writes their ids, up to the first piece that is unknown. For the pieces from
   there on, more passes compute one thing each, and prefetch the data for the next one. */
#ifndef TOKDFA_PIECES_H
#define TOKDFA_PIECES_H

#include "added.h"
#include "merge_long.h"
#include "characters.h"
#include "api.h"
#include "piece_cache.h"
#include "one_pass.h"
#include "packing.h"
#include "prefix.h"
#include "split.h"
#include "merge_batch.h"

/* Blocks are small, so that they stay in the first-level cache, until many pieces of one are new. Then there are more
   words to be merged together, which wait for memory at the same time. */
#define BLOCK 128
#define LARGE_BLOCK 512
#define MANY_NEW 24
/* The number of longer words that are merged together in a block; more are merged one by one. */
#define MOST_MANY 64

/* How the ids of a piece are found: by an entry of the cache, by one of these ways, or it is the token IS_TOKEN minus
   this. */
enum { LEFT_OUT = -1, MERGED = -2, ALONE = -3, IS_TOKEN = -4 };

/* The second word of the key of text that is left out: no cached piece has it. */
#define LEFT_OUT_KEY ((uint64_t)1 << 63)

/* The note about a piece, from the first unknown one of a block on. */
typedef struct {
    int64_t where;
    int32_t *ids;
    int32_t n_ids;
    int32_t word; /* if it is MERGED */
} noted_piece;

typedef struct {
    _Alignas(64) packed_word keys[LARGE_BLOCK];
    int64_t sets[LARGE_BLOCK]; /* where the entries of the keys' sets begin */
    noted_piece noted[LARGE_BLOCK];
    int32_t rest[LARGE_BLOCK];
    /* The words that are merged, of few lanes and of all lanes, the lanes where their tokens begin, and which of the
       words wait. */
    _Alignas(64) uint32_t few[LARGE_BLOCK * ROOM_OF(FEW_LANES)];
    _Alignas(64) uint32_t many[MOST_MANY * ROOM_OF(LANES)];
    uint64_t starts_few[LARGE_BLOCK], starts_many[MOST_MANY];
    int32_t waiting_few[LARGE_BLOCK], waiting_many[MOST_MANY];
} piece_block;

ALWAYS_INLINE bool is_left_out(int64_t begun) {
    return (begun & EVENT_MASK) != TOKDFA_BEGINS;
}

/* Note the keys of the pieces of a block, and prefetch their sets. */
NEVER_INLINE void note_keys(const tokdfa_piece_cache *cache, const uint8_t *text, int64_t size, const int64_t *begun,
                            int count, piece_block *block) {
    const uint64_t *entries = cache->entries;
    const int64_t n_entries = cache->n_entries;
    /* The last bytes of a text are read with care; most blocks have none of them. */
    const bool is_inside = (begun[count] >> EVENT_BITS) + LONGEST_PACKED < size;
    for (int64_t k = 0; k < count; k++) {
        const int64_t begin = begun[k] >> EVENT_BITS, end = begun[k + 1] >> EVENT_BITS, length = end - begin;
        int64_t set;
        if (LIKELY(is_inside & (length <= LONGEST_PACKED) & !is_left_out(begun[k]))) {
            set = set_of(n_entries, pack_short(text + begin, length, block->keys + k));
        } else {
            const packed_word left_out = {0, LEFT_OUT_KEY};
            block->keys[k] = is_left_out(begun[k]) ? left_out : key_of(text, size, begin, end);
            set = set_of(n_entries, block->keys[k]);
        }
        block->sets[k] = set;
        PREFETCH(entries + set);
    }
}

/* Write the id of an added token; text that is left out has none. Returns the number of ids. */
ALWAYS_INLINE int64_t write_added(tokdfa_piece_encoder *pieces, int64_t begun, int32_t *out) {
    if ((begun & EVENT_MASK) != TOKDFA_ADDED) {
        return 0;
    }
    *out = pieces->added[pieces->next_added++];
    return 1;
}

/* Write the ids of a piece that is not at the front of its set, or has its ids in the overflow area, and return their
   number; -1 if it is unknown. */
NEVER_INLINE int64_t look_up_other(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size, const int64_t *begun,
                                  packed_word key, int64_t set, unsigned same, int32_t *out) {
    tokdfa_piece_cache *cache = pieces->cache;
    const int64_t begin = begun[0] >> EVENT_BITS, end = begun[1] >> EVENT_BITS;
    if (is_left_out(begun[0])) {
        return write_added(pieces, begun[0], out);
    }
    if (IN_FRONT >> same & 1) {
        return look_up_ids(cache, set + (same >= IN_SECOND ? ENTRY : 0), text, size, begin, end, out);
    }
    const int64_t entry = find_among(cache->entries, set + SET / 2, set + SET, key);
    if (entry < 0) {
        return -1;
    }
    const int64_t n_ids = look_up_ids(cache, entry, text, size, begin, end, out);
    count_late(cache);
    promote(cache, entry);
    return n_ids;
}

/* Write the ids of the pieces of a block up to the first unknown one, and return which that is; `*n` is the number of
   ids. */
NEVER_INLINE int look_up_known(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size, const int64_t *begun,
                              int count, const piece_block *block, int32_t *out, int64_t *ends, int64_t *n) {
    const uint64_t *entries = pieces->cache->entries;
    int32_t *place = out + *n;
    int64_t k = 0;
    for (; k < count; k++) {
        const uint64_t *set = entries + block->sets[k];
        const unsigned same = same_words(set, block->keys + k);
        const uint64_t *ids = set + ENTRY / 2 + (same >= IN_SECOND ? ENTRY : 0);
        int64_t n_ids = copy_ids(ids, place);
        if (UNLIKELY(!(IN_FRONT >> same & 1) || n_ids > IDS_INSIDE)) {
            n_ids = look_up_other(pieces, text, size, begun + k, block->keys[k], block->sets[k], same, place);
            if (n_ids < 0) {
                break;
            }
        }
        place += n_ids;
        if (ends) {
            ends[k] = place - out;
        }
    }
    *n = place - out;
    return (int)k;
}

/* Note where the ids of the pieces of a block from `first` on are, if they are cached; return the number of pieces
   that need another look. Text that is left out may spell a cached piece, so it is sorted out before the look-up. */
ALWAYS_INLINE int look_up_block(const tokdfa_piece_encoder *pieces, const int64_t *begun, int first, int count,
                                   piece_block *block) {
    const tokdfa_piece_cache *cache = pieces->cache;
    const tokdfa_token_tables *whole = pieces->whole;
    const uint64_t *entries = cache->entries;
    int n_rest = 0;
    for (int k = first; k < count; k++) {
        const int64_t set = block->sets[k];
        const unsigned same = same_words(entries + set, block->keys + k);
        const bool is_piece = !is_left_out(begun[k]);
        block->noted[k].where = is_piece ? set + (same >= IN_SECOND ? ENTRY : 0) : LEFT_OUT;
        block->rest[n_rest] = k;
        n_rest += is_piece & !(IN_FRONT >> same & 1);
    }
    for (int i = 0; i < n_rest; i++) {
        const int k = block->rest[i];
        const uint64_t hashed = hash_packed(block->keys[k].low, block->keys[k].high);
        PREFETCH(entries + block->sets[k] + SET / 2);
        prefetch_bit(whole->filter, whole->n_filter, hashed);
        if (cache->n_seen) {
            prefetch_bit(cache->seen, cache->n_seen, hashed);
        }
    }
    for (int i = 0; i < n_rest; i++) {
        const packed_word key = block->keys[block->rest[i]];
        prefetch_word(whole, hash_packed(key.low, key.high));
    }
    return n_rest;
}

/* Note where the ids are of the pieces that are not at the front of their sets, and merge the unknown pieces. */
NEVER_INLINE void look_further(const tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size,
                               const int64_t *begun, int n_rest, piece_block *block) {
    const tokdfa_token_tables *tables = pieces->tables;
    int32_t n_few = 0, n_many = 0, n_waiting_few = 0, n_waiting_many = 0;
    for (int i = 0; i < n_rest; i++) {
        const packed_word key = block->keys[block->rest[i]];
        prefetch_packing(pieces->whole, hash_packed(key.low, key.high));
    }
    for (int i = 0; i < n_rest; i++) {
        const int k = block->rest[i];
        const int64_t begin = begun[k] >> EVENT_BITS, end = begun[k + 1] >> EVENT_BITS, length = end - begin;
        const int64_t set = block->sets[k];
        const packed_word key = block->keys[k];
        noted_piece *piece = block->noted + k;
        piece->where = find_among(pieces->cache->entries, set + SET / 2, set + SET, key);
        if (piece->where >= 0) {
            continue;
        }
        const int64_t token = find_word(pieces->whole, text, size, begin, end, key);
        if (token >= 0) {
            PREFETCH(pieces->whole->ids + token);
            piece->where = IS_TOKEN - token;
        } else if (length >= LANES || !tables->n_symbol || (length >= FEW_LANES && n_many == MOST_MANY)) {
            piece->where = ALONE;
        } else if (length < FEW_LANES) {
            const int32_t w = n_few++;
            piece->where = MERGED;
            piece->word = w;
            block->starts_few[w] = begin_short_word(tables->of_symbols, tables->symbol, key, length,
                                                    block->few + ROOM_OF(FEW_LANES) * w);
            block->waiting_few[n_waiting_few] = w;
            n_waiting_few += block->starts_few[w] != 0;
        } else {
            const int32_t w = n_many++;
            piece->where = MERGED;
            piece->word = w;
            block->starts_many[w] = begin_long_word(tables->of_symbols, tables->symbol, text + begin, length,
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
    if (pieces->characters) {
        return merge_characters(pieces->characters, -1, text + begin, end - begin, out);
    }
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
NEVER_INLINE int64_t write_other(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size, int64_t begin,
                                 int64_t end, const piece_block *block, int k, int32_t *out) {
    const noted_piece *piece = block->noted + k;
    if (piece->where == MERGED) {
        const int32_t w = piece->word;
        const int32_t *ids = pieces->tables->ids_of_numbers;
        const bool is_short = end - begin < FEW_LANES;
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
        const int64_t token = find_word(pieces->whole, text, size, begin, end, block->keys[k]);
        if (token >= 0) {
            out[0] = pieces->whole->ids[token];
            return 1;
        }
    }
    return tokenize_alone(pieces, text, size, begin, end, out);
}

/* Encode the pieces of a block from `first` on, after their keys were noted, and cache the unknown ones. Returns 0, or
   how the encoding ends before the piece `*stop`; `*n` is the number of ids. `*is_new` gets whether many were
   unknown. */
NEVER_INLINE int64_t encode_unknown(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size,
                                    const int64_t *begun, int first, int count, piece_block *block, int32_t *out,
                                    int64_t *ends, int64_t *n, int *stop, bool *is_new) {
    tokdfa_piece_cache *cache = pieces->cache;
    const int n_rest = look_up_block(pieces, begun, first, count, block);
    *is_new = MANY_NEW * n_rest > count;
    if (n_rest) {
        look_further(pieces, text, size, begun, n_rest, block);
    }
    for (int k = first; k < count; k++) {
        noted_piece *piece = block->noted + k;
        const int64_t begin = begun[k] >> EVENT_BITS, end = begun[k + 1] >> EVENT_BITS;
        int64_t n_ids = piece->where == LEFT_OUT ? write_added(pieces, begun[k], out + *n) : -1;
        if (LIKELY(piece->where >= 0)) {
            n_ids = look_up_ids(cache, piece->where, text, size, begin, end, out + *n);
        }
        if (UNLIKELY(n_ids < 0)) {
            n_ids = write_other(pieces, text, size, begin, end, block, k, out + *n);
            if (n_ids < 0) {
                *stop = k;
                return n_ids;
            }
        }
        piece->ids = out + *n;
        piece->n_ids = (int32_t)n_ids;
        *n += n_ids;
        if (ends) {
            ends[k] = *n;
        }
    }
    for (int i = 0; i < n_rest; i++) {
        const int k = block->rest[i];
        const noted_piece *piece = block->noted + k;
        if (piece->where >= 0) {
            promote(cache, piece->where);
        } else {
            add_piece(cache, block->sets[k], block->keys[k], text, size, begun[k] >> EVENT_BITS,
                     begun[k + 1] >> EVENT_BITS, piece->ids, piece->n_ids);
        }
    }
    return 0;
}

/* Encode the pieces of begun[next] to begun[stop]: where pieces, added tokens and text that is left out begin,
   ascending, as offset and event; each ends where the next one begins, and no piece is empty.

   `next` and the number of ids `n` are in `pieces`, and are set to where the encoding ends. `out` has a capacity of one
   id per byte and AT_ONCE more; `ends` gets, at i, where the ids of entry i end, unless it is NULL. Returns 0; or
   FOREIGN before a piece with a symbol that is not in the alphabet, TOO_LONG before one that is too long to be merged
   without the tables of one pass; or PAUSED, when a call with the same arguments continues. */
ALWAYS_INLINE int64_t encode_pieces(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size,
                                    const int64_t *begun, int64_t stop, int32_t *out, int64_t *ends) {
    piece_block block;
    int64_t n = pieces->n;
    const int64_t most = pieces->at_a_time ? (begun[pieces->next] >> EVENT_BITS) + pieces->at_a_time : INT64_MAX;
    int count;
    /* The tokens of a piece that has paused are in `out`, where nothing else may be written before it has been
       continued. */
    bool is_new = pieces->pause.is_on;
    for (int64_t start = pieces->next; start < stop; start += count) {
        const int64_t *here = begun + start;
        if (UNLIKELY(*here >> EVENT_BITS >= most)) {
            pieces->next = start;
            pieces->n = n;
            return TOKDFA_PAUSED;
        }
        count = (int)least(is_new ? LARGE_BLOCK : BLOCK, stop - start);
        note_keys(pieces->cache, text, size, here, count, &block);
        int first = 0;
        if (!is_new) {
            first = look_up_known(pieces, text, size, here, count, &block, out, ends ? ends + start : NULL, &n);
        }
        if (first < count) {
            int at = 0;
            const int64_t status = encode_unknown(pieces, text, size, here, first, count, &block, out,
                                                  ends ? ends + start : NULL, &n, &at, &is_new);
            if (status) {
                pieces->next = start + at;
                pieces->n = n;
                return status;
            }
        }
    }
    pieces->next = greatest(pieces->next, stop);
    pieces->n = n;
    return 0;
}

/* Forget the added tokens of the previous entries; all of these but the last one are encoded. */
ALWAYS_INLINE void keep_added(tokdfa_text_encoder *texts, int64_t last) {
    const bool is_kept = (last & EVENT_MASK) == TOKDFA_ADDED;
    if (is_kept) {
        texts->added_ids[0] = texts->added_ids[texts->n_found - 1];
    }
    texts->n_found = is_kept;
    texts->pieces->added = texts->added_ids;
    texts->pieces->next_added = 0;
}

/* Append the id of the added token that was found to the others, and return its entry. */
ALWAYS_INLINE int64_t put_added(tokdfa_text_encoder *texts) {
    const tokdfa_added_span found = texts->scan->found;
    texts->added_ids[texts->n_found++] = texts->added->ids[found.token];
    return found.start << EVENT_BITS | TOKDFA_ADDED;
}

#endif
