"""The normal form of a splitting: the minimal automaton of texts with the effect of each symbol, as bytes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tokdfa.automata.protocol import Numbering
from tokdfa.base.arrays import BoolArray, Int64Array
from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.kernels.dfa.explicit import coarsest_partition
from tokdfa.kernels.encode.events import BEGINS, CONTINUES, DROPPED
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA, splitting_budget
from tokdfa.tokenizers.pretokenizers.steps import Splitting

_EVENTS = (CONTINUES, BEGINS, DROPPED)
_SURROGATES = slice(0xD800, 0xE000)


def splitting_form(splitting: Splitting) -> bytes:
    """Return the same bytes for all splittings that split every text alike, unless they drop text.

    Those that no automaton expresses are taken as they are written.
    """
    form = automaton_form(splitting)
    # Versions of Python differ on which characters are printable, except in ASCII.
    return ascii((splitting, splitting.table)).encode() if form is None else form


@lru_cache(maxsize=16)
def automaton_form(splitting: Splitting) -> bytes | None:
    """Return the :func:`splitting_form` of a splitting that an automaton expresses; None for others."""
    spaces = repr((splitting.prefix_space, splitting.metaspace, splitting.prefix_once)).encode()
    try:
        return spaces + _normal_form(find_split_nfa(splitting))
    except (PatternError, LimitExceededError):
        return None


def _normal_form(nfa: SplitNFA) -> bytes:
    """Return the same bytes for all automata of hypotheses that split every text alike, where nothing is left out."""
    n_classes = nfa.n_classes
    budget = splitting_budget()
    target, ends = _determinize(nfa, budget)
    # The equivalence class of each state, numbered.
    flat = target.reshape(len(target), -1)
    sources, symbols = (part.astype(np.int32) for part in np.nonzero(flat >= 0))
    classes = coarsest_partition(sources, symbols, flat[sources, symbols].astype(np.int32), ends, flat.shape[1])
    block = np.unique(classes, return_inverse=True)[1].reshape(-1)
    first = np.unique(block, return_index=True)[1]
    # The rows of the minimal automaton; a transition that is not there leads to -1.
    table = np.where(target[first] >= 0, block[target[first]], -1)
    # Classes that it does not distinguish are one; they are numbered in the order of their first code points.
    merged = np.unique(table, axis=1, return_inverse=True)[1].reshape(-1)
    of_code_point = merged[nfa.class_of_code_point.astype(np.int64)].astype(np.int64)
    of_code_point[_SURROGATES] = -1
    found, at = np.unique(of_code_point, return_index=True)
    order = [int(number) for _, number in sorted(zip(at.tolist(), found.tolist(), strict=True)) if number >= 0]
    rank = np.full(n_classes + 1, -1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    columns = table[:, [int(np.flatnonzero(merged == number)[0]) for number in order]]
    # The states are numbered as a breadth-first search meets them.
    numbers = Numbering(int(block[0]))
    rows = []
    for state in numbers.states:  # It grows while it is iterated over.
        row = [-1 if goal < 0 else numbers[goal] for goal in columns[state].ravel().tolist()]
        rows.append((bool(ends[first[state]]), row))
    return repr(rows).encode() + rank[of_code_point].astype("<i2").tobytes()


def _determinize(nfa: SplitNFA, budget: Budget) -> tuple[Int64Array, BoolArray]:
    """Return the targets, by state, class and event, in the automaton of sets of hypotheses; and its final states."""
    numbers = Numbering(frozenset((0,)))
    table = []
    for state in numbers.states:  # It grows while it is iterated over.
        cells = []
        for symbol in range(nfa.n_classes):
            for event in _EVENTS:
                moves = (move for hypothesis in state for move in nfa.moves[hypothesis][symbol])
                goal = frozenset(target for target, what in moves if what == event)
                cells.append(numbers[goal] if goal else -1)
        table.append(cells)
        budget.spend(len(cells) + len(state))
        budget.check_states(len(numbers))
    ends = np.array([any(nfa.ends[hypothesis] for hypothesis in state) for state in numbers.states])
    return np.array(table, dtype=np.int64).reshape(len(numbers), nfa.n_classes, len(_EVENTS)), ends
