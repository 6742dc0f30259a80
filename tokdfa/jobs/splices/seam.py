"""Two texts encoded separately, compared with the two as one text: an automaton over both splittings.

A state has the guesses of the two splittings about one text: for the text before the seam and the text after it,
encoded separately, and for the whole. So wherever the boundaries of pieces differ, their effect on the same symbols can
be seen. With the default tokenizer, the texts "a" and "s" have the ids 64 and 82 apart, and "as" is one token, 289.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.automata.protocol import Numbering, closure
from tokdfa.automata.texts import PLAIN, WITHIN, Found, Language, Scan, classes_together, least_of_classes
from tokdfa.base.arrays import BoolArray, Int64Array
from tokdfa.base.budget import Budget
from tokdfa.base.errors import PatternError, UnsupportedFeatureError
from tokdfa.jobs.splices.tokens import PLAIN_TEXT, Rewrites
from tokdfa.kernels.encode.events import BEGINS, DROPPED
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA


class Move(NamedTuple):
    """A move on a symbol."""

    target: int
    # Whether a piece begins with the symbol in the texts apart, and in the whole text.
    begins_apart: bool
    begins_whole: bool
    is_special: bool  # Whether the symbol belongs to a special token in the texts apart
    parts: bool  # Whether the special tokens of the two differ here


# A guess about the special tokens, and one about the pieces: a hypothesis; or _DUE where a space is still to be put; or
# ``_PUT - h`` after such a space, on which hypothesis h followed.
_Guess: TypeAlias = tuple[Scan, int]
_DUE = -1
_PUT = -2

_START: _Guess = (Scan(), 0)


class _State(NamedTuple):
    after: bool
    language: int
    apart: _Guess
    whole: _Guess
    # Whether nothing was read, where that matters.
    is_first: bool = False


class _Symbol(NamedTuple):
    """A symbol as the parts of the automaton see it; the classes of the splitting and of the two languages."""

    of_splitting: int
    of_before: int
    of_after: int
    mark: str | None
    is_space: bool
    is_refused: bool
    is_told_apart: bool


class Seam:
    """The automaton of two texts, apart and as a whole, of two languages. State 0 is the initial one.

    All characters that become a space are in the class of spaces. `starts` is whether the text after the seam is
    encoded as the start of a text. Of shape (0x110000,), `refused` has the code points that only special tokens have,
    and `told_apart` the code points in classes of their own.

    `least` has the least symbol of each class. That of `put`, the class of the space that is put before texts, is
    empty, as no text has it. ``moves[state][c]`` has the moves on a symbol of class c, which all lead on to an end. By
    state, `ends` is whether both texts can end there, `is_after` whether it is after the seam, and `matters` whether
    within the current piece of the texts apart, or where it ends, the boundaries of pieces may differ; `distance` is
    the least number of symbols after which they may.
    """

    def __init__(
        self,
        split_nfa: SplitNFA,
        before: Language,
        after: Language,
        specials: Sequence[str] = (),
        *,
        rewrites: Rewrites = PLAIN_TEXT,
        starts: bool = False,
        refused: BoolArray | None = None,
        told_apart: BoolArray | None = None,
    ) -> None:
        self._of = split_nfa
        self._before = before
        self._after = after
        self._found = Found(specials)
        self._prefix = rewrites.prefix
        self._start_after: _Guess = (Scan(), _DUE) if starts and rewrites.prefix is not None else _START
        self._space = int(split_nfa.class_of_code_point[ord(rewrites.space)])
        self._puts = self._prefix is not None and not (refused is not None and refused[ord(" ")])
        classes, symbols, joined = self._symbols(rewrites, refused, told_apart)
        budget = Budget(what="the automaton of the seam")
        states, moves = self._explore(symbols, budget)
        kept = self._leading_on(states, moves)
        if not any(self.ends):
            raise PatternError("no text of these languages is encoded", where="before or after")
        for row in kept:
            for one, other in joined:
                row[one], row[other] = tuple(dict.fromkeys((*row[one], *row[other]))), ()
        # Classes that nothing distinguishes become one.
        columns: dict[tuple[tuple[Move, ...], ...], int] = {}
        numbers: dict[tuple[int, bool], int] = {}
        of_class = np.zeros(len(symbols), dtype=np.int64)
        for c, symbol in enumerate(symbols):
            column = columns.setdefault(tuple(row[c] for row in kept), len(columns))
            of_class[c] = numbers.setdefault((column, symbol.is_told_apart), len(numbers))
        of_column = [column for column, _ in numbers]
        self.class_of_code_point: Int64Array = of_class[classes]
        distinct = [*columns]
        self.moves = [[distinct[column][state] for column in of_column] for state in range(len(kept))]
        self.least = [""] * len(of_column)
        for c, least in least_of_classes(self.class_of_code_point):
            self.least[c] = least
        self.put: int | None = None
        if self._prefix is not None:
            self.put = len(self.least)
            self.least.append("")
            for cells, row in zip(self.moves, kept, strict=True):
                cells.append(row[-1])
        self.matters, self.distance = self._differing()

    def _symbols(
        self, rewrites: Rewrites, refused: BoolArray | None, told_apart: BoolArray | None
    ) -> tuple[Int64Array, list[_Symbol], list[tuple[int, int]]]:
        """Return the class of each code point, the classes, and the pairs of joined classes, keeping the first."""
        marks = np.zeros(0x110000, dtype=np.int64)
        for number, symbol in enumerate(self._found.symbols):
            marks[ord(symbol)] = number + 1
        kinds = np.zeros(0x110000, dtype=np.int64)
        for flags in (refused, told_apart):
            kinds = 2 * kinds + (0 if flags is None else flags)
        spaces = rewrites.spaces if rewrites != PLAIN_TEXT else ""
        for number, space in enumerate(spaces):
            kinds[ord(space)] += 4 * (number + 1)
        of_splitting = self._of.class_of_code_point.astype(np.int64)
        of_splitting[ord(" ")] = self._space
        parts = [of_splitting, self._before.class_of_code_point, self._after.class_of_code_point, marks, kinds]
        classes, found = classes_together(parts)
        names = [None, *self._found.symbols]
        symbols = [
            _Symbol(of, before, after, names[mark], kind >= 4, kind & 2 > 0, kind & 1 > 0)
            for of, before, after, mark, kind in found
        ]
        joined = []
        if len(spaces) > 1:
            joined = [(int(classes[ord(spaces[0])]), int(classes[ord(spaces[1])]))]
        return classes, symbols, joined

    def _explore(self, symbols: list[_Symbol], budget: Budget) -> tuple[list[_State], list[list[tuple[Move, ...]]]]:
        start = _START if self._prefix is None else (Scan(), _DUE)
        numbers: Numbering[_State] = Numbering(_State(False, 0, start, start, self._prefix is not None))
        moves: list[list[tuple[Move, ...]]] = []
        for state in numbers.states:  # It grows during the loop.
            row = []
            for symbol in symbols:
                cell = []
                wholes: list[tuple[_Guess, int, int]] | None = None
                for after, language, start in self._sides(state):
                    side = self._after if after else self._before
                    target = side.rows[language][symbol.of_after if after else symbol.of_before]
                    if target < 0:
                        continue
                    if wholes is None:
                        wholes = [*self._through(state.whole, symbol)]
                    for apart, effect, event in self._through(start, symbol):
                        for whole, other, event_whole in wholes:
                            to = numbers[_State(after, target, apart, whole)]
                            begins = event == BEGINS, event_whole == BEGINS
                            cell.append(Move(to, *begins, effect != PLAIN, effect != other))
                row.append(tuple(cell))
            if self._prefix is not None:
                row.append(tuple(self._put(state, numbers)) if self._puts else ())
            moves.append(row)
            budget.spend(len(row) + sum(map(len, row)))
            budget.check_states(len(numbers))
        return numbers.states, moves

    def _sides(self, state: _State) -> Iterator[tuple[bool, int, _Guess]]:
        """Yield the side of the seam on which the next symbol may be, the state of its language, and the guess."""
        yield state.after, state.language, state.apart
        if not state.after and self._before.finals[state.language] and self._may_end(state.apart):
            # After nothing, a text is the start of one.
            yield True, 0, state.apart if state.is_first else self._start_after

    def _may_end(self, guess: _Guess) -> bool:
        scan, hypothesis = guess
        return self._found.may_end(scan) and hypothesis > _PUT and self._of.ends[max(hypothesis, 0)]

    def _through(self, guess: _Guess, symbol: _Symbol) -> Iterator[tuple[_Guess, int, int]]:
        """Yield the guesses after a symbol, with its effect on special tokens and on pieces."""
        scan, hypothesis = guess
        takes_plain, takes_special = not symbol.is_refused, True
        prefix = self._prefix
        if prefix is not None and hypothesis < 0:
            is_put = hypothesis <= _PUT
            needs = prefix.always or not symbol.is_space
            takes_plain &= is_put == needs
            takes_special = is_put == prefix.before_specials
            hypothesis = _PUT - hypothesis if is_put else 0
        for after, effect in self._found.moves(scan, symbol.mark):
            if effect == PLAIN:
                for target, event in self._of.moves[hypothesis][symbol.of_splitting] if takes_plain else ():
                    if event == DROPPED:
                        raise UnsupportedFeatureError("the pre-tokenizer may drop text")
                    yield (after, target), effect, event
            elif self._of.ends[hypothesis] and (takes_special or effect == WITHIN):
                # A special token begins, or continues: nothing else is open.
                yield (after, _DUE if prefix is not None and prefix.everywhere else 0), effect, DROPPED

    def _put(self, state: _State, numbers: Numbering[_State]) -> Iterator[Move]:
        """Yield the moves by which a space is put before a text, in the texts apart, in the whole, or in both."""
        for after, language, start in self._sides(state):
            if min(start[1], state.whole[1]) <= _PUT:
                continue
            for apart in self._with_space(start):
                for whole in self._with_space(state.whole):
                    put = apart[1] <= _PUT, whole[1] <= _PUT
                    if any(put):
                        is_first = state.is_first and not after and not put[0]
                        to = numbers[_State(after, language, apart, whole, is_first)]
                        yield Move(to, *put, False, put[0] != put[1])

    def _with_space(self, guess: _Guess) -> Iterator[_Guess]:
        """Yield the guesses with a space put and, if a special token may follow instead, without."""
        scan, hypothesis = guess
        yield guess
        if hypothesis == _DUE and self._found.may_end(scan):
            for target, _ in self._of.moves[0][self._space]:
                yield scan, _PUT - target

    def _leading_on(self, states: list[_State], moves: list[list[tuple[Move, ...]]]) -> list[list[tuple[Move, ...]]]:
        """Return the moves from which an end is reached."""
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
        final = [number for number, is_end in enumerate(ends) if is_end]
        alive = closure(final, lambda number: sources.get(number, ()))
        order = sorted({*alive, 0})
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
        matters = closure(differ, lambda state: within.get(state, ()))
        distance = [1 << 30] * n_states
        for state in differ:
            distance[state] = 1
        queue = list(differ)
        for state in queue:  # It grows during the loop.
            for source in every.get(state, ()):
                if distance[source] > distance[state] + 1:
                    distance[source] = distance[state] + 1
                    queue.append(source)
        return [state in matters for state in range(n_states)], distance
