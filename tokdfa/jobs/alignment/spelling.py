"""The bytes that the ids of a stream add to its text, and the ids with given bytes."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, offsets_of, running_sum
from tokdfa.kernels.spelling.lookup import WordTable
from tokdfa.kernels.spelling.spell import spell
from tokdfa.kernels.walk.alignment import SpelledWords
from tokdfa.tokenizers.decoder import Spellings, spellings, words_of
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.spelled import Spelled


class Words:
    """The words that ids add to a text: word ``id`` between other ids, and word ``n + id`` at an edge of it.

    In Llama-2, id 15043 is `` Hello`` between others, and ``Hello`` at the beginning. `words` has both kinds, and `n`
    is the number of ids. `varies` is which id of a text is at an edge: "first", "last" or "".
    """

    def __init__(self, spelled: Spelled, dropped: Int32Array) -> None:
        self._usual = _without(spelled.usual, dropped)
        self.n = len(self._usual.offsets) - 1
        self.varies = spelled.varies
        self.words = self._other = self._usual
        self._is_passed: BoolArray = np.zeros(self.n, dtype=np.bool_)
        if spelled.other is not None:
            self._other = other = _without(spelled.other, dropped)
            offsets = np.concatenate((self._usual.offsets, other.offsets[1:] + self._usual.offsets[-1]))
            self.words = Spellings(np.concatenate((self._usual.text, other.text)), offsets)
            self._is_passed[dropped] = True
            if spelled.silent is not None and spelled.varies == "first":
                self._is_passed |= spelled.silent

    def numbers(self, ids: Int32Array, bounds: Int64Array) -> Int32Array:
        """Return the word of each of the ids of texts; text k has the ids from ``bounds[k]`` to ``bounds[k + 1]``."""
        if not self.varies:
            return ids
        numbers = ids.copy()
        is_full = bounds[1:] > bounds[:-1]
        first, last = bounds[:-1][is_full], bounds[1:][is_full] - 1
        at, limit, step = (first, last, 1) if self.varies == "first" else (last, first, -1)
        while len(at):
            numbers[at] += self.n
            # The edge is at the next id, too, if this one adds nothing.
            continues = self._is_passed[ids[at]] & (at != limit)
            at, limit = at[continues] + step, limit[continues]
        return numbers

    @cached_property
    def spelled(self) -> SpelledWords:
        """The words as the kernel reads them."""
        return SpelledWords(*self.words)

    @cached_property
    def usual(self) -> EqualWords:
        """The ids by their bytes between others."""
        return EqualWords(self._usual)

    @cached_property
    def at_edge(self) -> EqualWords:
        """The ids by their bytes at an edge of a text."""
        return EqualWords(self._other)


class EqualWords:
    """The ids with the same bytes."""

    def __init__(self, words: Spellings) -> None:
        ids_of: dict[bytes, list[int]] = {}
        for id, word in enumerate(words_of(words)):
            ids_of.setdefault(word, []).append(id)
        ids_of.pop(b"", None)
        self._table = WordTable(*spellings([*ids_of])) if ids_of else None
        # The last word is none.
        self._offsets = offsets_of([*ids_of.values(), ()])
        self.ids: Int32Array = np.array([id for ids in ids_of.values() for id in ids], dtype=np.int32)

    def find(self, text: Uint8Array, offsets: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Return the first index in `ids` of each ``text[offsets[i] : offsets[i + 1]]``, and their number."""
        if self._table is None:
            found = np.full(len(offsets) - 1, -1, dtype=np.int32)
        else:
            found = self._table.find_in(text, offsets)
        return self._offsets[:-1][found], np.diff(self._offsets)[found]


def spelled_words(tokenizer: AnyTokenizer, drops: bool) -> Words:
    """Return the words of a tokenizer's ids, a derived table; control tokens have no bytes if asked for.

    UnsupportedFeatureError is raised if ids have no text, or the text of one depends on the ids next to it.
    """
    return Words(tokenizer.spelled, tokenizer.control_ids if drops else np.empty(0, dtype=np.int32))


def _without(words: Spellings, dropped: Int32Array) -> Spellings:
    """Return words, some of them empty."""
    if not len(dropped):
        return words
    numbers = np.arange(len(words.offsets) - 1, dtype=np.int32)
    numbers[dropped] = -1
    text, lengths = spell(words.text, words.offsets, numbers)
    lengths[dropped] = 0
    return Spellings(text, running_sum(lengths))
