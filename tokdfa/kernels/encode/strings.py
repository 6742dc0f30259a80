"""Finding any of some strings in UTF-8, by windows of their bytes; see ``strings.wide.c`` and ``windows.h``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tokdfa.base.arrays import Uint8Array, Uint64Array
from tokdfa.kernels.byte_filter import GROUPS, byte_filter
from tokdfa.kernels.encode.added import added_struct, scan_struct, windows_of
from tokdfa.kernels.library import Struct, ffi, lib

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_WINDOW_BYTES = 8

_LAST = 60
"""A window begins at this offset in a string or before: its offset is a bit of 64."""

_BRIEF, _LARGE = 7, 11
"""The fewest bytes of strings with a stride of 2, and of 4."""

_FEW = 8
"""So few short strings are found by two bytes each."""

# Bytes of texts, the most common one last, and of marks that are in many files. Other bytes of ASCII are rare.
_COMMON = b"ZQXJYKVU#*+{}[]/<>;:zqxj=()_\"'\t9876GRDLONFE5W4P3H2C0BM1TISA\n-,.kvbpygfwmucldhrsinoate "
_RANKS = [_COMMON.find(byte) + 1 if byte < 0x80 else len(_COMMON) // 2 for byte in range(256)]


class StringFinder:
    """A finder of strings in UTF-8, for many threads; at least one string, none of them empty."""

    def __init__(self, strings: Iterable[bytes]) -> None:
        words = sorted({*strings})
        none = np.zeros(0, dtype=np.int32)
        ids, flags = np.zeros(len(words), dtype=np.int32), np.zeros(len(words), dtype=np.uint8)
        numbers = {word: number for number, word in enumerate(words)}
        added = added_struct(numbers, {}, ids, flags, none, np.zeros(0, dtype=np.uint64))
        paired, tiny, brief, large = _groups(words)
        sets = [_paired(paired), _hashed(tiny, 1), _hashed(brief, 2), _hashed(large, 4)]
        back = max(*map(len, words), *(each.pointer.last + _WINDOW_BYTES for each in sets if each is not None))
        self._strings = Struct(
            "tokdfa_strings", added=added, paired=sets[0], tiny=sets[1], brief=sets[2], large=sets[3], back=back
        )
        self._added = added
        self._pointer = self._strings.pointer
        # Unused searches, and where their results go. Appending and popping are one step each.
        self._unused: list[tuple[Any, Any, Struct]] = []

    def find(self, text: bytes | memoryview | Uint8Array) -> tuple[int, int]:
        """Return where in a text a string begins and ends, or where the beginning of one at the end of the text begins.

        If a string is found, the first one to end does so at the second offset or before it, and none that does begins
        before the first offset. Otherwise the second offset is -1.
        """
        buffers = self._unused.pop() if self._unused else self._buffers()
        scan, end, _ = buffers
        start = lib.tokdfa_find_string(self._pointer, scan, ffi.from_buffer(text), len(text), end)
        stop = end[0]
        self._unused.append(buffers)
        return start, stop

    def _buffers(self) -> tuple[Any, Any, Struct]:
        scan = scan_struct(windows_of(self._added))
        return scan.pointer, ffi.new("int64_t *"), scan


def _groups(words: Sequence[bytes]) -> tuple[list[bytes], ...]:
    """Return the strings that are found by two bytes, and short, longer and long ones that are found by hashes."""
    large = [word for word in words if len(word) >= _LARGE]
    rare = [word for word in words if len(word) < _LARGE and not min(_RANKS[byte] for byte in word)]
    others = sorted({*words}.difference(large, rare))
    tiny, brief = [word for word in others if len(word) < _BRIEF], [word for word in others if len(word) >= _BRIEF]
    return (rare + tiny, [], brief, large) if len(tiny) <= _FEW else (rare, tiny, brief, large)


def _rarest(word: bytes, size: int) -> int:
    """Return the offset of the bytes of a string that texts are least likely to have."""
    ranks = [_RANKS[byte] for byte in word]
    return min(range(len(ranks) - size + 1), key=lambda at: (min(ranks[at : at + size]), sum(ranks[at : at + size])))


def _paired(words: Sequence[bytes]) -> Struct | None:
    """Return a set with a window of two bytes of each string, or of one byte."""
    if not words:
        return None
    size = min(2, *map(len, words))
    windows = [(at, word[at : at + size]) for word in words for at in [_rarest(word, size)]]
    pairs = [
        (min(window, key=_RANKS.__getitem__) % GROUPS, window[0], second)
        for _, window in windows
        for second in (window[1:] or range(256))
    ]
    return _windows(windows, stride=1, filter=byte_filter(pairs), bits=np.zeros(0, dtype=np.uint64))


def _hashed(words: Sequence[bytes], stride: int) -> Struct | None:
    """Return a set with `stride` windows of each string, which follow each other in its middle."""
    if not words:
        return None
    size = min(_WINDOW_BYTES, min(map(len, words)) - stride + 1)
    windows = []
    for word in words:
        # Around a space, two words meet that rarely do so in texts.
        middle = word.find(b" ", 1, -1)
        last = min(len(word) - size - stride + 1, _LAST)
        first = max(0, min((middle if middle > 0 else len(word) // 2) - (size + stride) // 2 + 1, last))
        windows += [(at, word[at : at + size]) for at in range(first, first + stride)]
    hashes = _hashes(windows)
    bits: Uint64Array = np.zeros(1 << lib.TOKDFA_WINDOW_BITS, dtype=np.uint64)
    for shift in (0, 40):
        np.bitwise_or.at(bits, hashes >> 64 - lib.TOKDFA_WINDOW_BITS, np.uint64(1) << (hashes >> shift & 63))
    return _windows(windows, stride=stride, filter=np.zeros(0, dtype=np.uint8), bits=bits)


def _windows(windows: Sequence[tuple[int, bytes]], stride: int, filter: Uint8Array, bits: Uint64Array) -> Struct:
    """Return a set of windows, each with its offset in its string, ``tokdfa_windows``."""
    n = min(1 << 16, 1 << (2 * len(windows)).bit_length())
    offsets: Uint64Array = np.zeros(n, dtype=np.uint64)
    hashes = _hashes(windows)
    slots = (hashes ^ hashes >> 32) * _FACTOR >> 48 & (n - 1)
    np.bitwise_or.at(offsets, slots, np.uint64(1) << np.array([at for at, _ in windows], dtype=np.uint64))
    mask, last = (1 << 8 * len(windows[0][1])) - 1, max(at for at, _ in windows)
    return Struct("tokdfa_windows", filter=filter, bits=bits, offsets=offsets, mask=mask, stride=stride, last=last)


def _hashes(windows: Sequence[tuple[int, bytes]]) -> Uint64Array:
    numbers: Uint64Array = np.array([int.from_bytes(window, "little") for _, window in windows], dtype=np.uint64)
    return numbers * _FACTOR
