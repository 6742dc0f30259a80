"""Where one splitting has a word as a piece, and another one has not."""

from __future__ import annotations

from functools import cached_property

from tokdfa.comparison.joint import Joint
from tokdfa.kernels.split import BEGINS

__all__ = ["WholePieces"]


class WholePieces:
    """Finds texts that have a word as a piece, and among them those that have it only by one of two splittings.

    Parameters
    ----------
    joint : Joint
        The two splittings.
    """

    def __init__(self, joint: Joint) -> None:
        self._joint = joint

    def texts(self, word: str, *, of_second: bool) -> tuple[str | None, str | None]:
        """Return a text of which a word is a piece by the one splitting, and one of which it is none by the other.

        None where there is no such text. Within what the states allow they are short, but not proven to be shortest.
        """
        joint = self._joint
        # The states behind the beginning of the word, and whether the other splitting has cut it in the same way.
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
        found: list[list[str]] = [[], []]
        for (state, same), before in reached.items():
            for behind, is_same in self._behind(state, of_second):
                found[0].append(before + word + behind)
                if not (same and is_same):
                    found[1].append(found[0][-1])
        least = [min(texts, key=_size, default=None) for texts in found]
        return least[0], least[1]

    def _behind(self, state: int, of_second: bool) -> list[tuple[str, bool]]:
        """Return what can follow a state if a piece ends there, and whether one of the other splitting does so."""
        joint = self._joint
        found = [("", True)] if joint.ends[state] else []
        for symbol in joint.representatives:
            for target, *events in joint.moves(state, symbol):
                mine, other = reversed(events) if of_second else events
                if mine == BEGINS:
                    found.append((symbol + self._to_end[target], other == BEGINS))
        return found

    @cached_property
    def _before(self) -> dict[int, str]:
        """A text with which each state is reached."""
        found = {0: ""}
        queue = [0]
        for state in queue:  # grows while it is walked
            for symbol in self._joint.representatives:
                for target, *_ in self._joint.moves(state, symbol):
                    if target not in found:
                        found[target] = found[state] + symbol
                        queue.append(target)
        return found

    @cached_property
    def _to_end(self) -> dict[int, str]:
        """A text with which each state comes to one that the text may end in; there is one for all states."""
        joint = self._joint
        found = {state: "" for state, is_end in enumerate(joint.ends) if is_end}
        sources: dict[int, list[tuple[int, str]]] = {}
        for state in range(joint.n_states):
            for symbol in joint.representatives:
                for target, *_ in joint.moves(state, symbol):
                    sources.setdefault(target, []).append((state, symbol))
        queue = [*found]
        for state in queue:  # grows while it is walked
            for source, symbol in sources.get(state, ()):
                if source not in found:
                    found[source] = symbol + found[state]
                    queue.append(source)
        return found


def _size(text: str) -> int:
    return len(text.encode())
