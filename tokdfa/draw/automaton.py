"""Pictures of token automata."""

from __future__ import annotations

from collections import Counter, defaultdict

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
        How many tokens to write on one arrow; the others are counted there. When more symbols than that have the same
        transitions everywhere, such as those that no rule mentions, they are only counted. By default all are written.
    """
    nodes = tuple(Node(str(state), str(state), double=dfa.is_final(state)) for state in range(dfa.n_states))
    arrows: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for source, token, target in zip(dfa.sources.tolist(), dfa.tokens.tolist(), dfa.targets.tolist(), strict=True):
        arrows[source, target].append(token)
    shown = set(range(len(dfa.alphabet))) if max_labels is None else _tokens_to_show(dfa, max_labels)
    edges = []
    for (source, target), tokens in arrows.items():
        labels = [word_label(dfa.alphabet[token]) for token in tokens if token in shown][:max_labels]
        if len(labels) < len(tokens):
            rest = len(tokens) - len(labels)
            labels.append(f"… {rest} more" if labels else f"{rest} tokens")
        edges.append(Edge(str(source), str(target), tuple(labels)))
    return Graph(nodes, tuple(edges), (str(dfa.initial),))


def dfa_to_dot(dfa: TokenDFA, *, max_labels: int | None = None) -> str:
    """Return a token DFA in the DOT language; see :func:`dfa_graph` and :func:`~tokdfa.draw.dot.to_dot`."""
    return to_dot(dfa_graph(dfa, max_labels=max_labels))


def _tokens_to_show(dfa: TokenDFA, max_alike: int) -> set[int]:
    """Return all tokens but the symbols that have the same transitions as too many others."""
    n_symbols = dfa.alphabet.n_symbols
    columns: list[list[int]] = [[] for _ in range(n_symbols)]
    for token, source, target in zip(dfa.tokens.tolist(), dfa.sources.tolist(), dfa.targets.tolist(), strict=True):
        if token < n_symbols:
            columns[token] += (source, target)
    alike = Counter(map(tuple, columns))
    few = (symbol for symbol in range(n_symbols) if alike[tuple(columns[symbol])] <= max_alike)
    return {*few, *range(n_symbols, len(dfa.alphabet))}
