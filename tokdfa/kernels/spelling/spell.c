/* Spelling numbered words, one after the other, and reading words that are spelled in the byte alphabet. */
#include "../common/base.h"
#include "api.h"

/* Most words are shorter; where they fit, these are copied without looking at their lengths. */
enum { SHORT_WORD = 16 };

/* The length of the word of each number, 0 for negative ones. Returns the sum. */
TOKDFA_API int64_t tokdfa_spelled_lengths(const int64_t *offsets, const int32_t *numbers, int64_t n, int64_t *lengths) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t number = numbers[i];
        lengths[i] = number < 0 ? 0 : offsets[number + 1] - offsets[number];
        sum += lengths[i];
    }
    return sum;
}

/* Write the words of the numbers, n_spelled bytes in all. */
TOKDFA_API void tokdfa_spell(const uint8_t *text, int64_t n_text, const int64_t *offsets, const int32_t *numbers,
                              int64_t n, uint8_t *spelled, int64_t n_spelled) {
    int64_t written = 0;
    for (int64_t i = 0; i < n; i++) {
        if (numbers[i] < 0) {
            continue;
        }
        const int64_t begin = offsets[numbers[i]], length = offsets[numbers[i] + 1] - begin;
        if (length <= SHORT_WORD && begin + SHORT_WORD <= n_text && written + SHORT_WORD <= n_spelled) {
            memcpy(spelled + written, text + begin, SHORT_WORD);
        } else if (length > 0) {
            memcpy(spelled + written, text + begin, (size_t)length);
        }
        written += length;
    }
}

/* Read words in UTF-8. A code point represents the byte byte_of[code point], -1 for none. Writes the bytes of all
   words, one after the other. A word with a code point that represents no byte is foreign, and has no bytes. Returns
   the number of bytes, at most the number of bytes of the words. */
TOKDFA_API int64_t tokdfa_read_letters(const tokdfa_word_table *words, const int32_t *byte_of, int64_t n_byte_of,
                                        uint8_t *bytes, int64_t *offsets, uint8_t *foreign) {
    int64_t written = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i + 1 < words->n_offsets; i++) {
        const uint8_t *at = words->text + words->offsets[i];
        const uint8_t *end = words->text + words->offsets[i + 1] - words->gap;
        const int64_t begin = written;
        foreign[i] = false;
        while (at < end) {
            int64_t code = *at++;
            if (code >= 0xC0 && code < 0xE0 && at < end) {
                code = (code & 0x1F) << 6 | (*at++ & 0x3F);
            } else if (code >= 0x80) {
                code = n_byte_of;
            }
            if (code >= n_byte_of || byte_of[code] < 0) {
                foreign[i] = true;
                written = begin;
                break;
            }
            bytes[written++] = (uint8_t)byte_of[code];
        }
        offsets[i + 1] = written;
    }
    return written;
}
