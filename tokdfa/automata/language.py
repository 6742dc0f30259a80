"""The members of a token automaton's language: counting, listing and sampling."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterator
from functools import cached_property
from itertools import count
from typing import Generic, TypeVar

import numpy as np

from tokdfa.automata.protocol import TokenAutomaton, explore, reached, shortest_way
from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import AutomatonError
from tokdfa.base.suggestions import wrong_argument
from tokdfa.base.verdict import Displayed, Verdict

__all__ = ["Language"]

S = TypeVar("S", bound=Hashable)

DEFAULT_MAX_STATES = 100_000
DEFAULT_MAX_TRANSITIONS = 20_000_000


class Language(Displayed, Generic[S]):
    """The language of a token automaton; its reachable part is explored once.

    Iteration yields the members as tuples of token numbers, shortest first, and in token order within a length.
    For an infinite language the iteration does not end. ``in`` takes such a tuple, or a list, and always ends.

    Parameters
    ----------
    automaton : TokenAutomaton
        Any automaton that implements the protocol.
    max_states, max_transitions : int
        The maximum numbers of reachable states and transitions.

    Raises
    ------
    LimitExceededError
        If more are reachable.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> members = tokdfa.Language(tokdfa.token_dfa(d, "a|aab|baa"))
    >>> [d.alphabet.spell(member) for member in members]
    [('a',), ('b', 'aa'), ('aa', 'b')]
    >>> members.count(2), bool(members.finiteness())
    (2, True)
    """

    def __init__(
        self,
        automaton: TokenAutomaton[S],
        *,
        max_states: int = DEFAULT_MAX_STATES,
        max_transitions: int = DEFAULT_MAX_TRANSITIONS,
    ) -> None:
        if not hasattr(type(automaton), "moves"):
            raise wrong_argument(automaton, "a token DFA, or another automaton,", "tokdfa.Language(automaton)")
        rows: list[Int32Array] = []
        final: list[bool] = []
        for state, row in explore(automaton, max_states, max_transitions, "the language has"):
            final.append(automaton.is_final(state))
            rows.append(np.array([*row.items()], dtype=np.int32).reshape(-1, 2))
        sources = np.repeat(np.arange(len(rows), dtype=np.int32), [len(row) for row in rows])
        targets = np.concatenate([row[:, 1] for row in rows])
        useful = reached(targets, sources, final)
        # Only transitions that lead to a final state are kept, so every path counts towards a member.
        self._rows = [row[useful[row[:, 1]]] for row in rows]
        self._ways = [sorted(Counter(row[:, 1].tolist()).items()) for row in self._rows]
        self._counts: list[list[int]] = [[int(accepting) for accepting in final]]

    @property
    def n_states(self) -> int:
        """The number of states explored, including those that lead to no final state."""
        return len(self._rows)

    def _count(self, length: int) -> list[int]:
        """Return the number of accepted tokenizations of `length` tokens that begin in each state."""
        while len(self._counts) <= length:
            last = self._counts[-1]
            self._counts.append([sum(ways * last[target] for target, ways in row) for row in self._ways])
        return self._counts[length]

    def count(self, length: int) -> int:
        """Return the number of members of exactly `length` tokens."""
        if length < 0:
            raise AutomatonError("the length must not be negative", value=length)
        return self._count(length)[0]

    @cached_property
    def _depths(self) -> tuple[list[int], set[int]]:
        """The length of the longest path to each state, and the states that are on a cycle or reachable from one."""
        into = Counter(target for row in self._ways for target, _ in row)
        depth = [-1] * len(self._ways)
        depth[0] = 0
        ready = [0] if not into[0] else []
        for state in ready:  # grows during the loop
            for target, _ in self._ways[state]:
                depth[target] = max(depth[target], depth[state] + 1)
                into[target] -= 1
                if not into[target]:
                    ready.append(target)
        return depth, {state for state, left in into.items() if left}

    @property
    def longest(self) -> int | None:
        """The number of tokens in the longest member; None if the language is infinite, -1 if it is empty."""
        depth, cyclic = self._depths
        if cyclic:
            return None
        return max((length for length, final in zip(depth, self._counts[0], strict=True) if final), default=-1)

    def is_empty(self) -> bool:
        """Return whether the language has no member."""
        return self.longest == -1

    def finiteness(self) -> Verdict[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
        """Decide whether the language is finite.

        If it is infinite, the witness is (x, y, z) with y not empty: x yⁿ z is a member for all n.
        """
        if self.longest is not None:
            reason = f"the longest member has {self.longest} tokens" if self.longest >= 0 else "empty"
            return Verdict(True, None, reason)
        cyclic = self._depths[1]
        before = {
            int(target): (state, int(token))
            for state in sorted(cyclic)
            for token, target in self._rows[state][::-1]
            if target in cyclic
        }
        # Every state in `cyclic` has a predecessor in it, so walking backwards meets some state again.
        state = min(before)
        seen: set[int] = set()
        while state not in seen:
            seen.add(state)
            state = before[state][0]
        knot = state
        loop: list[int] = []
        while not loop or state != knot:
            state, token = before[state]
            loop.append(token)
        x = self._shortest_way(0, {knot})
        z = self._shortest_way(knot, {i for i, final in enumerate(self._counts[0]) if final})
        return Verdict(False, (x, tuple(reversed(loop)), z), f"{len(loop)} tokens can be repeated without end")

    def _shortest_way(self, source: int, goals: set[int]) -> tuple[int, ...]:
        way = shortest_way(source, lambda state: self._rows[state].tolist(), goals.__contains__)
        assert way is not None, "every useful state leads to a final one"
        return tuple(way)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        longest = self.longest
        for length in count() if longest is None else range(longest + 1):
            yield from self._members(length)

    def __contains__(self, member: object) -> bool:
        """Return whether a sequence of token numbers is a member."""
        if not isinstance(member, (tuple, list)):
            return False
        state = 0
        for token in member:
            row = self._rows[state]
            found = row[row[:, 0] == token, 1] if isinstance(token, (int, np.integer)) else row[:0, 1]
            if not len(found):
                return False
            state = int(found[0])
        return bool(self._counts[0][state])

    def _members(self, length: int) -> Iterator[tuple[int, ...]]:
        """Yield the members of `length` tokens, in token order."""
        if not self.count(length):
            return
        path: list[int] = []
        pending = [self._moves_within(0, length)]
        while pending:
            if len(path) == length:
                yield tuple(path)
                move = None
            else:
                move = next(pending[-1], None)
            if move is None:
                pending.pop()
                del path[-1:]
            else:
                token, target = move
                path.append(token)
                pending.append(self._moves_within(target, length - len(path)))

    def _moves_within(self, state: int, length: int) -> Iterator[tuple[int, int]]:
        """Yield the moves that begin an accepted tokenization of `length` tokens."""
        if length == 0:
            return
        left = self._count(length - 1)
        for token, target in self._rows[state].tolist():
            if left[target]:
                yield token, target

    def sample(self, length: int, rng: random.Random | None = None) -> tuple[int, ...]:
        """Return a random member of exactly `length` tokens, all equally likely; without `rng`, the system seeds one.

        An AutomatonError says that no member has this length.
        """
        if not self.count(length):
            raise AutomatonError("the language has no member with this number of tokens", value=length)
        rng = rng or random.Random()
        state, tokens = 0, []
        for left in range(length - 1, -1, -1):
            counts = self._count(left)
            chosen = rng.randrange(self._count(left + 1)[state])
            for target, ways in self._ways[state]:
                if chosen < ways * counts[target]:
                    break
                chosen -= ways * counts[target]
            row = self._rows[state]
            tokens.append(int(row[row[:, 1] == target, 0][chosen // counts[target]]))
            state = target
        return tuple(tokens)
