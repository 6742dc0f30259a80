"""The prebuilt machines of the splittings in use: reading one takes a fraction of the time it takes to build it.

``python -m tokdfa.splitting.known_machines`` builds them all and writes them next to this module, one file each.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.splitting.machine import Machine
from tokdfa.splitting.named import NAMED
from tokdfa.splitting.steps import Splitting

__all__ = ["as_text", "is_known", "known_machine", "write"]

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


@cache
def _read(name: str) -> Machine:
    fields: dict[str, Any] = json.loads(_DATA.joinpath(f"machine_{name}.json").read_text("ascii"))
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
    classes = machine.class_of_code_point
    starts = np.concatenate(([0], np.flatnonzero(np.diff(classes)) + 1))
    fields = {
        "states": machine.n_states,
        "classes": machine.target.shape[1],
        "most_hypotheses": machine.parent.shape[2],
        "target": machine.target.ravel().tolist(),
        "n_hypotheses": machine.n_hypotheses.tolist(),
        "parent": machine.parent.ravel().tolist(),
        "event": machine.event.ravel().tolist(),
        "borne_out": machine.borne_out.tolist(),
        "run_class": classes[starts].tolist(),
        "run_length": np.diff(starts, append=_N_CODE_POINTS).tolist(),
    }
    lines = ",\n".join(f'"{name}": {json.dumps(value, separators=(",", ":"))}' for name, value in fields.items())
    return f"{{\n{lines}\n}}\n"


def write(folder: Path = _DATA) -> None:
    """Build all machines and write them into a folder."""
    from tokdfa.splitting.machine_building import build_machine

    folder.mkdir(exist_ok=True)
    for splitting, name in _NAMES.items():
        folder.joinpath(f"machine_{name}.json").write_text(as_text(build_machine(splitting)), "ascii")


if __name__ == "__main__":
    write()
