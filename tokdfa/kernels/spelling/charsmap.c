/* Reading a character table of SentencePiece: the words of a trie as Darts-clone writes it, ascending by their
   bytes. */
#include <stdlib.h>

#include "../common/base.h"
#include "api.h"

#define LEAF ((uint32_t)1 << 8)
#define FAR ((uint32_t)1 << 9)
#define VALUE ((uint32_t)0x7FFFFFFF)
#define UNIT_LABEL ((uint32_t)1 << 31 | 0xFF)
#define LABELS 256
enum { SHORT_KEY = 16 };

_Static_assert((int)SHORT_KEY <= (int)TOKDFA_LONGEST_KEY, "a path has so many bytes");

/* How far from a unit its children begin, but for the last byte. */
ALWAYS_INLINE uint32_t offset_of(uint32_t unit) {
    return unit >> 10 << ((unit & FAR) >> 6);
}

/* The children of all units: child[first[o]] to child[first[o + 1]] are those that begin at offset o, their labels
   ascending. */
static bool find_children(const uint32_t *units, int64_t n_units, int32_t *first, int32_t *child) {
    int32_t *by_label = malloc((size_t)n_units * sizeof *by_label), ends[LABELS + 1] = {0};
    if (!by_label) {
        return false;
    }
    int64_t n = 0;
    for (int64_t at = 0; at < n_units; at++) {
        const uint32_t label = units[at] & UNIT_LABEL;
        if (label && label < LABELS) {
            ends[label + 1]++;
        }
    }
    for (int label = 0; label < LABELS; label++) {
        ends[label + 1] += ends[label];
    }
    for (int32_t at = 0; at < n_units; at++) {
        const uint32_t label = units[at] & UNIT_LABEL;
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

/* Mark which code points are words, which are in a longer one but not first, and which are first in a longer one. Each
   of the words, in UTF-8, has a zero byte after it. */
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

/* The states of UTF-8 between bytes: whole; so many bytes to come; or after a lead byte that bounds the next byte. No
   path leads out of the last. */
enum { WHOLE, ONE_MORE, TWO_MORE, THREE_MORE, AFTER_E0, AFTER_ED, AFTER_F0, AFTER_F4, NOT_UTF8, N_UTF8 };

/* The state after each byte, by the state before it.

   PERF: a table without branches; with them, a table of 225,000 words takes 0.5 ms longer. */
typedef uint8_t utf8_table[N_UTF8][LABELS];

static void find_utf8(utf8_table after) {
    static const uint8_t rows[][4] = {
        {WHOLE, 0x00, 0x7F, WHOLE},         {WHOLE, 0xC2, 0xDF, ONE_MORE},      {WHOLE, 0xE0, 0xEF, TWO_MORE},
        {WHOLE, 0xE0, 0xE0, AFTER_E0},      {WHOLE, 0xED, 0xED, AFTER_ED},      {WHOLE, 0xF1, 0xF3, THREE_MORE},
        {WHOLE, 0xF0, 0xF0, AFTER_F0},      {WHOLE, 0xF4, 0xF4, AFTER_F4},      {ONE_MORE, 0x80, 0xBF, WHOLE},
        {TWO_MORE, 0x80, 0xBF, ONE_MORE},   {THREE_MORE, 0x80, 0xBF, TWO_MORE}, {AFTER_E0, 0xA0, 0xBF, ONE_MORE},
        {AFTER_ED, 0x80, 0x9F, ONE_MORE},   {AFTER_F0, 0x90, 0xBF, TWO_MORE},   {AFTER_F4, 0x80, 0x8F, TWO_MORE},
    };
    memset(after, NOT_UTF8, sizeof(utf8_table));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(after[rows[i][0]] + rows[i][1], rows[i][3], (size_t)(rows[i][2] - rows[i][1] + 1));
    }
}

/* A node on the path: its next child and the last one, the number of words so far, and the state of their bytes. */
typedef struct {
    int32_t next, last, n_prefixes;
    uint8_t utf8;
} path_node;

/* Write down the word that is the path to a node and one more byte, if it fits, and count it. */
ALWAYS_INLINE void write_word(tokdfa_charsmap *map, int64_t depth, uint8_t last, uint32_t value) {
    const int64_t size = depth + 1;
    if (map->n_words < map->most_words && map->n_bytes + size < map->most_bytes) {
        uint8_t *text = map->text + map->n_bytes;
        /* PERF: most words are short, and a copy of a fixed size takes half as long. */
        if (LIKELY(depth <= SHORT_KEY && map->n_bytes + SHORT_KEY <= map->most_bytes)) {
            memcpy(text, map->path, SHORT_KEY);
        } else {
            memcpy(text, map->path, (size_t)depth);
        }
        text[depth] = last;
        text[size] = 0;
        map->offsets[map->n_words + 1] = map->n_bytes + size + 1;
        map->values[map->n_words] = value;
    }
    map->n_words++;
    map->n_bytes += size + 1;
}

/* Walk over all paths, given the children of all units. Returns 0, or the reason for stopping. */
static int64_t read_words(tokdfa_charsmap *map, const int32_t *first, const int32_t *child) {
    const uint32_t *units = map->units, root = offset_of(units[0]);
    path_node nodes[TOKDFA_LONGEST_KEY + 2] = {{first[root], first[root + 1], 0, WHOLE}};
    int64_t depth = 0, n_nodes = 1;
    utf8_table after;
    find_utf8(after);
    while (depth >= 0) {
        path_node *node = nodes + depth;
        if (node->next == node->last) {
            depth--;
            continue;
        }
        const int32_t index = child[node->next++];
        const uint32_t unit = units[index], to = (uint32_t)index ^ offset_of(unit);
        const bool is_word = unit & LEAF;
        const uint8_t byte = (uint8_t)unit, utf8 = after[node->utf8][byte];
        const bool is_crowded = node->n_prefixes + is_word > TOKDFA_MOST_PREFIXES;
        if (UNLIKELY(is_crowded || ++n_nodes > TOKDFA_MOST_NODES || depth == TOKDFA_LONGEST_KEY)) {
            map->path[depth] = byte;
            map->n_path = depth + 1;
            return is_crowded ? TOKDFA_CROWDED_TABLE : TOKDFA_LARGE_TABLE;
        }
        if (is_word) {
            map->is_utf8 &= utf8 == WHOLE;
            write_word(map, depth, byte, units[to] & VALUE);
        }
        /* PERF: most nodes have no children: to go there and back, or to read the path just after it was written, takes
           as long as all else. */
        if (first[to] != first[to + 1]) {
            map->path[depth] = byte;
            nodes[++depth] = (path_node){first[to], first[to + 1], node->n_prefixes + is_word, utf8};
        }
    }
    return 0;
}

/* Whether all units that are not values point into the table. */
static bool are_inside(const uint32_t *units, int64_t n_units) {
    uint32_t outside = 0;
    for (int64_t at = 0; at < n_units; at++) {
        const bool is_node = !(units[at] & ~VALUE);
        outside |= is_node & (((uint32_t)at ^ offset_of(units[at])) >= (uint32_t)n_units);
    }
    return !outside;
}

/* Read the words, each followed by a zero byte, and their values. Words that do not fit are only counted. Returns 0;
   TOKDFA_OUTSIDE_TABLE if a unit points outside of the table; TOKDFA_CROWDED_TABLE if more words than are allowed are
   prefixes of each other, TOKDFA_LARGE_TABLE if there are too many nodes, or too deep: ends may be shared, so that
   there may be cycles. The bytes that lead there are then in `path`. */
TOKDFA_API int64_t tokdfa_read_charsmap(tokdfa_charsmap *map) {
    if (!are_inside(map->units, map->n_units)) {
        return TOKDFA_OUTSIDE_TABLE;
    }
    int32_t *first = malloc((size_t)(map->n_units + 2) * sizeof *first);
    int32_t *child = malloc((size_t)map->n_units * sizeof *child);
    map->n_words = map->n_bytes = map->n_path = 0;
    map->is_utf8 = true;
    int64_t status = TOKDFA_NO_MEMORY;
    if (first && child && find_children(map->units, map->n_units, first, child)) {
        status = read_words(map, first, child);
    }
    free(first);
    free(child);
    return status;
}
