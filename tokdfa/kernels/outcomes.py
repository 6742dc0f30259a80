"""What tokens do to the states of a search, read symbol by symbol."""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.backwards import BACKWARD, TEXT
from tokdfa.kernels.search_types import (
    ALIVE,
    AT_REST,
    BEGIN,
    BIAS,
    BYTES_BEGIN,
    COMPLETE,
    CUT,
    DEAD,
    DELAY,
    END_MASK,
    END_SHIFT,
    FIXED,
    FORWARD,
    INTRICATE,
    LOOSE,
    MATCH,
    N_TOLD,
    N_WORD,
    OUTCOME,
    RECORD,
    RIGHT,
    SIZE_SHIFT,
    STATE_SHIFT,
)
from tokdfa.kernels.types import LONGS

__all__ = ["idle_outcomes", "outcome_of", "state_behind"]


@nb.njit((FORWARD, LONGS, TEXT, BACKWARD, nb.int64), cache=True)
def idle_outcomes(forward, words, text, backward, idle):  # type: ignore[no-untyped-def]
    """Return `words` with the outcomes that have matches, all outcomes from the idle state, and `runs`; see `Tokens`.

    An outcome is simple when there is just one match in the token, which begins in it and not behind what is not ASCII.
    The pattern has no assertions and is not aligned, so that a search begins anew in the idle state.
    """
    columns, table, told = forward.columns, forward.table, forward.told
    words = words.copy()
    outcomes = np.empty(len(words) // N_WORD, np.int64)
    runs = np.empty(len(columns), np.int32)
    for identity in range(len(outcomes)):
        begin = words[identity * N_WORD + BEGIN]
        record = words[identity * N_WORD + RECORD]
        length = 1 if record & CUT else record >> SIZE_SHIFT
        state = idle
        happens = length == 0
        pending = complete = loose = False
        simple = length < END_MASK and not record & CUT
        start = end = np.int64(0)
        for place in range(length):
            column = np.int64(columns[begin + place])
            state = np.int64(table[state * forward.n_columns + column])
            if state == 0:
                # The match was complete before this symbol, from which the search goes on if it ended there.
                simple = simple and pending and end == place
                state = np.int64(table[idle * forward.n_columns + column])
                pending, complete = False, True
            if told[state * N_TOLD + DELAY] >= 0:
                happens = True
                simple = simple and not complete
                end = np.int64(place + 1)
                start = end - told[state * N_TOLD + FIXED]
                back = np.int64(backward.initial[told[state * N_TOLD + RIGHT]])
                offset = end
                if start == end:
                    loose = True
                    while simple and back > 0 and offset > 0:
                        offset -= 1
                        byte = text.bytes[words[identity * N_WORD + BYTES_BEGIN] + offset]
                        simple = byte < 0x80
                        back = np.int64(backward.table[back * (backward.n_classes + 3) + backward.class_of[byte]])
                        if backward.accepts[back]:
                            start = np.int64(offset)
                pending = True
                if told[state * N_TOLD + ALIVE] == 0:
                    pending, complete = False, True
                    state = idle
            runs[begin + place] = state
        outcomes[identity] = INTRICATE if happens else AT_REST | state << STATE_SHIFT
        if simple and (pending or complete):
            outcomes[identity] = (
                (start + BIAS)
                | end << END_SHIFT
                | MATCH
                | (COMPLETE if complete else 0)
                | (LOOSE if loose else 0)
                | state << STATE_SHIFT
            )
            words[identity * N_WORD + OUTCOME] = outcomes[identity]
    return words, outcomes, runs


@nb.njit(cache=True)
def outcome_of(forward, what, state, identity):  # type: ignore[no-untyped-def]
    """Return what a token does to a state that is not idle."""
    columns, table, told, n_columns = forward.columns, forward.table, forward.told, forward.n_columns
    begin = what.words[identity * N_WORD + BEGIN]
    record = what.words[identity * N_WORD + RECORD]
    length = 1 if record & CUT else record >> SIZE_SHIFT
    at_rest = what.outcomes[identity] >= 0 and what.outcomes[identity] & AT_REST > 0
    pending = complete = False
    start = end = np.int64(0)
    for place in range(length):
        column = np.int64(columns[begin + place])
        state = np.int64(table[state * n_columns + column])
        if state == 0:
            if not pending and not complete:
                return np.int64(DEAD)
            if end < place:
                return np.int64(INTRICATE)
            state = np.int64(table[what.idle * n_columns + column])
            pending, complete = False, True
        if told[state * N_TOLD + DELAY] >= 0:
            if complete or told[state * N_TOLD + FIXED] == 0:
                return np.int64(INTRICATE)
            end = np.int64(place + 1)
            start = end - told[state * N_TOLD + FIXED]
            pending = True
            if told[state * N_TOLD + ALIVE] == 0:
                pending, complete = False, True
                state = np.int64(what.idle)
        elif at_rest and not pending and not complete and state == what.runs[begin + place]:
            # From here on it makes no difference that something had begun to match.
            return what.outcomes[identity]
    if not pending and not complete:
        return state << STATE_SHIFT
    if record & CUT or length > END_MASK or start + BIAS < 0:
        return np.int64(INTRICATE)
    return (start + BIAS) | end << END_SHIFT | MATCH | (COMPLETE if complete else 0) | state << STATE_SHIFT


@nb.njit(cache=True)
def state_behind(forward, what, identity, offset):  # type: ignore[no-untyped-def]
    """Return the state behind a token that is read from an offset on, beginning anew; -1 if there is another match."""
    begin = what.words[identity * N_WORD + BEGIN]
    state = np.int64(what.idle)
    for place in range(begin + offset, begin + (what.words[identity * N_WORD + RECORD] >> SIZE_SHIFT)):
        state = np.int64(forward.table[state * forward.n_columns + forward.columns[place]])
        if forward.told[state * N_TOLD + DELAY] >= 0:
            return np.int64(-1)
    return state
