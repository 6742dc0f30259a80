#ifndef TOKDFA_ENCODE_API_H
#define TOKDFA_ENCODE_API_H

#include <stdint.h>

#include "../merging/api.h"

/* Python has to know these as well: tokdfa/kernels/encode/events.py has the same numbers, and a test compares them. */
enum {
    TOKDFA_CONTINUES = 0,
    TOKDFA_BEGINS = 1,
    TOKDFA_DROPPED = 2,
    TOKDFA_ADDED = 3,
    TOKDFA_UNSETTLED = 128,
    TOKDFA_CONTINUATION = 128,
    TOKDFA_EVENT_BITS = 2,
    TOKDFA_PAGE_BITS = 8,
    TOKDFA_WINDOW_BITS = 12,
    TOKDFA_OF_BYTES = -1,
    TOKDFA_BLOCK_BITS = 7,
    TOKDFA_NO_NUMBER = 0x1FFFFF,
    TOKDFA_LONGEST_KEPT = 512,
    TOKDFA_MANY_MISSED = 4096,
    TOKDFA_AT_ONCE = 4,
    TOKDFA_SPLIT_BLOCK = 8192,
    TOKDFA_LONGEST_PART = 4096,
    TOKDFA_LONGEST_STATE = 65536,
    TOKDFA_FOREIGN = -1,
    TOKDFA_TOO_LONG = -2,
    TOKDFA_INVALID = -3,
    TOKDFA_CUT_SHORT = -4,
    TOKDFA_FULL = -5,
    TOKDFA_LACKS_IDS = -6,
    TOKDFA_PAUSED = -7,
    TOKDFA_CROWDED = -8,
    TOKDFA_TOO_LARGE = -9,
    TOKDFA_WAITS = -10,
    TOKDFA_REFUSED = -11,
    TOKDFA_DONE = 0,
    TOKDFA_MOST_HELD = 4,
    TOKDFA_STRIPS_LEFT = 1,
    TOKDFA_STRIPS_RIGHT = 2,
    TOKDFA_SINGLE_WORD = 4,
    TOKDFA_STRIPS_ASCII = 8,
    TOKDFA_NODE = 6,
    TOKDFA_PUTS_NOTHING = 0,
    TOKDFA_PUTS = 1,
    TOKDFA_PUTS_UNLESS_THERE = 2,
    TOKDFA_PUTS_EVEN_ALONE = 3
};

/* A dictionary over characters; see characters.h. Read-only once it is built. */
typedef struct {
    const uint16_t *pages; /* code point c is entry c & 255 of page pages[c >> TOKDFA_PAGE_BITS] of the next two */
    const int32_t *symbol;   /* the symbol of a character, -1 of unknown ones */
    const uint32_t *classes; /* its class as a left neighbour, above 16 bits, and as a right one; or OF_BYTES */
    const int32_t *byte_symbol; /* 256: the symbols of unknown characters' bytes, -1 for ASCII without one; or empty */
    int64_t n_byte_symbol;
    const uint32_t *byte_class; /* the classes of these symbols */
    int64_t unknown; /* the symbol that they become otherwise, or -1: they are refused */
    int64_t fuses;   /* whether several of them side by side become one */
    const uint64_t *joins; /* bit r & 63 of joins[l * n_words + (r >> 6)] says whether a character of right class r may
                              be joined to one of left class l; 0 is the beginning of a text, 1 the boundary of a cut */
    int64_t n_words;
    const uint64_t *joins_ascii; /* 256: the same by two characters x and y, as bit y & 63 of 2 * x + (y >> 6) */
    int64_t prefix, prefix_class; /* a symbol that is put before texts, and its left class */
    int64_t puts_first, puts_later; /* when: TOKDFA_PUTS and so on, at the beginning of a text, and after added tokens */
    const tokdfa_merges *merges;
    const int32_t *ids; /* by token, -1 for those without */
} tokdfa_characters;

/* The machine of a split pattern. The states are numbered from 0 in steps of 1 << class_bits, and a cell is a state
   plus a class. A symbol has an action there: an event, or from TOKDFA_UNSETTLED on an unsettled one. Given the
   hypothesis h after it, an unsettled action has an event, and a parent: the hypothesis before it. Both are at index
   (action - TOKDFA_UNSETTLED) * width + h. A width of 8 is the fastest. Read-only once it is built. */
typedef struct {
    const uint8_t *ascii_class; /* 128 */
    const uint16_t *pages;      /* the class of code point c is in page pages[c >> TOKDFA_BLOCK_BITS] of `classes` */
    const uint8_t *classes;
    const int32_t *target; /* by cell */
    const int32_t *action; /* by cell */
    const uint8_t *settles; /* by unsettled action: whether there is one hypothesis after it */
    const uint8_t *parent;
    const uint8_t *event;
    int64_t width, class_bits;
    /* For two bytes of a class stream, which have a class together, and state number q, at (q << pair_bits) plus the
       class: above 16 bits where the entries of the state after them begin, and below the two actions. */
    const uint32_t *pairs;
    const uint8_t *pair_class;  /* 65536: by two bytes as a little-endian number */
    const int32_t *known_after; /* by class of two bytes: where the entries of the next state begin, if all states lead
                                   to one; or -1 */
    int64_t pair_bits;          /* 0 if the machine is too large */
    int64_t block;              /* the number of bytes read together, from 4 to TOKDFA_LONGEST_PART */
    int64_t least_chain;        /* segments of at least four times as many bytes are read in four parts */
    const uint8_t *borne_out; /* by the number of a state: the hypothesis that the end of the text confirms */
} tokdfa_splitting;

/* A splitting under way, and its buffers: `trail`, `trail_at` and `begun` have the same length. It belongs to one
   thread. */
typedef struct {
    const tokdfa_splitting *splitting;
    const tokdfa_characters *characters; /* if not NULL, texts are cut where nothing joins them, without a machine */
    int32_t *trail; /* the actions, less TOKDFA_UNSETTLED, since there was one hypothesis */
    int64_t n_trail;
    int64_t *trail_at; /* the offsets of their symbols */
    int64_t *begun;    /* the events, each as offset << TOKDFA_EVENT_BITS | event */
    int64_t state, n_waiting, n_begun;
    int64_t at; /* the offset in the whole text up to which it has been read */
} tokdfa_split_run;

int tokdfa_split_on(tokdfa_split_run *split, const uint8_t *text, int64_t size, int64_t base);
void tokdfa_walk_back(tokdfa_split_run *split);
int64_t tokdfa_close(const int64_t *begun, int64_t n_begun, int64_t before, int64_t *spans);
int64_t tokdfa_split_texts(tokdfa_split_run *split, const uint8_t *text, const int64_t *ends, int64_t n_texts);

/* The tables of a dictionary; see one_pass.h for words and pairs, rules.h for rules. Read-only once it is built. */
typedef struct {
    const uint32_t *slots; /* short words, and the first bytes of long ones */
    int64_t n_slots;
    const uint64_t *keys;   /* the packings of all words, cut if they are long: two entries a word */
    const uint64_t *filter; /* a bit for each hash in `slots` */
    int64_t n_filter;
    const int64_t *edges; /* the trie of the long words: two entries a slot */
    int64_t n_edges;
    const int32_t *ending;  /* by node: the word that ends there, or -1 */
    const int32_t *records; /* eight entries a token; none if words are only found */
    const uint64_t *rules;
    int64_t n_rules;
    const int32_t *of_symbols; /* 65536: the product of merging the tokens u and v below 256, at u << 8 | v */
    const int32_t *symbol;     /* 256: the token of a byte, or -1; or none at all, for words that are not bytes */
    int64_t n_symbol;
    const int32_t *ids;            /* by token: its id */
    const int32_t *ids_of_numbers; /* the same by number */
} tokdfa_token_tables;

void tokdfa_size_words(const int64_t *offsets, const uint8_t *live, int64_t n_live, int64_t *sizes);

/* The tables in which words are found, while they are filled; see tokdfa_token_tables. It belongs to one thread. */
typedef struct {
    const uint8_t *text;
    const int64_t *offsets; /* word i is text[offsets[i]] to text[offsets[i + 1]] */
    const uint8_t *live;    /* by word: whether it is to be found */
    int64_t n_live;         /* the number of words */
    uint32_t *slots;        /* zeros at first */
    int64_t n_slots;
    uint64_t *keys;
    uint64_t *filter; /* zeros at first */
    int64_t n_filter;
    int64_t *edges; /* -1 at first */
    int64_t n_edges;
    int32_t *ending;  /* -1 at first */
    int32_t *records; /* for tokdfa_find_shorter: eight entries a word */
} tokdfa_word_index;

void tokdfa_index_words(const tokdfa_word_index *words);
void tokdfa_find_shorter(const tokdfa_word_index *words);
void tokdfa_number_products(const int32_t *product, int64_t n_product, int64_t n_symbols, const int32_t *ids,
                            int32_t *number, int32_t *ids_of_numbers);
void tokdfa_index_rules(const int32_t *left, const int32_t *right, const int32_t *product, int64_t n_left,
                        const int32_t *number, uint64_t *rules, int64_t n_rules, int32_t *of_symbols);

int64_t tokdfa_merged(const tokdfa_token_tables *tables, int64_t u, int64_t v);
int64_t tokdfa_longest_token(const tokdfa_token_tables *tables, const uint8_t *text, int64_t size, int64_t begin,
                             int64_t end);
int tokdfa_allows(const tokdfa_token_tables *tables, int64_t u, int64_t v);
int64_t tokdfa_tokenize(const tokdfa_token_tables *tables, const uint8_t *text, int64_t size, int32_t *out,
                        uint64_t *left);

/* A cache of pieces; see piece_cache.h. All zeros at first. It belongs to one thread. */
typedef struct {
    uint64_t *entries;
    int64_t n_entries;
    uint64_t *overflow;
    int64_t n_overflow;
    int64_t used; /* the words of the overflow area in use */
    uint64_t *seen; /* a bit for each piece that was ever to be cached, by its hash; none if it does not grow */
    int64_t n_seen;
    int64_t n_distinct; /* the number of these bits */
    int64_t n_missed;   /* the pieces that were not at the front of a set since this was last set to 0 */
    int64_t n_again;    /* the missed pieces that had been seen before: a larger cache would have had them */
} tokdfa_piece_cache;

void tokdfa_key_of_piece(const uint8_t *text, int64_t size, int64_t begin, int64_t end, uint64_t *key);
int64_t tokdfa_look_up_piece(tokdfa_piece_cache *cache, const uint8_t *text, int64_t size, int64_t begin, int64_t end,
                            int32_t *out);
void tokdfa_move_pieces(const tokdfa_piece_cache *cache, uint64_t *entries, int64_t n_entries);
void tokdfa_cache_piece(tokdfa_piece_cache *cache, const uint8_t *text, int64_t size, int64_t begin, int64_t end,
                           const int32_t *ids, int64_t n_ids);

/* Where the tokenization of a long word pauses; see one_pass.h. It belongs to one thread. */
typedef struct {
    int64_t is_on;
    int64_t n, place, token, furthest, returned;
} tokdfa_pause;

/* The added tokens of one level as a trie on bytes, one path a node; see added.h. Read-only once it is built. */
typedef struct {
    const uint8_t *filter;    /* 576: which bytes may begin one; see `may_begin` */
    const int32_t *nodes;     /* TOKDFA_NODE entries each */
    const int32_t *children;  /* nodes by the byte with which they begin, 0 for none */
    const uint8_t *labels;
    const int32_t *window_of; /* for each node with a long label, the number of its window, -1 for others; or none */
    int64_t n_window_of;
    const int32_t *overlaps;  /* for each byte of a long label: how many bytes from there on equal its beginning */
} tokdfa_added_level;

/* The added tokens of a tokenizer: the outer ones are found first, the inner ones in the text between these. Read-only
   once it is built. */
typedef struct {
    const tokdfa_added_level *outer, *inner; /* NULL without any */
    const int32_t *ids;                      /* by token */
    const uint8_t *flags;                    /* by token: TOKDFA_STRIPS_LEFT and so on */
    const int32_t *space;                    /* the code points of white space, ascending */
    int64_t n_space;
    const uint64_t *word; /* a bit for each code point that is part of words; none without single words */
    int64_t n_word;
} tokdfa_added_tokens;

/* A search for added tokens of one level in a text, from `begin` to `end`. It continues at `at`; text up to `done`
   belongs to the tokens found before. It belongs to one thread. */
typedef struct {
    int64_t begin, end, at, done;
    int64_t space_from, space_to, space_kind; /* the white space that the last token stripped to its right */
} tokdfa_added_search;

/* An added token in a text, and the text that belongs to it. It belongs to one thread. */
typedef struct {
    int64_t start, stop, token;
} tokdfa_added_span;

/* A search at both levels. It belongs to one thread. */
typedef struct {
    tokdfa_added_search outer, inner;
    int64_t *windows; /* two a long label: from where up to where text is known to be as the label begins */
    int64_t n_windows;
    int64_t is_open;         /* whether the text continues: the search ends at a token that may be cut by its end */
    int64_t is_inner;        /* whether it is at the inner level */
    int64_t is_given;        /* whether the tokens of the outer level are given: start, stop and token each */
    const int64_t *given;
    int64_t n_given, next_given;
    tokdfa_added_span next;  /* the next token of the outer level, if is_inner; -1 at the end */
    tokdfa_added_span found; /* the last one; the token is -1 at the end, or from where on the text is open */
} tokdfa_added_scan;

int64_t tokdfa_find_added(const tokdfa_added_tokens *added, tokdfa_added_scan *scan, const uint8_t *text, int64_t size,
                          int64_t *spans, int64_t n_spans);

/* A set of windows of strings, see windows.h: one or more of each string. Read-only once it is built. */
typedef struct {
    const uint8_t *filter;   /* 576: which bytes may begin one, see `may_begin`; used if there are no bits */
    const uint64_t *bits;    /* by hash, 1 << TOKDFA_WINDOW_BITS; or none */
    int64_t n_bits;
    const uint64_t *offsets; /* by another hash: a bit for each offset in a string; a power of two, at most 2**16 */
    int64_t n_offsets;
    uint64_t mask;           /* the bytes of a window in a number of eight */
    int64_t stride;          /* 1, 2, or 4 with windows of eight bytes: so many of each string follow each other */
    int64_t last;            /* the largest offset of a window in its string, below 64 */
} tokdfa_windows;

/* Strings to find in texts, as added tokens of the outer level. Read-only once it is built. */
typedef struct {
    const tokdfa_added_tokens *added;
    const tokdfa_windows *paired, *tiny, *brief, *large; /* NULL without any; each string is in one of them */
    int64_t back; /* the size of the longest string, or the largest offset of a window and eight */
} tokdfa_strings;

int64_t tokdfa_next_window(const tokdfa_windows *windows, const uint8_t *text, int64_t at, int64_t end);
int64_t tokdfa_find_string(const tokdfa_strings *strings, tokdfa_added_scan *scan, const uint8_t *text, int64_t size,
                           int64_t *end);

int64_t tokdfa_cut_characters(const tokdfa_characters *characters, const uint8_t *text, int64_t size,
                              const int64_t *bounds, int64_t n_pieces, int64_t *begun, int64_t *firsts);

/* An encoder of pieces. It belongs to one thread, with its cache; the tables are read-only and may be shared. */
typedef struct {
    const tokdfa_token_tables *tables; /* the dictionary */
    const tokdfa_token_tables *whole;  /* the tokens that pieces spelled like them become without merging */
    tokdfa_piece_cache *cache;
    const tokdfa_characters *characters; /* how unknown pieces are encoded, or NULL: by the tables */
    const tokdfa_token_tables *one_pass; /* for pieces that are too long to be merged, or NULL: they are TOO_LONG */
    uint64_t *left;    /* zeros before and afterwards: enough to tokenize pieces of up to 64 * n_left - 1 bytes */
    int64_t n_left;
    int64_t next; /* the next event to encode */
    int64_t n;    /* the number of ids */
    int64_t at_a_time; /* a call pauses after about this many bytes, so that signals are heeded; 0 for never */
    const int32_t *added; /* the ids of the events that are ADDED, and how many are written */
    int64_t next_added;
    tokdfa_pause pause;
} tokdfa_piece_encoder;

int64_t tokdfa_encode_pieces(tokdfa_piece_encoder *pieces, const uint8_t *text, int64_t size, const int64_t *begun,
                             int64_t stop, int32_t *out, int64_t *ends);

/* An encoder of texts. It belongs to one thread. */
typedef struct {
    tokdfa_piece_encoder *pieces;
    tokdfa_split_run *split;
    int32_t *out; /* a buffer for the ids of short texts; the caller knows that they fit */
    int64_t n_out;
    int64_t lacks_ids; /* whether there are tokens without an id */
    int64_t n_pieces;  /* the number of events of `split` to be encoded */
    int64_t is_begun;  /* whether the text has been searched for its first added token */
    int64_t is_over;   /* whether the entries are the last */
    /* For several documents at a time: where the ids of each event end, and which event is the first of a document, or
       of one after it if it is empty. */
    int64_t *ends;
    int64_t n_ends;
    int64_t *marks; /* as many */
    const tokdfa_added_tokens *added; /* NULL if none are looked for */
    tokdfa_added_scan *scan;
    int32_t *added_ids; /* the ids of the ADDED events of `split`, n_found of them */
    int64_t n_added_ids, n_found;
} tokdfa_text_encoder;

int64_t tokdfa_encode_text(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size, int32_t *out);
int64_t tokdfa_encode_on(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size, int32_t *out);
int64_t tokdfa_encode_short(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size);
int64_t tokdfa_encode_documents(tokdfa_text_encoder *texts, const uint8_t *text, int64_t size, const int64_t *offsets,
                                int64_t first, int64_t n_documents, int32_t *out, int64_t *id_offsets);

int64_t tokdfa_find_utf8(void *list, int64_t n_texts, void *(*item)(void *, int64_t),
                         const uint8_t *(*utf8)(void *, int64_t *), uint64_t *places, int64_t *offsets);

/* Texts that several threads encode, in batches; see work_queue.c. Threads share it while they write: `next` and all
   after it are read and written atomically, `ids` and `id_offsets` by one thread a batch. */
typedef struct {
    const uint64_t *places;  /* where the UTF-8 of each text is */
    const int64_t *offsets;  /* where each text begins in the UTF-8 of all, and where the last one ends */
    const int64_t *bounds;   /* the first text of each batch, and the number of texts */
    int32_t *ids;            /* a buffer for the most ids a byte */
    int64_t *id_offsets;     /* zeros at first: then where the ids of each text begin, and where the last ones end */
    int64_t next;            /* the batch that is taken next */
    int64_t is_refused;      /* whether a text is refused, so that the result does not matter any more */
    int64_t *starts;         /* where the ids of each batch begin, and where the last ones end; -1 until it is known */
    int64_t *counts;         /* the number of ids of each batch, or -1 */
    int64_t n_counts;        /* the number of batches */
} tokdfa_work_queue;

/* A thread's part of a work queue. It belongs to one thread. */
typedef struct {
    tokdfa_text_encoder *encoder;
    uint8_t *text; /* a buffer for the UTF-8 of a batch */
    int64_t n_text;
    int64_t *offsets; /* of the documents in it: one more than a batch has at most */
    int32_t *room;    /* a buffer for the ids of a batch at least, the most a byte, and AT_ONCE more */
    int64_t n_room;
    int64_t batch;   /* the batch at hand, or -1, and the document that is next in it */
    int64_t document;
    int64_t *held;    /* MOST_HELD: the batches that have their ids in `room`, one after the other up to `filled` */
    int64_t n_held, filled;
    int64_t n_placed, placed; /* how many of them, and of their ids, have been copied to where they belong */
} tokdfa_queue_run;

int64_t tokdfa_encode_queue(tokdfa_queue_run *run, tokdfa_work_queue *queue);

/* Lines of a base64 word, a space and a rank; see rank_lines.c. It belongs to one thread. */
typedef struct {
    uint8_t *text;
    int64_t *offsets, *ranks, *lines;
    int64_t n_words, fault, place;
} tokdfa_rank_lines;

int64_t tokdfa_count_lines(const uint8_t *data, int64_t size);
void tokdfa_read_rank_lines(const uint8_t *data, int64_t size, tokdfa_rank_lines *found);

/* The live tokens as a trie, to construct a subsequential transducer from; see subsequential.c. Read-only once it is
   built. */
typedef struct {
    const int32_t *child; /* nodes by symbols: the trie of the live tokens, node 0 the root; -1 for no child */
    int64_t n_symbols;
    const int32_t *token; /* by node: the token that it spells, or -1 */
    int64_t n_token;
    const uint8_t *allowed; /* states of the token DFA by tokens */
    const uint8_t *goes_on; /* states by nodes: whether a longer token that begins with the node's word is allowed */
    const int32_t *reached; /* by token: the state of the token DFA after it */
    int64_t n_reached;
} tokdfa_live_trie;

/* Words of numbers, each once: word i is pool[offsets[i]] to pool[offsets[i + 1]]; `table` is their hash table.
   It belongs to one thread. */
typedef struct {
    int32_t *pool;
    int64_t n_pool;
    int64_t *offsets;
    int64_t n_offsets;
    int32_t *table;
    int64_t n_table;
    int64_t n_words;
} tokdfa_numbered_words;

/* A transducer under construction. It belongs to one thread. */
typedef struct {
    tokdfa_numbered_words *states, *outputs;
    int32_t *target, *written; /* by state and symbol: the next state, and the output on the way */
    int64_t n_target;
    int32_t *ends; /* by state: the output at the end of a text */
    int64_t n_read; /* the number of states that have their transitions */
} tokdfa_transducer_construction;

void tokdfa_rehash(tokdfa_numbered_words *words);
int tokdfa_write_out(const tokdfa_live_trie *trie, tokdfa_transducer_construction *construction);
int64_t tokdfa_transducer_partition(const int32_t *target, const int32_t *written, const int32_t *ends, int64_t n_ends,
                         int64_t n_symbols, int32_t *block);

#endif
