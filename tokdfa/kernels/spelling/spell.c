/* Spelling numbered words, one after the other. */
#include "../common/base.h"
#include "door.h"

/* Most words are shorter; where there is room, these are copied without looking at their lengths. */
enum { SHORT = 16 };

/* The length of the word of each number, 0 for negative ones. Returns the sum. */
TOKDFA_DOOR int64_t tokdfa_spelled_lengths(const int64_t *offsets, const int32_t *numbers, int64_t n, int64_t *lengths) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t number = numbers[i];
        lengths[i] = number < 0 ? 0 : offsets[number + 1] - offsets[number];
        sum += lengths[i];
    }
    return sum;
}

/* Write the words of the numbers, n_spelled bytes in all. */
TOKDFA_DOOR void tokdfa_spell(const uint8_t *text, int64_t n_text, const int64_t *offsets, const int32_t *numbers,
                              int64_t n, uint8_t *spelled, int64_t n_spelled) {
    int64_t written = 0;
    for (int64_t i = 0; i < n; i++) {
        if (numbers[i] < 0) {
            continue;
        }
        const int64_t begin = offsets[numbers[i]], length = offsets[numbers[i] + 1] - begin;
        if (length <= SHORT && begin + SHORT <= n_text && written + SHORT <= n_spelled) {
            memcpy(spelled + written, text + begin, SHORT);
        } else if (length > 0) {
            memcpy(spelled + written, text + begin, (size_t)length);
        }
        written += length;
    }
}
