"""Composing transducers with automata over their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokdfa.automata.exploration import Numbering
from tokdfa.automata.protocol import TokenAutomaton
from tokdfa.errors import LimitExceededError
from tokdfa.transducers.arcs import Arc, Output

if TYPE_CHECKING:
    from tokdfa.transducers.transducer import Transducer

__all__ = ["compose"]


def compose(transducer: Transducer, automaton: TokenAutomaton[int], *, max_states: int) -> Transducer:
    """Return the composition; see :meth:`~tokdfa.transducers.transducer.Transducer.compose`."""

    def check(count: int) -> None:
        if count > max_states:
            raise LimitExceededError(
                f"the composition would have more than {max_states} states", hint="raise max_states"
            )

    pairs = Numbering((transducer.initial, automaton.initial), check)
    arcs: list[list[Arc]] = []
    finals: dict[int, Output] = {}
    for here, (p, s) in enumerate(pairs.states):  # grows during the loop
        if p in transducer.finals:
            end = _run(automaton, s, transducer.finals[p])
            if end is not None and automaton.is_final(end):
                finals[here] = transducer.finals[p]
        steps = ((arc, _run(automaton, s, arc.output)) for arc in transducer.arcs[p])
        arcs.append([Arc(arc.symbol, arc.output, pairs[arc.target, t]) for arc, t in steps if t is not None])
    return type(transducer)(transducer.alphabet, arcs, finals=finals)


def _run(automaton: TokenAutomaton[int], state: int, output: Output) -> int | None:
    current: int | None = state
    for token in output:
        if current is None:
            return None
        current = automaton.step(current, token)
    return current
