#ifndef TOKDFA_SPELLING_API_H
#define TOKDFA_SPELLING_API_H

#include <stdint.h>

/* Words by their spelling: word i begins at text[offsets[i]], and `gap` bytes of a separator, none or one, are between
   its end and the next one. Read-only once it is built. */
typedef struct {
    const uint8_t *text;
    const int64_t *offsets;
    int64_t n_offsets;
    int64_t gap;
    uint64_t *slots;
    int64_t n_slots;
    uint64_t key_0;
    uint64_t key_1;
} tokdfa_word_table;

/* Rules as they are written: two parts, separated by `inner`, and rules separated by `outer`, which may be the same.
   `found` has a row of three for each: the numbers of the left part, of the right one, and of the
   word that they make. It belongs to one thread. */
typedef struct {
    const uint8_t *text;
    int64_t n_text;
    uint8_t inner;
    uint8_t outer;
    int64_t skipped;
    int32_t *found;
    int64_t n_rules;
} tokdfa_rule_lines;

int64_t tokdfa_spelled_lengths(const int64_t *offsets, const int32_t *numbers, int64_t n, int64_t *lengths);
void tokdfa_spell(const uint8_t *text, int64_t n_text, const int64_t *offsets, const int32_t *numbers, int64_t n,
                  uint8_t *spelled, int64_t n_spelled);
/* The byte that separates words, and the parts of rules, that are read from a file. */
enum { TOKDFA_BETWEEN_WORDS = 0 };

/* A tokenizer.json and what is read of it: words with their ids, each followed by the separator; or, if it is scored,
   words with their scores, which are digits * 10^powers, with a sign; and rules, as strings or as pairs of strings,
   each followed by the separator. The places of both in the file, from the bracket to the byte after the other one. It
   belongs to one thread. */
typedef struct {
    const uint8_t *data;
    int64_t n_data;
    int64_t largest_id;
    int64_t most_ids;
    int64_t is_scored;
    uint8_t *words;
    int64_t *offsets;
    int32_t *ids;
    uint64_t *digits;
    int32_t *powers;
    uint8_t *signs;
    uint8_t *rules;
    int64_t n_ids;
    int64_t n_rules;
    int64_t n_rule_bytes;
    int64_t in_pairs;
    int64_t vocab_begin;
    int64_t vocab_end;
    int64_t merges_begin;
    int64_t merges_end;
} tokdfa_model_text;

enum { TOKDFA_LONGEST_KEY = 256, TOKDFA_MOST_PREFIXES = 32, TOKDFA_MOST_NODES = 1 << 20 };
enum { TOKDFA_CROWDED_TABLE = -1, TOKDFA_LARGE_TABLE = -2, TOKDFA_OUTSIDE_TABLE = -3 };

/* A character table of SentencePiece, and the words in it: word i begins at text[offsets[i]], with a zero byte after
   it, and has a value. It belongs to one thread. */
typedef struct {
    const uint32_t *units;
    int64_t n_units;
    uint8_t *text;
    int64_t room_for_bytes;
    int64_t *offsets; /* room for one more */
    int64_t *values;
    int64_t room_for_words;
    uint8_t *path; /* room for TOKDFA_LONGEST_KEY and one more */
    int64_t n_path;
    int64_t n_words;
    int64_t n_bytes;
    uint8_t is_utf8; /* whether all words are */
} tokdfa_charsmap;

enum { TOKDFA_LONGEST_SPELLING = 1024, TOKDFA_NORMAL_PIECE = 1, TOKDFA_MOST_KINDS = 6 };

/* The pieces of a SentencePiece model, each followed by a zero byte, with scores and kinds; and what else is in the
   model. It belongs to one thread. */
typedef struct {
    const uint8_t *data;
    int64_t n_data;
    int64_t most;
    uint8_t *text;
    int64_t *offsets;
    double *scores;
    uint8_t *kinds;
    uint8_t *left;
    int64_t n_pieces;
    int64_t n_left;
} tokdfa_piece_list;

int64_t tokdfa_read_pieces(tokdfa_piece_list *list);
enum { TOKDFA_LAST_CODE_POINT = 0x10FFFF };

int64_t tokdfa_read_charsmap(tokdfa_charsmap *map);
void tokdfa_mark_characters(const uint8_t *text, const int64_t *offsets, int64_t n_words, uint8_t *alone,
                            uint8_t *inside, uint8_t *first);
int64_t tokdfa_sort_words(const uint8_t *text, const int64_t *offsets, int64_t n_words, int64_t gap, int32_t *order);
enum { TOKDFA_HAS_WORDS = 1, TOKDFA_HAS_RULES = 2, TOKDFA_MOST_POWERS = 308 };

int64_t tokdfa_read_model(tokdfa_model_text *model);
int64_t tokdfa_enter_words(const tokdfa_word_table *table);
void tokdfa_look_up_words(const tokdfa_word_table *table, const uint8_t *text, const int64_t *offsets, int64_t n,
                          int32_t *found);
int64_t tokdfa_find_splits(const tokdfa_word_table *table, int64_t unit, int64_t low, int64_t high, int32_t *splits);
int64_t tokdfa_read_letters(const tokdfa_word_table *words, const int32_t *byte_of, int64_t n_byte_of, uint8_t *bytes,
                            int64_t *offsets, uint8_t *foreign);
int64_t tokdfa_find_rules_in(const tokdfa_word_table *table, const tokdfa_rule_lines *lines);

#endif
