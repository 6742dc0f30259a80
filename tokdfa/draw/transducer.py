"""Pictures of transducers."""

from __future__ import annotations

from tokdfa.draw.dot import to_dot
from tokdfa.draw.graph import Edge, Graph, Node
from tokdfa.draw.labels import word_label
from tokdfa.transducers.arcs import Output
from tokdfa.transducers.transducer import Transducer

__all__ = ["transducer_graph", "transducer_to_dot"]


def transducer_graph(transducer: Transducer) -> Graph:
    """Return the picture of a transducer: arrows ``symbol|tokens``, and an arrow out of each final state that writes.

    States and transitions are in the order of their numbers. The arrow from a final state to nowhere is left out if the
    state writes nothing, as in Fig 6 of *Constructing a BPE Tokenization DFA*.
    """
    words = transducer.alphabet

    def written(output: Output) -> str:
        return "≀".join(word_label(words[token]) for token in output) or "ε"

    nodes = [Node(str(q), str(q), double=q in transducer.finals) for q in range(transducer.n_states)]
    labels: dict[tuple[int, int], list[str]] = {}
    for p, row in enumerate(transducer.arcs):
        for symbol, output, q in row:
            labels.setdefault((p, q), []).append(f"{word_label(words[symbol])}|{written(output)}")
    edges = [Edge(str(p), str(q), tuple(texts)) for (p, q), texts in labels.items()]
    for q, output in transducer.finals.items():
        if output:
            nodes.append(Node(f"end {q}", "", shape="plaintext"))
            edges.append(Edge(str(q), f"end {q}", (written(output),)))
    n_finals = len(transducer.finals)
    what = f"Transducer with {transducer.n_states} states, {n_finals} final, and {transducer.n_arcs} transitions."
    return Graph(tuple(nodes), tuple(edges), (str(transducer.initial),), description=what)


def transducer_to_dot(transducer: Transducer) -> str:
    """Return a transducer in the DOT language; see :func:`transducer_graph` and :func:`~tokdfa.draw.dot.to_dot`."""
    return to_dot(transducer_graph(transducer))
