"""The machines that are kept are those that are built."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaigns.tables.splitters import as_text, hypotheses_as_text, write
from tokdfa.tokenizers.pretokenizers.building import build_machine, certain_pairs
from tokdfa.tokenizers.pretokenizers.machine import (
    Machine,
    is_known,
    known_boundaries,
    known_machine,
    known_split_nfa,
    splitting_budget,
)
from tokdfa.tokenizers.pretokenizers.split_nfa import build_split_nfa
from tokdfa.tokenizers.pretokenizers.splitter import Splitter
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting


def arrays_of(machine: Machine) -> list[tuple[str, Any]]:
    """Return the arrays of a machine, by their names."""
    others = (field.name for field in fields(Machine) if field.name != "runs")
    return [*machine.runs._asdict().items(), *((name, getattr(machine, name)) for name in others)]


@pytest.mark.parametrize("name", NAMED)
def test_each_is_the_one_that_is_built(name: str) -> None:
    built, kept = build_machine(NAMED[name]), known_machine(NAMED[name])
    assert kept is not None
    assert is_known(NAMED[name])
    for (what, ours), (_, theirs) in zip(arrays_of(kept), arrays_of(built), strict=True):
        assert ours.dtype == theirs.dtype, what
        assert ours.shape == theirs.shape, what
        assert np.array_equal(ours, theirs), f"{what}: run python -m tests.campaigns.tables.splitters"


@pytest.mark.parametrize("name", NAMED)
def test_hypotheses_and_boundaries_are_those_that_are_built(name: str) -> None:
    built, kept = build_split_nfa(NAMED[name], splitting_budget()), known_split_nfa(NAMED[name])
    assert kept is not None
    assert (kept.moves, kept.ends) == (built.moves, built.ends), "run python -m tests.campaigns.tables.splitters"
    boundaries, others = known_boundaries(NAMED[name]), certain_pairs(NAMED[name], lambda: known_machine(NAMED[name]))
    assert boundaries is not None
    for ours, theirs in zip((kept.class_of_code_point, *boundaries), (built.class_of_code_point, *others), strict=True):
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs), "run python -m tests.campaigns.tables.splitters"
    assert boundaries[1].any()


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    write(tmp_path)
    written = {path.name: path.read_text("ascii") for path in tmp_path.iterdir()}
    machines = {f"machine_{name}.json": as_text(known_machine(NAMED[name])) for name in NAMED}  # type: ignore[arg-type]
    hypotheses = {
        f"hypotheses_{name}.json": hypotheses_as_text(known_split_nfa(NAMED[name]), known_boundaries(NAMED[name]))  # type: ignore[arg-type]
        for name in NAMED
    }
    assert written == machines | hypotheses


def test_others_are_built() -> None:
    other = Splitting("tiktoken", (Split("a+"),))
    assert not is_known(other)
    assert known_machine(other) is known_split_nfa(other) is known_boundaries(other) is None
    assert Splitter(other).spans("aab").tolist() == [[0, 2]]
    # The same pattern of another library has other classes.
    gpt2 = NAMED["gpt2"]
    assert known_machine(Splitting("tiktoken", gpt2.steps)) is None


@pytest.mark.parametrize("name", ["llama3", "qwen2"])
def test_these_split_alike_in_both_libraries(name: str) -> None:
    # Llama-3, GLM-4 and Qwen come as files of both.
    of_tiktoken = build_machine(replace(NAMED[name], library="tiktoken"))
    assert as_text(of_tiktoken) == as_text(build_machine(NAMED[name]))
