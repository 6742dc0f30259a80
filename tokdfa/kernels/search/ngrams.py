"""N-grams of words in the text of ids: how often each occurs, in how many documents.

A reader of words is built once for a tokenizer and a way to read words, a set of n-grams once for the items; a tally
belongs to one file. ``api.h`` explains the fields of the structs, ``ngrams.c`` the algorithm. Callers have checked ids
against the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array, Uint16Array
from tokdfa.kernels import pages
from tokdfa.kernels.library import Struct, call, lib, readable, slots_for

LEFT_OUT = 256
"""The letter of a byte that does not count."""

_COMPLETE, _LONGEST_SPACE, _N_OF_EFFECT = 255, 4, 2
# Words that are looked up at once: their hashes stay in the nearest cache.
_AT_ONCE = 1 << 10
# Numbers of the filter for each n-gram: 16 bits.
_N_GRAMS_OF_A_NUMBER = 4


def reader_of(text: Struct, letters: Uint16Array, spaces: Iterable[bytes]) -> Struct:
    """Return a reader of the words in the text of ids: the letter of each byte, and all characters of white space."""
    nodes: list[tuple[bytes, Uint8Array]] = [(b"", np.zeros(256, dtype=np.uint8))]
    for space in spaces:
        node = 0
        for at, byte in enumerate(space[:-1]):
            if not nodes[node][1][byte]:
                nodes[node][1][byte] = len(nodes)
                nodes.append((space[: at + 1], np.zeros(256, dtype=np.uint8)))
            node = int(nodes[node][1][byte])
        nodes[node][1][space[-1]] = _COMPLETE
    held = b"".join(bytes((len(path), *path)).ljust(_LONGEST_SPACE, b"\0") for path, _ in nodes)
    if len(nodes) >= _COMPLETE or len(held) != _LONGEST_SPACE * len(nodes) or letters.max() > LEFT_OUT:
        raise TypeError("these are not letters and characters of white space")
    effects = pages.zeros((text.pointer.n_starts - 1) * _N_OF_EFFECT, np.uint64)
    reader = Struct(
        "tokdfa_word_reader", text=text, letters=np.ascontiguousarray(letters, dtype=np.uint16),
        spaces=np.concatenate([row for _, row in nodes]), held=np.frombuffer(held, dtype=np.uint8), effects=effects,
    )  # fmt: skip
    call(lib.tokdfa_word_effects, reader.pointer, out=(effects,))
    return reader


def ngrams_of(reader: Struct, items: list[list[bytes]], n: int) -> tuple[Struct, Int32Array, int]:
    """Return the n-grams of items, which are lists of words; the n-gram at each word of each; how many there are."""
    texts = [b" ".join(words) for words in items]
    sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    n_occurrences = sum(max(len(words) - n + 1, 0) for words in items)
    n_slots = slots_for(n_occurrences)
    of_item: Int32Array = np.empty(n_occurrences, dtype=np.int32)
    data = np.frombuffer(b"".join(texts), dtype=np.uint8)
    found = Struct(
        "tokdfa_ngram_set", bytes=data, items=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64), n=n,
        ring=np.empty(2 * n, dtype=np.uint64), of_item=of_item, spans=np.empty(2 * n_occurrences, dtype=np.int64),
        filter=pages.zeros(max(n_slots // (2 * _N_GRAMS_OF_A_NUMBER), 1), np.uint64),
        table=pages.zeros(2 * n_slots, np.uint64),
    )  # fmt: skip
    return found, of_item, call(lib.tokdfa_number_ngrams, reader.pointer, found.pointer)


def spelled(ngrams: Struct, number: int) -> bytes:
    """Return the words of an n-gram, with one space between two."""
    begin, end = ngrams.fields["spans"][2 * number : 2 * number + 2].tolist()
    text: bytes = ngrams.fields["bytes"][begin:end].tobytes()
    return text


class Tally:
    """How often the n-grams of a set have been found in a file that is being read.

    `counts` has for each n-gram the matches and the documents with one, `documents` for each item the documents with
    one of its n-grams. The items of n-gram i are ``owned[owners[i]:owners[i + 1]]``.
    """

    def __init__(
        self, reader: Struct, ngrams: Struct, owners: Int64Array, owned: Int32Array, n_items: int, longest: int
    ) -> None:
        self._reader, self._ngrams = reader, ngrams
        n = ngrams.pointer.n
        # Untouched pages of these take no memory.
        self._counts: Int64Array = pages.untouched(max(3 * (len(owners) - 1), 1), np.int64)
        self._of_items: Int64Array = np.zeros(2 * n_items, dtype=np.int64)
        capacity = n * (longest + 2) + 2 * _LONGEST_SPACE
        self._struct = Struct(
            "tokdfa_ngram_tally", counts=self._counts, of_items=self._of_items, owners=owners, owned=owned, document=1,
            longest=longest, carry=np.empty(capacity, dtype=np.uint8), n_filled=0,
            scratch=np.empty(capacity, dtype=np.uint8), hashes=np.zeros(n + _AT_ONCE, dtype=np.uint64),
            ends=np.zeros(n + _AT_ONCE, dtype=np.uint64),
        )  # fmt: skip

    @property
    def counts(self) -> Int64Array:
        """By n-gram, of shape (n-grams, 2): matches, and documents with one."""
        return self._counts[: len(self._counts) // 3 * 3].reshape(-1, 3)[:, :2]

    @property
    def documents(self) -> Int64Array:
        """By item: the documents with one of its n-grams."""
        return self._of_items[::2]

    def add(self, other: Tally, *, is_one: bool) -> None:
        """Add what was found in further documents of a file, or in other parts of its only document."""
        counts, documents = self.counts, self.documents
        counts += other.counts
        documents += other.documents
        if is_one:
            np.minimum(counts[:, 1], 1, out=counts[:, 1])
            np.minimum(documents, 1, out=documents)

    def read(self, ids: Int32Array, starts: Int64Array, *, is_last: bool = False) -> None:
        """Count in further ids, of which documents begin at `starts`; the text ends with the last ones."""
        if len(starts) and not (starts[0] >= 0 and starts[-1] <= len(ids) and (starts[1:] >= starts[:-1]).all()):
            raise TypeError("documents begin in the ids, one after the other")
        lib.tokdfa_count_ngrams(
            self._reader.pointer, self._ngrams.pointer, self._struct.pointer,
            readable(ids, np.int32), len(ids), readable(starts, np.int64), len(starts), is_last,
        )  # fmt: skip
