"""Searching a stream of ids for the leftmost matches of a pattern over its text.

Ids are read one token at a time as long as nothing happens: a table tells for each state and each class of tokens where
the token leads and whether something happens on the way. Where something does, its symbols are read one by one. That
finds the end of a match; where it begins is found by reading backwards from there.

Positions are counted in bytes from the beginning of the stream, tokens from the beginning of the chunk.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.at_rest import skim
from tokdfa.kernels.backwards import BACKWARD, TEXT, symbol_before
from tokdfa.kernels.search_types import (
    ALIGNED,
    ALIVE,
    BEGIN,
    BIAS,
    BYTES_BEGIN,
    CLASS_MASK,
    COMPLETE,
    CUT,
    DELAY,
    END,
    END_MASK,
    END_OFFSET,
    END_RESTART,
    END_SHIFT,
    END_TOKEN,
    ENDING,
    FINAL,
    FIRST_MASK,
    FIXED,
    FLOOR,
    FORWARD,
    HASH,
    IDLE,
    LAST,
    LENGTH_MASK,
    LENGTH_SHIFT,
    N_TOLD,
    N_WORD,
    OFFSET,
    OUTCOME,
    PENDING,
    POSITION,
    RECORD,
    RESTART,
    RIGHT,
    SIZE_SHIFT,
    START,
    START_MASK,
    STATE,
    STATE_SHIFT,
    TOKEN,
    TOKENS,
)
from tokdfa.kernels.types import INTS

__all__ = ["find_leftmost"]

# Where a pending match has been read beyond, every so many tokens are remembered as leading to nothing.
STRIDE = 16


@nb.njit(
    nb.int64(
        INTS, TOKENS, FORWARD, TEXT, BACKWARD, nb.int64, nb.int64[::1], nb.int64, nb.int64[::1], nb.int64[::1],
        nb.int64[::1], nb.int64[::1], nb.int64[:, ::1], nb.int64[::1],
    ),
    cache=True,
)  # fmt: skip
def find_leftmost(  # type: ignore[no-untyped-def]
    ids,
    what,
    forward,
    text,
    backward,
    options,
    registers,
    first,
    passed,
    futile,
    steps,
    window,
    room,
    found,
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
    steps, window, room : int64 arrays
        Of :func:`tokdfa.kernels.at_rest.skim`.
    found : int64 array
        Four numbers a match are written here: start and end in bytes, the first token and the token behind the last.

    Returns
    -------
    int
        How many numbers were written. When there is no room for four more, the search is not through with the chunk.
    """
    words, properties, entries, n_classes, idle, runs = what[:6]
    columns, table, n_columns, border, told = forward
    letters = text.bytes
    back_table, back_accepts, back_initial, class_of, n_symbols, delayed = backward
    n = len(ids)
    n_found = np.int64(0)
    n_passed = np.int64(0)
    mask = len(futile) - 1
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
            registers[TOKEN], registers[STATE], registers[POSITION] = token, state, position
            registers[FLOOR], registers[IDLE] = floor, idle_token
            n_found = skim(ids, what, forward, steps, window, room, registers, found, n_found)
            token, state, position = registers[TOKEN], registers[STATE], registers[POSITION]
            pending, end_token, end_offset = registers[PENDING] > 0, registers[END_TOKEN], registers[END_OFFSET]
            start, end, last = registers[START], registers[END], np.int64(0)
            floor, idle_token = registers[FLOOR], registers[IDLE]
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
                    start = position + (outcome & START_MASK) - BIAS
                    end_offset = outcome >> END_SHIFT & END_MASK
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
