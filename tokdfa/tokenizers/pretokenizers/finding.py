"""Finding the split NFA of a splitting: read if it is prebuilt, built once otherwise."""

from __future__ import annotations

from copy import copy
from functools import lru_cache

from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, PatternError, TokdfaError
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA, known_split_nfa, splitting_budget
from tokdfa.tokenizers.pretokenizers.steps import Splitting


def find_split_nfa(splitting: Splitting, budget: Budget | None = None) -> SplitNFA:
    """Return the NFA of a splitting: read if it is prebuilt, built once otherwise.

    A space may be put only before the first step; whoever runs the automaton feeds it that space. The budget includes
    the scans of the steps. With one, the NFA is built anew; without, the result is shared, be it that it exceeds the
    default budget. PatternError is raised if a pattern cannot be read, or needs something automata cannot express.
    """
    if budget is None:
        found = _found(splitting)
        if isinstance(found, TokdfaError):
            raise copy(found)
        return found
    # Imported here: known splittings do not need it.
    from tokdfa.tokenizers.pretokenizers.split_nfa import build_split_nfa

    return build_split_nfa(splitting, budget)


@lru_cache(maxsize=8)
def _found(splitting: Splitting) -> SplitNFA | TokdfaError:
    try:
        return known_split_nfa(splitting) or find_split_nfa(splitting, splitting_budget())
    except (PatternError, LimitExceededError) as error:
        # A copy has neither traceback nor context; their frames would keep the callers' variables alive.
        return copy(error)
