"""The machine of a splitting: its states and transitions."""

from __future__ import annotations

from dataclasses import dataclass

from tokdfa.arrays import Int32Array, Uint8Array

__all__ = ["DEFAULT_MAX_STATES", "Machine"]


DEFAULT_MAX_STATES = 5_000


@dataclass(frozen=True)
class Machine:
    """The deterministic machine of a splitting, over classes of code points. State 0 is the initial state.

    A state is a tuple of hypotheses. The arrays over (state, class, hypothesis of the target) are padded.

    Attributes
    ----------
    class_of_code_point : uint8 array of shape (0x110000,)
        The class of every code point; no state distinguishes code points of one class.
    target : int32 array of shape (states, classes)
        The state after a symbol.
    n_hypotheses : int32 array, one entry per state
    parent : uint8 array of shape (states, classes, most hypotheses)
        The hypothesis of the source that a hypothesis of the target continues.
    event : uint8 array of the same shape
        The effect that it supposes the symbol to have: CONTINUES, BEGINS or DROPPED.
    borne_out : uint8 array, one entry per state
        The hypothesis that the end of the text confirms.
    """

    class_of_code_point: Uint8Array
    target: Int32Array
    n_hypotheses: Int32Array
    parent: Uint8Array
    event: Uint8Array
    borne_out: Uint8Array

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.target)
