"""Split patterns as machines over classes of symbols, and two runs of them over one text: boundaries of only one.

A *run* guesses the pieces of a text. It has the state of the machine in the current piece, and the states of earlier
pieces that still read on and must report no further match. A joint state from which no text can end is *doomed*.

A certificate allows a boundary that only one run has if no pair of tokens that merges can meet there: then merging
gives the same whether the piece is cut or not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, NamedTuple

import numpy as np

from tokdfa.automata.protocol import closure
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.jobs.comparison.joint import remembered
from tokdfa.regex.class_dfa import Partition
from tokdfa.regex.scan import Scan
from tokdfa.regex.unicode import LAST, SURROGATES, Ranges
from tokdfa.regex.unicode.utf8 import cut_apart, symbol_length
from tokdfa.tokenizers.pretokenizers.machine import splitting_budget
from tokdfa.tokenizers.pretokenizers.step_trees import step_tree
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

DEAD: Final = -1
"""The state in which no match can end any more."""

_WHOLE = Splitting("tokenizers", (Split(r"[\s\S]+"),))


@dataclass(frozen=True)
class Machine:
    """The leftmost-first search for a match that begins where the machine is started, in state 0."""

    next: list[list[int]]  # The state after a symbol of each class
    # Whether a match ends before a symbol of each class, and, last, at the end of the text. The last one that is
    # reported is the match.
    report: list[list[int]]


@dataclass(frozen=True)
class Classes:
    """Classes of symbols that the machines, and the sets of a seam, do not distinguish."""

    runs: list[tuple[int, int]]  # The first symbols of ranges, ascending, and the classes of these ranges
    n_classes: int
    members: list[set[int]]  # The classes of each set of the seam


def machines_of(splittings: Sequence[Splitting | None], sets: Sequence[Ranges]) -> tuple[Classes, list[Machine]]:
    """Return the machines of splittings, over common classes that also separate `sets`."""
    scans = [_scan(_WHOLE if splitting is None else splitting) for splitting in splittings]
    of_sets = Partition([*sets, SURROGATES])
    partitions = [*(scan.partition for scan in scans), of_sets]
    bounds = np.unique(np.concatenate([partition.bounds for partition in partitions]))
    columns = np.column_stack([partition.classes(bounds) for partition in partitions])
    surrogate = of_sets.members[columns[:, -1], len(sets)]
    kinds: dict[tuple[int, ...], int] = {}
    runs: list[tuple[int, int]] = []
    for bound, column, is_surrogate in zip(bounds.tolist(), columns.tolist(), surrogate.tolist(), strict=True):
        # No text has a surrogate, so that they may be of any class.
        class_ = runs[-1][1] if is_surrogate else kinds.setdefault(tuple(column), len(kinds))
        if not runs or runs[-1][1] != class_:
            runs.append((bound, class_))
    machines = [_machine(scan, [column[at] for column in kinds]) for at, scan in enumerate(scans)]
    of_class = [column[-1] for column in kinds]
    members = [{c for c, row in enumerate(of_class) if of_sets.members[row, at]} for at in range(len(sets))]
    return Classes(runs, len(kinds), members), machines


def _scan(splitting: Splitting) -> Scan:
    budget = splitting_budget()
    scan = Scan(step_tree(splitting.steps[0], splitting, budget), budget)
    if len(scan.contexts.truths) != 1 or scan.starts[0] != scan.starts[1]:
        what = "there are no certificates for a pattern that looks behind, or ahead at more than a symbol"
        raise UnsupportedFeatureError(what, value=splitting.steps[0].pattern)
    return scan


def _machine(scan: Scan, classes: list[int]) -> Machine:
    letters = [scan.letter[0][class_] for class_ in [*classes, scan.partition.n_classes]]
    target: Any = scan.target[:, letters].tolist()
    matched: Any = scan.matched[:, letters].tolist()
    states = [scan.starts[0]]
    number = {0: DEAD, scan.starts[0]: 0}
    table: list[list[int]] = []
    for state in states:  # grows during the loop
        for to in target[state][:-1]:
            if to not in number:
                number[to] = len(states)
                states.append(to)
        table.append([number[to] for to in target[state][:-1]])
    return Machine(table, [[int(each) for each in matched[state]] for state in states])


MAX_STATES = 200_000


class Run(NamedTuple):
    """A guess at the pieces of a text."""

    current: int  # The state of the machine in the current piece
    ended: tuple[int, ...]  # The states for pieces that have ended: ascending, each once


class Joint(NamedTuple):
    """Two runs, and the progress at a seam, 0 where there is none."""

    first: Run
    second: Run
    phase: int


class Move(NamedTuple):
    """A step from a joint state: whether each run cuts before the symbol, and the state after it."""

    cuts: tuple[bool, bool]
    target: Joint


START = Run(0, ())


def run_moves(machine: Machine, run: Run, class_: int) -> Iterator[tuple[bool, Run]]:
    """Yield the ways in which a run continues with a symbol: whether it cuts before it, and the run after it."""
    if any(machine.report[state][class_] for state in run.ended):
        return
    ended = {machine.next[state][class_] for state in run.ended} - {DEAD}
    following = machine.next[run.current][class_]
    if following != DEAD:
        yield False, Run(following, tuple(sorted(ended)))
    if machine.report[run.current][class_]:
        yield True, Run(machine.next[0][class_], tuple(sorted((ended | {following}) - {DEAD})))


def may_end(machine: Machine, run: Run) -> bool:
    """Return whether a text may end after a run."""
    return bool(machine.report[run.current][-1]) and not any(machine.report[state][-1] for state in run.ended)


class Pair:
    """Two machines that read one text."""

    def __init__(self, first: Machine, second: Machine) -> None:
        self.first, self.second = first, second
        self.starts = [Joint(START, START, 0)]
        self.n_classes = len(first.next[0])

    def moves(self, joint: Joint, class_: int) -> Iterator[Move]:
        """Yield the moves with a symbol of a class."""
        for cut_first, first in run_moves(self.first, joint.first, class_):
            for cut_second, second in run_moves(self.second, joint.second, class_):
                yield Move((cut_first, cut_second), Joint(first, second, joint.phase))

    def may_end(self, joint: Joint) -> bool:
        """Return whether a text may end in a joint state."""
        return may_end(self.first, joint.first) and may_end(self.second, joint.second)


class SeamPair(Pair):
    """A machine that reads two texts as one, and again one after the other.

    The phases count the symbols of S, the end of the first text, and then the symbols of T, the beginning of the
    second; `before` and `after` are their classes. In phase 0 and in the last one, symbols are free. The second text
    may end after `stops` symbols of T; if it is `cut_short`, the first one may begin within S.
    """

    def __init__(
        self, machine: Machine, before: list[set[int]], after: list[set[int]], stops: set[int], cut_short: bool
    ) -> None:
        super().__init__(machine, machine)
        self.before, self.after = before, after
        self.stops = stops
        self.starts = [Joint(START, START, phase) for phase in range(max(1, len(before)) if cut_short else 1)]

    def moves(self, joint: Joint, class_: int) -> Iterator[Move]:
        """Yield the moves with a symbol of a class."""
        seam, phase = len(self.before), joint.phase
        last = seam + 1 + len(self.after)
        if phase == seam and may_end(self.second, joint.second) and (not self.after or class_ in self.after[0]):
            second = Run(self.second.next[0][class_], ())
            for cut, first in run_moves(self.first, joint.first, class_):
                yield Move((cut, True), Joint(first, second, min(seam + 2, last)))
        for target in self.phases(phase, class_):
            for cuts, to in super().moves(joint, class_):
                yield Move(cuts, to._replace(phase=target))

    def phases(self, phase: int, class_: int) -> Iterator[int]:
        """Yield the phases after a symbol, apart from the seam."""
        seam = len(self.before)
        if phase in (0, seam + 1 + len(self.after)):
            yield phase
        if phase < seam and class_ in self.before[phase]:
            yield phase + 1
        if seam < phase <= seam + len(self.after) and class_ in self.after[phase - seam - 1]:
            yield phase + 1

    def may_end(self, joint: Joint) -> bool:
        """Return whether a text may end in a joint state."""
        return joint.phase - len(self.before) - 1 in self.stops and super().may_end(joint)


class States(NamedTuple):
    """The joint states that texts reach."""

    live: list[Joint]  # The states from which a text can end, in the order in which they are found
    doomed: list[Joint]  # The others
    moves: dict[Joint, list[list[Move]]]  # For each live state and each class, the moves to live states

    @property
    def has_disputes(self) -> bool:
        """Whether only one of the two runs cuts somewhere."""
        return any(move.cuts[0] != move.cuts[1] for row in self.moves.values() for cell in row for move in cell)


def explore(pair: Pair) -> States:
    """Return the joint states of a pair."""
    found = list(pair.starts)
    known = set(found)
    moves: dict[Joint, list[list[Move]]] = {}
    sources: dict[Joint, list[Joint]] = {}
    for joint in found:  # grows during the loop
        moves[joint] = [[*pair.moves(joint, class_)] for class_ in range(pair.n_classes)]
        for move in (move for cell in moves[joint] for move in cell):
            sources.setdefault(move.target, []).append(joint)
            if move.target not in known:
                known.add(move.target)
                found.append(move.target)
        if len(found) > MAX_STATES:
            raise LimitExceededError("the joint states of the split patterns are too many", value=len(found))
    live = closure(filter(pair.may_end, found), lambda joint: sources.get(joint, ()))
    kept = {
        joint: [[move for move in cell if move.target in live] for cell in moves[joint]]
        for joint in found
        if joint in live
    }
    return States([*kept], [joint for joint in found if joint not in live], kept)


Derived = list[tuple[bytes, int]]
"""Tokens in the order of the priorities of the pairs that make them, each with the length of the first of the pair."""


def check_boundaries(states: States, classes: Classes, derived: list[Derived], dead: Iterable[bytes]) -> None:
    """Refuse a certificate if a rule of a tokenizer merges across a boundary that only the other run has.

    It is also refused if there are both such boundaries and `dead` tokens: pieces that are given for whole pieces only.
    The checker, too, does not ask whether they meet.
    """
    if not states.has_disputes:
        return
    for token in dead:
        what = "there is no certificate where pieces differ and a token is given for whole pieces only"
        raise UnsupportedFeatureError(what, value=token)
    for side, rules in enumerate(derived):
        boundaries = _Boundaries(states, classes, side)
        for token, size in rules:
            # Few classes of symbols begin at a boundary, so most rules are decided by their second part.
            if boundaries.may_join(token[:size], token[size:]):
                what = "there is no certificate where pieces differ beside tokens that merge across their boundaries"
                raise UnsupportedFeatureError(what, value=token)


class _Boundaries:
    """The boundaries that the other run has, and the run of a side does not."""

    def __init__(self, states: States, classes: Classes, side: int) -> None:
        self._runs = classes.runs
        self._every = list(states.moves)
        # By state and class: the states after a symbol, always, if this run does not cut before it, and at a boundary.
        self._after: dict[tuple[Joint, int], list[Joint]] = {}
        self._within: dict[tuple[Joint, int], list[Joint]] = {}
        self._beyond: dict[tuple[Joint, int], list[Joint]] = {}
        for joint, row in states.moves.items():
            for class_, moves in enumerate(row):
                self._after[joint, class_] = [move.target for move in moves]
                self._within[joint, class_] = [move.target for move in moves if not move.cuts[side]]
                boundary = [move.target for move in moves if not move.cuts[side] and move.cuts[1 - side]]
                if boundary:
                    self._beyond[joint, class_] = boundary
        self._boundary_classes = {class_ for _, class_ in self._beyond}

    def _classes_of(self, low: int, high: int, step: int) -> set[int]:
        """Return the classes of the symbols `low`, `low` + `step`, … up to `high`."""
        found = set()
        for (first, class_), (after, _) in zip(self._runs, [*self._runs[1:], (LAST + 1, 0)], strict=True):
            first = max(first, low)
            if first + (low - first) % step <= min(after - 1, high):
                found.add(class_)
        return found

    @remembered(500_000)
    def _read(self, word: bytes) -> tuple[bool, tuple[set[int], ...], bool] | None:
        """Return the classes of each symbol of a token, and whether its ends are cut apart; None if no text has it."""
        cut = cut_apart(word)
        if cut is None:
            return None
        symbols = [{self._runs[bisect_right(self._runs, (ord(symbol), LAST)) - 1][1]} for symbol in cut.text]
        if cut.head:
            least, step = (0x80, 0x800, 0x10000)[len(cut.head) - 1], 1 << 6 * len(cut.head)
            first = least + (_value(cut.head) - least) % step
            symbols.insert(0, self._classes_of(first, LAST, step))
        if cut.tail:
            size = symbol_length(cut.tail[0])
            n_bits = 6 * (size - len(cut.tail))
            value = (cut.tail[0] & 0x7F >> size) << 6 * (len(cut.tail) - 1) | _value(cut.tail[1:])
            symbols.append(self._classes_of(value << n_bits, ((value + 1) << n_bits) - 1, 1))
        return bool(cut.head), tuple(symbols), bool(cut.tail)

    def _through(self, sources: Iterable[Joint], symbols: Iterable[set[int]]) -> set[Joint]:
        """Return the states after symbols with no boundary of this run before any of them."""
        found = set(sources)
        for classes in symbols:
            found = {target for joint in found for class_ in classes for target in self._within[joint, class_]}
        return found

    @remembered(500_000)
    def _ends_of(self, word: bytes) -> frozenset[Joint]:
        """Return the states in which a token of this run may end."""
        read = self._read(word)
        if read is None or read[2]:
            return frozenset()
        first, *others = read[1]
        begun = (to for joint in self._every for class_ in first for to in self._after[joint, class_])
        return frozenset(self._through(begun, others))

    def may_join(self, left: bytes, right: bytes) -> bool:
        """Return whether two tokens may meet at a boundary, within a piece of this run."""
        read = self._read(right)
        if read is None or read[0]:
            return False
        first, *others = read[1]
        return any(
            self._through(self._beyond.get((joint, class_), ()), others)
            for class_ in first & self._boundary_classes
            for joint in self._ends_of(left)
        )


def _value(continuations: bytes) -> int:
    """Return the bits of bytes that continue a symbol."""
    return reduce(lambda value, byte: value << 6 | byte & 0x3F, continuations, 0)
