"""A logits processor within vLLM's own classes: its loaders, its batch and sampler, the requests of its second runner.

A model needs a GPU, but these parts do not. ``pip install vllm``, or an unpacked wheel on the path with what it
imports.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tokdfa

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
torch = pytest.importorskip("torch")
first = pytest.importorskip("vllm.v1.sample.logits_processor", reason="vLLM is not installed")
second = pytest.importorskip("vllm.v1.worker.gpu.sample.logits_processor", reason="vLLM has no second model runner")

from tokdfa.integrations.guided_vllm import GuidedRequests  # noqa: E402

NAME = "tokdfa.integrations.guided_vllm:GuidedRequests"
TOKENIZER = tokdfa.default_tokenizer()
END = TOKENIZER.n_ids
LANGUAGE = "(le|ular|s)?( [a-z]+){1,3}"
PROMPTS = [TOKENIZER.encode(text).tolist() for text in ("a sing", "is it", "two", "in want of a wif")]


@pytest.fixture(autouse=True)
def without_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    """vLLM for a GPU pins memory, which cannot be done where there is none."""
    import vllm.v1.worker.gpu_input_batch  # noqa: F401

    for name, module in [*sys.modules.items()]:
        if name.startswith("vllm.") and "PIN_MEMORY" in vars(module):
            monkeypatch.setitem(vars(module), "PIN_MEMORY", torch.cuda.is_available())


def settings() -> SimpleNamespace:
    """What processors use of vLLM's settings."""
    model = SimpleNamespace(
        tokenizer=TOKENIZER, get_vocab_size=lambda: END + 1, hf_config=SimpleNamespace(eos_token_id=None)
    )
    return SimpleNamespace(
        model_config=model, speculative_config=None, scheduler_config=SimpleNamespace(max_num_seqs=8)
    )


def parameters(asked: Any, most_ids: int = 5) -> Any:
    from vllm import SamplingParams

    params = SamplingParams(max_tokens=most_ids, extra_args=None if asked is None else {"tokdfa": asked})
    # As the engine does, from the model's settings and its tokenizer.
    params.update_from_generation_config({"eos_token_id": [END]}, END)
    return params


ASKED = {"pattern": LANGUAGE, "prompt": True, "remaining": True}


def test_both_loaders() -> None:
    processors = first.build_logitsprocs(settings(), torch.device("cpu"), False, False, [NAME])
    (own,) = [each for each in processors.non_argmax_invariant if isinstance(each, GuidedRequests)]
    assert not own.is_argmax_invariant()
    states = SimpleNamespace(
        device="cpu", max_num_reqs=1, vocab_size=END + 1, all_token_ids=None, prompt_len=None, prefill_len=None,
        total_len=None,
    )  # fmt: skip
    (own,) = second.build_custom_logits_processors(settings(), states, False, [NAME])
    assert isinstance(own, GuidedRequests)


@pytest.mark.parametrize("asked", ["(a", 3, {"patern": "a"}, {"pattern": "a", "remaining": -1}])
def test_a_request_that_is_not_understood_is_refused_at_once(asked: object) -> None:
    from vllm.exceptions import VLLMValidationError

    validate = second.build_custom_logits_processors_params_validator([NAME])
    for refuse in (validate, lambda params: first.validate_logits_processors_parameters([NAME], params)):
        with pytest.raises(VLLMValidationError, match=r"group is not closed|extra_args\['tokdfa'\]"):
            refuse(parameters(asked))
        refuse(parameters(ASKED))
        refuse(parameters(None))


@pytest.mark.parametrize("options", [{"min_tokens": 3}, {"bad_words": ["man"]}, {"allowed_token_ids": [64]}])
def test_parameters_that_forbid_ids_are_refused(options: dict[str, Any]) -> None:
    from vllm import SamplingParams
    from vllm.exceptions import VLLMValidationError

    validate = second.build_custom_logits_processors_params_validator([NAME])
    validate(SamplingParams(**options))
    (name,) = options
    with pytest.raises(VLLMValidationError, match=rf"^{name}: it may forbid all ids that the guide allows: "):
        validate(SamplingParams(**options, extra_args={"tokdfa": "a man"}))


def test_a_tokenizer_by_its_name(data: Path, tmp_path: Path) -> None:
    """vLLM loads it; a path is loaded without it."""
    transformers = pytest.importorskip("transformers")
    source = str(data / "vocabs" / "gpt2" / "tokenizer.json")
    transformers.PreTrainedTokenizerFast(tokenizer_file=source, eos_token="<|endoftext|>").save_pretrained(tmp_path)
    from vllm.tokenizers import get_tokenizer

    assert tokdfa.load(get_tokenizer(str(tmp_path))).n_ids == tokdfa.load(source).n_ids


@pytest.mark.parametrize("seed", range(4))
def test_a_batch_of_the_first_runner(seed: int) -> None:
    """vLLM's batch adds, removes, swaps and condenses requests; its sampler chooses. Every text is as it should be."""
    from vllm.v1.sample.sampler import Sampler
    from vllm.v1.worker.gpu_input_batch import CachedRequestState, InputBatch

    torch.manual_seed(seed)
    dice, device, met, n_slots = random.Random(seed), torch.device("cpu"), Counter[str](), 6
    processors = first.build_logitsprocs(settings(), device, False, False, [NAME])
    (own,) = [each for each in processors.all if isinstance(each, GuidedRequests)]
    batch = InputBatch(
        n_slots, 64, 64, device, END + 1, [16], [4], logitsprocs=processors, logitsprocs_need_output_token_ids=True
    )
    sampler, n_made = Sampler(), 0
    waiting, running = list[Any](), dict[str, Any]()
    for _ in range(60):
        for name in [*batch.req_ids]:
            request = running[name]
            if END in request.output_token_ids or len(request.output_token_ids) >= 40:
                met["guided" if request.sampling_params.extra_args else "free"] += 1
                batch.remove_request(name)
            elif dice.random() < 0.1:
                batch.remove_request(name)
                waiting.append(request)
                met["preempted"] += 1
        while batch.num_reqs < n_slots and dice.random() < 0.6:
            if waiting and dice.random() < 0.5:
                request = waiting.pop()
            else:
                params, n_made = parameters(ASKED if dice.random() < 0.8 else None), n_made + 1
                request = CachedRequestState(
                    req_id=str(n_made), prompt_token_ids=dice.choice(PROMPTS), mm_features=[], sampling_params=params,
                    generator=None, block_ids=([0],), num_computed_tokens=0, output_token_ids=[],
                )  # fmt: skip
                running[request.req_id] = request
            batch.add_request(request)
        batch.condense()
        if batch.num_reqs > 1 and dice.random() < 0.4:
            batch.swap_states(*dice.sample(range(batch.num_reqs), 2))
        batch.refresh_metadata()
        if not batch.num_reqs:
            continue
        chosen = sampler(torch.zeros(batch.num_reqs, END + 1), batch.sampling_metadata).sampled_token_ids
        for name, (id,) in zip(batch.req_ids, chosen.tolist(), strict=True):
            running[name].output_token_ids.append(id)
    for request in running.values():
        stream = request.output_token_ids
        if request.sampling_params.extra_args and END in stream:
            assert stream.index(END) == len(stream) - 1 <= 5
            prompt = request.prompt_token_ids
            assert TOKENIZER.encode(TOKENIZER.decode(prompt + stream[:-1])).tolist() == prompt + stream[:-1]
            guide = TOKENIZER.guide(LANGUAGE)
            assert guide.is_final(guide.read(stream[:-1], guide.after_prompt(prompt)))
    assert min(met["guided"], met["preempted"]) > 5, met
    assert own.n_departed == own.n_refused == 0


def test_slots_of_the_second_runner() -> None:
    """On tensors, with vLLM's description of its rows: two requests, one of them with drafts."""
    device, prompts = torch.device("cpu"), PROMPTS[:2]
    lengths = [len(prompt) for prompt in prompts]
    ids = torch.zeros(3, 16, dtype=torch.int32)
    totals = torch.tensor([lengths[0], 0, lengths[1]], dtype=torch.int32)
    for slot, prompt in zip((0, 2), prompts, strict=True):
        ids[slot, : len(prompt)] = torch.tensor(prompt)
    states = second.LogitsProcRequestState(
        device=device, max_num_reqs=3, vocab_size=END + 1, all_token_ids=SimpleNamespace(gpu=ids),
        prompt_len=SimpleNamespace(np=totals.numpy().copy()), prefill_len=None, total_len=SimpleNamespace(gpu=totals),
    )  # fmt: skip
    own = GuidedRequests(settings(), states)
    guides = [TOKENIZER.guide(LANGUAGE, end=END, vocab_size=END + 1, prompt=prompt) for prompt in prompts]
    assert own.add_request(0, parameters(ASKED))
    assert own.add_request(2, parameters(ASKED, 2))
    assert not own.add_request(1, parameters(None))
    own.apply_staged_writes()
    draft = int(guides[1].allowed(guides[1].initial, remaining=2)[0])
    slots = torch.tensor([2, 2, 0])
    context = second.LogitsContext(
        expanded_idx_mapping=slots, idx_mapping=torch.tensor([2, 0]), idx_mapping_np=np.array([2, 0]),
        expanded_local_pos=torch.tensor([0, 1, 0]), input_ids=torch.tensor([prompts[1][-1], draft, prompts[0][-1]]),
        pos=torch.tensor([lengths[1] - 1, lengths[1], lengths[0] - 1]),
        seq_lens_upper_bound_np=np.array([lengths[1] + 1, lengths[0]]),
    )  # fmt: skip
    rows = own.apply(torch.zeros(3, END + 1), context).numpy()
    found = [np.flatnonzero(np.isfinite(row)).tolist() for row in rows]
    after = guides[1].read([draft])
    assert found[0] == guides[1].allowed(guides[1].initial, remaining=2).tolist()
    assert found[1] == guides[1].allowed(after, remaining=1).tolist()
    assert found[2] == guides[0].allowed(guides[0].initial, remaining=5).tolist()
