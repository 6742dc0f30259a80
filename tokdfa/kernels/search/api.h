#ifndef TOKDFA_SEARCH_API_H
#define TOKDFA_SEARCH_API_H

#include <stdint.h>

/* Memory: every array is allocated by Python (numpy), and lives as long as the Struct that points to it, which the
   machine or the search keeps alive. C allocates only within a call, and frees before it returns; a function that does
   may return TOKDFA_NO_MEMORY. */

/* The spellings of ids. Read-only once it is built. */
typedef struct {
    const uint8_t *bytes; /* id i has bytes[starts[i] >> 1] to bytes[starts[i + 1] >> 1] */
    int64_t n_bytes;
    const int64_t *starts; /* the lowest bit is set for a special token, which is read as one symbol, the edge */
    int64_t n_starts;      /* the number of ids, plus 1 */
} tokdfa_spelled;

/* The properties of a state of the searching automaton; they fit into one cache line. Read-only once it is built. */
typedef struct {
    int64_t delay;   /* how many bytes ago a match has ended; -1 for none */
    int64_t restart; /* where to restart at its end */
    int64_t right;   /* the kind of the symbol after it */
    int64_t fixed;   /* its length; 0 if that must be found */
    int64_t shorter; /* a state with the next shorter match */
    int64_t ending;  /* bytes since the end of a match if the text ends here, plus 16 times the kind after it; or -1 */
    int64_t alive;   /* the columns, modulo 64, after which the search may not be dead; 0 if it is */
    int64_t end_restart; /* where to restart at the end of a match if the text ends here */
} tokdfa_state_info;

/* A searching automaton. Read-only once it is built. */
typedef struct {
    const uint16_t *column_of; /* the columns of the 256 bytes and of the edge of the text */
    const int32_t *table;      /* state q goes to table[q * n_columns + c] on column c; state 0 is the sink */
    int64_t n_table;
    int64_t n_columns;   /* at most 258 */
    int64_t boundary;    /* the column that comes after every token; -1 for none */
    const int64_t *info; /* a tokdfa_state_info for each state */
    int64_t n_info;      /* eight times the number of states */
    int64_t idle;        /* the state in which most of a text is read, in which no match has begun */
} tokdfa_forward;

/* A reversed automaton over classes of code points. Read-only once it is built. */
typedef struct {
    const int32_t *table;   /* state q goes to table[q * (n_classes + 3) + c]; after the classes of code points come */
                            /* the classes of broken symbols, and of an edge of the text */
    const uint8_t *accepts; /* by state */
    const int32_t *initial; /* the state for each kind of the symbol after a match */
    const uint16_t *class_of; /* the class of every code point */
    int64_t n_classes;
    int64_t delayed; /* whether it takes the symbol before a match to know that it begins after that symbol */
} tokdfa_backward;

/* The effects of tokens, once they are known; search.h explains their bits. Read-only once it is built. */
typedef struct {
    const int32_t *properties; /* by id */
    const int32_t *entries;    /* by state and class */
    const uint16_t *codes;     /* the codes of the prefilter, by id */
    const uint16_t *rows;      /* the 33 rows of the prefilter */
    int64_t second;            /* a state that many tokens lead to that is not accelerated; -1 for none */
    int64_t n_classes;         /* 0 when tokens have no classes */
    const int64_t *outcomes;   /* by id, from the idle state */
    int64_t n_outcomes;        /* 0 when they are not known */
    const int32_t *runs;       /* by byte of the spellings: the state after it, from the idle state */
    int64_t n_runs;            /* 0 when they are not known */
    const uint64_t *marks;     /* by id */
    const uint64_t *groups;    /* two for each state */
} tokdfa_moves;

/* A search under way. Positions are counted in bytes from the beginning of the stream, tokens from the beginning of the
   current chunk. It belongs to one thread. */
typedef struct {
    int64_t token, offset;              /* where it is: at an offset in a token */
    int64_t state, position;            /* the state there; where that token begins */
    int64_t pending;                    /* whether there is a match that may still become another one */
    int64_t end_token, end_offset, end; /* where that ends */
    int64_t start;                      /* where it begins; its end if that is not known */
    int64_t last;                       /* the state in which its end was seen */
    int64_t floor;                      /* no match begins before it: where the last leftmost one ended, or later */
    int64_t idle_token;                 /* a token before which nothing has begun to match */
    int64_t first;                      /* the index of the chunk's first token in the stream */
    int64_t more;                       /* why it has stopped: 0 at the end, 1 before more matches, 2 before more ids */
    int64_t settled;                    /* a token of the stream before which no later match begins */
    int64_t *found; /* four numbers a match, counted from the beginning of the stream: start and end in bytes, */
                    /* its first token and the token after its last; for a leftmost match, bits 40 and up of */
                    /* the third have the number of bytes of the first token that come before it, and those of */
                    /* the fourth, if wanted, the kind of the symbol after it */
    int64_t n_found;
    int64_t *passed; /* keys of tokens read in vain beyond the pending match */
    int64_t n_passed;
    int64_t *futile; /* a hash table of such keys beyond earlier matches, of 2^k slots, invalid at first */
    int64_t n_futile;
    int64_t has_futile; /* whether that table is valid */
    int64_t *starts;    /* for all matches: where those that end at one position begin */
    int64_t n_starts;
    int64_t *cache; /* of pair_cache.h: 2^k lines, -1 at first, for no more than 2^(k + 24) pairs */
    int64_t n_cache;
    int64_t block_begin, block_end; /* the block of tokens that has been scanned */
    int64_t run;                    /* the next of its runs; see runs.h */
    int64_t leads;                  /* whether tokens of it may be assumed to lead to the second state */
    int64_t leads_next;             /* the same of the next block */
    int64_t *buffer;                /* the results of the scan; see runs.h and prefilter_scan.h */
    int64_t n_buffer;
} tokdfa_search;

/* Ids that are copied to a chunk while they are searched. It belongs to one thread. */
typedef struct {
    const int32_t *source; /* of the caller, who may write to it */
    int64_t n_source;
    int64_t limit;   /* ids that are copied must be below it */
    int64_t step;    /* how many are copied at a time */
    int64_t done;    /* how many have been */
    int64_t filled;  /* how many ids the chunk has */
    int64_t longest; /* the number of bytes of the longest match, 0 if there is none */
} tokdfa_copying;

/* The machine that a search runs. Read-only once it is built. */
typedef struct {
    const tokdfa_spelled *text;
    const tokdfa_forward *forward;
    const tokdfa_backward *backward;
    const tokdfa_moves *moves;
} tokdfa_machine;

/* The classes of tokens with equal effects. It belongs to one thread. */
typedef struct {
    const int32_t *effect;  /* by id: the index of its effect */
    const int32_t *effects; /* by index and state */
    int64_t n_effects;
    const int32_t *class_of; /* by effect */
    int64_t n_classes;
    int32_t *properties; /* written: by id; see search.h */
    int32_t *entries;    /* written: by state and class */
} tokdfa_class_job;

/* How words are read from bytes; ngrams.c has an example. Read-only once it is built. */
typedef struct {
    const tokdfa_spelled *text;
    const uint16_t *letters; /* by byte: the letter that it counts as; 256 if it is left out */
    const uint8_t *spaces; /* the trie of white space: node q goes to spaces[256 * q + b]; 0 for none, 255 at the end */
    int64_t n_spaces;
    const uint8_t *held;     /* by node four bytes: the number of the bytes on the way to it, and these */
    const uint64_t *effects; /* by id two numbers; see ngrams.h */
    int64_t n_effects;
} tokdfa_word_reader;

/* The n-grams that are looked for, built by tokdfa_number_ngrams. Read-only once it is built. */
typedef struct {
    const uint8_t *bytes; /* the words of all items, one space between two of an item */
    int64_t n_bytes;
    const int64_t *items; /* where each item begins in them, and where the last one ends */
    int64_t n_items;      /* the number of items, plus 1 */
    int64_t n;            /* the number of words of an n-gram */
    uint64_t *ring;       /* the hashes of n words, and where these begin */
    int64_t n_ring;
    int32_t *of_item; /* the n-gram at each word of each item, but for its last n - 1 words */
    int64_t n_of_item;
    int64_t *spans; /* by n-gram: where it begins and ends in the bytes */
    int64_t n_spans;
    uint64_t *filter; /* three bits a hash; 2^k numbers */
    int64_t n_filter;
    uint64_t *table; /* a hash table with 2^k slots of two numbers, at most half of them in use: the hash of an n-gram, */
                     /* and the n-gram plus 1; 0 in slots that are not in use */
    int64_t n_table;
} tokdfa_ngram_set;

/* How often n-grams have been found in a file, and the text that the next ids continue. It belongs to one thread. */
typedef struct {
    int64_t *counts; /* by n-gram: how often, in how many documents, and in which one last, from 1 */
    int64_t n_counts;
    int64_t *of_items; /* by item: the number of documents with one of its n-grams, and which one was last */
    int64_t n_of_items;
    const int64_t *owners; /* by n-gram: where its items begin in `owned` */
    const int32_t *owned;
    int64_t document; /* the number of the current document, from 1 */
    int64_t longest;  /* the number of bytes of the longest word that is looked for */
    uint8_t *carry;   /* the last words of the text so far, which may be part of a later n-gram */
    int64_t n_filled; /* the number of bytes of these */
    uint8_t *scratch; /* as large as carry: n words of the longest length */
    int64_t n_carry;
    uint64_t *hashes; /* of the last n words and of those being read */
    uint64_t *ends;   /* where these end */
    int64_t n_hashes; /* n, and the number of words that are looked up at once */
} tokdfa_ngram_tally;

int64_t tokdfa_find_leftmost(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *ids, int64_t n,
                             int64_t options);
int64_t tokdfa_find_leftmost_in_copy(const tokdfa_machine *machine, tokdfa_search *search, tokdfa_copying *copying,
                                     int32_t *ids, int64_t n, int64_t options);
int64_t tokdfa_forget(const tokdfa_spelled *text, tokdfa_search *search, int32_t *ids, int64_t n, int64_t longest);
int64_t tokdfa_find_all(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *ids, int64_t n,
                        int64_t options);

void tokdfa_alive_columns(const int32_t *table, int64_t n_states, int64_t n_columns, const uint16_t *column_of,
                          int64_t boundary, int64_t *info);
int64_t tokdfa_token_effects(const tokdfa_spelled *text, const tokdfa_forward *forward, int64_t max_effects,
                             int32_t *effect, int32_t *effects);
int64_t tokdfa_number_classes(const int32_t *effect, int64_t n_ids, int64_t n_effects, int32_t *class_of);
void tokdfa_fill_classes(const tokdfa_spelled *text, const tokdfa_forward *forward, const tokdfa_class_job *job);
int64_t tokdfa_fill_prefilter(const int32_t *properties, int64_t n_ids, const int32_t *entries, int64_t n_classes,
                              int64_t n_states, int64_t idle, uint16_t *codes, uint16_t *rows);
void tokdfa_idle_outcomes(const tokdfa_spelled *text, const tokdfa_forward *forward, const tokdfa_backward *backward,
                          int64_t *outcomes, int32_t *runs);
void tokdfa_mark_groups(const tokdfa_spelled *text, const tokdfa_forward *forward, const int64_t *outcomes,
                        uint64_t *groups, uint64_t *marks);

void tokdfa_word_effects(const tokdfa_word_reader *reader, uint64_t *effects);
int64_t tokdfa_number_ngrams(const tokdfa_word_reader *reader, tokdfa_ngram_set *set);
void tokdfa_count_ngrams(const tokdfa_word_reader *reader, const tokdfa_ngram_set *set, tokdfa_ngram_tally *tally,
                         const int32_t *ids, int64_t n_ids, const int64_t *starts, int64_t n_starts, int64_t is_last);

#endif
