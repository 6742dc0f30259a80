"""The joint hypotheses of two pre-tokenizers over UTF-8, and the effects of tokens on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial, wraps
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from tokdfa.automata.protocol import Numbering, reached
from tokdfa.base.arrays import Int64Array, running_sum
from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.kernels.encode.events import BEGINS, CONTINUES, DROPPED
from tokdfa.kernels.walk.parts import BAD, MOST_EFFECTS, number_keys, parts_of_key, take_apart
from tokdfa.regex.unicode.utf8 import cut_apart
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA
from tokdfa.tokenizers.pretokenizers.token_lift import DONE, NOWHERE, SymbolBytes

_NOT_HERE = -2


class Target(NamedTuple):
    """The state after some bytes."""

    state: int
    # Whether the first and the second splitting assume that a piece begins with the first symbol that begins in them.
    begins_a: bool
    begins_b: bool
    # Whether the second assumes that a piece begins with one of the later symbols.
    cut_b: bool


# The effect of some bytes: for each state the states after them.
Effect: TypeAlias = tuple[tuple[Target, ...], ...]


class Joint:
    """The assumptions of two splittings about one text, as an unambiguous automaton over its bytes.

    A state is a hypothesis of each splitting and, within a symbol, the bytes that may follow for the symbol to be of
    the class assumed when its first byte was read. No piece of the first splitting may begin within a token; it is
    recorded whether one of the second does. A splitting that drops text is refused.

    The `n_states` states between symbols come first, 0 being the initial one, and `ends` is whether the end of the text
    confirms them. The states within a symbol that were met so far are numbered after them: `within` has the state after
    the symbol, and the id of its possible continuations. `effects` are the effects met so far, by their numbers.
    """

    def __init__(self, first: SplitNFA, second: SplitNFA) -> None:
        width = int(second.class_of_code_point.max()) + 1
        pair = first.class_of_code_point.astype(np.int64) * width + second.class_of_code_point
        # Counted and not sorted: there are a million code points and few classes.
        pairs = np.flatnonzero(np.bincount(pair))
        number = np.zeros(int(pairs[-1]) + 1, dtype=np.int64)
        number[pairs] = np.arange(len(pairs))
        classes = number[pair]
        symbols = [divmod(key, width) for key in pairs.tolist()]
        self._moves, self.ends = _explore(first, second, symbols, Budget(what="the automaton of both split patterns"))
        # Classes that nothing distinguishes any more become one.
        columns: dict[tuple[tuple[tuple[int, int, int], ...], ...], int] = {}
        merged = [columns.setdefault(tuple(row[c] for row in self._moves), len(columns)) for c in range(len(symbols))]
        self.n_states = len(self._moves)
        self._by_class = list(columns)
        self._class_of_code_point = np.array(merged, dtype=np.int64)[classes.reshape(-1)]
        self._bytes = SymbolBytes(self._class_of_code_point, len(self._by_class))
        self.within: list[tuple[int, int]] = []
        self._number_within: dict[tuple[int, int], int] = {}
        self.effects: list[Effect] = []
        self._budget = Budget(max_seconds=math.inf, what="the effects of tokens on both split patterns")
        self._numbers: dict[Effect, int] = {}
        self._longer: dict[tuple[int, str], int] = {}
        self._longer_by_class: dict[tuple[int, int], int] = {}
        self._cut: dict[tuple[int, bytes], int] = {}
        states = range(self.n_states)
        # Before the first symbol of a token; and within a token, where its first symbol has been.
        self._before = self._number(tuple((Target(state, True, True, True),) for state in states))
        self._inside = self._number(tuple((Target(state, False, False, False),) for state in states))

    @cached_property
    def representatives(self) -> list[str]:
        """A symbol of each nonempty class, the classes in no particular order."""
        of_code_point = self._class_of_code_point.copy()
        of_code_point[0xD800:0xE000] = -1
        # A printable symbol if the class has one.
        order = np.concatenate((np.arange(0x21, len(of_code_point)), np.arange(0x21)))
        found, first = np.unique(of_code_point[order], return_index=True)
        return [chr(order[at]) for number, at in zip(found.tolist(), first.tolist(), strict=True) if number >= 0]

    def moves(self, state: int, symbol: str) -> tuple[tuple[int, int, int], ...]:
        """Return the moves on a symbol in a state between symbols: the states after it, and its effect on pieces."""
        return self._by_class[int(self._class_of_code_point[ord(symbol)])][state]

    def follow(self, following: int, data: bytes) -> int:
        """Return the continuations after bytes that continue a symbol: DONE at its end, NOWHERE if they cannot."""
        return self._bytes.follow(following, data)

    def state_within(self, state: int, following: int) -> int:
        """Return the number of a state within a symbol."""
        key = state, following
        if key not in self._number_within:
            self._number_within[key] = self.n_states + len(self.within)
            self.within.append(key)
        return self._number_within[key]

    def effects_of(self, words: Sequence[bytes], *, most: int = MOST_EFFECTS) -> tuple[Int64Array, dict[int, bytes]]:
        """Return the effects of words, -1 for one that no text has, and by index the ends of earlier symbols in them.

        The effect of a word that begins with such bytes is the effect of the rest, within a token. If there are more
        than `most` classes or effects, the words are taken one by one.
        """
        effects: Int64Array = np.full(len(words), -1, dtype=np.int64)
        heads: dict[int, bytes] = {}
        for index in self._note_effects(words, effects, most):
            cut = cut_apart(words[index])
            if cut is not None:
                effects[index] = self.effect_of(cut.text, cut.tail, inside=bool(cut.head))
                if cut.head:
                    heads[index] = cut.head
        return effects, heads

    def _note_effects(self, words: Sequence[bytes], effects: Int64Array, most: int) -> Iterable[int]:
        """Note the effects of words that begin with a symbol, all at once; return the indices of the others."""
        offsets = running_sum(np.fromiter(map(len, words), dtype=np.int64, count=len(words)))
        if len(self._by_class) > most:
            return range(len(words))
        try:
            keys, told = take_apart(
                np.frombuffer(b"".join(words), dtype=np.uint8),
                offsets,
                np.zeros(len(words), dtype=np.bool_),
                self._class_of_code_point.astype(np.uint16),
                len(self._by_class),
                np.zeros(256, dtype=np.int32),
                partial(self._effect_after, most),
            )
        except LimitExceededError:
            return range(len(words))
        numbered = number_keys(keys, len(words))
        assert numbered is not None
        of_key = []
        for key in numbered[0].tolist():
            head, effect, tail = parts_of_key(key)
            effect = self._before if effect is None else effect
            of_key.append(_NOT_HERE if head else self._with_tail(effect, tail) if tail else effect)
        effects[:] = np.array(of_key, dtype=np.int64)[numbered[1]]
        rest = (effects == _NOT_HERE) | (offsets[1:] == offsets[:-1])
        effects[rest | (told == BAD)] = -1
        unread: list[int] = np.flatnonzero(rest).tolist()
        return unread

    def _effect_after(self, most: int, before: int | None, wanted: int) -> int:
        """Return the effect of symbols with an effect, None for none, and one more symbol of a class."""
        found = self._longer_by(self._before if before is None else before, wanted)
        if found > most:
            raise LimitExceededError("too many effects for the kernel", value=found)
        return found

    def effect_of(self, text: str, tail: bytes, *, inside: bool) -> int:
        """Return the number of the effect of whole symbols and then of `tail`, the bytes of a symbol cut short.

        With `inside` they are within a token, so that no piece of the first splitting begins with any of them.
        """
        effect = self._inside if inside else self._before
        longer = self._longer
        for symbol in text:
            key = effect, symbol
            if key not in longer:
                longer[key] = self._longer_by(effect, int(self._class_of_code_point[ord(symbol)]))
            effect = longer[key]
        return self._with_tail(effect, tail) if tail else effect

    def _longer_by(self, effect: int, wanted: int) -> int:
        """Return the effect of one more symbol, of a class."""
        if (effect, wanted) not in self._longer_by_class:
            self._longer_by_class[effect, wanted] = self._extended(effect, {wanted: DONE})
        return self._longer_by_class[effect, wanted]

    def _with_tail(self, effect: int, tail: bytes) -> int:
        """Return the effect of the first bytes of one more symbol."""
        if (effect, tail) not in self._cut:
            leads = {c: self.follow(lead[tail[0]], tail[1:]) for c, lead in enumerate(self._bytes.leads)}
            self._cut[effect, tail] = self._extended(effect, leads)
        return self._cut[effect, tail]

    def _extended(self, effect: int, symbols: dict[int, int]) -> int:
        """Return the effect of one more symbol, of one of these classes, or of its beginning."""
        extended = []
        is_first = effect == self._before
        for targets in self.effects[effect]:
            behind: set[Target] = set()
            for target in targets:
                for wanted, following in symbols.items():
                    if following == NOWHERE:
                        continue
                    for state, event_a, event_b in self._by_class[wanted][target.state]:
                        if following != DONE:
                            state = self.state_within(state, following)
                        if is_first:
                            behind.add(Target(state, event_a == BEGINS, event_b == BEGINS, False))
                        elif event_a == CONTINUES:
                            behind.add(target._replace(state=state, cut_b=target.cut_b or event_b == BEGINS))
            extended.append(tuple(sorted(behind)))
        return self._number(tuple(extended))

    def _number(self, effect: Effect) -> int:
        if effect not in self._numbers:
            self._budget.spend(len(effect) + sum(map(len, effect)))
            self._numbers[effect] = len(self.effects)
            self.effects.append(effect)
        return self._numbers[effect]


def _explore(
    first: SplitNFA, second: SplitNFA, symbols: list[tuple[int, int]], budget: Budget
) -> tuple[list[list[tuple[tuple[int, int, int], ...]]], list[bool]]:
    """Return the transitions of the pairs of hypotheses that some text confirms, by class, and which may end."""
    numbers = Numbering((0, 0))
    rows: list[list[list[tuple[int, int, int]]]] = []
    for one, other in numbers.states:  # It grows while it is iterated over.
        row: list[list[tuple[int, int, int]]] = []
        for class_a, class_b in symbols:
            cell = []
            for target_a, event_a in first.moves[one][class_a]:
                for target_b, event_b in second.moves[other][class_b]:
                    if DROPPED in (event_a, event_b):
                        raise UnsupportedFeatureError("a pre-tokenizer may drop text")
                    cell.append((numbers[target_a, target_b], event_a, event_b))
            row.append(cell)
        rows.append(row)
        budget.spend(sum(map(len, row)) + len(row))
        budget.check_states(len(numbers))
    ends = [first.ends[one] and second.ends[other] for one, other in numbers.states]
    arrows = {(state, target) for state, row in enumerate(rows) for cell in row for target, *_ in cell}
    sources, targets = np.array([*arrows], dtype=np.int32).reshape(-1, 2).T.copy()
    kept = {old: new for new, old in enumerate(np.flatnonzero(reached(targets, sources, ends)).tolist())}
    moves = [
        [tuple((kept[target], *events) for target, *events in cell if target in kept) for cell in rows[old]]
        for old in kept
    ]
    return moves, [ends[old] for old in kept]


Method = TypeVar("Method", bound=Callable[..., Any])


def remembered(most: int) -> Callable[[Method], Method]:
    """Cache the results of a method in its object, by positional arguments; clear the cache at `most` results.

    The cache of ``functools.lru_cache`` belongs to the class and would keep each object, with all it refers to, alive.
    """

    def decorate(method: Method) -> Method:
        name = f"_remembered_{method.__name__}"

        @wraps(method)
        def remembering(self: Any, *args: Any) -> Any:
            answers: dict[tuple[object, ...], Any] = self.__dict__.setdefault(name, {})
            try:
                return answers[args]
            except KeyError:
                answer = method(self, *args)
                if len(answers) >= most:
                    answers.clear()
                answers[args] = answer
                return answer

        return cast(Method, remembering)

    return decorate
