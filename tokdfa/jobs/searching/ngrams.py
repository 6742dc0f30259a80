"""Contamination: how many of the n-grams of words of some items, such as an evaluation, are in the text of ids.

Of the item "a single man in possession", the 3-grams are "a single man", "single man in" and "man in possession". In
the document "He was a single man, in love." exact words have none of them, for "man," is another word; words as
lm-eval-harness reads them have two: a third is missing, so the share of the item is 0.67.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from string import ascii_lowercase, ascii_uppercase, punctuation
from threading import Lock
from typing import Literal, TypeAlias

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint16Array, running_sum
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.searching.plan import Words
from tokdfa.kernels.library import Struct
from tokdfa.kernels.search.ngrams import LEFT_OUT, Tally, ngrams_of, reader_of, spelled
from tokdfa.stores.store import Chunk
from tokdfa.tokenizers.decoder import words_of
from tokdfa.tokenizers.protocol import AnyTokenizer

WordRule: TypeAlias = Literal["exact", "lm-eval"]
"""How a text becomes words. Both split at white space as ``str.split`` does; "lm-eval" first makes ASCII letters lower
case and leaves out ASCII punctuation, as the decontamination of lm-eval-harness does after GPT-3's."""

MOST_WORDS = 1000
"""The largest n."""

_BLOCK = 1 << 16
_NO_STARTS: Int64Array = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class FoundItem:
    """An item: its n-grams, the ones among them that were found, and the documents and files that have one of these.

    Equal n-grams of an item count as often as they occur in it. An item with fewer than n words has none.
    """

    ngrams: int
    found: int
    documents: int
    files: int

    @property
    def share(self) -> float | None:
        """The share of the n-grams that were found; None if there are none."""
        return self.found / self.ngrams if self.ngrams else None


@dataclass(frozen=True, slots=True)
class FoundNgram:
    """An n-gram that was found: its words, matches, and the documents and files with one."""

    text: str
    count: int
    documents: int
    files: int


@dataclass(slots=True)
class Totals:
    """The matches in files, added up: by n-gram, of shape (n-grams, 3), and by item, of shape (items, 2).

    The columns are matches, documents and files; and documents and files.
    """

    ngrams: Int64Array
    items: Int64Array
    lock: Lock = field(default_factory=Lock)


class NgramCounter:
    """The n-grams of words of some items, ready to be counted in the text of ids.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        The tokenizer of the ids, which need not be canonical. Their text is cut at control tokens, and between
        documents: no n-gram reaches across.
    items : sequence of str
        The items.
    n : int
        The number of words of an n-gram.
    rule : {"exact", "lm-eval"}
        How texts become words; see :data:`WordRule`.

    Raises
    ------
    UnsupportedFeatureError
        If the text of an id depends on its neighbours, other than by white space.
    WrongTypeError, TokenStreamError
        If `n` or the rule is another, or an item is not Unicode.

    Examples
    --------
    >>> from tokdfa.jobs.searching.ngrams import NgramCounter
    >>> from tokdfa.stores.store import Chunk
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> counter = NgramCounter(tokenizer, ["a single man in possession"], 3, "lm-eval")
    >>> totals = counter.totals()
    >>> counter.add(totals, counter.count([Chunk(tokenizer.encode("He was a single man, in love."))]))
    >>> counter.found_items(totals)
    [FoundItem(ngrams=3, found=2, documents=1, files=1)]
    >>> [found.text for found in counter.found_ngrams(totals)]
    ['a single man', 'single man in']
    """

    def __init__(self, tokenizer: AnyTokenizer, items: Sequence[str], n: int = 13, rule: WordRule = "exact") -> None:
        if not 1 <= n <= MOST_WORDS:
            raise WrongTypeError(f"n is from 1 to {MOST_WORDS}", value=n)
        if rule not in ("exact", "lm-eval"):
            raise WrongTypeError("there is no such rule for words", value=rule, hint="exact or lm-eval")
        self.n = n
        self.n_items = len(items)
        self._tokenizer = tokenizer
        self._reader = tokenizer.derived(_readers)(rule)
        words = [_words(text, rule, number) for number, text in enumerate(items)]
        self._longest = max((len(word) for each in words for word in each), default=0)
        self._ngrams, self._of_items, self.n_ngrams = ngrams_of(self._reader, words, n)
        self._n_of_item = np.array([max(len(each) - n + 1, 0) for each in words], dtype=np.int64)
        self._owners, self._owned = self._owned_by()

    def _owned_by(self) -> tuple[Int64Array, Int32Array]:
        """Return where the items of each n-gram begin in a list, and that list."""
        item = np.repeat(np.arange(self.n_items, dtype=np.int64), self._n_of_item)
        pairs = np.unique(self._of_items * np.int64(max(self.n_items, 1)) + item)
        sizes = np.bincount(pairs // max(self.n_items, 1), minlength=self.n_ngrams)
        return running_sum(sizes), (pairs % max(self.n_items, 1)).astype(np.int32)

    def count(self, chunks: Iterable[Chunk], advance: Callable[[int], object] = lambda _: None) -> Tally:
        """Return the n-grams in a file; one without documents is one."""
        check = self._tokenizer.decoder.check
        tally = Tally(self._reader, self._ngrams, self._owners, self._owned, self.n_items, self._longest)
        buffer: Int32Array = np.empty(_BLOCK, dtype=np.int32)
        n_read = 0
        for chunk in chunks:
            for begin in range(0, max(len(chunk.ids), 1), _BLOCK):
                part = chunk.part(begin, min(begin + _BLOCK, len(chunk.ids)))
                ids = check(part.ids, n_read, buffer[: len(part.ids)])
                tally.read(ids, _NO_STARTS if part.starts is None else part.starts)
                n_read += len(part.ids)
                advance(len(part.ids))
        tally.read(np.zeros(0, dtype=np.int32), _NO_STARTS, is_last=True)
        return tally

    def totals(self) -> Totals:
        """Return totals of no files."""
        return Totals(np.zeros((self.n_ngrams, 3), np.int64), np.zeros((self.n_items, 2), np.int64))

    def add(self, totals: Totals, tally: Tally) -> None:
        """Add the matches in a file to totals; several threads may add to the same."""
        if tally.documents.any():
            with totals.lock:
                totals.ngrams[:, :2] += tally.counts
                totals.ngrams[:, 2] += tally.counts[:, 0] > 0
                totals.items[:, 0] += tally.documents
                totals.items[:, 1] += tally.documents > 0

    def found_items(self, totals: Totals) -> list[FoundItem]:
        """Return the items, in their order."""
        is_found = np.append(0, np.cumsum(totals.ngrams[self._of_items, 0] > 0))
        ends = np.cumsum(self._n_of_item)
        found = is_found[ends] - is_found[ends - self._n_of_item]
        rows = zip(self._n_of_item.tolist(), found.tolist(), *totals.items.T.tolist(), strict=True)
        return [FoundItem(*row) for row in rows]

    def found_ngrams(self, totals: Totals) -> list[FoundNgram]:
        """Return the n-grams that were found, the commonest first."""
        numbers = np.flatnonzero(totals.ngrams[:, 0])
        numbers = numbers[np.argsort(-totals.ngrams[numbers, 0], kind="stable")]
        texts = (spelled(self._ngrams, number).decode() for number in numbers.tolist())
        return [FoundNgram(text, *row) for text, row in zip(texts, totals.ngrams[numbers].tolist(), strict=True)]


_AS_LM_EVAL = str.maketrans(ascii_uppercase, ascii_lowercase, punctuation)


def _words(text: str, rule: WordRule, number: int) -> list[bytes]:
    """Return the words of an item."""
    try:
        return [word.encode() for word in (text if rule == "exact" else text.translate(_AS_LM_EVAL)).split()]
    except UnicodeEncodeError:
        raise TokenStreamError("half of a surrogate pair is not text", where=f"item {number + 1}") from None


@cache
def _spaces() -> tuple[bytes, ...]:
    """Return the characters at which ``str.split`` splits, as UTF-8."""
    # The last one of Unicode is U+3000.
    return tuple(chr(point).encode() for point in range(0x10000) if chr(point).isspace())


def _letters(rule: WordRule) -> Uint16Array:
    """Return the letter that each byte counts as."""
    letters = np.arange(256, dtype=np.uint16)
    if rule == "lm-eval":
        for byte in range(128):
            letters[byte] = ord(chr(byte).translate(_AS_LM_EVAL) or chr(LEFT_OUT))
    return letters


def _readers(tokenizer: AnyTokenizer) -> Callable[[WordRule], Struct]:
    """Return the function from a rule to the reader of words of a tokenizer, which is built once."""
    words = Words.of(tokenizer)
    if words.varies:
        every = words_of(words.spelled)
        for usual, other in zip(every[: words.n_ids], every[words.n_ids :], strict=True):
            if usual.strip() != other.strip():
                what = f"n-grams are not counted: the {words.varies} id of a text is spelled with other letters"
                raise UnsupportedFeatureError(what, value=usual)
    return cache(lambda rule: reader_of(words.text, _letters(rule), _spaces()))
