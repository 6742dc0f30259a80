/* A segment of UTF-8 written down such that each byte says which class of symbols it is.

   A symbol of ASCII is written as it is, another one as its class in its first byte and CONTINUATION in the others. So
   a machine over the classes can read bytes, two at a time, with symbols of any length. */
#ifndef TOKDFA_ENCODE_CLASS_STREAM_H
#define TOKDFA_ENCODE_CLASS_STREAM_H

#include "../common/byte_bits.h"
#include "symbols.h"

#define CONTINUATION TOKDFA_CONTINUATION

/* Whether there is something else than ASCII in a text. */
ALWAYS_INLINE bool has_other_symbols(const uint8_t *text, int64_t size) {
    uint8_t any = 0;
    for (int64_t at = 0; at < size; at++) {
        any |= text[at];
    }
    return any >= 0x80;
}

/* The number of the first `n` bytes of a text that are whole symbols, if it is UTF-8; `n` if that leaves nothing. */
ALWAYS_INLINE int64_t whole_symbols(const uint8_t *text, int64_t n) {
    for (int64_t k = 1; k <= 3 && k < n; k++) {
        const uint8_t byte = text[n - k];
        if (byte >= 0xC0) {
            return n - (k < (byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4) ? k : 0);
        }
        if (byte < 0x80) {
            break;
        }
    }
    return n;
}

/* The offset of the first symbol of a text of `size` bytes that is cut short or invalid; if there is none before
   `stop`, of the first symbol from there on. `*length` gets the length of the last symbol read, as `read_symbol` has
   it. */
NEVER_INLINE int64_t valid_bytes(const uint8_t *text, int64_t size, int64_t stop, int64_t *length) {
    int64_t at = 0;
    while (at < stop) {
        uint32_t point;
        *length = text[at] < 0x80 ? 1 : read_symbol(text, at, size, &point);
        if (*length <= 0) {
            break;
        }
        at += *length;
    }
    return at;
}

/* The number of symbols per block with offsets written without checking how many there are. */
#define SYMBOLS_AT_ONCE 2

/* Write down a segment, of LONGEST_PART bytes at most, with symbols that are not ASCII; the buffer has WORD bytes more,
   which are not looked at. Returns whether it is UTF-8 and ends with a symbol. */
ALWAYS_INLINE bool write_classes(const tokdfa_splitting *splitting, const uint8_t *text, int64_t size, uint8_t *written) {
    uint16_t places[TOKDFA_LONGEST_PART + SYMBOLS_AT_ONCE];
    int64_t n_more = 0, n_places = 0;
    for (int64_t at = 0; at < size; at++) {
        written[at] = (text[at] & 0xC0) == 0x80 ? CONTINUATION : text[at];
    }
    memset(written + size, 0, WORD);
    for (int64_t block = 0; block < size; block += WORD) {
        uint64_t firsts = highest_bytes(written + block);
        uint16_t *place = places + n_places;
        n_more += count_ones(high_bytes(written + block));
        n_places += count_ones(firsts);
        /* In most blocks there are few, and no predictor can know whether there is one. */
        for (int i = 0; i < SYMBOLS_AT_ONCE; i++) {
            *place++ = (uint16_t)(block + trailing_zeros(firsts));
            firsts &= firsts - 1;
        }
        for (; firsts; firsts &= firsts - 1) {
            *place++ = (uint16_t)(block + trailing_zeros(firsts));
        }
    }
    for (int64_t i = 0; i < n_places; i++) {
        const int64_t at = places[i];
        uint32_t point;
        const int64_t length = read_symbol(text, at, size, &point);
        if (UNLIKELY(length <= 0)) {
            return false;
        }
        written[at] = (uint8_t)(CONTINUATION + 1 + class_of(splitting, point));
        n_more -= length;
    }
    /* As many bytes continue symbols as should. */
    return n_more == 0;
}

#endif
