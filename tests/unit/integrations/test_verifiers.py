"""Branches, steps and prefixes of verifiers, with its own types where they are installed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import tokdfa
from tokdfa.integrations.verifiers import check_branches, check_extensions, check_steps

SPOILED = [64, 261, 1193]


def step(prompt: list[int], completion: list[int]) -> dict[str, object]:
    masks = {"prompt_mask": [0] * len(prompt), "completion_mask": [1] * len(completion)}
    return {"prompt": [], "tokens": {"prompt_ids": prompt, "completion_ids": completion, **masks}}


def test_branches() -> None:
    branch = SimpleNamespace(token_ids=SPOILED, sampled_mask=[False, False, True])
    assert check_branches(tokdfa.default_tokenizer(), [branch]).counts == (0, 0, 1)


def test_steps_and_their_prefixes() -> None:
    tokenizer = tokdfa.default_tokenizer()
    steps = [
        step([64], [261, 1193]),
        {"tokens": None},
        step([*SPOILED, 462], [64]),
        step([64, 2513, 462, 64, 64], [64]),
    ]
    assert check_steps(tokenizer, steps).counts.drift == 1
    held, broken = check_extensions(tokenizer, steps)
    assert held
    assert not broken
    assert (broken.canonical, broken.ids_b) == ("b", (2513,))


def test_the_real_types() -> None:
    trace = pytest.importorskip("verifiers.v1.trace")
    assert {"token_ids", "sampled_mask"} <= {*dir(trace.Branch)}
