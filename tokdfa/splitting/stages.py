"""A step of a splitting within a hypothesis: the scan that must match, the scans that must not, and the context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from tokdfa.arrays import Int64Array
from tokdfa.patterns.budget import Budget
from tokdfa.splitting.scan import Scan
from tokdfa.splitting.step_trees import step_tree
from tokdfa.splitting.steps import Behavior, Split, Splitting

__all__ = ["GAP", "OFF", "Stage", "Step"]

GAP: Final = 0
"""The current scan of a step between matches."""
OFF: Final = -1
"""The current scan of a step in text that an earlier step left out."""


class Stage(NamedTuple):
    """A step of a hypothesis.

    Parameters
    ----------
    scan : int
        The scan that must match, or GAP or OFF.
    fruitless : frozenset of int
        The scans that must find nothing.
    context : int
        The context of the place, as of :class:`tokdfa.splitting.contexts.Contexts`.
    is_start : bool
        Whether the library starts a search at this place, between matches; False where the pattern does not ask.
    """

    scan: int
    fruitless: frozenset[int] = frozenset()
    context: int = 0
    is_start: bool = False


class _Found(NamedTuple):
    """What a search finds at a place, as supposed: a scan that must match, or GAP.

    `cuts` says that an empty match ended the text before the place.
    """

    scan: int
    fruitless: frozenset[int]
    is_start: bool = False
    cuts: bool = False


class Step:
    """A step: its scan, and the effect of its behavior on matches and on the text between them.

    Parameters
    ----------
    step : Split
    splitting : Splitting
        The splitting that it belongs to.
    budget : Budget

    Attributes
    ----------
    partition : Partition
        The classes of symbols.
    same : int array, one entry per class
        The first class that the step does not distinguish from it.
    n_contexts : int
        The number of contexts.

    Notes
    -----
    Oniguruma's iteration over matches is that of tokenizers: a search starts where the last match ended. If it finds
    the empty text right there, it starts anew one symbol later.
    """

    def __init__(self, step: Split, splitting: Splitting, budget: Budget) -> None:
        scan = Scan(step_tree(step, splitting, budget), budget)
        self.partition = scan.partition
        self._starts = scan.starts
        self._asks_start = scan.starts[0] != scan.starts[1]
        self._target: list[list[int]] = scan.target.tolist()
        self._matched: list[list[bool]] = scan.matched.tolist()
        self._letter = scan.letter
        self._contexts = scan.contexts
        self.n_contexts = len(scan.contexts.truths)
        # Letters with the same targets and matches are one.
        columns = np.concatenate((scan.target, scan.matched)).T
        letter = np.unique(columns, axis=0, return_inverse=True)[1].reshape(-1).tolist()
        first: dict[object, int] = {}
        self.same: Int64Array = np.array(
            [
                first.setdefault(
                    tuple(
                        (letter[row[symbol]], moves[symbol])
                        for row, moves in zip(scan.letter, scan.contexts.moves, strict=True)
                    ),
                    symbol,
                )
                for symbol in range(scan.partition.n_classes)
            ],
            dtype=np.int64,
        )
        self.behavior: Behavior = step.behavior
        self.invert = step.invert
        if splitting.library == "tiktoken":
            self.behavior, self.invert = "removed", True

    def drops(self, matches: bool) -> bool:
        """Return whether the step leaves out matches, or what is between them."""
        return self.behavior == "removed" and matches != self.invert

    def joins(self, before: bool, behind: bool) -> bool:
        """Return whether two neighbours, each a match or not, become one piece."""
        before, behind = before != self.invert, behind != self.invert
        if self.behavior == "contiguous":
            return before == behind
        if self.behavior == "merged_with_previous":
            return behind and not before
        return self.behavior == "merged_with_next" and before and not behind

    def ends(self, stage: Stage) -> bool:
        """Return whether the end of the text confirms the stage."""
        if not self._contexts.final[stage.context]:
            return False
        end = self._letter[stage.context][-1]
        if any(self._matched[scan][end] for scan in stage.fruitless):
            return False
        return stage.scan <= GAP or self._matched[stage.scan][end]

    def begin(self, symbol: int) -> Iterator[Stage]:
        """Yield the stages after the first symbol of a text."""
        for context in self._contexts.initial:
            letter = self._letter[context][symbol]
            for found in self._search(letter, frozenset(), is_start=True, after_match=False):
                yield from self._arrive(found, context, symbol)

    def advance(self, stage: Stage, symbol: int) -> Iterator[tuple[Stage, bool, bool]]:
        """Yield the stages after a symbol.

        With each go whether the symbol begins a match or the text between two matches, and whether an empty match came
        before it.
        """
        letter = self._letter[stage.context][symbol]
        if any(self._matched[scan][letter] for scan in stage.fruitless):
            return
        fruitless = frozenset(self._target[scan][letter] for scan in stage.fruitless) - {0}
        if stage.scan == GAP:
            for found in self._search(letter, fruitless, is_start=stage.is_start, after_match=False):
                for new in self._arrive(found, stage.context, symbol):
                    yield new, found.scan != GAP or found.cuts, found.cuts
            return
        scan = self._target[stage.scan][letter]
        if scan:
            for new in self._arrive(_Found(scan, fruitless), stage.context, symbol):
                yield new, False, False
        if self._matched[stage.scan][letter]:
            fruitless = fruitless | {scan} if scan else fruitless
            for found in self._search(letter, fruitless, is_start=True, after_match=True):
                for new in self._arrive(found, stage.context, symbol):
                    yield new, True, found.cuts

    def _arrive(self, found: _Found, context: int, symbol: int) -> Iterator[Stage]:
        """Yield the stages after a symbol, one for each context that may follow."""
        is_start = found.is_start and self._asks_start
        for after in self._contexts.moves[context][symbol]:
            yield Stage(found.scan, found.fruitless, after, is_start)

    def _search(self, letter: int, fruitless: frozenset[int], *, is_start: bool, after_match: bool) -> Iterator[_Found]:
        """Yield what a search at a place may find, if it started there or not, and right after a match or not."""
        start = self._starts[is_start]
        scan = self._target[start][letter]
        if scan:
            yield _Found(scan, fruitless)
            fruitless = fruitless | {scan}
        if not self._matched[start][letter]:
            yield _Found(GAP, fruitless)
        elif after_match:
            yield _Found(GAP, fruitless, is_start=True)
        else:
            # The next search starts here.
            again = self._starts[True]
            if again == start:
                yield _Found(GAP, fruitless, is_start=True, cuts=True)
                return
            for found in self._search(letter, fruitless, is_start=True, after_match=True):
                yield found._replace(cuts=True)
