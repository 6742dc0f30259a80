"""Split patterns as tables over classes of symbols: where a match that begins at a place may end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tokdfa.errors import UnsupportedFeatureError
from tokdfa.patterns.class_dfa import Partition
from tokdfa.splitting.machine import splitting_budget
from tokdfa.splitting.scan import Scan
from tokdfa.splitting.step_trees import step_tree
from tokdfa.splitting.steps import Split, Splitting
from tokdfa.unicode import SURROGATES, Ranges

__all__ = ["DEAD", "Classes", "Machine", "machines_of"]

DEAD: Final = -1
"""The state in which no match can end any more."""

_WHOLE = Splitting("tokenizers", (Split(r"[\s\S]+"),))


@dataclass(frozen=True)
class Machine:
    """The leftmost-first search for a match that begins where the machine is started, in state 0.

    Attributes
    ----------
    next : list of lists
        The state after a symbol of each class.
    report : list of lists
        Whether a match ends before a symbol of each class, and, last, at the end of the text. The last one that is
        reported is the match.
    """

    next: list[list[int]]
    report: list[list[int]]


@dataclass(frozen=True)
class Classes:
    """Classes of symbols that the machines, and the sets of a seam, do not distinguish.

    Attributes
    ----------
    runs : list of (int, int)
        The first symbols of ranges, ascending, and the classes of these ranges.
    n_classes : int
    members : list of sets of int
        The classes of each set of the seam.
    """

    runs: list[tuple[int, int]]
    n_classes: int
    members: list[set[int]]


def machines_of(splittings: Sequence[Splitting | None], sets: Sequence[Ranges]) -> tuple[Classes, list[Machine]]:
    """Return the machines of splittings, over common classes that also separate `sets`.

    Raises
    ------
    UnsupportedFeatureError
        If a pattern looks behind.
    LimitExceededError
        If an automaton is too large.
    """
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
        raise UnsupportedFeatureError(
            "there are no certificates for a pattern that looks behind, or ahead at more than a symbol",
            value=splitting.steps[0].pattern,
        )
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
