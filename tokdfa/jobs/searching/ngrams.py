"""Contamination: how many of the n-grams of some items, such as an evaluation, are in the text of ids.

Of the item "a single man in possession", the 3-grams are "a single man", "single man in" and "man in possession". In
the document "He was a single man, in love." exact words have none of them, for "man," is another word; words as
lm-eval-harness reads them have two: a third is missing, so the share of the item is 0.67. N-grams of ids are also
counted, and need no text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Lock

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, running_sum
from tokdfa.base.errors import TokdfaError, WrongTypeError
from tokdfa.jobs.searching.ngram_units import NgramRule, NgramUnits
from tokdfa.jobs.searching.plan import Placed
from tokdfa.kernels.search.ngrams import Tally, ngrams_of, spelled
from tokdfa.stores.parts import Shared, StorePart, iter_parts
from tokdfa.stores.store import Chunk, Store
from tokdfa.tokenizers.protocol import AnyTokenizer

MOST_UNITS = 1000
"""The largest n."""

_BLOCK = 1 << 16
_NO_STARTS: Int64Array = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class FoundItem:
    """An item: its n-grams, the ones among them that were found, and the documents and files that have one of these.

    Equal n-grams of an item count as often as they occur in it. An item with fewer than n units has none.
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
    """An n-gram that was found: its words or the text of its ids, matches, and the documents and files with one."""

    text: str
    count: int
    documents: int
    files: int
    ids: tuple[int, ...] | None = None  # With the rule "ids".


@dataclass(slots=True)
class Totals:
    """The matches in files, added up: by n-gram, of shape (n-grams, 3), and by item, of shape (items, 2).

    The columns are matches, documents and files; and documents and files.
    """

    ngrams: Int64Array
    items: Int64Array
    lock: Lock = field(default_factory=Lock)


class NgramCounter:
    """The n-grams of some items, ready to be counted in ids or their text.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        The tokenizer of the ids, which need not be canonical. They are cut at control tokens, and between documents: no
        n-gram reaches across.
    items : sequence of str
        The items.
    n : int
        The number of words, or ids, of an n-gram.
    rule : {"exact", "lm-eval", "ids"}
        What they are; see :data:`~tokdfa.jobs.searching.ngram_units.NgramRule`.

    Raises
    ------
    UnsupportedFeatureError
        If the text of an id depends on its neighbours: for WordPiece on more than whether it is the first one of its
        document, and elsewhere on more than white space. The rule "ids" needs no text.
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

    def __init__(self, tokenizer: AnyTokenizer, items: Sequence[str], n: int = 13, rule: NgramRule = "exact") -> None:
        if not 1 <= n <= MOST_UNITS:
            raise WrongTypeError(f"n is from 1 to {MOST_UNITS}", value=n)
        self.n = n
        self.n_items = len(items)
        self._tokenizer = tokenizer
        self.rule = rule
        self._units = tokenizer.derived(NgramUnits, rule)
        self._words = partial(self._units.of_item, tokenizer)
        words = [self._words(text, number) for number, text in enumerate(items)]
        self._longest = max((len(word) for each in words for word in each), default=0)
        self._ngrams, self._of_items, self.n_ngrams = ngrams_of(self._units.reader, words, n)
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
        return self._count([StorePart(0, chunks)], advance)

    def count_store(
        self,
        store: Store,
        threads: int,
        advance: Callable[[int], object] = lambda _: None,
        *,
        least: int = 1 << 20,
    ) -> Tally:
        """Return the n-grams in a file; threads count in parts of at least so many ids.

        Parts begin with documents, or after control tokens in a file without documents.
        """
        separators = None if store.has_documents else self._tokenizer.control_ids
        if threads > 1 and (separators is None or (len(separators) and self._units.marked is None)):
            # The first damage is known only if the store is read in order.
            with suppress(TokdfaError, OSError):
                parts = Shared(iter_parts(store, least, separators))
                with ThreadPoolExecutor(threads) as pool:
                    found, *others = pool.map(lambda _: self._count(parts, advance), range(threads))
                for other in others:
                    found.add(other, is_one=separators is not None)
                store.check_unchanged()
                return found
        return self.count(store.read(), advance)

    def _count(self, parts: Iterable[StorePart], advance: Callable[[int], object]) -> Tally:
        """Return the n-grams in parts of a file; without documents they are parts of one."""
        check, marked = self._tokenizer.decoder.check, self._units.marked
        tally = Tally(self._units.reader, self._ngrams, self._owners, self._owned, self.n_items, self._longest)
        buffer: Int32Array = np.empty(_BLOCK, dtype=np.int32)
        for n_read, chunks in parts:
            placed = None if marked is None else Placed(marked)
            for chunk in chunks:
                for begin in range(0, max(len(chunk.ids), 1), _BLOCK):
                    part = chunk.part(begin, min(begin + _BLOCK, len(chunk.ids)))
                    ids = check(part.ids, n_read, buffer[: len(part.ids)])
                    starts = _NO_STARTS if part.starts is None else part.starts
                    tally.read(ids if placed is None else placed.read(ids, starts), starts)
                    n_read += len(part.ids)
                    advance(len(part.ids))
            tally.read(np.zeros(0, dtype=np.int32), _NO_STARTS, is_last=True)
        return tally

    def changes(self, item: str) -> bool:
        """Return whether encoding and decoding an item changes its words, so that ids hardly have them."""
        if self.rule == "ids" or self._tokenizer.is_plain:
            return False
        try:
            again = self._tokenizer.decode(self._tokenizer.encode(item), errors="replace")
        except TokdfaError:
            return True
        return self._words(again, 0) != self._words(item, 0)

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
        texts = [spelled(self._ngrams, number) for number in numbers.tolist()]
        rows = zip(texts, totals.ngrams[numbers].tolist(), strict=True)
        return [self._found_ngram(text, *counts) for text, counts in rows]

    def _found_ngram(self, text: bytes, count: int, documents: int, files: int) -> FoundNgram:
        ids = tuple(map(int, text.split())) if self.rule == "ids" else None
        shown = text.decode() if ids is None else self._tokenizer.decode(ids, errors="replace")
        return FoundNgram(shown, count, documents, files, ids)
