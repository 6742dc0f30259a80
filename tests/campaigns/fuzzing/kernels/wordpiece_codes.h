/* The meaning of the code points of texts, from bytes. */
#ifndef TOKDFA_WORDPIECE_CODES_H
#define TOKDFA_WORDPIECE_CODES_H

#include "wordpiece_vocabulary.h"

static uint32_t code(uint32_t kind, int64_t payload) {
    return (uint32_t)payload << TOKDFA_CODE_KIND_BITS | kind;
}

static bool is_letter(int32_t point) {
    return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z') || (point >= '0' && point <= '9');
}

static void build_codes(tokenizer *t, input *in) {
    arena *memory = &t->memory;
    const int flags_of_all = take(in);
    const bool folds = flags_of_all & 1;
    uint32_t *pool = ROOM(memory, uint32_t, 5 * N_POINTS), n_pool = 0;
    for (int i = 0; i < N_POINTS; i++) {
        const int32_t point = points[i];
        const int what = take(in), more = take(in);
        const bool may_reorder = i >= FIRST_MARK && point >= 0x80;
        uint8_t bytes[4];
        const int64_t width = put_utf8(bytes, point);
        uint32_t c = code(TOKDFA_CODE_SYMBOL, symbol_of(t, point));
        if (is_letter(point)) {
            /* Letters and digits of ASCII are symbols. */
            const int32_t lower = folds && point >= 'A' && point <= 'Z' ? point + 32 : point;
            c = code(TOKDFA_CODE_SYMBOL, lower);
        } else if (point == ' ') {
            c = TOKDFA_CODE_SPACE;
        } else if (point < 0x80) {
            c = what % 4 == 0   ? c
                : what % 4 == 1 ? TOKDFA_CODE_SPACE
                : what % 4 == 2 ? code(TOKDFA_CODE_ALONE, 3000 + i)
                                : code(TOKDFA_CODE_SKIP, 0) | (more & 1 ? TOKDFA_CODE_CONTINUES : 0);
        } else if (may_reorder && what & 1) {
            /* A mark, which is left out or put into order; each has a part or two. */
            t->is_mark[i] = true;
            t->n_parts[i] = 1 + (what >> 1 & 1);
            bool stays = false;
            for (int k = 0; k < t->n_parts[i]; k++) {
                t->parts[i][k][0] = "\0\xCA\xDC\xE6"[(more >> 2 * k) & 3] & 0xFF;
                t->parts[i][k][1] = what >> (2 + k) & 1 ? symbol_of(t, k ? 'a' : point) : -1;
                stays = stays || t->parts[i][k][1] >= 0;
            }
            const bool continues = t->parts[i][0][0] != 0;
            c = code(stays ? TOKDFA_CODE_REORDER : TOKDFA_CODE_SKIP, 0) | (continues ? TOKDFA_CODE_CONTINUES : 0);
        } else {
            switch (what >> 1 & 7) {
            case 0:
                c = code(TOKDFA_CODE_SKIP, 0);
                break;
            case 1:
                c = TOKDFA_CODE_SPACE;
                break;
            case 2:
                c = code(TOKDFA_CODE_ALONE, 3000 + i);
                break;
            case 3: {
                const uint32_t items = 1 + (uint32_t)more % (uint32_t)width;
                c = code(TOKDFA_CODE_SEQUENCE, n_pool);
                pool[n_pool++] = items;
                for (uint32_t k = 0; k < items; k++) {
                    /* Only the last one may end a word. */
                    const int item = ((more >> (2 + k)) & 3) | (k + 1 < items ? 2 : 0);
                    pool[n_pool++] = item == 0   ? TOKDFA_CODE_SPACE
                                     : item == 1 ? code(TOKDFA_CODE_ALONE, 4000 + i)
                                                 : code(TOKDFA_CODE_SYMBOL, symbol_of(t, points[(what + item) % 6]));
                }
                break;
            }
            default:
                break;
            }
        }
        t->codes[i] = c;
    }
    /* Blocks of the code points above, and one of all others. */
    uint16_t *pages = ZEROS(memory, uint16_t, N_PAGES);
    uint32_t *blocks = ROOM(memory, uint32_t, 256 * (N_POINTS + 1));
    int64_t n_blocks = 1;
    for (int64_t i = 0; i < 256 * (N_POINTS + 1); i++) {
        const int64_t in_first = i & 255;
        blocks[i] = code(TOKDFA_CODE_SYMBOL, i >= 256 && i < 512 && in_first < 128 ? in_first : t->foreign);
    }
    for (int i = 0; i < N_POINTS; i++) {
        uint16_t *page = pages + (points[i] >> 8);
        if (!*page) {
            *page = (uint16_t)n_blocks++;
        }
        blocks[256 * *page + (points[i] & 255)] = t->codes[i];
    }
    /* Page 0 is the first that is met. */
    REQUIRE(pages[0] == 1);
    uint8_t *flags = ZEROS(memory, uint8_t, 256);
    /* Code points beyond the first 128 of block 1 are read in it, too: ASCII is found at blocks[byte]. */
    uint32_t *kept = ROOM(memory, uint32_t, 256 * n_blocks);
    memcpy(kept, blocks, (size_t)(256 * n_blocks) * sizeof *kept);
    memcpy(kept, blocks + 256, 256 * sizeof *kept);
    memcpy(kept + 256, blocks, 256 * sizeof *kept);
    for (int64_t i = 0; i < N_PAGES; i++) {
        pages[i] = pages[i] == 0 ? 1 : pages[i] == 1 ? 0 : pages[i];
    }
    for (int byte = 0; byte < 128; byte++) {
        const uint32_t kind = kept[byte] & TOKDFA_CODE_KIND;
        flags[byte] = kind == TOKDFA_CODE_SPACE || kind == TOKDFA_CODE_ALONE ? TOKDFA_BYTE_EDGE : 0;
    }
    int64_t n_marks = 0, n_parts = 0;
    int32_t *marks = ROOM(memory, int32_t, N_POINTS), *pointer = ZEROS(memory, int32_t, N_POINTS + 1);
    int32_t *parts = ROOM(memory, int32_t, 4 * N_POINTS);
    for (int32_t last = -1;;) {
        int best = -1;
        for (int i = 0; i < N_POINTS; i++) {
            best = t->is_mark[i] && points[i] > last && (best < 0 || points[i] < points[best]) ? i : best;
        }
        if (best < 0) {
            break;
        }
        last = points[best];
        marks[n_marks++] = last;
        for (int k = 0; k < t->n_parts[best]; k++) {
            parts[2 * n_parts] = t->parts[best][k][0];
            parts[2 * n_parts++ + 1] = t->parts[best][k][1];
        }
        pointer[n_marks] = (int32_t)n_parts;
    }
    /* Added tokens, the longest first; none begins with a character that continues a sequence. */
    bool fast = true;
    const int64_t wanted = take(in) % (MOST_ADDED + 1);
    for (int64_t k = 0; k < wanted; k++) {
        uint8_t *added = t->added[t->n_added];
        int64_t length = 0;
        const int64_t n = 1 + (take(in) & 1);
        bool is_good = true;
        for (int64_t i = 0; i < n; i++) {
            const int which = take(in) % N_POINTS;
            is_good = is_good && (i || !(t->codes[which] & TOKDFA_CODE_CONTINUES || t->is_mark[which]));
            length += put_utf8(added + length, points[which]);
        }
        for (int64_t other = 0; other < t->n_added; other++) {
            is_good = is_good && (t->added_length[other] != length || memcmp(t->added[other], added, (size_t)length));
        }
        if (!is_good) {
            continue;
        }
        flags[added[0]] |= TOKDFA_BYTE_LEAD;
        fast = fast && !is_letter(added[0]);
        t->added_length[t->n_added] = length;
        t->added_id[t->n_added] = 5000 + t->n_added;
        t->n_added++;
    }
    uint8_t *added = ROOM(memory, uint8_t, 8 * MOST_ADDED);
    int32_t *rows = ROOM(memory, int32_t, 3 * t->n_added);
    int64_t n_bytes = 0, n_rows = 0;
    for (int64_t length = 8; length > 0; length--) {
        for (int64_t k = 0; k < t->n_added; k++) {
            if (t->added_length[k] == length) {
                memcpy(added + n_bytes, t->added[k], (size_t)length);
                rows[n_rows++] = (int32_t)n_bytes;
                rows[n_rows++] = (int32_t)length;
                rows[n_rows++] = (int32_t)t->added_id[k];
                n_bytes += length;
            }
        }
    }
    /* Mostly words are as long as it allows, or longer. */
    const int64_t limit = flags_of_all & 2 ? -1 : flags_of_all & 64 ? flags_of_all >> 2 & 15 : flags_of_all >> 2 & 3;
    /* Words that are looked up whole. */
    int32_t *letters = ROOM(memory, int32_t, t->n_entries * TOKDFA_LONGEST_INDEXED);
    int64_t *offsets = ZEROS(memory, int64_t, t->n_entries + 1);
    int32_t *ids = ROOM(memory, int32_t, t->n_entries);
    int64_t n_words = 0, n_slots = 1;
    for (int64_t i = 0; i < t->n_entries; i++) {
        const entry *e = t->entries + i;
        const int64_t longest = limit < 0 || limit > TOKDFA_LONGEST_INDEXED ? TOKDFA_LONGEST_INDEXED : limit;
        bool fits = !e->continues && e->length <= longest;
        for (int64_t k = 0; k < e->length && fits; k++) {
            fits = is_letter(e->letters[k]) && !(folds && e->letters[k] >= 'A' && e->letters[k] <= 'Z');
        }
        if (fits) {
            memcpy(letters + offsets[n_words], e->letters, (size_t)e->length * sizeof *letters);
            ids[n_words++] = (int32_t)i;
            offsets[n_words] = offsets[n_words - 1] + e->length;
        }
    }
    while (n_slots <= 2 * n_words) {
        n_slots *= 2;
    }
    uint64_t *words = ZEROS(memory, uint64_t, 3 * n_slots);
    tokdfa_index_wordpieces(letters, offsets, ids, n_words, words, 3 * n_slots);
    t->tables = (tokdfa_wordpiece){
        .flags = flags, .words = words, .n_words = 3 * n_slots, .pages = pages, .blocks = kept, .pool = pool,
        .marks = marks, .n_marks = n_marks, .mark_pointer = pointer, .mark_parts = parts, .trie = &t->trie,
        .added = added, .added_rows = rows, .n_added_rows = n_rows, .unknown = flags_of_all & 0x80 ? -1 : 9999,
        .longest_word = limit, .fast = fast, .folds = folds,
    };
}

#endif
