"""What searches are given, and what they keep from one chunk of ids to the next.

Positions are counted in bytes from the beginning of the stream, tokens from the beginning of the chunk.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from tokdfa.kernels.backwards import SHORTS
from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = ["FORWARD", "REGISTERS", "TOKENS", "Forward", "Tokens"]

# What is kept from one chunk of ids to the next.
TOKEN, OFFSET, STATE, POSITION = 0, 1, 2, 3  # Where the search stands, in a token that begins at the position.
PENDING, END_TOKEN, END_OFFSET, END = 4, 5, 6, 7  # A match that may still become another one, and where it ends.
START, LAST = 8, 9  # Where it begins, its end if that is not known; the state in which its end was seen.
FLOOR = 10  # Where the last match ended; no match begins before it.
IDLE = 11  # A token before which nothing has begun to match.
REGISTERS = 12

# Options.
ALIGNED, FINAL = 1, 2

# Properties of ids, when tokens have classes.
NOT_NEUTRAL = np.int32(-(1 << 31))
LENGTH_SHIFT = 16
LENGTH_MASK = 0x7FFF
CLASS_MASK = 0xFFFF

# What is told of a state, all of it in one line of the cache: how many bytes ago a match has ended, -1 for none; where
# to begin anew at its end; the kind of the symbol behind it; its length, 0 if that must be found; a state whose match
# is the next shorter one; how many bytes ago a match ends if the text ends here, plus 16 times the kind behind it, -1
# for none; the columns, modulo 64, behind which the search may not be dead; where to begin anew at the end of a match
# if the text ends here.
DELAY, RESTART, RIGHT, FIXED, SHORTER, ENDING, ALIVE, END_RESTART, N_TOLD = 0, 1, 2, 3, 4, 5, 6, 7, 8

# What is told of an id: a record; its outcome; where its columns begin; where its bytes begin.
RECORD, OUTCOME, BEGIN, BYTES_BEGIN, N_WORD = 0, 1, 2, 3, 4

# Records: bits 0 to 5 have the first column modulo 64, bit 7 tells whether the token is special; then comes its length.
FIRST_MASK = 0x3F
CUT = 0x80
SIZE_SHIFT = 8

# Outcomes, what a token does to a state: bits 0 to 15 tell where a match begins, counted from the token's start, plus
# `BIAS`; 16 to 23 where it ends, counted likewise; then come the marks: there is a match; it is complete; where it
# begins is known if the state is the idle one only; the state is at rest. Those from 32 on have the state behind the
# token. What is less simple is `INTRICATE`; `DEAD` is what ends the search before it has seen another match.
START_MASK, BIAS, END_SHIFT, END_MASK = 0xFFFF, 1 << 15, 16, 0xFF
MATCH_BIT, COMPLETE_BIT, LOOSE_BIT, AT_REST_BIT, STATE_SHIFT = 24, 25, 26, 27, 32
MATCH, COMPLETE, LOOSE, AT_REST = 1 << MATCH_BIT, 1 << COMPLETE_BIT, 1 << LOOSE_BIT, 1 << AT_REST_BIT
INTRICATE, DEAD = -1, -2

# Marks of ids, for those at rest: bits 0 to 39 tell by which groups of tokens the state behind the token may be led to
# another place than the idle one; from 40 on there is the group of the token; then whether something happens in it.
N_GROUPS, GROUP_SHIFT, GROUP_MASK, HAPPENS_SHIFT, SIZE_OF_MARKS = 40, 40, 0x3F, 46, 47

HASH = np.int64(-7046029254386353131)


class Forward(NamedTuple):
    """A searching automaton; see :class:`tokdfa.automata.utf8.ByteDFA`.

    State q goes to ``table[q * n_columns + c]`` on column c. The columns of an id, from its `BEGIN` on in `columns`,
    are those of its bytes, or that of the edge of the text for a special token; `border` is the one that stands behind
    every token, -1 for none. `told` has `N_TOLD` entries a state.
    """

    columns: npt.NDArray[np.uint16]
    table: Ints
    n_columns: int
    border: int
    told: Longs


class Tokens(NamedTuple):
    """What tokens do.

    `words` has `N_WORD` entries an id.

    When tokens have classes, `properties` has in bits 0 to 15 the class of an id, in 16 to 30 its length, and a sign
    unless it leads from the idle state to the idle state and nothing happens on the way; entry ``q * n_classes + c`` of
    `entries` is the state that class c leads to from state q, times ``4 * n_classes``, plus 1 if something happens, and
    plus 2 if the search is dead behind the first symbol.

    When they have none but `runs` are there, these are the states on the way from the idle state, one for each of
    `Forward.columns`; `outcomes` are those of ids from the idle state, and `marks` what is noted beside. Entry 2 q of
    `groups` has the groups of tokens that may lead state q to where they do not lead the idle one, entry 2 q + 1 those
    that may not end the search at once.

    Otherwise everything is read symbol by symbol.
    """

    words: Longs
    properties: Ints
    entries: Ints
    n_classes: int
    idle: int
    runs: Ints
    outcomes: Longs
    marks: Longs
    groups: Longs


FORWARD = nb.types.NamedTuple((SHORTS, INTS, nb.int64, nb.int64, LONGS), Forward)  # type: ignore[no-untyped-call]
TOKENS = nb.types.NamedTuple(  # type: ignore[no-untyped-call]
    (LONGS, INTS, INTS, nb.int64, nb.int64, INTS, LONGS, LONGS, LONGS), Tokens
)
