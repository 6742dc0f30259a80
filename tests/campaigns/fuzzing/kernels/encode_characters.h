/* Texts over characters, cut where nothing joins them, against merging each text as a whole. */
#ifndef TOKDFA_ENCODE_CHARACTERS_H
#define TOKDFA_ENCODE_CHARACTERS_H

#include "encode_workplace.h"

enum { N_LETTERS = 6, FIRST_BYTE = N_LETTERS, UNKNOWN = FIRST_BYTE + 256, FIRST_PRODUCT, MOST_MERGES = 12 };
enum { N_CLASSES_OF_SYMBOLS = 4 + FIRST_PRODUCT, CLASS_WORDS = (N_CLASSES_OF_SYMBOLS + 63) / 64, JOINS_ALL = 3 };
enum { MOST_CHARACTERS = 3 * 8192 };

static const uint32_t fuzzed_letters[N_LETTERS] = {'a', 'b', ' ', 0xE9, 0x4E2D, 0x1F600};

/* A dictionary over characters, with its tables. */
typedef struct {
    tokdfa_characters tables;
    tokdfa_merges merges;
    int32_t left[MOST_MERGES], right[MOST_MERGES], first[FIRST_PRODUCT + MOST_MERGES], last[FIRST_PRODUCT + MOST_MERGES];
    int32_t ids[FIRST_PRODUCT + MOST_MERGES], byte_symbol[256], symbol[4 << TOKDFA_PAGE_BITS];
    uint32_t classes[4 << TOKDFA_PAGE_BITS], byte_class[256];
    uint16_t pages[0x110000 >> TOKDFA_PAGE_BITS];
    uint64_t joins[N_CLASSES_OF_SYMBOLS * CLASS_WORDS], joins_ascii[256];
    int64_t keys[64];
    int32_t priority[64], product[64];
    int n_merges;
} characters_of;

static uint32_t classes_of_symbol(int32_t symbol) {
    const uint32_t number = symbol < 0 ? JOINS_ALL : 4 + (uint32_t)symbol;
    return number << 16 | number;
}

static void join(characters_of *c, uint32_t left, uint32_t right) {
    c->joins[left * CLASS_WORDS + (right >> 6)] |= (uint64_t)1 << (right & 63);
}

static bool joins(const characters_of *c, uint32_t left, uint32_t right) {
    return c->joins[left * CLASS_WORDS + (right >> 6)] >> (right & 63) & 1;
}

/* Rules between random symbols and products; the pairs of symbols that they have side by side are joined. */
static void make_rules(characters_of *c, input *in) {
    c->n_merges = (int)below(in, MOST_MERGES + 1);
    for (int32_t symbol = 0; symbol < FIRST_PRODUCT; symbol++) {
        c->first[symbol] = c->last[symbol] = symbol;
    }
    memset(c->keys, 0xFF, sizeof c->keys);
    for (int32_t i = 0; i < c->n_merges; i++) {
        int32_t parts[2];
        for (int side = 0; side < 2; side++) {
            const int what = take(in);
            parts[side] = what < 0xA0 || !i ? what % N_LETTERS : what < 0xE0 ? FIRST_PRODUCT + what % i : UNKNOWN - what % 64;
        }
        const int32_t product = FIRST_PRODUCT + i;
        c->left[i] = parts[0];
        c->right[i] = parts[1];
        c->first[product] = c->first[parts[0]];
        c->last[product] = c->last[parts[1]];
        tokdfa_add_pairs(&c->merges, c->left + i, c->right + i, &i, &product, 1);
        join(c, 4 + (uint32_t)c->last[parts[0]], 4 + (uint32_t)c->first[parts[1]]);
    }
}

static void make_characters(characters_of *c, input *in) {
    memset(c, 0, sizeof *c);
    c->merges = (tokdfa_merges){.keys = c->keys, .n_keys = 64, .priority = c->priority, .product = c->product};
    make_rules(c, in);
    const int kind = take(in), known = take(in) | take(in) << 8;
    const bool has_bytes = kind & 1, has_unknown = kind & 6, fuses = kind & 8;
    for (int byte = 0; byte < 256; byte++) {
        c->byte_symbol[byte] = byte < 0x80 && known >> 8 & 1 && byte % 3 == 0 ? -1 : FIRST_BYTE + byte;
        c->byte_class[byte] = classes_of_symbol(c->byte_symbol[byte]);
    }
    const int32_t unknown = !has_bytes && has_unknown ? UNKNOWN : -1;
    if (fuses && unknown >= 0) {
        join(c, 4 + UNKNOWN, 4 + UNKNOWN);
    }
    for (int i = 0; i < 4 << TOKDFA_PAGE_BITS; i++) {
        c->symbol[i] = -1;
    }
    for (int32_t i = 0; i < N_LETTERS; i++) {
        const uint32_t code = fuzzed_letters[i], page = code < 0x100 ? 1 : code < 0x10000 ? 2 : 3;
        c->pages[code >> TOKDFA_PAGE_BITS] = (uint16_t)page;
        if (!(known >> i & 1)) {
            c->symbol[page << TOKDFA_PAGE_BITS | (code & 0xFF)] = i;
        }
    }
    for (int i = 0; i < 4 << TOKDFA_PAGE_BITS; i++) {
        const bool is_of_bytes = c->symbol[i] < 0 && has_bytes;
        c->classes[i] = is_of_bytes ? (uint32_t)TOKDFA_OF_BYTES : classes_of_symbol(c->symbol[i] < 0 ? unknown : c->symbol[i]);
    }
    for (uint32_t class = 2; class < N_CLASSES_OF_SYMBOLS; class++) {
        join(c, JOINS_ALL, class);
        join(c, class, JOINS_ALL);
    }
    /* More bits than there must be do no harm. */
    for (int n = take(in) & 7; n > 0; n--) {
        join(c, 4 + (uint32_t)below(in, N_LETTERS), 4 + (uint32_t)below(in, FIRST_PRODUCT));
    }
    for (uint32_t x = 0; x < 128; x++) {
        for (uint32_t y = 0; y < 128; y++) {
            uint32_t of_x = c->classes[1 << TOKDFA_PAGE_BITS | x], of_y = c->classes[1 << TOKDFA_PAGE_BITS | y];
            of_x = of_x == (uint32_t)TOKDFA_OF_BYTES ? c->byte_class[x] : of_x;
            of_y = of_y == (uint32_t)TOKDFA_OF_BYTES ? c->byte_class[y] : of_y;
            c->joins_ascii[2 * x + (y >> 6)] |= (uint64_t)joins(c, of_x >> 16, of_y & 0xFFFF) << (y & 63);
        }
    }
    for (int32_t token = 0; token < FIRST_PRODUCT + MOST_MERGES; token++) {
        c->ids[token] = known >> 9 & 1 && token % 50 == 49 ? -1 : 3 * token + 1;
    }
    const int32_t prefix = (int32_t)below(in, N_LETTERS);
    c->tables = (tokdfa_characters){
        .pages = c->pages, .symbol = c->symbol, .classes = c->classes, .byte_symbol = c->byte_symbol,
        .n_byte_symbol = has_bytes ? 256 : 0, .byte_class = c->byte_class, .unknown = unknown, .fuses = fuses,
        .joins = c->joins, .n_words = CLASS_WORDS, .joins_ascii = c->joins_ascii, .prefix = prefix,
        .prefix_class = 4 + prefix, .puts_first = known >> 10 & 3, .merges = &c->merges, .ids = c->ids,
    };
}

/* The ids of a text that is merged as a whole; FOREIGN, or INVALID if it is not UTF-8. */
static int64_t merge_naively(const characters_of *c, const uint8_t *text, int64_t size, int32_t *out) {
    int64_t n = 0;
    bool was_unknown = false, is_foreign = false;
    for (int64_t at = 0, length; at < size; at += length) {
        uint32_t code = text[at];
        length = code < 0x80 ? 1 : code < 0xC2 ? 0 : code < 0xE0 ? 2 : code < 0xF0 ? 3 : code < 0xF5 ? 4 : 0;
        if (!length || at + length > size) {
            return TOKDFA_INVALID;
        }
        code = length == 1 ? code : code & (0x7Fu >> length);
        for (int64_t i = at + 1; i < at + length; i++) {
            if ((text[i] & 0xC0) != 0x80) {
                return TOKDFA_INVALID;
            }
            code = code << 6 | (text[i] & 0x3F);
        }
        if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000) || code > 0x10FFFF || code >> 11 == 0x1B) {
            return TOKDFA_INVALID;
        }
        int32_t symbol = -1;
        for (int32_t i = 0; i < N_LETTERS; i++) {
            const uint32_t page = code < 0x100 ? 1 : code < 0x10000 ? 2 : 3;
            symbol = fuzzed_letters[i] == code ? c->symbol[page << TOKDFA_PAGE_BITS | (code & 0xFF)] : symbol;
        }
        const int64_t when = c->tables.puts_first;
        if (at == 0 && when && (when != TOKDFA_PUTS_UNLESS_THERE || symbol != c->tables.prefix)) {
            out[n++] = (int32_t)c->tables.prefix;
        }
        if (symbol >= 0) {
            out[n++] = symbol;
        } else if (c->tables.n_byte_symbol) {
            for (int64_t i = at; i < at + length; i++) {
                is_foreign |= c->byte_symbol[text[i]] < 0;
                out[n++] = c->byte_symbol[text[i]];
            }
        } else if (c->tables.unknown < 0) {
            is_foreign = true;
        } else if (!was_unknown || !c->tables.fuses) {
            out[n++] = UNKNOWN;
        }
        was_unknown = symbol < 0;
    }
    if (is_foreign) {
        return TOKDFA_FOREIGN;
    }
    for (int rule = 0; rule < c->n_merges;) {
        int64_t at = 0;
        while (at + 1 < n && (out[at] != c->left[rule] || out[at + 1] != c->right[rule])) {
            at++;
        }
        if (at + 1 >= n) {
            rule++;
            continue;
        }
        /* The product may let a stronger rule apply; of rules for one pair the first one counts. */
        out[at] = FIRST_PRODUCT + rule;
        memmove(out + at + 1, out + at + 2, (size_t)(n - at - 2) * sizeof *out);
        n--;
        rule = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        out[i] = c->ids[out[i]];
        is_foreign |= out[i] < 0;
    }
    return is_foreign ? TOKDFA_FOREIGN : n;
}

/* Letters, other characters of the same pages and of others, and bytes that are not UTF-8. */
static int64_t read_characters(input *in, uint8_t *text, int64_t most) {
    static const char *const parts[] = {"a", "b", " ", "é", "中", "😀", "aab", "   ", "x", "ü", "一", "😁", "я", "\n"};
    int64_t n = 0;
    while (has_more(in) && n + 64 < most) {
        const int what = take(in);
        if (what >= 0xFF) {
            text[n++] = take(in);
            continue;
        }
        const char *part = parts[what % 14];
        for (int times = what >= 0xE0 ? 7 : 1; times > 0; times--) {
            memcpy(text + n, part, strlen(part));
            n += (int64_t)strlen(part);
        }
    }
    return n;
}

/* Encode a text as TextRun does, but that the memory stays as small as it is. */
static int64_t encode_characters_of(workplace *w, const uint8_t *text, int64_t size, int32_t *out) {
    w->known.n_missed = 0;
    int64_t n = tokdfa_encode_text(&w->texts, text, size, out);
    while (n == TOKDFA_FULL || n == TOKDFA_PAUSED) {
        if (n == TOKDFA_FULL) {
            make_room(w, 2 * w->split.n_trail);
            int32_t *ids = ROOM(&w->memory, int32_t, w->split.n_trail);
            ids[0] = w->texts.added_ids[0];
            w->texts.added_ids = ids;
            w->texts.n_added_ids = w->split.n_trail;
        }
        n = tokdfa_encode_on(&w->texts, text, size, out);
    }
    return n;
}

static void encode_characters(const encoder *e, input *in) {
    workplace w;
    characters_of *c = malloc(sizeof *c);
    uint8_t *read = malloc(MOST_CHARACTERS);
    REQUIRE(c && read);
    make_characters(c, in);
    open_workplace(&w, e, in, MOST_CHARACTERS);
    arena *memory = &w.memory;
    tokdfa_token_tables nothing = {0};
    index_words(memory, e->d, ZEROS(memory, uint8_t, e->d->n_tokens), &nothing);
    w.pieces.tables = w.pieces.whole = &nothing;
    w.pieces.characters = w.split.characters = &c->tables;
    w.split.splitting = NULL;
    w.texts.lacks_ids = 0;
    w.texts.added_ids = ROOM(memory, int32_t, 2 * TOKDFA_SPLIT_BLOCK);
    w.texts.n_added_ids = w.texts.n_ends = 2 * TOKDFA_SPLIT_BLOCK;
    w.texts.ends = ROOM(memory, int64_t, w.texts.n_ends);
    w.texts.marks = ROOM(memory, int64_t, w.texts.n_ends);
    w.pieces.at_a_time = below(in, 3) ? 0 : 1 + below(in, 100);
    const int64_t n_read = read_characters(in, read, MOST_CHARACTERS), most_a_byte = c->tables.puts_first ? 2 : 1;
    int32_t *expected = ROOM(memory, int32_t, 2 * n_read + TOKDFA_AT_ONCE);
    for (int k = 0; k < 4; k++) {
        const int64_t begin = n_read * (k % 2) / 2, size = n_read * (k % 2 + 1) / 2 - begin;
        const uint8_t *text = exactly(memory, read + begin, size, 1);
        int32_t *out = ROOM(memory, int32_t, most_a_byte * size + TOKDFA_AT_ONCE);
        const int64_t n = merge_naively(c, text, size, expected), status = encode_characters_of(&w, text, size, out);
        if (status == NO_MEMORY) {
            REQUIRE(memory_was_refused());
            continue;
        }
        REQUIRE(n == TOKDFA_INVALID
                    ? status == TOKDFA_INVALID || status == TOKDFA_CUT_SHORT || status == TOKDFA_FOREIGN
                    : status == n);
        REQUIRE(n < 0 || !memcmp(out, expected, (size_t)n * sizeof *out));
        if (n < 0 || w.pieces.at_a_time) {
            continue;
        }
        const int64_t offsets[3] = {0, 0, size};
        int64_t id_offsets[3] = {0};
        w.pieces.n = 0;
        const int64_t stop = tokdfa_encode_documents(&w.texts, text, size, offsets, 0, 2, out, id_offsets);
        REQUIRE(stop == 2 || stop == 1 || (stop == NO_MEMORY && memory_was_refused()));
        REQUIRE(stop != 2 || (id_offsets[1] == 0 && id_offsets[2] == n));
        REQUIRE(stop != 2 || !memcmp(out, expected, (size_t)n * sizeof *out));
    }
    free(read);
    free(c);
    give_back(memory);
}

#endif
