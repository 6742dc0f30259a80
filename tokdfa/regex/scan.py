"""The leftmost-first scan of a split pattern: one automaton that reads a piece and shows where it may end.

For the pattern ``ab|a``, with the letters 0 for other symbols, 1 for a, 2 for b and 3 for the end of the text, state 1
begins, 1 leads to 2, and 2 leads from there to 3. "ac" reads 1, 0: the states are 1, 2, 0. State 2 reports a match
before c, and 0 is the sink, so the piece is "a". "ab" goes from 2 to 3: the match at 2 is reported first, the one at 3
last, and the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.budget import Budget
from tokdfa.kernels.dfa.explicit import coarsest_partition
from tokdfa.regex.class_dfa import Partition
from tokdfa.regex.contexts import Contexts, predicate_sets
from tokdfa.regex.predicates import Predicates
from tokdfa.regex.program import (
    Accept,
    BeginSearch,
    Look,
    Program,
    Read,
    Test,
    after_forks,
    compile_program,
    in_order,
)
from tokdfa.regex.syntax import Node


class Scan:
    """The search for a match that begins at a given offset, as a deterministic automaton.

    State 0 is the sink: nothing can be found any more. The match that a backtracking engine finds is the last one
    reported before the sink, because after each match only the alternatives preferred to it continue.

    The automaton reads letters. A letter is a symbol, or the end of the text, together with the truth of the pattern's
    assertions at the offset before the symbol: ``letter[c][a]`` is the letter of a symbol of class a of the `partition`
    in context c; the letter of the end of the text comes last. The `contexts` tell the assertions about the text around
    an offset.

    `starts` are the states before the first symbol, where the search did not begin here and where it did. `target` and
    `matched`, of shape (states, letters), are the state after a letter, and whether there is a match before its symbol.
    """

    def __init__(self, tree: Node, budget: Budget) -> None:
        predicates = Predicates()
        program = compile_program(tree, budget=budget, predicates=predicates)
        # The test of an assertion on the symbol before an offset is a predicate, too.
        looks = [(look.before, look.before_edge) for look in program.assertions]
        before = [predicates.neighbour(*look, behind=True) if any(look) else None for look in looks]
        tests = sorted({each.predicate for each in program.instructions if isinstance(each, Test)})
        asked = sorted({*tests, *(number for number in before if number is not None)})
        sets = program.sets
        behind = [look.behind for look in program.assertions]
        self.partition: Partition = Partition([*sets, *behind, *predicate_sets(predicates.found)], budget)
        column = len(sets) + len(behind)
        self.contexts = Contexts(predicates.found, asked, self.partition, column, budget)
        members = self.partition.members.tolist()
        end = self.partition.n_classes
        index = {number: at for at, number in enumerate(asked)}
        letters: dict[tuple[int, tuple[bool, ...]], int] = {}
        self.letter: list[list[int]] = []
        for truth in self.contexts.truths:
            truth_before = [False if number is None else truth[index[number]] for number in before]
            tested = [truth[index[number]] for number in tests]
            budget.spend(end + 1)
            row = []
            for symbol in range(end + 1):
                holds = [
                    (was, look.behind_edge if symbol == end else members[symbol][len(sets) + at]) in look.when
                    for at, (was, look) in enumerate(zip(truth_before, program.assertions, strict=True))
                ]
                row.append(letters.setdefault((symbol, (*holds, *tested)), len(letters)))
            self.letter.append(row)
        threads = _Threads(program, tests, members, end, list(letters), budget)
        target, matched = threads.run()
        # A state with no further transition and no match is as good as the sink.
        alive: BoolArray = np.any(target, axis=1) | np.any(matched, axis=1)
        target = np.where(alive[target], target, 0)
        block = _indistinguishable(target, matched)
        self.starts = (int(block[threads.starts[0]]), int(block[threads.starts[1]]))
        first = np.unique(block, return_index=True)[1]
        self.target: Int32Array = block[target[first]]
        self.matched: BoolArray = matched[first]


class _Threads:
    """The subset construction: a state is a list of threads in order of preference, cut off after a match.

    A thread is the number of an instruction that reads, asks or accepts. A state also has whether nothing has been read
    since the search began here.
    """

    def __init__(
        self,
        program: Program,
        tests: list[int],
        members: list[list[bool]],
        end: int,
        letters: list[tuple[int, tuple[bool, ...]]],
        budget: Budget,
    ) -> None:
        self._instructions = program.instructions
        self._members = members
        self._end = end
        self._letters = letters
        self._budget = budget
        self._truth_of_test = {number: len(program.assertions) + at for at, number in enumerate(tests)}
        self._closures: dict[int, tuple[int, ...]] = {}
        self._states: list[tuple[tuple[int, ...], bool]] = []
        self._numbers: dict[tuple[tuple[int, ...], bool], int] = {}
        self._number(((), False))
        start = self._cut([program.start])
        self.starts = (self._number((start, False)), self._number((start, True)))

    def run(self) -> tuple[Int32Array, BoolArray]:
        """Return the targets and the matches of all states and letters."""
        targets: list[list[int]] = []
        matches: list[list[bool]] = []
        for threads, begins in self._states:  # grows during the loop
            # Letters that the same instructions read lead to the same state.
            known: dict[tuple[tuple[int, ...], bool], int] = {}
            row, row_matched = [], []
            for symbol, truth in self._letters:
                reading, matched = self._resolve(threads, begins, symbol, truth)
                if (reading, False) not in known:
                    known[reading, False] = self._number((self._cut(reading), False))
                row.append(known[reading, False])
                row_matched.append(matched)
            targets.append(row)
            matches.append(row_matched)
            self._budget.spend(len(row))
            self._budget.check_states(len(self._states))
        return np.array(targets, dtype=np.int32), np.array(matches, dtype=np.bool_)

    def _number(self, state: tuple[tuple[int, ...], bool]) -> int:
        threads, begins = state
        if begins and not any(isinstance(self._instructions[at], BeginSearch) for at in self._reachable(threads)):
            state = threads, False
        if state not in self._numbers:
            self._numbers[state] = len(self._states)
            self._states.append(state)
            self._budget.spend(len(threads) + 1)
        return self._numbers[state]

    def _reachable(self, threads: tuple[int, ...]) -> list[int]:
        """Return the instructions that threads come to without reading."""
        found = list(dict.fromkeys(threads))
        seen = set(found)
        for number in found:  # grows during the loop
            instruction = self._instructions[number]
            if isinstance(instruction, (Look, Test, BeginSearch)):
                new = [at for at in self._closure(instruction.following) if at not in seen]
                seen.update(new)
                found += new
        return found

    def _closure(self, start: int) -> tuple[int, ...]:
        """Return the instructions to execute next, in order, up to those that read, ask or accept."""
        if start not in self._closures:
            found: list[int] = []
            for number in after_forks(self._instructions, start):
                found.append(number)
                if isinstance(self._instructions[number], Accept):
                    break  # nothing less preferred is found any more
            self._closures[start] = tuple(found)
            self._budget.spend(len(found))
        return self._closures[start]

    def _cut(self, starts: Iterable[int]) -> tuple[int, ...]:
        """Return the threads that begin at instructions, in order of preference, up to one that accepts."""
        threads: dict[int, None] = {}
        for start in starts:
            for number in self._closure(start):
                threads.setdefault(number)
            if 0 in threads:
                break
        return tuple(threads)

    def _resolve(
        self, threads: tuple[int, ...], begins: bool, symbol: int, truth: tuple[bool, ...]
    ) -> tuple[tuple[int, ...], bool]:
        """Return where the threads that read a symbol continue, and whether there is a match before it."""
        self._budget.check_time()
        following: dict[int, None] = {}
        members = self._members[symbol] if symbol != self._end else None

        def ways(number: int) -> tuple[int, ...]:
            instruction = self._instructions[number]
            if isinstance(instruction, Look):
                holds = truth[instruction.assertion]
            elif isinstance(instruction, Test):
                holds = truth[self._truth_of_test[instruction.predicate]] == instruction.holds
            elif isinstance(instruction, BeginSearch):
                holds = begins
            else:
                return ()
            return self._closure(instruction.following) if holds else ()

        for number in in_order(threads, ways):
            instruction = self._instructions[number]
            if isinstance(instruction, Read):
                if members is not None and members[instruction.symbols]:
                    following.setdefault(instruction.following)
            elif isinstance(instruction, Accept):
                return tuple(following), True
        return tuple(following), False


def _indistinguishable(target: Int32Array, matched: BoolArray) -> Int32Array:
    """Return the block of equivalent states of each state, 0 for state 0; a match is a move to a final state."""
    n_states, n_classes = target.shape
    sources, symbols = (part.astype(np.int32) for part in np.nonzero(matched))
    every = np.arange(n_states, dtype=np.int32)
    block = coarsest_partition(
        np.concatenate((np.repeat(every, n_classes), sources)),
        np.concatenate((np.tile(np.arange(n_classes, dtype=np.int32), n_states), symbols + np.int32(n_classes))),
        np.concatenate((target.reshape(-1), np.full(len(sources), n_states))).astype(np.int32),
        np.arange(n_states + 1) == n_states,
        2 * n_classes,
    )[:n_states]
    order = np.unique(block, return_index=True)[1]
    number = np.empty(len(order), dtype=np.int32)
    number[np.argsort(order)] = np.arange(len(order), dtype=np.int32)
    # Blocks are numbered without gaps, except for the block of the final state.
    return number[np.unique(block, return_inverse=True)[1].reshape(-1)]
