/* Reading UTF-8 symbol by symbol. */
#ifndef TOKDFA_SYMBOL_H
#define TOKDFA_SYMBOL_H

#include "../common/base.h"

typedef struct {
    int64_t size; /* the number of its bytes; if it is broken, of the valid ones so far, but at least 1 */
    bool is_broken;
    uint32_t code_point;
} symbol;

/* The symbol at the beginning of `n` bytes, 1 or more. */
ALWAYS_INLINE symbol read_symbol(const uint8_t *at, int64_t n) {
    const uint8_t lead = at[0];
    if (lead < 0x80) {
        return (symbol){1, false, lead};
    }
    const int64_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead < 0xC2 || lead > 0xF4) {
        return (symbol){1, true, 0};
    }
    uint32_t code_point = lead & (0xFFu >> (length + 1));
    for (int64_t k = 1; k < length; k++) {
        const uint8_t low = k > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        const uint8_t high = k > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (k == n || at[k] < low || at[k] > high) {
            return (symbol){k, true, 0};
        }
        code_point = code_point << 6 | (at[k] & 0x3F);
    }
    return (symbol){length, false, code_point};
}

#endif
