"""The least texts for the slots of a template with which a special token is found that overlaps a slot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from tokdfa.patterns.budget import Budget
from tokdfa.splices.found import PLAIN, Found, Scan
from tokdfa.splices.languages import Language, classes_together, least_of_classes
from tokdfa.splices.parts import Part, Slot

__all__ = ["least_values"]


class _State(NamedTuple):
    """Where a search is: in which part, and where in it; what special token is guessed, and what overlaps a slot."""

    part: int
    place: int
    scan: Scan
    touches: bool
    injected: bool


def least_values(
    parts: Sequence[Part], contents: Sequence[str], *, max_seconds: float = 30.0
) -> tuple[str, ...] | None:
    """Return texts for the slots, in order, by the fewest bytes of all, then in order; None if there are none.

    Parameters
    ----------
    parts : sequence of str and Slot
    contents : sequence of str
        Special tokens that are found wherever they occur, the leftmost first, of those the longest.

    Raises
    ------
    LimitExceededError
        If it takes too long.
    """
    return _Search(parts, contents, Budget(max_seconds=max_seconds, what="the search for texts of slots")).run()


class _Search:
    def __init__(self, parts: Sequence[Part], contents: Sequence[str], budget: Budget) -> None:
        self._parts = parts
        self._found = Found(contents)
        self._symbols = {*self._found.symbols}
        self._budget = budget
        self._languages = {part: part.language() for part in parts if isinstance(part, Slot)}
        self._choices = {slot: [*self._least(language)] for slot, language in self._languages.items()}
        self._moves: dict[tuple[Scan, str | None], list[tuple[Scan, int]]] = {}

    def run(self) -> tuple[str, ...] | None:
        start = _State(0, 0, Scan(), False, False)
        heap: list[tuple[int, tuple[bytes, ...], _State]] = [(0, (), start)]
        done = set()
        while heap:
            size, values, state = heappop(heap)
            if state in done:
                continue
            done.add(state)
            self._budget.spend(1)
            self._budget.check_states(len(done))
            if state.part == len(self._parts):
                if state.injected and self._found.may_end(state.scan):
                    return tuple(value.decode() for value in values)
                continue
            part = self._parts[state.part]
            if isinstance(part, str):
                if state.place == len(part):
                    heappush(heap, (size, values, state._replace(part=state.part + 1, place=0)))
                    continue
                for target in self._after(state, part[state.place], state.place + 1, in_slot=False):
                    heappush(heap, (size, values, target))
                continue
            if len(values) <= self._number(state.part):
                values = (*values, b"")
            language = self._languages[part]
            if language.finals[state.place]:
                beyond = state._replace(part=state.part + 1, place=0, touches=state.touches or state.scan.special >= 0)
                heappush(heap, (size, values, beyond))
            for symbol, column in self._choices[part]:
                place = language.rows[state.place][column]
                if place < 0:
                    continue
                data = symbol.encode()
                longer = (*values[:-1], values[-1] + data)
                for target in self._after(state, symbol, place, in_slot=True):
                    if target not in done:
                        heappush(heap, (size + len(data), longer, target))
        return None

    def _number(self, part: int) -> int:
        return sum(isinstance(other, Slot) for other in self._parts[:part])

    def _after(self, state: _State, symbol: str, place: int, *, in_slot: bool) -> Iterator[_State]:
        known = symbol if symbol in self._symbols else None
        key = state.scan, known
        if key not in self._moves:
            self._moves[key] = [*self._found.moves(state.scan, known)]
        for scan, effect in self._moves[key]:
            touches = effect != PLAIN and (in_slot or (state.touches and effect < 0))
            ends = effect != PLAIN and scan.special < 0
            yield _State(state.part, place, scan, touches and not ends, state.injected or (ends and touches))

    def _least(self, language: Language) -> Iterator[tuple[str, int]]:
        """Yield the least symbol of each class that a language and the special tokens distinguish, with its column."""
        marks = np.zeros(0x110000, dtype=np.int64)
        for number, symbol in enumerate(self._found.symbols):
            marks[ord(symbol)] = number + 1
        classes, symbols = classes_together([language.class_of_code_point, marks])
        for number, symbol in least_of_classes(classes):
            yield symbol, symbols[number][0]
