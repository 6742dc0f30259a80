/* Shared by the kernels of a search: reading tokens symbol by symbol, and the effects of whole tokens. */
#ifndef TOKDFA_SEARCH_H
#define TOKDFA_SEARCH_H

#include "../common/base.h"
#include "api.h"

/* Options. */
enum { ALIGNED = 1, FINAL = 2, KINDS = 4 };

/* Why a search has stopped before the end of a chunk: the buffer of matches is full, or the buffer of ids. */
enum { MORE_MATCHES = 1, MORE_IDS = 2 };

/* The column of the edge follows the columns of the bytes. */
enum { EDGE = 256 };

/* Properties of ids, when tokens have classes: bits 0 to 15 have the class of the id, 16 to 30 its length. Entry
   q * n_classes + c of `entries` is the state that class c leads to from state q, times 4 * n_classes, plus 1 if
   something happens, and plus 2 if the search is dead after the first symbol. */
enum { LENGTH_SHIFT = 16, LENGTH_MASK = 0x7FFF, CLASS_MASK = 0xFFFF };

/* Codes of ids in the prefilter, see prefilter.c: bits 0 to 3 have the row of the id, 4 to 7 its column, and the others
   its length, or NO_LENGTH if it is not shorter. The row is IDLE_ROW if the id leads from the idle state to the idle
   state. Bit c of row r is set unless tokens of column c are accelerated after tokens of row r that are; bit c of row
   N_CODE_ROWS + r, unless they lead to the second state and nothing happens; and bit c of row 2 N_CODE_ROWS, unless
   they are accelerated after the second state. */
enum { NO_SECOND = -1, N_CODE_ROWS = 16, N_CODE_COLUMNS = 16, CODE_ROW_MASK = 15, CODE_COLUMN_MASK = 15 };
enum { CODE_COLUMN_SHIFT = 4, CODE_LENGTH_SHIFT = 8, CODE_NO_LENGTH = 255, CODE_IDLE_ROW = 1 };

/* Outcomes, the effects of a token on a state: bits 0 to 15 give where a match begins, counted from the start of the
   token, plus BIAS; bits 16 to 23 where it ends, counted likewise; then come the marks: there is a match; it is
   complete; its beginning is known only if the state is the idle one; the state is accelerated. Bits from 32 on have
   the state after the token. Whatever is less simple is INTRICATE; DEAD ends the search before it has seen another
   match. */
enum { START_MASK = 0xFFFF, BIAS = 1 << 15, END_SHIFT = 16, END_MASK = 0xFF };
enum { MATCH_BIT = 24, COMPLETE_BIT = 25, LOOSE_BIT = 26, ACCELERATED_BIT = 27, STATE_SHIFT = 32 };
enum {
    MATCH = 1 << MATCH_BIT,
    COMPLETE = 1 << COMPLETE_BIT,
    LOOSE = 1 << LOOSE_BIT,
    ACCELERATED = 1 << ACCELERATED_BIT
};
enum { INTRICATE = -1, DEAD = -2 };

/* Marks of ids, for accelerated ones: bits 0 to 39 give the groups of tokens that may lead the state after the token
   elsewhere than the idle state; from 40 on there is the group of the token; then whether something happens in it; then
   its length. */
enum { N_GROUPS = 40, GROUP_SHIFT = 40, GROUP_MASK = 0x3F, HAPPENS_SHIFT = 46, SIZE_OF_MARKS = 47 };

/* The first token of a leftmost match, with the number of bytes of that token that come before the match; the token
   after it, with KINDS, has the kind of the symbol there in the same bits. */
enum { OFFSET_SHIFT = 40 };

ALWAYS_INLINE int64_t first_token(int64_t token, int64_t offset) {
    return token | offset << OFFSET_SHIFT;
}

#define HASH 0x9E3779B97F4A7C15u

ALWAYS_INLINE int64_t begin_of(const tokdfa_spelled *text, int64_t id) {
    return text->starts[id] >> 1;
}

ALWAYS_INLINE int64_t length_of(const tokdfa_spelled *text, int64_t id) {
    return (text->starts[id + 1] >> 1) - (text->starts[id] >> 1);
}

ALWAYS_INLINE bool is_special(const tokdfa_spelled *text, int64_t id) {
    return text->starts[id] & 1;
}

ALWAYS_INLINE const tokdfa_state_info *info_of(const tokdfa_forward *forward, int64_t state) {
    return (const tokdfa_state_info *)forward->info + state;
}

ALWAYS_INLINE int64_t target(const tokdfa_forward *forward, int64_t state, int64_t column) {
    return forward->table[state * forward->n_columns + column];
}

/* The first column of a token that is not empty, or special. */
ALWAYS_INLINE int64_t first_column(const tokdfa_spelled *text, const tokdfa_forward *forward, int64_t id) {
    return forward->column_of[is_special(text, id) ? EDGE : text->bytes[begin_of(text, id)]];
}

/* A state as a part of an outcome. */
ALWAYS_INLINE int64_t state_bits(int64_t state) {
    return (int64_t)((uint64_t)state << STATE_SHIFT);
}

#endif
