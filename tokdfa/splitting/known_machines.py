"""The prebuilt machines of the splittings in use, with their hypotheses and where they certainly cut.

Reading one takes a fraction of the time it takes to build it. ``python -m tokdfa.splitting.known_machines`` builds them
all and writes them next to this module, two files each: encoding needs the machines, validation the rest.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.arrays import BoolArray, Uint8Array, Uint16Array
from tokdfa.splitting.hypotheses import Hypotheses
from tokdfa.splitting.machine import Machine
from tokdfa.splitting.named import NAMED
from tokdfa.splitting.steps import Splitting

__all__ = ["as_text", "hypotheses_as_text", "is_known", "known_borders", "known_hypotheses", "known_machine", "write"]

_DATA = Path(__file__).with_name("data")
_NAMES = {splitting: name for name, splitting in NAMED.items()}
_N_CODE_POINTS = 0x110000


def is_known(splitting: Splitting) -> bool:
    """Return whether the machine of a splitting is prebuilt, as it is for :data:`tokdfa.splitting.named.NAMED`."""
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


def known_borders(splitting: Splitting) -> tuple[Uint16Array, BoolArray] | None:
    """Return the prebuilt answer of :func:`tokdfa.splitting.border_pairs.border_pairs`; None without one."""
    name = _NAMES.get(splitting)
    if name is None:
        return None
    fields = _fields(f"hypotheses_{name}.json")
    return _classes(fields["classes_of_borders"]), np.array(fields["is_border"], dtype=np.bool_)


def _fields(name: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(_DATA.joinpath(name).read_text("ascii"))
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
        np.repeat(np.array(fields["run_class"], np.uint8), fields["run_length"]),
        np.array(fields["target"], np.int32).reshape(shape),
        np.array(fields["n_hypotheses"], np.int32),
        np.array(fields["parent"], np.uint8).reshape(of_targets),
        np.array(fields["event"], np.uint8).reshape(of_targets),
        np.array(fields["borne_out"], np.uint8),
    )


def as_text(machine: Machine) -> str:
    """Return a machine as JSON, one line per field, with the classes of all code points as runs."""
    return _in_lines(
        {
            "states": machine.n_states,
            "classes": machine.target.shape[1],
            "most_hypotheses": machine.parent.shape[2],
            "target": machine.target.ravel().tolist(),
            "n_hypotheses": machine.n_hypotheses.tolist(),
            "parent": machine.parent.ravel().tolist(),
            "event": machine.event.ravel().tolist(),
            "borne_out": machine.borne_out.tolist(),
            **_runs(machine.class_of_code_point),
        }
    )


def hypotheses_as_text(hypotheses: Hypotheses, borders: tuple[Uint16Array, BoolArray]) -> str:
    """Return hypotheses and pairs of symbols that are certainly cut as JSON, as :func:`as_text` does."""
    return _in_lines(
        {
            "moves": hypotheses.moves,
            "ends": hypotheses.ends,
            "classes_of_moves": _runs(hypotheses.class_of_code_point),
            "is_border": borders[1].astype(int).tolist(),
            "classes_of_borders": _runs(borders[0]),
        }
    )


def _runs(classes: Uint8Array | Uint16Array) -> dict[str, list[int]]:
    starts = np.concatenate(([0], np.flatnonzero(np.diff(classes)) + 1))
    return {"run_class": classes[starts].tolist(), "run_length": np.diff(starts, append=_N_CODE_POINTS).tolist()}


def _in_lines(fields: dict[str, Any]) -> str:
    lines = ",\n".join(f'"{name}": {json.dumps(value, separators=(",", ":"))}' for name, value in fields.items())
    return f"{{\n{lines}\n}}\n"


def write(folder: Path = _DATA) -> None:
    """Build all machines and write them into a folder."""
    folder.mkdir(exist_ok=True)
    for splitting, name in _NAMES.items():
        for kind, text in _built(splitting).items():
            folder.joinpath(f"{kind}_{name}.json").write_text(text, "ascii")


def _built(splitting: Splitting) -> dict[str, str]:
    from tokdfa.splitting.border_pairs import border_pairs
    from tokdfa.splitting.hypotheses import splitting_budget
    from tokdfa.splitting.hypotheses_building import build_hypotheses
    from tokdfa.splitting.machine_building import build_machine

    machine = build_machine(splitting)
    hypotheses = build_hypotheses(splitting, splitting_budget())
    borders = border_pairs(splitting, lambda: machine)
    return {"machine": as_text(machine), "hypotheses": hypotheses_as_text(hypotheses, borders)}


if __name__ == "__main__":
    write()
