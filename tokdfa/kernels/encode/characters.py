"""Dictionaries over characters: their tables, and pieces cut where no token has both sides next to each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint16Array, Uint32Array, Uint64Array, distinct
from tokdfa.kernels.library import Struct, call, lib
from tokdfa.kernels.pages import empty

_PAGE = 1 << 8
_N_PAGES = 0x110000 // _PAGE
_ASCII = 128
_OF_BYTES = 0xFFFFFFFF
# The classes of symbols that are joined to nothing, and to everything. Left class 0 is the beginning of a text, and
# left class 1 the beginning of a part after a cut.
_NOTHING, _JOINS = 2, 3
_MOST_CLASSES = 1024
# The characters that have classes of their own: ASCII, and the visible space, before which most texts are cut.
_COMMON = (*range(_ASCII), 0x2581)


NOTHING, ALWAYS, UNLESS_THERE, EVEN_ALONE = 0, 1, 2, 3
"""When a symbol is put before a text: UNLESS_THERE, if it does not begin with it; EVEN_ALONE, before added tokens."""


class Puts(NamedTuple):
    """A symbol that is put before texts, and when: at the beginning, and after added tokens."""

    symbol: int
    first: int
    later: int


def ids_a_byte(characters: Struct) -> int:
    """Return how many ids a text has at most for each of its bytes."""
    return 2 if characters.fields["puts_first"] or characters.fields["puts_later"] else 1


def characters_of(
    symbol_of: Mapping[int, int], byte_symbols: Int32Array | None, unknown: int | None, fuses: bool, inner: Int64Array,
    merges: Struct, ids: Int32Array, puts: Puts | None = None,
) -> Struct:  # fmt: skip
    """Return the tables of a dictionary over characters, ``tokdfa_characters``.

    `symbol_of` has the symbols of code points. Unknown characters become the symbols of their bytes, `byte_symbols` of
    256 entries; or the symbol `unknown`, adjacent ones together if `fuses`; with neither, they are refused. `inner` has
    the pairs of symbols that tokens have side by side, ``left << 32 | right``; `merges` is a table of
    :func:`~tokdfa.kernels.merging.merging.pair_table`; `ids` the id of each token, -1 for none. `puts` is put before
    texts.
    """
    spelled = np.empty(0, dtype=np.int32) if byte_symbols is None else np.ascontiguousarray(byte_symbols, np.int32)
    replaced = -1 if unknown is None else unknown
    if fuses and replaced >= 0:
        inner = np.append(inner, np.int64(replaced << 32 | replaced))
    pages, symbol = _paged(symbol_of)
    classes_of, joins = _classes(inner, np.array([symbol_of[code] for code in _COMMON if code in symbol_of]))
    classes = classes_of(symbol)
    classes[symbol < 0] = classes_of(np.array([replaced]))[0] if byte_symbols is None else _OF_BYTES
    byte_class = classes_of(spelled)
    puts = puts or Puts(0, NOTHING, NOTHING)
    first = classes[int(pages[0]) * _PAGE :][:_ASCII]
    ascii_classes = np.where(first == _OF_BYTES, byte_class[:_ASCII] if len(byte_class) else first, first)
    return Struct(
        "tokdfa_characters", pages=pages, symbol=symbol, classes=classes, byte_symbol=spelled, byte_class=byte_class,
        unknown=replaced, fuses=int(fuses), joins=joins.ravel(), n_words=joins.shape[1],
        joins_ascii=_joins_ascii(ascii_classes, joins), prefix=puts.symbol,
        prefix_class=int(classes_of(np.array([puts.symbol]))[0] >> 16), puts_first=puts.first, puts_later=puts.later,
        merges=merges, ids=np.ascontiguousarray(ids, dtype=np.int32),
    )  # fmt: skip


def _paged(symbol_of: Mapping[int, int]) -> tuple[Uint16Array, Int32Array]:
    """Return the page of each 256 code points, and the symbols by page; page 0 has no symbols."""
    pages = np.zeros(_N_PAGES, dtype=np.uint16)
    codes = np.fromiter(symbol_of, dtype=np.int64, count=len(symbol_of))
    used = distinct(codes // _PAGE)
    pages[used] = np.arange(1, len(used) + 1)
    symbol: Int32Array = np.full((len(used) + 1) * _PAGE, -1, dtype=np.int32)
    numbers = np.fromiter(symbol_of.values(), dtype=np.int32, count=len(symbol_of))
    symbol[pages[codes // _PAGE].astype(np.int64) * _PAGE + codes % _PAGE] = numbers
    return pages, symbol


def _classes(inner: Int64Array, common: Int64Array) -> tuple[Callable[[Int32Array], Uint32Array], Uint64Array]:
    """Return the function from symbols to their classes, left << 16 | right, and the bits of left by right classes."""
    pairs = distinct(inner)
    left, right = pairs >> 32, pairs & 0xFFFFFFFF
    lefts, of_left = _by_neighbours(left, right, common)
    rights, of_right = _by_neighbours(right, left, common)
    n_left, n_right = (1 + int(classes.max(initial=_JOINS)) for classes in (of_left, of_right))
    bits = np.zeros((n_left, -(-n_right // 64) * 64), dtype=np.bool_)
    bits[_class_of(left, lefts, of_left), _class_of(right, rights, of_right)] = True
    # A symbol that is refused is joined to all others, so that its piece is refused as a whole.
    bits[_JOINS, :] = bits[_NOTHING:, _JOINS] = True
    joins = _packed(bits)

    def classes_of(symbols: Int32Array) -> Uint32Array:
        left, right = _class_of(symbols, lefts, of_left), _class_of(symbols, rights, of_right)
        return (left << 16 | right).astype(np.uint32)

    return classes_of, joins


def _by_neighbours(symbols: Int64Array, others: Int64Array, common: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return the distinct ones of the first symbols of pairs, and their classes: by the other symbols next to them.

    If there are too many classes, the ones with the fewest others are put together, except for the classes of `common`
    symbols.
    """
    found, number, count = np.unique(symbols, return_inverse=True, return_counts=True)
    mixed = (others.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(29)) * np.uint64(0xD6E8FEB86659FD93)
    # Should two sums be equal by chance, there is a class too few, which joins more than it need.
    sums = np.zeros(len(found), dtype=np.uint64)
    np.add.at(sums, number, mixed ^ mixed >> np.uint64(32))
    _, first, of_symbol = np.unique(sums, return_index=True, return_inverse=True)
    is_common = np.zeros(len(first), dtype=np.bool_)
    is_common[of_symbol[np.isin(found, common)]] = True
    order = np.lexsort((sums[first], -count[first], ~is_common))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    classes = rank[of_symbol]
    if len(order) > _MOST_CLASSES:
        kept = _MOST_CLASSES // 2
        least_other = np.full(len(found), np.iinfo(np.int64).max)
        np.minimum.at(least_other, number, others)
        rare = np.flatnonzero(classes >= kept)
        rare = rare[np.argsort(least_other[rare], kind="stable")]
        classes[rare] = kept + np.arange(len(rare)) * kept // len(rare)
    return found, classes + _JOINS + 1


def _class_of(symbols: Any, known: Int64Array, classes: Int64Array) -> Int64Array:
    """Return the class of each symbol: `_NOTHING` for symbols without neighbours, `_JOINS` for -1."""
    found = np.full(len(symbols), _NOTHING, dtype=np.int64)
    if len(known):
        index = np.minimum(np.searchsorted(known, symbols), len(known) - 1)
        found = np.where(known[index] == symbols, classes[index], found)
    found[np.asarray(symbols) < 0] = _JOINS
    return found


def _joins_ascii(classes: Uint32Array, joins: Uint64Array) -> Uint64Array:
    """Return for each pair of ASCII characters, a bit each, whether a token may have them side by side."""
    right = (classes & 0xFFFF).astype(np.uint64)
    rows = joins[classes >> 16]
    return _packed(np.ascontiguousarray(rows[:, right >> 6] >> (right & 63) & 1)).ravel()


def _packed(bits: Any) -> Uint64Array:
    """Return rows of truth values, 64 of them a number."""
    packed: Uint64Array = np.packbits(bits != 0, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    return packed


def cut_pieces(characters: Struct, text: bytes, bounds: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Cut pieces of valid UTF-8 where no token has the symbols on both sides next to each other.

    Piece i, which is not empty, is ``text[bounds[i]:bounds[i + 1]]``; the last bound is the end of the text. Returns
    where the parts begin, with the event BEGINS, and last the end; and which part is the first of each piece, and last
    the number of parts.
    """
    assert bounds[-1] == len(text)
    assert bounds.min() >= 0
    assert (np.diff(bounds) > 0).all()
    begun = empty(len(text) + 1, np.int64)
    firsts: Int64Array = np.empty(len(bounds), dtype=np.int64)
    n = call(
        lib.tokdfa_cut_characters, characters.pointer, text, len(text), bounds, len(bounds) - 1, out=(begun, firsts)
    )
    firsts[-1] = n
    return begun[: n + 1], firsts
