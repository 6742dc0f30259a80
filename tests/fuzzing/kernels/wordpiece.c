/* WordPiece, against longest match first, one code point at a time.

   A vocabulary from bytes becomes a trie with failure links (algorithm 2 of *Fast WordPiece Tokenization*, as printed),
   which is packed; what code points mean is up to the bytes as well, within what tokdfa/wordpiece/codes.py promises. */
#include "../../../tokdfa/kernels/wordpiece/door.h"
#include "harness.h"

enum { MOST_ENTRIES = 28, LONGEST_ENTRY = 40, MOST_NODES = 2 + MOST_ENTRIES * LONGEST_ENTRY, MOST_ADDED = 3 };
enum { N_PAGES = 0x110000 >> 8 };

/* The code points of texts; those up to the gap are letters and digits, of which entries are made, too. */
static const int32_t points[] = {'a', 'b', '1', 'A', 'z', 0xE9, 0x4E2D, 0x1F600, 0xDF, 0x301, 0x345,
                                 ' ', '.', '\t', '\n', 0, '-', '~', 0x300, 0x327, 0x344, 0x4E00, 0xAC01, 0x10FFFF, 0x2028};
enum { N_POINTS = sizeof points / sizeof *points, N_LETTERS = 11, FIRST_MARK = 9 };

typedef struct {
    int32_t letters[LONGEST_ENTRY]; /* code points */
    int64_t length;
    bool continues;
} entry;

typedef struct {
    entry entries[MOST_ENTRIES];
    int64_t n_entries, foreign, n_symbol_points;
    int32_t symbol_points[N_LETTERS];
    tokdfa_word_trie trie;
    tokdfa_wordpiece tables;
    uint32_t codes[N_POINTS];
    int32_t parts[N_POINTS][2][2], n_parts[N_POINTS]; /* class and symbol; of marks only */
    bool is_mark[N_POINTS];
    int64_t n_added;
    uint8_t added[MOST_ADDED][8];
    int64_t added_length[MOST_ADDED], added_id[MOST_ADDED];
    tokdfa_cells packed;
    arena memory;
} tokenizer;

static int64_t put_utf8(uint8_t *at, int32_t point) {
    if (point < 0x80) {
        at[0] = (uint8_t)point;
        return 1;
    }
    if (point < 0x800) {
        at[0] = (uint8_t)(0xC0 | point >> 6);
        at[1] = (uint8_t)(0x80 | (point & 63));
        return 2;
    }
    if (point < 0x10000) {
        at[0] = (uint8_t)(0xE0 | point >> 12);
        at[1] = (uint8_t)(0x80 | (point >> 6 & 63));
        at[2] = (uint8_t)(0x80 | (point & 63));
        return 3;
    }
    at[0] = (uint8_t)(0xF0 | point >> 18);
    at[1] = (uint8_t)(0x80 | (point >> 12 & 63));
    at[2] = (uint8_t)(0x80 | (point >> 6 & 63));
    at[3] = (uint8_t)(0x80 | (point & 63));
    return 4;
}

/* The number of a code point as a symbol. */
static int32_t symbol_of(const tokenizer *t, int32_t point) {
    if (point < 128) {
        return point;
    }
    for (int64_t i = 0; i < t->n_symbol_points; i++) {
        if (t->symbol_points[i] == point) {
            return (int32_t)(128 + i);
        }
    }
    return (int32_t)t->foreign;
}

static int compare_ints(const void *a, const void *b) {
    return *(const int32_t *)a < *(const int32_t *)b ? -1 : *(const int32_t *)a > *(const int32_t *)b;
}

static void read_entries(tokenizer *t, input *in) {
    const int64_t wanted = below(in, MOST_ENTRIES + 1), letters = between(in, 1, N_LETTERS);
    for (int64_t i = 0; i < wanted; i++) {
        entry *e = t->entries + t->n_entries;
        const int what = take(in);
        e->continues = what & 1;
        e->length = 1 + (what >= 0xE0 ? what % LONGEST_ENTRY : (what >> 1) % 5);
        for (int64_t k = 0; k < e->length; k++) {
            e->letters[k] = points[what >= 0xE0 && k > 1 ? (k + what) % letters : below(in, letters)];
        }
        bool is_new = true;
        for (int64_t other = 0; other < t->n_entries; other++) {
            const entry *o = t->entries + other;
            is_new = is_new && !(o->continues == e->continues && o->length == e->length &&
                                 !memcmp(o->letters, e->letters, (size_t)e->length * sizeof *e->letters));
        }
        t->n_entries += is_new;
    }
    for (int64_t i = 0; i < t->n_entries; i++) {
        for (int64_t k = 0; k < t->entries[i].length; k++) {
            const int32_t point = t->entries[i].letters[k];
            bool is_new = point >= 128;
            for (int64_t s = 0; s < t->n_symbol_points; s++) {
                is_new = is_new && t->symbol_points[s] != point;
            }
            if (is_new) {
                t->symbol_points[t->n_symbol_points++] = point;
            }
        }
    }
    qsort(t->symbol_points, (size_t)t->n_symbol_points, sizeof *t->symbol_points, compare_ints);
    t->foreign = 128 + t->n_symbol_points;
}

typedef struct {
    int32_t symbol, parent, failure, entry, depth;
    int32_t n_pops, pops[LONGEST_ENTRY + 1][2];
} node;

static int64_t child_of(const node *nodes, int64_t n, int64_t parent, int32_t symbol) {
    for (int64_t i = 2; i < n; i++) {
        if (nodes[i].parent == parent && nodes[i].symbol == symbol) {
            return i;
        }
    }
    return -1;
}

static void build_trie(tokenizer *t) {
    arena memory = {NULL, 0, 0};
    node *nodes = ZEROS(&memory, node, MOST_NODES);
    int64_t n = 2, n_pops = 0;
    nodes[0] = nodes[1] = (node){.symbol = -1, .parent = -1, .failure = -1, .entry = -1};
    /* Breadth first: every node comes after its parent, and after all that are less deep. */
    for (int64_t depth = 1; depth <= LONGEST_ENTRY; depth++) {
        for (int64_t i = 0; i < t->n_entries; i++) {
            const entry *e = t->entries + i;
            if (e->length < depth) {
                continue;
            }
            int64_t at = e->continues;
            for (int64_t k = 0; k + 1 < depth; k++) {
                at = child_of(nodes, n, at, symbol_of(t, e->letters[k]));
            }
            const int32_t symbol = symbol_of(t, e->letters[depth - 1]);
            int64_t next = child_of(nodes, n, at, symbol);
            if (next < 0) {
                next = n++;
                nodes[next] = (node){.symbol = symbol, .parent = (int32_t)at, .failure = -1, .entry = -1,
                                     .depth = (int32_t)depth};
            }
            if (depth == e->length) {
                nodes[next].entry = (int32_t)i;
            }
        }
    }
    for (int64_t v = 2; v < n; v++) {
        node *here = nodes + v;
        if (here->entry >= 0) {
            here->failure = 1;
            here->n_pops = 1;
            here->pops[0][0] = here->entry;
            here->pops[0][1] = here->depth;
            continue;
        }
        const node *parent = nodes + here->parent;
        memcpy(here->pops, parent->pops, sizeof here->pops);
        here->n_pops = parent->n_pops;
        int64_t z = parent->failure;
        while (z >= 0 && child_of(nodes, n, z, here->symbol) < 0) {
            memcpy(here->pops[here->n_pops], nodes[z].pops, (size_t)nodes[z].n_pops * sizeof *here->pops);
            here->n_pops += nodes[z].n_pops;
            z = nodes[z].failure;
        }
        if (z >= 0) {
            here->failure = (int32_t)child_of(nodes, n, z, here->symbol);
        } else {
            here->n_pops = 0;
        }
    }
    int32_t *pointer = ROOM(&memory, int32_t, n + 1), *symbol = ROOM(&memory, int32_t, n - 2);
    int32_t *child = ROOM(&memory, int32_t, n - 2), *place = ROOM(&memory, int32_t, n), *of = ROOM(&memory, int32_t, n);
    int64_t n_edges = 0;
    pointer[0] = 0;
    for (int64_t v = 0; v < n; v++) {
        for (int64_t w = 2; w < n; w++) {
            if (nodes[w].parent == v) {
                int64_t at = n_edges++;
                for (; at > pointer[v] && nodes[w].symbol < symbol[at - 1]; at--) {
                    symbol[at] = symbol[at - 1];
                    child[at] = child[at - 1];
                }
                symbol[at] = nodes[w].symbol;
                child[at] = (int32_t)w;
            }
        }
        pointer[v + 1] = (int32_t)n_edges;
    }
    int64_t n_cells;
    WITH_MEMORY(n_cells, tokdfa_pack_trie(pointer, n, symbol, child, t->foreign + 1, place, &t->packed));
    REQUIRE(n_cells > 0 && n_cells == t->packed.n_cells);
    int32_t *cells = ROOM(&t->memory, int32_t, 4 * n_cells), *pops = ROOM(&memory, int32_t, n * (2 * LONGEST_ENTRY + 3));
    memcpy(cells, t->packed.cells, (size_t)(16 * n_cells));
    tokdfa_free_cells(&t->packed);
    REQUIRE(!t->packed.cells && place[0] == 0 && place[1] == 1);
    for (int64_t v = 0; v < n; v++) {
        REQUIRE(place[v] >= 0 && place[v] < n_cells);
        of[v] = cells[4 * (int64_t)place[v]];
        REQUIRE(of[v] + t->foreign < n_cells);
        int32_t *links = cells + 4 * (int64_t)place[v];
        links[2] = nodes[v].failure < 0 ? -1 : place[nodes[v].failure];
        if (nodes[v].entry >= 0) {
            links[3] = nodes[v].entry;
        } else if (nodes[v].n_pops) {
            links[3] = (int32_t)(-1 - n_pops);
            pops[n_pops++] = nodes[v].n_pops;
            memcpy(pops + n_pops, nodes[v].pops, (size_t)nodes[v].n_pops * sizeof *nodes[v].pops);
            n_pops += 2 * nodes[v].n_pops;
        }
    }
    /* Any symbol may be looked up in any cell, and leads where the trie does. */
    for (int64_t v = 0; v < n; v++) {
        for (int32_t s = 0; s <= t->foreign; s += s < 96 ? 1 + (s % 16) : 1) {
            const int64_t w = child_of(nodes, n, v, s), target = of[v] + s;
            REQUIRE((cells[4 * target + 1] == place[v]) == (w >= 0));
            REQUIRE(w < 0 || target == place[w]);
        }
    }
    int32_t *kept = ROOM(&t->memory, int32_t, n_pops), *used = ROOM(&t->memory, int32_t, t->n_symbol_points);
    memcpy(kept, pops, (size_t)n_pops * sizeof *kept);
    memcpy(used, t->symbol_points, (size_t)t->n_symbol_points * sizeof *used);
    t->trie = (tokdfa_word_trie){cells, kept, used, t->n_symbol_points};
    give_back(&memory);
}

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
    /* Added tokens, the longest first; none begins with what continues a sequence. */
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
    uint64_t *low = ROOM(memory, uint64_t, t->n_entries), *high = ROOM(memory, uint64_t, t->n_entries);
    int32_t *ids = ROOM(memory, int32_t, t->n_entries);
    int64_t n_words = 0, n_slots = 1;
    for (int64_t i = 0; i < t->n_entries; i++) {
        const entry *e = t->entries + i;
        const int64_t longest = limit < 0 || limit > TOKDFA_LONGEST_INDEXED ? TOKDFA_LONGEST_INDEXED : limit;
        bool fits = !e->continues && e->length <= longest;
        uint64_t both[2] = {0, 0};
        for (int64_t k = 0; k < e->length && fits; k++) {
            fits = is_letter(e->letters[k]) && !(folds && e->letters[k] >= 'A' && e->letters[k] <= 'Z');
            both[k / 8] |= (uint64_t)e->letters[k] << 8 * (k % 8);
        }
        if (fits) {
            low[n_words] = both[0];
            high[n_words] = both[1];
            ids[n_words++] = (int32_t)i;
        }
    }
    while (n_slots <= 2 * n_words) {
        n_slots *= 2;
    }
    uint64_t *words = ZEROS(memory, uint64_t, 3 * n_slots);
    tokdfa_index_wordpieces(low, high, ids, n_words, words, 3 * n_slots);
    t->tables = (tokdfa_wordpiece){
        .flags = flags, .words = words, .n_words = 3 * n_slots, .pages = pages, .blocks = kept, .pool = pool,
        .marks = marks, .n_marks = n_marks, .mark_pointer = pointer, .mark_parts = parts, .trie = &t->trie,
        .added = added, .added_rows = rows, .n_added_rows = n_rows, .unknown = flags_of_all & 0x80 ? -1 : 9999,
        .longest_word = limit, .fast = fast, .folds = folds,
    };
}

static void *build(input *in) {
    tokenizer *t = calloc(1, sizeof *t);
    REQUIRE(t);
    read_entries(t, in);
    build_trie(t);
    build_codes(t, in);
    return t;
}

/* A symbol of a word, and what it comes from. */
typedef struct {
    int32_t symbol;
    int64_t begin, end;
} gathered;

typedef struct {
    int32_t *ids;
    int64_t *begins, *ends, n;
} tokens;

static void add(tokens *to, int64_t id, int64_t begin, int64_t end) {
    to->ids[to->n] = (int32_t)id;
    to->begins[to->n] = begin;
    to->ends[to->n++] = end;
}

/* Longest match first, over symbols; returns false if there is no tokenization. */
static bool match(const tokenizer *t, const gathered *word, int64_t n, tokens *to) {
    const int64_t before = to->n;
    for (int64_t at = 0; at < n;) {
        int64_t best = -1;
        for (int64_t i = 0; i < t->n_entries; i++) {
            const entry *e = t->entries + i;
            bool same = e->continues == (at > 0) && e->length <= n - at && (best < 0 || e->length > t->entries[best].length);
            for (int64_t k = 0; k < e->length && same; k++) {
                same = symbol_of(t, e->letters[k]) == word[at + k].symbol;
            }
            best = same ? i : best;
        }
        if (best < 0) {
            to->n = before;
            return false;
        }
        const int64_t stop = at + t->entries[best].length;
        add(to, best, word[at].begin, word[stop - 1].end);
        at = stop;
    }
    return true;
}

static void end_word(const tokenizer *t, gathered *word, int64_t *n, tokens *to) {
    if (*n) {
        const int64_t limit = t->tables.longest_word;
        if ((limit >= 0 && *n > limit) || !match(t, word, *n, to)) {
            add(to, t->tables.unknown, word[0].begin, word[*n - 1].end);
        }
    }
    *n = 0;
}

/* Tokenize a text, given as places among `points`, by definition. Offsets count bytes or code points. */
static void tokenize(const tokenizer *t, const uint8_t *which, int64_t n, bool bytes, gathered *word, tokens *to) {
    int64_t n_word = 0, begin = 0, start = 0;
    uint8_t scratch[4];
    for (int64_t at = 0; at < n;) {
        /* The longest added token here. */
        int64_t longest = -1, n_points = 0;
        for (int64_t k = 0; k < t->n_added; k++) {
            int64_t place = at, length = 0;
            bool same = true;
            while (same && length < t->added_length[k] && place < n) {
                const int64_t width = put_utf8(scratch, points[which[place++]]);
                same = length + width <= t->added_length[k] && !memcmp(scratch, t->added[k] + length, (size_t)width);
                length += width;
            }
            if (same && length == t->added_length[k] && (longest < 0 || length > t->added_length[longest])) {
                longest = k;
                n_points = place - at;
            }
        }
        if (longest >= 0) {
            const int64_t end = begin + (bytes ? t->added_length[longest] : n_points);
            end_word(t, word, &n_word, to);
            add(to, t->added_id[longest], begin, end);
            begin = end;
            start = at += n_points;
            continue;
        }
        const int64_t width = bytes ? put_utf8(scratch, points[which[at]]) : 1;
        const uint32_t c = t->codes[which[at]];
        const uint32_t *items = &c;
        int64_t n_items = 1;
        if ((c & TOKDFA_CODE_KIND) == TOKDFA_CODE_REORDER) {
            /* Back to the first code point that continues the sequence, and on to its end. */
            int64_t first = at, stop = at + 1, from = begin;
            while (t->codes[which[first]] & TOKDFA_CODE_CONTINUES && first > start &&
                   t->codes[which[first - 1]] & TOKDFA_CODE_CONTINUES) {
                first--;
                from -= bytes ? put_utf8(scratch, points[which[first]]) : 1;
            }
            while (stop < n && t->codes[which[stop]] & TOKDFA_CODE_CONTINUES) {
                stop++;
            }
            int64_t cursor = first, source = from, source_end = from;
            for (int order = 0; order < 256; order++) {
                for (int64_t i = first; i < stop; i++) {
                    for (int k = 0; t->is_mark[which[i]] && k < t->n_parts[which[i]]; k++) {
                        if (t->parts[which[i]][k][0] != order) {
                            continue;
                        }
                        if (!k) {
                            bool is_source;
                            do {
                                source = source_end;
                                source_end += bytes ? put_utf8(scratch, points[which[cursor]]) : 1;
                                is_source = t->is_mark[which[cursor++]];
                            } while (!is_source);
                        }
                        if (t->parts[which[i]][k][1] >= 0) {
                            word[n_word++] = (gathered){t->parts[which[i]][k][1], source, source_end};
                        }
                    }
                }
            }
            for (; cursor < stop; cursor++) {
                source_end += bytes ? put_utf8(scratch, points[which[cursor]]) : 1;
            }
            begin = source_end;
            at = stop;
            continue;
        }
        if ((c & TOKDFA_CODE_KIND) == TOKDFA_CODE_SEQUENCE) {
            items = t->tables.pool + (c >> TOKDFA_CODE_KIND_BITS) + 1;
            n_items = items[-1];
        }
        for (int64_t k = 0; k < n_items; k++) {
            const int64_t payload = items[k] >> TOKDFA_CODE_KIND_BITS;
            switch (items[k] & TOKDFA_CODE_KIND) {
            case TOKDFA_CODE_SYMBOL:
                word[n_word++] = (gathered){(int32_t)payload, begin, begin + width};
                break;
            case TOKDFA_CODE_SPACE:
                end_word(t, word, &n_word, to);
                break;
            case TOKDFA_CODE_ALONE:
                end_word(t, word, &n_word, to);
                add(to, payload - 1, begin, begin + width);
                break;
            default:
                break;
            }
        }
        begin += width;
        at++;
    }
    end_word(t, word, &n_word, to);
}

/* A room for texts of so many bytes; see end_to_end.py. A call pauses after some bytes, or never. */
static tokdfa_wordpiece_room room_of(arena *memory, const tokenizer *t, int64_t n_bytes, bool offsets, int64_t at_a_time) {
    const int64_t limit = t->tables.longest_word;
    int64_t symbols = limit < 0 || limit > n_bytes ? n_bytes : limit;
    symbols = 1 + (symbols < TOKDFA_LONGEST_INDEXED ? TOKDFA_LONGEST_INDEXED : symbols);
    return (tokdfa_wordpiece_room){
        .ids = ROOM(memory, int32_t, n_bytes + 1), .begins = ROOM(memory, int64_t, offsets ? n_bytes + 1 : 0),
        .ends = ROOM(memory, int64_t, offsets ? n_bytes + 1 : 0), .n_ends = offsets ? n_bytes + 1 : 0,
        .symbols = ROOM(memory, int32_t, symbols), .n_symbols = symbols,
        .sources = ROOM(memory, int64_t, offsets ? 2 * symbols : 0), .lengths = ROOM(memory, int32_t, symbols),
        .at_a_time = at_a_time,
    };
}

static void encode(const tokenizer *t, input *in) {
    enum { MOST_TEXTS = 4, MOST_POINTS = 700 };
    arena memory = {NULL, 0, 0};
    uint8_t which[MOST_POINTS];
    int64_t n = 0, begins[MOST_TEXTS + 1];
    const int64_t n_texts = between(in, 1, MOST_TEXTS), shift = take(in), at_a_time = shift & 0x40 ? 1 + (shift & 0x1F) : 0;
    while (has_more(in) && n < MOST_POINTS) {
        const uint8_t what = take(in);
        if (what < 0xF0 || !n) {
            which[n++] = (uint8_t)((what + (what < 128 ? 0 : shift)) % N_POINTS);
        } else {
            const int64_t period = 1 + (what & 3) % n, times = 1 + take(in) % 20;
            for (int64_t i = 0; i < period * times && n < MOST_POINTS; i++, n++) {
                which[n] = which[n - period];
            }
        }
    }
    uint8_t *bytes = ROOM(&memory, uint8_t, 4 * n + MOST_TEXTS);
    int64_t size = 0, stops[MOST_TEXTS];
    for (int64_t text = 0; text < n_texts; text++) {
        begins[text] = n * text / n_texts;
        begins[text + 1] = n * (text + 1) / n_texts;
        for (int64_t i = begins[text]; i < begins[text + 1]; i++) {
            size += put_utf8(bytes + size, points[which[i]]);
        }
        stops[text] = size;
        if (text + 1 < n_texts) {
            bytes[size++] = '\n';
        }
    }
    uint8_t *data = ROOM(&memory, uint8_t, size);
    memcpy(data, bytes, (size_t)size);
    gathered *word = ROOM(&memory, gathered, 4 * n + 1);
    tokens expected = {ROOM(&memory, int32_t, 4 * n + 1), ROOM(&memory, int64_t, 4 * n + 1),
                       ROOM(&memory, int64_t, 4 * n + 1), 0};
    for (int mode = 0; mode < 3; mode++) {
        /* Without offsets, and in code points and bytes. */
        tokdfa_wordpiece_room room = room_of(&memory, t, size, mode > 0, at_a_time);
        int64_t *rows = ROOM(&memory, int64_t, n_texts + 1);
        int64_t made, n_pauses = 0;
        while ((made = tokdfa_encode_wordpiece(&t->tables, data, size, stops, n_texts, mode == 2, &room, rows)) < 0) {
            REQUIRE(made == -1 && at_a_time && ++n_pauses <= size);
        }
        expected.n = 0;
        for (int64_t text = 0; text < n_texts; text++) {
            REQUIRE(rows[text] == expected.n);
            tokenize(t, which + begins[text], begins[text + 1] - begins[text], mode == 2, word, &expected);
        }
        REQUIRE(made == expected.n && rows[n_texts] == made);
        REQUIRE(!memcmp(room.ids, expected.ids, (size_t)made * sizeof *room.ids));
        for (int64_t i = 0; i < made && mode; i++) {
            REQUIRE(room.begins[i] == expected.begins[i] && room.ends[i] == expected.ends[i]);
        }
    }
    /* One text by itself. */
    uint8_t *first = ROOM(&memory, uint8_t, stops[0]);
    memcpy(first, bytes, (size_t)stops[0]);
    tokdfa_wordpiece_room room = room_of(&memory, t, stops[0], false, at_a_time);
    expected.n = 0;
    tokenize(t, which, begins[1], false, word, &expected);
    int64_t made;
    while ((made = tokdfa_encode_wordpiece_text(&t->tables, first, stops[0], &room)) < 0) {
        REQUIRE(made == -1 && room.is_paused && at_a_time);
    }
    REQUIRE(made == expected.n && !room.is_paused);
    REQUIRE(!memcmp(room.ids, expected.ids, (size_t)expected.n * sizeof *room.ids));
    give_back(&memory);
}

/* Single words, with whatever code points. */
static void match_words(const tokenizer *t, input *in) {
    arena memory = {NULL, 0, 0};
    for (int round = 0; round < 8 && has_more(in); round++) {
        const int64_t n = between(in, 1, 60);
        uint8_t *word = ROOM(&memory, uint8_t, 4 * n);
        gathered *symbols = ROOM(&memory, gathered, n);
        const int64_t letters = between(in, 1, N_LETTERS);
        for (int64_t i = 0; i < n; i++) {
            const int what = take(in);
            const int32_t point = what < 0xF0 ? points[what % letters] : (what << 16 | take(in) << 8 | take(in)) % 0x110000;
            for (int k = 0; k < 4; k++) {
                word[4 * i + k] = (uint8_t)(point >> 8 * k);
            }
            symbols[i] = (gathered){symbol_of(t, point), i, i + 1};
        }
        int32_t *room = ROOM(&memory, int32_t, 3 * n), *again = ROOM(&memory, int32_t, 3 * n);
        tokens expected = {ROOM(&memory, int32_t, n), ROOM(&memory, int64_t, n), ROOM(&memory, int64_t, n), 0};
        const bool matches = match(t, symbols, n, &expected);
        const int64_t made = tokdfa_match_word(&t->trie, word, n, room);
        REQUIRE(made == (matches ? expected.n : -1));
        for (int64_t i = 0; i < made; i++) {
            REQUIRE(room[i] == expected.ids[i] && room[n + i] == expected.ends[i] - expected.begins[i]);
        }
        REQUIRE(tokdfa_count_cells_read(&t->trie, word, n, again) <= 3 * n + 1);
    }
    give_back(&memory);
}

static void use(const void *shared, input *in) {
    if (take(in) % 4 == 0) {
        match_words(shared, in);
    } else {
        encode(shared, in);
    }
}

static void release(void *shared) {
    tokenizer *t = shared;
    give_back(&t->memory);
    free(t);
}

const target wordpiece_target = {"wordpiece", build, use, release};
