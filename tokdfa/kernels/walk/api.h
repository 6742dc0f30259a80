#ifndef TOKDFA_WALK_API_H
#define TOKDFA_WALK_API_H

#include <stdint.h>

#include "../fold/api.h"
#include "../normalization/api.h"

/* The table of the pair test while it is built; see pairs.py. It belongs to one thread. */
typedef struct {
    const int32_t *parent;
    const int32_t *start;
    const int32_t *stop;
    const int32_t *states;
    int64_t n_states;
    int64_t n_columns;
    int64_t first_dead;
    int32_t *row_of;
    int64_t n_row_of; /* the number of states and one more */
    int32_t *blocks;
    uint64_t *hashes;
    int32_t *rows;
    int64_t n_rows; /* the slots for rows by hash */
    uint64_t *bits;
    int64_t n_bits;
    int32_t *known;
    int64_t n_known;
    int64_t *own;
    int64_t done;
    int64_t n_made;
    int64_t n_distinct;
} tokdfa_pair_job;

/* The pair test over ids. With a table, `lookup` has for each id the index in `blocks` where its row begins, times
   2^32, plus its column; without one it is empty. `tokens` has for each id its live token, or one of PAIR_... of
   pairs.h. `memo` has the answers of the last pairs by hash, a power of two of them or none; threads exchange an entry
   at a time, and any of them is right. Apart from these: Read-only once it is built. */
typedef struct {
    const int64_t *lookup;
    int64_t n_lookup;
    const int32_t *blocks;
    const uint64_t *bits;
    const int32_t *tokens;
    const tokdfa_folding *folding;
    uint64_t *memo;
    int64_t n_memo;
} tokdfa_pair_test;

int64_t tokdfa_build_pair_table(tokdfa_pair_job *job);
void tokdfa_mark_pairs(const tokdfa_pair_test *test, const int32_t *ids, int64_t n, int64_t behind,
                       uint8_t *forbidden);

/* Words to be taken apart into the bytes that end a symbol begun before, whole symbols, and a symbol cut short; see
   parts.py. It belongs to one thread. */
typedef struct {
    const uint8_t *text;
    const int64_t *offsets;
    int64_t n_words;
    const uint8_t *skipped;
    const uint16_t *class_of;
    int64_t n_classes;
    const int32_t *children;
    const int32_t *following;
    uint64_t *key;
    uint8_t *told;
    int64_t word;   /* the words before this one are done */
    int64_t before; /* the effect and the class of the symbol after it for which no effect is known */
    int64_t symbol;
} tokdfa_part_job;

int tokdfa_take_apart(tokdfa_part_job *job);
int64_t tokdfa_completions(const uint16_t *class_of, uint32_t cut, int64_t n, int32_t *runs);
int64_t tokdfa_number_keys(const uint64_t *keys, int64_t n, int32_t *known, int64_t n_known, uint64_t *distinct,
                           int64_t most, int32_t *number);
void tokdfa_outer_symbols(const uint8_t *text, const int64_t *offsets, int64_t n_words, int32_t *first, int32_t *last);

/* The tables for walking over a stream; the marks of entries are in walk.py. Read-only once it is built. Only entries of `other` and `allowed`
   that were unknown are filled in meanwhile by their owner, one at a time and in this order; a walk that does not see
   that yet stops there, and is continued. */
typedef struct {
    const uint16_t *class_of; /* of each id */
    int64_t n_class_of;       /* the number of ids */
    const uint16_t *length_of; /* of each id: the number of its bytes, text[offsets[i]:offsets[i + 1]] */
    const uint32_t *allowed;  /* the entry of row r and class c, at r + c, where the pair is allowed */
    const uint32_t *other;    /* where it is not */
    const uint8_t *is_final;  /* of each row: whether a text may end there */
    int64_t width;            /* row i begins at i * width */
    int64_t initial;          /* where the row of the initial state begins */
    const int32_t *trigger;   /* class c has the nodes node_at[trigger[c]:trigger[c + 1]] */
    const int32_t *node_at;   /* nodes of the reversed trie of all special tokens */
    int64_t n_node_at;
    const int32_t *children;  /* of node n on byte b, at 256 * n + b: 0 for none, -1 for a whole special token */
    const uint8_t *text;
    const int64_t *offsets;
    const int64_t *doubt_keys; /* with the next three: the sequences of ids that call for a closer look */
    int64_t n_doubt_keys;
    const int32_t *doubt_range;
    const int32_t *doubt_bounds;
    const int32_t *doubt_ids;
    const tokdfa_pair_test *pairs;
    const uint8_t *role; /* of each class: 0, or JOINS and PARTS as bits; JOINS calls for LOOK and CLOSELY */
    int64_t n_role;
    const tokdfa_form *form; /* it has boundaries if a class has JOINS */
} tokdfa_walker;

/* How far a walk is: the next id, the index in the tables where the row of the state before it begins, and the number
   of bytes of the ids walked over. It belongs to one thread. */
typedef struct {
    int64_t at;
    int64_t row;
    int64_t size;
} tokdfa_place;

int tokdfa_walk(const tokdfa_walker *walker, const uint32_t *ids, int64_t n, tokdfa_place *place);
int tokdfa_accepts(const tokdfa_walker *walker, const void *ids, int64_t size, int64_t n, int64_t reach,
                   tokdfa_place *place);

/* Whether text is always cut between two ids: `certain[n_classes * last_symbol[left] + first_symbol[right]]`. Read-only
   once it is built. */
typedef struct {
    const int32_t *first_symbol;
    const int32_t *last_symbol;
    const uint8_t *certain;
    int64_t n_classes;
} tokdfa_cuts;

/* A walk over many streams that continues after violations; stream k has the ids from begins[k] to ends[k]. `found`
   gets `count` pairs: the first id of a part with violations, and the id after its last one; see walk.py. It belongs to
   one thread. */
typedef struct {
    const int64_t *begins;
    const int64_t *ends;
    int64_t n_begins;
    int64_t back;  /* a violation starts at most this many ids, 1 or more, before its detection, except for */
    int64_t reach; /* a special token that the text spells, which begins at most this many ids before its end */
    int64_t n_closed; /* the number of streams that end; the streams after them continue */
    int64_t *found;
    int64_t room;
    int64_t count;
    int64_t stream; /* where the walk is: the stream, the id in it, the row before it, the ids to walk over at once */
    int64_t at;
    int64_t row;
    int64_t step;
    int64_t size; /* the number of bytes of the ids walked over */
} tokdfa_wrong_job;

int tokdfa_wrong_parts(const tokdfa_walker *walker, const tokdfa_cuts *cuts, const uint32_t *ids,
                       tokdfa_wrong_job *job);

/* Whether text is always cut between two symbols: `certain[n_classes * class_of[left] + class_of[right]]`. Read-only
   once it is built. */
typedef struct {
    const uint16_t *class_of; /* of each code point */
    const uint8_t *certain;
    int64_t n_classes;
} tokdfa_text_cuts;

int64_t tokdfa_broken(const tokdfa_text_cuts *cuts, const uint8_t *text, const int64_t *ends, const int64_t *bounds,
                      int64_t n_texts, int64_t *rows, int64_t room);
/* Tokenizations of texts, one after the other: text k has the ids from bounds[k] to bounds[k + 1]. Its id i ends at
   ends[i] - starts[k] in the text, not before the end of the previous id; if that is below 0, the id adds nothing.
   Read-only once it is built. */
typedef struct {
    const int32_t *ids;
    const int64_t *ends;
    const int64_t *bounds;
    const int64_t *starts;
} tokdfa_tokenizations;

int64_t tokdfa_differences(const tokdfa_tokenizations *given, const tokdfa_tokenizations *other, int64_t n_texts,
                           int64_t *rows, int64_t room);
int tokdfa_ends_but_for_spaces(const uint8_t *text, int64_t n, const uint8_t *other, int64_t n_other,
                               const int64_t *other_ends, int64_t n_ends, int64_t *ends);
void tokdfa_offsets_at(const uint16_t *length_of, const int32_t *ids, const int64_t *indices, int64_t n,
                       int64_t *offsets);

/* Ids by their spelling: word i has the bytes of `text` from offsets[i] to offsets[i + 1], and eight more bytes follow
   the last one. Text k has the ids from bounds[k] to bounds[k + 1]. Read-only once it is built. */
typedef struct {
    const uint8_t *text;
    const int64_t *offsets;
    const int32_t *ids;
    const int64_t *bounds;
} tokdfa_spelled_ids;

/* The units of two streams. It belongs to one thread. */
typedef struct {
    int64_t *a_ends;  /* written: by unit, the id after the last one */
    int64_t *b_ends;  /* written */
    int64_t *offsets; /* written: by unit, the byte after the last one */
    int64_t *texts;   /* written: by text, the number of units up to its end */
} tokdfa_units;

int64_t tokdfa_align(const tokdfa_spelled_ids *a, const tokdfa_spelled_ids *b, int64_t n_texts,
                     const tokdfa_units *units);

/* A cache of a function of pairs of numbers, from -1 up to, but without, 2^30 - 2: a power of two of entries, 4 or
   more. Each is a pair, both numbers plus 1, above its value, less than 15; or ones, without a pair. Each 4 neighbours
   are a set for the same pairs, the last one entered first. Threads share it while they write: they exchange an entry
   at a time. */
typedef struct {
    uint64_t *entries;
    int64_t n_entries;
} tokdfa_pair_cache;

void tokdfa_cache_pairs(tokdfa_pair_cache *cache, const int32_t *left, const int32_t *right, int64_t n,
                        const uint8_t *values);

int64_t tokdfa_cached_pairs(const tokdfa_pair_cache *cache, const int32_t *left, const int32_t *right, int64_t n,
                            uint8_t *values);

/* The properties of ids that decide about neighbours in a text: the first and the last character, -1 for none; `kinds`,
   bits of neighbours.h; `alone`, whether it is the only one of its own text, which is filled in meanwhile by its owner;
   and `byte_of`, the byte that it is read as, -1 for none. `touches` is whether the beginning and the end of a text are
   changed. Read-only once it is built. */
typedef struct {
    const int32_t *first;
    const int32_t *last;
    const uint8_t *kinds;
    const uint8_t *alone;
    const int32_t *byte_of;
    uint8_t touches;
} tokdfa_neighbours;

int64_t tokdfa_by_characters(const tokdfa_neighbours *tables, const tokdfa_pair_cache *cache, const int32_t *ids,
                             int64_t n, uint8_t *states, uint8_t *seen);
void tokdfa_between_bytes(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n, uint8_t *states);
void tokdfa_beside_specials(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n, uint8_t *states);
int64_t tokdfa_find_inner_pairs(const tokdfa_pair_cache *cache, const int32_t *ids, int64_t n, uint8_t *states);
void tokdfa_mark_cuts(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n, const uint8_t *states, int begins,
                      uint8_t *marks);
int64_t tokdfa_doubtful_parts(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n, const uint8_t *states,
                              int begins, int64_t *parts, int64_t room);

int64_t tokdfa_byte_runs(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n, int64_t *runs, int64_t room);
void tokdfa_run_characters(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n, const int64_t *places,
                           int64_t n_places, int64_t step, int is_all, int32_t *characters);
void tokdfa_mark_broken(const uint8_t *text, const int64_t *bounds, int64_t n, uint8_t *marks);

#endif
