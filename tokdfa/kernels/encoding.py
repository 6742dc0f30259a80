"""Encoding a text: splitting and encoding in turn, a stretch at a time that stays in the first-level cache."""

from __future__ import annotations

import numba as nb

from tokdfa.kernels.memory import MEMORY
from tokdfa.kernels.one_pass import TABLES
from tokdfa.kernels.packed import BYTES, kernel
from tokdfa.kernels.pieces import DONE, SCRATCH, encode_pieces
from tokdfa.kernels.split import EVENT_BITS, SPLITTING, split, walk_back

__all__ = ["AT", "CUT", "INVALID", "NO_ROOM", "N_BEGUN", "N_TRAIL", "PROGRESS", "STRETCH", "encode_text"]

STRETCH = 1 << 13

# Where an encoding stands: the next byte, the state there, the length of its trail, how many entries of `begun` are to
# be encoded, and whether these are the last.
PROGRESS = 5
AT, STATE, N_TRAIL, N_BEGUN, LAST = range(PROGRESS)

# How an encoding ends, beside the ways in which the encoding of pieces does.
INVALID, CUT, NO_ROOM = 3, 4, 5


@kernel(
    nb.int64(
        TABLES, TABLES, nb.boolean, SPLITTING,
        BYTES, nb.int64[::1], nb.int32[::1], nb.int64[::1], nb.int64[::1], nb.int64[::1],
        MEMORY, nb.int32[::1], nb.int64[::1], SCRATCH,
    )
)  # fmt: skip
def encode_text(  # type: ignore[no-untyped-def]
    tables, whole, proper, splitting,
    text, progress, trail, trail_at, begun, cursor,
    memory, out, ends, scratch,
):  # fmt: skip
    """Encode a text from where `progress` says to its end.

    Parameters
    ----------
    tables, whole, proper, cursor, memory, out, ends, scratch
        See :func:`~tokdfa.kernels.pieces.encode_pieces`; `ends` is empty.
    splitting : Splitting
    text : uint8 array
        UTF-8, all of it.
    progress : int64 array of shape (PROGRESS,)
        All zeros in the beginning, as is `cursor`.
    trail, trail_at, begun : int32, int64 and int64 arrays
        See :func:`~tokdfa.kernels.split.split`; of one length, ``begun[0]`` being 0 in the beginning.

    Returns
    -------
    int
        DONE. FOREIGN or TOO_LONG, at the piece that begins at ``begun[cursor[0]]``. INVALID or CUT, where the text is
        not UTF-8 or ends within a symbol, at ``progress[AT]``. NO_ROOM, when trail, trail_at and begun must be longer.
    """
    end = len(text)
    while True:
        status = encode_pieces(
            tables, whole, proper, text, begun, progress[N_BEGUN], cursor, memory, out, ends, scratch
        )
        if status != DONE or progress[LAST]:
            return status
        # What has begun last is still going on.
        begun[0] = begun[progress[N_BEGUN]]
        cursor[0] = progress[N_BEGUN] = 0
        at, state, n_trail = progress[AT], progress[STATE], progress[N_TRAIL]
        if at == end:
            n_begun = walk_back(splitting, trail, trail_at, n_trail, state, begun[1:])
            begun[n_begun + 1] = end << EVENT_BITS
            progress[N_BEGUN] = n_begun + 1
            progress[LAST] = 1
            continue
        stop = min(at + STRETCH, end)
        if n_trail + stop - at + 2 > len(trail):
            return NO_ROOM
        state, read, n_trail, n_begun, valid = split(
            splitting, text[at:stop], at, state, trail, trail_at, n_trail, begun[1:]
        )
        progress[AT], progress[STATE], progress[N_TRAIL], progress[N_BEGUN] = at + read, state, n_trail, n_begun
        if not valid:
            return INVALID
        if not read:
            return CUT
