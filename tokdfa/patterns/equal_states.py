"""Merging the states of an automaton over bytes that no text tells apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.patterns.budget import Budget
from tokdfa.patterns.utf8 import BORDER, EDGE, ByteDFA, shared_columns, unique_rows

__all__ = ["merge_equal_states"]

# An automaton that takes more rounds is left as it is: it has long chains of states, in which few are equal.
_MAX_ROUNDS = 64


def merge_equal_states(dfa: ByteDFA, budget: Budget | None = None) -> ByteDFA:
    """Return an automaton that records the same in all texts, and in which states that do so are one.

    A symbol of several bytes takes states of its own even where the pattern does not care which symbol it is. Without
    them most tokens lead to the same state from everywhere, which a search relies on.

    Raises
    ------
    LimitExceededError
        If it takes longer than the budget allows.

    Notes
    -----
    Moore's partition refinement: states of different records are different, and so are those of which a symbol, or
    restarting, leads to different ones. So are those in which a match may have begun, and those in which none has:
    where matches begin is not recorded, but a search relies on that. It takes O(r n c) time for r rounds, n states and
    c columns; if r would be more than 64, the automaton is returned as it is.

    Examples
    --------
    >>> from tokdfa.patterns.equal_states import merge_equal_states
    >>> from tokdfa.patterns.program import compile_program
    >>> from tokdfa.patterns.subset import determinize
    >>> from tokdfa.patterns.syntax import parse
    >>> from tokdfa.patterns.utf8 import to_bytes
    >>> program = compile_program(parse("[0-9]{4}"))
    >>> over_bytes = to_bytes(determinize(program, "longest", searching=True, anchored=False))
    >>> over_bytes.n_states, merge_equal_states(over_bytes).n_states
    (9, 6)
    """
    budget = Budget() if budget is None else budget
    n_states = dfa.n_states
    ends, may_end = dfa.delay >= 0, dfa.end_delay >= 0
    # What is recorded of a match counts only where there is one.
    targets = np.column_stack((dfa.table, np.where(ends, dfa.restart, 0), np.where(may_end, dfa.end_restart, 0)))
    records = (dfa.delay, np.where(ends, dfa.right, 0), dfa.end_delay, np.where(may_end, dfa.end_right, 0))
    # The sink is no other state.
    block = _numbered(np.column_stack((np.arange(n_states) == 0, _nothing_has_begun(dfa), *records)))
    for _ in range(_MAX_ROUNDS):
        budget.check_time()
        refined = _numbered(np.column_stack((block, block[targets])))
        if refined.max() == block.max():
            break
        block = refined
    else:
        return dfa
    first = np.unique(block, return_index=True)[1]
    table, shared = shared_columns(block[dfa.table[first]])
    return replace(
        dfa,
        table=table,
        column=shared[dfa.column],
        delay=dfa.delay[first],
        restart=block[dfa.restart[first]],
        right=dfa.right[first],
        end_delay=dfa.end_delay[first],
        end_right=dfa.end_right[first],
        end_restart=block[dfa.end_restart[first]],
        starts=block[dfa.starts],
        is_within=dfa.is_within[first],
    )


def _nothing_has_begun(dfa: ByteDFA) -> BoolArray:
    """Return for each state whether no match that ends later begins earlier.

    That holds initially, and within a symbol after which it holds again, whether the symbol is broken or not.
    """
    begins = np.zeros(dfa.n_states, dtype=np.bool_)
    begins[dfa.starts] = True
    others = np.unique(np.concatenate((dfa.column[:0x80], dfa.column[0xC0 : EDGE + 1])))
    rows = unique_rows(dfa.table[:, others])[1]
    has_none = begins | (dfa.is_within & np.isin(rows, rows[begins]))
    continued = dfa.table[:, np.unique(np.append(dfa.column[0x80:0xC0], dfa.column[BORDER]))]
    while True:
        still = begins | (has_none & has_none[continued].all(axis=1))
        if (still == has_none).all():
            return still
        has_none = still


def _numbered(rows: Int32Array) -> Int32Array:
    """Return the number of each row among the distinct ones, in the order in which they come."""
    return unique_rows(rows.astype(np.int32))[1]
