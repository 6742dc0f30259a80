/* Where texts of known numbers of symbols begin and end in their UTF-8. */
#include "../common/base.h"
#include "door.h"

#define HIGH_BITS 0x8080808080808080u

/* The number of symbols that begin in eight bytes. */
ALWAYS_INLINE int64_t count_beginnings(uint64_t eight) {
    /* A byte that continues a symbol has its highest bit set, and the next one not. */
    return 8 - count_ones(eight & ~(eight << 1) & HIGH_BITS);
}

/* Write to offsets[i + 1] where text i ends, which is lengths[i] symbols after text i - 1; offsets[0] is 0. Nothing goes
   past the end, `size`. */
TOKDFA_DOOR void tokdfa_byte_offsets(const uint8_t *text, int64_t size, const int64_t *lengths, int64_t n_lengths,
                                     int64_t *offsets) {
    int64_t at = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i < n_lengths; i++) {
        int64_t rest = lengths[i];
        while (rest >= 8 && at + 8 <= size) {
            rest -= count_beginnings(load_64(text + at));
            at += 8;
        }
        while (rest > 0 && at < size) {
            rest -= (text[at++] & 0xC0) != 0x80;
        }
        while (at < size && (text[at] & 0xC0) == 0x80) {
            at++;
        }
        offsets[i + 1] = at;
    }
}
