"""Outputs of verl's agent loops, and its padded batches."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import tokdfa
from tokdfa.integrations.verl import check_batch, check_outputs

PROMPT, RESPONSE, MASK = [64, 261], [1193, 462, 261, 1193], [1, 0, 1, 1]


def test_outputs_of_agent_loops() -> None:
    output = SimpleNamespace(prompt_ids=PROMPT, response_ids=RESPONSE, response_mask=MASK)
    checks = check_outputs(tokdfa.default_tokenizer(), [output, output])
    assert checks.counts == (0, 2, 2)
    assert checks[0].junctions[0].index == 1


@pytest.mark.parametrize("wrapped", [False, True])
def test_batches_are_padded_on_both_sides(wrapped: bool) -> None:
    ids = np.array([[0, 0, *PROMPT, *RESPONSE, 0], [64, 261, 1193, 462, 64, 0, 0, 0, 0]])
    attention = np.array([[0, 0, *[1] * 6, 0], [1] * 5 + [0] * 4])
    mask = np.array([[*MASK, 0], [1, 0, 0, 0, 0]])
    fields = {"input_ids": ids, "attention_mask": attention, "response_mask": mask}
    checks = check_batch(tokdfa.default_tokenizer(), SimpleNamespace(batch=fields) if wrapped else fields)
    assert [check.counts for check in checks] == [(0, 1, 1), (1, 0, 0)]
    assert [check.tokens for check in checks] == [6, 5]


def test_the_real_types() -> None:
    loops = pytest.importorskip("verl.experimental.agent_loop.agent_loop")
    metrics = loops.AgentLoopMetrics()
    output = loops.AgentLoopOutput(prompt_ids=PROMPT, response_ids=RESPONSE, response_mask=MASK, metrics=metrics)
    assert check_outputs(tokdfa.default_tokenizer(), [output]).counts == (0, 1, 1)
