#ifndef TOKDFA_GUIDING_API_H
#define TOKDFA_GUIDING_API_H

#include <stdint.h>

/* The ids that may not follow a token within a piece: row r forbids those at the positions start[i] to stop[i] of
   `id_at` (-1 for none), for i from pointer[r] to pointer[r + 1]; they ascend and do not overlap. Row 0 forbids none, row 1
   all. Read-only once it is built. */
typedef struct {
    const int32_t *pointer;
    int64_t n_pointer;
    const int32_t *start;
    const int32_t *stop;
    const int32_t *id_at;
} tokdfa_followers;

/* The pre-tokenizer over classes of ids. A state is core * n_cuts + cut: `cut` is the incomplete symbol at the end, 0
   for none, and core 0 is nowhere. targets[core * width + column] is a core, or -1 if it has not been found yet; the
   columns are, for each class, 2 * class + (whether a piece may cross the boundary before it), then those of what follows
   a symbol completed within the token, those of tokens within a symbol, and one for each class of symbols that is
   completed. next_cut[64 * cut + (byte & 63)] is the cut after one more byte, 0 for none, or -1 - the class of a whole
   symbol. By class: `head` has the bytes that end a symbol, the first one lowest, and their number in the highest byte;
   `tail` the cut at the end; `shape` whether the class has whole symbols (1), is given only for whole pieces (2), or is
   that of special tokens (4). The tables are exchanged for larger ones. It belongs to one thread at a time. */
typedef struct {
    const int32_t *targets;
    int64_t n_targets;
    const uint8_t *final;
    int64_t n_final;
    const int32_t *next_cut;
    const uint32_t *head;
    const int32_t *tail;
    const uint8_t *shape;
    int64_t n_classes;
    int64_t n_cuts;
    int64_t width;
} tokdfa_split_machine;

/* The ids of a tokenizer: the class and the row of each, its position in the rows (-1 for none), its number among the
   special tokens (-1 for others), and the state in which the search for special tokens is after it, from state 0 (-1 if
   one is found). spelled[256 * state + byte] is that search by bytes. The words are in the order of the trie over bytes:
   those of node i are words[first[i]] to words[first[i + 1]], and the nodes below it are i + 1 to end[i]. `byte_id` has
   the id of each byte, or -1; `special_ids` the special tokens;
   `ending` the ids that begin with the last bytes of a symbol, in the order of their positions, and ending_from[p] is the
   number of those before position p. Read-only once it is built. */
typedef struct {
    const int32_t *class_of;
    int64_t n_class_of;
    const int32_t *row_of;
    const int32_t *position;
    const int32_t *special_of;
    const int32_t *from_start;
    const int32_t *spelled;
    int64_t n_spelled;
    const uint8_t *text;
    const int64_t *offsets;
    const int32_t *symbol;
    int64_t n_symbol;
    const int32_t *depth;
    const int32_t *end;
    const int32_t *first;
    const int32_t *words;
    const int32_t *byte_id;
    const int32_t *special_ids;
    int64_t n_special_ids;
    const int32_t *ending;
    int64_t n_ending;
    const int32_t *ending_from;
} tokdfa_guide_ids;

/* A language of texts: table[state * n_columns + column[byte]], state 0 being nowhere; `distance` is the number of bytes
   and special tokens up to an end, and nearest[state] the byte after which it is least. special_target[state *
   n_specials + k] is the state after the special token k. The ids are in groups, those of equal columns, as a trie in
   depth-first order; the atoms of node i are at_node[i] to at_node[i + 1], those of special tokens follow them. An atom
   has the ids from its begin to that of the next, all of one class and with the same state `atom_spelled` from state 0.
   Those of an atom with many ids are row `atom_row` of `atom_bits`, too, one bit an id; -1 for the others. Read-only
   once it is built. */
typedef struct {
    const int32_t *table;
    const int32_t *column;
    int64_t n_columns;
    const uint8_t *final;
    int64_t n_final;
    const int32_t *distance;
    const uint8_t *nearest;
    const int32_t *special_target;
    int64_t n_specials;
    const int32_t *node_column;
    int64_t n_node_column;
    const int32_t *node_depth;
    const int32_t *node_end;
    const int32_t *at_node;
    const int32_t *atom_class;
    int64_t n_atom_class;
    const int32_t *atom_spelled;
    const int32_t *atom_begin;
    const int32_t *atom_ids;
    const int32_t *atom_row;
    const uint32_t *atom_bits;
} tokdfa_guide_texts;

/* What searches remember, and their answers. `keys` has four numbers a slot, the places; `values` what is known of them;
   `low` is of the running search, as are `trail` (slots) and the frames of its path, five numbers each. The number of
   slots is a power of two. `path` and `trace` have room for the states along the longest word. `hint` has the ids that
   last led on, by a hash, and `near` four ids a state of the texts (-2: not yet found). The answers are `found_...`, a
   place, and `missing_...`, a cell of the pre-tokenizer's table. It belongs to one thread at a time. */
typedef struct {
    int32_t *keys;
    uint8_t *values;
    int64_t n_values;
    int64_t n_known;
    int32_t *low;
    int32_t *trail;
    int64_t n_trail;
    int32_t *frames;
    int32_t *path;
    int32_t *trace;
    int32_t *hint;
    int64_t n_hint;
    int32_t *near;
    int32_t found_split;
    int32_t found_row;
    int32_t found_spelled;
    int32_t found_text;
    int32_t missing_core;
    int32_t missing_column;
} tokdfa_guide_room;

/* The prefix automaton of a tokenizer and a language. `any` is that of all texts, of state 1, which has another room; NULL
   if it is this one. Read-only once it is built. */
typedef struct tokdfa_guide {
    const tokdfa_split_machine *splits;
    const tokdfa_followers *followers;
    const tokdfa_guide_ids *ids;
    const tokdfa_guide_texts *texts;
    tokdfa_guide_room *room;
    const struct tokdfa_guide *any;
} tokdfa_guide;

/* What texts may have, over the ids of a tokenizer: table[state * n_columns + column[byte]], state 0 for what is banned;
   `alive` are the states from which ids go on or may end. The bytes of an id are text[offsets[id]] to
   text[offsets[id + 1]]; `symbol` to `words` are their trie, as in tokdfa_guide_ids. Read-only once it is built. */
typedef struct {
    const int32_t *table;
    const int32_t *column;
    int64_t n_columns;
    const uint8_t *alive;
    int64_t n_alive;
    const uint8_t *text;
    const int64_t *offsets;
    int64_t n_offsets;
    const int32_t *symbol;
    int64_t n_symbol;
    const int32_t *depth;
    const int32_t *end;
    const int32_t *first;
    const int32_t *words;
} tokdfa_ban;

int32_t tokdfa_ban_step(const tokdfa_ban *ban, int32_t state, int32_t id);
int64_t tokdfa_ban_mask(const tokdfa_ban *ban, int32_t state, int32_t like, int32_t *path, uint32_t *mask);
void tokdfa_forbid(const tokdfa_followers *followers, int32_t row, const uint32_t *fragile, uint32_t *mask);
int64_t tokdfa_merge_nodes(const int32_t *column, const int32_t *end, int64_t n_nodes, const uint8_t *is_dead,
                           int64_t n_columns, int32_t *node_of, int32_t *following, int32_t *stack,
                           int32_t *merged_column, int32_t *merged_depth, int32_t *merged_end);
void tokdfa_guide_enter(tokdfa_guide_room *room, const int32_t *keys, const uint8_t *values, int64_t n);
int32_t tokdfa_guide_target(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled, int32_t text,
                            int32_t id);
int32_t tokdfa_guide_targets(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text,
                             const int32_t *ids, int64_t n, int32_t *free, int32_t *cut, int32_t *spelled_to,
                             int32_t *text_to);
int32_t tokdfa_guide_step(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled, int32_t text,
                          int32_t id);
int32_t tokdfa_guide_goes_on(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled, int32_t text);
int32_t tokdfa_guide_next(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text,
                          const int32_t *differing, int64_t n_differing, uint32_t *allowed, uint32_t *fragile);

#endif
