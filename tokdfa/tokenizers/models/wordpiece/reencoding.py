"""Words of ids decoded and encoded again, many at once: only those that are not known to be canonical.

In the ids 11 12 13, for " the", " dri" and "##fty", the first is the encoding of the text " the", so only the word of
12 and 13 is encoded again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.kernels.spelling.spell import spell
from tokdfa.tokenizers.boundaries.words import SpacedBoundaries
from tokdfa.tokenizers.decoder import Spellings, words_of
from tokdfa.tokenizers.derived import OfTokenizer

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import WordPieceTokenizer

_SEPARATOR = b"\n"


class ReencodedWords(NamedTuple):
    """Words of ids next to the canonical ids of their texts; offsets count the bytes of all texts together.

    Word k has the ids from ``bounds[k]`` to ``bounds[k + 1]`` of `ids`, and its text begins at ``starts[k]``; `indices`
    has the index of each id among those that were given, and `ends` where it ends. The arrays `canonical` are the same
    of the canonical ids. A word `is_odd`, not to be compared, if an id adds nothing to its text, it has no
    tokenization, or its canonical ids end before it does.
    """

    indices: Int64Array
    ids: Int32Array
    ends: Int64Array
    bounds: Int64Array
    starts: Int64Array
    canonical: Int32Array
    canonical_ends: Int64Array
    canonical_bounds: Int64Array
    is_odd: BoolArray


class Reencoder(OfTokenizer["WordPieceTokenizer"]):
    """Encodes words of ids again. The tokenizer cuts texts before the spaces that decoding inserts."""

    def __init__(self, tokenizer: WordPieceTokenizer) -> None:
        super().__init__(tokenizer)
        usual, first = tokenizer.id_spellings, tokenizer.model.first_spellings
        self._n_ids = len(usual.offsets) - 1
        # The words of ids after others, then before all others, and the separator of words.
        text = np.concatenate((usual.text, first.text, np.frombuffer(_SEPARATOR, dtype=np.uint8)))
        ends = len(usual.text) + first.offsets
        self._spelled = Spellings(text, np.concatenate((usual.offsets[:-1], ends, ends[-1:] + len(_SEPARATOR))))
        boundaries = tokenizer.boundaries
        assert isinstance(boundaries, SpacedBoundaries)
        self._opens = boundaries.cuts_before
        # For each id, whether nothing around it changes it: a word after a space, or a mark after a word.
        self._is_known: BoolArray = np.zeros(self._n_ids, dtype=np.bool_)
        opening = np.flatnonzero(self._opens & tokenizer.means_something)
        words = self._encoded(opening, opening.astype(np.int32), np.arange(len(opening) + 1))
        is_one = ~words.is_odd & (np.diff(words.canonical_bounds) == 1)
        canonical = words.canonical[words.canonical_bounds[:-1][is_one]]
        self._is_known[opening[is_one]] = canonical == opening[is_one]
        spelled = words_of(usual)
        for mark, id in tokenizer.model.end_to_end.separate_marks().items():
            self._is_known[id] |= spelled[id] == mark

    def encode(self, ids: Int32Array, bounds: Int64Array) -> ReencodedWords:
        """Return the words of texts, but for those that are known to be canonical.

        Text k has the ids from ``bounds[k]`` to ``bounds[k + 1]``, from 0 up to all, and at least one.
        """
        begins = bounds[:-1]
        opens, is_known = self._opens[ids], self._is_known[ids]
        opens[begins], is_known[begins] = True, False
        first, unknown = np.flatnonzero(opens), np.flatnonzero(~is_known)
        word = np.searchsorted(first, unknown, side="right") - 1
        word = word[np.diff(word, prepend=-1) > 0]
        starts, stops = first[word], np.append(first, len(ids))[word + 1]
        offsets = running_sum(stops - starts)
        indices = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], stops - starts)
        numbers = ids[indices]
        numbers[offsets[:-1]] += self._n_ids * np.isin(starts, begins)
        return self._encoded(indices, numbers, offsets)

    def _encoded(self, indices: Int64Array, numbers: Int32Array, bounds: Int64Array) -> ReencodedWords:
        """Return the words of ids, given the number of each in the table of spellings."""
        n_words = len(bounds) - 1
        word = np.repeat(np.arange(n_words), np.diff(bounds))
        at = np.arange(len(numbers)) + word
        separated = np.full(len(numbers) + n_words, 2 * self._n_ids, dtype=np.int32)
        separated[at] = numbers
        data, lengths = spell(*self._spelled, separated)
        ends = np.cumsum(lengths)
        # Each word ends before its separator.
        stops = ends[bounds[1:] + np.arange(n_words)] - len(_SEPARATOR)
        starts = np.append(0, stops[:-1] + len(_SEPARATOR))[:n_words]
        tokens, rows = self.tokenizer.model.end_to_end.encode_joined(data.tobytes(), stops)
        is_odd: BoolArray = np.diff(rows) == 0
        is_odd[word[lengths[at] == 0]] = True
        own = np.repeat(np.arange(n_words), np.diff(rows))
        sizes = np.diff(tokens.ends, prepend=0)
        begun = rows[:-1][~is_odd]
        sizes[begun] = tokens.ends[begun]
        is_odd[own[(sizes <= 0) | (tokens.ids < 0)]] = True
        is_odd[~is_odd] = tokens.ends[rows[1:][~is_odd] - 1] != (stops - starts)[~is_odd]
        ids = numbers % np.int32(self._n_ids)
        return ReencodedWords(
            indices, ids, ends[at], bounds, starts, tokens.ids, tokens.ends + starts[own], rows, is_odd
        )
