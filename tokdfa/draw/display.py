"""The display of values in notebooks: a picture if the value is small enough, a table otherwise."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping
from dataclasses import fields
from functools import singledispatch
from itertools import islice
from typing import Any

from tokdfa.automata.alphabet import TokenAlphabet
from tokdfa.automata.boolean import Combination, Complement
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.automata.language import Language
from tokdfa.automata.lift import Lift
from tokdfa.automata.protocol import TokenAutomaton
from tokdfa.automata.rule_order import RuleOrder
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.automata.transducers.subsequential import SubsequentialTransducer
from tokdfa.automata.transducers.transducer import Transducer
from tokdfa.base.errors import LimitExceededError
from tokdfa.base.verdict import Verdict
from tokdfa.draw.automaton import arrows_of, dfa_graph, transducer_graph
from tokdfa.draw.graph import MAX_ARROWS, Edge, Graph, Node, first_labels, to_dot, word_labels
from tokdfa.draw.render import can_render, to_svg
from tokdfa.draw.summary import Summary, summarize
from tokdfa.draw.trie import order_graph, trie_graph
from tokdfa.jobs.searching.stream import Matches
from tokdfa.jobs.validation.violation import Violation
from tokdfa.tokenizers.models.wordpiece.language import WordLanguage
from tokdfa.tokenizers.models.wordpiece.maxmatch import LinMaxMatch
from tokdfa.tokenizers.models.wordpiece.stream import StreamLanguage

_MAX_STATES = 40
_MAX_TRANSITIONS = 4_000
_MAX_ARROWS = 200
_MAX_LABELS = 8
# The maximum number of nodes of a picture that was requested explicitly.
_MAX_DRAWN = 1_000
# Seconds that a cell of a notebook may wait for a layout.
_MAX_SECONDS = 20.0
_MAX_ROWS = 10


def bundle(value: object, *, max_seconds: float = _MAX_SECONDS) -> dict[str, str]:
    """Return the representations of a value in notebooks, by MIME type: its ``repr``, and a picture or a table.

    Without Graphviz the picture is shown as DOT text, and there is none if its layout takes more than `max_seconds`.
    """
    shown = {"text/plain": repr(value)}
    content = _content(value)
    if isinstance(content, Graph):
        try:
            svg = to_svg(content, max_seconds=max_seconds) if can_render() else None
        except LimitExceededError as error:
            content = {"picture": f"none: {error}"}
        else:
            kind, text = ("image/svg+xml", svg) if svg is not None else ("text/vnd.graphviz", to_dot(content))
            shown[kind] = text
    if content and not isinstance(content, Graph):
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left">{html.escape(name)}</th>'
            f'<td style="text-align:left">{html.escape(text)}</td></tr>'
            for name, text in content.items()
        )
        shown["text/html"] = f"<table>{rows}</table>"
    return shown


@singledispatch
def _content(value: object) -> Graph | Mapping[str, str]:
    return {}


@_content.register
def _(value: TokenDFA) -> Graph | Mapping[str, str]:
    if value.n_states > _MAX_STATES or len(arrows_of(value)) > _MAX_ARROWS:
        return _counts(summarize(value))
    return dfa_graph(value, max_labels=_MAX_LABELS)


@_content.register
def _(value: Graph) -> Graph | Mapping[str, str]:
    if len(value.nodes) > _MAX_DRAWN or value.n_arrows > MAX_ARROWS:
        return {"nodes": f"{len(value.nodes):,}", "arrows": f"{value.n_arrows:,}"}
    return value


@_content.register
def _(value: CompactTokenDFA) -> Graph | Mapping[str, str]:
    if value.states_built > _MAX_STATES or value.n_live_tokens * value.states_built > _MAX_TRANSITIONS:
        return _counts(summarize(value))
    return _content(value.to_token_dfa())


@_content.register(Combination)
@_content.register(Complement)
@_content.register(Lift)
def _(value: TokenAutomaton[Any]) -> Graph | Mapping[str, str]:
    try:
        return automaton_graph(value)
    except LimitExceededError as error:
        return {"picture": f"none: {error.what}"}


@_content.register
def _(value: Transducer) -> Graph | Mapping[str, str]:
    if value.n_states > _MAX_STATES or value.n_arcs > _MAX_ARROWS:
        return {"states": f"{value.n_states:,}", "transitions": f"{value.n_arcs:,}"}
    return transducer_graph(value)


@_content.register
def _(value: SubsequentialTransducer) -> Graph | Mapping[str, str]:
    if value.dictionary.alphabet.n_symbols * _MAX_STATES <= _MAX_TRANSITIONS:
        try:
            return _content(value.explicit(max_states=_MAX_STATES))
        except LimitExceededError:
            pass
    return {"rules": f"{len(value.dictionary):,}", "states built so far": f"{value.n_states:,}"}


@_content.register
def _(value: RuleOrder) -> Graph | Mapping[str, str]:
    if len(value.rules) > _MAX_STATES:
        return {"live rules": f"{len(value.rules):,}"}
    return order_graph(value)


@_content.register
def _(value: LinMaxMatch) -> Graph | Mapping[str, str]:
    try:
        return trie_graph(value.vocabulary, max_nodes=_MAX_STATES)
    except LimitExceededError:
        return {"entries": f"{len(value.vocabulary):,}", "nodes of the trie": f"{len(value.trie):,}"}


@_content.register
def _(value: WordLanguage) -> Mapping[str, str]:
    return _words(value)


@_content.register
def _(value: StreamLanguage) -> Mapping[str, str]:
    return {**_words(value.words), "dead tokens": f"{len(value.dead):,}"}


@_content.register(Language)
def _(value: Language[Any]) -> Mapping[str, str]:
    finite = value.finiteness()
    rows = {"states": f"{value.n_states:,}", "finite": f"yes: {finite.reason}" if finite else "no"}
    rows |= {
        f"members of {n} tokens": f"{value.count(n):,}"
        for n in range(min(_MAX_ROWS, 1 + (4 if value.longest is None else value.longest)))
    }
    return rows


@_content.register
def _(value: Matches) -> Mapping[str, str]:
    rows = {"matches": f"{len(value):,}"}
    for number, match in enumerate(value[:_MAX_ROWS], 1):
        rows[str(number)] = (
            f"bytes {match.start_byte:,}–{match.end_byte:,}, tokens {match.start_token:,}–{match.end_token:,}"
        )
    return rows


@_content.register(Verdict)
def _(value: Verdict[Any]) -> Mapping[str, str]:
    return {"answer": "yes" if value else "no", **_fields(value, {"holds"})}


@_content.register
def _(value: Violation) -> Mapping[str, str]:
    shown = value.as_json().items()
    return {name.replace("_", " "): str(part) for name, part in shown if part is not None and part != ()}


def _fields(value: Any, left_out: Collection[str] = ()) -> dict[str, str]:
    """Return the non-empty fields of a dataclass; of a sequence of dataclasses only the length."""
    rows = {}
    for field in fields(value):
        content = getattr(value, field.name)
        if field.name in left_out or content is None or content in ((), ""):
            continue
        if isinstance(content, tuple) and len(content) > 1 and hasattr(content[0], "__dataclass_fields__"):
            content = f"{len(content):,}"
        elif isinstance(content, Mapping):
            content = "; ".join(f"{name}: {part}" for name, part in content.items())
        rows[field.name.replace("_", " ")] = str(content)
    return rows


def _words(value: WordLanguage) -> dict[str, str]:
    return {"entries": f"{len(value.vocabulary):,}", "nodes of the trie": f"{len(value.trie):,}"}


def _counts(summary: Summary) -> Mapping[str, str]:
    rows = {"states": f"{summary.states:,}", "transitions": f"{summary.transitions:,}"}
    for dense in summary.densest:
        examples = ", ".join(dense.examples)
        rows[f"state {dense.state}"] = (
            f"{dense.n_tokens:,} tokens lead to it ({examples}, …), {dense.n_moves:,} can follow"
        )
    return rows


def automaton_graph(automaton: TokenAutomaton[Any], *, max_states: int = _MAX_STATES) -> Graph:
    """Return the picture of the reachable part of any automaton, such as a product, with its states spelled out.

    The automaton or one of its parts gives the alphabet; without one, numbers are shown. An automaton with more than
    `max_states`, or thousands of transitions, is refused.
    """
    alphabet = _alphabet(automaton)
    names: dict[Hashable, str] = {automaton.initial: "0"}
    states = [automaton.initial]
    arrows: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    budget = _MAX_TRANSITIONS
    for state in states:  # grows during the loop
        moves = [*islice(automaton.moves(state), budget + 1)]
        budget -= len(moves)
        for token, target in moves:
            if target not in names:
                names[target] = str(len(names))
                states.append(target)
            arrows[names[state], names[target]].append(token)
        if len(states) > max_states or budget < 0:
            raise LimitExceededError(f"the automaton has more than {max_states} states or too many transitions to draw")
    nodes = tuple(Node(names[state], state_label(state), double=automaton.is_final(state)) for state in states)
    edges = []
    for (source, target), tokens in arrows.items():
        pairs = ((str(token), 1) for token in tokens) if alphabet is None else word_labels(alphabet.spell(tokens))
        labels, rest = first_labels(pairs, len(tokens), _MAX_LABELS)
        edges.append(Edge(source, target, tuple([*labels, f"… {rest} more"] if rest else labels)))
    what = f"Automaton with {len(states)} states, {sum(node.double for node in nodes)} of them final."
    return Graph(nodes, tuple(edges), ("0",), description=what)


def state_label(state: object) -> str:
    """Return the label of a state: the parts of a tuple, with ∅ for a part that has no run left."""
    if state is None:
        return "∅"
    if isinstance(state, tuple):
        return f"({', '.join(map(state_label, state))})"
    return str(state)


def _alphabet(automaton: object) -> TokenAlphabet | None:
    found = getattr(automaton, "alphabet", None)
    if isinstance(found, TokenAlphabet):
        return found
    parts = (getattr(automaton, name, None) for name in ("first", "second", "automaton"))
    return next((found for found in map(_alphabet, (part for part in parts if part is not None)) if found), None)
