"""Encoding the pieces into which a pre-tokenizer cuts a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.automata.dictionary import Dictionary
from tokdfa.automata.transducers.one_pass import ByteCode, OnePass, joined, rules_table, symbols_of_bytes
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array
from tokdfa.base.errors import AlphabetError
from tokdfa.kernels.encode.characters import cut_pieces
from tokdfa.kernels.encode.events import BEGINS, EVENT_BITS
from tokdfa.kernels.encode.one_pass import index_words, number_products, tables_of
from tokdfa.kernels.encode.pieces import FOREIGN, SLACK, TOO_LONG, LongTables, PieceRun
from tokdfa.kernels.library import Struct
from tokdfa.kernels.pages import empty

EncodeLong: TypeAlias = Callable[[bytes], Int32Array]

MOST_CACHED = 1 << 19


class Encoded(NamedTuple):
    """The ids of several pieces: piece i has ``ids[offsets[i]:offsets[i + 1]]``."""

    ids: Int32Array
    offsets: Int64Array


class PieceEncoder:
    """An encoder of pieces of text, each encoded separately and cached.

    Not to be used by two threads at a time; each may have a :meth:`copy`, which shares the read-only data.

    The dictionary belongs to `one_pass`. `ids` has the id of each token: of the dictionary's alphabet, then of `extra`
    tokens, numbered after those. The tokens `whole`, of either kind, are emitted for a piece that is that token,
    although merging does not make them. At most `cached` pieces are cached, rounded up to a power of two. A piece takes
    32 bytes; longer pieces with many ids share as much memory again.

    `code` writes words as bytes; None for an encoder of characters. `encode_long` encodes pieces that are too long to
    be merged, if they have no tables. `lacks_ids` is whether there are tokens without an id.
    """

    def __init__(
        self,
        one_pass: OnePass,
        ids: Int32Array,
        *,
        extra: Sequence[bytes] = (),
        whole: Sequence[int] = (),
        cached: int = MOST_CACHED,
    ) -> None:
        tables = whole_tables = one_pass.with_ids(ids)
        if len(whole):
            dictionary = one_pass.dictionary
            chosen = np.zeros(len(dictionary.alphabet) + len(extra), dtype=np.bool_)
            chosen[: len(dictionary.alphabet)] = dictionary.folding.birth >= 0
            chosen[list(whole)] = True
            whole_tables = _whole_tables(one_pass.code.tokens(extra), chosen, ids)
        self._set(one_pass.code, tables, whole_tables, ids, tables, None)
        self._cached = cached

    def _set(
        self, code: ByteCode | None, tables: Struct, whole_tables: Struct, ids: Int32Array, long_tables: LongTables,
        encode_long: EncodeLong | None,
    ) -> None:  # fmt: skip
        self.code = code
        self.encode_long = encode_long
        self.lacks_ids = bool(ids.min(initial=0) < 0)
        self._tables = (tables, whole_tables)
        self._cached = MOST_CACHED
        self._long_tables = long_tables
        self._characters: Struct | None = None

    @cached_property
    def run(self) -> PieceRun:
        """The kernel that encodes pieces, with their cache."""
        return PieceRun(*self._tables, self._cached, self._long_tables, self._characters)

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
    ) -> PieceEncoder:
        """Return the encoder of rules over bytes, each token having one priority; they are merged as the libraries do.

        The dictionary numbers the tokens. `merges` are the left part, right part and product of all rules, the
        strongest first; all rules of a token are consecutive. `whole` is, for each token, whether it is emitted for a
        piece that is that token. `long_tables` tokenize pieces of 64 bytes and more in one pass, if the rules agree
        with that; or they are a function that returns them, or None, when the first such piece comes. `encode_long`
        encodes these pieces without such tables. LimitExceededError is raised for more than 2^21 - 1 tokens.
        """
        code = ByteCode(dictionary.alphabet)
        left, right, product = merges
        number, ids_of_numbers = number_products(product, dictionary.alphabet.n_symbols, ids)
        rules, of_symbols = rules_table(left, right, product, number)
        whole_tables = _whole_tables(code.tokens(extra), whole, ids) if whole.any() else _no_words(ids)
        merging = {"rules": rules, "of_symbols": of_symbols, "ids_of_numbers": ids_of_numbers}
        symbol = symbols_of_bytes(dictionary.alphabet)
        tables = Struct("tokdfa_token_tables", **whole_tables.fields | merging | {"symbol": symbol})
        encoder = object.__new__(cls)
        encoder._set(code, tables, whole_tables, ids, long_tables, encode_long)
        return encoder

    @classmethod
    def of_characters(cls, characters: Struct, ids: Int32Array) -> PieceEncoder:
        """Return the encoder of a dictionary over characters; it cuts pieces further where nothing merges.

        `characters` are the tables of :func:`~tokdfa.kernels.encode.characters.characters_of`.
        """
        nothing = _no_words(ids)
        encoder = object.__new__(cls)
        encoder._set(None, nothing, nothing, ids, None, None)
        encoder._characters = characters
        return encoder

    def copy(self) -> PieceEncoder:
        """Return an encoder of the same pieces for another thread, with an empty cache of its own."""
        twin = object.__new__(PieceEncoder)
        twin.__dict__.update(self.__dict__)
        twin.__dict__.pop("run", None)
        return twin

    def encode(self, text: bytes, bounds: Int64Array) -> Encoded:
        """Return the ids of the pieces ``text[bounds[i]:bounds[i + 1]]``.

        `text` is the code of a text, as `code` writes it: for dictionaries over bytes the text itself. It is UTF-8 for
        an encoder of characters, in which nothing is between the pieces, and the last one ends with the text.
        AlphabetError is raised if a piece has a symbol that is not in the alphabet, or the bounds do not ascend within
        the text.
        """
        bounds = np.ascontiguousarray(bounds, dtype=np.int64)
        sizes = np.diff(bounds)
        if len(sizes) and (sizes.min() <= 0 or bounds[0] < 0 or bounds[-1] > len(text)):
            raise AlphabetError("the bounds of pieces must ascend from 0 to the end of the text", value=bounds)
        begun, firsts = (bounds << EVENT_BITS) | BEGINS, None
        if self._characters is not None and len(sizes):
            begun, firsts = cut_pieces(self._characters, text, bounds)
        out = empty(len(text) + SLACK, np.int32)
        ends = np.zeros(max(len(begun), 1), dtype=np.int64)
        run = self.run
        if len(text) > run.longest:
            run.grow_to(len(text))
        run.continue_at(0, 0)
        status = run.encode(text, begun, out, ends[1:])
        while status == TOO_LONG:
            assert self.encode_long is not None
            index, n = run.next, run.n
            ids = self.encode_long(text[bounds[index] : bounds[index + 1]])
            out[n : n + len(ids)] = ids
            ends[index + 1] = n + len(ids)
            run.continue_at(index + 1, n + len(ids))
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
