#ifndef TOKDFA_SPELLING_API_H
#define TOKDFA_SPELLING_API_H

#include <stdint.h>

/* Memory: every array is allocated by Python (numpy), and lives as long as the Struct that points to it. C allocates
   only within a call, and frees before it returns; a function that does may return TOKDFA_NO_MEMORY. Words lie one
   after the other in a text: word i begins at offsets[i]. */

/* The byte that separates words, and the parts of rules, that are read from a file. */
enum { TOKDFA_BETWEEN_WORDS = 0 };

/* Words by their spelling. Read-only once it is built. */
typedef struct {
    const uint8_t *text;
    const int64_t *offsets;
    int64_t n_offsets; /* the number of words, plus 1 */
    int64_t gap;       /* the number of bytes between the end of a word and the next one, 0 or 1 */
    uint64_t *slots;   /* a hash table: part of a hash, and the index of a word plus one; see lookup.c */
    int64_t n_slots;   /* a power of two */
    uint64_t key_0;    /* the key of the hash */
    uint64_t key_1;
} tokdfa_word_table;

/* Rules as they are written: two parts each. It belongs to one thread. */
typedef struct {
    const uint8_t *text;
    int64_t n_text;
    uint8_t inner;   /* the byte between the parts of a rule */
    uint8_t outer;   /* the byte between rules; it may be the same */
    int64_t skipped; /* the number of bytes of the right part that the word lacks */
    int32_t *found;  /* written: rows of three, the indices of the left part, the right part and the word */
    int64_t n_rules;
} tokdfa_rule_lines;

/* The vocabulary and the rules of a tokenizer.json. It belongs to one thread. */
typedef struct {
    const uint8_t *data;
    int64_t n_data;
    int64_t largest_id;
    int64_t most_ids;  /* the capacity for words */
    int64_t is_scored; /* whether words have scores instead of ids */
    uint8_t *words;    /* written: each word, followed by the separator; as long as `data` */
    int64_t *offsets;  /* written: one more than words */
    int32_t *ids;      /* written: by word */
    uint64_t *digits;  /* written: by word, if it is scored: the score is digits * 10^powers, */
    int32_t *powers;
    uint8_t *signs;       /* and negative where there is a sign */
    uint8_t *rules;       /* written: strings, or pairs of strings, each followed by the separator */
    int64_t n_ids;        /* written: the number of words */
    int64_t n_rules;      /* written */
    int64_t n_rule_bytes; /* written */
    int64_t in_pairs;     /* written: whether rules are pairs */
    int64_t vocab_begin;  /* written: the offsets of both in the file, from the bracket to the byte after the other */
    int64_t vocab_end;    /* one; 0 for a part that is not there */
    int64_t merges_begin;
    int64_t merges_end;
} tokdfa_model_text;

enum { TOKDFA_LONGEST_KEY = 256, TOKDFA_MOST_PREFIXES = 32, TOKDFA_MOST_NODES = 1 << 20 };
enum { TOKDFA_CROWDED_TABLE = -1, TOKDFA_LARGE_TABLE = -2, TOKDFA_OUTSIDE_TABLE = -3 };

/* A character table of SentencePiece, and the words in it. It belongs to one thread. */
typedef struct {
    const uint32_t *units; /* the trie as Darts-clone writes it */
    int64_t n_units;
    uint8_t *text; /* written: each word, followed by a zero byte */
    int64_t most_bytes;
    int64_t *offsets; /* written: one more than words */
    int64_t *values;  /* written: by word */
    int64_t most_words;
    uint8_t *path;   /* written: the bytes that lead to the refused node; TOKDFA_LONGEST_KEY and one more */
    int64_t n_path;  /* written */
    int64_t n_words; /* written: the number of words, those included that do not fit */
    int64_t n_bytes; /* written: of these words */
    uint8_t is_utf8; /* written: whether all words are */
} tokdfa_charsmap;

enum { TOKDFA_LONGEST_SPELLING = 1024, TOKDFA_NORMAL_PIECE = 1, TOKDFA_MOST_KINDS = 6 };

/* The pieces of a SentencePiece model, and the rest of the model. It belongs to one thread. */
typedef struct {
    const uint8_t *data;
    int64_t n_data;
    int64_t most;     /* the capacity for pieces */
    uint8_t *text;    /* written: each piece, followed by a zero byte; as long as `data` */
    int64_t *offsets; /* written: one more than pieces */
    double *scores;   /* written: by piece */
    uint8_t *kinds;   /* written: by piece, from 1 to TOKDFA_MOST_KINDS */
    uint8_t *left;    /* written: all fields that are not pieces; as long as `data` */
    int64_t n_pieces; /* written */
    int64_t n_left;   /* written */
} tokdfa_piece_list;

enum { TOKDFA_LAST_CODE_POINT = 0x10FFFF };
enum { TOKDFA_HAS_WORDS = 1, TOKDFA_HAS_RULES = 2, TOKDFA_MOST_POWERS = 308 };

int64_t tokdfa_spelled_lengths(const int64_t *offsets, const int32_t *numbers, int64_t n, int64_t *lengths);
void tokdfa_spell(const uint8_t *text, int64_t n_text, const int64_t *offsets, const int32_t *numbers, int64_t n,
                  uint8_t *spelled, int64_t n_spelled);
int64_t tokdfa_read_letters(const tokdfa_word_table *words, const int32_t *byte_of, int64_t n_byte_of, uint8_t *bytes,
                            int64_t *offsets, uint8_t *foreign);
int64_t tokdfa_enter_words(const tokdfa_word_table *table);
void tokdfa_look_up_words(const tokdfa_word_table *table, const uint8_t *text, const int64_t *offsets, int64_t n,
                          int32_t *found);
int64_t tokdfa_find_splits(const tokdfa_word_table *table, int64_t unit, int64_t low, int64_t high, int32_t *splits);
int64_t tokdfa_find_rules_in(const tokdfa_word_table *table, const tokdfa_rule_lines *lines);
int64_t tokdfa_sort_words(const uint8_t *text, const int64_t *offsets, int64_t n_words, int64_t gap, int32_t *order);
int64_t tokdfa_read_model(tokdfa_model_text *model);
int64_t tokdfa_read_pieces(tokdfa_piece_list *list);
int64_t tokdfa_check_spellings(const uint8_t *text, const int64_t *offsets, const uint8_t *kinds, int64_t n,
                               uint8_t *known, int64_t *has_all);
int64_t tokdfa_read_charsmap(tokdfa_charsmap *map);
void tokdfa_mark_characters(const uint8_t *text, const int64_t *offsets, int64_t n_words, uint8_t *alone,
                            uint8_t *inside, uint8_t *first);

#endif
