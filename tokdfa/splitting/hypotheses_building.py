"""Building the hypotheses of a splitting: those of its steps side by side, as far as a text can lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from tokdfa.automata.exploration import Numbering, reached
from tokdfa.errors import PatternError
from tokdfa.kernels.encode.events import BEGINS, CONTINUES, DROPPED
from tokdfa.patterns.budget import Budget
from tokdfa.patterns.partition import Partition
from tokdfa.splitting.counters import naming_counters
from tokdfa.splitting.hypotheses import Hypotheses
from tokdfa.splitting.stages import GAP, OFF, Stage, Step
from tokdfa.splitting.steps import Splitting
from tokdfa.unicode import SURROGATES, Ranges

__all__ = ["build_hypotheses"]

# None is the hypothesis before the first symbol.
Hypothesis: TypeAlias = tuple[Stage, ...] | None


def build_hypotheses(splitting: Splitting, budget: Budget) -> Hypotheses:
    """Return the automaton of the hypotheses of a splitting; see :func:`tokdfa.splitting.hypotheses.find_hypotheses`.

    Raises
    ------
    PatternError
        If a pattern cannot be read, or needs something automata cannot express.
    LimitExceededError
        If the budget does not suffice.
    """
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
        (before, behind), dense = SURROGATES[0], partition.dense.copy()
        dense[before : behind + 1] = dense[0]
        first = np.append(partition.bounds, behind + 1)
        first = np.sort(first[(first < before) | (first > behind)])
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
        # Symbols and hypotheses that differ elsewhere share what happens in one step.
        self._through: dict[tuple[int, Stage | None, int, int], tuple[tuple[Stage, int], ...]] = {}

    def run(self) -> Hypotheses:
        """Return the automaton, without hypotheses that no text confirms."""
        hypotheses, edges = self.explore()
        ends = [self.ends(hypothesis) for hypothesis in hypotheses]
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
        found = Hypotheses(self.class_of_code_point, moves, tuple(ends[old] for old in renumbered))
        return self.merged(found) if any(step.n_contexts > 1 for step in self.steps) else found

    def merged(self, found: Hypotheses) -> Hypotheses:
        """Return the automaton with hypotheses merged that no text distinguishes, as contexts make many of them.

        No text leads to two of them, because then it would have two splits.
        """
        block = [int(ends) for ends in found.ends]
        while True:
            numbers: dict[object, int] = {}
            finer = []
            for own, row in zip(block, found.moves, strict=True):
                behind = tuple(frozenset((block[target], event) for target, event in cell) for cell in row)
                finer.append(numbers.setdefault((own, behind), len(numbers)))
            self.budget.spend(len(finer) * len(self.symbols))
            if len(numbers) == len(set(block)):
                break
            block = finer
        # The first hypothesis remains the first one.
        first = {number: place for place, number in reversed([*enumerate(finer)])}
        moves = tuple(
            tuple(tuple(dict.fromkeys((finer[target], event) for target, event in cell)) for cell in found.moves[old])
            for old in (first[number] for number in range(len(first)))
        )
        ends = tuple(found.ends[first[number]] for number in range(len(first)))
        return Hypotheses(found.class_of_code_point, moves, ends)

    def successors(self, hypothesis: Hypothesis, symbol: tuple[int, ...]) -> list[tuple[tuple[Stage, ...], int]]:
        """Return the hypotheses after a symbol, and the effect that each supposes the symbol to have."""
        # The effect of the symbol on the text of a step is its effect in the step before.
        partial: list[tuple[tuple[Stage, ...], int]] = [((), BEGINS if hypothesis is None else CONTINUES)]
        for level, of_step in enumerate(symbol):
            if len(partial) > 1:
                self.budget.check_states(len(partial))
            old = None if hypothesis is None else hypothesis[level]
            partial = [
                ((*stages, stage), event)
                for stages, outer in partial
                for stage, event in self.through(level, old, outer, of_step)
            ]
        return partial

    def through(self, level: int, old: Stage | None, outer: int, symbol: int) -> tuple[tuple[Stage, int], ...]:
        """Return the stages of a step after a symbol, and its effect, given its effect on the step's text."""
        key = level, old, outer, symbol
        found = self._through.get(key)
        if found is None:
            found = self._through[key] = tuple(self._pass(self.steps[level], old, outer, symbol))
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

    def explore(self) -> tuple[list[Hypothesis], list[list[list[tuple[int, int]]]]]:
        """Return all hypotheses and, for each of them and each class, the numbers of the successors with events."""

        def check(_: int) -> None:
            self.budget.spend(sum(2 + len(stage.fruitless) for stage in numbers.states[-1] or ()))

        numbers: Numbering[Hypothesis] = Numbering(None, check)
        edges: list[list[list[tuple[int, int]]]] = []
        for hypothesis in numbers.states:  # grows during the loop
            row = [
                [(numbers[target], event) for target, event in self.successors(hypothesis, symbol)]
                for symbol in self.symbols
            ]
            edges.append(row)
            self.budget.spend(sum(map(len, row)) + len(row))
            self.budget.check_states(len(numbers))
        return numbers.states, edges

    def ends(self, hypothesis: Hypothesis) -> bool:
        """Return whether the end of the text confirms a hypothesis."""
        return hypothesis is None or all(
            stage.scan == OFF or step.ends(stage) for step, stage in zip(self.steps, hypothesis, strict=True)
        )


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
