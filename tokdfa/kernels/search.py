"""Searching streams of ids for the matches of a pattern over their text.

Ids are read one token at a time as long as nothing happens: a table tells for each state and each class of tokens where
the token leads and whether something happens on the way. Where something does, its bytes are read one by one. That
finds the end of a match; where it begins is found by reading backwards from there.

The search is in one of the positions between bytes, given as a token, an offset in it and the bytes before it.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.types import INTS, LONGS

__all__ = ["REGISTERS", "find_all", "find_leftmost"]

# What is kept from one chunk of ids to the next.
TOKEN, STATE, POSITION = 0, 1, 2  # Where the search stands, at the beginning of a token.
PENDING, END_TOKEN, END_OFFSET, END, RESTART, RIGHT = 3, 4, 5, 6, 7, 8  # A match that may still become another one.
LAST = 9  # The state in which it was found.
FLOOR = 10  # Where the last match ended, in bytes; no match begins before it.
IDLE = 11  # A token before which nothing has begun to match.
LENGTH = 12  # The length of the pending match, if it is known.
REGISTERS = 13

# Options.
ALIGNED, DELAYED, BYTEWISE, FINAL, ALL = 1, 2, 4, 8, 16

# Symbols that are not bytes.
EDGE = 256
BORDER = 257

NOT_NEUTRAL = np.int32(-(1 << 31))
LENGTH_SHIFT = 16
LENGTH_MASK = 0x7FFF
CLASS_MASK = 0xFFFF

# Where a pending match has been read beyond, every so many tokens are remembered as leading to nothing.
STRIDE = 16
HASH = np.int64(-7046029254386353131)

BYTES = nb.types.Array(nb.uint8, 1, "C", readonly=True)
CLASSES = nb.types.Array(nb.uint16, 1, "C", readonly=True)
FLAGS = nb.types.Array(nb.boolean, 1, "C", readonly=True)


@nb.njit(cache=True)
def _byte_before(ids, text, offsets, cuts, token, offset):  # type: ignore[no-untyped-def]
    """Return the byte before a position and the position before it; -1 at the beginning, EDGE for a special token."""
    while offset == 0:
        if token == 0:
            return -1, token, offset
        token -= 1
        if cuts[ids[token]]:
            return EDGE, token, offset
        offset = offsets[ids[token] + 1] - offsets[ids[token]]
    offset -= 1
    return np.int64(text[offsets[ids[token]] + offset]), token, offset


@nb.njit(cache=True)
def _symbol_before(ids, text, offsets, cuts, class_of, n_classes, bytewise, token, offset):  # type: ignore[no-untyped-def]
    """Return the class of the symbol before a position, the position before it, and the bytes in between.

    The class is -1 at the beginning, and the one behind the classes of code points where the bytes are no symbol.
    """
    byte, token, offset = _byte_before(ids, text, offsets, cuts, token, offset)
    if byte < 0:
        return -1, token, offset, 0
    if byte == EDGE:
        return n_classes + 1, token, offset, 0
    if byte < 0x80 or bytewise:
        return np.int64(class_of[byte]), token, offset, 1
    code_point = byte & 0x3F
    shift = 6
    other_token, other_offset = token, offset
    if byte < 0xC0:
        for length in range(2, 5):
            byte, other_token, other_offset = _byte_before(ids, text, offsets, cuts, other_token, other_offset)
            if 0x80 <= byte < 0xC0:
                code_point |= (byte & 0x3F) << shift
                shift += 6
                continue
            valid = False
            if length == 2 and 0xC2 <= byte < 0xE0:
                code_point |= (byte & 0x1F) << shift
                valid = True
            elif length == 3 and 0xE0 <= byte < 0xF0:
                code_point |= (byte & 0x0F) << shift
                valid = code_point >= 0x800 and not 0xD800 <= code_point < 0xE000
            elif length == 4 and 0xF0 <= byte < 0xF5:
                code_point |= (byte & 0x07) << shift
                valid = 0x10000 <= code_point < 0x110000
            if valid:
                return np.int64(class_of[code_point]), other_token, other_offset, length
            break
    return n_classes, token, offset, 1


@nb.njit(cache=True)
def _start_of(  # type: ignore[no-untyped-def]
    ids, text, offsets, cuts, back, back_accepts, class_of, n_classes, options, state, token, offset, end, floor, starts
):
    """Read backwards from the end of a match, from `state` of the reversed automaton.

    Returns the leftmost place where it may begin and the token there; -1 if there is none. All places are put into
    `starts`, as far as there is room, and counted.
    """
    n_columns = n_classes + 3
    delayed = options & DELAYED
    best = np.int64(-1)
    best_token = np.int64(-1)
    count = np.int64(0)
    position = end
    while state > 0:
        symbol, next_token, next_offset, length = _symbol_before(
            ids, text, offsets, cuts, class_of, n_classes, options & BYTEWISE, token, offset
        )
        at_start = symbol < 0
        state = back[state * n_columns + (n_classes + 1 if at_start else symbol)]
        if back_accepts[state]:
            # With assertions it takes the symbol before the match to know that it begins behind that symbol.
            start, start_token, start_offset = position - length, next_token, next_offset
            if delayed:
                start, start_token, start_offset = position, token, offset
            if start >= floor and not (options & ALIGNED and start_offset > 0):
                best, best_token = start, start_token
                if count < len(starts):
                    starts[count] = start
                count += 1
        position -= length
        token, offset = next_token, next_offset
        if at_start or position < floor or (position == floor and not delayed):
            break
    return best, best_token, count


@nb.njit(cache=True)
def _token_of(ids, offsets, token, begin, position):  # type: ignore[no-untyped-def]
    """Return the token that has the byte at `position`; `token`, which begins at `begin`, is that one or behind it."""
    while position < begin:
        token -= 1
        begin -= offsets[ids[token] + 1] - offsets[ids[token]]
    return token


@nb.njit(cache=True)
def _note_end(ids, offsets, token, offset, position, back, registers):  # type: ignore[no-untyped-def]
    """Note that a match ends `back` bytes before a position."""
    registers[END] = position - back
    while back > offset:
        back -= offset
        token -= 1
        offset = offsets[ids[token] + 1] - offsets[ids[token]]
    registers[END_TOKEN] = token
    registers[END_OFFSET] = offset - back
    registers[PENDING] = 1


@nb.njit(cache=True)
def _read_token(  # type: ignore[no-untyped-def]
    ids, text, offsets, cuts, table, n_columns, column, delay, options, token, offset, position, state, registers
):
    """Read the rest of a token byte by byte.

    `position` is that of the token's first byte. Returns the state behind it and -1; or 0, as soon as the search is
    dead. When all matches are wanted it returns behind each with the offset at which to go on.
    """
    begin = offsets[ids[token]]
    length = offsets[ids[token] + 1] - begin
    cut = cuts[ids[token]]
    if cut:
        length = np.int64(1)
    behind = length + 1 if options & ALIGNED else length
    while offset < behind:
        symbol = np.int64(BORDER)
        if offset < length:
            symbol = np.int64(EDGE) if cut else np.int64(text[begin + offset])
        state = np.int64(table[state * n_columns + column[symbol]])
        offset += 1
        if delay[state] >= 0:
            registers[LAST] = state
            if delay[state] == 0:
                at = min(offset, length)
                _note_end(ids, offsets, token, at, position + at, np.int64(0), registers)
            else:
                # The match ended before the symbol whose last byte has been read now.
                at = offset - 1
                _note_end(ids, offsets, token, at, position + at, np.int64(delay[state]) - 1, registers)
            if options & ALL:
                return state, offset
        if state == 0:
            break
    return state, np.int64(-1)


@nb.njit(cache=True)
def _contains(keys, key):  # type: ignore[no-untyped-def]
    mask = len(keys) - 1
    place = ((key * HASH) >> 20) & mask
    while keys[place] >= 0:
        if keys[place] == key:
            return True
        place = (place + 1) & mask
    return False


@nb.njit(cache=True)
def _inserted(keys, count, new, n_new):  # type: ignore[no-untyped-def]
    """Return the hash set `keys` of `count` members with some more, and how many members it has then."""
    if 2 * (count + n_new) > len(keys):
        larger = len(keys)
        while larger < 4 * (count + n_new):
            larger *= 2
        old = keys
        keys = np.full(larger, -1, np.int64)
        count = np.int64(0)
        for key in old:
            if key >= 0:
                keys, count = _put(keys, count, key)
    for i in range(n_new):
        keys, count = _put(keys, count, new[i])
    return keys, count


@nb.njit(cache=True)
def _put(keys, count, key):  # type: ignore[no-untyped-def]
    mask = len(keys) - 1
    place = ((key * HASH) >> 20) & mask
    while keys[place] >= 0 and keys[place] != key:
        place = (place + 1) & mask
    if keys[place] < 0:
        keys[place] = key
        count += 1
    return keys, count


@nb.njit(cache=True)
def _append(found, n_found, start, end, start_token, end_token):  # type: ignore[no-untyped-def]
    if 4 * n_found == len(found):
        found = np.concatenate((found, np.empty_like(found)))
    found[4 * n_found] = start
    found[4 * n_found + 1] = end
    found[4 * n_found + 2] = start_token
    found[4 * n_found + 3] = end_token
    return found


@nb.njit(cache=True)
def _skip(ids, tokens, entries, n_classes, idle, token, state, position, registers):  # type: ignore[no-untyped-def]
    """Read tokens as long as nothing happens; return the token at which something does, the state and the position."""
    n = len(ids)
    entry = state * n_classes
    while token < n:
        if entry == idle * n_classes:
            while token + 8 <= n:
                first = tokens[ids[token]]
                second = tokens[ids[token + 1]]
                third = tokens[ids[token + 2]]
                fourth = tokens[ids[token + 3]]
                fifth = tokens[ids[token + 4]]
                sixth = tokens[ids[token + 5]]
                seventh = tokens[ids[token + 6]]
                eighth = tokens[ids[token + 7]]
                if (first | second | third | fourth | fifth | sixth | seventh | eighth) < 0:
                    break
                position += (
                    (first >> LENGTH_SHIFT) + (second >> LENGTH_SHIFT) + (third >> LENGTH_SHIFT)
                    + (fourth >> LENGTH_SHIFT) + (fifth >> LENGTH_SHIFT) + (sixth >> LENGTH_SHIFT)
                    + (seventh >> LENGTH_SHIFT) + (eighth >> LENGTH_SHIFT)
                )  # fmt: skip
                token += 8
            registers[IDLE] = token
            if token == n:
                break
        properties = np.int64(tokens[ids[token]])
        following = entries[entry + (properties & CLASS_MASK)]
        if following & 1:
            break
        entry = np.int64(following >> 1)
        position += (properties >> LENGTH_SHIFT) & LENGTH_MASK
        token += 1
    return token, entry // n_classes, position


_SIGNATURE = nb.int64[::1](
    INTS, INTS, INTS, nb.int64, nb.int64,
    BYTES, LONGS, FLAGS,
    INTS, nb.int64, INTS, INTS, INTS, INTS, INTS, INTS, INTS, INTS,
    INTS, FLAGS, INTS, CLASSES, nb.int64,
    nb.int64, nb.int64[::1],
)  # fmt: skip


@nb.njit(_SIGNATURE, cache=True)
def find_leftmost(  # type: ignore[no-untyped-def]
    ids, tokens, entries, n_classes, idle,
    text, offsets, cuts,
    table, n_columns, column, delay, restart, right, end_delay, end_right, fixed, shorter,
    back, back_accepts, back_initial, class_of, n_symbols,
    options, registers,
):  # fmt: skip
    """Find the matches of a leftmost search, none overlapping another.

    Parameters
    ----------
    ids : int32 array
        A chunk of the stream.
    tokens : int32 array, one entry an id
        Bits 0 to 15: the class of the token; 16 to 30: its length; the sign bit is set unless the token leads from
        `idle` to `idle` and nothing happens on the way.
    entries, n_classes : int32 array, int
        For state q and class c entry ``q * n_classes + c``: the state that the token leads to, times
        ``2 * n_classes``, plus 1 if something happens on the way. Without classes every token is read byte by byte.
    idle : int
        A state in which nothing has begun to match.
    text, offsets, cuts : uint8, int64 and bool arrays
        The bytes of the ids, and whether an id is that of a special token, which cuts the text.
    table, n_columns, column, delay, restart, right, end_delay, end_right
        The searching automaton; see :class:`tokdfa.automata.utf8.ByteDFA`.
    fixed : int32 array, one entry a state
        The length of the match that ends in the state; 0 where it must be found by reading backwards.
    shorter : int32 array, one entry a state
        Not used here.
    back, back_accepts, back_initial, class_of, n_symbols
        The reversed automaton and the classes of code points; see :class:`tokdfa.automata.subset.ClassDFA`.
    options : int
        A sum of `ALIGNED`, `DELAYED`, `BYTEWISE`, and of `FINAL` when the stream ends with this chunk.
    registers : int64 array
        Where the search stands; brought up to date.

    Returns
    -------
    int64 array
        Four numbers a match: start and end in bytes, the first token and the token behind the last one.
    """
    n = len(ids)
    found = np.empty(64, np.int64)
    n_found = np.int64(0)
    futile = np.full(16, -1, np.int64)
    n_futile = np.int64(0)
    passed = np.empty(16, np.int64)
    n_passed = np.int64(0)
    no_starts = np.empty(0, np.int64)
    token = registers[TOKEN]
    state = registers[STATE]
    position = registers[POSITION]
    offset = np.int64(0)
    while True:
        at_end = False
        if offset == 0 and not registers[PENDING] and n_classes > 0:
            token, state, position = _skip(ids, tokens, entries, n_classes, idle, token, state, position, registers)
        if token < n:
            following = np.int64(1)
            if offset == 0:
                if state == idle and not registers[PENDING]:
                    registers[IDLE] = token
                if registers[PENDING] and token % STRIDE == 0:
                    key = token * (len(delay) + 1) + state
                    if _contains(futile, key):
                        state = np.int64(0)
                    else:
                        if n_passed == len(passed):
                            passed = np.concatenate((passed, np.empty_like(passed)))
                        passed[n_passed] = key
                        n_passed += 1
                if state > 0 and n_classes > 0:
                    following = np.int64(entries[state * n_classes + (tokens[ids[token]] & CLASS_MASK)])
            if state > 0 and not following & 1:
                state = (following >> 1) // n_classes
            elif state > 0:
                registers[LAST] = 0
                state, _ = _read_token(
                    ids, text, offsets, cuts, table, n_columns, column, delay,
                    options, token, offset, position, state, registers,
                )  # fmt: skip
                if registers[LAST] > 0:
                    n_passed = np.int64(0)
                    last = registers[LAST]
                    registers[RESTART], registers[RIGHT], registers[LENGTH] = restart[last], right[last], fixed[last]
            if state > 0:
                position += offsets[ids[token] + 1] - offsets[ids[token]]
                token += 1
                offset = np.int64(0)
                continue
        elif not options & FINAL:
            break
        else:
            if end_delay[state] >= 0:
                at_end = True
                _note_end(ids, offsets, token, np.int64(0), position, np.int64(end_delay[state]), registers)
                registers[RIGHT], registers[LENGTH] = end_right[state], 0
            if not registers[PENDING]:
                break
        # No better match than the pending one can come any more.
        futile, n_futile = _inserted(futile, n_futile, passed, n_passed)
        n_passed = np.int64(0)
        end, end_token, end_offset = registers[END], registers[END_TOKEN], registers[END_OFFSET]
        if registers[LENGTH] > 0:
            start = end - registers[LENGTH]
            start_token = _token_of(ids, offsets, end_token, end - end_offset, start)
        else:
            start, start_token, _ = _start_of(
                ids, text, offsets, cuts, back, back_accepts, class_of, n_symbols, options,
                np.int64(back_initial[registers[RIGHT]]), end_token, end_offset, end, registers[FLOOR], no_starts,
            )  # fmt: skip
        found = _append(found, n_found, start, end, start_token, end_token + (end_offset > 0))
        n_found += 1
        registers[FLOOR] = end
        registers[PENDING] = 0
        if at_end:
            break
        token, offset, position, state = end_token, end_offset, end - end_offset, registers[RESTART]
        if offset > 0 and offset == offsets[ids[token] + 1] - offsets[ids[token]]:
            position += offset
            token += 1
            offset = np.int64(0)
        registers[IDLE] = token
    registers[TOKEN] = token
    registers[STATE] = state
    registers[POSITION] = position
    return found[: 4 * n_found].copy()


@nb.njit(_SIGNATURE, cache=True)
def find_all(  # type: ignore[no-untyped-def]
    ids, tokens, entries, n_classes, idle,
    text, offsets, cuts,
    table, n_columns, column, delay, restart, right, end_delay, end_right, fixed, shorter,
    back, back_accepts, back_initial, class_of, n_symbols,
    options, registers,
):  # fmt: skip
    """Find all matches, in the order of their ends and then of their starts.

    Parameters and result are those of `find_leftmost`, but for

    shorter : int32 array, one entry a state
        A state in which the next shorter match ends that ends here, where the lengths are fixed; 0 for none.
    """
    n = len(ids)
    found = np.empty(64, np.int64)
    n_found = np.int64(0)
    starts = np.empty(64, np.int64)
    token = registers[TOKEN]
    state = registers[STATE]
    position = registers[POSITION]
    offset = np.int64(0)
    while True:
        if offset == 0 and n_classes > 0:
            token, state, position = _skip(ids, tokens, entries, n_classes, idle, token, state, position, registers)
        if offset == 0 and state == idle:
            registers[IDLE] = token
        registers[PENDING] = 0
        registers[LAST] = 0
        kind = np.int64(0)
        if token < n:
            state, offset = _read_token(
                ids, text, offsets, cuts, table, n_columns, column, delay,
                options, token, offset, position, state, registers,
            )  # fmt: skip
            kind = np.int64(right[registers[LAST]])
        elif options & FINAL and end_delay[state] >= 0:
            _note_end(ids, offsets, token, np.int64(0), position, np.int64(end_delay[state]), registers)
            kind = np.int64(end_right[state])
        if registers[PENDING]:
            end, end_token, end_offset = registers[END], registers[END_TOKEN], registers[END_OFFSET]
            # The nearest start first.
            n_starts = np.int64(0)
            last = registers[LAST]
            if fixed[last] > 0:
                while last > 0:
                    if n_starts == len(starts):
                        starts = np.concatenate((starts, np.empty_like(starts)))
                    starts[n_starts] = end - fixed[last]
                    n_starts += 1
                    last = np.int64(shorter[last])
                for i in range(n_starts // 2):
                    starts[i], starts[n_starts - 1 - i] = starts[n_starts - 1 - i], starts[i]
            else:
                while True:
                    _, _, n_starts = _start_of(
                        ids, text, offsets, cuts, back, back_accepts, class_of, n_symbols, options,
                        np.int64(back_initial[kind]), end_token, end_offset, end, np.int64(-1), starts,
                    )  # fmt: skip
                    if n_starts <= len(starts):
                        break
                    starts = np.empty(2 * n_starts, np.int64)
            for i in range(n_starts - 1, -1, -1):
                start_token = _token_of(ids, offsets, end_token, end - end_offset, starts[i])
                found = _append(found, n_found, starts[i], end, start_token, end_token + (end_offset > 0))
                n_found += 1
        if token == n:
            break
        if offset < 0:
            position += offsets[ids[token] + 1] - offsets[ids[token]]
            token += 1
            offset = np.int64(0)
    registers[PENDING] = 0
    registers[TOKEN] = token
    registers[STATE] = state
    registers[POSITION] = position
    return found[: 4 * n_found].copy()
