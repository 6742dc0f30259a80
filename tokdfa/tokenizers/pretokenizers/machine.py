"""The automata of a splitting: the NFA of its hypotheses, and the deterministic machine; those in use are prebuilt.

Reading one takes a fraction of the time of building it; ``python -m tests.campaigns.tables.splitters`` builds them.
There are two files each: encoding needs the machines, validation the rest.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, Uint16Array
from tokdfa.base.budget import DEFAULT_MAX_SECONDS, Budget
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Splitting

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

    A state is a tuple of hypotheses; there are `n_nfa_states` of each. No state distinguishes the code points of one
    class, which are in `runs`. `target`, of shape (states, classes), is the state after a symbol. `parent`, of shape
    (states, classes, most hypotheses) and padded, is the hypothesis of the source that a hypothesis of the target
    continues, and `event`, of the same shape, the effect that it supposes the symbol to have: CONTINUES, BEGINS or
    DROPPED. `borne_out` is for each state the hypothesis that the end of the text confirms.
    """

    runs: Runs
    target: Int32Array
    n_nfa_states: Int32Array
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
class SplitNFA:
    """The unambiguous NFA of a splitting, over classes of code points: its states are hypotheses, 0 before the text.

    ``moves[h][c]`` has a pair (target, event) for each hypothesis after a symbol of class c. The event is the effect of
    the symbol: ``CONTINUES``, ``BEGINS`` or ``DROPPED`` of :mod:`tokdfa.kernels.encode.events`. `ends` is whether the
    end of the text confirms a hypothesis.
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


DATA = Path(__file__).with_name("data")
NAMES = {splitting: name for name, splitting in NAMED.items()}
"""The names of the splittings with prebuilt machines, which all in `NAMED` have."""


def is_known(splitting: Splitting) -> bool:
    """Return whether the machine of a splitting is prebuilt."""
    return splitting in NAMES


def known_machine(splitting: Splitting) -> Machine | None:
    """Return the prebuilt machine of a splitting; None if it has to be built."""
    name = NAMES.get(splitting)
    return None if name is None else _read(name)


def known_split_nfa(splitting: Splitting) -> SplitNFA | None:
    """Return the prebuilt NFA of a splitting; None if it has to be built."""
    if (fields := _fields_of(splitting)) is None:
        return None
    moves = tuple(tuple(tuple((target, event) for target, event in cell) for cell in row) for row in fields["moves"])
    return SplitNFA(_classes(fields["classes_of_moves"]), moves, tuple(fields["ends"]))


def known_boundaries(splitting: Splitting) -> tuple[Uint16Array, BoolArray] | None:
    """Return the prebuilt answer of :func:`.building.certain_pairs`; None without one."""
    fields, certain = _fields_of(splitting), known_certain(splitting)
    return None if fields is None or certain is None else (_classes(fields["classes_of_boundaries"]), certain)


def known_certain(splitting: Splitting) -> BoolArray | None:
    """Return the second part of :func:`known_boundaries` alone, which takes less time."""
    fields = _fields_of(splitting)
    return None if fields is None else np.array(fields["is_boundary"], dtype=np.bool_)


def _fields_of(splitting: Splitting) -> dict[str, Any] | None:
    return None if splitting not in NAMES else _fields(f"hypotheses_{NAMES[splitting]}.json")


# Kept, because two functions read the same file, one after the other.
@lru_cache(maxsize=1)
def _fields(name: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(DATA.joinpath(name).read_bytes())
    return fields


def _classes(runs: dict[str, list[int]]) -> Uint16Array:
    """Return the class of every code point, given the classes of runs of them."""
    return np.repeat(np.array(runs["run_class"], np.uint16), runs["run_length"])


@cache
def _read(name: str) -> Machine:
    fields = _fields(f"machine_{name}.json")
    shape = (fields["states"], fields["classes"])
    of_targets = (*shape, fields["most_hypotheses"])
    return Machine(
        Runs(np.array(fields["run_class"], np.uint8), np.array(fields["run_length"], np.int64)),
        np.array(fields["target"], np.int32).reshape(shape),
        np.array(fields["n_hypotheses"], np.int32),
        np.array(fields["parent"], np.uint8).reshape(of_targets),
        np.array(fields["event"], np.uint8).reshape(of_targets),
        np.array(fields["borne_out"], np.uint8),
    )
