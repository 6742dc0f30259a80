"""Boundaries between pieces: where a text may be cut and its two parts split separately, for every continuation.

An automaton over symbols splits the part and the whole text at once. A *pair* has the hypothesis of the part before the
boundary, or after it, and the hypothesis of the whole, with whether their pieces have differed. Before the boundary
both begin as one; after it the part begins anew. It is safe if no pair that some rest of the text confirms has
differed, or may still differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, Uint8Array, Uint32Array
from tokdfa.base.errors import LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.base.locks import SHARED
from tokdfa.kernels.encode.events import BEGINS, DROPPED
from tokdfa.kernels.walk.parts import outer_symbols
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer

SAFE: Final = 0
"""The state of a position that is safe for every continuation of the text."""
UNSAFE: Final = 1
"""The state of a position that is not safe for any continuation of the text."""

_MOST_STATES = 1 << 18
_MOST_NFA_STATES = 128


class _Pair(NamedTuple):
    """The hypotheses of a part and of the whole text, and whether their pieces have differed."""

    part: int
    whole: int
    differ: bool


_Pairs: TypeAlias = frozenset[_Pair]


class SafePieces:
    """The automaton of the safe boundaries of a splitting, made as far as texts need it.

    A text is read with `read`, from the state `start`, or from `anywhere` if something unknown precedes it. `cut` gives
    the state of the position that was reached; `read_on` reads the text after it, until the state is `SAFE` or
    `UNSAFE`, or the text ends and `is_safe_at_end` answers. The answer is exact: a position is safe if and only if, for
    every continuation, the pieces of the text are the pieces of its two parts.

    UnsupportedFeatureError is raised if the splitting drops text, and LimitExceededError if it has too many hypotheses.
    """

    def __init__(self, nfa: SplitNFA) -> None:
        if any(event == DROPPED for row in nfa.moves for cell in row for _, event in cell):
            raise UnsupportedFeatureError("the pre-tokenizer may drop text")
        if len(nfa.moves) > _MOST_NFA_STATES:
            raise LimitExceededError("too many hypotheses of the splitting", value=len(nfa.moves))
        self._of = nfa
        self._confirmed, self._differing = self._decided_pairs()
        self._states: list[_Pairs] = [frozenset(), frozenset()]
        self._number: dict[_Pairs, int] = {}
        self._read: dict[tuple[int, int], int] = {}
        self._cut: dict[int, int] = {}
        self._read_after: dict[tuple[int, int], int] = {}
        self.start = self._state([_Pair(0, 0, False)])

    @cached_property
    def anywhere(self) -> int:
        """The state after any text."""
        found = {_Pair(0, 0, False)}
        queue = [*found]
        for pair in queue:  # It grows during the loop.
            for symbol in range(self._of.n_classes):
                new = {*self._moves(pair, symbol)} - found
                found |= new
                queue += sorted(new)
        return self._state(found)

    def read(self, state: int, symbol: int) -> int:
        """Return the state before a possible position, after a symbol of a class."""
        key = state, symbol
        if key not in self._read:
            self._read[key] = self._state(
                target for pair in self._states[state] for target in self._moves(pair, symbol)
            )
        return self._read[key]

    def cut(self, state: int) -> int:
        """Return the state after a position: the part before it ends, and another one begins."""
        if state not in self._cut:
            ended = [_Pair(0, pair.whole, pair.differ) for pair in self._states[state] if self._of.ends[pair.part]]
            self._cut[state] = self._settled(ended)
        return self._cut[state]

    def read_on(self, state: int, symbol: int) -> int:
        """Return the state of a position after a symbol that follows it."""
        if state <= UNSAFE:
            return state
        key = state, symbol
        if key not in self._read_after:
            pairs = self._states[state]
            self._read_after[key] = self._settled([target for pair in pairs for target in self._moves(pair, symbol)])
        return self._read_after[key]

    def is_safe_at_end(self, state: int) -> bool:
        """Return whether a position is safe if the text ends here."""
        if state <= UNSAFE:
            return state == SAFE
        ends = self._of.ends
        return not any(pair.differ and ends[pair.part] and ends[pair.whole] for pair in self._states[state])

    @cached_property
    def between(self) -> tuple[BoolArray, BoolArray]:
        """Whether the position between two symbols is always safe, and whether it never is, by their classes.

        Two bool arrays of shape (classes, classes). Where neither holds, the text around the two symbols decides.
        """
        n = self._of.n_classes
        always = np.zeros((n, n), dtype=np.bool_)
        never = np.zeros((n, n), dtype=np.bool_)
        wholes = {pair.whole for pair in self._states[self.anywhere]}
        for left in range(n):
            after = self.cut(self.read(self.anywhere, left))
            reached = {target for h in wholes for target, _ in self._of.moves[h][left]}
            for right in range(n):
                always[left, right] = self.read_on(after, right) == SAFE
                events = {event for h in reached for _, event in self._of.moves[h][right]}
                never[left, right] = BEGINS not in events
        return always, never

    def classes_of(self, code_points: IntegerArray) -> IntegerArray:
        """Return the classes of symbols."""
        return self._of.class_of_code_point[code_points]

    def by_class(
        self, specials: Iterable[str], spellings: tuple[Uint8Array, Int64Array]
    ) -> tuple[BoolArray, list[Int32Array]]:
        """Return whether a text is always cut between two classes of symbols, with or without specials in it.

        Besides, the classes of the first and the last symbol of ids, given the bytes of these and their offsets. One
        more class has the symbols that are cut.
        """
        n = self._of.n_classes
        table: BoolArray = np.zeros((n + 1, n + 1), dtype=np.bool_)
        table[:n, :n] = self.between[0]
        for special in specials:
            classes = self.classes_of(codes_of(special))
            table[classes[:-1], classes[1:]] = False
        outer = outer_symbols(*spellings)
        return table, [np.where(one >= 0, self.classes_of(np.maximum(one, 0)), n).astype(np.int32) for one in outer]

    # Texts

    def within(self, text: str, state: int, starts: set[int], *, ends: bool) -> tuple[BoolArray, BoolArray, int]:
        """Return, for each position after a character of a segment between special tokens, whether it is safe.

        Besides, return whether each is between two symbols that every text is cut between, and the first position that
        the text after the segment may decide. `state` is the one at its beginning, `starts` has the positions where it
        may turn out to end, and `ends` is whether it ends with the text; otherwise anything may follow.
        """
        n = len(text)
        safe: BoolArray = np.zeros(n, dtype=np.bool_)
        classes = self.classes_of(codes_of(text))
        always, never = self.between
        safe[:-1] = always[classes[:-1], classes[1:]]
        asked = ~safe
        asked[:-1] &= ~never[classes[:-1], classes[1:]]
        free = safe.copy()
        # After such a position, nothing depends on the text before it.
        bases = np.flatnonzero(safe) + 1
        row: list[int] = classes.tolist()
        at, undecided = 0, n + 1
        positions = np.flatnonzero(asked) + 1
        nearest = np.append(0, bases)[np.searchsorted(bases, positions)]
        for position, base in zip(positions.tolist(), nearest.tolist(), strict=True):
            if base > at:
                at, state = base, self.start
            for symbol in row[at:position]:
                state = self.read(state, symbol)
            at = position
            after = self._read_through(self.cut(state), row, position, starts)
            if after == SAFE or (ends and self.is_safe_at_end(after)):
                safe[position - 1] = True
            elif after != UNSAFE:
                undecided = min(undecided, position)
        return safe, free, undecided if not ends else n + 1

    def _read_through(self, state: int, row: list[int], position: int, starts: set[int]) -> int:
        """Return the state of a position in view of the classes of the symbols after it."""
        for at in range(position, len(row)):
            if state <= UNSAFE:
                break
            if at in starts and not self.is_safe_at_end(state):
                return UNSAFE
            state = self.read_on(state, row[at])
        return state

    # Pairs

    def _moves(self, pair: _Pair, symbol: int) -> list[_Pair]:
        """Return the pairs after a symbol."""
        moves = self._of.moves
        return [
            _Pair(part, whole, pair.differ or (event == BEGINS) != (other == BEGINS))
            for part, event in moves[pair.part][symbol]
            for whole, other in moves[pair.whole][symbol]
        ]

    def _decided_pairs(self) -> tuple[BoolArray, BoolArray]:
        """Return (hypotheses, hypotheses) arrays: whether a rest of a text confirms both, and one where they differ."""
        of, n = self._of, len(self._of.moves)
        sources: dict[tuple[int, int], set[tuple[int, int, bool]]] = {}
        for one in range(n):
            for other in range(n):
                for cell_a, cell_b in zip(of.moves[one], of.moves[other], strict=True):
                    for target_a, event_a in cell_a:
                        for target_b, event_b in cell_b:
                            differ = (event_a == BEGINS) != (event_b == BEGINS)
                            sources.setdefault((target_a, target_b), set()).add((one, other, differ))
        confirmed: BoolArray = np.array([[a and b for b in of.ends] for a in of.ends], dtype=np.bool_)
        _spread(confirmed, sources)
        differing: BoolArray = np.zeros((n, n), dtype=np.bool_)
        for pair in map(tuple, np.argwhere(confirmed).tolist()):
            for one, other, differ in sources.get(pair, ()):
                differing[one, other] |= differ
        _spread(differing, sources)
        return confirmed, differing

    def _settled(self, pairs: Iterable[_Pair]) -> int:
        """Return the state of a position, given the pairs after the symbols known to follow it."""
        possible = [pair for pair in pairs if self._confirmed[pair.part, pair.whole]]
        if all(pair.differ for pair in possible) and possible:
            return UNSAFE
        if not any(pair.differ or self._differing[pair.part, pair.whole] for pair in possible):
            return SAFE
        return self._state(possible)

    def _state(self, pairs: Iterable[_Pair]) -> int:
        kept = frozenset(pairs)
        with SHARED:
            if kept not in self._number:
                if len(self._states) >= _MOST_STATES:
                    raise LimitExceededError("the automaton of safe places is too large", value=len(self._states))
                self._states.append(kept)
                self._number[kept] = len(self._states) - 1
            return self._number[kept]


def _spread(found: BoolArray, sources: dict[tuple[int, int], set[tuple[int, int, bool]]]) -> None:
    """Add the pairs of hypotheses, in an array of shape (hypotheses, hypotheses), that lead to those in it."""
    queue: list[tuple[int, int]] = [*map(tuple, np.argwhere(found).tolist())]
    for pair in queue:  # It grows during the loop.
        for one, other, _ in sources.get(pair, ()):
            if not found[one, other]:
                found[one, other] = True
                queue.append((one, other))


def codes_of(text: str) -> Uint32Array:
    """Return the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def safe_pieces(pretokenizer: PreTokenizer | None) -> SafePieces | None:
    """Return the automaton of the safe boundaries of a pre-tokenizer; None if there is none."""
    if pretokenizer is None or pretokenizer.splitting.metaspace is not None or pretokenizer.splitting.byte_steps:
        return None
    if pretokenizer.splitting.prefix_space:
        return None
    try:
        return SafePieces(find_split_nfa(replace(pretokenizer.splitting, prefix_space=None)))
    except (PatternError, UnsupportedFeatureError, LimitExceededError):
        return None
