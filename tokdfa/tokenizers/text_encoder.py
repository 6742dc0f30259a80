"""Encoding whole texts: splitting and encoding in one compiled loop, which holds no lock of the interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.errors import AlphabetError, PatternError
from tokdfa.kernels import encoding as kernels
from tokdfa.kernels.pieces import DONE, FOREIGN, TOO_LONG
from tokdfa.kernels.split import EVENT_BITS
from tokdfa.transducers.pieces import ROOM, PieceEncoder, scratch_for

if TYPE_CHECKING:
    from tokdfa.tokenizers.splitter import Splitter

__all__ = ["TextEncoder"]

Int32Array: TypeAlias = npt.NDArray[np.int32]

_FIRST_ROOM = 2 * kernels.STRETCH


class TextEncoder:
    """The function from UTF-8 to ids, for a splitting that is a machine and a dictionary over the bytes.

    Not to be used by two threads at a time: it keeps the room that it works in.

    Parameters
    ----------
    pieces : PieceEncoder
        What encodes the pieces, and remembers them.
    splitter : Splitter

    Attributes
    ----------
    splitter : Splitter
    """

    def __init__(self, pieces: PieceEncoder, splitter: Splitter) -> None:
        self.splitter = splitter
        self._pieces = pieces
        self._tables = splitter.tables
        self._none = np.zeros(0, dtype=np.int64)
        self._progress = np.zeros(kernels.PROGRESS, dtype=np.int64)
        self._cursor = np.zeros(2, dtype=np.int64)
        self._scratch = scratch_for(_FIRST_ROOM)
        self._trail = np.zeros(_FIRST_ROOM, dtype=np.int32)
        self._trail_at = np.zeros(_FIRST_ROOM, dtype=np.int64)
        self._begun = np.zeros(_FIRST_ROOM, dtype=np.int64)

    def encode(self, data: bytes) -> Int32Array:
        """Return the ids of a text; -1 stands for a token without id.

        Raises
        ------
        PatternError
            If the text is not UTF-8; says where.
        AlphabetError
            If a piece has a symbol that is not in the alphabet; says where the piece begins.
        """
        text = np.frombuffer(data, dtype=np.uint8)
        pieces = self._pieces
        progress, cursor = self._progress, self._cursor
        progress[:] = cursor[:] = 0
        self._begun[0] = 0
        if 64 * len(self._scratch.left) <= len(text):
            self._scratch = scratch_for(len(text))
        out = np.empty(len(text) + ROOM, dtype=np.int32)
        while True:
            status = kernels.encode_text(
                pieces.tables, pieces.whole_tables, pieces.proper, self._tables,
                text, progress, self._trail, self._trail_at, self._begun, cursor, pieces.memory, out, self._none,
                self._scratch,
            )  # fmt: skip
            if status == TOO_LONG:
                index = int(cursor[0])
                start, end = (int(begun) >> EVENT_BITS for begun in self._begun[index : index + 2])
                pieces.encode_long(text[start:end], cursor, out)
                continue
            if status != kernels.NO_ROOM:
                break
            # A long stretch that only what follows it can settle, such as spaces without end.
            self._trail = np.concatenate((self._trail, np.zeros_like(self._trail)))
            self._trail_at = np.concatenate((self._trail_at, np.zeros_like(self._trail_at)))
            self._begun = np.concatenate((self._begun, np.zeros_like(self._begun)))
        if status != DONE:
            self._refuse(status, data, int(progress[kernels.AT]), int(self._begun[cursor[0]]) >> EVENT_BITS)
        out.resize(int(cursor[1]), refcheck=False)
        return out

    @staticmethod
    def _refuse(status: int, data: bytes, at: int, piece: int) -> None:
        if status == FOREIGN:
            raise AlphabetError("a symbol that is not in the base alphabet", where=f"the piece at byte {piece}")
        what = "the text ends within a symbol" if status == kernels.CUT else "not UTF-8"
        raise PatternError(what, value=data[at : at + 4], where=f"byte {at}")
