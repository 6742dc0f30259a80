/* Cutting pieces of characters where no token has the symbols on both sides next to each other; see characters.h. */
#include "../common/pair_slot.h"
#include "characters.h"

/* The first and the last symbol of a character, -1 for one that is unknown and has no symbols of bytes. */
typedef struct {
    int32_t code, first, last;
} character;

ALWAYS_INLINE character character_at(const tokdfa_characters *characters, const uint8_t *text, int64_t *length) {
    const int32_t code = code_point_at(text, length), symbol = symbol_of(characters, code);
    if (LIKELY(symbol >= 0)) {
        return (character){code, symbol, symbol};
    }
    if (characters->n_byte_symbol) {
        return (character){code, characters->byte_symbol[text[0]], characters->byte_symbol[text[*length - 1]]};
    }
    return (character){code, (int32_t)characters->unknown, (int32_t)characters->unknown};
}

/* Whether a token may have two characters side by side, or they are fused. */
ALWAYS_INLINE bool may_join(const tokdfa_characters *characters, character left, character right) {
    if (LIKELY((left.code | right.code) < 0x80)) {
        return characters->joins_ascii[2 * left.code + (right.code >> 6)] >> (right.code & 63) & 1;
    }
    const int64_t key = pair_key(left.last, right.first);
    return left.last < 0 || right.first < 0 ||
           characters->inner[pair_slot(characters->inner, characters->n_inner, key)] == key;
}

/* Cut pieces of valid UTF-8: piece i, which is not empty, is text[bounds[i]] to text[bounds[i + 1]], and the last of
   `n_pieces` ends with the text. `begun` gets where the parts begin, with the event BEGINS, and then the end: room for
   one a byte and one more. `firsts` gets which part is the first of each piece. Return the number of parts. */
TOKDFA_DOOR int64_t tokdfa_cut_characters(const tokdfa_characters *characters, const uint8_t *text, int64_t size,
                                          const int64_t *bounds, int64_t n_pieces, int64_t *begun, int64_t *firsts) {
    int64_t n = 0;
    for (int64_t i = 0; i < n_pieces; i++) {
        const int64_t end = i + 1 < n_pieces ? bounds[i + 1] : size;
        int64_t length, at = bounds[i];
        firsts[i] = n;
        begun[n++] = at << TOKDFA_EVENT_BITS | TOKDFA_BEGINS;
        character left = character_at(characters, text + at, &length);
        for (at += length; at < end; at += length) {
            const character right = character_at(characters, text + at, &length);
            begun[n] = at << TOKDFA_EVENT_BITS | TOKDFA_BEGINS;
            n += !may_join(characters, left, right);
            left = right;
        }
    }
    begun[n] = size << TOKDFA_EVENT_BITS;
    return n;
}
