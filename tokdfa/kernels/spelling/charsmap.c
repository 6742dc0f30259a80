/* Reading a character table of SentencePiece: the words of a trie as Darts-clone writes it, ascending by their bytes. */
#include <stdlib.h>

#include "../common/base.h"
#include "api.h"

#define LEAF ((uint32_t)1 << 8)
#define FAR ((uint32_t)1 << 9)
#define VALUE ((uint32_t)0x7FFFFFFF)
#define LABEL ((uint32_t)1 << 31 | 0xFF)
#define LABELS 256

/* How far from the place of a unit its children begin, but for the last byte. */
ALWAYS_INLINE uint32_t offset_of(uint32_t unit) {
    return unit >> 10 << ((unit & FAR) >> 6);
}

/* The children of all places: of those that begin at offset o, child[first[o]] to child[first[o + 1]], their labels
   ascending. */
static bool find_children(const uint32_t *units, int64_t n_units, int32_t *first, int32_t *child) {
    int32_t *by_label = malloc((size_t)n_units * sizeof *by_label), ends[LABELS + 1] = {0};
    if (!by_label) {
        return false;
    }
    int64_t n = 0;
    for (int64_t at = 0; at < n_units; at++) {
        const uint32_t label = units[at] & LABEL;
        if (label && label < LABELS) {
            ends[label + 1]++;
        }
    }
    for (int label = 0; label < LABELS; label++) {
        ends[label + 1] += ends[label];
    }
    for (int32_t at = 0; at < n_units; at++) {
        const uint32_t label = units[at] & LABEL;
        if (label && label < LABELS) {
            by_label[ends[label]++] = at;
            n++;
        }
    }
    memset(first, 0, (size_t)(n_units + 2) * sizeof *first);
    for (int64_t i = 0; i < n; i++) {
        first[(by_label[i] ^ (int32_t)(units[by_label[i]] & 0xFF)) + 2]++;
    }
    for (int64_t at = 0; at < n_units; at++) {
        first[at + 2] += first[at + 1];
    }
    for (int64_t i = 0; i < n; i++) {
        child[first[(by_label[i] ^ (int32_t)(units[by_label[i]] & 0xFF)) + 1]++] = by_label[i];
    }
    free(by_label);
    return true;
}

/* Mark which code points are words, which are in a longer one but not first, and which are first in a longer one. Each of
   the words, in UTF-8, has a zero byte after it. */
TOKDFA_API void tokdfa_mark_characters(const uint8_t *text, const int64_t *offsets, int64_t n_words, uint8_t *alone,
                                        uint8_t *inside, uint8_t *first) {
    for (int64_t i = 0; i < n_words; i++) {
        const uint8_t *at = text + offsets[i], *const end = text + offsets[i + 1] - 1;
        for (bool is_first = true; at < end; is_first = false) {
            const int64_t size = *at < 0xC0 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
            uint32_t code = size == 1 ? *at : *at & (0x7Fu >> size);
            if (size > end - at) {
                break;
            }
            for (int64_t k = 1; k < size; k++) {
                code = code << 6 | (at[k] & 0x3F);
            }
            at += size;
            if (code <= TOKDFA_LAST_CODE_POINT) {
                (is_first ? at == end ? alone : first : inside)[code] = 1;
            }
        }
    }
}

/* Read the words, each of which is followed by a zero byte, and their values. What does not fit is counted only.
   Returns 0; TOKDFA_CROWDED_TABLE if more words than are allowed are prefixes of each other, TOKDFA_LARGE_TABLE if there
   are too many nodes, or too deep: ends may be shared, so that there may be cycles. The bytes that lead there are then
   in `path`. All units point into the table. */
TOKDFA_API int64_t tokdfa_read_charsmap(tokdfa_charsmap *map) {
    const uint32_t *units = map->units;
    int32_t *first = malloc((size_t)(map->n_units + 2) * sizeof *first);
    int32_t *child = malloc((size_t)map->n_units * sizeof *child);
    if (!first || !child || !find_children(units, map->n_units, first, child)) {
        free(first);
        free(child);
        return TOKDFA_NO_MEMORY;
    }
    /* For each depth the next child and the last one, and the number of words so far. */
    int32_t next[TOKDFA_LONGEST_KEY + 2], last[TOKDFA_LONGEST_KEY + 2], n_prefixes[TOKDFA_LONGEST_KEY + 2];
    int64_t status = 0, depth = 0, n_nodes = 1;
    map->n_words = map->n_bytes = map->n_path = 0;
    const uint32_t root = offset_of(units[0]);
    next[0] = first[root];
    last[0] = first[root + 1];
    n_prefixes[0] = 0;
    while (depth >= 0) {
        if (next[depth] == last[depth]) {
            depth--;
            continue;
        }
        const int32_t place = child[next[depth]++];
        const uint32_t unit = units[place], to = (uint32_t)place ^ offset_of(unit);
        const bool is_word = unit & LEAF;
        map->path[depth] = (uint8_t)unit;
        map->n_path = depth + 1;
        if (n_prefixes[depth] + is_word > TOKDFA_MOST_PREFIXES) {
            status = TOKDFA_CROWDED_TABLE;
            break;
        }
        if (++n_nodes > TOKDFA_MOST_NODES || depth == TOKDFA_LONGEST_KEY) {
            status = TOKDFA_LARGE_TABLE;
            break;
        }
        n_prefixes[depth + 1] = n_prefixes[depth] + is_word;
        depth++;
        if (is_word) {
            if (map->n_words < map->room_for_words && map->n_bytes + depth < map->room_for_bytes) {
                memcpy(map->text + map->n_bytes, map->path, (size_t)depth);
                map->text[map->n_bytes + depth] = 0;
                map->offsets[map->n_words + 1] = map->n_bytes + depth + 1;
                map->values[map->n_words] = units[to] & VALUE;
            }
            map->n_words++;
            map->n_bytes += depth + 1;
        }
        next[depth] = first[to];
        last[depth] = first[to + 1];
    }
    free(first);
    free(child);
    return status;
}
