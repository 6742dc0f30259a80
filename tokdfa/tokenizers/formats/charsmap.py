"""The precompiled character table of a SentencePiece model: a double-array trie and its values."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import BoolArray, Int64Array, Uint8Array, Uint32Array
from tokdfa.base.errors import FileFormatError, LimitExceededError, UnsupportedFeatureError
from tokdfa.kernels.spelling.charsmap import LARGE, MOST_PREFIXES, TableWords, UnreadableTableError, read_table
from tokdfa.kernels.unigram.texts import RuleArrays
from tokdfa.tokenizers.decoder import is_utf8
from tokdfa.tokenizers.models.unigram.character_rules import CharacterRules
from tokdfa.tokenizers.normalizers.steps import MOST_GROWTH

_LEAF, _FAR = 1 << 8, 1 << 9
_VALUE = (1 << 31) - 1
_LABEL = (1 << 31) | 0xFF
# Darts-clone writes blocks of 256 units.
_BLOCK = 1024


def read_charsmap(blob: bytes, where: str, *, is_text: bool = False) -> CharacterRules:
    """Return the rules of a table.

    With `is_text` all replacements must be UTF-8, whether in use or not, as tokenizers demands.

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
        what = "the replacements in the character table do not end with a zero byte"
        raise FileFormatError(what, value=replacements[-8:], where=where)
    if is_text:
        try:
            replacements.decode("utf-8")
        except UnicodeDecodeError as error:
            what, odd = "the replacements in the character table are not UTF-8", replacements[error.start :][:4]
            raise FileFormatError(what, value=odd, where=where) from None
    _check_units(units, len(replacements), where)
    try:
        words = read_table(units)
    except UnreadableTableError as error:
        what = "the character table is too large"
        if error.why != LARGE:
            what = f"more than {MOST_PREFIXES} rules are prefixes of each other"
        raise UnsupportedFeatureError(what, value=error.path, where=where) from None
    spelled = np.frombuffer(replacements, dtype=np.uint8)
    _check_utf8(words, spelled, where)
    arrays = RuleArrays(words.text, words.offsets, words.values, _stops(spelled)[words.values], spelled)
    sizes = arrays.stops - arrays.starts
    # Most are not longer than any word may become.
    long = np.flatnonzero(sizes > MOST_GROWTH)
    if (sizes[long] > MOST_GROWTH * (arrays.offsets[long + 1] - arrays.offsets[long] - 1)).any():
        what = f"the character table has a rule that makes its word more than {MOST_GROWTH} times as long"
        raise LimitExceededError(what, value=f"{int(sizes.max()):,} bytes", where=where)
    return CharacterRules(arrays)


def _stops(spelled: Uint8Array) -> Int64Array:
    """Return for each offset the next one that has a zero byte, which the last one has."""
    ends = np.flatnonzero(spelled == 0)
    return np.repeat(ends, np.diff(ends, prepend=-1))


def _check_utf8(words: TableWords, spelled: Uint8Array, where: str) -> None:
    """Refuse words and replacements that are not UTF-8."""
    # Nearly always all of them are, and none begins within a character.
    is_start: BoolArray = spelled[words.values] & 0xC0 != 0x80
    if words.is_utf8 and is_start.all() and is_utf8(spelled.tobytes()):
        return
    replacements = spelled.tobytes()
    for key, start in zip(words.text.tobytes().split(b"\0"), words.values.tolist(), strict=False):
        try:
            key.decode("utf-8"), replacements[start : replacements.index(b"\0", start)].decode("utf-8")
        except UnicodeDecodeError:
            what = "the character table has a rule that is not UTF-8"
            raise UnsupportedFeatureError(what, value=key, where=where) from None


def _check_units(units: Uint32Array, n_bytes: int, where: str) -> None:
    """Refuse units that point outside of the table, as the library does, whether in use or not."""
    root = int(units[0])
    if root & (_LABEL | _LEAF) or not _offsets(units[:1])[0]:
        raise FileFormatError("the character table does not begin with a root", value=root, where=where)
    is_value = units >> 31 != 0
    values = units[is_value] & np.uint32(_VALUE)
    if values.max(initial=0) >= n_bytes:
        what = "the character table has a replacement outside of the table"
        raise FileFormatError(what, value=int(values.max()), where=where)
    offsets = np.flatnonzero(~is_value)
    nodes = units[offsets]
    below = offsets ^ _offsets(nodes)
    bad = below >= len(units)
    bad |= (nodes & _LEAF != 0) & ~is_value[np.minimum(below, len(units) - 1)]
    if bad.any():
        offset = int(offsets[np.argmax(bad)])
        raise FileFormatError("the character table points to nothing", value=offset, where=where)


def _offsets(units: Uint32Array) -> Int64Array:
    """Return how far from the offset of each unit its children begin, but for the last byte."""
    return (units >> 10).astype(np.int64) << ((units & np.uint32(_FAR)) >> 6)
