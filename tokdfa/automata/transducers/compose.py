"""Composing transducers with automata over their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokdfa.automata.exploration import Numbering
from tokdfa.automata.protocol import TokenAutomaton, check_budget, run
from tokdfa.automata.transducers.arcs import Arc, Output

if TYPE_CHECKING:
    from tokdfa.automata.transducers.transducer import Transducer

__all__ = ["compose"]


def compose(transducer: Transducer, automaton: TokenAutomaton[int], *, max_states: int) -> Transducer:
    """Return the composition; see :meth:`~tokdfa.automata.transducers.transducer.Transducer.compose`."""
    of = "the composition would have"
    pairs = Numbering((transducer.initial, automaton.initial), lambda n: check_budget("states", n, max_states, of))
    arcs: list[list[Arc]] = []
    finals: dict[int, Output] = {}
    for here, (p, s) in enumerate(pairs.states):  # grows during the loop
        if p in transducer.finals:
            end = run(automaton, transducer.finals[p], s)
            if end is not None and automaton.is_final(end):
                finals[here] = transducer.finals[p]
        steps = ((arc, run(automaton, arc.output, s)) for arc in transducer.arcs[p])
        arcs.append([Arc(arc.symbol, arc.output, pairs[arc.target, t]) for arc, t in steps if t is not None])
    return type(transducer)(transducer.alphabet, arcs, finals=finals)
