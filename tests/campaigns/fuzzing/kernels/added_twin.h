/* Added tokens from bytes, their tables, and finding them by definition: each token at each place. */
#ifndef TOKDFA_ADDED_TWIN_H
#define TOKDFA_ADDED_TWIN_H

#include "../../../../tokdfa/kernels/encode/api.h"
#include "harness.h"

enum { MOST_ADDED = 6, LONGEST_ADDED = 9, FIRST_ADDED_ID = 100000 };

typedef struct {
    int n;
    const uint8_t *words[MOST_ADDED];
    int64_t lengths[MOST_ADDED];
    int levels[MOST_ADDED];
    uint8_t *flags;
    tokdfa_added_level level_tables[2];
    tokdfa_added_tokens tables;
    int64_t n_windows;
} added_twin;

static bool is_space_of(uint8_t byte) {
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static bool is_word_of(uint8_t byte) {
    return byte == '_' || (byte >= '0' && byte <= '9') || ((byte | 32) >= 'a' && (byte | 32) <= 'z');
}

/* A trie of one level under construction; see added.py. */
typedef struct {
    const added_twin *of;
    int order[MOST_ADDED]; /* its tokens, ascending */
    int32_t nodes[TOKDFA_NODE * (2 * MOST_ADDED + 1)], children[256 * MOST_ADDED * 2 + 1];
    uint8_t labels[MOST_ADDED * LONGEST_ADDED + 1];
    int32_t n_nodes, n_children, n_labels;
} added_trie;

static int32_t add_node(added_trie *trie, int begin, int end, int64_t depth) {
    const uint8_t *first = trie->of->words[trie->order[begin]], *last = trie->of->words[trie->order[end - 1]];
    const int64_t first_length = trie->of->lengths[trie->order[begin]];
    const int64_t last_length = trie->of->lengths[trie->order[end - 1]];
    int32_t *node = trie->nodes + TOKDFA_NODE * trie->n_nodes++;
    const int32_t number = trie->n_nodes - 1;
    node[0] = trie->n_labels;
    for (; depth < first_length && depth < last_length && first[depth] == last[depth]; depth++) {
        trie->labels[trie->n_labels++] = first[depth];
    }
    node[1] = trie->n_labels - node[0];
    node[2] = depth == first_length ? trie->order[begin] : -1;
    begin += depth == first_length;
    node[5] = trie->n_children;
    if (begin < end) {
        const int32_t low = trie->of->words[trie->order[begin]][depth];
        node[3] = low;
        node[4] = last[depth] - low + 1;
        trie->n_children += node[4];
        for (int stop = begin; begin < end; begin = stop) {
            const uint8_t byte = trie->of->words[trie->order[begin]][depth];
            while (stop < end && trie->of->words[trie->order[stop]][depth] == byte) {
                stop++;
            }
            trie->children[node[5] + byte - low] = add_node(trie, begin, stop, depth + 1);
        }
    }
    return number;
}

static int compare_words(const added_twin *added, int a, int b) {
    const int64_t n = added->lengths[a] < added->lengths[b] ? added->lengths[a] : added->lengths[b];
    const int found = memcmp(added->words[a], added->words[b], (size_t)n);
    return found ? found : added->lengths[a] < added->lengths[b] ? -1 : added->lengths[a] > added->lengths[b];
}

/* Take the labels of two bytes or more as long ones; see added.py. */
static void add_windows(added_twin *added, const added_trie *trie, tokdfa_added_level *level, arena *memory) {
    int32_t *window_of = ROOM(memory, int32_t, trie->n_nodes), *overlaps = ZEROS(memory, int32_t, trie->n_labels);
    for (int32_t i = 0; i < trie->n_nodes; i++) {
        const int32_t begin = trie->nodes[TOKDFA_NODE * i], size = trie->nodes[TOKDFA_NODE * i + 1];
        const uint8_t *label = trie->labels + begin;
        window_of[i] = size < 2 ? -1 : (int32_t)added->n_windows++;
        for (int32_t at = 0; at < size; at++) {
            int32_t same = 0;
            while (at + same < size && label[at + same] == label[same]) {
                same++;
            }
            overlaps[begin + at] = same;
        }
    }
    level->window_of = window_of;
    level->n_window_of = trie->n_nodes;
    level->overlaps = overlaps;
}

/* The tables of a level; NULL without tokens. */
static const tokdfa_added_level *build_level(added_twin *added, int level, arena *memory) {
    added_trie trie = {.of = added, .n_children = 1};
    uint8_t *filter = ZEROS(memory, uint8_t, 576);
    int n = 0;
    for (int i = 0; i < added->n; i++) {
        if (added->levels[i] != level) {
            continue;
        }
        int place = n++;
        for (; place > 0 && compare_words(added, trie.order[place - 1], i) > 0; place--) {
            trie.order[place] = trie.order[place - 1];
        }
        trie.order[place] = i;
        for (int next = 0; next < 256; next++) {
            const uint8_t both[] = {added->words[i][0], (uint8_t)next};
            for (int k = 0; k < 2 && (added->lengths[i] == 1 || added->words[i][1] == next); k++) {
                filter[256 * k + both[k]] |= 1 << i;
                filter[512 + 32 * k + (both[k] & 15)] |= 1 << i;
                filter[528 + 32 * k + (both[k] >> 4)] |= 1 << i;
            }
        }
    }
    if (!n) {
        return NULL;
    }
    add_node(&trie, 0, n, 0);
    added->level_tables[level] = (tokdfa_added_level){
        filter, exactly(memory, trie.nodes, TOKDFA_NODE * trie.n_nodes, sizeof *trie.nodes),
        exactly(memory, trie.children, trie.n_children, sizeof *trie.children),
        exactly(memory, trie.labels, trie.n_labels, 1), NULL, 0, NULL,
    };
    if (added->n % 2) {
        add_windows(added, &trie, &added->level_tables[level], memory);
    }
    return &added->level_tables[level];
}

/* Tokens that are parts of a text, of whole symbols; of a text of ASCII, also such that strip and single words. */
static void read_added(added_twin *added, input *in, const uint8_t *text, int64_t size, arena *memory) {
    static const int32_t space[] = {'\t', '\n', '\v', '\f', '\r', ' '};
    const int wanted = (int)below(in, MOST_ADDED + 1);
    bool is_ascii = true;
    for (int64_t i = 0; i < size; i++) {
        is_ascii = is_ascii && text[i] < 0x80;
    }
    memset(added, 0, sizeof *added);
    added->flags = ZEROS(memory, uint8_t, MOST_ADDED);
    int32_t *ids = ROOM(memory, int32_t, MOST_ADDED);
    for (int i = 0; i < wanted && size; i++) {
        int64_t begin = below(in, size < 200 ? size : 200), end = begin + 1 + below(in, LONGEST_ADDED);
        const int how = take(in);
        end = end < size ? end : size;
        while (begin < end && (text[begin] & 0xC0) == 0x80) {
            begin++;
        }
        while (end > begin && end < size && (text[end] & 0xC0) == 0x80) {
            end--;
        }
        bool is_new = begin < end;
        const int k = added->n;
        added->words[k] = exactly(memory, text + begin, end - begin, 1);
        added->lengths[k] = end - begin;
        added->levels[k] = how & 1;
        for (int j = 0; j < k; j++) {
            is_new = is_new && (added->levels[j] != added->levels[k] || compare_words(added, j, k));
        }
        if (is_new) {
            added->flags[k] = is_ascii && how & 2 ? how >> 4 : 0;
            ids[k] = FIRST_ADDED_ID + k;
            added->n++;
        }
    }
    uint64_t *word = ZEROS(memory, uint64_t, 2);
    for (int byte = 0; byte < 128; byte++) {
        word[byte / 64] |= (uint64_t)is_word_of((uint8_t)byte) << byte % 64;
    }
    const tokdfa_added_level *outer = build_level(added, 0, memory), *inner = build_level(added, 1, memory);
    added->tables = (tokdfa_added_tokens){outer, inner, ids, added->flags, space, 6, word, 2};
}

/* A search that has not begun. */
static tokdfa_added_scan scan_of(const added_twin *added, arena *memory) {
    const int64_t n = 2 * added->n_windows;
    return (tokdfa_added_scan){.outer = {.end = -1}, .windows = ROOM(memory, int64_t, n), .n_windows = n};
}

/* The tokens of a level in the text from one place to another: start, stop and token. Returns their number. */
static int64_t find_level(const added_twin *added, int level, const uint8_t *text, int64_t begin, int64_t end,
                          int64_t *spans) {
    int64_t n = 0, done = begin;
    for (int64_t at = begin; at < end;) {
        int best = -1;
        for (int k = 0; k < added->n; k++) {
            const bool is_longer = best < 0 || added->lengths[k] > added->lengths[best];
            if (added->levels[k] == level && is_longer && added->lengths[k] <= end - at &&
                !memcmp(added->words[k], text + at, (size_t)added->lengths[k])) {
                best = k;
            }
        }
        if (best < 0) {
            at++;
            continue;
        }
        int64_t start = at, stop = at + added->lengths[best];
        const int flags = added->flags[best];
        at = stop;
        const bool touches = (start > begin && is_word_of(text[start - 1])) || (stop < end && is_word_of(text[stop]));
        if (flags & TOKDFA_SINGLE_WORD && touches) {
            continue;
        }
        while (flags & TOKDFA_STRIPS_LEFT && start > done && is_space_of(text[start - 1])) {
            start--;
        }
        start = flags & TOKDFA_STRIPS_LEFT && start < done ? done : start;
        while (flags & TOKDFA_STRIPS_RIGHT && stop < end && is_space_of(text[stop])) {
            stop++;
        }
        if (start == stop) {
            continue;
        }
        spans[3 * n] = start, spans[3 * n + 1] = stop, spans[3 * n + 2] = best;
        n++;
        done = stop;
    }
    return n;
}

/* Where a text that continues may end within a token of level 0, from the end of another one; its size if nowhere. */
static int64_t find_open(const added_twin *added, const uint8_t *text, int64_t size, const int64_t *spans, int64_t n) {
    for (int64_t at = 0, i = 0; at < size; at++) {
        for (int k = 0; k < added->n; k++) {
            if (!added->levels[k] && added->lengths[k] > size - at &&
                !memcmp(added->words[k], text + at, (size_t)(size - at))) {
                return at;
            }
        }
        if (i < n && at == spans[3 * i]) {
            at = spans[3 * i++ + 1] - 1;
        }
    }
    return size;
}

/* The tokens of both levels; returns their number, -1 if one would end before it starts, which no tokenizer has. */
static int64_t find_naively(const added_twin *added, const uint8_t *text, int64_t begin, int64_t end, int64_t *outer,
                            int64_t *spans) {
    const int64_t n_outer = find_level(added, 0, text, begin, end, outer);
    int64_t n = 0, at = begin;
    for (int64_t i = 0; i <= n_outer; i++) {
        const int64_t stop = i < n_outer ? outer[3 * i] : end;
        n += at < stop ? find_level(added, 1, text, at, stop, spans + 3 * n) : 0;
        if (i < n_outer) {
            memcpy(spans + 3 * n++, outer + 3 * i, 3 * sizeof *spans);
            at = outer[3 * i + 1];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        if (spans[3 * i] >= spans[3 * i + 1]) {
            return -1;
        }
    }
    return n;
}

#endif
