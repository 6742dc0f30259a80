"""The leftmost-first scan of a split pattern: one automaton that reads a piece and shows where it may end."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.errors import PatternError
from tokdfa.kernels.dfa.explicit import coarsest_partition
from tokdfa.patterns.budget import Budget
from tokdfa.patterns.partition import Partition
from tokdfa.patterns.program import compile_program
from tokdfa.patterns.subset import determinize
from tokdfa.patterns.syntax import Anchor, Node, children

__all__ = ["Scan"]


class Scan:
    """The search for a match that begins where the search starts, as a deterministic automaton.

    State 0 is the sink: nothing can be found any more. The match that a backtracking engine finds is the last one
    reported before the sink, because after each match only the alternatives preferred to it go on.

    Parameters
    ----------
    tree : Node
        A pattern that does not match the empty text.
    budget : Budget
        The budget.

    Attributes
    ----------
    partition : Partition
        The classes of code points; the last column of the tables is for the end of the text.
    start : int
        The state before the first symbol.
    target : int32 array of shape (states, classes + 1)
        The state after a symbol.
    matched : bool array of shape (states, classes + 1)
        Whether there is a match before that symbol.

    Raises
    ------
    PatternError
        If the pattern needs something automata cannot express, or a match begins by looking back.
    LimitExceededError
        If the automaton would have more states, or takes longer to build.
    """

    def __init__(self, tree: Node, budget: Budget) -> None:
        _refuse_last_line(tree)
        dfa = determinize(compile_program(tree, budget), "first", budget=budget)
        self.partition: Partition = dfa.partition
        columns = [*range(self.partition.n_classes), dfa.edge]
        target = dfa.table[:, columns]
        matched = dfa.accepts[target] if dfa.delayed else np.repeat(dfa.accepts[:, None], len(columns), axis=1)
        # A state with no further transition and no match is as good as the sink.
        alive: BoolArray = np.any(target, axis=1)
        if not dfa.delayed:
            alive |= dfa.accepts
        target = np.where(alive[target], target, 0)
        block = _indistinguishable(target, matched)
        if len(set(block[dfa.initial].tolist())) > 1:
            raise PatternError(
                "an anchor at the beginning of a match looks back, which is not supported in a split pattern"
            )
        self.start = int(block[dfa.initial[-1]])
        first = np.unique(block, return_index=True)[1]
        self.target: Int32Array = block[target[first]]
        self.matched: BoolArray = matched[first]


def _indistinguishable(target: Int32Array, matched: BoolArray) -> Int32Array:
    """Return the number of the block of equivalent states for each state; that of state 0 is 0.

    A match before a symbol is represented by a transition on another symbol to a separate final state.
    """
    n_states, n_classes = target.shape
    sources, symbols = (part.astype(np.int32) for part in np.nonzero(matched))
    every = np.arange(n_states, dtype=np.int32)
    block = coarsest_partition(
        np.concatenate((np.repeat(every, n_classes), sources)),
        np.concatenate((np.tile(np.arange(n_classes, dtype=np.int32), n_states), symbols + np.int32(n_classes))),
        np.concatenate((target.reshape(-1), np.full(len(sources), n_states))).astype(np.int32),
        np.arange(n_states + 1) == n_states,
        2 * n_classes,
    )[:n_states]
    order = np.unique(block, return_index=True)[1]
    number = np.empty(len(order), dtype=np.int32)
    number[np.argsort(order)] = np.arange(len(order), dtype=np.int32)
    # Blocks are numbered without gaps, except for that of the final state.
    return number[np.unique(block, return_inverse=True)[1].reshape(-1)]


def _refuse_last_line(tree: Node) -> None:
    nodes = [tree]
    for node in nodes:  # grows during the loop
        if isinstance(node, Anchor) and node.place == "end of last line":
            raise PatternError(
                "$ may hold one line end before the end of the text, which is not supported",
                hint=r"\z is the end of the text",
            )
        nodes.extend(children(node))
