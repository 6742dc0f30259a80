"""Pictures of token automata and of transducers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.automata.explicit import useful_states
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.automata.transducers.square import Output
from tokdfa.automata.transducers.transducer import Transducer
from tokdfa.base.arrays import Int64Array
from tokdfa.draw.graph import Edge, Graph, Node, first_labels, to_dot, word_label, word_labels


def dfa_graph(
    dfa: TokenDFA,
    *,
    max_labels: int | None = None,
    fresh: Collection[int] = (),
    run: Iterable[Word | int] | None = None,
) -> Graph:
    """Return the picture of a token DFA, states and tokens in the order of their numbers.

    States through which no accepting run passes are drawn as dead, and states in `fresh`, such as the ones that the
    last rule added, as new. The `run` on some tokens is highlighted as far as it goes. Of the labels of an arrow
    `max_labels` are shown, and other tokens are only counted; so are symbols if more than that have the same
    transitions everywhere, such as symbols that no rule mentions.
    """
    path = _path(dfa, run)
    passed = {state for source, _, target in path for state in (source, target)}
    if run is not None:
        passed.add(dfa.initial)
    taken = {(source, token) for source, token, _ in path}
    dead = {*np.flatnonzero(~useful_states(dfa)).tolist()}
    nodes = tuple(
        Node(
            str(state),
            str(state),
            double=dfa.is_final(state),
            fresh=state in fresh,
            dead=state in dead,
            marked=state in passed,
        )
        for state in range(dfa.n_states)
    )
    arrows: defaultdict[tuple[int, int, bool], list[int]] = defaultdict(list)
    for source, token, target in zip(dfa.sources.tolist(), dfa.tokens.tolist(), dfa.targets.tolist(), strict=True):
        arrows[source, target, (source, token) in taken].append(token)
    shown = None if max_labels is None else _tokens_to_show(dfa, max_labels) | {token for _, token, _ in path}
    edges = tuple(
        Edge(str(source), str(target), edge_labels(dfa, tokens, max_labels, shown), marked=marked)
        for (source, target, marked), tokens in arrows.items()
    )
    return Graph(nodes, edges, (str(dfa.initial),), description=_describe(dfa, len(dead), len(fresh), path, run))


def arrows_of(dfa: TokenDFA) -> Int64Array:
    """Return the ends of the arrows of a picture, shape (n, 2): all transitions between two states are one arrow."""
    ends = np.stack((dfa.sources.astype(np.int64), dfa.targets.astype(np.int64)), axis=1)
    return np.unique(ends, axis=0)


def dfa_to_dot(dfa: TokenDFA, *, max_labels: int | None = None) -> str:
    """Return a token DFA in the DOT language; see :func:`dfa_graph` and :func:`~tokdfa.draw.graph.to_dot`."""
    return to_dot(dfa_graph(dfa, max_labels=max_labels))


def edge_labels(
    dfa: TokenDFA, tokens: Sequence[int], max_labels: int | None, shown: Collection[int] | None = None
) -> tuple[str, ...]:
    """Return the labels of an arrow for `tokens`: up to `max_labels` tokens in `shown`, and a count of the rest."""
    words = (dfa.alphabet[token] for token in tokens if shown is None or token in shown)
    labels, rest = first_labels(word_labels(words), len(tokens), max_labels)
    if rest:
        labels.append(f"… {rest} more" if labels else f"{rest} tokens")
    return tuple(labels)


def _path(dfa: TokenDFA, run: Iterable[Word | int] | None) -> list[tuple[int, int, int]]:
    """Return the transitions that the run on a tokenization takes before it ends or gets stuck."""
    path = []
    state: int | None = dfa.initial
    for token in () if run is None else dfa.alphabet.numbers(tuple(run)):
        assert state is not None
        target = dfa.step(state, int(token))
        if target is None:
            break
        path.append((state, int(token), target))
        state = target
    return path


def _describe(
    dfa: TokenDFA, n_dead: int, n_fresh: int, path: list[tuple[int, int, int]], run: Iterable[Word | int] | None
) -> str:
    n_finals = len(dfa.finals)
    finals = "all final" if n_finals == dfa.n_states else f"{n_finals} final"
    states = "1 state" if dfa.n_states == 1 else f"{dfa.n_states} states"
    parts = [f"Token DFA with {states}, {finals}, and {dfa.n_transitions} transitions; it begins in {dfa.initial}."]
    if n_fresh:
        parts.append(f"New: {n_fresh}.")
    if n_dead:
        parts.append(f"On no accepting run: {n_dead}.")
    if run is not None:
        states = " ".join(str(state) for state in (dfa.initial, *(target for _, _, target in path)))
        words = "≀".join(word_label(dfa.alphabet[token]) for _, token, _ in path)
        parts.append(f"The run on {words or 'nothing'} is painted: {states}.")
    return " ".join(parts)


def _tokens_to_show(dfa: TokenDFA, max_alike: int) -> set[int]:
    """Return all tokens except the symbols that have the same transitions as too many others."""
    n_symbols = dfa.alphabet.n_symbols
    columns: list[list[int]] = [[] for _ in range(n_symbols)]
    for token, source, target in zip(dfa.tokens.tolist(), dfa.sources.tolist(), dfa.targets.tolist(), strict=True):
        if token < n_symbols:
            columns[token] += (source, target)
    alike = Counter(map(tuple, columns))
    few = (symbol for symbol in range(n_symbols) if alike[tuple(columns[symbol])] <= max_alike)
    return {*few, *range(n_symbols, len(dfa.alphabet))}


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
    """Return a transducer in the DOT language; see :func:`transducer_graph` and :func:`~tokdfa.draw.graph.to_dot`."""
    return to_dot(transducer_graph(transducer))
