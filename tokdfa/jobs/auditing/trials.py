"""Texts on which a scheme is tried where there is no proof, and counterexamples made smaller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby, pairwise, product, takewhile
from typing import Final, NamedTuple

from tokdfa.base.budget import Budget
from tokdfa.base.errors import AlphabetError
from tokdfa.jobs.auditing.schemes import BackOff, Cuts, Scheme
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Texts", "differs", "made_smaller", "tried"]


class Texts(NamedTuple):
    """An old text and the new text that is added to it."""

    old: str
    new: str

    @property
    def order(self) -> tuple[int, int, bytes]:
        """Bytes of both, bytes of the old text, and the text: the first in this order is the shortest."""
        text = (self.old + self.new).encode()
        return len(text), len(self.old.encode()), text


def differs(tokenizer: AnyTokenizer, scheme: Scheme, texts: Texts) -> bool:
    """Return whether a scheme has other ids for two texts than the tokenizer; not for texts that it refuses.

    If nothing is added, nothing is encoded.
    """
    try:
        return bool(texts.new) and scheme.ids(tokenizer, *texts) != tokenizer.encode(texts.old + texts.new).tolist()
    except AlphabetError:
        return False


def tried(tokenizer: AnyTokenizer, scheme: Scheme, budget: Budget, *, at_once: bool = False) -> Texts | None:
    """Return the shortest texts among those that are tried for which a scheme is wrong; None if it is right for all.

    `at_once` are tried, before a proof, the texts with which most cuts show that they are wrong.
    """
    if isinstance(scheme, Cuts):
        texts = _short(tokenizer, scheme, range(1, 3) if at_once else range(3, _MOST_PARTS + 1))
    else:
        texts = iter(()) if at_once else _long(tokenizer, scheme, budget)
    within = takewhile(lambda _: budget.seconds_left, texts)
    return next((pair for pair in within if differs(tokenizer, scheme, pair)), None)


_SYMBOLS: Final = ("a", "s", "A", "0", "1", " ", "\n", "\t", ".", "!", "'", "-", "é", "中", "\u0301", "\u0660")
_WORDS: Final = (" the", "ing", "don't", "  x")
_MOST_TEXTS: Final = 4
_MOST_PARTS: Final = 4


def _short(tokenizer: AnyTokenizer, scheme: Cuts, sizes: range) -> Iterator[Texts]:
    """Yield texts of a few symbols, words, added tokens and texts of the scheme, cut everywhere: the shortest first."""
    special = [*_added(tokenizer), *sorted(scheme.texts or (), key=len)[:_MOST_TEXTS]]
    parts = [*dict.fromkeys(part for part in (*_SYMBOLS, *_WORDS, *special) if part)]
    for n in sizes:
        every = (
            Texts("".join(some[:cut]), "".join(some[cut:])) for some in product(parts, repeat=n) for cut in range(n)
        )
        yield from every if n == _MOST_PARTS else sorted(every, key=lambda pair: pair.order)


def _added(tokenizer: AnyTokenizer) -> list[str]:
    """Return the texts of a few added tokens, the shortest first."""
    return sorted({special.text for special in tokenizer.found_specials if special.text}, key=len)[:_MOST_TEXTS]


# Long runs of one symbol, with something before and after

_UNITS: Final = (*_SYMBOLS, "あ", "_", "=", "*", "#", "\u0316", "ab", "\n ", " \n", "\r\n")
_BEFORE: Final = ("", "a", "e", "1", " ", "\n")
_AFTER: Final = ("x", " ", " x", "\n", "\nx", "1", "12", "s", "Aa", "\u0301", ".", "'s")
_LEAST_RUN: Final = 4
_MOST_RUNS: Final = 12
_PER_ID: Final = 64  # So many symbols an id, at most, are told apart from fewer in long runs.


def _long(tokenizer: AnyTokenizer, scheme: BackOff, budget: Budget) -> Iterator[Texts]:
    """Yield parts of added tokens, then long runs: for each unit, the one with the fewest bytes first, the shortest.

    A few runs of all units come first, because most tokenizers are wrong for some of these.
    """
    for text in _added(tokenizer):
        yield from (Texts(before + text[:cut], text[cut:]) for cut in range(1, len(text)) for before in _BEFORE)
    every = takewhile(lambda _: budget.seconds_left, (*_UNITS, *_repeated(tokenizer)))
    per_id = {unit: _units_per_id(tokenizer, unit, scheme.back) for unit in every}
    units = sorted(filter(per_id.get, per_id), key=lambda unit: per_id[unit] * len(unit.encode()))
    for befores, near in ((_BEFORE[:2], range(2)), (_BEFORE, range(-2, 10))):
        for unit in units:
            least, more = int(per_id[unit] * scheme.back), max(1, int(per_id[unit]))
            lengths = {max(1, least + n) for n in (*near, more, 2 * more)}
            for old in sorted((before + unit * length for before, length in product(befores, lengths)), key=len):
                if not budget.seconds_left:
                    return
                with suppress(AlphabetError):
                    yield from _resumed_wrongly(tokenizer, scheme, old, (*_AFTER, unit))


def _resumed_wrongly(tokenizer: AnyTokenizer, scheme: BackOff, old: str, news: Iterable[str]) -> Iterator[Texts]:
    """Yield an old text with the new texts for which it is resumed, and the ids are wrong."""
    resumed = scheme.resumed(tokenizer, old)
    for new in news:
        if resumed is None:
            return
        with suppress(AlphabetError):
            found = scheme.continued(tokenizer, resumed, new)
            if found is not None and found != tokenizer.encode(old + new).tolist():
                yield Texts(old, new)


def _units_per_id(tokenizer: AnyTokenizer, unit: str, back: int) -> float:
    """Return how many units of a long run are one id; 0 if the tokenizer refuses the unit."""
    length = _PER_ID * back
    try:
        return length / max(1, len(tokenizer.encode(unit * length)))
    except AlphabetError:
        return 0


def _repeated(tokenizer: AnyTokenizer) -> list[str]:
    """Return the symbols with the longest tokens that only repeat them."""
    longest: Counter[str] = Counter()
    text, offsets = tokenizer.id_spellings
    data, bounds = text.tobytes(), offsets.tolist()
    for start, stop in pairwise(bounds):
        spelled = data[start:stop].decode("utf-8", "ignore")
        if len(spelled) >= _LEAST_RUN and spelled == spelled[0] * len(spelled):
            longest[spelled[0]] = max(longest[spelled[0]], len(spelled))
    return [symbol for symbol, _ in longest.most_common(_MOST_RUNS)]


# Smaller counterexamples


def made_smaller(tokenizer: AnyTokenizer, scheme: Scheme, texts: Texts, budget: Budget) -> Texts:
    """Return a counterexample from which no symbols, the same ones side by side, can be left out, within the budget."""
    again = True
    while again:
        again = False
        for smaller in _with_less(texts):
            if not budget.seconds_left:
                return texts
            if differs(tokenizer, scheme, smaller):
                texts, again = smaller, True
                break
    return texts


def _with_less(texts: Texts) -> Iterator[Texts]:
    """Yield the texts without part of a run of one symbol: all of it, half, a quarter, down to one symbol."""
    for side in range(2):
        at = 0
        for symbol, same in groupby(texts[side]):
            length = left_out = sum(1 for _ in same)
            while left_out:
                smaller = texts[side][:at] + symbol * (length - left_out) + texts[side][at + length :]
                yield texts._replace(**{Texts._fields[side]: smaller})
                left_out //= 2
            at += length
