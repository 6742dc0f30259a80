"""Runs of explicit token DFAs, as evidence for verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tokdfa.alphabet import Word, show
from tokdfa.automata.token_dfa import TokenDFA

__all__ = ["Run", "run_from"]


class Run(NamedTuple):
    """A run: the states that it visits, and the spelled tokens between them."""

    states: tuple[int, ...]
    tokens: tuple[Word, ...]

    def __str__(self) -> str:
        steps = (f" –{show(token)}→ {state}" for token, state in zip(self.tokens, self.states[1:], strict=True))
        return f"{self.states[0]}{''.join(steps)}"


def run_from(dfa: TokenDFA, state: int, tokenization: Sequence[int]) -> Run | None:
    """Return the run from `state` that reads these token numbers, or None if there is none."""
    states = [state]
    for token in tokenization:
        following = dfa.step(states[-1], token)
        if following is None:
            return None
        states.append(following)
    return Run(tuple(states), dfa.alphabet.spell(tokenization))
