"""Pictures of token automata."""

from __future__ import annotations

from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.draw.dot import to_dot
from tokdfa.draw.graph import Edge, Graph, Node
from tokdfa.draw.labels import word_label

__all__ = ["dfa_graph", "dfa_to_dot"]


def dfa_graph(dfa: TokenDFA, *, max_labels: int | None = None) -> Graph:
    """Return the picture of a token DFA, states and tokens in the order of their numbers.

    Parameters
    ----------
    dfa : TokenDFA
        What to draw, useless states and all.
    max_labels : int, optional
        How many tokens to write on one arrow; the others are counted there. All of them by default.
    """
    nodes = tuple(Node(str(state), str(state), double=dfa.is_final(state)) for state in range(dfa.n_states))
    tokens: dict[tuple[int, int], list[str]] = {}
    for source, token, target in dfa.edges():
        tokens.setdefault((source, target), []).append(word_label(token))
    edges = (Edge(str(p), str(q), _limited(labels, max_labels)) for (p, q), labels in tokens.items())
    return Graph(nodes, tuple(edges), (str(dfa.initial),))


def dfa_to_dot(dfa: TokenDFA, *, max_labels: int | None = None) -> str:
    """Return a token DFA in the DOT language; see :func:`dfa_graph` and :func:`~tokdfa.draw.dot.to_dot`."""
    return to_dot(dfa_graph(dfa, max_labels=max_labels))


def _limited(labels: list[str], max_labels: int | None) -> tuple[str, ...]:
    if max_labels is None or len(labels) <= max_labels:
        return tuple(labels)
    return (*labels[:max_labels], f"… {len(labels) - max_labels} more")
