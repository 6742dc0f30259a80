"""Rollouts in the records of frameworks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tokdfa.errors import TokenStreamError
from tokdfa.rollouts.masks import sampled_ids
from tokdfa.rollouts.records import FRAMEWORKS, fields_of, rollouts_of

IDS, MASK = [1, 2, 3, 4, 5], [0, 0, 1, 0, 1]

RECORDS: dict[str, dict[str, Any]] = {
    "trl": {"prompt_ids": [1, 2], "completion_ids": [3, 4, 5], "tool_mask": [1, 0, 1]},
    "verl": {"prompt_ids": [1, 2], "response_ids": [3, 4, 5], "response_mask": [1, 0, 1], "num_turns": 2},
    "openrlhf": {"observation_tokens": [1, 2, 3, 4, 5], "action_ranges": [(2, 3), (4, 5)]},
    "slime": {"tokens": [1, 2, 3, 4, 5], "response_length": 3, "loss_mask": [1, 0, 1], "status": "completed"},
    "skyrl": {"prompt_token_ids": [[1, 2]], "response_ids": [[3, 4, 5]], "loss_masks": [[1, 0, 1]]},
    "verifiers": {
        "prompt_ids": [1, 2],
        "prompt_mask": [0, 0],
        "completion_ids": [3, 4, 5],
        "completion_mask": [1, 0, 1],
    },
    "nemo": {
        "responses_create_params": {"input": [{"role": "user", "content": "a"}]},
        "response": {
            "output": [
                {"type": "message", "prompt_token_ids": [1, 2], "generation_token_ids": [3]},
                {"type": "function_call_output", "call_id": "a", "output": "b"},
                {"type": "message", "prompt_token_ids": [1, 2, 3, 4], "generation_token_ids": [5]},
            ]
        },
        "reward": 1.0,
    },
    "vllm": {"prompt_token_ids": [1, 2, 3, 4], "choices": [{"index": 0, "token_ids": [5]}]},
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("as_array", [False, True])
def test_the_record_of_a_framework(framework: str, as_array: bool) -> None:
    record = RECORDS[framework]
    if as_array:
        record = {name: np.array(value) if _is_flat(value) else value for name, value in record.items()}
    ((_, rollout),) = rollouts_of(record, fields_of(framework))
    assert [*rollout.ids] == IDS  # type: ignore[misc]
    sampled = sampled_ids(rollout.mask, rollout.prompt, 5)
    assert sampled is not None
    assert sampled.astype(int).tolist() == ([0, 0, 0, 0, 1] if framework == "vllm" else MASK)


def _is_flat(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, int) for item in value)


def test_a_mask_may_be_missing_unless_it_is_asked_for() -> None:
    record = {"prompt_ids": [1], "completion_ids": [2, 3]}
    ((_, rollout),) = rollouts_of(record, fields_of("trl"))
    assert (rollout.mask, rollout.prompt) == (None, 1)
    with pytest.raises(TokenStreamError, match="field tool_mask: the field is missing or null"):
        rollouts_of(record, fields_of("trl", mask="tool_mask"))


def test_fields_by_name() -> None:
    record = {"a": {"ids": [1, 2], "n": 1}, "m": [1]}
    ((_, rollout),) = rollouts_of(record, fields_of(None, "a.ids", "a.n", "m"))
    assert (rollout.ids, rollout.mask, rollout.prompt) == ([1, 2], [1], 1)


def test_batches_and_choices_are_several_rollouts() -> None:
    record = {"prompt_token_ids": [[1], [2]], "response_ids": [[3], []], "loss_masks": [[1], []]}
    found = rollouts_of(record, fields_of("skyrl"))
    assert [(part, [*rollout.ids], rollout.prompt) for part, rollout in found] == [  # type: ignore[misc]
        ("rollout 0", [1, 3], 1),
        ("rollout 1", [2], 1),
    ]
    record = {"prompt_token_ids": [1], "choices": [{"token_ids": [2]}, {"token_ids": [3]}]}
    assert [part for part, _ in rollouts_of(record, fields_of("vllm"))] == ["choices[0]", "choices[1]"]
    # The completions of vLLM have the prompt in each choice.
    record = {"choices": [{"token_ids": [2], "prompt_token_ids": [1]}]}
    ((_, rollout),) = rollouts_of(record, fields_of("vllm"))
    assert rollout.prompt == 1


@pytest.mark.parametrize(
    ("framework", "record", "message"),
    [
        (
            "trl",
            {"prompt_ids": [1]},
            r"field completion_ids: the field is missing or null \(the record has prompt_ids\)",
        ),
        ("trl", {"completions_ids": [1]}, r"missing or null \(did you mean completions_ids\?\)"),
        ("trl", {"completion_ids": None}, r"missing or null \(the record has completion_ids\)"),
        ("trl", {}, r"field completion_ids: the field is missing or null$"),
        ("trl", {"prompt_ids": [1], "completion_ids": "abc"}, "field completion_ids: a list is expected"),
        ("trl", {"prompt_ids": None, "completion_ids": [1]}, "field prompt_ids: the field is missing"),
        ("trl", [1], "a record must be an object"),
        ("slime", {"tokens": [1], "response_length": 2}, "field response_length: the response is longer"),
        ("slime", {"tokens": [1], "response_length": "2"}, "field response_length: an integer from 0 on"),
        ("openrlhf", {"observation_tokens": [1], "action_ranges": [[0, 2]]}, r"field action_ranges\[0\]: a range"),
        ("openrlhf", {"observation_tokens": [1], "action_ranges": [[0]]}, r"field action_ranges\[0\]: a range must be"),
        ("skyrl", {"prompt_token_ids": [[1]], "response_ids": [[1], [2]]}, "field prompt_token_ids: a batch has"),
        ("vllm", {"choices": [{"text": "a"}], "prompt_token_ids": [1]}, r"field choices\[0\].token_ids"),
        ("vllm", {"choices": [1], "prompt_token_ids": [1]}, r"field choices\[0\]: an object"),
        ("nemo", {"response": {"output": [{"role": "user"}]}}, "field response.output: no message has ids"),
        (
            "nemo",
            {
                "response": {
                    "output": [
                        {"prompt_token_ids": [1], "generation_token_ids": [2]},
                        {"prompt_token_ids": [1, 9, 3], "generation_token_ids": [4]},
                    ]
                }
            },
            r"field response.output\[1\].prompt_token_ids, token 1: the message does not begin with",
        ),
    ],
)
def test_records_that_are_refused(framework: str, record: Any, message: str) -> None:
    with pytest.raises(TokenStreamError, match=message):
        rollouts_of(record, fields_of(framework))


def test_fields_that_are_not_said() -> None:
    with pytest.raises(TokenStreamError, match="no field of ids is named \\(give --ids FIELD"):
        fields_of()
    with pytest.raises(TokenStreamError, match="no such framework: 'x'"):
        fields_of("x")
