"""The product of the automata of two tokenizers: its states, and the effects of tokens in them.

A state is one of :class:`~tokdfa.comparison.joint.Joint`, between symbols or within one. Tokens that lead from every
state to the same ones have one effect. A token that begins within a symbol has the effect of the rest after that
symbol; its beginning is looked at separately.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

import numpy as np

from tokdfa.arrays import Int64Array
from tokdfa.comparison.joint import Joint, Target
from tokdfa.comparison.remembered import remembered
from tokdfa.comparison.vocabularies import Vocabularies
from tokdfa.splitting.symbol_bytes import DONE, NOWHERE

__all__ = ["Product"]


class Product:
    """The effects of the live tokens of the first of two tokenizers in the states of their product.

    Parameters
    ----------
    joint : Joint
        The splittings, that of the first tokenizer first.
    tokens : Vocabularies
        The tokens.
    first_byte : int, optional
        The byte with which every text begins.

    Attributes
    ----------
    effects : int64 array
        The number in `joint` of each token's effect; -1 for tokens that no text has.
    beginning, going_on : int64 arrays
        The tokens that begin with a symbol, and those that go on with one.
    tokens_of : dict
        The tokens that begin with a symbol, by their effects.
    """

    def __init__(self, joint: Joint, tokens: Vocabularies, first_byte: int | None = None) -> None:
        self.joint = joint
        self.tokens = tokens
        self.first_byte = first_byte
        effects, self._heads = joint.effects_of(tokens.words)
        self.effects: Int64Array = effects
        is_head = np.zeros(len(effects), dtype=np.bool_)
        is_head[list(self._heads)] = True
        self.going_on: Int64Array = np.flatnonzero(is_head & (effects >= 0))
        self.beginning: Int64Array = np.flatnonzero(~is_head & (effects >= 0))
        self.tokens_of = dict(self.by_effect(self.beginning))
        self._going_on_by: dict[bytes, list[int]] = {}
        for token in self.going_on.tolist():
            self._going_on_by.setdefault(self._heads[token], []).append(token)

    def by_effect(self, tokens: Int64Array) -> Iterator[tuple[int, Int64Array]]:
        """Yield the effects of some tokens, and the tokens of each effect."""
        if len(tokens):
            effects = self.effects[tokens]
            order = np.argsort(effects, kind="stable")
            found, begin = np.unique(effects[order], return_index=True)
            yield from zip(found.tolist(), np.split(tokens[order], begin[1:]), strict=True)

    def iter_going_on(self, state: int) -> Iterator[int]:
        """Yield the tokens that lead anywhere from a state within a symbol."""
        behind, following = self.joint.within[state - self.joint.n_states]
        yield from (
            token
            for token, effect in self._continuing(following)
            if effect is None or self.joint.effect(effect)[behind]
        )

    @remembered(100_000)
    def _continuing(self, following: int) -> list[tuple[int, int | None]]:
        """Return the tokens that begin with what may follow within a symbol.

        Those that end it come with their effects after it, and those that are inside it with None.
        """
        found: list[tuple[int, int | None]] = []
        for head, tokens in self._going_on_by.items():
            then = self.joint.follow(following, head)
            if then == DONE:
                found += zip(tokens, self.effects[tokens].tolist(), strict=True)
            elif then != NOWHERE:
                found += [(token, None) for token in tokens if len(head) == len(self.tokens.words[token])]
        found.sort(key=itemgetter(0))
        return found

    def targets(self, state: int, token: int) -> tuple[Target, ...]:
        """Return the states after a token, whatever the pair test says."""
        joint = self.joint
        if token not in self._heads:
            return joint.effect(int(self.effects[token]))[state] if state < joint.n_states else ()
        if state < joint.n_states:
            return ()
        behind, following = joint.within[state - joint.n_states]
        following = joint.follow(following, self._heads[token])
        if following == NOWHERE:
            return ()
        is_all = len(self._heads[token]) == len(self.tokens.words[token])
        if following != DONE:
            return (Target(joint.state_within(behind, following), False, False, False),) if is_all else ()
        return joint.effect(int(self.effects[token]))[behind]

    def may_end(self, state: int) -> bool:
        """Return whether a text can end in a state."""
        return state < self.joint.n_states and self.joint.ends[state]
