"""Two runs of split machines over one text: their joint states, and where only one of the two cuts.

A *run* guesses the pieces of a text. It has the state of the machine in the current piece, and those of earlier pieces
that still read on and must report no further match. A joint state from which no text can end is *doomed*.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tokdfa.certificates.machines import DEAD, Machine
from tokdfa.errors import LimitExceededError

__all__ = ["Joint", "Move", "Pair", "Run", "SeamPair", "States", "explore"]

MAX_STATES = 200_000


class Run(NamedTuple):
    """A guess at the pieces of a text.

    Parameters
    ----------
    current : int
        The state of the machine in the current piece.
    ended : tuple of int
        The states for pieces that have ended: ascending, each once.
    """

    current: int
    ended: tuple[int, ...]


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
    """Yield the ways in which a run goes on with a symbol: whether it cuts before it, and the run after it."""
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

    The phases count the symbols of S, which the first text ends with, and then those of T, which the second begins
    with. In phase 0 and in the last one, symbols are free.

    Parameters
    ----------
    machine : Machine
    before, after : list of sets of int
        The classes of the symbols of S and T.
    stops : set of int
        The numbers of symbols of T after which the second text may end.
    cut_short : bool
        Whether the first text may begin within S.
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
    """The joint states that texts reach.

    Parameters
    ----------
    live : list of Joint
        Those from which a text can end, in the order in which they are found.
    doomed : list of Joint
        The others.
    moves : dict
        For each live state and each class, the moves to live states.
    """

    live: list[Joint]
    doomed: list[Joint]
    moves: dict[Joint, list[list[Move]]]

    @property
    def has_disputes(self) -> bool:
        """Whether only one of the two runs cuts at some place."""
        return any(move.cuts[0] != move.cuts[1] for row in self.moves.values() for cell in row for move in cell)


def explore(pair: Pair) -> States:
    """Return the joint states of a pair.

    Raises
    ------
    LimitExceededError
        If there are too many.
    """
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
    live = {joint for joint in found if pair.may_end(joint)}
    pending = list(live)
    for joint in pending:  # grows during the loop
        for source in sources.get(joint, ()):
            if source not in live:
                live.add(source)
                pending.append(source)
    kept = {
        joint: [[move for move in cell if move.target in live] for cell in moves[joint]]
        for joint in found
        if joint in live
    }
    return States([*kept], [joint for joint in found if joint not in live], kept)
