"""Texts in which one splitting has a word as a piece, and another does not."""

from __future__ import annotations

from functools import cached_property

from tokdfa.comparison.joint import Joint
from tokdfa.kernels.encode.events import BEGINS

__all__ = ["WholePieces"]


class WholePieces:
    """A finder of texts that have a word as a piece, in particular under only one of two splittings.

    Parameters
    ----------
    joint : Joint
        The two splittings.
    """

    def __init__(self, joint: Joint) -> None:
        self._joint = joint

    def texts(self, word: str, *, of_second: bool) -> tuple[str | None, str | None]:
        """Return a text in which the word is a piece of one splitting, and one in which it is no piece of the other.

        Each is None if there is no such text. They are as short as the states allow, but not proven to be shortest.
        """
        joint = self._joint
        # The states after the beginning of the word, and whether the other splitting has cut it alike.
        reached = {(state, True): before for state, before in self._before.items()}
        for place, symbol in enumerate(word):
            following: dict[tuple[int, bool], str] = {}
            for (state, same), before in reached.items():
                for target, *events in joint.moves(state, symbol):
                    mine, other = reversed(events) if of_second else events
                    if (mine == BEGINS) == (place == 0):
                        key = target, same and (other == BEGINS) == (place == 0)
                        following[key] = min(following.get(key, before), before, key=_size)
            reached = following
        anywhere: list[str] = []
        apart: list[str] = []
        for (state, same), before in reached.items():
            behind, behind_apart = self._behind[of_second][state]
            if behind is not None:
                anywhere.append(before + word + behind)
            if (ending := behind_apart if same else behind) is not None:
                apart.append(before + word + ending)
        return min(anywhere, key=_size, default=None), min(apart, key=_size, default=None)

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
            least = {kind: min(texts, key=_size) for kind, texts in ways.items() if texts}
            for side, (only, of_side) in enumerate((((True, False), 0), ((False, True), 1))):
                those = [text for kind, text in least.items() if kind[of_side]]
                found[side].append((min(those, key=_size, default=None), least.get(only)))
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


def _size(text: str) -> int:
    return len(text.encode())
