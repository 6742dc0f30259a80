/* Taking words apart, as a lifted pre-tokenizer has them: the bytes that end a symbol begun before, the effect of whole
   symbols, and the bytes of a symbol that is cut short. */
#include "../common/base.h"
#include "api.h"

/* A key has the bytes of the head in bits 40 to 63, the bytes of the tail in bits 16 to 39, and one more than the
   number of the effect below, 0 for none. */
enum { HEAD_SHIFT = 40, TAIL_SHIFT = 16, MOST_HEAD = 3 };

/* The flags of a word: no text has it; part of a special token is spelled at its beginning, or a whole one within
   it. */
enum { BAD = 1, SPELLS = 2 };

/* The length of the symbol that begins at `at`, and its code point; 0 if it is cut short by the end, -1 if the bytes
   are not UTF-8. As Python decodes: no overlong forms, no surrogates, nothing above U+10FFFF. */
static int symbol_at(const uint8_t *at, const uint8_t *end, int32_t *code_point) {
    uint8_t lead = *at;
    if (lead < 0x80) {
        *code_point = lead;
        return 1;
    }
    if (lead < 0xC2 || lead > 0xF4) {
        return -1;
    }
    int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80, high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    int32_t point = lead & (0xFF >> (length + 1));
    for (int k = 1; k < length; k++) {
        if (at + k == end) {
            return 0;
        }
        if (at[k] < low || at[k] > high) {
            return -1;
        }
        point = point << 6 | (at[k] & 0x3F);
        low = 0x80;
        high = 0xBF;
    }
    *code_point = point;
    return length;
}

/* Whether the bytes from `begin` to `end` have a whole special token, or begin with the last part of one. */
static bool spells(const int32_t *children, const uint8_t *begin, const uint8_t *end) {
    for (const uint8_t *last = begin + 1; last <= end; last++) {
        int64_t node = 0;
        const uint8_t *byte = last;
        do {
            node = children[256 * node + *--byte];
        } while (node > 0 && byte > begin);
        if (node) {
            return true;
        }
    }
    return false;
}

/* The key of a word, or BAD, or -1 if the effect after some effect is not known yet; that is then noted in the job. */
static int key_of(tokdfa_part_job *job, const uint8_t *begin, const uint8_t *end, uint64_t *key) {
    const uint8_t *at = begin;
    uint64_t head = 0, tail = 0, effect = 0;
    for (; at < end && (*at & 0xC0) == 0x80; at++) {
        if (at - begin == MOST_HEAD) {
            return BAD;
        }
        head = head << 8 | *at;
    }
    while (at < end) {
        int32_t code_point;
        int length = symbol_at(at, end, &code_point);
        if (length < 0) {
            return BAD;
        }
        if (!length) {
            for (; at < end; at++) {
                tail = tail << 8 | *at;
            }
            break;
        }
        int64_t symbol = job->class_of[code_point];
        int32_t after = job->following[(int64_t)effect * job->n_classes + symbol];
        if (after < 0) {
            job->before = (int64_t)effect - 1;
            job->symbol = symbol;
            return -1;
        }
        effect = (uint64_t)after + 1;
        at += length;
    }
    *key = head << HEAD_SHIFT | tail << TAIL_SHIFT | effect;
    return 0;
}

/* Take apart the words from job->word on. Returns 1 when all are done, and 0 if the effect after some effect is not
   known: entry (job->before + 1) * n_classes + job->symbol of `following`. */
TOKDFA_API int tokdfa_take_apart(tokdfa_part_job *job) {
    for (; job->word < job->n_words; job->word++) {
        const uint8_t *begin = job->text + job->offsets[job->word], *end = job->text + job->offsets[job->word + 1];
        uint64_t key = 0;
        int told = BAD;
        if (!job->skipped[job->word] && begin < end) {
            told = key_of(job, begin, end, &key);
            if (told < 0) {
                return 0;
            }
        }
        job->key[job->word] = key;
        job->told[job->word] = (uint8_t)(told ? told : spells(job->children, begin, end) ? SPELLS : 0);
    }
    return 1;
}

/* Number keys in the order in which they first occur. `known` has -1 in each of its n_known slots, a power of two and
   at least twice `most`. Returns the number of distinct keys; -1 if there are more than `most`. */
TOKDFA_API int64_t tokdfa_number_keys(const uint64_t *keys, int64_t n, int32_t *known, int64_t n_known,
                                       uint64_t *distinct, int64_t most, int32_t *number) {
    int64_t n_distinct = 0;
    uint64_t mask = (uint64_t)n_known - 1;
    for (int64_t i = 0; i < n; i++) {
        uint64_t place = (keys[i] ^ keys[i] >> 29) * 0x9E3779B97F4A7C15u >> 32 & mask;
        while (known[place] >= 0 && distinct[known[place]] != keys[i]) {
            place = (place + 1) & mask;
        }
        if (known[place] < 0) {
            if (n_distinct == most) {
                return -1;
            }
            distinct[n_distinct] = keys[i];
            known[place] = (int32_t)n_distinct++;
        }
        number[i] = known[place];
    }
    return n_distinct;
}

/* The code points of the first and the last symbol of each word; -1 where it is cut. */
TOKDFA_API void tokdfa_outer_symbols(const uint8_t *text, const int64_t *offsets, int64_t n_words, int32_t *first,
                                      int32_t *last) {
    for (int64_t word = 0; word < n_words; word++) {
        const uint8_t *begin = text + offsets[word], *end = text + offsets[word + 1], *at = end;
        first[word] = last[word] = -1;
        if (begin == end) {
            continue;
        }
        int32_t code_point;
        if (symbol_at(begin, end, &code_point) > 0) {
            first[word] = code_point;
        }
        do {
            at--;
        } while (at > begin && (*at & 0xC0) == 0x80);
        if (symbol_at(at, end, &code_point) == end - at) {
            last[word] = code_point;
        }
    }
}
