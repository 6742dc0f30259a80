/* Reading lines of a base64 word, a space and a rank. */
#include "../common/base.h"
#include "api.h"

#define LARGEST_RANK 0xFFFFFFFF

/* Faults of a line, in the order of the messages that the caller has for them. */
enum { NO_FAULT, NOT_BASE64, BAD_PADDING, NO_WORD, NO_SPACE, NO_RANK, AFTER_RANK, HUGE_RANK };

static const char digits_of_base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The number of lines; the last one may have no end. */
TOKDFA_API int64_t tokdfa_count_lines(const uint8_t *data, int64_t size) {
    int64_t n_lines = 1;
    for (int64_t i = 0; i < size; i++) {
        n_lines += data[i] == '\n';
    }
    return n_lines;
}

/* An offset in the data, and the words and ranks read. */
typedef struct {
    const uint8_t *data;
    int64_t size, at;
    tokdfa_rank_lines *found;
    int64_t end; /* of the text of the words */
} reader;

static bool is_at(const reader *r, uint8_t byte) {
    return r->at < r->size && r->data[r->at] == byte;
}

/* Read a rank and the end of the line; return the fault. */
static int read_rank(reader *r, int64_t *rank) {
    const int64_t start = r->at;
    *rank = 0;
    while (r->at < r->size && r->data[r->at] >= '0' && r->data[r->at] <= '9' && *rank <= LARGEST_RANK) {
        *rank = 10 * *rank + r->data[r->at++] - '0';
    }
    if (*rank > LARGEST_RANK) {
        r->at = start;
        return HUGE_RANK;
    }
    if (r->at == start) {
        return NO_RANK;
    }
    if (r->at < r->size && r->data[r->at] != '\n') {
        return AFTER_RANK;
    }
    r->at++;
    return NO_FAULT;
}

/* Read a line that is not empty; return the fault. */
static int read_line(reader *r, const int8_t *six_bits, int64_t *rank) {
    const int64_t start = r->at;
    uint32_t bits = 0;
    int n_bits = 0;
    int64_t padding = 0;
    for (; r->at < r->size && six_bits[r->data[r->at]] >= 0; r->at++) {
        bits = (bits << 6 | (uint32_t)six_bits[r->data[r->at]]) & 0xFFFF;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            r->found->text[r->end++] = (uint8_t)(bits >> n_bits);
        }
    }
    const int64_t digits = r->at - start;
    for (; is_at(r, '='); r->at++) {
        padding++;
    }
    if (digits == 0 && padding == 0 && is_at(r, ' ')) {
        return NO_WORD;
    }
    if (r->at < r->size && !is_at(r, ' ') && !is_at(r, '\n')) {
        return NOT_BASE64;
    }
    if (!is_at(r, ' ')) {
        return NO_SPACE;
    }
    /* Padding alone is the empty word. */
    if (digits && (digits % 4 == 1 || padding != (4 - digits % 4) % 4 || bits & ((1u << n_bits) - 1))) {
        r->at = start;
        return BAD_PADDING;
    }
    r->at++;
    return read_rank(r, rank);
}

/* Read every line that is not empty, up to the first fault. The buffers hold three bytes of text for each four of the
   data and three more, a rank and a line for each line, and one offset more. */
TOKDFA_API void tokdfa_read_rank_lines(const uint8_t *data, int64_t size, tokdfa_rank_lines *found) {
    int8_t six_bits[256];
    memset(six_bits, -1, sizeof six_bits);
    for (int i = 0; i < 64; i++) {
        six_bits[(uint8_t)digits_of_base64[i]] = (int8_t)i;
    }
    reader r = {data, size, 0, found, 0};
    int64_t line = 0;
    found->n_words = found->fault = found->offsets[0] = 0;
    while (r.at < size && !found->fault) {
        line++;
        if (data[r.at] == '\n') {
            r.at++;
            continue;
        }
        int64_t rank = 0;
        found->fault = read_line(&r, six_bits, &rank);
        found->lines[found->n_words] = line;
        found->ranks[found->n_words] = found->fault ? 0 : rank;
        found->offsets[++found->n_words] = r.end;
    }
    found->place = r.at;
}
