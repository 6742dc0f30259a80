"""Texts that separate two tokenizers: the shortest one, by a search through the product of their automata.

The tokens that the first gives for a text form a path: neighbours are allowed wherever no piece is assumed to begin.
The second gives the same tokens unless, somewhere on the path, it has no such token, assumes that a piece begins within
a token, or continues a piece where it does not allow the pair of tokens. So the search is for a path to the first such
place, and from there to an end of the text. A state is one of :class:`Joint` with the last token; only the rows to
which tokens lead matter, and for many tokens that lead to one state, only the tokens that all of them forbid.

`WholePieces` finds texts in which one splitting has a word as a piece, and the other does not.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final

import numpy as np

from tokdfa.jobs.comparison.joint import Joint, remembered
from tokdfa.jobs.comparison.reach import FAR, Divergence, Product, Reach
from tokdfa.jobs.comparison.result import Stage
from tokdfa.jobs.comparison.vocabularies import Vocabularies
from tokdfa.kernels.encode.events import BEGINS

_MOST_BEGINNINGS: Final = 1_000


class Separation:
    """A search for the shortest texts to which two tokenizers give different ids.

    If there is a `first_byte`, every text begins with it. `progress` is called when the search comes to longer texts.
    """

    def __init__(
        self,
        joint: Joint,
        vocabularies: Vocabularies,
        first_byte: int | None = None,
        progress: Callable[[Stage], object] | None = None,
    ) -> None:
        self._progress = progress
        self._joint = joint
        self._tokens = vocabularies
        self._product = Product(joint, vocabularies, first_byte)
        self._reach: Reach | None = None
        # Of the effects looked at so far, those that lead to each state.
        self._effects_to: dict[int, list[int]] = defaultdict(list)
        self._n_indexed = 0

    def shortest(self) -> list[Divergence]:
        """Return the divergences of the shortest separating texts; none if no text separates."""
        self._reach = reach = Reach(self._product, progress=self._progress)
        divergences: list[Divergence] = []
        best = int(FAR)
        for divergence in reach.divergences():
            # So far the length is a lower bound: ends within reach are not looked for.
            if divergence.length > best:
                if divergence.before + 1 > best:
                    break
                continue
            kind = int(self._tokens.kind[divergence.token])
            exact = (
                divergence.before
                + int(self._tokens.length[divergence.token])
                + self._way_out(divergence.target.state, kind)
            )
            if exact < best:
                best, divergences = exact, []
            if exact == best < FAR:
                divergences.append(divergence._replace(length=exact))
            reach.limit = best
        return divergences

    @remembered(1_000_000)
    def _way_out(self, state: int, kind: int) -> int:
        """Return the least number of bytes after which a text can end."""
        if self._product.may_end(state):
            return 0
        return Reach(self._product, (state, kind)).nearest_end()

    # Texts

    def texts(self, divergences: list[Divergence], *, most: int, seconds: float) -> list[bytes]:
        """Return texts of these divergences: at least one, and no more than `most` or than time allows."""
        found: dict[bytes, None] = {}
        deadline = time.monotonic() + seconds
        for divergence in divergences:
            for text in self._texts(divergence):
                found[text] = None
                if len(found) >= most or time.monotonic() > deadline:
                    return list(found)
        return list(found)

    def _texts(self, divergence: Divergence) -> Iterator[bytes]:
        words = self._tokens.words
        rest = divergence.length - divergence.before - len(words[divergence.token])
        ends = self._endings(divergence.target.state, int(self._tokens.kind[divergence.token]), rest)
        if divergence.before == 0:
            for end in ends:
                yield words[divergence.token] + end
            return
        for token in self._candidates(divergence.state, divergence.before):
            kind = int(self._tokens.kind[token])
            if divergence.kinds is not None and kind not in divergence.kinds:
                continue
            if divergence.kinds is None and not divergence.target.begins_a and self._forbids(kind, divergence.token):
                continue
            for before in self._beginnings(divergence.state, token, divergence.before):
                for end in ends:
                    yield before + words[divergence.token] + end

    @remembered(100_000)
    def _forbids(self, kind: int, token: int) -> bool:
        return bool(self._tokens.a.forbids(int(self._tokens.row_a[kind]), np.array([token]))[0])

    @remembered(10_000)
    def _candidates(self, state: int, length: int) -> list[int]:
        """Return tokens with which texts of this length may have reached a state."""
        assert self._reach is not None
        leading = self._leading(state)
        fitting = np.isin(self._tokens.kind, self._reach.kinds_at(state, length)) & (self._tokens.length <= length)
        effects, going_on = self._product.effects, self._product.going_on
        if state < self._joint.n_states:
            # Tokens that end the symbol within which they begin have an effect of their own.
            fitting &= np.isin(effects, leading) | np.isin(np.arange(len(fitting)), going_on)
        tokens: list[int] = np.flatnonzero(fitting & (effects >= 0)).tolist()
        return tokens

    def _leading(self, state: int) -> list[int]:
        """Return the effects that lead from some state to this one."""
        effects = self._joint.effects
        for number in range(self._n_indexed, len(effects)):
            for target in {target.state for targets in effects[number] for target in targets}:
                self._effects_to[target].append(number)
        self._n_indexed = len(effects)
        return self._effects_to[state]

    @remembered(1_000_000)
    def _beginnings(self, state: int, token: int, length: int) -> tuple[bytes, ...]:
        """Return texts of this length that reach a state with a token."""
        word = self._tokens.words[token]
        before = length - len(word)
        assert self._reach is not None
        if before == 0:
            starts = self._product.first_byte is None or word[0] == self._product.first_byte
            leads = starts and any(t.state == state and t.begins_a for t in self._product.targets(0, token))
            return (word,) if leads else ()
        found: list[bytes] = []
        for source in self._reach.states_at(before):
            events = {target.begins_a for target in self._product.targets(source, token) if target.state == state}
            for previous in self._candidates(source, before) if events else ():
                if True in events or not self._forbids(int(self._tokens.kind[previous]), token):
                    found += [text + word for text in self._beginnings(source, previous, before)]
                    if len(found) > _MOST_BEGINNINGS:
                        return tuple(found)
        return tuple(found)

    @remembered(10_000)
    def _endings(self, state: int, kind: int, length: int) -> tuple[bytes, ...]:
        """Return texts of this length with which a text can end after a state."""
        if length == 0:
            return (b"",) if self._product.may_end(state) else ()
        found: list[bytes] = []
        fitting = self._product.going_on if state >= self._joint.n_states else self._product.beginning
        for token in fitting[self._tokens.length[fitting] <= length].tolist():
            for target in self._product.targets(state, token):
                if target.begins_a or not self._forbids(kind, token):
                    rest = length - len(self._tokens.words[token])
                    ends = self._endings(target.state, int(self._tokens.kind[token]), rest)
                    found += [self._tokens.words[token] + end for end in ends]
            if len(found) > _MOST_BEGINNINGS:
                break
        return tuple(found)


class WholePieces:
    """A finder of texts that have a word as a piece, in particular under only one of two splittings."""

    def __init__(self, joint: Joint) -> None:
        self._joint = joint

    def texts(self, word: str, *, of_second: bool) -> tuple[str | None, str | None]:
        """Return a text in which the word is a piece of one splitting, and one in which it is not a piece of the other.

        Each is None if such a text does not exist. They are as short as the states allow, but not proven to be
        shortest.
        """
        joint = self._joint
        # The states after the beginning of the word, and whether the other splitting has cut it alike.
        reached = {(state, True): before for state, before in self._before.items()}
        for index, symbol in enumerate(word):
            following: dict[tuple[int, bool], str] = {}
            for (state, same), before in reached.items():
                for target, *events in joint.moves(state, symbol):
                    mine, other = reversed(events) if of_second else events
                    if (mine == BEGINS) == (index == 0):
                        key = target, same and (other == BEGINS) == (index == 0)
                        following[key] = min(following.get(key, before), before, key=n_bytes)
            reached = following
        anywhere: list[str] = []
        apart: list[str] = []
        for (state, same), before in reached.items():
            behind, behind_apart = self._behind[of_second][state]
            if behind is not None:
                anywhere.append(before + word + behind)
            if (ending := behind_apart if same else behind) is not None:
                apart.append(before + word + ending)
        return min(anywhere, key=n_bytes, default=None), min(apart, key=n_bytes, default=None)

    @cached_property
    def _behind(self) -> tuple[list[tuple[str | None, str | None]], list[tuple[str | None, str | None]]]:
        """For each splitting, a text that can follow each state if its piece ends there, and if only its piece does."""
        joint = self._joint
        found: tuple[list[tuple[str | None, str | None]], ...] = ([], [])
        for state in range(joint.n_states):
            # The words may end here: pieces of the first, of the second, and of only one of them.
            ways: dict[tuple[bool, bool], list[str]] = {(True, True): [""] if joint.ends[state] else []}
            for symbol in joint.representatives:
                for target, *events in joint.moves(state, symbol):
                    kind = events[0] == BEGINS, events[1] == BEGINS
                    ways.setdefault(kind, []).append(symbol + self._to_end[target])
            least = {kind: min(texts, key=n_bytes) for kind, texts in ways.items() if texts}
            for side, (only, of_side) in enumerate((((True, False), 0), ((False, True), 1))):
                those = [text for kind, text in least.items() if kind[of_side]]
                found[side].append((min(those, key=n_bytes, default=None), least.get(only)))
        return found[0], found[1]

    @cached_property
    def _before(self) -> dict[int, str]:
        """A text that reaches each state."""
        found = {0: ""}
        queue = [0]
        for state in queue:  # It grows while it is iterated over.
            for symbol in self._joint.representatives:
                for target, *_ in self._joint.moves(state, symbol):
                    if target not in found:
                        found[target] = found[state] + symbol
                        queue.append(target)
        return found

    @cached_property
    def _to_end(self) -> dict[int, str]:
        """A text that leads from each state to one in which the text may end; every state has one."""
        joint = self._joint
        found = {state: "" for state, is_end in enumerate(joint.ends) if is_end}
        sources: dict[int, list[tuple[int, str]]] = {}
        for state in range(joint.n_states):
            for symbol in joint.representatives:
                for target, *_ in joint.moves(state, symbol):
                    sources.setdefault(target, []).append((state, symbol))
        queue = [*found]
        for state in queue:  # It grows while it is iterated over.
            for source, symbol in sources.get(state, ()):
                if source not in found:
                    found[source] = symbol + found[state]
                    queue.append(source)
        return found


def n_bytes(text: str) -> int:
    """Return the length of a text in UTF-8."""
    return len(text.encode())
