"""Explicit token DFAs: any automaton written out, minimization, equivalence, and graphs of networkx."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeVar

import networkx as nx
import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word, show
from tokdfa.automata.boolean import Combination
from tokdfa.automata.protocol import TokenAutomaton, check_budget, explore, reached, trace
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, ranges, running_sum
from tokdfa.base.errors import AlphabetError, AutomatonError
from tokdfa.base.verdict import Verdict
from tokdfa.kernels.dfa import explicit as kernels

S = TypeVar("S", bound=Hashable)

_MOST_ENTRIES = 1 << 25


def intersect_explicit(first: TokenDFA, second: TokenDFA, max_states: int, max_transitions: int) -> TokenDFA | None:
    """Return the intersection of two DFAs over one alphabet, its states in breadth-first order, within the limits.

    None if tables of all pairs of states, and of all states and tokens, would be too large.
    """
    n_tokens = len(first.alphabet)
    n_pairs = first.n_states * second.n_states
    if max(n_pairs, (first.n_states + second.n_states) * n_tokens) > _MOST_ENTRIES:
        return None
    tables = [np.full((dfa.n_states, n_tokens), -1, dtype=np.int64) for dfa in (first, second)]
    for table, dfa in zip(tables, (first, second), strict=True):
        table[dfa.sources, dfa.tokens] = dfa.targets
    number = np.full(n_pairs, -1, dtype=np.int32)
    level = np.array([first.initial * second.n_states + second.initial], dtype=np.int64)
    number[level] = 0
    n_states, n_transitions = 1, 0
    levels, rows = [], []
    while len(level):
        ours, theirs = tables[0][level // second.n_states], tables[1][level % second.n_states]
        targets = np.where((ours >= 0) & (theirs >= 0), ours * second.n_states + theirs, -1)
        n_transitions += int(np.count_nonzero(targets >= 0))
        check_budget("transitions", n_transitions, max_transitions)
        levels.append(level)
        rows.append(targets)
        met, at = np.unique(targets.ravel(), return_index=True)
        is_new = met >= 0
        is_new[is_new] = number[met[is_new]] < 0
        # In the order in which a search from state to state would visit them.
        level = met[is_new][np.argsort(at[is_new])]
        number[level] = np.arange(n_states, n_states + len(level))
        n_states += len(level)
        check_budget("states", n_states, max_states)
    pairs, targets = np.concatenate(levels), np.concatenate(rows)
    positions, tokens = np.nonzero(targets >= 0)
    offsets = running_sum(np.bincount(positions, minlength=n_states))
    final = first.final[pairs // second.n_states] & second.final[pairs % second.n_states]
    return first.from_arrays(
        first.alphabet, offsets, tokens.astype(np.int32), number[targets[positions, tokens]], 0, final
    )


def write_out(automaton: TokenAutomaton[S], alphabet: TokenAlphabet, max_states: int, max_transitions: int) -> TokenDFA:
    """Return the explicit DFA of the reachable part; see :meth:`TokenDFA.from_automaton`."""
    product: Any = automaton
    if isinstance(product, Combination) and product.is_intersection:
        p, q = product.first, product.second
        if isinstance(p, TokenDFA) and isinstance(q, TokenDFA) and p.alphabet == q.alphabet == alphabet:
            dfa = intersect_explicit(p, q, max_states, max_transitions)
            if dfa is not None:
                return dfa
    transitions: list[dict[int, int]] = []
    finals: list[int] = []
    for state, row in explore(automaton, max_states, max_transitions):
        if automaton.is_final(state):
            finals.append(len(transitions))
        transitions.append(row)
    return TokenDFA(alphabet, transitions, finals=finals)


def reachable_states(dfa: TokenDFA) -> BoolArray:
    """Return, for each state, whether some run from the initial state ends in it."""
    return reached(dfa.sources, dfa.targets, np.arange(dfa.n_states) == dfa.initial)


def useful_states(dfa: TokenDFA) -> BoolArray:
    """Return, for each state, whether an accepting run visits it."""
    return reached(dfa.targets, dfa.sources, dfa.final) & reachable_states(dfa)


def restricted(dfa: TokenDFA, keep: BoolArray) -> TokenDFA:
    """Return the automaton restricted to the states in `keep`, in their order; `keep` has the initial state."""
    if keep.all():
        return dfa
    number = np.cumsum(keep, dtype=np.int32) - 1
    kept = keep[dfa.sources] & keep[dfa.targets]
    n_kept = running_sum(np.bincount(dfa.sources[kept], minlength=len(keep)))
    return dfa.from_arrays(
        dfa.alphabet,
        n_kept[np.concatenate(([True], keep))],
        dfa.tokens[kept],
        number[dfa.targets[kept]],
        int(number[dfa.initial]),
        dfa.final[keep],
    )


def minimize_hopcroft(dfa: TokenDFA) -> TokenDFA:
    """Return the minimal trim DFA of the language of `dfa`.

    Its states are numbered in the order of a breadth-first search that takes tokens in ascending order, so the arrays
    are the same for every DFA of the language over the same alphabet. Hopcroft's "process the smaller half" for partial
    transition functions, with the partitions of states and of transitions refining each other (A. Valmari, *Fast brief
    practical DFA minimization*, 2012): O(m log n) time for n states and m transitions.
    """
    trim = dfa.trim()
    if not trim.final.any():
        return trim
    block = kernels.coarsest_partition(trim.sources, trim.tokens, trim.targets, trim.final, len(trim.alphabet))
    _, representative = np.unique(block, return_index=True)
    offsets, index = _take_rows(trim.offsets, representative)
    targets = block[trim.targets[index]]
    order = kernels.breadth_first(offsets, targets, block[[trim.initial]])
    number = np.empty_like(order)
    number[order] = np.arange(len(order), dtype=np.int32)
    numbered_offsets, numbered = _take_rows(offsets, order)
    return trim.from_arrays(
        trim.alphabet,
        numbered_offsets,
        trim.tokens[index[numbered]],
        number[targets[numbered]],
        0,
        trim.final[representative[order]],
    )


def _take_rows(
    offsets: Int64Array, rows: np.ndarray[tuple[int], np.dtype[np.integer]]
) -> tuple[Int64Array, Int64Array]:
    """Return the offsets of the table made of these rows, and the positions of its entries in the old table."""
    positions, taken = ranges(offsets[rows], offsets[rows + 1])
    return taken, positions


def equivalence(first: TokenDFA, second: TokenDFA) -> Verdict[tuple[Word, ...]]:
    """Decide whether two token DFAs accept the same tokenizations.

    The witness is a spelled tokenization that exactly one of them accepts, with the fewest tokens possible. Tokens are
    compared by spelling; their numbers and the alphabets may differ. One over bytes and one over strings are an
    AlphabetError.

    Hopcroft and Karp's algorithm, O((m₁ + m₂) α(n)): states that should be equal are merged in a union-find forest.
    """
    spelling, tokens = _second_tokens(first, second)
    order = np.lexsort((tokens, second.sources))
    # Both automata side by side, followed by a sink for the transitions that one of them lacks.
    n = first.n_states
    n_transitions = first.n_transitions
    end = n_transitions + second.n_transitions
    offsets = np.concatenate((first.offsets, second.offsets[1:] + n_transitions, [end]))
    differ, path = kernels.first_difference(
        offsets,
        np.concatenate((first.tokens, tokens[order])),
        np.concatenate((first.targets, second.targets[order] + np.int32(n))),
        np.concatenate((first.final, second.final, [False])),
        first.initial,
        second.initial + n,
    )
    if not differ:
        return Verdict(True, None, "both accept the same language")
    witness = tuple(spelling[token] for token in path)
    accepting = "first" if all(token in first.alphabet for token in witness) and first.accepts(witness) else "second"
    return Verdict(False, witness, f"only the {accepting} accepts {_show(witness)}")


def isomorphism(first: TokenDFA, second: TokenDFA) -> Verdict[dict[int, int] | tuple[Word, ...]]:
    """Decide whether two token DFAs are equal up to the names of their states, where they can be reached.

    Tokens are compared by spelling, as :func:`equivalence` does. The witness maps the reachable states of the first to
    the states of the second. If there is no such map, it is a spelled tokenization; at its end the two differ for the
    first time, or reach states that are already matched with others.
    """
    spelling, renumbered = _second_tokens(first, second)
    number_in_first = dict(zip(second.tokens.tolist(), renumbered.tolist(), strict=True))
    matched = {first.initial: second.initial}
    taken = {second.initial}
    origin: dict[int, tuple[int, int]] = {}

    def difference(state: int, token: int | None, reason: str) -> Verdict[dict[int, int] | tuple[Word, ...]]:
        path = [*trace(origin, state), *([] if token is None else [token])]
        witness = tuple(spelling[token] for token in path)
        return Verdict(False, witness, f"{reason} after {_show(witness)}")

    queue = [first.initial]
    for p in queue:  # grows during the loop
        q = matched[p]
        if first.is_final(p) != second.is_final(q):
            return difference(p, None, "only one reaches a final state")
        p_moves = dict(first.moves(p))
        q_moves = {number_in_first[token]: target for token, target in second.moves(q)}
        for token in sorted(p_moves.keys() ^ q_moves.keys()):
            return difference(p, token, "only one has a run")
        for token, p_next in p_moves.items():
            q_next = q_moves[token]
            if p_next not in matched and q_next not in taken:
                matched[p_next] = q_next
                taken.add(q_next)
                origin[p_next] = (p, token)
                queue.append(p_next)
            elif matched.get(p_next) != q_next:
                return difference(p, token, "only one returns to an earlier state")
    return Verdict(True, matched, f"{len(matched)} states correspond")


def _second_tokens(first: TokenDFA, second: TokenDFA) -> tuple[list[Word], Int32Array]:
    """Return the tokens of both automata, the first automaton's before others, and the second's transitions in them."""
    if first.alphabet == second.alphabet:
        return list(first.alphabet), second.tokens
    if first.alphabet.kind != second.alphabet.kind:
        raise AlphabetError(f"a DFA over {first.alphabet.kind} cannot be compared with one over {second.alphabet.kind}")
    spelling = list(first.alphabet)
    spelling += [word for word in second.alphabet if word not in first.alphabet]
    number = {word: i for i, word in enumerate(spelling)}
    renumbered = np.array([number[word] for word in second.alphabet], dtype=np.int32)
    return spelling, renumbered[second.tokens]


def _show(tokenization: tuple[Word, ...]) -> str:
    return "≀".join(map(show, tokenization)) or "ε"


def to_networkx(dfa: TokenDFA) -> nx.MultiDiGraph[int]:
    """Return a token DFA as a graph.

    Nodes are the states, with boolean attributes ``initial`` and ``final``; each transition is an edge with its spelled
    token in ``token`` and as the key. The graph's attribute ``alphabet`` is the token alphabet.
    """
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph(alphabet=dfa.alphabet)
    for state in range(dfa.n_states):
        graph.add_node(state, initial=state == dfa.initial, final=dfa.is_final(state))
    graph.add_edges_from((p, q, word, {"token": word}) for p, word, q in dfa.edges())
    return graph


def from_networkx(graph: nx.MultiDiGraph[Any]) -> TokenDFA:
    """Return the token DFA that a graph as returned by :func:`to_networkx` describes.

    Nodes may be anything and become states in the order of the graph. Without the attribute ``alphabet``, the alphabet
    is the default of :meth:`TokenDFA.from_edges`. It is an AutomatonError if there is not exactly one initial node, an
    edge has no token, or two edges of one node have the same token.
    """
    states = {node: state for state, node in enumerate(graph.nodes)}
    initial = [states[node] for node, given in graph.nodes(data="initial") if given]
    if len(initial) != 1:
        raise AutomatonError("exactly one node must have the attribute initial", value=len(initial))
    finals = [states[node] for node, given in graph.nodes(data="final") if given]
    edges = []
    for p, q, token in graph.edges(data="token"):
        if not isinstance(token, (bytes, str, tuple)) or len(token) == 0:
            raise AutomatonError("the token of an edge must be a word", value=token, where=f"edge from {p!r} to {q!r}")
        edges.append((states[p], token, states[q]))
    dfa = TokenDFA.from_edges(edges, initial[0], finals=finals, n_states=len(states))
    alphabet = graph.graph.get("alphabet")
    return dfa.over(alphabet) if isinstance(alphabet, TokenAlphabet) else dfa
