"""Minimal subsequential transducers."""

from __future__ import annotations

import numpy as np

from tokdfa.automata.exploration import Numbering
from tokdfa.automata.transducers.arcs import Arc, Output, common_prefix
from tokdfa.automata.transducers.transducer import Transducer
from tokdfa.base.errors import AutomatonError
from tokdfa.kernels.dfa.explicit import coarsest_partition

__all__ = ["minimize", "onward"]


def onward(transducer: Transducer) -> Transducer:
    """Return the subsequential transducer of the same function that writes every token as early as possible.

    The common prefix of all outputs from a state is written before the state is reached. The initial state is an
    exception, because nothing is read before it: if all outputs have a common prefix, it becomes a separate state to
    which no transition leads and whose transitions write the prefix.
    """
    verdict = transducer.subsequentiality()
    if not verdict:
        raise AutomatonError(f"the transducer is not subsequential: {verdict.reason}", hint="determinize it first")
    trim = transducer.trim()
    if not trim.finals:
        return trim
    ahead = _common_outputs(trim)

    def arcs_of(state: int, before: Output) -> list[Arc]:
        return [
            Arc(symbol, (before + output + ahead[target])[len(ahead[state]) :], target)
            for symbol, output, target in trim.arcs[state]
        ]

    arcs = [arcs_of(state, ()) for state in range(trim.n_states)]
    finals = {state: output[len(ahead[state]) :] for state, output in trim.finals.items()}
    prefix = ahead[trim.initial]
    if not prefix:
        return Transducer(trim.alphabet, arcs, trim.initial, finals=finals)
    first = trim.n_states
    arcs.append([Arc(symbol, prefix + output, target) for symbol, output, target in arcs[trim.initial]])
    if trim.initial in finals:
        finals[first] = prefix + finals[trim.initial]
    return Transducer(trim.alphabet, arcs, first, finals=finals).trim()


def _common_outputs(transducer: Transducer) -> list[Output]:
    """Return the longest common prefix of all outputs from each state."""
    into: list[list[tuple[int, Arc]]] = [[] for _ in transducer.arcs]
    for state, row in enumerate(transducer.arcs):
        for arc in row:
            into[arc.target].append((state, arc))
    # Start with some output of each state, then shorten it to prefixes until nothing contradicts.
    ahead: list[Output | None] = [transducer.finals.get(state) for state in range(transducer.n_states)]
    queue = list(transducer.finals)
    for state in queue:  # grows during the loop
        for source, arc in into[state]:
            if ahead[source] is None:
                ahead[source] = arc.output + (ahead[state] or ())
                queue.append(source)
    waiting = dict.fromkeys(range(transducer.n_states))
    found = [output or () for output in ahead]
    while waiting:
        state = waiting.popitem()[0]
        for source, arc in into[state]:
            shared = common_prefix((found[source], arc.output + found[state]))
            if len(shared) < len(found[source]):
                found[source] = shared
                waiting[source] = None
    return found


def minimize(transducer: Transducer) -> Transducer:
    """Return the minimal onward subsequential transducer of the same function, numbered breadth first.

    Equal functions over equal alphabets give equal (``==``) results. No subsequential transducer is smaller, unless all
    outputs begin with the same token (see :func:`onward`).

    Raises
    ------
    AutomatonError
        If the transducer is not subsequential.

    Notes
    -----
    C. Choffrut, *Minimizing subsequential transducers: a survey*, 2003: in onward form, equivalent states have equal
    outputs on equal symbols, and the coarsest partition of a DFA over (symbol, output) finds them.
    """
    trim = onward(transducer)
    if not trim.finals:
        return trim
    # The output of a final state is the label of one more transition, to a state where all words end.
    labels: dict[tuple[int, Output], int] = {}
    end = trim.n_states
    cords = [
        (state, labels.setdefault((symbol, output), len(labels)), target)
        for state, row in enumerate(trim.arcs)
        for symbol, output, target in row
    ]
    cords += [(state, labels.setdefault((-1, output), len(labels)), end) for state, output in trim.finals.items()]
    sources, tokens, targets = np.array(cords, dtype=np.int32).T.copy()
    final = np.zeros(end + 1, dtype=np.bool_)
    final[end] = True
    block = coarsest_partition(sources, tokens, targets, final, len(labels)).tolist()
    representative: dict[int, int] = {}
    for state in range(end):
        representative.setdefault(block[state], state)
    numbers = Numbering(block[trim.initial])
    arcs = [
        [Arc(symbol, output, numbers[block[target]]) for symbol, output, target in trim.arcs[representative[one]]]
        for one in numbers.states  # grows during the loop
    ]
    ends = {number: representative[one] for one, number in numbers.items()}
    finals = {number: trim.finals[end] for number, end in ends.items() if end in trim.finals}
    return Transducer(trim.alphabet, arcs, finals=finals)
