/* The memory of pieces, on its own. */
#include "memory.h"

TOKDFA_API void tokdfa_key_of_piece(const uint8_t *text, int64_t size, int64_t begin, int64_t end, uint64_t *key) {
    packed_word found = key_of(text, size, begin, end);
    key[0] = found.low;
    key[1] = found.high;
}

/* Recall a piece and move it up. `out` has room for LONGEST_KEPT + 2 ids. Returns their number; -1 if it is unknown. */
TOKDFA_API int64_t tokdfa_recall_piece(tokdfa_piece_memory *memory, const uint8_t *text, int64_t size, int64_t begin,
                                        int64_t end, int32_t *out) {
    const packed_word key = key_of(text, size, begin, end);
    const int64_t set = set_of(memory->n_entries, key);
    const int64_t entry = find_among(memory->entries, set, set + SET, key);
    if (entry < 0) {
        return -1;
    }
    int64_t n_ids = recall(memory, entry, text, size, begin, end, out);
    move_up(memory, entry);
    return n_ids;
}

/* Remember a piece. `ids` has IDS_INSIDE places at least, and not more ids than the piece has bytes. */
TOKDFA_API void tokdfa_remember_piece(tokdfa_piece_memory *memory, const uint8_t *text, int64_t size, int64_t begin,
                                       int64_t end, const int32_t *ids, int64_t n_ids) {
    const packed_word key = key_of(text, size, begin, end);
    const int64_t set = set_of(memory->n_entries, key);
    remember(memory, set, key, text, size, begin, end, ids, n_ids);
}

/* Copy all pieces to more entries, which are zeros. */
TOKDFA_API void tokdfa_move_pieces(const tokdfa_piece_memory *memory, uint64_t *entries, int64_t n_entries) {
    for (int64_t entry = 0; entry < memory->n_entries; entry += ENTRY) {
        const uint64_t *piece = memory->entries + entry;
        if (piece[1]) {
            const packed_word key = {piece[0], piece[1]};
            uint64_t *place = entries + set_of(n_entries, key);
            while (place[1]) {
                place += ENTRY;
            }
            memcpy(place, piece, ENTRY * sizeof *place);
        }
    }
}
