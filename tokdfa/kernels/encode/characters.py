"""Dictionaries over characters: their tables, and pieces cut where no token has both sides next to each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array, Uint16Array, Uint64Array
from tokdfa.kernels.library import Struct, call, lib
from tokdfa.kernels.merging.merging import pair_table
from tokdfa.kernels.pages import empty

__all__ = ["characters_of", "cut_pieces"]

_PAGE = 1 << 8
_N_PAGES = 0x110000 // _PAGE
_ASCII = 128


def characters_of(
    symbol_of: Mapping[int, int],
    byte_symbols: Int32Array | None,
    unknown: int | None,
    fuses: bool,
    inner: Int64Array,
    merges: Struct,
    ids: Int32Array,
) -> Struct:
    """Return the tables of a dictionary over characters, ``tokdfa_characters``.

    `symbol_of` has the symbols of code points. Unknown characters become the symbols of their bytes, `byte_symbols` of
    256 entries; or the symbol `unknown`, adjacent ones together if `fuses`; with neither, they are refused. `inner` has
    the pairs of symbols that tokens have side by side, ``left << 32 | right``; `merges` is a table of
    :func:`~tokdfa.kernels.merging.merging.pair_table`; `ids` the id of each token, -1 for none.
    """
    spelled = np.empty(0, dtype=np.int32) if byte_symbols is None else np.ascontiguousarray(byte_symbols, np.int32)
    replaced = -1 if unknown is None else unknown
    if fuses and replaced >= 0:
        inner = np.append(inner, np.int64(replaced << 32 | replaced))
    nothing = np.zeros(len(inner), dtype=np.int32)
    keys = pair_table(*_parts(inner), nothing, nothing).fields["keys"]
    ascii_symbols = [symbol_of.get(code, int(spelled[code]) if len(spelled) else replaced) for code in range(_ASCII)]
    pages, symbol = _paged(symbol_of)
    return Struct(
        "tokdfa_characters", pages=pages, symbol=symbol, byte_symbol=spelled, unknown=replaced, fuses=int(fuses),
        joins_ascii=_joins(np.array(ascii_symbols, dtype=np.int64), inner), inner=keys, merges=merges,
        ids=np.ascontiguousarray(ids, dtype=np.int32),
    )  # fmt: skip


def _parts(inner: Int64Array) -> tuple[Int32Array, Int32Array]:
    return (inner >> 32).astype(np.int32), (inner & 0xFFFFFFFF).astype(np.int32)


def _paged(symbol_of: Mapping[int, int]) -> tuple[Uint16Array, Int32Array]:
    """Return the page of each 256 code points, and the symbols by page: page 0 has those of none."""
    pages = np.zeros(_N_PAGES, dtype=np.uint16)
    used = sorted({code // _PAGE for code in symbol_of})
    pages[used] = np.arange(1, len(used) + 1)
    symbol: Int32Array = np.full((len(used) + 1) * _PAGE, -1, dtype=np.int32)
    codes = np.fromiter(symbol_of, dtype=np.int64, count=len(symbol_of))
    symbol[pages[codes // _PAGE].astype(np.int64) * _PAGE + codes % _PAGE] = [*symbol_of.values()]
    return pages, symbol


def _joins(symbols: Int64Array, inner: Int64Array) -> Uint64Array:
    """Return for each pair of ASCII characters, a bit each, whether a token may have them side by side."""
    pairs = symbols[:, None] << 32 | symbols[None, :]
    joins = np.isin(pairs, inner) | (symbols[:, None] < 0) | (symbols[None, :] < 0)
    bits: Uint64Array = np.packbits(joins, axis=1, bitorder="little").view("<u8").astype(np.uint64).ravel()
    return bits


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
