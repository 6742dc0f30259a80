#ifndef TOKDFA_GUIDING_API_H
#define TOKDFA_GUIDING_API_H

#include <stdint.h>

/* Memory: every array is allocated by Python (numpy), and lives as long as the Struct that points to it. C allocates
   nothing. A state of the product is four numbers, the states of its parts: of the pre-tokenizer (`split`), the row of
   the last id, of the scan of the text for special tokens and changes by a form (`spelled`), and of the texts. */

/* The ids that may not follow a token within a piece. Read-only once it is built. */
typedef struct {
    const int32_t *pointer; /* row r has the intervals pointer[r] to pointer[r + 1]; row 0 forbids none, row 1 all */
    int64_t n_pointer;
    const int32_t *start; /* the intervals of positions; within a row they ascend and do not overlap */
    const int32_t *stop;
    const int32_t *id_at; /* the id at each position, -1 for none */
} tokdfa_followers;

/* All rows that forbid an id, as bits, for the ids for which many rows were asked. It belongs to one thread at a time. */
typedef struct {
    int32_t *of_position; /* 1 + the index of the id in `bits`; for others, minus the number of rows that were asked */
    uint32_t *bits;       /* bits[n_words * index + row / 32] */
    int64_t n_words;
    int64_t n_room; /* the number of ids that have room in `bits`, */
    int64_t n_used; /* and of those that are there */
} tokdfa_forbidding;

/* The pre-tokenizer over classes of ids. A state is core * n_cuts + cut: `cut` is the incomplete symbol at the end, 0
   for none, and core 0 is nowhere. The columns are, for each class, 2 * class + (whether a piece may cross the boundary
   before it), then one for each class of token for the part after a symbol that the token completes, one for each that
   is within a symbol, and one for each class of symbols that is completed. It belongs to one thread at a time. */
typedef struct {
    const int32_t *targets; /* targets[core * width + column]: a core, -1 until it is found; enlarged as needed */
    int64_t n_targets;
    const uint8_t *final; /* by core */
    int64_t n_final;
    const int32_t *next_cut; /* next_cut[64 * cut + (byte & 63)]: a cut, 0 for none, or -1 - class of a symbol */
    const uint32_t *head;    /* by class: the bytes that end a symbol, the first lowest; their number in the top byte */
    const int32_t *tail;     /* by class: the cut at the end */
    const uint8_t *shape;    /* by class: has whole symbols (1), only for whole pieces (2), special tokens (4) */
    int64_t n_classes;
    int64_t n_cuts;
    int64_t width; /* the number of columns */
} tokdfa_split_machine;

/* The ids of a tokenizer. Read-only once it is built. */
typedef struct {
    const int32_t *class_of; /* by id */
    int64_t n_class_of;
    const int32_t *row_of;     /* by id */
    const int32_t *position;   /* by id, in the rows; -1 for none */
    const int32_t *special_of; /* by id: its index among the special tokens; -1 for others */
    const int32_t *from_start; /* by id: the state of the scan of the text after it, from state 0; -1 if refused */
    const int32_t *spelled;    /* spelled[256 * (state / n_orders) + byte]: that scan by bytes */
    int64_t n_spelled;
    const int32_t *order_after; /* order_after[256 * (state % n_orders) + byte]: likewise, the order of combining marks */
    int64_t n_orders;
    /* after_special[n_special_columns * (state / n_orders) + special_column[k]]: likewise, after special token k */
    const int32_t *after_special;
    const int32_t *special_column;
    int64_t n_special_columns;
    const uint8_t *text;    /* the bytes of id i are text[offsets[i]] to text[offsets[i + 1]] */
    const int64_t *offsets;
    const int32_t *symbol; /* the trie over bytes, by node in depth-first order: its last byte */
    int64_t n_symbol;
    const int32_t *depth;
    const int32_t *end;         /* the nodes below node i are i + 1 to end[i] */
    const int32_t *first;       /* the words of node i are words[first[i]] to words[first[i + 1]] */
    const int32_t *words;       /* ids, in the order of the trie */
    const int32_t *byte_id;     /* the id of each byte, or -1 */
    const int32_t *special_ids; /* the special tokens */
    int64_t n_special_ids;
    const int32_t *ending; /* the ids that begin with the last bytes of a symbol, in the order of their positions */
    int64_t n_ending;
    const int32_t *ending_from; /* by position: the number of those before it */
} tokdfa_guide_ids;

/* A language of texts, and the ids in atoms: ids of one class and with one state `spelled` from state 0, whose bytes
   have equal columns. The columns are a trie in depth-first order. Read-only once it is built. */
typedef struct {
    const int32_t *table;  /* table[state * n_columns + column[byte]]; state 0 is nowhere */
    const int32_t *column; /* by byte */
    int64_t n_columns;
    const uint8_t *final; /* by state */
    int64_t n_final;
    const int32_t *distance;       /* by state: the number of bytes and special tokens up to an end */
    const uint8_t *nearest;        /* by state: the byte after which the distance is least */
    const int32_t *special_target; /* [state * n_special_columns + special_column[k]]: that after special token k */
    int64_t n_special_columns; /* each has a special token */
    const int32_t *special_column;
    int64_t n_special_column;
    const int32_t *node_column; /* by node of the trie of columns */
    int64_t n_node_column;
    const int32_t *node_depth;
    const int32_t *node_end;
    const int32_t *at_node;    /* the atoms of node i are at_node[i] to at_node[i + 1]; special tokens follow them */
    const int32_t *atom_class; /* by atom */
    int64_t n_atom_class;
    const int32_t *atom_spelled; /* by atom */
    const int32_t *atom_begin;   /* the ids of atom i are atom_ids[atom_begin[i]] to atom_ids[atom_begin[i + 1]] */
    const int32_t *atom_ids;
    const int32_t *atom_row;   /* the row of atom_bits with its ids, for an atom with many; -1 for others */
    const uint32_t *atom_bits; /* rows of one bit an id */
} tokdfa_guide_texts;

/* The results of searches, by a hash table of states, and the answers. It belongs to one thread at a time. */
typedef struct {
    int32_t *keys;   /* four numbers a slot: a state of the product */
    uint8_t *values; /* by slot: the result so far, see search.h; a power of two of slots */
    int64_t n_values;
    int64_t n_known; /* the number of slots in use */
    int32_t *low;    /* by slot: the least index on the path that can be reached, in the running search */
    int32_t *needed; /* by slot: the number of ids known to be needed up to an end */
    int32_t *enough; /* by slot: a number of ids known to be enough for an end; 0 for none */
    int32_t *trail;  /* the slots that the running search has met */
    int64_t n_trail;
    int64_t most_searched; /* the most states that one search looks at */
    int32_t *frames; /* the frames of its path, five numbers each */
    int32_t *attempts; /* the path of a search with a limit, N_ATTEMPT numbers for each entry of `trail` */
    int32_t *verdicts; /* sets of verdicts on states that differ only in the row, N_VERDICT numbers each; see verdicts.h */
    int64_t n_verdict_sets; /* a power of two */
    int64_t most_ways; /* the most ways of a verdict that are looked for, at most 48 */
    int32_t *beginnings; /* lists of N_BEGINNINGS numbers each, by a hash of the state of the pre-tokenizer: the state, the
                            number of the ids that can begin a piece, -1 if they are too many, and the ids */
    int64_t n_beginnings; /* the number of lists */
    int32_t *least_ids; /* by state of the texts: the fewest ids up to an end, canonical or not; zeros until found */
    int32_t *nearer; /* by state of the texts: the first entry of the atoms after which it needs one id less; 0 for none,
                        -1 if they are too many, -2 until they are found */
    int32_t *nearer_entries; /* three numbers an entry: some atoms, the first and the end, and the next entry; the first
                                entry is not used */
    int64_t n_nearer_entries;
    int64_t n_nearer_used; /* the number of entries in use */
    uint64_t *below; /* by node of the trie of columns: the columns below it, as bits of their numbers modulo 64 */
    uint64_t *drops; /* by state of the texts, likewise: each id that leads nearer to an end has one of these columns; 0
                        until they are found */
    int32_t *visited; /* working memory, by state of the texts: zeros at first */
    int32_t *queue;   /* working memory, by state of the texts */
    int32_t *path;   /* states along the longest word: one more entry than it has bytes */
    int32_t *trace;  /* likewise */
    int32_t *hint;   /* by a hash of the state of the pre-tokenizer: the id that last led on */
    int64_t n_hint;
    int32_t *near; /* four ids for each state of the texts; -2 until they are found */
    int32_t found_split; /* an answer: a state of the product */
    int32_t found_row;
    int32_t found_spelled;
    int32_t found_text;
    int32_t missing_core; /* an answer: a cell that the pre-tokenizer's table lacks */
    int32_t missing_column;
} tokdfa_guide_cache;

/* The prefix automaton of a tokenizer and a language. Read-only once it is built. */
typedef struct tokdfa_guide {
    const tokdfa_split_machine *splits;
    const tokdfa_followers *followers;
    tokdfa_forbidding *forbidding;
    const tokdfa_guide_ids *ids;
    const tokdfa_guide_texts *texts;
    tokdfa_guide_cache *cache;
    const struct tokdfa_guide *any; /* the one of all texts, of state 1, with its own cache; NULL if it is this one */
} tokdfa_guide;

/* The states of the parts after some ids, for any row. It belongs to one thread. */
typedef struct {
    const int32_t *ids;
    int64_t n_ids;
    int32_t *free;    /* written: of the pre-tokenizer if the row does not forbid the id; 0 for nowhere */
    int32_t *cut;     /* written: of the pre-tokenizer if it does */
    int32_t *spelled; /* written: of the scan of the text; -1 if it is refused */
    int32_t *text;    /* written: of the texts */
} tokdfa_guide_targets_job;

/* The fewest ids up to an end from each state of the texts, canonical or not. Working memory has an entry for each state
   unless it says otherwise. It belongs to one thread. */
typedef struct {
    const tokdfa_guide_texts *texts;
    const int32_t *column; /* the trie of the ids read backwards, by node in depth-first order: its last column */
    const int32_t *end;
    const uint8_t *is_id; /* by node: whether it has ids */
    int64_t n_is_id;
    int64_t most_tried; /* the most nodes of `texts` that are tried forwards from a state; see fewest.c */
    int32_t *height;  /* working memory, by node */
    int32_t *begin;   /* working memory, an entry for each state and column, and one more */
    int32_t *before;  /* working memory, an entry for each state and column */
    int32_t *gap;     /* working memory */
    int32_t *known;   /* working memory */
    int32_t *listed;  /* working memory */
    int32_t *reached; /* working memory */
    int32_t *path;    /* working memory, N_STEP_BACK numbers for each byte of the longest id and one more */
    int32_t *least;   /* written: the fewest ids; 0 where no ids lead to an end */
    uint64_t *below;  /* written: as in tokdfa_guide_cache */
} tokdfa_fewest_job;

/* The number of numbers of an entry of `path`. */
enum { N_STEP_BACK = 4 };

/* The masks of the ids that can come next, for any row: one bit an id. It belongs to one thread. */
typedef struct {
    int32_t limit;            /* the most ids after each of them up to the end of a stream; -1 for any number */
    const int32_t *ids; /* ids to be looked at one by one: all after which the scan is elsewhere than from state 0 */
    int64_t n_ids;
    uint32_t *allowed; /* written: the ids that are possible if the row does not forbid them; zeros at first */
    uint32_t *fragile; /* written: those of them that are impossible if the row forbids them; zeros at first */
    int32_t *late;     /* written, without a limit: ids that may have other bits with a limit, */
    int32_t *enough;   /* which is smaller than this one; */
    int64_t n_late;
    int64_t n_noted; /* their number; */
    int32_t floor;   /* and a limit with which no bits of others differ */
} tokdfa_guide_masks_job;

/* The number of numbers of an entry of `attempts`. */
enum { N_ATTEMPT = 12 };

/* The number of numbers of a list of ids that can begin a piece. */
enum { N_BEGINNINGS = 258 };

/* The number of numbers of a verdict. */
enum { N_VERDICT = 109 };

/* A trie, and its nodes merged by columns. The arrays that are written have an entry for each node. It belongs to one
   thread. */
typedef struct {
    const int32_t *column; /* by node */
    int64_t n_column;
    const int32_t *end;     /* by node */
    const uint8_t *is_dead; /* by column, at most 256 */
    int64_t n_is_dead;
    int32_t *node_of;       /* written: by node, the merged one; -1 if a column on the way to it is dead */
    int32_t *following;     /* working memory */
    int32_t *stack;         /* working memory */
    int32_t *merged_column; /* written: by merged node */
    int32_t *merged_depth;
    int32_t *merged_end;
} tokdfa_merge_job;

/* An automaton of the texts without banned parts, over the ids of a tokenizer. Read-only once it is built. */
typedef struct {
    const int32_t *table;  /* table[state * n_columns + column[byte]]; state 0 is banned */
    const int32_t *column; /* by byte */
    int64_t n_columns;
    const uint8_t *alive; /* by state: whether ids can follow, or the text may end */
    int64_t n_alive;
    const uint8_t *text; /* the bytes of id i are text[offsets[i]] to text[offsets[i + 1]] */
    const int64_t *offsets;
    int64_t n_offsets;
    const int32_t *symbol; /* `symbol` to `words`: their trie, as in tokdfa_guide_ids */
    int64_t n_symbol;
    const int32_t *depth;
    const int32_t *end;
    const int32_t *first;
    const int32_t *words;
} tokdfa_ban;

int32_t tokdfa_ban_step(const tokdfa_ban *ban, int32_t state, int32_t id);
int64_t tokdfa_ban_mask(const tokdfa_ban *ban, int32_t state, int32_t like, int32_t *path, uint32_t *mask);
void tokdfa_forbid(const tokdfa_followers *followers, int32_t row, const uint32_t *fragile, uint32_t *mask);
void tokdfa_fewest_ids(const tokdfa_fewest_job *job);
int64_t tokdfa_merge_nodes(tokdfa_merge_job *job);
void tokdfa_guide_enter(tokdfa_guide_cache *cache, const int32_t *keys, const uint8_t *values, const int32_t *enough,
                        int64_t n);
int32_t tokdfa_guide_target(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled, int32_t text,
                            int32_t id);
int32_t tokdfa_guide_targets(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text,
                             const tokdfa_guide_targets_job *job);
int32_t tokdfa_guide_step(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled, int32_t text,
                          int32_t id);
int32_t tokdfa_guide_goes_on(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled, int32_t text);
int32_t tokdfa_guide_within(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled, int32_t text,
                            int32_t limit);
int32_t tokdfa_guide_next(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text,
                          tokdfa_guide_masks_job *job);
int32_t tokdfa_guide_next_of(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text,
                             tokdfa_guide_masks_job *job);

#endif
