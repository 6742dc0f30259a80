"""Results of reinforcement-learning frameworks are checked, with their own types where they are installed."""

from __future__ import annotations

import doctest
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json, vocabulary
from tokdfa.base.errors import TokenStreamError
from tokdfa.integrations import metrics, rollouts
from tokdfa.integrations.metrics import metrics_of
from tokdfa.integrations.rollouts import check_extensions, check_records, drift_metric
from tokdfa.jobs.rollouts.result import RolloutChecks

TOKENIZER = tokdfa.default_tokenizer()
PROMPT, RESPONSE, MASK = [64, 261], [1193, 462, 261, 1193], [1, 0, 1, 1]
SPOILED = [64, 261, 1193]


@dataclass
class Sample:
    """The fields that matter of slime/utils/types.py, with its defaults."""

    tokens: list[int] = field(default_factory=list)
    response_length: int = 0
    loss_mask: list[int] | None = None


class Response:
    """A response of a server as a client has it."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self._fields


def step(prompt: list[int], completion: list[int]) -> dict[str, object]:
    masks = {"prompt_mask": [0] * len(prompt), "completion_mask": [1] * len(completion)}
    return {"prompt": [], "tokens": {"prompt_ids": prompt, "completion_ids": completion, **masks}}


@pytest.mark.parametrize("module", [metrics, rollouts])
def test_examples_in_docstrings_run(module: Any) -> None:
    failed, tried = doctest.testmod(module)
    assert failed == 0
    assert tried > 0


def test_unknown_frameworks_are_refused() -> None:
    with pytest.raises(TokenStreamError, match="no such framework"):
        check_records(TOKENIZER, [], "nothing")


def test_verl_outputs_of_agent_loops() -> None:
    output = SimpleNamespace(prompt_ids=PROMPT, response_ids=RESPONSE, response_mask=MASK)
    checks = check_records(TOKENIZER, [output, output], "verl")
    assert checks.counts == (0, 2, 2)
    assert checks[0].junctions[0].index == 1


@pytest.mark.parametrize("wrapped", [False, True])
def test_verl_batches_are_padded_on_both_sides(wrapped: bool) -> None:
    ids = np.array([[0, 0, *PROMPT, *RESPONSE, 0], [64, 261, 1193, 462, 64, 0, 0, 0, 0]])
    attention = np.array([[0, 0, *[1] * 6, 0], [1] * 5 + [0] * 4])
    mask = np.array([[*MASK, 0], [1, 0, 0, 0, 0]])
    fields = {"input_ids": ids, "attention_mask": attention, "response_mask": mask}
    checks = check_records(TOKENIZER, [SimpleNamespace(batch=fields) if wrapped else fields], "verl.batch")
    assert [check.counts for check in checks] == [(0, 1, 1), (1, 0, 0)]
    assert [check.tokens for check in checks] == [6, 5]


def test_verl_own_types_have_the_fields() -> None:
    loops = pytest.importorskip("verl.experimental.agent_loop.agent_loop")
    metrics = loops.AgentLoopMetrics()
    output = loops.AgentLoopOutput(prompt_ids=PROMPT, response_ids=RESPONSE, response_mask=MASK, metrics=metrics)
    assert check_records(TOKENIZER, [output], "verl").counts == (0, 1, 1)


def test_openrlhf_ranges_are_the_mask() -> None:
    tokens = [64, 261, 1193, 64, 261, 1193]
    responses = [{"observation_tokens": tokens, "action_ranges": [(1, 3), (5, 6)], "reward": 0.0}]
    assert check_records(TOKENIZER, responses, "openrlhf").counts == (0, 1, 1)
    with pytest.raises(TokenStreamError, match="a range is not within the ids"):
        check_records(TOKENIZER, [{"observation_tokens": tokens, "action_ranges": [(1, 7)]}], "openrlhf")


def test_slime_samples_and_groups_are_rollouts() -> None:
    samples = [[Sample(SPOILED, 2), Sample(SPOILED, 1)], [Sample(SPOILED, 2, [0, 0])], [Sample()]]
    checks = check_records(TOKENIZER, samples, "slime")
    assert [check.counts for check in checks] == [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 0, 0)]


def test_slime_lengths_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TokenStreamError, match="longer than its tokens: 2"):
        check_records(TOKENIZER, [Sample([64], 2)], "slime")
    with pytest.raises(TokenStreamError, match="another length than its response: 1"):
        check_records(TOKENIZER, [Sample([64, 64, 64], 2, [1])], "slime")


def test_skyrl_lists_are_rollouts() -> None:
    output = {
        "prompt_token_ids": [[64], [64, 261], [64]],
        "response_ids": [[261, 1193], [1193], []],
        "loss_masks": [[1, 1], [1], []],
        "rewards": [0.0, 0.0, 0.0],
        "stop_reasons": None,
    }
    checks = check_records(TOKENIZER, [output], "skyrl")
    assert [check.counts for check in checks] == [(0, 1, 0), (0, 0, 1), (0, 0, 0)]


def test_verifiers_branches_are_rollouts() -> None:
    branch = SimpleNamespace(token_ids=SPOILED, sampled_mask=[False, False, True])
    assert check_records(TOKENIZER, [branch], "verifiers.v1").counts == (0, 0, 1)


def test_verifiers_steps_and_their_prefixes() -> None:
    steps = [
        step([64], [261, 1193]),
        {"tokens": None},
        step([*SPOILED, 462], [64]),
        step([64, 2513, 462, 64, 64], [64]),
    ]
    assert check_records(TOKENIZER, steps, "verifiers").counts.drift == 1
    held, broken = check_extensions(TOKENIZER, steps)
    assert held
    assert not broken
    assert (broken.canonical, broken.ids_b) == ("b", (2513,))


def test_verifiers_own_types_have_the_fields() -> None:
    trace = pytest.importorskip("verifiers.v1.trace")
    assert {"token_ids", "sampled_mask"} <= {*dir(trace.Branch)}


def test_vllm_each_choice_is_a_rollout() -> None:
    chat = {"id": "x", "prompt_token_ids": [64], "choices": [{"token_ids": [261, 1193]}, {"token_ids": [2513]}]}
    completion = {"choices": [{"prompt_token_ids": [64, 261], "token_ids": [1193], "text": "ingle"}]}
    checks = check_records(TOKENIZER, [chat, Response(completion)], "vllm")
    assert [check.counts for check in checks] == [(0, 1, 0), (0, 0, 0), (0, 0, 1)]


def test_vllm_responses_without_ids_are_refused() -> None:
    with pytest.raises(TokenStreamError, match=r"field choices\[0\].token_ids: the field is missing or null"):
        check_records(TOKENIZER, [{"choices": [{"text": "a"}], "prompt_token_ids": [64]}], "vllm")


def test_trl_reward_function_only_measures() -> None:
    logged: dict[str, float] = {}
    measure = drift_metric(TOKENIZER)
    rewards = measure(
        prompts=["a"] * 2, completions=["b"] * 2, completion_ids=[[64, 261, 1193], [64, 2513]],
        trainer_state=None, log_extra=None, log_metric=logged.__setitem__, answer=[1, 2],
    )  # fmt: skip
    assert rewards == [None, None]
    assert logged == {
        "tokdfa/drift": 2 / 5, "tokdfa/drift_rollouts": 0.5, "tokdfa/bugs": 0.0, "tokdfa/junctions": 0.0,
        "tokdfa/out_of_range": 0.0, "tokdfa/unjudged": 0.0,
    }  # fmt: skip


def test_trl_tool_masks_tell_bugs() -> None:
    bugs: list[Any] = []
    logged: dict[str, float] = {}
    measure = drift_metric(TOKENIZER, prefix="x/", on_bug=bugs.append)
    measure(completion_ids=[[64, 261, 1193]], env_mask=[[1, 0, 0]], log_metric=logged.__setitem__)
    assert logged["x/bugs"] == 1.0
    assert bugs[0].counts.bugs == 1
    measure(completion_ids=[[64, 261, 1193]])
    assert len(bugs) == 1


def test_trl_reward_function_in_a_real_trainer(tmp_path: Path) -> None:
    trl = pytest.importorskip("trl")
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    datasets, tokenizers = pytest.importorskip("datasets"), pytest.importorskip("tokenizers")
    n = len(vocabulary())
    fields = tokenizer_json(added_tokens=[added_token(n, "<|end|>")])
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer.from_file(str(path)), eos_token="<|end|>", pad_token="<|end|>"
    )
    torch.manual_seed(0)
    sizes = {"vocab_size": n + 1, "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 64}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, bos_token_id=n, eos_token_id=n))
    seen: list[int] = []

    def reward(completions: list[str], **_: object) -> list[float]:
        seen.append(len(completions))
        return [float(len(text)) for text in completions]

    arguments = trl.GRPOConfig(
        output_dir=str(tmp_path / "out"), per_device_train_batch_size=2, num_generations=2, max_completion_length=16,
        max_steps=1, logging_steps=1, report_to="none", use_cpu=True, bf16=False, save_strategy="no",
    )  # fmt: skip
    trainer = trl.GRPOTrainer(
        model=model,
        reward_funcs=[reward, drift_metric(path)],
        args=arguments,
        train_dataset=datasets.Dataset.from_dict({"prompt": ["the then", "a é"]}),
        processing_class=fast,
    )
    trainer.train()
    assert seen
    logged = [row for row in trainer.state.log_history if "tokdfa/drift" in row]
    assert logged
    # A model that knows nothing samples bytes at random.
    assert 0 < logged[0]["tokdfa/drift"] <= 1
    assert logged[0]["tokdfa/bugs"] == 0


# The result of each framework for the ids of a prompt, the ids after it, and their mask.
RECORDS: dict[str, Callable[[list[int], list[int], list[int]], object]] = {
    "verl": lambda prompt, ids, mask: SimpleNamespace(prompt_ids=prompt, response_ids=ids, response_mask=mask),
    "verl.batch": lambda prompt, ids, mask: {
        "input_ids": np.array([[*prompt, *ids]]),
        "attention_mask": np.ones((1, len(prompt) + len(ids))),
        "response_mask": np.array([mask]),
    },
    "openrlhf": lambda prompt, ids, mask: {
        "observation_tokens": [*prompt, *ids],
        "action_ranges": [(at + len(prompt), at + len(prompt) + 1) for at, flag in enumerate(mask) if flag],
        "action_mask": mask,
    },
    "slime": lambda prompt, ids, mask: SimpleNamespace(
        tokens=[*prompt, *ids], response_length=len(ids), loss_mask=mask
    ),
    "skyrl": lambda prompt, ids, mask: {
        "prompt_token_ids": [prompt], "response_ids": [ids], "loss_masks": [mask], "other_mask": [mask],
    },
    "verifiers": lambda prompt, ids, mask: {
        "tokens": {"prompt_ids": prompt, "completion_ids": ids, "completion_mask": mask}
    },
    "verifiers.v1": lambda prompt, ids, mask: SimpleNamespace(
        token_ids=[*prompt, *ids], sampled_mask=[0] * len(prompt) + [*mask]
    ),
}  # fmt: skip
UNKNOWN = (TOKENIZER.n_ids, 2**31, -1)


@pytest.mark.parametrize("framework", RECORDS)
def test_ids_outside_of_the_vocabulary_are_counted(framework: str) -> None:
    def check(*parts: list[int]) -> RolloutChecks:
        return check_records(TOKENIZER, [RECORDS[framework](*parts)], framework)

    for unknown in UNKNOWN:
        # The ids between them are texts of their own: one is spoiled, and one would be if it were not cut.
        found = check([64, unknown], [261, 1193, 64, 261, unknown, 1193], [1, 1, 0, 0, 1, 1])
        assert (found.out_of_range, found.tokens, found.sampled) == (2, 8, 4)
        assert (found.counts.bugs, found.counts.drift, found.counts.junctions) == (1, 2, 0)
        assert metrics_of(found, "")["out_of_range"] == 2.0
    assert check([64], [261, 1193], [1, 1]).out_of_range == 0


def test_ids_outside_of_the_vocabulary_in_responses_of_a_server() -> None:
    response = {"prompt_token_ids": [64], "choices": [{"token_ids": [261, 1193, UNKNOWN[0]]}]}
    found = check_records(TOKENIZER, [response], "vllm")
    assert (found.out_of_range, found.counts.drift) == (1, 2)


def test_a_reward_function_never_raises() -> None:
    logged: dict[str, float] = {}
    measure = drift_metric(TOKENIZER, prefix="")
    ids = [[261, 1193], [UNKNOWN[0], 261, 1193], [64, 64], [64], [64], [64]]
    masks = [[1, 1], [1, 1, 1], [1], [2], None]
    assert measure(completion_ids=ids, tool_mask=masks, log_metric=logged.__setitem__) == [None] * 6
    # A mask of another length, one of another value, and one that is missing.
    assert (logged["unjudged"], logged["out_of_range"], logged["drift"]) == (3.0, 1.0, 5 / 6)
    assert measure(completion_ids=[[64.5]], log_metric=logged.__setitem__) == [None]
    assert (logged["unjudged"], logged["drift"]) == (1.0, 0.0)
