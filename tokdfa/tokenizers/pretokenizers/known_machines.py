"""The prebuilt machines of the splittings in use, with their hypotheses and where they certainly cut.

Reading one takes a fraction of the time it takes to build it; ``python -m tests.campaigns.tables.splitters`` does
that. There are two files each: encoding needs the machines, validation the rest.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.base.arrays import BoolArray, Uint16Array
from tokdfa.tokenizers.pretokenizers.machine import Hypotheses, Machine, Runs
from tokdfa.tokenizers.pretokenizers.named import NAMED
from tokdfa.tokenizers.pretokenizers.steps import Splitting

__all__ = ["DATA", "is_known", "known_boundaries", "known_certain", "known_hypotheses", "known_machine", "known_names"]

DATA = Path(__file__).with_name("data")
_NAMES = {splitting: name for name, splitting in NAMED.items()}


def known_names() -> dict[Splitting, str]:
    """Return the names of the splittings whose machines are prebuilt."""
    return dict(_NAMES)


def is_known(splitting: Splitting) -> bool:
    """Return whether the machine of a splitting is prebuilt, as it is for those of `named.NAMED`."""
    return splitting in _NAMES


def known_machine(splitting: Splitting) -> Machine | None:
    """Return the prebuilt machine of a splitting; None if it has to be built."""
    name = _NAMES.get(splitting)
    return None if name is None else _read(name)


def known_hypotheses(splitting: Splitting) -> Hypotheses | None:
    """Return the prebuilt hypotheses of a splitting; None if they have to be built."""
    name = _NAMES.get(splitting)
    if name is None:
        return None
    fields = _fields(f"hypotheses_{name}.json")
    moves = tuple(tuple(tuple((target, event) for target, event in cell) for cell in row) for row in fields["moves"])
    return Hypotheses(_classes(fields["classes_of_moves"]), moves, tuple(fields["ends"]))


def known_boundaries(splitting: Splitting) -> tuple[Uint16Array, BoolArray] | None:
    """Return the prebuilt answer of :func:`tokdfa.tokenizers.pretokenizers.pairs.certain_pairs`; None without one."""
    name = _NAMES.get(splitting)
    if name is None:
        return None
    fields = _fields(f"hypotheses_{name}.json")
    certain = known_certain(splitting)
    assert certain is not None
    return _classes(fields["classes_of_boundaries"]), certain


def known_certain(splitting: Splitting) -> BoolArray | None:
    """Return the second part of :func:`known_boundaries` alone, which takes less time."""
    name = _NAMES.get(splitting)
    return None if name is None else np.array(_fields(f"hypotheses_{name}.json")["is_boundary"], dtype=np.bool_)


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
