"""Splitting as a finite machine: guess where pieces begin, and verify the guesses.

Whether a piece begins at some place may depend on text far to its right, so the machine guesses. A *hypothesis* has,
for each step of the splitting, a scan of the supposed current piece, and scans that are supposed to find nothing.
Either a piece ended where such a scan had a match, and the alternatives preferred to that match must fail; or nothing
begins where such a scan was started. A hypothesis whose guess turns out wrong ends, and one that nothing can confirm is
not pursued. For every text exactly one hypothesis is confirmed in the end, so the automaton of hypotheses is
unambiguous.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import lru_cache

from tokdfa.arrays import Uint16Array
from tokdfa.errors import LimitExceededError, PatternError, TokdfaError
from tokdfa.patterns.budget import DEFAULT_MAX_SECONDS, Budget
from tokdfa.splitting.steps import Splitting

__all__ = ["Hypotheses", "find_hypotheses", "splitting_budget"]


@dataclass(frozen=True)
class Hypotheses:
    """The unambiguous automaton of hypotheses, over classes of code points. Hypothesis 0 is the one before the text.

    Attributes
    ----------
    class_of_code_point : uint16 array of shape (0x110000,)
    moves : tuple
        ``moves[h][c]`` has a pair (target, event) for each hypothesis after a symbol of class c. The event is the
        effect of the symbol: ``CONTINUES``, ``BEGINS`` or ``DROPPED`` of :mod:`tokdfa.kernels.encode.events`.
    ends : tuple of bool
        Whether the end of the text confirms a hypothesis.
    """

    class_of_code_point: Uint16Array
    moves: tuple[tuple[tuple[tuple[int, int], ...], ...], ...]
    ends: tuple[bool, ...]

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.moves[0])


def find_hypotheses(splitting: Splitting, budget: Budget | None = None) -> Hypotheses:
    """Return the automaton of the hypotheses of a splitting.

    Parameters
    ----------
    splitting : Splitting
        The steps. A space may be put only before the first step; whoever runs the automaton feeds it that space.
    budget : Budget, optional
        The budget, which includes the scans of the steps. Without one, the result is shared: the automaton of a
        splitting is read if it is prebuilt; otherwise it is built once, or found once to exceed the default budget.

    Raises
    ------
    PatternError
        If a pattern cannot be read, or needs something automata cannot express.
    LimitExceededError
        If the budget does not suffice.
    """
    if budget is None:
        found = _found(splitting)
        if isinstance(found, TokdfaError):
            raise copy(found)
        return found
    from tokdfa.splitting.hypotheses_building import build_hypotheses

    return build_hypotheses(splitting, budget)


def splitting_budget(max_seconds: float = DEFAULT_MAX_SECONDS) -> Budget:
    """Return the budget for the automaton of a splitting."""
    return Budget(max_seconds=max_seconds, what="the automaton of the split pattern")


@lru_cache(maxsize=8)
def _found(splitting: Splitting) -> Hypotheses | TokdfaError:
    from tokdfa.splitting.known_machines import known_hypotheses

    known = known_hypotheses(splitting)
    if known is not None:
        return known
    try:
        return find_hypotheses(splitting, splitting_budget())
    except (PatternError, LimitExceededError) as error:
        # A copy has neither traceback nor context, whose frames would keep alive what called this.
        return copy(error)
