"""Finding the hypotheses of a splitting: read if they are prebuilt, built once otherwise."""

from __future__ import annotations

from copy import copy
from functools import lru_cache

from tokdfa.base.errors import LimitExceededError, PatternError, TokdfaError
from tokdfa.regex.budget import Budget
from tokdfa.tokenizers.pretokenizers.machine import Hypotheses, known_hypotheses, splitting_budget
from tokdfa.tokenizers.pretokenizers.steps import Splitting


def find_hypotheses(splitting: Splitting, budget: Budget | None = None) -> Hypotheses:
    """Return the automaton of the hypotheses of a splitting.

    A space may be put only before the first step; whoever runs the automaton feeds it that space. The budget includes
    the scans of the steps. Without one, the result is shared: the automaton of a splitting is read if it is prebuilt;
    otherwise it is built once, or found once to exceed the default budget. Raises PatternError if a pattern cannot be
    read, or needs something automata cannot express.
    """
    if budget is None:
        found = _found(splitting)
        if isinstance(found, TokdfaError):
            raise copy(found)
        return found
    # Imported here: known splittings do not need it.
    from tokdfa.tokenizers.pretokenizers.hypotheses_building import build_hypotheses

    return build_hypotheses(splitting, budget)


@lru_cache(maxsize=8)
def _found(splitting: Splitting) -> Hypotheses | TokdfaError:
    known = known_hypotheses(splitting)
    if known is not None:
        return known
    try:
        return find_hypotheses(splitting, splitting_budget())
    except (PatternError, LimitExceededError) as error:
        # A copy has neither traceback nor context; their frames would keep the callers' variables alive.
        return copy(error)
