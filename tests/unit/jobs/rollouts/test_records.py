"""Rollouts in the records of frameworks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tokdfa.base.errors import TokenStreamError
from tokdfa.jobs.rollouts.frameworks import FRAMEWORKS, Fields, fields_of, sampled_ids
from tokdfa.jobs.rollouts.records import rollouts_of, usual_fields

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
    sampled = sampled_ids(rollout.mask, rollout.prompt, np.array(IDS))
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
    with pytest.raises(TokenStreamError, match="no field of ids is named \\(give the name of a field"):
        fields_of()
    with pytest.raises(TokenStreamError, match="no such framework: 'x'"):
        fields_of("x")


@pytest.mark.parametrize(
    ("names", "mask", "expected"),
    [
        (["input_ids"], None, fields_of(ids="input_ids")),
        (["tokens", "loss_mask", "reward"], None, fields_of(ids="tokens")._replace(mask="loss_mask", needs_mask=True)),
        (["input_ids", "labels"], None, fields_of(ids="input_ids")._replace(mask="labels", needs_mask=True)),
        (["input_ids", "labels"], "none", fields_of(ids="input_ids", mask="none")),
        (["response_ids", "prompt_ids", "response_mask", "uid"], None, FRAMEWORKS["verl"]),
        (["response_ids", "prompt_ids"], None, FRAMEWORKS["verl"]),
        (["completion_ids", "prompt_ids", "completion_mask", "prompt_mask"], None, FRAMEWORKS["verifiers"]),
        (["completion_ids", "prompt_ids", "tool_mask"], None, FRAMEWORKS["trl"]),
        (["tokens", "loss_mask", "response_length"], None, FRAMEWORKS["slime"]),
        (["choices", "prompt_token_ids", "response"], None, FRAMEWORKS["vllm"]),
        (
            ["input_ids", "loss_mask", "response"],
            None,
            fields_of(ids="input_ids")._replace(mask="loss_mask", needs_mask=True),
        ),
    ],
)
def test_usual_names_need_not_be_said(names: list[str], mask: str | None, expected: Fields) -> None:
    assert usual_fields(names, mask=mask) == expected


def test_a_record_without_the_mask_that_others_have_is_bad() -> None:
    fields = usual_fields(["input_ids", "loss_mask"])
    assert rollouts_of({"input_ids": [1], "loss_mask": [1]}, fields)
    with pytest.raises(TokenStreamError, match="field loss_mask"):
        rollouts_of({"input_ids": [1]}, fields)


@pytest.mark.parametrize(
    "names",
    [
        [], ["text"], ["input_ids", "token_ids"], ["completion_ids", "prompt_ids"],
        ["input_ids", "response_ids", "prompt_ids", "response_mask"],
    ],
)  # fmt: skip
def test_names_that_leave_a_doubt_are_refused(names: list[str]) -> None:
    shown = f"the first record has {', '.join(names)}" if names else "or --framework\\)"
    with pytest.raises(TokenStreamError, match=f"no field of ids is named .*{shown}"):
        usual_fields(names)


@pytest.mark.parametrize(
    ("framework", "record", "field"),
    [
        ("trl", {"prompt_ids": [1], "completion_ids": [2], "loss_mask": [1]}, "loss_mask"),
        ("trl", {"prompt_ids": [[1]], "completion_ids": [[2]], "loss_mask": [[1]]}, "loss_mask"),
        ("verl", {"prompt_ids": [1], "response_ids": [2], "response_mask": [1], "labels": [2]}, "labels"),
        ("openrlhf", {"observation_tokens": [1], "action_ranges": [[0, 1]], "action_mask": [1]}, "action_mask"),
        ("slime", {"tokens": [1], "response_length": 1, "LossMask": [1]}, "LossMask"),
        ("vllm", {"prompt_token_ids": [1], "choices": [{"token_ids": [2], "mask": [0]}]}, r"choices\[0\].mask"),
        (
            "nemo",
            {"response": {"output": [{"prompt_token_ids": [1], "generation_token_ids": [2], "mask": [0]}]}},
            r"response.output\[0\].mask",
        ),
    ],
)
def test_a_field_that_may_be_the_mask_must_be_used(framework: str, record: dict[str, Any], field: str) -> None:
    with pytest.raises(TokenStreamError, match=f"field {field}: a field that may be the mask is not used"):
        rollouts_of(record, fields_of(framework))
    assert rollouts_of(record, fields_of(framework, mask="none"))
    assert rollouts_of(record, fields_of(framework, other_masks=True))


def test_a_field_beside_the_ids_that_may_be_the_mask_must_be_used() -> None:
    record = {"tokens": {"ids": [1, 2], "mask": [0, 1]}}
    with pytest.raises(TokenStreamError, match=r"field tokens\.mask: .*give --mask tokens\.mask to use it"):
        rollouts_of(record, fields_of(None, "tokens.ids"))
    ((_, rollout),) = rollouts_of(record, fields_of(None, "tokens.ids", mask="tokens.mask"))
    assert rollout.mask == [0, 1]
    # A field that is null says nothing, and one that has the field in use is used.
    assert rollouts_of({"ids": [1], "mask": None}, fields_of(None, "ids"))
    assert rollouts_of({"masks": {"ids": [1]}}, fields_of(None, "masks.ids"))


@pytest.mark.parametrize("framework", ["openrlhf", "nemo"])
def test_no_mask_where_something_else_says_what_was_sampled(framework: str) -> None:
    with pytest.raises(TokenStreamError, match=f"a mask cannot be given for {framework}: its"):
        fields_of(framework, mask="loss_mask")


@pytest.mark.parametrize("as_array", [False, True])
@pytest.mark.parametrize("n_prompt", [0, 2])
def test_labels_are_a_mask(as_array: bool, n_prompt: int) -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        ids = generator.integers(0, 4, size=6)
        flags = generator.integers(0, 2, size=6)
        flags[:n_prompt] = 0
        labels = np.where(flags, ids, -100)
        record = {"prompt": n_prompt, "ids": ids, "labels": labels, "rest": labels[n_prompt:]}
        if not as_array:
            record = {name: value if name == "prompt" else value.tolist() for name, value in record.items()}
        ((_, rollout),) = rollouts_of(record, fields_of(None, "ids", "prompt", "labels"))
        assert np.asarray(rollout.mask).astype(int).tolist() == flags.tolist()
        # Under another name, a -100 tells labels.
        if (labels[n_prompt:] == -100).any():
            ((_, rollout),) = rollouts_of(record, fields_of(None, "ids", "prompt", "rest"))
            assert sampled_ids(rollout.mask, rollout.prompt, ids).astype(int).tolist() == flags.tolist()


@pytest.mark.parametrize("labels", [[5, -100, 8], [-100, 7, -100], [0, 1, 0], [5, 6, 8]])
def test_labels_of_other_ids_are_refused(labels: list[int]) -> None:
    record = {"ids": [5, 6, 7], "labels": labels}
    with pytest.raises(TokenStreamError, match=r"field labels, token \d of the mask: a label must be -100 or the id"):
        rollouts_of(record, fields_of(None, "ids", mask="labels"))
