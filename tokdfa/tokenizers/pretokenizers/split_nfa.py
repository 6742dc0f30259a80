"""Splitting as a finite machine: guess where pieces begin, and verify the guesses.

Whether a piece begins at some offset may depend on text far to its right, so the machine guesses. GPT-2's pattern
splits "a  b" into "a", " ", " b", but "a  " into "a", "  ": whether a piece begins at the second space depends on the
symbol after it. After that space, some hypotheses suppose that a piece has begun there, and others that none has. A
*hypothesis* has, for each step of the splitting, a scan of the supposed current piece, and scans that are supposed to
find nothing. Either a piece ended where such a scan had a match, and the alternatives preferred to that match must
fail; or nothing begins where such a scan was started. A hypothesis with a wrong guess ends, and one that nothing can
confirm is not pursued. For every text exactly one hypothesis is confirmed in the end, so the automaton of hypotheses is
unambiguous.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from tokdfa.automata.protocol import Numbering, reached
from tokdfa.base.arrays import Int64Array
from tokdfa.base.budget import Budget
from tokdfa.base.errors import PatternError
from tokdfa.kernels.encode.events import BEGINS, CONTINUES, DROPPED
from tokdfa.regex.class_dfa import Partition
from tokdfa.regex.scan import Scan
from tokdfa.regex.unicode import SURROGATES, Ranges
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA
from tokdfa.tokenizers.pretokenizers.step_trees import naming_counters, step_tree
from tokdfa.tokenizers.pretokenizers.steps import Behavior, Split, Splitting

GAP: Final = 0
"""The current scan of a step between matches."""
OFF: Final = -1
"""The current scan of a step in text that an earlier step left out."""


class Stage(NamedTuple):
    """A step of a hypothesis: the `scan` that must match, or GAP or OFF; and `fruitless` ones, which must find nothing.

    `context` is the context of the offset, see :class:`tokdfa.regex.contexts.Contexts`. `is_start`
    says whether the library starts a search at this offset, between matches; False where the pattern does not ask.
    """

    scan: int
    fruitless: frozenset[int] = frozenset()
    context: int = 0
    is_start: bool = False


class _Found(NamedTuple):
    """The supposed result of a search at an offset: a scan that must match, or GAP.

    `cuts` says that an empty match ended the text before the offset.
    """

    scan: int
    fruitless: frozenset[int]
    is_start: bool = False
    cuts: bool = False


class Step:
    """A step: its scan, and the effect of its behavior on matches and on the text between them.

    `partition` has the classes of symbols, `same` for each the first class that the step does not distinguish from it.

    Matches are iterated over as in tokenizers, with Oniguruma: a search starts where the last match ended. If it finds
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
        """Return whether the step leaves out matches, or the text between them."""
        return self.behavior == "removed" and matches != self.invert

    def joins(self, before: bool, after: bool) -> bool:
        """Return whether two neighbours, each a match or not, become one piece."""
        before, after = before != self.invert, after != self.invert
        if self.behavior == "contiguous":
            return before == after
        if self.behavior == "merged_with_previous":
            return after and not before
        return self.behavior == "merged_with_next" and before and not after

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

        With each, yield whether the symbol begins a match or the text between two matches, and whether an empty match
        came before it.
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
        """Yield the possible finds of a search at an offset, if it started there or not, right after a match or not."""
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


# The numbers of the stages of a hypothesis; None is the one before the first symbol.
SplitState: TypeAlias = tuple[int, ...] | None

# The symbols by their classes in the first step, below that in the second one, and so on; at the end their index.
SymbolTree: TypeAlias = "dict[int, SymbolTree | int]"

# The hypotheses after a symbol, and the effect that each supposes the symbol to have.
Successors: TypeAlias = list[tuple[tuple[int, ...], int]]


def build_split_nfa(splitting: Splitting, budget: Budget) -> SplitNFA:
    """Return the NFA of a splitting; see :func:`.finding.find_split_nfa`."""
    if splitting.prefix_space or splitting.metaspace_at:
        raise PatternError("spaces inserted by a later step cannot be expressed by an automaton", value=splitting)
    if splitting.byte_steps:
        raise PatternError("steps that split bytes cannot be expressed by an automaton over symbols", value=splitting)
    with naming_counters(splitting):
        steps = [Step(step, splitting, budget) for step in splitting.steps]
        return _Construction(steps, budget).run()


class _Construction:
    def __init__(self, steps: list[Step], budget: Budget) -> None:
        self.steps = steps
        self.budget = budget
        partition = _common_partition([step.partition for step in steps], budget)
        # Surrogates do not occur in UTF-8; they get the class of some other code point.
        (low, high), dense = SURROGATES[0], partition.dense.copy()
        dense[low : high + 1] = dense[0]
        first = np.append(partition.bounds, high + 1)
        first = np.sort(first[(first < low) | (first > high)])
        used, at = np.unique(dense[first], return_index=True)
        examples = first[at]
        # One code point of each class determines the classes of each step.
        of_steps = [step.same[step.partition.classes(examples)].tolist() for step in steps]
        numbers: dict[tuple[int, ...], int] = {}
        of_used = [numbers.setdefault(symbol, len(numbers)) for symbol in zip(*of_steps, strict=True)]
        number = np.zeros(partition.n_classes, dtype=np.uint16)
        number[used] = of_used or 0
        self.class_of_code_point = number[dense]
        self.symbols: list[tuple[int, ...]] = list(numbers) or [()]
        # Symbols and hypotheses that differ elsewhere share the moves of one step.
        self._through: dict[tuple[int, int | None, int, int], tuple[tuple[int, int], ...]] = {}
        self._stages: Numbering[Stage] = Numbering(Stage(OFF))
        self._symbol_tree: SymbolTree = {}
        for index, symbol in enumerate(self.symbols):
            node = self._symbol_tree
            for of_step in symbol[:-1]:
                node = node.setdefault(of_step, {})  # type: ignore[assignment]
            if symbol:
                node[symbol[-1]] = index

    def run(self) -> SplitNFA:
        """Return the automaton, without hypotheses that no text confirms."""
        states, edges = self.explore()
        ends = [self.ends(hypothesis) for hypothesis in states]
        arrows = [(old, target) for old, row in enumerate(edges) for targets in row for target, _ in targets]
        sources, targets_of = np.array(arrows, dtype=np.int32).reshape(-1, 2).T.copy()
        worth = reached(targets_of, sources, ends).tolist()
        renumbered = {old: new for new, old in enumerate(old for old, is_worth in enumerate(worth) if is_worth)}
        moves = tuple(
            tuple(
                tuple((renumbered[target], event) for target, event in targets if worth[target])
                for targets in edges[old]
            )
            for old in renumbered
        )
        found = SplitNFA(self.class_of_code_point, moves, tuple(ends[old] for old in renumbered))
        return self.merged(found) if any(step.n_contexts > 1 for step in self.steps) else found

    def merged(self, found: SplitNFA) -> SplitNFA:
        """Return the automaton with hypotheses merged that no text distinguishes, as contexts make many of them.

        No text leads to two of them, because then it would have two splits.
        """
        block = [int(ends) for ends in found.ends]
        while True:
            numbers: dict[object, int] = {}
            finer = []
            for own, row in zip(block, found.moves, strict=True):
                after = tuple(frozenset((block[target], event) for target, event in cell) for cell in row)
                finer.append(numbers.setdefault((own, after), len(numbers)))
            self.budget.spend(len(finer) * len(self.symbols))
            if len(numbers) == len(set(block)):
                break
            block = finer
        # The first hypothesis remains the first one.
        first = {number: at for at, number in reversed([*enumerate(finer)])}
        moves = tuple(
            tuple(tuple(dict.fromkeys((finer[target], event) for target, event in cell)) for cell in found.moves[old])
            for old in (first[number] for number in range(len(first)))
        )
        ends = tuple(found.ends[first[number]] for number in range(len(first)))
        return SplitNFA(found.class_of_code_point, moves, ends)

    def successors(self, hypothesis: SplitState) -> list[Successors]:
        """Return the hypotheses after each symbol, with effects; symbols alike in the first steps share the way there.

        The effect of a symbol on the text of a step is its effect in the step before.
        """
        first: Successors = [((), BEGINS if hypothesis is None else CONTINUES)]
        if not self.steps:
            return [first]
        found: list[Successors] = [[] for _ in self.symbols]
        stack: list[tuple[int, SymbolTree, Successors]] = [(0, self._symbol_tree, first)]
        while stack:
            level, node, partial = stack.pop()
            if len(partial) > 1:
                self.budget.check_states(len(partial))
            old = None if hypothesis is None else hypothesis[level]
            for of_step, below in node.items():
                after = [
                    ((*stages, stage), event)
                    for stages, outer in partial
                    for stage, event in self.through(level, old, outer, of_step)
                ]
                if isinstance(below, int):
                    found[below] = after
                elif after:
                    stack.append((level + 1, below, after))
        return found

    def through(self, level: int, old: int | None, outer: int, symbol: int) -> tuple[tuple[int, int], ...]:
        """Return the stages of a step after a symbol, as numbers, and its effect, given that on the step's text."""
        key = level, old, outer, symbol
        found = self._through.get(key)
        if found is None:
            stage = None if old is None else self._stages.states[old]
            passed = self._pass(self.steps[level], stage, outer, symbol)
            found = self._through[key] = tuple((self._stages[after], event) for after, event in passed)
            self.budget.spend(1 + len(found))
        return found

    def _pass(self, step: Step, old: Stage | None, outer: int, symbol: int) -> Iterator[tuple[Stage, int]]:
        if outer == CONTINUES:
            assert old is not None
            if old.scan == OFF:
                yield old, CONTINUES
                return
            for stage, begins, cuts in step.advance(old, symbol):
                joined = not begins or (not cuts and step.joins(old.scan != GAP, stage.scan != GAP))
                yield stage, CONTINUES if joined else DROPPED if step.drops(stage.scan != GAP) else BEGINS
        elif old is None or old.scan == OFF or step.ends(old):
            if outer == DROPPED:
                yield Stage(OFF), DROPPED
                return
            for stage in step.begin(symbol):
                yield stage, DROPPED if step.drops(stage.scan != GAP) else BEGINS

    def explore(self) -> tuple[list[SplitState], list[list[list[tuple[int, int]]]]]:
        """Return all hypotheses and, for each of them and each class, the numbers of the successors with events."""

        def check(_: int) -> None:
            self.budget.spend(sum(2 + len(stages[number].fruitless) for number in numbers.states[-1] or ()))

        stages = self._stages.states
        numbers: Numbering[SplitState] = Numbering(None, check)
        edges: list[list[list[tuple[int, int]]]] = []
        for hypothesis in numbers.states:  # grows during the loop
            row = [[(numbers[target], event) for target, event in after] for after in self.successors(hypothesis)]
            edges.append(row)
            self.budget.spend(sum(map(len, row)) + len(row))
            self.budget.check_states(len(numbers))
        return numbers.states, edges

    def ends(self, hypothesis: SplitState) -> bool:
        """Return whether the end of the text confirms a hypothesis."""
        if hypothesis is None:
            return True
        stages = (self._stages.states[number] for number in hypothesis)
        return all(stage.scan == OFF or step.ends(stage) for step, stage in zip(self.steps, stages, strict=True))


def _common_partition(partitions: list[Partition], budget: Budget) -> Partition:
    """Return the coarsest partition that refines all of them."""
    if len(partitions) == 1:
        return partitions[0]
    sets: list[Ranges] = []
    for partition in partitions:
        bounds = [*partition.bounds.tolist(), 0x110000]
        ranges: list[list[tuple[int, int]]] = [[] for _ in range(partition.n_classes)]
        for interval, number in enumerate(partition.class_of_interval.tolist()):
            ranges[number].append((bounds[interval], bounds[interval + 1] - 1))
        sets.extend(map(tuple, ranges))
    return Partition(sets, budget)
