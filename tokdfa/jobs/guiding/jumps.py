"""The texts that a language forces in its states, with their ids if they are encoded separately."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tokdfa.jobs.guiding.prefixes import BaseKey, Moves, MoveTables, PrefixAutomaton, State

LONGEST_FORCED = 1 << 12


class Jump(NamedTuple):
    """Forced text, its ids if it is encoded separately, and its number of bytes."""

    text: str
    ids: tuple[int, ...]
    size: int


class _MovesInTexts(MoveTables):
    """The moves with the sizes of their ids in texts: the space that is put before a text is not in it."""

    def _made(self, key: BaseKey) -> Moves:
        moves, tokens = super()._made(key), self._prefixes.tokens
        if key[2] != self._prefixes.initial.text or not tokens.beginnings.puts_space:
            return moves
        return moves._replace(size=moves.size - ~tokens.special[moves.ids])


class Jumps:
    """The texts that a language forces, by its states."""

    def __init__(self, prefixes: PrefixAutomaton) -> None:
        self.prefixes = prefixes
        self.tables = _MovesInTexts(prefixes)
        self._known: dict[int, Jump | None] = {}

    def of(self, text: int) -> Jump | None:
        """Return the text that is forced in a state of the language; None if there is none."""
        if text not in self._known:
            forced = self.prefixes.texts.forced(text, LONGEST_FORCED)
            ids = tuple(self.prefixes.tokens.tokenizer.encode(forced).tolist()) if forced else ()
            self._known[text] = Jump(forced, ids, len(forced.encode())) if forced else None
        return self._known[text]

    def end(self, state: State, ids: Iterable[int]) -> State | None:
        """Return the state after ids of a jump; None if no canonical stream has them next."""
        for id in ids:
            target = self.prefixes.target(state, id)
            if target is None:
                return None
            state = target
        return state if self.prefixes.goes_on(state) else None
