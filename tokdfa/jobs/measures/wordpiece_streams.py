"""The graph of the canonical streams of WordPiece, such as BERT's.

An id begins a word, continues one or is a word of its own. The vocabulary un, una, ##able, ##b forbids ##able after un,
since una would have been the longer match; so the row of an id are the continuations that complete a longer entry.
An entry may also be completed by several later ids. These are not looked ahead to, so a few paths are not canonical.
The exact graph has the states of the automaton of streams, too. There are many more of them, since they count the
characters of a word, up to a limit.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from tokdfa.automata.compact import Rows
from tokdfa.automata.protocol import Numbering
from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import AutomatonError, UnsupportedFeatureError
from tokdfa.jobs.guiding.byte_machines import ByteMachine
from tokdfa.jobs.guiding.tokens import FollowSets
from tokdfa.jobs.measures.product_streams import Factor, ProductStreams, TableFactor
from tokdfa.tokenizers.decoder import spellings, words_of
from tokdfa.tokenizers.models.wordpiece.stream import StreamLanguage
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.neighbours import Neighbours
from tokdfa.tokenizers.tokenizer import WordPieceTokenizer

_BEGINNING, _BETWEEN, _INSIDE = range(3)


class _StreamFactor(Factor):
    """The automaton of streams over labels; label `n + id` is id at the beginning of a text."""

    def __init__(self, language: StreamLanguage, n_ids: int) -> None:
        self._language, self._n_ids = language, n_ids
        self._numbers = Numbering(language.initial)

    def after(self, state: int) -> Int32Array:
        found = np.full(self._n_ids, -1, dtype=np.int32)
        for id, target in self._language.moves(self._numbers.states[state]):
            found[id] = self._numbers[target]
        return np.tile(found, 2)

    def is_final(self, state: int) -> bool:
        return True


def wordpiece_streams(
    tokenizer: WordPieceTokenizer, texts: ByteMachine | None = None, *, is_exact: bool = False
) -> ProductStreams:
    """Return the graph of a WordPiece tokenizer, with its texts in a language if one is given."""
    try:
        language = tokenizer.language
    except AutomatonError as error:
        raise UnsupportedFeatureError(f"the ids that may follow an id are not known: {error}") from None
    _check(language.vocabulary)
    n, spelled = tokenizer.n_ids, tokenizer.spelled
    ids, known = np.arange(n, dtype=np.int32), language.words
    begins, continues, single = (
        np.isin(ids, [*part]) for part in (known.beginnings, known.continuations, language.single)
    )
    single[tokenizer.control_ids] = False
    # The labels of the beginning, which have no space, come after all others.
    words = words_of(spelled.usual) + words_of(spelled.usual if spelled.other is None else spelled.other)
    ordinary = np.append(begins | continues | single, begins | single)
    table = np.full((3, 2 * n), -1, dtype=np.int32)
    for state, first in ((_BEGINNING, n), (_BETWEEN, 0), (_INSIDE, 0)):
        targets = table[state, first : first + n]
        targets[begins], targets[single] = _INSIDE, _BETWEEN
    table[_INSIDE, :n][continues] = _INSIDE
    sets = FollowSets(_neighbours(language), 2 * n, np.zeros(0, dtype=np.int32))
    sets.row_of[n:], sets.position[n:] = sets.row_of[:n], sets.position[:n]
    factors: list[Factor] = [TableFactor(table, (True,) * 3)]
    if is_exact:
        factors.append(_StreamFactor(language, n))
    streams = ProductStreams(sets, ordinary, np.tile(ids, 2), spellings(words), factors, texts)
    # A longer word is unknown.
    streams.most_repeated = 1 + (tokenizer.vocabulary.longest_word or 0)
    return streams


def _check(vocabulary: WordPieceVocabulary) -> None:
    """Refuse vocabularies with canonical streams of ids that continue a word or stand for unknown ones."""
    prefix, limit = vocabulary.prefix, vocabulary.longest_word
    if len(prefix) == 1 and prefix in dict(vocabulary.items()):
        raise UnsupportedFeatureError("the prefix is a word, so an id decodes to nothing after others", value=prefix)
    if limit is not None and limit < len(vocabulary.unknown):
        what = "the token for unknown words is longer than the longest word, so it stands for itself"
        raise UnsupportedFeatureError(what, value=vocabulary.unknown)


def _neighbours(language: StreamLanguage) -> Neighbours:
    """Return the continuations that each id forbids after it, because a longer entry begins with both."""
    words = language.words
    continuing = sorted((text, id) for id, text in words.continuations.items())
    texts = [text for text, _ in continuing]
    spans: dict[int, set[tuple[int, int]]] = {}
    for entries in (words.beginnings, words.continuations):
        id_of = {text: id for id, text in entries.items()}
        for text in id_of:
            for size in range(1, len(text)):
                shorter, rest = id_of.get(text[:size]), text[size:]
                if shorter is not None:
                    low, high = bisect_left(texts, rest), bisect_left(texts, rest + chr(0x10FFFF))
                    spans.setdefault(shorter, set()).update([(low, high)] if low < high else [])
    ids = [id for _, id in continuing] + [*words.beginnings]
    of_row = [sorted(spans.get(id, ())) for id in ids]
    pointer = np.cumsum([0, *map(len, of_row)]).astype(np.int32)
    bounds = np.array([span for row in of_row for span in row], dtype=np.int32).reshape(-1, 2)
    numbers = np.arange(len(ids), dtype=np.int32)
    rows = Rows(pointer, bounds[:, 0].copy(), bounds[:, 1].copy(), numbers, numbers)
    return Neighbours([], np.array(ids, dtype=np.int32), numbers, rows)
