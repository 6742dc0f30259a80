"""Summaries of automata that are too large for a picture: counts, and the surroundings of one token."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import AlphabetError
from tokdfa.draw.graph import Edge, Graph, Node, first_labels, word_label, word_labels

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
    alphabet, initial = automaton.alphabet, automaton.initial
    from_initial = [*automaton.moves(initial)]
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str], Edge] = {}

    def labels(tokens: list[int]) -> tuple[str, ...]:
        shown, rest = first_labels(word_labels(alphabet[token] for token in tokens), len(tokens), max_labels)
        return (*shown, f"… {rest:,} more") if rest else tuple(shown)

    def add(state: int, *, marked: bool = False) -> None:
        name = str(state)
        marked = marked or (name in nodes and nodes[name].marked)
        nodes[name] = Node(name, name, double=automaton.is_final(state), marked=marked)

    def join(source: int, target: int, tokens: list[int], *, marked: bool = False) -> None:
        ends = str(source), str(target)
        if tokens and ends not in edges:
            edges[ends] = Edge(*ends, labels(tokens), marked=marked)

    def remark(state: int, text: str, *label: str) -> None:
        name = f"remark {len(nodes)}"
        nodes[name] = Node(name, text, shape="plaintext")
        edges[str(state), name] = Edge(str(state), name, label, "dotted")

    add(initial)
    for centre in centres[:max_states]:
        add(centre, marked=True)
        if centre != initial:
            into = [t for t, target in from_initial if target == centre]
            join(initial, centre, into, marked=automaton.step(initial, number) == centre)
        groups: defaultdict[int, list[int]] = defaultdict(list)
        for following, target in automaton.moves(centre):
            groups[target].append(following)
        largest = sorted(groups, key=lambda target: (-len(groups[target]), target))
        for target in largest[:max_states]:
            add(target)
            join(centre, target, groups[target])
        rest = largest[max_states:]
        if rest:
            n_tokens = sum(len(groups[target]) for target in rest)
            remark(centre, f"{len(rest):,} more states\nby {n_tokens:,} tokens")
        allowed = {following for tokens in groups.values() for following in tokens}
        lacking = [t for t, _ in from_initial if t not in allowed]
        if lacking:
            remark(centre, "\n".join(labels(lacking)), "never")
    reached = ", ".join(map(str, centres[:max_states]))
    what = f"The surroundings of the token {word_label(token)}: it leads to {reached}."
    return Graph(tuple(nodes.values()), tuple(edges.values()), (str(initial),), description=what)


def _centres(automaton: CompactTokenDFA | TokenDFA, token: int) -> list[int]:
    if isinstance(automaton, TokenDFA):
        return sorted(set(automaton.targets[automaton.tokens == token].tolist()))
    state = automaton.state_of(token)
    return [] if state is None else [state]
