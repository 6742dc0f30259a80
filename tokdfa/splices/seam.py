"""Two texts encoded separately beside the two as one text: an automaton over both splittings.

A state has the guesses of the two splittings about one text: those for the text before the seam and the text after it,
encoded separately, and those for the whole. So wherever the borders of pieces differ, it can be seen what they do to
the same symbols.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import Int64Array
from tokdfa.automata.exploration import Numbering
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.kernels.encode.events import BEGINS, DROPPED
from tokdfa.patterns.budget import Budget
from tokdfa.splices.found import PLAIN, Found, Scan
from tokdfa.splices.languages import Language, classes_together
from tokdfa.splitting.hypotheses import Hypotheses

__all__ = ["Move", "Seam"]


class Move(NamedTuple):
    """A move on a symbol.

    Parameters
    ----------
    target : int
    begins_apart, begins_whole : bool
        Whether a piece begins with the symbol in the texts apart, and in the whole text.
    is_special : bool
        Whether the symbol belongs to a special token in the texts apart.
    parts : bool
        Whether the special tokens of the two differ here.
    """

    target: int
    begins_apart: bool
    begins_whole: bool
    is_special: bool
    parts: bool


class _State(NamedTuple):
    after: bool
    language: int
    apart: tuple[Scan, int]
    whole: tuple[Scan, int]


_START = (Scan(), 0)


class Seam:
    """The automaton of two texts, apart and as a whole. State 0 is the initial one.

    Parameters
    ----------
    hypotheses : Hypotheses
        The splitting of text between special tokens.
    before, after : Language
        Those of the two texts.
    specials : sequence of str
        The special tokens that are found in texts.

    Attributes
    ----------
    class_of_code_point : int64 array of shape (0x110000,)
    least : list of str
        The least symbol of each class.
    moves : list
        ``moves[state][c]`` has the moves on a symbol of class c, which all lead on to an end.
    ends : list of bool
        Whether both texts can end in a state.
    is_after : list of bool
        Whether a state is after the seam.
    matters : list of bool
        Whether within the current piece of the texts apart, or where it ends, the borders of pieces may differ.
    distance : list of int
        The least number of symbols after which borders may differ.

    Raises
    ------
    UnsupportedFeatureError
        If the splitting drops text.
    LimitExceededError
        If the automaton is too large.
    """

    def __init__(self, hypotheses: Hypotheses, before: Language, after: Language, specials: Sequence[str] = ()) -> None:
        self._of = hypotheses
        self._before = before
        self._after = after
        self._found = Found(specials)
        marks = np.zeros(0x110000, dtype=np.int64)
        for number, symbol in enumerate(self._found.symbols):
            marks[ord(symbol)] = number + 1
        parts = [hypotheses.class_of_code_point.astype(np.int64), before.class_of_code_point]
        classes, symbols = classes_together([*parts, after.class_of_code_point, marks])
        budget = Budget(what="the automaton of the seam")
        states, moves = self._explore(symbols, budget)
        kept = self._leading_on(states, moves)
        # Classes that nothing distinguishes become one.
        columns: dict[tuple[tuple[Move, ...], ...], int] = {}
        of_class = np.array(
            [columns.setdefault(tuple(row[c] for row in kept), len(columns)) for c in range(len(symbols))],
            dtype=np.int64,
        )
        self.class_of_code_point: Int64Array = of_class[classes]
        self.moves = [[column[state] for column in columns] for state in range(len(kept))]
        valid = np.concatenate((self.class_of_code_point[:0xD800], self.class_of_code_point[0xE000:]))
        found, first = np.unique(valid, return_index=True)
        self.least = [""] * len(columns)
        for number, place in zip(found.tolist(), first.tolist(), strict=True):
            self.least[number] = chr(place if place < 0xD800 else place + 0x800)
        self.matters, self.distance = self._differing()

    def _explore(
        self, symbols: list[tuple[int, ...]], budget: Budget
    ) -> tuple[list[_State], list[list[tuple[Move, ...]]]]:
        numbers: Numbering[_State] = Numbering(_State(False, 0, _START, _START))
        moves: list[list[tuple[Move, ...]]] = []
        marks = [None, *self._found.symbols]
        for state in numbers.states:  # It grows during the loop.
            row = []
            for of_splitting, of_before, of_after, mark in symbols:
                cell = []
                wholes: list[tuple[tuple[Scan, int], int, int]] | None = None
                for after, language, start in self._sides(state):
                    side = self._after if after else self._before
                    target = side.rows[language][of_after if after else of_before]
                    if target < 0:
                        continue
                    if wholes is None:
                        wholes = [*self._through(state.whole, of_splitting, marks[mark])]
                    for apart, effect, event in self._through(start, of_splitting, marks[mark]):
                        for whole, other, event_whole in wholes:
                            to = numbers[_State(after, target, apart, whole)]
                            begins = event == BEGINS, event_whole == BEGINS
                            cell.append(Move(to, *begins, effect != PLAIN, effect != other))
                row.append(tuple(cell))
            moves.append(row)
            budget.spend(len(row) + sum(map(len, row)))
            budget.check_states(len(numbers))
        return numbers.states, moves

    def _sides(self, state: _State) -> Iterator[tuple[bool, int, tuple[Scan, int]]]:
        """Yield the side of the seam on which the next symbol may be, the state of its language, and the guess."""
        yield state.after, state.language, state.apart
        if not state.after and self._before.finals[state.language] and self._may_end(state.apart):
            yield True, 0, _START

    def _may_end(self, guess: tuple[Scan, int]) -> bool:
        return self._found.may_end(guess[0]) and self._of.ends[guess[1]]

    def _through(
        self, guess: tuple[Scan, int], of_splitting: int, symbol: str | None
    ) -> Iterator[tuple[tuple[Scan, int], int, int]]:
        """Yield the guesses after a symbol, with its effect on special tokens and on pieces."""
        scan, hypothesis = guess
        for after, effect in self._found.moves(scan, symbol):
            if effect == PLAIN:
                for target, event in self._of.moves[hypothesis][of_splitting]:
                    if event == DROPPED:
                        raise UnsupportedFeatureError("the pre-tokenizer may drop text")
                    yield (after, target), effect, event
            elif self._of.ends[hypothesis]:
                # A special token begins, or goes on: nothing else is open.
                yield (after, 0), effect, DROPPED

    def _leading_on(self, states: list[_State], moves: list[list[tuple[Move, ...]]]) -> list[list[tuple[Move, ...]]]:
        """Return the moves without those from which no end is reached."""
        sources: dict[int, set[int]] = {}
        for number, row in enumerate(moves):
            for cell in row:
                for move in cell:
                    sources.setdefault(move.target, set()).add(number)
        ends = [
            state.after
            and self._after.finals[state.language]
            and self._may_end(state.apart)
            and self._may_end(state.whole)
            for state in states
        ]
        alive = [number for number, is_end in enumerate(ends) if is_end]
        is_alive = {*alive}
        for number in alive:  # It grows during the loop.
            for source in sources.get(number, set()) - is_alive:
                is_alive.add(source)
                alive.append(source)
        order = sorted(is_alive | {0})
        renumbered = {old: new for new, old in enumerate(order)}
        self.ends = [ends[old] for old in order]
        self.is_after = [states[old].after for old in order]
        return [
            [
                tuple(m._replace(target=renumbered[m.target]) for m in cell if m.target in renumbered)
                for cell in moves[o]
            ]
            for o in order
        ]

    def _differing(self) -> tuple[list[bool], list[int]]:
        n_states = len(self.moves)
        within: dict[int, list[int]] = {}
        every: dict[int, list[int]] = {}
        differ = []
        for state, row in enumerate(self.moves):
            flat = {move for cell in row for move in cell}
            if any(move.begins_apart != move.begins_whole and not move.parts for move in flat):
                differ.append(state)
            for move in flat:
                every.setdefault(move.target, []).append(state)
                if not move.begins_apart and not move.is_special and not move.parts:
                    within.setdefault(move.target, []).append(state)
        matters = [False] * n_states
        queue = list(differ)
        for state in queue:
            matters[state] = True
        for state in queue:  # It grows during the loop.
            for source in within.get(state, ()):
                if not matters[source]:
                    matters[source] = True
                    queue.append(source)
        distance = [1 << 30] * n_states
        for state in differ:
            distance[state] = 1
        queue = list(differ)
        for state in queue:  # It grows during the loop.
            for source in every.get(state, ()):
                if distance[source] > distance[state] + 1:
                    distance[source] = distance[state] + 1
                    queue.append(source)
        return matters, distance
