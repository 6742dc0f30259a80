"""Splitting as a finite machine: guess where pieces begin, and verify the guesses.

Whether a piece begins at some place may depend on text far to its right, so the machine guesses. A *hypothesis* has,
for each step of the splitting, a scan of the supposed current piece, and scans that are supposed to find nothing.
Either a piece ended where such a scan had a match, and the alternatives preferred to that match must fail; or nothing
begins where such a scan was started. A hypothesis whose guess turns out wrong ends, and one that nothing can confirm is
not pursued. For every text exactly one hypothesis is confirmed in the end, so the automaton of hypotheses is
unambiguous.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokdfa.arrays import Uint16Array
from tokdfa.patterns.budget import DEFAULT_MAX_SECONDS, Budget

__all__ = ["Hypotheses", "splitting_budget"]


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


def splitting_budget(max_seconds: float = DEFAULT_MAX_SECONDS) -> Budget:
    """Return the budget for the automaton of a splitting."""
    return Budget(max_seconds=max_seconds, what="the automaton of the split pattern")
