"""Encoding the pieces that a pre-tokenizer cuts a text into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tokdfa.dictionary import Dictionary
from tokdfa.errors import AlphabetError
from tokdfa.kernels import pieces as kernels
from tokdfa.kernels.memory import LONGEST_KEPT, SET, WAYS, Memory
from tokdfa.kernels.one_pass import Tables
from tokdfa.kernels.split import BEGINS, EVENT_BITS
from tokdfa.kernels.together import AT_ONCE, WORD
from tokdfa.transducers.one_pass import ByteCode, OnePass, find_tables, frozen, rules_table, symbols_of_bytes

__all__ = ["Encoded", "PieceEncoder", "scratch_for"]

Int32Array: TypeAlias = npt.NDArray[np.int32]
Int64Array: TypeAlias = npt.NDArray[np.int64]
ByteArray: TypeAlias = npt.NDArray[np.uint8]
EncodeLong: TypeAlias = Callable[[ByteArray], Int32Array]

DEFAULT_MEMORY = 1 << 17

# What a kernel may write behind the last id.
ROOM = AT_ONCE


class Encoded(NamedTuple):
    """The ids of several pieces: those of piece i are ``ids[offsets[i]:offsets[i + 1]]``."""

    ids: Int32Array
    offsets: Int64Array


class PieceEncoder:
    """Encodes pieces of text, each by itself, and remembers them.

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
        How many pieces are remembered at most; rounded up to a power of two. A piece takes 32 bytes, and longer ones
        with many ids have as much again for all of them.

    Attributes
    ----------
    code : ByteCode
        Writes words as bytes.
    tables, whole_tables : Tables
        What the kernels read.
    proper : bool
        Whether the rules are proper.
    memory : Memory
        What is remembered.
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
        self.code = one_pass.code
        self.proper = True
        self._encode_long: EncodeLong | None = None
        self.tables: Tables = one_pass.with_ids(ids)
        self.whole_tables = self.tables
        if len(whole):
            dictionary = one_pass.dictionary
            words = [*map(self.code.encode, dictionary.alphabet), *extra]
            chosen = np.zeros(len(words), dtype=np.bool_)
            chosen[: len(dictionary.alphabet)] = dictionary.folding.birth >= 0
            chosen[list(whole)] = True
            self.whole_tables = find_tables(words, chosen, ids[: len(words)])
        self.memory = _memory(memory)

    @classmethod
    def of_ranks(
        cls,
        dictionary: Dictionary,
        merges: tuple[Int32Array, Int32Array, Int32Array],
        ids: Int32Array,
        *,
        extra: Sequence[bytes] = (),
        whole: Sequence[int] = (),
        encode_long: EncodeLong,
        memory: int = DEFAULT_MEMORY,
    ) -> PieceEncoder:
        """Return the encoder of rules over bytes that need not be proper, of which each token has one priority.

        Parameters
        ----------
        dictionary : Dictionary
            It numbers the tokens; its symbols are the bytes.
        merges : int32 arrays
            Left part, right part and product of all rules, the strongest first; no token comes twice but in a row.
        ids, extra, memory
            As for the other encoders.
        whole : sequence of int
            All tokens that a piece is encoded as when it is that token.
        encode_long : callable
            Encodes pieces of 64 bytes and more.

        Raises
        ------
        LimitExceededError
            If there are more than 2^21 - 1 tokens.
        """
        encoder = object.__new__(cls)
        encoder.code = ByteCode(dictionary.alphabet)
        encoder.proper = False
        encoder._encode_long = encode_long
        encoder.memory = _memory(memory)
        words = [*cast("Sequence[bytes]", dictionary.alphabet), *extra]
        left, right, product = merges
        made = product[np.append(True, product[1:] != product[:-1])] if len(product) else product
        number = np.full(len(ids), -1, dtype=np.int32)
        number[: dictionary.alphabet.n_symbols] = np.arange(dictionary.alphabet.n_symbols)
        number[made] = dictionary.alphabet.n_symbols + np.arange(len(made))
        # Parts that nothing makes are never there.
        possible = (number[left] >= 0) & (number[right] >= 0)
        columns = (np.ascontiguousarray(number[row[possible]]) for row in (left, right, product))
        rules, of_symbols = rules_table(*columns, n_tokens=len(words))
        chosen = np.zeros(len(words), dtype=np.bool_)
        chosen[list(whole)] = True
        encoder.whole_tables = find_tables(words, chosen, ids[: len(words)])
        by_number = np.full(len(ids) + 1, -1, dtype=np.int32)
        by_number[number[number >= 0]] = ids[number >= 0]
        symbol = symbols_of_bytes(dictionary.alphabet)
        encoder.tables = frozen(
            encoder.whole_tables._replace(rules=rules, of_symbols=of_symbols, symbol=symbol, ids_of_numbers=by_number)
        )
        return encoder

    def copy(self) -> PieceEncoder:
        """Return an encoder of the same pieces for another thread, with a memory of its own."""
        twin = object.__new__(PieceEncoder)
        twin.__dict__.update(self.__dict__)
        twin.memory = Memory(self.memory.entries.copy(), self.memory.shelf.copy(), self.memory.used.copy())
        return twin

    def encode_long(self, piece: ByteArray, cursor: Int64Array, out: Int32Array) -> None:
        """Encode a piece for which a kernel has no room, and go on to the next one; see :func:`encode_pieces`."""
        assert self._encode_long is not None
        ids = self._encode_long(piece)
        n = int(cursor[1])
        out[n : n + len(ids)] = ids
        cursor[:] = cursor[0] + 1, n + len(ids)

    def encode(self, text: ByteArray, bounds: Int64Array) -> Encoded:
        """Encode pieces.

        Parameters
        ----------
        text : uint8 array
            The code of the text, as `code` writes it: for dictionaries over bytes the text itself.
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
        begun = (np.asarray(bounds, dtype=np.int64) << EVENT_BITS) | BEGINS
        n_bytes = int(sizes.sum())
        out = np.empty(n_bytes + ROOM, dtype=np.int32)
        ends = np.zeros(len(bounds), dtype=np.int64)
        cursor = np.zeros(2, dtype=np.int64)
        scratch = scratch_for(int(sizes.max(initial=0)))
        while True:
            status = kernels.encode_pieces(
                self.tables, self.whole_tables, self.proper, text, begun, len(sizes), cursor, self.memory, out,
                ends[1:], scratch,
            )  # fmt: skip
            if status != kernels.TOO_LONG:
                break
            index = int(cursor[0])
            self.encode_long(text[bounds[index] : bounds[index + 1]], cursor, out)
            ends[index + 1] = cursor[1]
        if status == kernels.FOREIGN:
            index = int(cursor[0])
            raise AlphabetError(
                "a symbol that is not in the base alphabet",
                value=text[bounds[index] : bounds[index + 1]].tobytes(),
                where=f"piece {index}",
            )
        out.resize(int(cursor[1]), refcheck=False)
        return Encoded(out, ends)


def scratch_for(longest: int) -> kernels.Scratch:
    """Return room to encode pieces of up to this many bytes in."""
    n = kernels.BLOCK
    rest, waiting, waiting_long, first, count = (np.zeros(n, dtype=np.int64) for _ in range(5))
    return kernels.Scratch(
        np.zeros(4 * n, dtype=np.uint64),
        rest,
        waiting,
        waiting_long,
        first,
        count,
        np.zeros(WORD * n, dtype=np.int32),
        np.zeros(n, dtype=np.uint64),
        np.zeros((longest >> 6) + 1, dtype=np.uint64),
    )


def _memory(n_pieces: int) -> Memory:
    sets = 1 << max(0, (n_pieces + WAYS - 1) // WAYS - 1).bit_length()
    shelf = max(SET * sets, 2 * LONGEST_KEPT)
    return Memory(np.zeros(SET * sets, dtype=np.uint64), np.zeros(shelf, dtype=np.uint64), np.zeros(1, dtype=np.int64))
