"""Searching a stream of ids for the leftmost matches of a pattern over its text.

Ids are read one token at a time as long as nothing happens: a table tells for each state and each class of tokens where
the token leads and whether something happens on the way. Where something does, its symbols are read one by one. That
finds the end of a match; where it begins is found by reading backwards from there.

Positions are counted in bytes from the beginning of the stream, tokens from the beginning of the chunk.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from tokdfa.kernels.backwards import BACKWARD, SHORTS, TEXT, symbol_before
from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = ["FORWARD", "REGISTERS", "TOKENS", "Forward", "Tokens", "find_leftmost", "idle_outcomes"]

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

# Properties of ids, when they have none: bits 0 to 14 have the length, so that bits 0 to 16 have the sum of four; bits
# 20 to 25 have the first column modulo 64.
SUM_MASK = 0x1FFFF
FIRST_SHIFT = 20

# Records: bits 0 to 5 have the first column modulo 64, bit 7 tells whether the token is special; then comes its length.
FIRST_MASK = 0x3F
CUT = 0x80
SIZE_SHIFT = 8

# Outcomes, where what happens from the idle state is simple, 0 elsewhere: bits 0 to 7 tell where a match begins in the
# token, 8 to 15 where it ends, 16 whether it is complete, those from 32 on the state behind the token.
START_MASK, END_SHIFT, COMPLETE, STATE_SHIFT = 0xFF, 8, 1 << 16, 32

# Where a pending match has been read beyond, every so many tokens are remembered as leading to nothing.
STRIDE = 16
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
    `Forward.columns`. Then `properties` has the length of an id, its first column, and a sign unless the id leads every
    state to where it leads the idle one and nothing happens on the way; `entries` has the state that the id leads to
    from the idle one, -1 if something happens; and ``live[q]`` has the first columns, modulo 64, that may lead state q
    to where they do not lead the idle one.

    Otherwise everything is read symbol by symbol.
    """

    words: Longs
    properties: Ints
    entries: Ints
    n_classes: int
    idle: int
    runs: Ints
    live: Longs


FORWARD = nb.types.NamedTuple((SHORTS, INTS, nb.int64, nb.int64, LONGS), Forward)  # type: ignore[no-untyped-call]
TOKENS = nb.types.NamedTuple((LONGS, INTS, INTS, nb.int64, nb.int64, INTS, LONGS), Tokens)  # type: ignore[no-untyped-call]


@nb.njit((FORWARD, LONGS, TEXT, BACKWARD, nb.int64), cache=True)
def idle_outcomes(forward, words, text, backward, idle):  # type: ignore[no-untyped-def]
    """Return `words` with their outcomes, the states reached from the idle state, and `runs`; see `Tokens`.

    An outcome is simple when there is just one match in the token, which begins in it and not behind what is not ASCII.
    The pattern has no assertions and is not aligned, so that a search begins anew in the idle state.
    """
    columns, table, told = forward.columns, forward.table, forward.told
    words = words.copy()
    entries = np.empty(len(words) // N_WORD, np.int32)
    runs = np.empty(len(columns), np.int32)
    for identity in range(len(entries)):
        begin = words[identity * N_WORD + BEGIN]
        record = words[identity * N_WORD + RECORD]
        length = 1 if record & CUT else record >> SIZE_SHIFT
        state = idle
        happens = length == 0
        pending = complete = False
        simple = length < START_MASK and not record & CUT
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
        entries[identity] = -1 if happens else state
        if simple and (pending or complete):
            words[identity * N_WORD + OUTCOME] = (
                start | end << END_SHIFT | (COMPLETE if complete else 0) | state << STATE_SHIFT
            )
    return words, entries, runs


@nb.njit(
    nb.int64(
        INTS, TOKENS, FORWARD, TEXT, BACKWARD, nb.int64,
        nb.int64[::1], nb.int64, nb.int64[::1], nb.int64[::1], nb.int64[::1], nb.int64[::1],
    ),
    cache=True,
)  # fmt: skip
def find_leftmost(  # type: ignore[no-untyped-def]
    ids, what, forward, text, backward, options, registers, first, passed, futile, steps, found
):
    """Find the matches of a leftmost search, none overlapping another.

    Parameters
    ----------
    ids : int32 array
        A chunk of the stream.
    what : Tokens
    forward : Forward
    text : Text
    backward : Backward
    options : int
        A sum of `ALIGNED`, and of `FINAL` when the stream ends with this chunk.
    registers : int64 array
        Where the search stands; brought up to date.
    first : int
        The place of the chunk in the stream, in tokens.
    passed, futile : int64 arrays
        Room to remember what has been read in vain; `futile` has 2^k entries, -1 before the first chunk.
    steps : int64 array
        Room to remember what tokens do from states that are not idle; 2^(k + 1) entries, -1 at first.
    found : int64 array
        Four numbers a match are written here: start and end in bytes, the first token and the token behind the last.

    Returns
    -------
    int
        How many numbers were written. When there is no room for four more, the search is not through with the chunk.
    """
    words, properties, entries, n_classes, idle, runs, live = what
    columns, table, n_columns, border, told = forward
    letters = text.bytes
    back_table, back_accepts, back_initial, class_of, n_symbols, delayed = backward
    n = len(ids)
    n_found = np.int64(0)
    n_passed = np.int64(0)
    mask = len(futile) - 1
    steps_mask = len(steps) // 2 - 1
    token, offset, state, position = registers[TOKEN], registers[OFFSET], registers[STATE], registers[POSITION]
    pending, end_token, end_offset = registers[PENDING] > 0, registers[END_TOKEN], registers[END_OFFSET]
    start, end, last, floor, idle_token = (
        registers[START], registers[END], registers[LAST], registers[FLOOR], registers[IDLE]
    )  # fmt: skip
    check = np.int64(0)
    # Nothing is called in this loop but where a symbol is not ASCII: counting references to the arrays would cost more
    # than all the rest.
    while n_found + 4 <= len(found):
        if offset == 0 and not pending and n_classes > 0:
            # Unsigned numbers are faster indexes: nothing looks whether they are negative.
            entry = np.uint64(state * n_classes)
            idle_entry = np.uint64(idle * n_classes)
            while token < n:
                if check <= token and entry == idle_entry:
                    # Eight at a time, unless the last eight have been looked at in vain.
                    while token + 8 <= n:
                        one = properties[np.uint32(ids[np.uint64(token)])]
                        two = properties[np.uint32(ids[np.uint64(token + 1)])]
                        three = properties[np.uint32(ids[np.uint64(token + 2)])]
                        four = properties[np.uint32(ids[np.uint64(token + 3)])]
                        five = properties[np.uint32(ids[np.uint64(token + 4)])]
                        six = properties[np.uint32(ids[np.uint64(token + 5)])]
                        seven = properties[np.uint32(ids[np.uint64(token + 6)])]
                        eight = properties[np.uint32(ids[np.uint64(token + 7)])]
                        if (one | two | three | four | five | six | seven | eight) < 0:
                            check = token + 8
                            break
                        position += (
                            (one >> LENGTH_SHIFT) + (two >> LENGTH_SHIFT) + (three >> LENGTH_SHIFT)
                            + (four >> LENGTH_SHIFT) + (five >> LENGTH_SHIFT) + (six >> LENGTH_SHIFT)
                            + (seven >> LENGTH_SHIFT) + (eight >> LENGTH_SHIFT)
                        )  # fmt: skip
                        token += 8
                    if token == n:
                        idle_token = token
                        break
                idle_token = token if entry == idle_entry else idle_token
                what_it_is = properties[np.uint32(ids[np.uint64(token)])]
                following = np.int64(entries[entry + np.uint64(what_it_is & CLASS_MASK)])
                if following & 1:
                    break
                entry = np.uint64(following >> 2)
                position += (what_it_is >> LENGTH_SHIFT) & LENGTH_MASK
                token += 1
            state = idle if entry == idle_entry else np.int64(entry) // n_classes
        elif offset == 0 and not pending and len(runs) > 0:
            while token < n:
                if check <= token:
                    # Four at a time, as long as no token goes on with what may have begun and nothing happens in it.
                    since = token
                    while token + 4 <= n:
                        one = properties[np.uint32(ids[np.uint64(token)])]
                        two = properties[np.uint32(ids[np.uint64(token + 1)])]
                        three = properties[np.uint32(ids[np.uint64(token + 2)])]
                        four = properties[np.uint32(ids[np.uint64(token + 3)])]
                        if (one | two | three | four) < 0:
                            check = token + 4
                            break
                        position += (one + two + three + four) & SUM_MASK
                        token += 4
                    if token > since:
                        state = np.int64(entries[np.uint32(ids[np.uint64(token - 1)])])
                        if token == n:
                            break
                identity = np.uint32(ids[np.uint64(token)])
                what_it_is = properties[identity]
                following = np.int64(entries[identity])
                if state == idle:
                    idle_token = token
                elif live[np.uint64(state)] >> (what_it_is >> FIRST_SHIFT & FIRST_MASK) & 1:
                    key = state << 32 | np.int64(identity)
                    slot = np.uint64(((key * HASH) >> 20 & steps_mask) * 2)
                    if steps[slot] != key:
                        # Read on until it makes no difference any more that something had begun to match.
                        at = np.uint64(identity) * np.uint64(N_WORD)
                        place = np.uint64(words[at + np.uint64(BEGIN)])
                        record = words[at]
                        stop = place + np.uint64(1 if record & CUT else record >> SIZE_SHIFT)
                        reached = np.int64(table[np.uint64(state * n_columns + columns[place])])
                        while (
                            reached != runs[place]
                            and told[np.uint64(reached * N_TOLD + DELAY)] < 0
                            and place + np.uint64(1) < stop
                        ):
                            place += np.uint64(1)
                            reached = np.int64(table[np.uint64(reached * n_columns + columns[place])])
                        steps[slot] = key
                        if reached == runs[place]:
                            steps[slot + np.uint64(1)] = following
                        else:
                            steps[slot + np.uint64(1)] = (
                                -1 if told[np.uint64(reached * N_TOLD + DELAY)] >= 0 else reached
                            )
                    following = steps[slot + np.uint64(1)]
                if following < 0:
                    break
                state = following
                position += what_it_is & LENGTH_MASK
                token += 1
        right = np.int64(-1)
        if token < n:
            word = np.int64(ids[token]) * N_WORD
            record = words[word + RECORD]
            length = record >> SIZE_SHIFT
            if offset == 0 and pending:
                if token % STRIDE == 0:
                    key = (first + token) * (len(told) // N_TOLD) + state
                    if futile[((key * HASH) >> 20) & mask] == key:
                        state = np.int64(0)
                    elif n_passed < len(passed):
                        passed[n_passed] = key
                        n_passed += 1
                if n_classes > 0 and state > 0:
                    following = np.int64(entries[state * n_classes + (properties[ids[token]] & CLASS_MASK)])
                    if following & 3 == 0:
                        state = following // (4 * n_classes)
                        position += length
                        token += 1
                        continue
                    if following & 2:
                        # Most often a match ends where the next token begins.
                        state = np.int64(0)
                elif border < 0 and length > 0 and not told[state * N_TOLD + ALIVE] >> (record & FIRST_MASK) & 1:
                    state = np.int64(0)
            elif offset == 0 and state == idle:
                idle_token = token
                outcome = words[word + OUTCOME]
                if outcome > 0:
                    start = position + (outcome & START_MASK)
                    end_offset = (outcome >> END_SHIFT) & START_MASK
                    end = position + end_offset
                    state = outcome >> STATE_SHIFT
                    position += length
                    token += 1
                    if outcome & COMPLETE:
                        found[n_found] = start
                        found[n_found + 1] = end
                        found[n_found + 2] = token - 1
                        found[n_found + 3] = token
                        n_found += 4
                        floor = end
                    else:
                        pending = True
                        end_token = token - 1
                        last = np.int64(0)
                    continue
            # Symbol by symbol.
            begin = words[word + BEGIN]
            place = begin + offset
            stop = begin + (1 if record & CUT else length) + (border >= 0)
            while place < stop and state > 0:
                at_border = border >= 0 and place == stop - 1
                state = np.int64(table[state * n_columns + (border if at_border else np.int64(columns[place]))])
                place += 1
                delay = told[state * N_TOLD + DELAY]
                if delay >= 0:
                    # With a delay the match ended before the symbol whose last byte has been read now.
                    end_token, end_offset = token, length if at_border else place - begin
                    if delay > 0:
                        end_offset -= 1
                        delay -= 1
                    end = position + end_offset - delay
                    while delay > end_offset:
                        delay -= end_offset
                        end_token -= 1
                        end_offset = words[ids[end_token] * N_WORD] >> SIZE_SHIFT
                    end_offset -= delay
                    last = state
                    start = end - told[state * N_TOLD + FIXED]
                    pending = True
                    n_passed = np.int64(0)
                    if told[state * N_TOLD + ALIVE] == 0:
                        state = np.int64(0)
            if state > 0:
                position += length
                token += 1
                offset = np.int64(0)
                continue
        elif not options & FINAL:
            break
        else:
            delay = told[state * N_TOLD + ENDING]
            if delay >= 0:
                pending = True
                right = delay >> 4
                delay &= 15
                end_token, end_offset, end = token, np.int64(0), position - delay
                start = end
                while delay > end_offset:
                    delay -= end_offset
                    end_token -= 1
                    end_offset = words[ids[end_token] * N_WORD] >> SIZE_SHIFT
                end_offset -= delay
            if not pending:
                break
        # No better match than the pending one can come any more.
        while n_passed > 0:
            n_passed -= 1
            futile[((passed[n_passed] * HASH) >> 20) & mask] = passed[n_passed]
        at_end = right >= 0
        restart = told[state * N_TOLD + END_RESTART] if at_end else told[last * N_TOLD + RESTART]
        start_token = end_token
        if start < end:
            position = end - end_offset
            while start < position:
                start_token -= 1
                position -= words[ids[start_token] * N_WORD] >> SIZE_SHIFT
        else:
            if not at_end:
                right = told[last * N_TOLD + RIGHT]
            reading, reading_offset, position = end_token, end_offset, end
            back = np.int64(back_initial[right])
            while back > 0:
                symbol = np.int64(0x80)
                if reading_offset > 0:
                    symbol = np.int64(letters[words[ids[reading] * N_WORD + BYTES_BEGIN] + reading_offset - 1])
                if symbol < 0x80:
                    symbol = np.int64(class_of[symbol])
                    next_token, next_offset, length = reading, reading_offset - 1, 1
                else:
                    symbol, next_token, next_offset, length = symbol_before(
                        ids, text, class_of, n_symbols, reading, reading_offset
                    )
                at_start = symbol < 0
                if at_start:
                    symbol = np.int64(n_symbols + 1)
                back = np.int64(back_table[back * (n_symbols + 3) + symbol])
                if back_accepts[back]:
                    # With assertions it takes the symbol before the match to know that it begins behind that symbol.
                    if delayed:
                        if position >= floor and not (options & ALIGNED and reading_offset > 0):
                            start, start_token = position, reading
                    elif position - length >= floor and not (options & ALIGNED and next_offset > 0):
                        start, start_token = position - length, next_token
                reading, reading_offset = next_token, next_offset
                position -= length
                if at_start or position < floor or (position == floor and not delayed):
                    break
        found[n_found] = start
        found[n_found + 1] = end
        found[n_found + 2] = start_token
        found[n_found + 3] = end_token + (end_offset > 0)
        n_found += 4
        floor = end
        pending = False
        state = restart
        token, offset, position = end_token, end_offset, end - end_offset
        if offset > 0 and offset == words[ids[token] * N_WORD] >> SIZE_SHIFT:
            position += offset
            token += 1
            offset = np.int64(0)
        idle_token = token
    registers[TOKEN], registers[OFFSET], registers[STATE], registers[POSITION] = token, offset, state, position
    registers[PENDING], registers[END_TOKEN], registers[END_OFFSET] = pending, end_token, end_offset
    registers[START], registers[END], registers[LAST] = start, end, last
    registers[FLOOR], registers[IDLE] = floor, idle_token
    return n_found
