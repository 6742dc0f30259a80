"""Finding added tokens in UTF-8, by a filter of two bytes and a trie; see ``added.h``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array, Uint64Array
from tokdfa.kernels.byte_filter import GROUPS, byte_filter
from tokdfa.kernels.library import Struct, call, ffi, lib

STRIPS_LEFT, STRIPS_RIGHT, SINGLE_WORD, STRIPS_ASCII = 1, 2, 4, 8
"""The flags of tokens."""

_FIRST_SPANS = 64

_LONG = 1 << 8
"""The fewest bytes of a long label, which are compared with a text at most once, and not wherever a token may begin."""


def added_struct(
    outer: Mapping[bytes, int],
    inner: Mapping[bytes, int],
    ids: Int32Array,
    flags: Uint8Array,
    space: Int32Array,
    word: Uint64Array,
) -> Struct:
    """Return the tables of added tokens at two levels, ``tokdfa_added_tokens``.

    Each level maps the UTF-8 that is found, which is not empty, to the number of a token; `ids` and `flags` have an
    entry a number. `space` has the code points of white space, ascending; bit c of `word` is set if code point c is
    part of words; `word` may be empty if no token is a single word.
    """
    assert all(0 <= number < min(len(ids), len(flags)) for level in (outer, inner) for number in level.values())
    first = _level(outer, 0)
    second = _level(inner, _n_windows(first))
    return Struct("tokdfa_added_tokens", outer=first, inner=second, ids=ids, flags=flags, space=space, word=word)


def _level(tokens: Mapping[bytes, int], n_before: int) -> Struct | None:
    """Return the tables of a level; its windows come after `n_before` others."""
    if not tokens:
        return None
    words = sorted(tokens)
    assert words[0]
    trie = _trie(words, [tokens[word] for word in words])
    # Which bytes may begin a word.
    pairs = []
    for number, (first, same) in enumerate(groupby(words, lambda word: word[0])):
        seconds = {word[1] if len(word) > 1 else -1 for word in same}
        pairs += [(number % GROUPS, first, second) for second in (range(256) if -1 in seconds else seconds)]
    return Struct("tokdfa_added_level", filter=byte_filter(pairs), **trie, **_long_labels(trie, n_before))


def _long_labels(trie: Mapping[str, Int32Array | Uint8Array], n_before: int) -> dict[str, Int32Array]:
    """Return the windows and the overlaps of labels that are long; no entries if none is."""
    nodes, labels = trie["nodes"].reshape(-1, 6), trie["labels"].tobytes()
    long = np.flatnonzero(nodes[:, 1] >= _LONG)
    if not len(long):
        return {"window_of": np.zeros(0, dtype=np.int32), "overlaps": np.zeros(0, dtype=np.int32)}
    window_of = np.full(len(nodes), -1, dtype=np.int32)
    window_of[long] = n_before + np.arange(len(long))
    overlaps = np.zeros(len(labels), dtype=np.int32)
    for start, size in nodes[long, :2].tolist():
        overlaps[start : start + size] = _overlaps(labels[start : start + size])
    return {"window_of": window_of, "overlaps": overlaps}


def _overlaps(label: bytes) -> list[int]:
    """Return for each offset in a label how many bytes from there on equal the beginning of the label."""
    overlaps = [len(label)] + [0] * (len(label) - 1)
    begin = end = 0  # The bytes that are known to equal the beginning.
    for at in range(1, len(label)):
        same = min(overlaps[at - begin], end - at) if at < end else 0
        if at + same >= end:
            while at + same < len(label) and label[same] == label[at + same]:
                same += 1
            begin, end = at, at + same
        overlaps[at] = same
    return overlaps


def _n_windows(*levels: Struct | None) -> int:
    """Return the number of windows of levels."""
    return sum(int(np.count_nonzero(level.fields["window_of"] >= 0)) for level in levels if level is not None)


def windows_of(added: Struct) -> Int64Array:
    """Return the windows that a search with these tables needs."""
    windows: Int64Array = np.zeros(2 * _n_windows(added.fields["outer"], added.fields["inner"]), dtype=np.int64)
    return windows


def _trie(words: Sequence[bytes], numbers: Sequence[int]) -> dict[str, Int32Array | Uint8Array]:
    """Return the trie of words, ascending: six entries a node, children by byte, and the labels of the paths."""
    nodes: list[list[int]] = [[]]
    children = [0]
    labels = bytearray()
    # Node, words from one up to another, and how many bytes of them lead to the node.
    queue = [(0, 0, len(words), 0)]
    for node, begin, end, depth in queue:  # It grows during the loop.
        # The bytes that the words have in common from there on.
        both = words[begin][depth:], words[end - 1][depth:]
        differ = (at for at, (a, b) in enumerate(zip(*both, strict=False)) if a != b)
        size = next(differ, min(map(len, both)))
        start, depth = len(labels), depth + size
        labels += words[begin][depth - size : depth]
        ends = len(words[begin]) == depth
        nodes[node] = [start, size, numbers[begin] if ends else -1, 0, 0, len(children)]
        begin += ends
        if begin < end:
            low, high = words[begin][depth], words[end - 1][depth]
            nodes[node][3:5] = [low, high - low + 1]
            first = len(children)
            children += [0] * (high - low + 1)
            while begin < end:
                byte, stop = words[begin][depth], begin + 1
                while stop < end and words[stop][depth] == byte:
                    stop += 1
                children[first + byte - low] = len(nodes)
                queue.append((len(nodes), begin, stop, depth + 1))
                nodes.append([])
                begin = stop
    return {
        "nodes": np.array(nodes, dtype=np.int32).ravel(),
        "children": np.array(children, dtype=np.int32),
        "labels": np.frombuffer(bytes(labels) + b"\0", dtype=np.uint8),
    }


def scan_struct(windows: Int64Array) -> Struct:
    """Return a search that has not begun, ``tokdfa_added_scan``; see :func:`windows_of`."""
    nowhere = Struct("tokdfa_added_search", begin=0, end=-1, at=0, done=0, space_from=0, space_to=-1, space_kind=0)
    nothing = Struct("tokdfa_added_span", start=0, stop=0, token=-1)
    return Struct(
        "tokdfa_added_scan", outer=nowhere, inner=nowhere, windows=windows, is_open=0, is_inner=0, is_given=0,
        given=np.zeros(0, dtype=np.int64), next_given=0, next=nothing, found=nothing,
    )  # fmt: skip


class AddedFinder:
    """A finder of added tokens in UTF-8, by the tables of :func:`added_struct`; for many threads."""

    def __init__(self, added: Struct) -> None:
        self._added = added
        # Unused searches. Appending and popping are one step each.
        self._scans: list[Struct] = []

    def find(self, text: bytes | memoryview) -> Int64Array:
        """Return the added tokens of a text: an int64 array of shape (tokens, 3), start, stop and number."""
        return self._find(text, is_open=False)[0]

    def find_open(self, text: bytes) -> tuple[Int64Array, int]:
        """Return the added tokens of a text that continues, and where the text that is not decided yet begins.

        The end of the text may be within a token that begins there. The tables have only tokens of the outer level.
        """
        return self._find(text, is_open=True)

    def _find(self, text: bytes | memoryview, *, is_open: bool) -> tuple[Int64Array, int]:
        scan = self._scans.pop() if self._scans else scan_struct(windows_of(self._added))
        here = scan.pointer
        here.outer.end, here.is_open = -1, is_open
        parts, capacity, data = [], _FIRST_SPANS, ffi.from_buffer(text)
        while True:
            spans: Int64Array = np.empty((capacity, 3), dtype=np.int64)
            n = call(lib.tokdfa_find_added, self._added.pointer, here, data, len(text), out=(spans, capacity))
            parts.append(spans[:n])
            if n < capacity:
                break
            capacity *= 4
        end = int(here.found.start)
        self._scans.append(scan)
        return parts[0] if len(parts) == 1 else np.concatenate(parts), end
