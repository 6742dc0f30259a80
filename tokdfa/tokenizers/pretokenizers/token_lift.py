"""The split NFA of a pre-tokenizer, lifted from symbols to tokens.

A token consists of the last bytes of a symbol that began before it, some whole symbols, and the first bytes of a symbol
that it cuts off: the bytes ``a9 20 61 c3`` are the end of "é" (``c3 a9``), the symbols " a", and the beginning of
another symbol. The mapping of every hypothesis by the whole symbols is an *effect*; real tokenizers have some dozens of
effects.
"""

from __future__ import annotations

import math
from codecs import getincrementaldecoder
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.base.budget import Budget
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.base.locks import SHARED
from tokdfa.kernels.encode.events import BEGINS, CONTINUES, DROPPED
from tokdfa.kernels.walk.parts import Completions
from tokdfa.regex.unicode.utf8 import cut_apart
from tokdfa.regex.utf8 import FIRST_LEADS, SymbolTries
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA
from tokdfa.tokenizers.pretokenizers.steps import Splitting

# A set of hypotheses, as the bits of an integer.
Mask: TypeAlias = int


class LiftState(NamedTuple):
    """The state after the ids of a stream: everything that they leave undecided.

    `states` has the hypotheses that the ids allow, as bits; `cut` the bytes of an incomplete symbol, or other bytes
    that can be completed to symbols of the same classes. If `is_inside`, that symbol began within a token, so that no
    piece can begin with it. If it `must_begin`, the pair test forbids the boundary at which it began, so that a piece
    must begin with it.
    """

    states: Mask
    cut: bytes = b""
    is_inside: bool = False
    must_begin: bool = False


class TokenParts(NamedTuple):
    """A token: the bytes that end an earlier symbol, the effect of its whole symbols, and the symbol it cuts off."""

    head: bytes
    effect: int | None
    tail: bytes


class _Effect(NamedTuple):
    """For each hypothesis, those after symbols of which only the first may begin a piece: if it does not, and if so."""

    inside: tuple[Mask, ...]
    begins: tuple[Mask, ...]


class TokenLift:
    """The automaton of hypotheses over tokens; its input at each token boundary says whether a piece may cross it.

    Raises UnsupportedFeatureError for a splitting that drops text.
    """

    def __init__(self, splitting: Splitting | SplitNFA) -> None:
        self.split_nfa: SplitNFA = splitting if isinstance(splitting, SplitNFA) else find_split_nfa(splitting)
        self.initial = LiftState(1)
        self._step_of_class = [self._symbol_effect(number) for number in range(self.split_nfa.n_classes)]
        self._ends: Mask = sum(1 << h for h, ends in enumerate(self.split_nfa.ends) if ends)
        # Threads share it. Apart from the numbers of effects, everything cached is the same whichever thread finds it.
        self._effects: list[_Effect] = []
        self._budget = Budget(max_seconds=math.inf, what="the effects of ids on the automaton of the split pattern")
        self._number_of_effect: dict[_Effect, int] = {}
        self._longer: dict[tuple[int | None, int], int] = {}
        self._applied: dict[tuple[Mask, int, bool, bool], Mask] = {}
        self._images: list[dict[Mask, Mask]] = [{} for _ in self._step_of_class]
        self._completions = Completions(self.split_nfa.class_of_code_point)

    def is_final(self, state: LiftState) -> bool:
        """Return whether a text may end in `state`."""
        return not state.cut and bool(state.states & self._ends)

    def parts(self, word: bytes) -> TokenParts | None:
        """Return the parts of a token; None for a token that occurs in no text."""
        cut = cut_apart(word)
        if cut is None:
            return None
        effect = None
        for symbol in cut.text:
            effect = self._effect_of(ord(symbol), effect)
        return self.joined(cut.head, effect, cut.tail)

    def joined(self, head: bytes, effect: int | None, tail: bytes) -> TokenParts:
        """Return the parts of a token with `head` and `tail` as the bytes of the symbols that it completes and cuts."""
        return TokenParts(head, effect, self._completions.standing_for(tail) if tail else b"")

    def step(self, state: LiftState, parts: TokenParts, may_continue: bool, may_begin: bool = True) -> LiftState | None:
        """Return the state after a token, given by its parts; None if no canonical stream continues this way.

        `may_continue` says whether a piece may cross the boundary before it, `may_begin` whether a piece may begin
        there.
        """
        # No piece can begin after an incomplete symbol.
        if state.cut and not (may_continue and parts.head):
            return None
        if parts.head and not state.cut:
            return None
        states = state.states
        cut, is_inside, must_begin = state.cut + parts.head, state.is_inside, state.must_begin
        if not state.cut:
            is_inside, must_begin = not may_begin, not may_continue
        elif _is_whole(cut):
            effect = self._effect_of(ord(cut.decode("utf-8")), None)
            states = self.apply(states, effect, not must_begin, not is_inside)
            cut, is_inside, must_begin = b"", True, False
        elif parts.effect is not None or parts.tail or not _is_beginning(cut):
            return None
        if parts.effect is not None:
            states = self.apply(states, parts.effect, not must_begin, not is_inside)
            is_inside, must_begin = True, False
        if not states:
            return None
        cut += parts.tail
        if not cut:
            return LiftState(states)
        return LiftState(states, self._completions.standing_for(cut), is_inside, must_begin)

    # Effects

    def _symbol_effect(self, number: int) -> _Effect:
        """Return the effect of a symbol of a class."""
        sets: dict[int, list[Mask]] = {CONTINUES: [], BEGINS: []}
        for moves in self.split_nfa.moves:
            if any(event == DROPPED for _, event in moves[number]):
                raise UnsupportedFeatureError("the pre-tokenizer may leave out text")
            for event, masks in sets.items():
                masks.append(sum(1 << target for target, what in moves[number] if what == event))
        return _Effect(tuple(sets[CONTINUES]), tuple(sets[BEGINS]))

    def _effect_of(self, code_point: int, before: int | None) -> int:
        """Return the number of the effect of symbols with the effect `before` followed by one more symbol."""
        return self.effect_after(before, int(self.split_nfa.class_of_code_point[code_point]))

    def effect_after(self, before: int | None, number: int) -> int:
        """Return the effect of symbols with the effect `before`, None for none, and one more of class `number`."""
        key = (before, number)
        known = self._longer.get(key)
        if known is not None:
            return known
        effect = self._step_of_class[number]
        if before is not None:
            images, inside = self._images[number], effect.inside
            masks = self._effects[before]
            for mask in {*masks.inside, *masks.begins}.difference(images):
                images[mask] = _image(mask, inside)
            effect = _Effect(*(tuple(map(images.__getitem__, side)) for side in masks))
        with SHARED:
            if effect not in self._number_of_effect:
                n_states = len(self.split_nfa.moves)
                self._budget.spend(2 * n_states * (1 + n_states // 64))
                self._effects.append(effect)
                self._number_of_effect[effect] = len(self._effects) - 1
            self._longer[key] = self._number_of_effect[effect]
            return self._longer[key]

    def apply(self, states: Mask, effect: int, may_continue: bool, may_begin: bool) -> Mask:
        """Return the hypotheses after symbols, given whether the first may continue a piece and may begin one."""
        key = (states, effect, may_continue, may_begin)
        if key not in self._applied:
            inside, begins = self._effects[effect]
            mask = _image(states, inside) if may_continue else 0
            self._applied[key] = mask | (_image(states, begins) if may_begin else 0)
        return self._applied[key]


def _image(mask: Mask, targets: tuple[Mask, ...]) -> Mask:
    image = 0
    while mask:
        lowest = mask & -mask
        image |= targets[lowest.bit_length() - 1]
        mask ^= lowest
    return image


def _is_whole(symbol: bytes) -> bool:
    try:
        return len(symbol.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


def _is_beginning(symbol: bytes) -> bool:
    """Return whether the bytes are the beginning of an incomplete symbol."""
    try:
        return not getincrementaldecoder("utf-8")().decode(symbol)
    except UnicodeDecodeError:
        return False


NOWHERE: Final = 0
DONE: Final = -1
"""The targets of a byte that no symbol has there, and of one that ends a symbol."""


class SymbolBytes:
    """The bytes of the symbols of each class, read one at a time with the class assumed.

    `leads` has for each class and each first byte the continuations: NOWHERE, DONE, or an id for :meth:`follow`.
    """

    def __init__(self, class_of_code_point: npt.NDArray[np.integer[Any]], n_classes: int) -> None:
        self._following: list[list[int]] = [[]]
        self._numbers: dict[tuple[int, ...], int] = {}
        tries = SymbolTries.of_classes(class_of_code_point)
        self.leads = []
        for wanted in range(n_classes):
            lead = [DONE if number == wanted else NOWHERE for number in class_of_code_point[:0x80].tolist()]
            lead += [NOWHERE] * 0x80
            for length, trie in tries.of_length.items():
                values = np.where(np.arange(tries.no_symbol + 1) == wanted, DONE, NOWHERE)
                for level in trie.levels:
                    # PERF: most rows have no symbol of the class; to look each up took a fifth of all seams.
                    rows = values[level]
                    leading = np.flatnonzero(rows.any(axis=1))
                    values = np.full(len(rows), NOWHERE)
                    values[leading] = [self._number(row) for row in rows[leading].tolist()]
                first = FIRST_LEADS[length]
                lead[first : first + len(trie.leads)] = values[trie.leads].tolist()
            self.leads.append(lead)

    def _number(self, row: list[int]) -> int:
        key = tuple(row)
        if key not in self._numbers:
            self._numbers[key] = len(self._following)
            self._following.append(row)
        return self._numbers[key]

    def follow(self, following: int, data: bytes) -> int:
        """Return the continuations after bytes that continue a symbol: DONE at its end, NOWHERE if they cannot."""
        for byte in data:
            if following <= NOWHERE:
                return NOWHERE
            following = self._following[following][byte & 63]
        return following

    def followers(self, following: int) -> list[int]:
        """Return the continuations after each of the 64 bytes that continue a symbol."""
        return self._following[following]

    def n_left(self, following: int) -> int:
        """Return the number of bytes after which a symbol ends."""
        count = 0
        while following > NOWHERE:
            following = next(after for after in self._following[following] if after != NOWHERE)
            count += 1
        return count

    def n_read(self, wanted: int) -> dict[int, int]:
        """Return the continuations within symbols of a class, with the least number of bytes before each."""
        found: dict[int, int] = {}
        level, count = {after for after in self.leads[wanted] if after > NOWHERE}, 1
        while level:
            for following in level:
                found.setdefault(following, count)
            level = {after for row in level for after in self._following[row] if after > NOWHERE} - found.keys()
            count += 1
        return found
