"""Building what is shipped of the splittings in use: ``python -m tests.campaigns.tables.splitters``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokdfa.base.arrays import BoolArray, Uint16Array
from tokdfa.tokenizers.pretokenizers.building import build_machine, certain_pairs
from tokdfa.tokenizers.pretokenizers.machine import DATA, NAMES, Machine, Runs, SplitNFA, splitting_budget
from tokdfa.tokenizers.pretokenizers.split_nfa import build_split_nfa
from tokdfa.tokenizers.pretokenizers.steps import Splitting

__all__ = ["as_text", "hypotheses_as_text", "write"]


def as_text(machine: Machine) -> str:
    """Return a machine as JSON, one line per field, with the classes of all code points as runs."""
    return _in_lines(
        {
            "states": machine.n_states,
            "classes": machine.target.shape[1],
            "most_hypotheses": machine.parent.shape[2],
            "target": machine.target.ravel().tolist(),
            "n_hypotheses": machine.n_nfa_states.tolist(),
            "parent": machine.parent.ravel().tolist(),
            "event": machine.event.ravel().tolist(),
            "borne_out": machine.borne_out.tolist(),
            **_fields(machine.runs),
        }
    )


def hypotheses_as_text(hypotheses: SplitNFA, boundaries: tuple[Uint16Array, BoolArray]) -> str:
    """Return hypotheses and pairs of symbols that are always cut as JSON, as :func:`as_text` does."""
    return _in_lines(
        {
            "moves": hypotheses.moves,
            "ends": hypotheses.ends,
            "classes_of_moves": _fields(Runs.of(hypotheses.class_of_code_point)),
            "is_boundary": boundaries[1].astype(int).tolist(),
            "classes_of_boundaries": _fields(Runs.of(boundaries[0])),
        }
    )


def _fields(runs: Runs) -> dict[str, list[int]]:
    return {"run_class": runs.classes.tolist(), "run_length": runs.lengths.tolist()}


def _in_lines(fields: dict[str, Any]) -> str:
    lines = ",\n".join(f'"{name}": {json.dumps(value, separators=(",", ":"))}' for name, value in fields.items())
    return f"{{\n{lines}\n}}\n"


def write(folder: Path = DATA) -> None:
    """Build all machines and write them into a folder."""
    folder.mkdir(exist_ok=True)
    for splitting, name in NAMES.items():
        for kind, text in _built(splitting).items():
            folder.joinpath(f"{kind}_{name}.json").write_text(text, "ascii")


def _built(splitting: Splitting) -> dict[str, str]:
    machine = build_machine(splitting)
    hypotheses = build_split_nfa(splitting, splitting_budget())
    boundaries = certain_pairs(splitting, lambda: machine)
    return {"machine": as_text(machine), "hypotheses": hypotheses_as_text(hypotheses, boundaries)}


if __name__ == "__main__":
    write()
