#ifndef TOKDFA_UNIGRAM_API_H
#define TOKDFA_UNIGRAM_API_H

#include <stdint.h>

/* Returned by tokdfa_segment instead of the number of ids. The call continues where it stopped when it is repeated. */
enum {
    TOKDFA_SEGMENT_PAUSED = -1,  /* after so many bytes; nothing is wrong */
    TOKDFA_SEGMENT_ROOM = -2,    /* more nodes are needed: at least n_needed */
    TOKDFA_SEGMENT_UNKNOWN = -3, /* the character at `at` is unknown, without an id for it */
    TOKDFA_SEGMENT_FULL = -4,    /* a larger buffer is needed for ids */
    TOKDFA_SEGMENT_OTHERWISE = -5, /* the text is to be normalized first */
    TOKDFA_SEGMENT_LONG = -6,    /* a larger buffer is needed for a word */
    TOKDFA_SEGMENT_CROWDED = -7, /* a larger cache of words would help */
    TOKDFA_SEGMENT_WRONG = -8    /* a larger buffer is needed for wrong words */
};

/* The marks of the offsets of the best way. */
enum { TOKDFA_ENDS_PIECE = 1, TOKDFA_ENDS_UNKNOWN = 2 };

/* The pieces of a model. The trie is a double array over bytes: two entries per cell, its base, and twice the cell of
   its parent, plus 1 if a piece ends here. The edge of cell c with byte b leads to cell t = cells[2 * c] + b if and
   only if cells[2 * t + 1] >> 1 == c. Cell 0 is the root, with the id of unknown characters, -1 for none. Read-only
   once it is built. */
typedef struct {
    const int32_t *cells; /* padded, so that base + 255 is always inside */
    int64_t n_cells;
    const double *scores; /* of the piece that ends in each cell; of the root: of an unknown character */
    const int32_t *ids;
    const int32_t *byte_ids; /* of each of 256 bytes, -1 for none; or none, if unknown characters do not become bytes */
    int64_t n_byte_ids;
    uint8_t single;       /* whether sums are rounded to 32 bits, and adjacent unknown characters become one id; */
    uint8_t rounded_late; /* otherwise they are looked up as a piece. Whether a sum is rounded after it is compared */
    uint8_t restarts;     /* whether each sentence begins with the score 0 */
    uint8_t has_words;    /* whether all ways pass wherever U+2581 follows something, so that words are cached */
    double longest_step;  /* the greatest magnitude of a score, including unknown characters */
    const double *id_scores; /* of each id that is a piece */
    int64_t n_id_scores;
} tokdfa_unigram;

/* The best way to the end of a node's text: its score, where the last piece begins, and the cell of that piece. It
   belongs to one thread. */
typedef struct {
    double score;
    int32_t start;
    int32_t cell;
} tokdfa_unigram_node;

/* The buffers of a call, its position, and the cache of words. It belongs to one thread. */
typedef struct {
    double *nodes; /* a buffer for nodes, two entries each */
    int64_t n_nodes;
    int64_t n_needed;
    int32_t *ids; /* a buffer for one per byte of the text */
    int64_t n_ids;
    int64_t at_a_time; /* a call pauses after about so many bytes; 0 for never */
    /* Where the call has stopped: in which sentence, the offset in the text, the sum up to there, the ids so far, and
       where a run of unknown characters begins that ends there, -1 for none. */
    int64_t sentence, at, n;
    double score;
    int64_t unknown_from;
    uint64_t *cache; /* the cache of words, see words.h: sets of entries, zeros at first */
    int64_t n_cache;
    uint64_t *overflow; /* the overflow area of entries, and the used part of it; fewer than 2^31 */
    int64_t n_overflow, used;
    int64_t n_dropped, most_dropped; /* the number of words that gave way to others; from the latter on it is crowded */
    /* The recording, one entry per byte and one more, or none: the best sum at each offset when the loop gets there,
       where its last piece begins, and the marks of the best way. Nothing is then taken from the cache. */
    double *sums;
    int64_t n_sums;
    int64_t *starts;
    int64_t n_starts;
    uint8_t *marks;
    int64_t n_marks;
} tokdfa_unigram_buffers;

void tokdfa_move_words(const uint64_t *from, int64_t n_from, uint64_t *to, int64_t n_to);

int64_t tokdfa_segment(const tokdfa_unigram *model, const uint8_t *text, const int64_t *ends, int64_t n_ends,
                       tokdfa_unigram_buffers *buffers);

/* SentencePiece's normalization of texts before they are segmented, where nothing is replaced across a space, and no
   piece or replacement has U+2581 but at the beginning of a piece. Read-only once it is built. */
typedef struct {
    const tokdfa_unigram *model;
    const int32_t *rules; /* the trie of the words that are replaced, as above */
    int64_t n_rules;
    const int32_t *rule_of; /* of each cell the number of the word, -1 for none */
    const uint8_t *replacements;
    int64_t n_replacements;
    const int64_t *starts; /* where the replacement of each word begins, and ends */
    const int64_t *stops;
    const int32_t *kept;   /* the trie of pieces that no rule touches; their words are found first */
    int64_t n_kept;
    const uint8_t *blank; /* of each byte: whether it is a space, or always becomes one */
    int64_t n_blank;
    const uint8_t *blank_low; /* of each lower half of a byte: a bit for each upper half below 8 with which it is blank */
    int64_t n_blank_low;
    const uint64_t *touched; /* a bit for each code point: whether a rule may apply where it is, or it is U+2581 */
    int64_t n_touched;
    uint8_t has_kept;
    uint8_t lacks_rules; /* whether the rules are not there yet; text that may need one must be normalized first */
    uint8_t puts_space;   /* whether a space is put before a text; */
    uint8_t trims_spaces; /* whether spaces at the ends are dropped and runs of them become one */
} tokdfa_unigram_texts;

/* The position in texts, in addition to the buffers. It belongs to one thread. */
typedef struct {
    const tokdfa_unigram_texts *texts;
    tokdfa_unigram_buffers *buffers;
    uint8_t *word; /* a buffer for a normalized word */
    int64_t n_word;
    int64_t text; /* the index of the text, and 1 for `continues` if it continues another one */
    uint8_t continues, is_begun;
    /* The last offset in it from which the call can continue, and the state there. */
    uint8_t has_space, has_text;
    int64_t at, n, unknown_from;
    double score;
} tokdfa_unigram_writer;

int64_t tokdfa_segment_texts(const uint8_t *text, const int64_t *ends, int64_t n_texts, int64_t *id_ends,
                             tokdfa_unigram_writer *writer);
int64_t tokdfa_segment_text(const uint8_t *text, int64_t n_text, tokdfa_unigram_writer *writer);

/* The ids that are proven to have the text of their pieces, one after the other. Read-only once it is built. */
typedef struct {
    const tokdfa_unigram *model;
    const uint8_t *text; /* the pieces of all ids */
    const int64_t *bounds;
    const uint8_t *kinds; /* of each id: the bits of TOKDFA_PIECE_... */
    int64_t n_kinds;
    const int32_t *specials; /* the trie of the texts of special tokens, which must not be in a word */
    int64_t n_specials;
    const uint8_t *shown; /* the bytes that all ids add to a text that has begun, with real spaces */
    const int64_t *shown_bounds;
    uint8_t keeps_spaces; /* whether a space alone is a word, but for the first of a text */
    uint8_t drops; /* TOKDFA_DROPS_...: which spaces are not in the text at its beginning */
} tokdfa_unigram_pieces;

enum {
    TOKDFA_PIECE_PLAIN = 1,
    TOKDFA_PIECE_SPACED = 2,
    TOKDFA_PIECE_BARE = 4,
    TOKDFA_PIECE_DOUBTFUL = 8,
    TOKDFA_PIECE_SPECIAL = 16,
    TOKDFA_PIECE_SHOWN = 32, /* it always adds its `shown` bytes to a text that has begun */
    TOKDFA_PIECE_ENDS = 64, /* the text is cut after it, if an id follows that */
    TOKDFA_PIECE_BEGINS = 128 /* begins after such a cut */
};

/* The spaces that decoding drops: none, the first one, or the spaces of all pieces before anything else. */
enum { TOKDFA_DROPS_NOTHING = 0, TOKDFA_DROPS_FIRST = 1, TOKDFA_DROPS_ALL = 2 };

/* Whether the right ids have the text of the wrong ones: no; yes; or to be asked of the decoder, if this is not known
   or only spaces differ. */
enum { TOKDFA_TEXT_OTHER = 0, TOKDFA_TEXT_SAME = 1, TOKDFA_TEXT_ASKED = 2 };

/* The words known to be canonical, and the position in a stream, in addition to the buffers. It belongs to one thread. */
typedef struct {
    uint8_t *word; /* a buffer for the text of a word */
    int64_t n_word;
    uint64_t *known; /* words of ids that are canonical, two entries each; a power of two of words, ones at first */
    int64_t n_known;
    uint8_t *alone; /* of each id: whether it is a word that is canonical */
    int64_t n_alone;
    int64_t size;      /* the number of bytes of the text that was accepted */
    int64_t at;        /* the number of ids that were accepted, all before a cut of the text */
    int64_t begins;    /* whether a text begins with the first id */
    int64_t at_a_time; /* a call pauses after so many ids */
    tokdfa_unigram_writer *writer; /* of the same buffers, for text that must be normalized; or none */
    /* If the call continues after wrong words: six numbers for each, the sum of scores before it, and the right ids of
       its text. The numbers are its first id and the one after its last; the end of its right ids; the bytes of the
       text before it; whether an unknown character is before it; and TOKDFA_TEXT_... */
    uint8_t goes_on;
    int64_t *wrong;
    int64_t n_wrong;
    double *sums;
    int64_t n_sums;
    int32_t *right;
    int64_t n_right;
    int64_t n_words; /* the number of these words so far, */
    int64_t n_ids;   /* and of their right ids */
} tokdfa_unigram_reader;

enum { TOKDFA_WRONG_WORD = 6 };

int64_t tokdfa_accept_ids(const tokdfa_unigram_pieces *pieces, const int32_t *ids, int64_t n,
                          tokdfa_unigram_reader *reader, tokdfa_unigram_buffers *buffers);

/* A trie under construction, in memory of its own: the cells as above, and in each the number of the key that ends
   there, -1 for none. It belongs to one thread. */
typedef struct {
    int32_t *cells;
    int32_t *keys;
    int64_t n_cells;
} tokdfa_unigram_trie;

int64_t tokdfa_build_unigram_trie(const uint8_t *text, const int64_t *offsets, int64_t n_keys, int64_t gap,
                                  tokdfa_unigram_trie *trie);
void tokdfa_free_unigram_trie(tokdfa_unigram_trie *trie);

#endif
