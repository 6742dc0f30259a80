/* Rank files. */
#ifndef TOKDFA_ENCODE_LINES_H
#define TOKDFA_ENCODE_LINES_H

#include "harness.h"
#include "../../../../tokdfa/kernels/encode/api.h"

/* Lines of base64 and a rank, from any bytes; the ranks read are written again, and read again. */
static void read_ranks(input *in) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    arena memory = {NULL, 0, 0};
    const bool is_raw = take(in) & 1;
    const int64_t most = 3 * left_in(in) + 8;
    char *read = ROOM(&memory, char, most + 32);
    int64_t size = 0;
    while (has_more(in) && size < most) {
        const uint8_t what = take(in);
        if (is_raw) {
            read[size++] = (char)what;
        } else if (what < 0x80) {
            size += sprintf(read + size, "%c%c%c%c", digits[what & 63], digits[take(in) & 63], what & 64 ? '=' : 'B',
                            what & 64 ? '=' : '0');
        } else if (what < 0xE0) {
            size += sprintf(read + size, " %u\n", (unsigned)what * (what & 1 ? 1 : 1000003));
        } else {
            read[size++] = " \n=9A\r\0+"[what & 7];
        }
    }
    uint8_t *data = exactly(&memory, read, size, 1);
    for (int round = 0; round < 2; round++) {
        int64_t n_lines = 1;
        for (int64_t i = 0; i < size; i++) {
            n_lines += data[i] == '\n';
        }
        REQUIRE(tokdfa_count_lines(data, size) == n_lines);
        tokdfa_rank_lines found = {
            .text = ROOM(&memory, uint8_t, 3 * (size / 4) + 3), .offsets = ROOM(&memory, int64_t, n_lines + 1),
            .ranks = ROOM(&memory, int64_t, n_lines), .lines = ROOM(&memory, int64_t, n_lines),
        };
        tokdfa_read_rank_lines(data, size, &found);
        REQUIRE(found.place >= 0 && found.place <= size + 1 && found.n_words <= n_lines);
        const int64_t n = found.n_words - (found.fault != 0);
        const int64_t n_bytes = found.offsets[n];
        char *again = ROOM(&memory, char, 2 * n_bytes + 32 * (n + 1));
        int64_t written = 0, last = 0;
        for (int64_t i = 0; i < n; i++) {
            REQUIRE(found.lines[i] > last && found.ranks[i] >= 0 && found.ranks[i] <= 0xFFFFFFFF);
            last = found.lines[i];
            const uint8_t *word = found.text + found.offsets[i];
            const int64_t length = found.offsets[i + 1] - found.offsets[i];
            REQUIRE(length >= 0);
            for (int64_t k = 0; k < length; k += 3) {
                const uint32_t bits = (uint32_t)word[k] << 16 | (k + 1 < length ? (uint32_t)word[k + 1] << 8 : 0) |
                                      (k + 2 < length ? word[k + 2] : 0);
                again[written++] = digits[bits >> 18];
                again[written++] = digits[bits >> 12 & 63];
                again[written++] = k + 1 < length ? digits[bits >> 6 & 63] : '=';
                again[written++] = k + 2 < length ? digits[bits & 63] : '=';
            }
            written += sprintf(again + written, " %lld\n", (long long)found.ranks[i]);
        }
        REQUIRE(!round || (!found.fault && written == size && !memcmp(again, data, (size_t)size)));
        data = exactly(&memory, again, written, 1);
        size = written;
    }
    give_back(&memory);
}

#endif
