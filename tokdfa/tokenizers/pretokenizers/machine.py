"""The automata of a splitting: its hypotheses, and the deterministic machine, by their states and transitions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array, Uint16Array
from tokdfa.regex.budget import DEFAULT_MAX_SECONDS, Budget

__all__ = ["DEFAULT_MAX_STATES", "Hypotheses", "Machine", "Runs", "splitting_budget"]

DEFAULT_MAX_STATES = 5_000


class Runs(NamedTuple):
    """The classes of all code points, in runs of one class: arrays with an entry per run, its class and its length."""

    classes: Uint8Array | Uint16Array
    lengths: Int64Array

    @classmethod
    def of(cls, class_of_code_point: Uint8Array | Uint16Array) -> Self:
        """Return the runs of the classes of code points."""
        starts = np.append(0, np.flatnonzero(np.diff(class_of_code_point)) + 1)
        return cls(class_of_code_point[starts], np.diff(starts, append=len(class_of_code_point)))


@dataclass(frozen=True)
class Machine:
    """The deterministic machine of a splitting, over classes of code points. State 0 is the initial state.

    A state is a tuple of hypotheses. The arrays over (state, class, hypothesis of the target) are padded.

    Attributes
    ----------
    runs : Runs
        The classes of all code points; no state distinguishes code points of one class.
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

    runs: Runs
    target: Int32Array
    n_hypotheses: Int32Array
    parent: Uint8Array
    event: Uint8Array
    borne_out: Uint8Array

    @cached_property
    def class_of_code_point(self) -> Uint8Array:
        """The class of every code point, a uint8 array of shape (0x110000,)."""
        return np.repeat(self.runs.classes.astype(np.uint8), self.runs.lengths)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.target)


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
