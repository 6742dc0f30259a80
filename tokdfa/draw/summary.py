"""Summaries of automata that are too large for a picture: counts, and the surroundings of one token."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import AlphabetError
from tokdfa.draw.graph import Edge, Graph, Node, word_label, word_labels

_SHOWN = 5


class Dense(NamedTuple):
    """A state to which many tokens lead: its number, some of the tokens, their count, and the count it allows next."""

    state: int
    examples: tuple[str, ...]
    n_tokens: int
    n_moves: int


class Summary(NamedTuple):
    """The size of an automaton, and the states to which most tokens lead, largest first."""

    states: int
    transitions: int
    densest: tuple[Dense, ...]


def summarize(automaton: CompactTokenDFA | TokenDFA, *, most: int = _SHOWN) -> Summary:
    """Return the size of an automaton and its `most` densest states."""
    if isinstance(automaton, TokenDFA):
        n_states = automaton.n_states
        ends = np.unique(np.stack((automaton.targets.astype(np.int64), automaton.tokens.astype(np.int64)), 1), axis=0)
        states, tokens = ends.T
        moves = np.diff(automaton.offsets)
    else:
        n_states = automaton.states_built
        tokens = np.flatnonzero(automaton.birth >= 0)
        states = automaton.state[tokens].astype(np.int64)
        lacking = np.zeros(n_states, np.int64)
        for state in range(1, n_states):  # A state is copied from one with a smaller number.
            lacking[state] = lacking[automaton.parent[state]] + automaton.width[state]
        moves = automaton.n_live_tokens - lacking
    counts = np.bincount(states, minlength=n_states)
    densest = []
    for state in np.argsort(-counts, kind="stable")[:most].tolist():
        words = (automaton.alphabet[token] for token in tokens[states == state][:_SHOWN].tolist())
        densest.append(Dense(state, tuple(map(word_label, words)), int(counts[state]), int(moves[state])))
    return Summary(n_states, int(moves.sum()), tuple(densest))


def around(automaton: CompactTokenDFA | TokenDFA, token: Word, *, max_states: int = 12, max_labels: int = 8) -> Graph:
    """Return a picture of the states to which a live token leads, their neighbours, and the tokens that cannot follow.

    After each of them the `max_states` states are drawn to which most tokens lead; the others are only counted.
    An arrow has at most `max_labels` labels.
    """
    number = automaton.alphabet.number(token)
    centres = _centres(automaton, number)
    if not centres:
        raise AlphabetError("no run reads this token", value=token)
    builder = _Builder(automaton, max_labels)
    builder.node(automaton.initial)
    for centre in centres[:max_states]:
        builder.node(centre, marked=True)
        if centre != automaton.initial:
            into = [t for t, target in automaton.moves(automaton.initial) if target == centre]
            builder.edge(automaton.initial, centre, into, marked=automaton.step(automaton.initial, number) == centre)
        groups: defaultdict[int, list[int]] = defaultdict(list)
        for following, target in automaton.moves(centre):
            groups[target].append(following)
        largest = sorted(groups, key=lambda target: (-len(groups[target]), target))
        for target in largest[:max_states]:
            builder.node(target)
            builder.edge(centre, target, groups[target])
        rest = largest[max_states:]
        if rest:
            n_tokens = sum(len(groups[target]) for target in rest)
            builder.remark(centre, f"{len(rest):,} more states\nby {n_tokens:,} tokens", "")
        allowed = {following for following, _ in automaton.moves(centre)}
        lacking = [t for t, _ in automaton.moves(automaton.initial) if t not in allowed]
        if lacking:
            builder.remark(centre, "\n".join(builder.labels(lacking)), "never")
    label = word_label(token)
    builder.description = (
        f"The surroundings of the token {label}: it leads to {', '.join(map(str, centres[:max_states]))}."
    )
    return builder.graph(automaton.initial)


def _centres(automaton: CompactTokenDFA | TokenDFA, token: int) -> list[int]:
    if isinstance(automaton, TokenDFA):
        return sorted(set(automaton.targets[automaton.tokens == token].tolist()))
    state = automaton.state_of(token)
    return [] if state is None else [state]


class _Builder:
    def __init__(self, automaton: CompactTokenDFA | TokenDFA, max_labels: int) -> None:
        self._automaton = automaton
        self._max_labels = max_labels
        self._nodes: dict[str, Node] = {}
        self._edges: dict[tuple[str, str, bool], Edge] = {}
        self.description = ""

    def node(self, state: int, marked: bool = False) -> None:
        name = str(state)
        known = self._nodes.get(name)
        marked = marked or (known is not None and known.marked)
        self._nodes[name] = Node(name, name, double=self._automaton.is_final(state), marked=marked)

    def edge(self, source: int, target: int, tokens: list[int], marked: bool = False) -> None:
        if tokens:
            key = (str(source), str(target), marked)
            if not any((source_, target_) == key[:2] for source_, target_, _ in self._edges):
                self._edges[key] = Edge(key[0], key[1], tuple(self.labels(tokens)), marked=marked)

    def remark(self, state: int, text: str, label: str) -> None:
        name = f"remark {len(self._nodes)}"
        self._nodes[name] = Node(name, text, shape="plaintext")
        self._edges[str(state), name, False] = Edge(str(state), name, (label,) if label else (), "dotted")

    def labels(self, tokens: list[int]) -> list[str]:
        shown: list[str] = []
        rest = len(tokens)
        for label, count in word_labels(self._automaton.alphabet[token] for token in tokens):
            if len(shown) == self._max_labels:
                break
            shown.append(label)
            rest -= count
        return [*shown, f"… {rest:,} more"] if rest else shown

    def graph(self, initial: int) -> Graph:
        return Graph(
            tuple(self._nodes.values()), tuple(self._edges.values()), (str(initial),), description=self.description
        )
