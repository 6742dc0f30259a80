/* Taking words apart, against definitions. */
#ifndef TOKDFA_WALK_PARTS_H
#define TOKDFA_WALK_PARTS_H

#include "walk_machine.h"

/* The classes of code points, made once for each number of them. */
static uint16_t classes[MOST_CLASSES + 1][N_CODE_POINTS];

__attribute__((constructor)) static void number_code_points(void) {
    for (int n = 1; n <= MOST_CLASSES; n++) {
        for (int point = 0; point < N_CODE_POINTS; point++) {
            classes[n][point] = (uint16_t)((point ^ point >> 7) % n);
        }
    }
}

/* The effect after another one, and a symbol: one of many, or of few. */
static int64_t effect_after(int64_t before, int64_t symbol, int64_t many) {
    return (before * 7 + 3 * symbol + 8) % many;
}

/* The length of the symbol at a place and its code point; 0 if it is cut short, -1 if it is none. */
static int decode(const uint8_t *at, int64_t left, int64_t *point) {
    const int length = at[0] < 0x80 ? 1 : at[0] < 0xC0 ? -1 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF8 ? 4 : -1;
    if (length < 0) {
        return -1;
    }
    static const int64_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    /* All ways in which what is missing may come. */
    int64_t low = length == 1 ? at[0] : at[0] & (0xFF >> (length + 1)), high = low;
    for (int k = 1; k < length; k++) {
        const bool is_there = k < left;
        if (is_there && (at[k] & 0xC0) != 0x80) {
            return -1;
        }
        low = low << 6 | (is_there ? at[k] & 0x3F : 0);
        high = high << 6 | (is_there ? at[k] & 0x3F : 0x3F);
    }
    bool any = false;
    for (int64_t value = low; value <= high && !any; value++) {
        any = value >= least[length] && value < N_CODE_POINTS && !(value >= 0xD800 && value < 0xE000);
        value = any || value + 1 >= least[length] ? value : least[length] - 1;
        value = any || value < 0xD800 || value >= 0xDFFF ? value : 0xDFFF;
    }
    if (!any) {
        return -1;
    }
    *point = low;
    return length <= left ? length : 0;
}

static void take_words_apart(const machine *m, input *in) {
    arena memory = {NULL, 0, 0};
    const int64_t n_classes = between(in, 1, MOST_CLASSES), many = take(in) & 1 ? 5 : 300, most = take(in) & 7;
    const int64_t n_words = below(in, 40);
    int64_t *offsets = ZEROS(&memory, int64_t, n_words + 1);
    for (int64_t i = 0; i < n_words; i++) {
        offsets[i + 1] = offsets[i] + take(in) % 12;
    }
    const int64_t size = offsets[n_words];
    uint8_t *read = ROOM(&memory, uint8_t, size);
    const int64_t n = read_text(in, m->d, read, size);
    memset(read + n, 0xF0, (size_t)(size - n));
    uint8_t *text = exactly(&memory, read, size, 1), *skipped = ROOM(&memory, uint8_t, n_words);
    for (int64_t i = 0; i < n_words; i++) {
        skipped[i] = size && text[(i * 5 + 1) % size] % 11 == 0;
    }
    uint64_t *keys = ROOM(&memory, uint64_t, n_words);
    uint8_t *told = ROOM(&memory, uint8_t, n_words);
    int64_t room = 2;
    tokdfa_part_job job = {
        .text = text, .offsets = offsets, .n_words = n_words, .skipped = skipped, .class_of = classes[n_classes],
        .n_classes = n_classes, .children = m->walker.children, .key = keys, .told = told,
    };
    int32_t *following = MINUS_ONES(&memory, int32_t, room * n_classes);
    for (bool done = false; !done;) {
        job.following = following;
        int64_t effect = 0;
        while (effect + 1 < room && !done) {
            done = tokdfa_take_apart(&job) != 0;
            if (!done) {
                REQUIRE(job.before + 1 < room && job.symbol < n_classes);
                effect = effect_after(job.before, job.symbol, many);
                following[(job.before + 1) * n_classes + job.symbol] = (int32_t)effect;
            }
        }
        if (!done) {
            const int64_t larger = 2 * (room > effect ? room : effect);
            int32_t *grown = MINUS_ONES(&memory, int32_t, larger * n_classes);
            memcpy(grown, following, (size_t)(room * n_classes) * sizeof *grown);
            following = grown;
            room = larger;
        }
    }
    int32_t *first = ROOM(&memory, int32_t, n_words), *last = ROOM(&memory, int32_t, n_words);
    tokdfa_outer_symbols(text, offsets, n_words, first, last);
    for (int64_t i = 0; i < n_words; i++) {
        const uint8_t *at = text + offsets[i], *begin = at, *end = text + offsets[i + 1];
        uint64_t head = 0, tail = 0;
        int64_t effect = -1, point = -1, outer = -1, length = 0;
        int n_head = 0;
        bool bad = skipped[i] || at == end;
        if (begin < end) {
            const int first_length = decode(begin, end - begin, &point);
            REQUIRE(first[i] == (first_length > 0 ? point : -1));
            /* The last symbol is the one that ends where the word does. */
            for (int64_t back = 1; back <= 4 && back <= end - begin; back++) {
                if (decode(end - back, back, &point) == back) {
                    outer = point;
                    break;
                }
            }
            REQUIRE(last[i] == outer);
        } else {
            REQUIRE(first[i] == -1 && last[i] == -1);
        }
        for (; at < end && (*at & 0xC0) == 0x80; at++) {
            head = head << 8 | *at;
            bad = bad || ++n_head > 3;
        }
        for (; at < end && !bad; at += length) {
            length = decode(at, end - at, &point);
            if (length < 0) {
                bad = true;
                break;
            }
            if (!length) {
                for (; at < end; at++) {
                    tail = tail << 8 | *at;
                }
                break;
            }
            effect = effect_after(effect, classes[n_classes][point], many);
        }
        int32_t nodes[256];
        bool whole = false;
        const bool has_nodes = begin < end && (nodes_of(m->walker.children, begin, end, nodes, &whole) || whole);
        REQUIRE(told[i] == (bad ? 1 : has_nodes ? 2 : 0));
        REQUIRE(keys[i] == (bad ? 0 : head << 40 | tail << 16 | (uint64_t)(effect + 1)));
    }
    /* Numbers of keys. */
    int64_t n_known = 16;
    while (n_known < 2 * most) {
        n_known *= 2;
    }
    int32_t *known = MINUS_ONES(&memory, int32_t, n_known), *number = ROOM(&memory, int32_t, n_words);
    uint64_t *distinct = ROOM(&memory, uint64_t, most);
    const int64_t n_distinct = tokdfa_number_keys(keys, n_words, known, n_known, distinct, most, number);
    int64_t n_expected = 0;
    uint64_t expected[40];
    for (int64_t i = 0; i < n_words; i++) {
        int64_t place = 0;
        while (place < n_expected && expected[place] != keys[i]) {
            place++;
        }
        if (place == n_expected) {
            expected[n_expected++] = keys[i];
        }
        REQUIRE(n_distinct < 0 || number[i] == place);
    }
    REQUIRE(n_distinct == (n_expected > most ? -1 : n_expected));
    give_back(&memory);
}

#endif
