/* The cache of pieces, on its own. */
#include "piece_cache.h"

TOKDFA_API void tokdfa_key_of_piece(const uint8_t *text, int64_t size, int64_t begin, int64_t end, uint64_t *key) {
    packed_word found = key_of(text, size, begin, end);
    key[0] = found.low;
    key[1] = found.high;
}

/* Look up a piece and promote it. `out` has LONGEST_KEPT + 2 entries. Returns their number; -1 if it is unknown. */
TOKDFA_API int64_t tokdfa_look_up_piece(tokdfa_piece_cache *cache, const uint8_t *text, int64_t size, int64_t begin,
                                        int64_t end, int32_t *out) {
    const packed_word key = key_of(text, size, begin, end);
    const int64_t set = set_of(cache->n_entries, key);
    const int64_t entry = find_among(cache->entries, set, set + SET, key);
    if (entry < 0) {
        return -1;
    }
    int64_t n_ids = look_up_ids(cache, entry, text, size, begin, end, out);
    promote(cache, entry);
    return n_ids;
}

/* Cache a piece. `ids` has IDS_INSIDE entries at least, and not more ids than the piece has bytes. */
TOKDFA_API void tokdfa_cache_piece(tokdfa_piece_cache *cache, const uint8_t *text, int64_t size, int64_t begin,
                                       int64_t end, const int32_t *ids, int64_t n_ids) {
    const packed_word key = key_of(text, size, begin, end);
    const int64_t set = set_of(cache->n_entries, key);
    add_piece(cache, set, key, text, size, begin, end, ids, n_ids);
}

/* Copy all pieces to more entries, which are zeros. */
TOKDFA_API void tokdfa_move_pieces(const tokdfa_piece_cache *cache, uint64_t *entries, int64_t n_entries) {
    for (int64_t entry = 0; entry < cache->n_entries; entry += ENTRY) {
        const uint64_t *piece = cache->entries + entry;
        if (piece[1]) {
            const packed_word key = {piece[0], piece[1]};
            uint64_t *there = entries + set_of(n_entries, key);
            while (there[1]) {
                there += ENTRY;
            }
            memcpy(there, piece, ENTRY * sizeof *there);
        }
    }
}
