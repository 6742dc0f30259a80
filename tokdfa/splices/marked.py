"""The least two texts that a seam splits otherwise, where symbols are marked at the ends or beginnings of pieces.

What precedes or follows a border of pieces then has another id than without the border, so that borders alone decide:
except beside characters that have no symbol with the mark nor without it, and become the same one either way.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

from tokdfa.patterns.budget import Budget
from tokdfa.splices.seam import Move, Seam
from tokdfa.splices.search import Texts

__all__ = ["Marks", "least_by_borders"]


@dataclass(frozen=True)
class Marks:
    """What shows that a piece begins or ends.

    Parameters
    ----------
    ends, begins : bool
        Whether the last symbol of a piece is marked, and whether all but the first one are.
    hides : frozenset of int
        The classes of characters that become the same symbol with a mark and without it.
    fuses : bool
        Whether several such symbols side by side become one, so that a border between them shows.
    """

    ends: bool
    begins: bool
    hides: frozenset[int]
    fuses: bool

    def show(self, left: int | None, right: int) -> bool:
        """Return whether it can be seen that there is a border between symbols of two classes."""
        hidden_left, hidden_right = left in self.hides, right in self.hides
        if self.fuses and hidden_left and hidden_right:
            return True
        return (self.ends and not hidden_left) or (self.begins and not hidden_right)


def least_by_borders(seam: Seam, marks: Marks) -> Texts | None:
    """Return the least two texts in which the borders of pieces show that they differ; None if there are none."""
    budget = Budget(what="the search for two texts")
    settled: set[tuple[int, bool, bool]] = set()
    # The bytes, the bytes before the seam, the text; the state, whether the last symbol hides borders, and whether
    # something differed.
    heap: list[tuple[int, int, bytes, int, bool, bool]] = [(0, 0, b"", 0, False, False)]
    hidden = next(iter(marks.hides), None)
    while heap:
        size, before, text, state, hides, differs = heappop(heap)
        if (state, hides, differs) in settled:
            continue
        settled.add((state, hides, differs))
        budget.spend(1)
        if differs and seam.ends[state]:
            return Texts(text[:before], text[before:])
        for c, cell in enumerate(seam.moves[state]):
            data = seam.least[c].encode()
            for move in cell:
                now = differs or _differs(move, marks, hidden if hides else None, c)
                length = size + len(data)
                split = before if seam.is_after[move.target] else length
                key = move.target, not now and c in marks.hides, now
                if key not in settled:
                    heappush(heap, (length, split, text + data, *key))
    return None


def _differs(move: Move, marks: Marks, left: int | None, right: int) -> bool:
    return move.parts or (move.begins_apart != move.begins_whole and marks.show(left, right))
