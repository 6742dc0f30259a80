"""The warning about dead ends: states that allow no token and accept nothing, which only a trim automaton has not."""

from __future__ import annotations

import warnings
from typing import Any

from tokdfa.arrays import BoolArray
from tokdfa.automata.protocol import TokenAutomaton

__all__ = ["DeadEndWarning", "warn_of_dead_end"]


class DeadEndWarning(UserWarning):
    """The mask of a state from which nothing is accepted; sampling should use a trim automaton."""


def warn_of_dead_end(automaton: TokenAutomaton[Any], state: Any, mask: BoolArray) -> None:
    """Warn if a mask is that of a state which is not final and allows no token: whoever samples is stuck there."""
    if not mask.any() and not automaton.is_final(state):
        warnings.warn(
            f"state {state} is a dead end: it allows no token and is not final. Sample with the masks of the trim "
            "automaton, TokenDFA.from_automaton(automaton, alphabet).trim(); see the guide on constrained decoding",
            DeadEndWarning,
            stacklevel=3,
        )
