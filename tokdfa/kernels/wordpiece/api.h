#ifndef TOKDFA_WORDPIECE_API_H
#define TOKDFA_WORDPIECE_API_H

#include <stdint.h>

/* The meaning of a code point: a code has a kind in its lowest three bits, then a flag, and a payload above. The code
   of a space, U+0020, is TOKDFA_CODE_SPACE; letters and digits of ASCII are symbols. */
enum {
    TOKDFA_CODE_SYMBOL = 0,    /* a symbol of a word; payload: its number */
    TOKDFA_CODE_SKIP = 1,      /* nothing; it does not end a word */
    TOKDFA_CODE_SPACE = 2,     /* nothing; it ends a word */
    TOKDFA_CODE_ALONE = 3,     /* a separate word; payload: its id and 1 */
    TOKDFA_CODE_SEQUENCE = 4,  /* several of the above, no more than the code point has bytes, of which only the last
                                  may end a word; payload: where in the pool their number and their codes are */
    TOKDFA_CODE_REORDER = 5,   /* symbols to reorder by combining class, with the marks that follow */
    TOKDFA_CODE_KIND = 7,      /* the bits of the kind */
    TOKDFA_CODE_CONTINUES = 8, /* flag: the code point does not begin a new combining sequence */
    TOKDFA_CODE_KIND_BITS = 4, /* the number of bits below the payload */
    TOKDFA_CODE_BLOCK_BITS = 8 /* code points come in blocks of this many bits */
};

/* Flags of a byte of text. */
enum {
    TOKDFA_BYTE_EDGE = 1, /* an ASCII byte before which a word always ends */
    TOKDFA_BYTE_LEAD = 2  /* an added token begins with it */
};

/* The maximum length of a word that is looked up whole. */
enum { TOKDFA_LONGEST_INDEXED = 16 };

/* A trie with failure links as a double array, four entries per cell: its base, the cell of its parent, the cell of the
   failure link (-1 for none), and the failure pops: from 0 on the id of the one token that is the whole path to this
   cell; -1 - p points to pops[p], the number of pops, after which come the id of each and its number of symbols. The
   edge of cell c with symbol s leads to cell t = cells[4 * c] + s if and only if cells[4 * t + 1] == c. Cells 0 and 1
   are the roots. Read-only once it is built. */
typedef struct {
    const int32_t *cells;
    const int32_t *pops;
    const int32_t *points; /* symbol 128 + i is code point points[i], ascending; those below 128 are ASCII */
    int64_t n_points;
} tokdfa_word_trie;

/* The tables of an end-to-end tokenizer. Read-only once it is built. */
typedef struct {
    const uint8_t *flags;  /* of each of 256 bytes */
    const uint64_t *words; /* three entries per slot: the bytes of a word in two numbers, and its id */
    int64_t n_words;       /* three times a power of two, more than there are words */
    const uint16_t *pages; /* the code of c is blocks[pages[c >> 8] << 8 | (c & 255)] */
    const uint32_t *blocks;
    const uint32_t *pool;
    const int32_t *marks; /* code points that may be reordered, ascending; mark i consists of the parts */
    int64_t n_marks;
    const int32_t *mark_pointer; /* mark_pointer[i] to mark_pointer[i + 1], */
    const int32_t *mark_parts;   /* two entries each: combining class and symbol, -1 for none */
    const tokdfa_word_trie *trie;
    const uint8_t *added;      /* the bytes of the added tokens */
    const int32_t *added_rows; /* three entries each, the longest first: where its bytes begin, their number, the id */
    int64_t n_added_rows;
    int64_t unknown;      /* the id of words without a tokenization */
    int64_t longest_word; /* in symbols; longer ones are unknown; -1 for no limit */
    uint8_t fast;         /* whether ASCII letters and digits may be read eight at a time */
    uint8_t folds;        /* and are taken in lower case */
} tokdfa_wordpiece;

/* The outputs, and buffers for one word; see end_to_end.wide.c. It belongs to one thread. */
typedef struct {
    int32_t *ids;     /* capacity: one per byte of the texts, and one more */
    int64_t *begins;  /* where each token begins in its text, and ends; as many, */
    int64_t *ends;    /* or none, and then sources has none, too */
    int64_t n_ends;
    int32_t *symbols; /* of one word: more than TOKDFA_LONGEST_INDEXED, and more than the longest word or text */
    int64_t n_symbols;
    int64_t *sources; /* twice as many */
    int32_t *lengths; /* as many */
    int64_t at_a_time; /* a call pauses between two words after about so many bytes; 0 for never */
    int64_t is_paused; /* where it has paused: in which text, */
    int64_t row, start, at, shift, n; /* where that begins, the offset in it, the shift of offsets, the tokens so far */
} tokdfa_wordpiece_buffers;

/* The tables and buffers for one short text after another: their tokens share the ids of buffers without offsets, and
   calls never pause. It belongs to one thread. */
typedef struct {
    const tokdfa_wordpiece *tables;
    tokdfa_wordpiece_buffers *buffers;
    int64_t longest; /* the number of bytes of the longest text that is short; the buffers have symbols for it */
    int64_t n_ids;   /* of the buffers, fewer than 2^TOKDFA_SHARED_BITS */
    int64_t n_used;  /* how many of them are tokens of texts before */
} tokdfa_wordpiece_shared;

enum { TOKDFA_SHARED_BITS = 15 };

int64_t tokdfa_encode_wordpiece(const tokdfa_wordpiece *tables, const uint8_t *text, int64_t size,
                                const int64_t *stops, int64_t n_stops, int wide, tokdfa_wordpiece_buffers *buffers, int64_t *rows);
int64_t tokdfa_encode_wordpiece_text(const tokdfa_wordpiece *tables, const uint8_t *text, int64_t size,
                                     tokdfa_wordpiece_buffers *buffers);
int64_t tokdfa_encode_wordpiece_short(tokdfa_wordpiece_shared *shared, const uint8_t *text, int64_t size);
void tokdfa_index_wordpieces(const int32_t *codes, const int64_t *offsets, const int32_t *ids, int64_t n_ids,
                             uint64_t *words, int64_t n_words);

/* Words of symbol numbers: word i is symbols[offsets[i]] to symbols[offsets[i + 1]], not empty. The first ones begin
   words of texts, the others continue them. The key of a hash is drawn anew for each. Read-only once it is built. */
typedef struct {
    const int32_t *symbols;
    int64_t n_symbols;
    const int64_t *offsets;
    int64_t n_offsets;
    const int32_t *ids;
    int64_t n_beginnings;
    int64_t n_kinds; /* symbols are less than this */
    uint64_t key_0;
    uint64_t key_1;
} tokdfa_trie_words;

/* The cells and the pops of a trie, in arrays of their own, and its number of nodes. It belongs to one thread. */
typedef struct {
    int32_t *cells;
    int64_t n_cells;
    int32_t *pops;
    int64_t n_pops;
    int64_t n_nodes;
} tokdfa_built_trie;

enum { TOKDFA_MOST_POPS = 1 << 26, TOKDFA_MANY_CELLS = -1, TOKDFA_MANY_POPS = -2 };

int64_t tokdfa_build_word_trie(const tokdfa_trie_words *words, tokdfa_built_trie *built);
void tokdfa_free_word_trie(tokdfa_built_trie *built);
int64_t tokdfa_match_word(const tokdfa_word_trie *trie, const uint8_t *text, int64_t size, int32_t *buffer);
int64_t tokdfa_count_cells_read(const tokdfa_word_trie *trie, const uint8_t *text, int64_t size, int32_t *buffer);

#endif
