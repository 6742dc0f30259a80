"""Encoding the pieces into which a pre-tokenizer cuts a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from tokdfa.automata.dictionary import Dictionary
from tokdfa.automata.transducers.one_pass import ByteCode, OnePass, joined, rules_table, symbols_of_bytes
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array
from tokdfa.base.errors import AlphabetError
from tokdfa.kernels.encode.characters import cut_pieces
from tokdfa.kernels.encode.events import BEGINS, EVENT_BITS
from tokdfa.kernels.encode.one_pass import index_words, number_products, tables_of
from tokdfa.kernels.encode.pieces import FOREIGN, ROOM, TOO_LONG, LongTables, PieceRun
from tokdfa.kernels.library import Struct
from tokdfa.kernels.pages import empty
from tokdfa.tokenizers.encoding.encoded import Encoded

EncodeLong: TypeAlias = Callable[[bytes], Int32Array]

DEFAULT_MEMORY = 1 << 19


class PieceEncoder:
    """An encoder of pieces of text, each encoded separately and cached.

    Not to be used by two threads at a time; each may have a :meth:`copy`, which shares the read-only data.

    Parameters
    ----------
    one_pass : OnePass
        The dictionary.
    ids : int32 array
        The id of each token: the dictionary's alphabet, then `extra`.
    extra : sequence of bytes
        Further tokens, numbered after the dictionary's.
    whole : sequence of int
        The tokens, of either kind, that are emitted for a piece that is that token, although merging does not make
        them.
    memory : int
        The largest number of cached pieces, rounded up to a power of two. A piece takes 32 bytes; longer pieces with
        many ids share as much memory again.

    Attributes
    ----------
    code : ByteCode or None
        Writes words as bytes; None for an encoder of characters.
    encode_long : callable or None
        Encodes pieces that are too long to be merged, if they have no tables.
    lacks_ids : bool
        Whether there are tokens without an id.
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
        tables = whole_tables = one_pass.with_ids(ids)
        if len(whole):
            dictionary = one_pass.dictionary
            chosen = np.zeros(len(dictionary.alphabet) + len(extra), dtype=np.bool_)
            chosen[: len(dictionary.alphabet)] = dictionary.folding.birth >= 0
            chosen[list(whole)] = True
            whole_tables = _whole_tables(one_pass.code.tokens(extra), chosen, ids)
        self._set(one_pass.code, tables, whole_tables, ids, memory, tables, None)

    def _set(
        self,
        code: ByteCode | None,
        tables: Struct,
        whole_tables: Struct,
        ids: Int32Array,
        memory: int,
        long_tables: LongTables,
        encode_long: EncodeLong | None,
    ) -> None:
        self.code = code
        self.encode_long = encode_long
        self.lacks_ids = bool(ids.min(initial=0) < 0)
        self._tables = (tables, whole_tables)
        self._memory = memory
        self._long_tables = long_tables
        self._characters: Struct | None = None

    @cached_property
    def run(self) -> PieceRun:
        """The kernel that encodes pieces, with their cache."""
        return PieceRun(*self._tables, self._memory, self._long_tables, self._characters)

    @classmethod
    def of_ranks(
        cls,
        dictionary: Dictionary,
        merges: tuple[Int32Array, Int32Array, Int32Array],
        ids: Int32Array,
        *,
        extra: Sequence[bytes] = (),
        whole: BoolArray,
        long_tables: LongTables = None,
        encode_long: EncodeLong,
        memory: int = DEFAULT_MEMORY,
    ) -> PieceEncoder:
        """Return the encoder of rules over bytes, each token having one priority; they are merged as the libraries do.

        Parameters
        ----------
        dictionary : Dictionary
            The dictionary that numbers the tokens; its symbols are the bytes.
        merges : int32 arrays
            Left part, right part and product of all rules, the strongest first; all rules of a token are consecutive.
        ids, extra, memory
            As for the other encoders.
        whole : bool array, one entry a token
            Whether it is emitted for a piece that is that token.
        long_tables : Struct or callable, optional
            The tables by which pieces of 64 bytes and more are tokenized in one pass, if the rules agree with that; or
            a function that returns them, or None, when the first such piece comes.
        encode_long : callable
            Encodes these pieces without such tables.

        Raises
        ------
        LimitExceededError
            If there are more than 2^21 - 1 tokens.
        """
        code = ByteCode(dictionary.alphabet)
        left, right, product = merges
        number, ids_of_numbers = number_products(product, dictionary.alphabet.n_symbols, ids)
        rules, of_symbols = rules_table(left, right, product, number)
        whole_tables = _whole_tables(code.tokens(extra), whole, ids) if whole.any() else _no_words(ids)
        tables = Struct(
            "tokdfa_token_tables",
            **whole_tables.fields
            | {
                "rules": rules,
                "of_symbols": of_symbols,
                "symbol": symbols_of_bytes(dictionary.alphabet),
                "ids_of_numbers": ids_of_numbers,
            },
        )
        encoder = object.__new__(cls)
        encoder._set(code, tables, whole_tables, ids, memory, long_tables, encode_long)
        return encoder

    @classmethod
    def of_characters(cls, characters: Struct, ids: Int32Array, *, memory: int = DEFAULT_MEMORY) -> PieceEncoder:
        """Return the encoder of a dictionary over characters; it cuts pieces further where nothing merges.

        Parameters
        ----------
        characters : Struct
            The tables of :func:`~tokdfa.kernels.encode.characters.characters_of`.
        ids, memory
            As for the other encoders.
        """
        nothing = _no_words(ids)
        encoder = object.__new__(cls)
        encoder._set(None, nothing, nothing, ids, memory, None, None)
        encoder._characters = characters
        return encoder

    def copy(self) -> PieceEncoder:
        """Return an encoder of the same pieces for another thread, with an empty cache of its own."""
        twin = object.__new__(PieceEncoder)
        twin.__dict__.update(self.__dict__)
        twin.__dict__.pop("run", None)
        return twin

    def encode(self, text: bytes, bounds: Int64Array) -> Encoded:
        """Encode pieces.

        Parameters
        ----------
        text : bytes
            The code of the text, as `code` writes it: for dictionaries over bytes the text itself. UTF-8 for an encoder
            of characters, in which nothing is between the pieces, and the last one ends with the text.
        bounds : int64 array
            Piece i is ``text[bounds[i]:bounds[i + 1]]``.

        Raises
        ------
        AlphabetError
            If a piece has a symbol that is not in the alphabet, or the bounds do not ascend within the text.
        """
        bounds = np.ascontiguousarray(bounds, dtype=np.int64)
        sizes = np.diff(bounds)
        if len(sizes) and (sizes.min() <= 0 or bounds[0] < 0 or bounds[-1] > len(text)):
            raise AlphabetError("the bounds of pieces must ascend from 0 to the end of the text", value=bounds)
        begun, firsts = (bounds << EVENT_BITS) | BEGINS, None
        if self._characters is not None and len(sizes):
            begun, firsts = cut_pieces(self._characters, text, bounds)
        out = empty(len(text) + ROOM, np.int32)
        ends = np.zeros(max(len(begun), 1), dtype=np.int64)
        run = self.run
        if len(text) > run.longest:
            run.make_room(len(text))
        run.go_on(0, 0)
        status = run.encode(text, begun, out, ends[1:])
        while status == TOO_LONG:
            assert self.encode_long is not None
            index, n = run.next, run.n
            ids = self.encode_long(text[bounds[index] : bounds[index + 1]])
            out[n : n + len(ids)] = ids
            ends[index + 1] = n + len(ids)
            run.go_on(index + 1, n + len(ids))
            status = run.encode(text, begun, out, ends[1:])
        if status == FOREIGN:
            begin, end = (begun[run.next : run.next + 2] >> EVENT_BITS).tolist()
            where = f"piece {int(np.searchsorted(bounds, begin, side='right')) - 1}"
            raise AlphabetError("the symbol is not in the base alphabet", value=text[begin:end], where=where)
        out.resize(run.n, refcheck=False)
        return Encoded(out, ends if firsts is None else ends[firsts])


def _no_words(ids: Int32Array) -> Struct:
    """Return the tables of no words, leaving the tables of rules empty."""
    return _whole_tables(joined(()), np.zeros(0, dtype=np.bool_), ids)


def _whole_tables(words: tuple[Uint8Array, Int64Array], chosen: BoolArray, ids: Int32Array) -> Struct:
    """Return the tables of the chosen words, leaving the tables of rules empty."""
    none = np.zeros(0, dtype=np.int32)
    names = np.array(ids[: len(chosen)], dtype=np.int32)
    found = index_words(*words, chosen, shorter=False)
    return tables_of(found, np.zeros(0, dtype=np.uint64), none, none, names, none)
