"""The precompiled character table of a SentencePiece model: a double-array trie and its values."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int64Array, Uint8Array, Uint32Array
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
    keys, values = _walk(units, where)
    try:
        # One by one, the hundreds of thousands of rules of a usual table take ten times as long.
        words = keys.tobytes().decode("utf-8").split("\0")[:-1]
        starts, kind = np.unique(values, return_inverse=True)
        texts = [_replacement(replacements, start) for start in starts.tolist()]
        return dict(zip(words, map(texts.__getitem__, kind.tolist()), strict=True))
    except UnicodeDecodeError:
        for key, value in zip(keys.tobytes().split(b"\0"), values.tolist(), strict=False):
            try:
                key.decode("utf-8"), _replacement(replacements, value)
            except UnicodeDecodeError:
                break
        raise UnsupportedFeatureError(
            "the character table has a rule that is not UTF-8", value=key, where=where
        ) from None


def _replacement(replacements: bytes, start: int) -> str:
    return replacements[start : replacements.index(b"\0", start)].decode("utf-8")


def _check_units(units: Uint32Array, n_bytes: int, where: str) -> None:
    """Refuse units that point outside of the table, as the library does, whether in use or not."""
    root = int(units[0])
    if root & (_LABEL | _LEAF) or not _offsets(units[:1])[0]:
        raise FileFormatError("the character table does not begin with a root", value=root, where=where)
    is_value = units >> 31 != 0
    values = units[is_value] & np.uint32(_VALUE)
    if values.max(initial=0) >= n_bytes:
        raise FileFormatError(
            "the character table has a replacement outside of the table", value=int(values.max()), where=where
        )
    places = np.flatnonzero(~is_value)
    nodes = units[places]
    below = places ^ _offsets(nodes)
    bad = below >= len(units)
    bad |= (nodes & _LEAF != 0) & ~is_value[np.minimum(below, len(units) - 1)]
    if bad.any():
        place = int(places[np.argmax(bad)])
        raise FileFormatError("the character table points to nothing", value=place, where=where)


def _walk(units: Uint32Array, where: str) -> tuple[Uint8Array, Int64Array]:
    """Return the keys of a trie, each ended by a zero byte, which none of them has, and their values.

    The shortest come first, those of equal length by their bytes. All nodes of one depth are read at a time.
    """
    below = _offsets(units)
    labels = (units & np.uint32(_LABEL)).astype(np.int64)
    # A node has the unit at a place for a child if that is labelled with what leads from the node's offset there.
    children = np.flatnonzero((labels > 0) & (labels < 256))
    parents = children ^ labels[children]
    order = np.lexsort((labels[children], parents))
    children, parents = children[order], parents[order]
    found: list[tuple[Uint8Array, Int64Array]] = []
    keys, offsets, n_prefixes = np.zeros((1, 0), dtype=np.uint8), below[:1], np.zeros(1, dtype=np.int64)
    n_read = 0
    while len(keys):
        reached: list[tuple[Uint8Array, Int64Array, Int64Array]] = []
        for batch in range(0, len(keys), _BATCH):
            part = slice(batch, batch + _BATCH)
            n_read += len(keys[part])
            # Ends may be shared, so a damaged table may contain cycles.
            if n_read > _MOST_NODES or keys.shape[1] > _LONGEST_KEY:
                value = keys[batch].tobytes()
                raise UnsupportedFeatureError("the character table is too large", value=value, where=where)
            low, high = (np.searchsorted(parents, offsets[part], side) for side in ("left", "right"))
            n_children = high - low
            row = np.repeat(np.arange(len(low)), n_children)
            at = np.arange(len(row)) - np.repeat(np.cumsum(n_children) - n_children - low, n_children)
            place = children[at]
            key = np.column_stack((keys[part][row], labels[place].astype(np.uint8)))
            to = place ^ below[place]
            is_key = units[place] & np.uint32(_LEAF) != 0
            so_far = n_prefixes[part][row] + is_key
            if (so_far > _MOST_PREFIXES).any():
                what = f"more than {_MOST_PREFIXES} rules are prefixes of each other"
                value = key[np.argmax(so_far > _MOST_PREFIXES)].tobytes()
                raise UnsupportedFeatureError(what, value=value, where=where)
            ended = np.column_stack((key[is_key], np.zeros(np.count_nonzero(is_key), dtype=np.uint8)))
            found.append((ended.reshape(-1), units[to[is_key]].astype(np.int64) & _VALUE))
            reached.append((key, to, so_far))
        keys, offsets, n_prefixes = (np.concatenate(column) for column in zip(*reached, strict=True))
    text, values = (np.concatenate(column) for column in zip(*found, strict=True))
    return text, values


def _offsets(units: Uint32Array) -> Int64Array:
    """Return how far from the place of each unit its children begin, but for the last byte."""
    return (units >> 10).astype(np.int64) << ((units & np.uint32(_FAR)) >> 6)
