"""Searching a stream of ids for all matches of a pattern over its text."""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.backwards import BACKWARD, TEXT, starts_of
from tokdfa.kernels.search_types import (
    ALIGNED,
    BEGIN,
    CLASS_MASK,
    CUT,
    DELAY,
    ENDING,
    FINAL,
    FIXED,
    FORWARD,
    IDLE,
    N_TOLD,
    N_WORD,
    OFFSET,
    POSITION,
    RECORD,
    RIGHT,
    SHORTER,
    SIZE_SHIFT,
    STATE,
    TOKEN,
    TOKENS,
)
from tokdfa.kernels.types import INTS

__all__ = ["find_all"]


@nb.njit(nb.int64[::1](INTS, TOKENS, FORWARD, TEXT, BACKWARD, nb.int64, nb.int64[::1], nb.int64), cache=True)
def find_all(ids, what, forward, text, backward, options, registers, enough):  # type: ignore[no-untyped-def]
    """Find all matches, in the order of their ends and then of their starts.

    Parameters are those of :func:`tokdfa.kernels.search.find_leftmost`; but for `enough`, the number of matches after
    which no further end of matches is looked for.

    Returns
    -------
    int64 array
        Four numbers a match: start and end in bytes, the first token and the token behind the last one. When there are
        `enough` of them, the search may not be through with the chunk.
    """
    words, columns, told = what.words, forward.columns, forward.told
    n = len(ids)
    found = np.empty(256, np.int64)
    n_found = np.int64(0)
    starts = np.empty(64, np.int64)
    token, offset, state, position = registers[TOKEN], registers[OFFSET], registers[STATE], registers[POSITION]
    while n_found < 4 * enough:
        while token < n and offset == 0 and what.n_classes > 0:
            following = np.int64(what.entries[state * what.n_classes + (what.properties[ids[token]] & CLASS_MASK)])
            if state == what.idle:
                registers[IDLE] = token
            if following & 1:
                break
            state = following // (4 * what.n_classes)
            position += words[ids[token] * N_WORD + RECORD] >> SIZE_SHIFT
            token += 1
        if state == what.idle:
            registers[IDLE] = token
        begin, n_read, length = np.int64(0), np.int64(1), np.int64(0)
        if token < n:
            record = words[ids[token] * N_WORD + RECORD]
            begin = words[ids[token] * N_WORD + BEGIN]
            length = record >> SIZE_SHIFT
            n_read = (np.int64(1) if record & CUT else length) + (forward.border >= 0)
        elif not options & FINAL:
            break
        for place in range(offset, n_read):
            offset = np.int64(place + 1)
            end_offset, last = np.int64(0), np.int64(0)
            if token == n:
                delay = told[state * N_TOLD + ENDING]
                right = delay >> 4
                delay = delay & 15 if delay >= 0 else delay
            else:
                at_border = forward.border >= 0 and place == n_read - 1
                column = forward.border if at_border else np.int64(columns[begin + place])
                state = np.int64(forward.table[state * forward.n_columns + column])
                delay, right = told[state * N_TOLD + DELAY], told[state * N_TOLD + RIGHT]
                # With a delay the match ended before the symbol whose last byte has been read now.
                end_offset = length if at_border else place + (delay == 0)
                delay -= delay > 0
                last = state
            if delay < 0:
                continue
            end, end_token = position + end_offset - delay, token
            while delay > end_offset:
                delay -= end_offset
                end_token -= 1
                end_offset = words[ids[end_token] * N_WORD + RECORD] >> SIZE_SHIFT
            end_offset -= delay
            # The nearest start first.
            n_starts = np.int64(0)
            if told[last * N_TOLD + FIXED] > 0:
                while last > 0:
                    if n_starts == len(starts):
                        starts = np.concatenate((starts, np.empty_like(starts)))
                    starts[n_starts] = end - told[last * N_TOLD + FIXED]
                    n_starts += 1
                    last = told[last * N_TOLD + SHORTER]
                for i in range(n_starts // 2):
                    starts[i], starts[n_starts - 1 - i] = starts[n_starts - 1 - i], starts[i]
            else:
                while True:
                    n_starts = starts_of(
                        ids, text, backward, options & ALIGNED, right, end_token, end_offset, end, starts
                    )
                    if n_starts <= len(starts):
                        break
                    starts = np.empty(2 * n_starts, np.int64)
            while n_found + 4 * n_starts > len(found):
                found = np.concatenate((found, np.empty_like(found)))
            # The leftmost one is written first.
            start_token, begins_at = end_token, end - end_offset
            for i in range(n_starts):
                while starts[i] < begins_at:
                    start_token -= 1
                    begins_at -= words[ids[start_token] * N_WORD + RECORD] >> SIZE_SHIFT
                at = n_found + 4 * (n_starts - 1 - i)
                found[at], found[at + 1] = starts[i], end
                found[at + 2], found[at + 3] = start_token, end_token + (end_offset > 0)
            n_found += 4 * n_starts
            if n_found >= 4 * enough:
                break
        if token == n:
            break
        if offset == n_read:
            position += length
            token += 1
            offset = np.int64(0)
    registers[TOKEN], registers[OFFSET], registers[STATE], registers[POSITION] = token, offset, state, position
    return found[:n_found].copy()
