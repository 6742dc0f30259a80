"""Encoding the pieces that a pre-tokenizer cuts a text into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.errors import AlphabetError
from tokdfa.kernels import pieces as kernels
from tokdfa.transducers.one_pass import OnePass, find_tables

__all__ = ["Encoded", "PieceEncoder"]

Int32Array: TypeAlias = npt.NDArray[np.int32]
Int64Array: TypeAlias = npt.NDArray[np.int64]
ByteArray: TypeAlias = npt.NDArray[np.uint8]

DEFAULT_MEMORY = 1 << 16


class Encoded(NamedTuple):
    """The ids of several pieces: those of piece i are ``ids[offsets[i]:offsets[i + 1]]``."""

    ids: Int32Array
    offsets: Int64Array


class PieceEncoder:
    """Encodes pieces of text, each by itself, and remembers the short ones.

    Not to be used by two threads at a time; each may have a :meth:`copy`, which shares what is only read.

    Parameters
    ----------
    one_pass : OnePass
        The dictionary.
    ids : int32 array
        The id of each token: of those of the dictionary's alphabet, then of `extra`.
    extra : sequence of bytes
        Tokens beside those of the dictionary, numbered behind them.
    whole : sequence of int
        The tokens, of either kind, that a piece is encoded as when it is that token, although merging does not make
        it.
    memory : int
        How many pieces are remembered at most; rounded up to a power of two. A piece takes 32 bytes.
    """

    def __init__(
        self,
        one_pass: OnePass,
        ids: Int32Array,
        *,
        extra: Sequence[bytes] = (),
        whole: Sequence[int] = (),
        memory: int = DEFAULT_MEMORY,
    ) -> None:
        self.one_pass = one_pass
        self._tables = one_pass.with_ids(ids)
        words = [*map(one_pass.code.encode, one_pass.dictionary.alphabet), *extra] if len(whole) else []
        chosen = np.zeros(len(words), dtype=np.bool_)
        chosen[list(whole)] = True
        self._whole = find_tables(words, chosen, ids[: len(words)])
        sets = 1 << max(0, (memory + 1) // 2 - 1).bit_length()
        self._memory = np.zeros(2 * kernels.ENTRY * sets, dtype=np.uint64)

    def copy(self) -> PieceEncoder:
        """Return an encoder of the same pieces for another thread, with a memory of its own."""
        twin = object.__new__(PieceEncoder)
        twin.__dict__.update(self.__dict__)
        twin._memory = self._memory.copy()
        return twin

    def encode(self, text: ByteArray, bounds: Int64Array) -> Encoded:
        """Encode pieces.

        Parameters
        ----------
        text : uint8 array
            The code of the text, as ``one_pass.code`` writes it: for dictionaries over bytes the text itself.
        bounds : int64 array
            Piece i is ``text[bounds[i]:bounds[i + 1]]``.

        Raises
        ------
        AlphabetError
            If a piece has a symbol that is not in the alphabet, or the bounds do not ascend within the text.
        """
        sizes = np.diff(bounds)
        if len(sizes) and (sizes.min() <= 0 or bounds[0] < 0 or bounds[-1] > len(text)):
            raise AlphabetError("the bounds of pieces ascend from 0 to the end of the text", value=bounds)
        out = np.empty(len(text) + kernels.IDS_KEPT, dtype=np.int32)
        ends = np.zeros(len(bounds), dtype=np.int64)
        left = np.zeros((int(sizes.max(initial=0)) >> 6) + 1, dtype=np.uint64)
        end = kernels.encode_pieces(
            self._tables, self._whole, text, bounds, 0, len(sizes),
            self._memory, out, 0, ends[1:], left, np.empty(3 * kernels.BLOCK, dtype=np.uint64),
        )  # fmt: skip
        if end < 0:
            index = -1 - end
            raise AlphabetError(
                "a symbol that is not in the base alphabet",
                value=text[bounds[index] : bounds[index + 1]].tobytes(),
                where=f"piece {index}",
            )
        return Encoded(out[:end].copy(), ends)
