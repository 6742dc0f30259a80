"""Replaying a trainer: the first listed merge that it would not make, and the likely cause."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word
from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.suggestions import SuggestsNames
from tokdfa.base.verdict import DescribedEnum
from tokdfa.kernels.train.merging import Training
from tokdfa.tokenizers.decoder import is_utf8
from tokdfa.training.greedy import begin_training
from tokdfa.training.listed import ListedMerges
from tokdfa.training.rules import COUNT_RULES, TIE_RULES, CountRule, GreedyRules

if TYPE_CHECKING:
    from tokdfa.training.counting import CorpusSplitter

__all__ = ["LikelyCause", "WrongMerge"]

# Trainers of HuggingFace have counted in 32 bits, and read negative counts as unsigned ones of 64.
_INTEGERS = ("int32", "uint32", "int16", "uint16")
_FORMS: dict[str, Callable[[str], str]] = {
    **{form: partial(unicodedata.normalize, form) for form in ("NFC", "NFKC", "NFD", "NFKD")},
    "lowercase": str.lower,
    "NFKC, lowercase": lambda text: unicodedata.normalize("NFKC", text).lower(),
}


class LikelyCause(DescribedEnum):
    """The likely cause of a wrong merge, found by replaying the merges under other rules.

    Examples
    --------
    >>> print(tokdfa.LikelyCause.TIE.meaning)
    another rule for equally frequent pairs explains the merge
    """

    NO_PARTS = "no-parts", "no two of the tokens listed before make the token"
    PRETOKENIZER = "pretokenizer", "the pre-tokenizer cuts the product, so the pieces were others"
    NORMALIZATION = "normalization", "the corpus was normalized in another way"
    OVERFLOW = "overflow", "the counts did not fit their integers"
    TIE = "tie", "another rule for equally frequent pairs explains the merge"
    COUNT = "count", "another way to count pairs explains the merge"
    LENGTH = "length", "the trainer limited the length of tokens, or a limit was named that it did not have"
    FREQUENCY = "min-frequency", "the pair is rarer than the least frequency"
    ALPHABET = "alphabet", "a symbol of the most frequent pair is not in the listed alphabet"
    ORDER = "order", "the most frequent pair is listed later"
    DROPPED = "dropped", "the most frequent pair is not listed"
    ABSENT = "absent", "the corpus does not have the pair: it is another corpus, or was split or normalized otherwise"


@dataclass(frozen=True, slots=True)
class WrongMerge(SuggestsNames):
    """The first listed merge that an honest trainer would not make.

    Attributes
    ----------
    index : int
        The number of the merges before it.
    pair : tuple of words, optional
        The two tokens that it merges; None if no two tokens listed before make its product.
    product : word
    count : int
        How often the pair occurs at that time.
    best : tuple of words, optional
        The pair that the rule would merge; None if no pair is left that is frequent enough.
    best_count : int
    cause : LikelyCause
    detail : str
        The explanation: the integers, the rule, the form, or the index at which `best` is listed.

    Examples
    --------
    >>> tokdfa.check_merges([("c", "d"), ("a", "b")], {"ab": 3, "cd": 2}).witness.best
    ('a', 'b')
    """

    index: int
    pair: tuple[Word, Word] | None
    product: Word
    count: int
    best: tuple[Word, Word] | None
    best_count: int
    cause: LikelyCause
    detail: str = ""


class Source(NamedTuple):
    """The corpus of the pieces: its splitter, and the function that counts it again, rewritten."""

    splitter: CorpusSplitter
    recounted: Callable[[Callable[[str], str]], Mapping[Any, int]]


class Counts(NamedTuple):
    """The keys of all pairs, u · 2³² + v, ascending, and how often each occurs."""

    keys: Int64Array
    counts: Int64Array

    def of(self, pair: tuple[int, int]) -> int:
        """Return the count of a pair of tokens; one of them may be -1 for none."""
        key = (pair[0] << 32) | pair[1]
        at = int(np.searchsorted(self.keys, key))
        return int(self.counts[at]) if min(pair) >= 0 and at < len(self.keys) and self.keys[at] == key else 0


def count_all(tokens: Int32Array, weights: Int64Array, count: CountRule) -> Counts:
    """Count all pairs of a text afresh: tokens with a boundary, -1, between pieces."""
    left, right = tokens[:-1].astype(np.int64), tokens[1:].astype(np.int64)
    counted = (left >= 0) & (right >= 0)
    if count == "non-overlapping":
        index = np.arange(len(left))
        first = np.maximum.accumulate(np.where(np.diff(tokens[:-1], prepend=-2) != 0, index, 0))
        counted &= (left != right) | ((index - first) % 2 == 0)
    keys = (left << 32 | right)[counted]
    order = np.argsort(keys, kind="stable")
    keys, weight = keys[order], weights[:-1][counted][order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return Counts(keys[starts], np.add.reduceat(weight, starts) if len(starts) else weight)


@dataclass(frozen=True)
class Replay:
    """Listed merges on pieces, under the rules of a trainer, or with any of the most frequent pairs."""

    listed: ListedMerges
    pieces: Mapping[Any, int]
    rules: GreedyRules
    any_tie: bool

    def first_wrong(self, source: Source | None = None) -> WrongMerge | None:
        """Return the first merge that the trainer would not make, None if it makes them all."""
        symbols, training = self._begun()
        index = training.run(len(self.listed))
        if index == len(self.listed):
            return None
        words = [*symbols.symbols, *self.listed.products[:index]]
        counts = count_all(*training.tokens(), self.rules.count)
        wanted = training.wanted
        given = int(wanted.left[index]), int(wanted.right[index])
        top = training.top
        found = WrongMerge(
            index,
            self.listed.pairs[index],
            self.listed.products[index],
            counts.of(given),
            None if top is None else (words[top[0]], words[top[1]]),
            0 if top is None else counts.of(top),
            LikelyCause.DROPPED,
        )
        cause, detail = _Causes(self, found, counts, source).likely()
        return replace(found, cause=cause, detail=detail)

    def _begun(self) -> tuple[TokenAlphabet, Training]:
        """Return the symbols, those with marks in the listed order, and the training before its first merge."""
        has_marks = any(isinstance(piece, tuple) for piece in self.pieces)
        symbols = self.listed.symbols if has_marks else None
        wanted = partial(self.listed.numbered, self.any_tie)
        return begin_training(self.pieces, len(self.listed), self.rules, symbols, wanted)

    @cached_property
    def n_made(self) -> int:
        """The number of listed merges that the trainer makes before the first that it does not."""
        made = self._begun()[1]
        return made.run(len(self.listed))


class _Causes:
    """The likely cause of a wrong merge: the first that explains it, in an order from the surest on."""

    def __init__(self, run: Replay, found: WrongMerge, counts: Counts, source: Source | None) -> None:
        self._run = run
        self._found = found
        self._counts = counts
        self._source = source

    def likely(self) -> tuple[LikelyCause, str]:
        """Return the cause and its detail."""
        found = self._found
        if found.pair is None:
            return LikelyCause.NO_PARTS, ""
        if found.count and found.count == found.best_count:
            # tokenizers limits the length of tokens in another way.
            left_out = {self._run.rules.max_token_length and "huggingface"}
            return LikelyCause.TIE, self._replayed({tie: {"tie": tie} for tie in TIE_RULES if tie not in left_out})
        causes = (self._cut, self._overflown, self._length, self._rare, self._otherwise_counted, self._normalized)
        for cause in causes:
            if (explained := cause()) is not None:
                return explained
        return self._listed()

    def _cut(self) -> tuple[LikelyCause, str] | None:
        product = self._found.product
        text = "".join(product) if isinstance(product, tuple) else product
        data = text.encode() if isinstance(text, str) else text
        if self._found.count or self._source is None or not is_utf8(data):
            return None
        n_pieces = len(self._source.splitter.pieces(data))
        return (LikelyCause.PRETOKENIZER, f"into {n_pieces} pieces") if n_pieces > 1 else None

    def _overflown(self) -> tuple[LikelyCause, str] | None:
        counts, given = self._counts.counts, self._found.count
        for name in _INTEGERS:
            wrapped = counts.astype(name)
            mine = np.array([given]).astype(name).astype(np.int64)
            if not given or (wrapped == counts).all():
                continue
            seen = wrapped.astype(np.int64)
            if mine[0] == seen.max() > 0 or mine.view(np.uint64)[0] == seen.view(np.uint64).max():
                return LikelyCause.OVERFLOW, name
        return None

    def _length(self) -> tuple[LikelyCause, str] | None:
        found, longest = self._found, self._run.rules.max_token_length
        if longest is not None and len(found.product) > longest:
            return LikelyCause.LENGTH, f"{longest}"
        most = max(map(len, self._run.listed.products))
        if found.best is not None and sum(map(len, found.best)) > most:
            return LikelyCause.LENGTH, f"{most}"
        return None

    def _rare(self) -> tuple[LikelyCause, str] | None:
        if 0 < self._found.count < self._run.rules.min_frequency and self._found.count >= self._found.best_count:
            return LikelyCause.FREQUENCY, f"{self._run.rules.min_frequency}"
        return None

    def _otherwise_counted(self) -> tuple[LikelyCause, str] | None:
        said = self._replayed({count: {"count": count} for count in COUNT_RULES})
        return (LikelyCause.COUNT, said) if said else None

    def _replayed(self, changes: Mapping[str, Mapping[str, Any]]) -> str:
        """Return the names of the changed rules under which the merge is right, those that hold longest."""
        made = {
            name: replace(self._run, rules=replace(self._run.rules, **change), any_tie=False).n_made
            for name, change in changes.items()
        }
        most = max(made.values())
        return ", ".join(name for name, n in made.items() if n == most) if most > self._found.index else ""

    def _normalized(self) -> tuple[LikelyCause, str] | None:
        for name, form in _FORMS.items():
            if self._source is None or all(_is_ascii(piece) for piece in self._run.pieces):
                changed: Mapping[Any, int] = _rewritten(self._run.pieces, form)
            else:
                changed = self._source.recounted(form)
            if changed != self._run.pieces and replace(self._run, pieces=changed).n_made > self._found.index:
                return LikelyCause.NORMALIZATION, name
        return None

    def _listed(self) -> tuple[LikelyCause, str]:
        found, listed = self._found, self._run.listed
        if found.best is None:
            return LikelyCause.ABSENT, ""
        if found.best in listed.pairs[found.index :]:
            return LikelyCause.ORDER, f"merge {listed.pairs.index(found.best, found.index)}"
        if not found.count:
            return LikelyCause.ABSENT, ""
        known = listed.vocabulary
        rare = next((symbol for word in found.best for symbol in word if known and symbol not in known), None)
        if rare is not None:
            return LikelyCause.ALPHABET, repr(rare)
        return LikelyCause.DROPPED, ""


def _is_ascii(piece: Any) -> bool:
    return bool("".join(piece).isascii() if isinstance(piece, tuple) else piece.isascii())


def _rewritten(pieces: Mapping[Any, int], form: Callable[[str], str]) -> dict[Any, int]:
    """Return pieces in a form; pieces of symbols, and those that are not UTF-8, stay as they are."""
    found: dict[Any, int] = {}
    for piece, count in pieces.items():
        new = piece
        if isinstance(piece, str):
            new = form(piece)
        elif isinstance(piece, bytes) and is_utf8(piece):
            new = form(piece.decode()).encode()
        if new:
            found[new] = found.get(new, 0) + count
    return found
