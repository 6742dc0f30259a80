"""The precompiled character table of a SentencePiece model: a double-array trie and its values."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Uint32Array
from tokdfa.errors import FileFormatError, UnsupportedFeatureError

__all__ = ["read_charsmap"]

_LEAF, _FAR = 1 << 8, 1 << 9
_VALUE = (1 << 31) - 1
_LABEL = (1 << 31) | 0xFF
# The largest number of rules beginning at one place that the library considers.
_MOST_PREFIXES = 32
# Darts-clone writes blocks of 256 units.
_BLOCK = 1024
_MOST_NODES = 1 << 20
_BATCH = 1 << 12
_LONGEST_KEY = 256


def read_charsmap(blob: bytes, where: str, *, is_text: bool = False) -> dict[str, str]:
    """Return the rules of a table, as a mapping from words to their replacements.

    With `is_text` all replacements must be UTF-8, whether in use or not, as tokenizers demands.

    Raises
    ------
    FileFormatError
        If it is truncated or points outside of itself.
    UnsupportedFeatureError
        If a rule does not consist of whole characters, or more rules are prefixes of each other than the library
        considers.

    Notes
    -----
    Four bytes of length, then the units of a trie as Darts-clone writes it, then the replacements, each ended by a zero
    byte.
    """
    size = int.from_bytes(blob[:4], "little")
    if len(blob) <= 4 or size % _BLOCK or not 0 < size < len(blob) - 4:
        raise FileFormatError("the character table is truncated", value=size, where=where)
    units = np.frombuffer(blob, dtype="<u4", count=size // 4, offset=4)
    replacements = blob[4 + size :]
    if b"\0" not in replacements[-1:]:
        raise FileFormatError(
            "the replacements in the character table do not end with a zero byte", value=replacements[-8:], where=where
        )
    if is_text:
        try:
            replacements.decode("utf-8")
        except UnicodeDecodeError as error:
            what, odd = "the replacements in the character table are not UTF-8", replacements[error.start :][:4]
            raise FileFormatError(what, value=odd, where=where) from None
    _check_units(units, len(replacements), where)
    rules = {}
    for key, value in _walk(units, where):
        try:
            rules[key.decode("utf-8")] = replacements[value : replacements.index(b"\0", value)].decode("utf-8")
        except UnicodeDecodeError:
            raise UnsupportedFeatureError(
                "the character table has a rule that is not UTF-8", value=key, where=where
            ) from None
    return rules


def _check_units(units: Uint32Array, n_bytes: int, where: str) -> None:
    """Refuse units that point outside of the table, as the library does, whether in use or not."""
    root = int(units[0])
    if root & (_LABEL | _LEAF) or not _offset(root):
        raise FileFormatError("the character table does not begin with a root", value=root, where=where)
    is_value = units >> 31 != 0
    values = units[is_value] & np.uint32(_VALUE)
    if values.max(initial=0) >= n_bytes:
        raise FileFormatError(
            "the character table has a replacement outside of the table", value=int(values.max()), where=where
        )
    places = np.flatnonzero(~is_value)
    nodes = units[places]
    below = places ^ ((nodes >> 10).astype(np.int64) << ((nodes & _FAR) >> 6))
    bad = below >= len(units)
    bad |= (nodes & _LEAF != 0) & ~is_value[np.minimum(below, len(units) - 1)]
    if bad.any():
        place = int(places[np.argmax(bad)])
        raise FileFormatError("the character table points to nothing", value=place, where=where)


def _walk(units: Uint32Array, where: str) -> list[tuple[bytes, int]]:
    """Return the keys of a trie, with their values; all nodes of one depth are read at a time."""
    found: list[tuple[bytes, int]] = []
    labels = np.arange(1, 256)
    last = len(units) - 1
    nodes: list[tuple[bytes, int, int]] = [(b"", _offset(int(units[0])), 0)]
    n_read = 0
    while nodes:
        batch, nodes = nodes[:_BATCH], nodes[_BATCH:]
        n_read += len(batch)
        # Ends may be shared, so a damaged table may contain cycles.
        if n_read > _MOST_NODES or len(batch[0][0]) > _LONGEST_KEY:
            raise UnsupportedFeatureError("the character table is too large", value=batch[0][0], where=where)
        places = np.array([base for _, base, _ in batch])[:, None] ^ labels
        inside = places <= last
        there = inside & ((units[np.minimum(places, last)] & np.uint32(_LABEL)) == labels)
        rows, columns = np.nonzero(there)
        reached = places[rows, columns]
        for row, label, place, unit in zip(
            rows.tolist(), labels[columns].tolist(), reached.tolist(), units[reached].tolist(), strict=True
        ):
            key, _, n_prefixes = batch[row]
            key += bytes((label,))
            below = place ^ _offset(unit)
            if unit & _LEAF:
                found.append((key, int(units[below]) & _VALUE))
                n_prefixes += 1
                if n_prefixes > _MOST_PREFIXES:
                    what = f"more than {_MOST_PREFIXES} rules are prefixes of each other"
                    raise UnsupportedFeatureError(what, value=key, where=where)
            nodes.append((key, below, n_prefixes))
    return found


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & _FAR) >> 6)
