"""Skipping tokens at which nothing happens, where the automaton is too large for a table of what tokens do.

The automaton is at rest behind a token when it is in the state into which that token leads from the idle state. Then
the token alone tells what may come of the next one: as long as none goes on with what the one before it has begun, each
leaves the automaton at rest. So stretches of tokens are looked over first, all at once, for those at which something
may happen; and only these are read, by what is remembered of the pair of state and token.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.outcomes import outcome_of, state_behind
from tokdfa.kernels.search_types import (
    AT_REST,
    AT_REST_BIT,
    BIAS,
    COMPLETE,
    COMPLETE_BIT,
    DEAD,
    END,
    END_MASK,
    END_OFFSET,
    END_SHIFT,
    END_TOKEN,
    FLOOR,
    GROUP_MASK,
    GROUP_SHIFT,
    HAPPENS_SHIFT,
    HASH,
    IDLE,
    INTRICATE,
    LOOSE,
    LOOSE_BIT,
    MATCH,
    MATCH_BIT,
    PENDING,
    POSITION,
    SIZE_OF_MARKS,
    START,
    START_MASK,
    STATE,
    STATE_SHIFT,
    TOKEN,
)

__all__ = ["LINE", "N_ROWS", "ROW", "WINDOW", "skim"]

# A pair that is remembered: state and token, the outcome, the groups of tokens that may go on with it. Two of them
# share a line of the cache.
KEY, VALUE, GOES_ON, SLOT, LINE = 0, 1, 2, 4, 8
# So many tokens are looked over at a time.
STRETCH = 1024
# Rows of room for them are not a power of two apart, or they would be in each other's way in the cache.
ROW = STRETCH + 66
# The stretch at hand: where it begins and ends, and which of its runs is next.
FROM, TO, NEXT, WINDOW = 0, 1, 2, 3
# What is found out about it: where each token begins; and for each run of tokens that are not at rest, where it begins,
# what its only match is, 0 for none, which token has that, and the last token that it covers. Then come the runs that
# are being read, with the state that each has reached and the groups that go on with that.
POSITIONS, STARTS, EXPECTED, MATCHED, UNTIL, READING, REACHED, OPEN, N_ROWS = 0, 1, 2, 3, 4, 5, 6, 7, 8
# What becomes of a run with one more token.
RESTS, IN_VAIN, HAS_MATCH, CONTINUES, HARD = 0, 1, 2, 3, 4
MOST_TOKENS = 64


@nb.njit(cache=True)
def _look_over(ids, marks, begin, end, position, positions, noted):  # type: ignore[no-untyped-def]
    """Note the tokens of a stretch at which something may happen, the first one always; and where all of them begin.

    Returns how many are noted.
    """
    n_noted = np.uint64(0)
    before = np.int64(-1)
    for place in range(np.uint64(end - begin)):
        it_is = marks[np.uint32(ids[np.uint64(begin) + place])]
        positions[place] = position
        position += it_is >> SIZE_OF_MARKS
        noted[n_noted] = place
        n_noted += np.uint64((before >> (it_is >> GROUP_SHIFT & GROUP_MASK) | it_is >> HAPPENS_SHIFT) & 1)
        before = it_is
    positions[np.uint64(end - begin)] = position
    return np.int64(n_noted)


@nb.njit(cache=True)
def _read(ids, outcomes, marks, steps, begin, size, place, state, goes_on):  # type: ignore[no-untyped-def]
    """Return the outcome of a token from a state, the groups of tokens that go on with that, and what becomes of a run.

    There is no branch here, so that many look-ups are under way at a time: what is not remembered is `INTRICATE`, all
    bits of it.
    """
    at = np.uint64(begin + place)
    identity = np.int64(ids[at])
    it_is = marks[np.uint64(identity)]
    key = state << 32 | identity
    line = np.uint64(((key * HASH) >> 44 & (len(steps) // LINE - 1)) * LINE)
    line += np.uint64(SLOT if steps[line] != key else 0)
    outcome = steps[line + np.uint64(VALUE)] | np.int64(steps[line] == key) - 1
    going_on = steps[line + np.uint64(GOES_ON)]
    alone = np.int64(outcomes[np.uint64(identity)])
    concerned = goes_on >> (it_is >> GROUP_SHIFT & GROUP_MASK) & 1
    outcome = outcome if concerned else alone
    going_on = going_on if concerned else it_is
    behind = marks[np.uint32(ids[at + np.uint64(place + 1 < size)])]
    follows = (going_on >> (behind >> GROUP_SHIFT & GROUP_MASK) | behind >> HAPPENS_SHIFT) & 1
    match = outcome >> MATCH_BIT & 1
    within = match & ~(outcome >> COMPLETE_BIT) & ((outcome >> END_SHIFT & END_MASK) != it_is >> SIZE_OF_MARKS)
    hard = (outcome >> LOOSE_BIT & 1) | within | (match & follows) | (outcome < 0) | (place + 1 == size)
    fate = CONTINUES if follows else IN_VAIN
    fate = HAS_MATCH if match else fate
    fate = HARD if hard else fate
    fate = RESTS if (outcome >> AT_REST_BIT & 1) & (outcome >= 0) else fate
    return outcome, going_on, fate


@nb.njit(cache=True)
def _sift(ids, what, steps, begin, size, n_noted, room):  # type: ignore[no-untyped-def]
    """Turn the tokens noted in a stretch into runs, each of them entered at rest; whether it is, must be seen later.

    The match of a run is `INTRICATE` where it must be read again. The last run is one of these, at the end.
    """
    outcomes, marks = what.outcomes, what.marks
    starts, expected, matched, until = room[STARTS], room[EXPECTED], room[MATCHED], room[UNTIL]
    reading, reached, open_for = room[READING], room[REACHED], room[OPEN]
    expected[0] = INTRICATE
    n_runs, n_reading = np.uint64(1), np.uint64(0)
    for number in range(1, n_noted):
        place = np.int64(starts[np.uint64(number)])
        before = np.uint32(ids[np.uint64(begin + place - 1)])
        outcome, going_on, fate = _read(
            ids, outcomes, marks, steps, begin, size, place, outcomes[before] >> STATE_SHIFT, marks[before]
        )
        starts[n_runs] = matched[n_runs] = place
        expected[n_runs] = outcome & -np.int64(fate == HAS_MATCH) | -np.int64(fate == HARD)
        until[n_runs] = place + 1
        reading[n_reading], reached[n_reading], open_for[n_reading] = n_runs, outcome >> STATE_SHIFT, going_on
        n_reading += np.uint64(fate == CONTINUES)
        n_runs += np.uint64(fate != RESTS)
    for _ in range(MOST_TOKENS):
        if n_reading == 0:
            break
        n_read = n_reading
        n_reading = np.uint64(0)
        for number in range(n_read):
            run = np.uint64(reading[number])
            place = until[run]
            outcome, going_on, fate = _read(
                ids, outcomes, marks, steps, begin, size, place, reached[number], open_for[number]
            )
            matched[run] = place
            expected[run] = outcome & -np.int64(fate == HAS_MATCH) | -np.int64(fate == HARD)
            until[run] = place + (fate != RESTS)
            reading[n_reading], reached[n_reading], open_for[n_reading] = run, outcome >> STATE_SHIFT, going_on
            n_reading += np.uint64(fate == CONTINUES)
    for number in range(n_reading):
        expected[np.uint64(reading[number])] = INTRICATE
    starts[n_runs] = size
    expected[n_runs] = INTRICATE


@nb.njit(cache=True)
def _write(ids, marks, token, position, outcome, found, n_found):  # type: ignore[no-untyped-def]
    """Write down the match of an outcome."""
    start = position + (outcome & START_MASK) - BIAS
    found[n_found] = start
    found[n_found + 1] = position + (outcome >> END_SHIFT & END_MASK)
    found[n_found + 3] = token + 1
    while start < position:
        token -= 1
        position -= marks[np.uint32(ids[np.uint64(token)])] >> SIZE_OF_MARKS
    found[n_found + 2] = token


@nb.njit(cache=True)
def _slot(forward, what, steps, state, identity):  # type: ignore[no-untyped-def]
    """Return where a pair is remembered from now on."""
    key = state << 32 | identity
    line = ((key * HASH) >> 44 & (len(steps) // LINE - 1)) * LINE
    # The pair that has come last is the one to go.
    slot = line if steps[line] < 0 else line + SLOT
    outcome = outcome_of(forward, what, state, identity)
    pending = outcome & (MATCH | COMPLETE) == MATCH
    steps[slot + KEY], steps[slot + VALUE] = key, outcome
    steps[slot + GOES_ON] = what.groups[2 * (max(outcome, 0) >> STATE_SHIFT) + np.int64(pending)]
    return slot


@nb.njit(cache=True)
def skim(ids, what, forward, steps, window, room, registers, found, n_found):  # type: ignore[no-untyped-def]
    """Go on with a leftmost search that stands between two tokens with no match pending, as far as all is simple.

    Parameters
    ----------
    ids, what, forward, registers, found
        As in :func:`tokdfa.kernels.search.find_leftmost`.
    steps : int64 array
        What is remembered of pairs of state and token; 2^k times `LINE` entries, -1 at first.
    window : int64 array
        The stretch at hand; `WINDOW` entries, 0 at first.
    room : int64 array of shape (`N_ROWS`, `ROW`)
        Room for what is found out about it.
    n_found : int
        How many numbers have been written to `found`.

    Returns
    -------
    int
        How many numbers have been written now. The search stands at the end, or before a token that is not simple, or
        there is little room for matches; a match may be pending.
    """
    outcomes, marks, idle = what.outcomes, what.marks, np.int64(what.idle)
    positions, starts, expected, matched, until = (
        room[POSITIONS], room[STARTS], room[EXPECTED], room[MATCHED], room[UNTIL]
    )  # fmt: skip
    n = len(ids)
    lines = len(steps) // LINE - 1
    token, state, position = registers[TOKEN], registers[STATE], registers[POSITION]
    first, stop, run = window[FROM], window[TO], np.uint64(window[NEXT])
    goes_on = what.groups[2 * state]
    pending = False
    idle_token = registers[IDLE]
    n_before = n_found
    while token < n and n_found + 12 <= len(found):
        if not first <= token < stop:
            first, stop, run = token, min(n, token + STRETCH), np.uint64(0)
            n_noted = _look_over(ids, marks, first, stop, position, positions, starts)
            _sift(ids, what, steps, first, stop - first, n_noted, room)
        identity = np.int64(ids[np.uint64(token)])
        it_is = marks[np.uint64(identity)]
        known = np.int64(outcomes[np.uint64(identity)])
        going_on = it_is
        if pending and it_is >> SIZE_OF_MARKS == 0:
            break  # what has no text ends nothing
        if pending and found[n_found + 1] < position:
            # The match ends within the token before. If this one cannot change it, that is read again from there.
            before = np.int64(ids[np.uint64(token - 1)])
            offset = found[n_found + 1] - position + (marks[before] >> SIZE_OF_MARKS)
            behind = np.int64(-1)
            if not goes_on >> (it_is >> GROUP_SHIFT & GROUP_MASK) & 1:
                behind = state_behind(forward, what, before, offset)
            if behind < 0:
                break
            n_found += 4
            pending = False
            state, goes_on = behind, what.groups[2 * behind]
        if state == idle:
            idle_token = token
        elif goes_on >> (it_is >> GROUP_SHIFT & GROUP_MASK) & 1:
            key = state << 32 | identity
            slot = ((key * HASH) >> 44 & lines) * LINE
            slot = slot if steps[slot] == key else slot + SLOT
            if steps[slot] != key:
                slot = _slot(forward, what, steps, state, identity)
            other = steps[slot + VALUE]
            if other == INTRICATE or (pending and other != DEAD and not other & MATCH):
                break
            if other != DEAD:
                known = other
                going_on = steps[slot + GOES_ON]
                pending = False
        if pending:
            # No better match has come: the search begins anew where this one ends, before the token.
            n_found += 4
            pending = False
            state = idle
            idle_token = token
        if known == INTRICATE or (known & LOOSE and state != idle):
            break
        state = known >> STATE_SHIFT
        goes_on = going_on
        if known & MATCH:
            # A match that is pending stands behind those found until it is certain, or gives way to another one.
            _write(ids, marks, token, position, known, found, n_found)
            pending = known & COMPLETE == 0
            n_found += 0 if pending else 4
        token += 1
        position = positions[np.uint64(token - first)]
        if known & AT_REST:
            while True:
                while first + starts[run] < token:
                    run += np.uint64(1)
                if expected[run] < 0 or n_found + 8 > len(found):
                    break
                if expected[run] > 0:
                    place = np.uint64(matched[run])
                    _write(ids, marks, first + matched[run], positions[place], expected[run], found, n_found)
                    n_found += 4
                token = first + until[run] + 1
            token = first + starts[run]
            position = positions[np.uint64(token - first)]
            last = np.uint32(ids[np.uint64(token - 1)])
            state, goes_on = outcomes[last] >> STATE_SHIFT, marks[last]
    if state == idle and not pending:
        idle_token = token
    registers[TOKEN], registers[STATE], registers[POSITION] = token, state, position
    registers[PENDING], registers[IDLE] = pending, idle_token
    if pending:
        registers[START], registers[END] = found[n_found], found[n_found + 1]
        registers[END_TOKEN] = token - 1
        registers[END_OFFSET] = found[n_found + 1] - position + (marks[ids[token - 1]] >> SIZE_OF_MARKS)
    if n_found > n_before:
        registers[FLOOR] = found[n_found - 3]
    window[FROM], window[TO], window[NEXT] = first, stop, run
    return n_found
