#ifndef TOKDFA_SEARCH_API_H
#define TOKDFA_SEARCH_API_H

#include <stdint.h>

/* The spellings of ids: the bytes of id i are bytes[starts[i] >> 1] to bytes[starts[i + 1] >> 1]. The lowest bit of
   starts[i] is set for a special token, which is read as one symbol, the edge of the text.
   Read-only once it is built. */
typedef struct {
    const uint8_t *bytes;
    int64_t n_bytes;
    const int64_t *starts;
    int64_t n_starts; /* the number of ids, plus 1 */
} tokdfa_spelled;

/* What is recorded for a state of the searching automaton; it fits into one line of the cache.
   Read-only once it is built. */
typedef struct {
    int64_t delay;       /* how many bytes ago a match has ended; -1 for none */
    int64_t restart;     /* where to restart at its end */
    int64_t right;       /* the kind of the symbol after it */
    int64_t fixed;       /* its length; 0 if that must be found */
    int64_t shorter;     /* a state whose match is the next shorter one */
    int64_t ending;      /* bytes since the end of a match if the text ends here, plus 16 times the kind after it; or -1 */
    int64_t alive;       /* the columns, modulo 64, after which the search may not be dead */
    int64_t end_restart; /* where to restart at the end of a match if the text ends here */
} tokdfa_told;

/* A searching automaton. State q goes to table[q * n_columns + c] on column c; state 0 is the sink. column_of has the
   columns of the bytes and then that of the edge of the text; boundary is the column that comes after every token, -1 for
   none. told holds a tokdfa_told per state. Most of a text is read in the state idle, in which no match has begun.
   Read-only once it is built. */
typedef struct {
    const uint16_t *column_of;
    const int32_t *table;
    int64_t n_table;
    int64_t n_columns;
    int64_t boundary;
    const int64_t *told;
    int64_t n_told;
    int64_t idle;
} tokdfa_forward;

/* A reversed automaton over classes of code points. State q goes to table[q * (n_classes + 3) + c] on class c; the
   classes are those of code points, then that of broken symbols, then that of an edge of the text. class_of has the
   class of every code point. initial has a state for every kind of the symbol after a match.
   Read-only once it is built. */
typedef struct {
    const int32_t *table;
    const uint8_t *accepts;
    const int32_t *initial;
    const uint16_t *class_of;
    int64_t n_classes;
    int64_t delayed; /* whether it takes the symbol before a match to know that it begins after that symbol */
} tokdfa_backward;

/* The effects of tokens, once they are known; see tokens.h. Read-only once it is built. */
typedef struct {
    const int32_t *properties;
    const int32_t *entries;
    const uint16_t *glances;
    const uint16_t *rows; /* 33 of them */
    int64_t second;       /* a state that many tokens lead to that are not at rest; -1 for none */
    int64_t n_classes; /* 0 when tokens have no classes */
    const int64_t *outcomes;
    int64_t n_outcomes; /* 0 when they are not known */
    const int32_t *runs;
    int64_t n_runs; /* 0 when they are not known */
    const uint64_t *marks;
    const uint64_t *groups;
} tokdfa_moves;

/* A search under way. Positions are counted in bytes from the beginning of the stream, tokens from that of the current
   chunk. It belongs to one thread. */
typedef struct {
    /* Its place: at an offset in a token that begins at the position. */
    int64_t token, offset, state, position;
    /* A match that may still become another one, and where it ends; its start, or its end if the start is not known;
       the state in which its end was seen. */
    int64_t pending, end_token, end_offset, end, start, last;
    int64_t floor;      /* no match begins before it: where the last leftmost one ended, or later */
    int64_t idle_token; /* a token before which nothing has begun to match */
    int64_t first;      /* the place of the chunk in the stream, in tokens */
    int64_t more;       /* 1 if the search has stopped because there is no room for more matches, 2 for more ids */
    int64_t settled;    /* a token of the stream before which no later match begins */
    /* Four numbers a match: its start and end in bytes, its first token and the token after its last one, all counted
       from the beginning of the stream. For a leftmost match, bits 40 and up of the third have the number of bytes of
       the first token that come before it. */
    int64_t *found;
    int64_t n_found;
    /* What has been read in vain beyond pending matches; futile has 2^k entries, all invalid at first. */
    int64_t *passed;
    int64_t n_passed;
    int64_t *futile;
    int64_t n_futile;
    int64_t has_futile;
    /* For searches for all matches: where those that end at one place begin. */
    int64_t *starts;
    int64_t n_starts;
    /* Of at_rest.h: pairs of states and tokens that are remembered, 2^k lines of them, all -1 at first; there are no more
       than 2^(k + 24) pairs. Of at_rest.h or by_class.h: the stretch at hand, and room for what is found out about it. */
    int64_t *steps;
    int64_t n_steps;
    int64_t stretch_begin, stretch_end, run;
    int64_t leads;      /* whether tokens of the stretch at hand may be assumed to lead to the second state */
    int64_t leads_next; /* the same of the next stretch */
    int64_t *room;
    int64_t n_room;
} tokdfa_search;

/* Ids that are copied to a chunk while they are searched, `step` at a time: the first `done` of them have been, and the
   chunk has been filled with `filled` ids. Those copied must be below the limit. It belongs to one thread. */
typedef struct {
    const int32_t *source;
    int64_t n_source;
    int64_t limit;
    int64_t step;
    int64_t done;
    int64_t filled;
    int64_t longest; /* the number of bytes of the longest match, 0 if there is none */
} tokdfa_copying;

/* The machine that a search runs. Read-only once it is built. */
typedef struct {
    const tokdfa_spelled *text;
    const tokdfa_forward *forward;
    const tokdfa_backward *backward;
    const tokdfa_moves *moves;
} tokdfa_machine;

int64_t tokdfa_find_leftmost(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *ids, int64_t n,
                             int64_t options);
int64_t tokdfa_find_leftmost_in_copy(const tokdfa_machine *machine, tokdfa_search *search, tokdfa_copying *copying,
                                     int32_t *ids, int64_t n, int64_t options);
int64_t tokdfa_forget(const tokdfa_spelled *text, tokdfa_search *search, int32_t *ids, int64_t n, int64_t longest);
int64_t tokdfa_find_all(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *ids, int64_t n,
                        int64_t options);

void tokdfa_alive_columns(const int32_t *table, int64_t n_states, int64_t n_columns, const uint16_t *column_of,
                          int64_t *told);
int64_t tokdfa_token_effects(const tokdfa_spelled *text, const tokdfa_forward *forward, int64_t max_effects,
                             int32_t *effect, int32_t *effects);
int64_t tokdfa_number_classes(const int32_t *effect, int64_t n_ids, int64_t n_effects, int32_t *class_of);
void tokdfa_fill_classes(const tokdfa_spelled *text, const tokdfa_forward *forward, const int32_t *effect,
                         const int32_t *effects, int64_t n_effects, const int32_t *class_of, int64_t n_classes,
                         int32_t *properties, int32_t *entries);
int64_t tokdfa_fill_glances(const int32_t *properties, int64_t n_ids, const int32_t *entries, int64_t n_classes,
                            int64_t n_states, int64_t idle, uint16_t *glances, uint16_t *rows);
void tokdfa_idle_outcomes(const tokdfa_spelled *text, const tokdfa_forward *forward, const tokdfa_backward *backward,
                          int64_t *outcomes, int32_t *runs);
void tokdfa_mark_groups(const tokdfa_spelled *text, const tokdfa_forward *forward, const int64_t *outcomes,
                        uint64_t *groups, uint64_t *marks);

#endif
