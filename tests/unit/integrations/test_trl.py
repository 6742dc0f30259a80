"""The reward function for TRL measures, gives no reward, and runs in a real trainer where TRL is installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json, vocabulary
from tokdfa.integrations.trl import drift_metric


def test_it_only_measures() -> None:
    tokenizer = tokdfa.default_tokenizer()
    logged: dict[str, float] = {}
    measure = drift_metric(tokenizer)
    rewards = measure(
        prompts=["a"] * 2, completions=["b"] * 2, completion_ids=[[64, 261, 1193], [64, 2513]],
        trainer_state=None, log_extra=None, log_metric=logged.__setitem__, answer=[1, 2],
    )  # fmt: skip
    assert rewards == [None, None]
    assert logged == {
        "tokdfa/drift": 2 / 5, "tokdfa/drift_rollouts": 0.5, "tokdfa/bugs": 0.0, "tokdfa/junctions": 0.0,
        "tokdfa/out_of_range": 0.0, "tokdfa/unjudged": 0.0,
    }  # fmt: skip


def test_tool_masks_tell_bugs() -> None:
    bugs: list[Any] = []
    logged: dict[str, float] = {}
    measure = drift_metric(tokdfa.default_tokenizer(), prefix="x/", on_bug=bugs.append)
    measure(completion_ids=[[64, 261, 1193]], env_mask=[[1, 0, 0]], log_metric=logged.__setitem__)
    assert logged["x/bugs"] == 1.0
    assert bugs[0].counts.bugs == 1
    measure(completion_ids=[[64, 261, 1193]])
    assert len(bugs) == 1


def test_in_a_real_trainer(tmp_path: Path) -> None:
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
