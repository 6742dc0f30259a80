"""Tokenizers as hooks are given them, and examples that run."""

from __future__ import annotations

import doctest
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tokdfa
from tokdfa.integrations import openrlhf, skyrl, slime, trl, verifiers, verl, vllm
from tokdfa.integrations.metrics import as_tokenizer, metrics_of
from tokdfa.jobs.rollouts.result import RolloutChecks

TOKENIZER = tokdfa.default_tokenizer()
MERGES = Path(tokdfa.__file__).parent / "tokenizers" / "data" / "default.merges.txt"


def test_paths_are_loaded_once() -> None:
    tokenizer = as_tokenizer(MERGES)
    assert as_tokenizer(MERGES) is tokenizer
    assert as_tokenizer(tokenizer) is tokenizer


@pytest.mark.parametrize("name", ["metrics", "trl", "verl", "openrlhf", "slime", "skyrl", "verifiers", "vllm"])
def test_examples(name: str) -> None:
    failed, tried = doctest.testmod(import_module(f"tokdfa.integrations.{name}"))
    assert failed == 0
    assert tried > 0


# Each hook as a function of the ids of a prompt, those after it, and the mask of these.
HOOKS: dict[str, Callable[[Sequence[int], Sequence[int], Sequence[int]], RolloutChecks]] = {
    "verl": lambda prompt, ids, mask: verl.check_outputs(
        TOKENIZER, [SimpleNamespace(prompt_ids=prompt, response_ids=ids, response_mask=mask)]
    ),
    "verl batch": lambda prompt, ids, mask: verl.check_batch(
        TOKENIZER,
        {
            "input_ids": np.array([[*prompt, *ids]]),
            "attention_mask": np.ones((1, len(prompt) + len(ids))),
            "response_mask": np.array([mask]),
        },
    ),
    "openrlhf": lambda prompt, ids, mask: openrlhf.check_responses(
        TOKENIZER,
        [
            {
                "observation_tokens": [*prompt, *ids],
                "action_ranges": [(at + len(prompt), at + len(prompt) + 1) for at, flag in enumerate(mask) if flag],
                "action_mask": mask,
            }
        ],
    ),
    "slime": lambda prompt, ids, mask: slime.check_samples(
        TOKENIZER, [SimpleNamespace(tokens=[*prompt, *ids], response_length=len(ids), loss_mask=mask)]
    ),
    "skyrl": lambda prompt, ids, mask: skyrl.check_output(
        TOKENIZER, {"prompt_token_ids": [prompt], "response_ids": [ids], "loss_masks": [mask], "other_mask": [mask]}
    ),
    "verifiers": lambda prompt, ids, mask: verifiers.check_steps(
        TOKENIZER, [{"tokens": {"prompt_ids": prompt, "completion_ids": ids, "completion_mask": mask}}]
    ),
    "branches": lambda prompt, ids, mask: verifiers.check_branches(
        TOKENIZER, [SimpleNamespace(token_ids=[*prompt, *ids], sampled_mask=[0] * len(prompt) + [*mask])]
    ),
}
UNKNOWN = (TOKENIZER.n_ids, 2**31, -1)


@pytest.mark.parametrize("name", HOOKS)
def test_ids_outside_of_the_vocabulary_are_counted(name: str) -> None:
    check = HOOKS[name]
    for unknown in UNKNOWN:
        # The ids between them are texts of their own: one is spoiled, and one would be if it were not cut.
        found = check([64, unknown], [261, 1193, 64, 261, unknown, 1193], [1, 1, 0, 0, 1, 1])
        assert (found.out_of_range, found.tokens, found.sampled) == (2, 8, 4)
        assert (found.counts.bugs, found.counts.drift, found.counts.junctions) == (1, 2, 0)
        assert metrics_of(found, "")["out_of_range"] == 2.0
    assert check([64], [261, 1193], [1, 1]).out_of_range == 0


def test_ids_outside_of_the_vocabulary_in_responses_of_a_server() -> None:
    response = {"prompt_token_ids": [64], "choices": [{"token_ids": [261, 1193, UNKNOWN[0]]}]}
    found = vllm.check_responses(TOKENIZER, [response])
    assert (found.out_of_range, found.counts.drift) == (1, 2)


def test_a_reward_function_never_raises() -> None:
    logged: dict[str, float] = {}
    measure = trl.drift_metric(TOKENIZER, prefix="")
    ids = [[261, 1193], [UNKNOWN[0], 261, 1193], [64, 64], [64], [64], [64]]
    masks = [[1, 1], [1, 1, 1], [1], [2], None]
    assert measure(completion_ids=ids, tool_mask=masks, log_metric=logged.__setitem__) == [None] * 6
    # A mask of another length, one of another value, and one that is missing.
    assert (logged["unjudged"], logged["out_of_range"], logged["drift"]) == (3.0, 1.0, 5 / 6)
    assert measure(completion_ids=[[64.5]], log_metric=logged.__setitem__) == [None]
    assert (logged["unjudged"], logged["drift"]) == (1.0, 0.0)
