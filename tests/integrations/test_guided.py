"""Guides in engines: by the interfaces, and in `generate` of transformers where torch is installed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import tokdfa
from tokdfa.errors import WrongTypeError
from tokdfa.guiding.matcher import allocate_bitmask
from tokdfa.integrations.guided import GuidedLogits, GuidedRequests, Intersection, allowed_rows

TOKENIZER = tokdfa.default_tokenizer()


def test_rows_of_allowed_ids() -> None:
    guide = TOKENIZER.guide("a( man)?")
    rows = allowed_rows(guide, [guide.initial, None], TOKENIZER.n_ids + 5)
    assert np.flatnonzero(rows[0]).tolist() == guide.allowed(guide.initial).tolist()
    assert rows[1].all()
    with pytest.raises(WrongTypeError, match=r"^the guide is for \d+ ids, and there are fewer logits: 3 "):
        allowed_rows(guide, [guide.initial], 3)


def test_a_mask_of_another_engine_never_becomes_empty() -> None:
    both = Intersection(TOKENIZER.guide())
    size = TOKENIZER.n_ids
    everything = allocate_bitmask(2, size)
    assert both.narrow(everything, 1)
    assert (everything[1] == both.guide.mask(both.state)).all()
    assert (everything[0] == -1).all()
    # After " s" of "a s" no canonical stream goes on with "ingle".
    for id in (64, 261):
        both.accept(id)
    alone = np.zeros((1, -(-size // 32)), dtype=np.int32)
    alone[0, 1193 >> 5] = np.int32(1 << (1193 & 31))
    before = alone.copy()
    assert not both.narrow(alone)
    assert (alone == before).all()
    assert both.fallbacks == 1
    both.accept(1193)
    nothing = np.zeros_like(alone)
    assert both.narrow(nothing)
    assert not nothing.any()
    with pytest.raises(WrongTypeError, match=r"^a bitmask for \d+ ids is int32"):
        both.narrow(np.zeros((1, 3), dtype=np.int32))


def test_requests_of_vllm() -> None:
    with pytest.raises(WrongTypeError, match=r"^extra_args\['tokdfa'\]: a regular expression or true is expected: 3$"):
        GuidedRequests.validate_params(SimpleNamespace(extra_args={"tokdfa": 3}))
    for value in ("a+", True, None):
        GuidedRequests.validate_params(SimpleNamespace(extra_args={"tokdfa": value}))
    GuidedRequests.validate_params(SimpleNamespace(extra_args=None))


torch_is_needed = pytest.mark.slow


@torch_is_needed
def test_requests_of_vllm_are_followed() -> None:
    torch = pytest.importorskip("torch")
    end = TOKENIZER.n_ids
    config = SimpleNamespace(
        tokenizer=TOKENIZER, get_vocab_size=lambda: end + 1, hf_config=SimpleNamespace(eos_token_id=end)
    )
    processor = GuidedRequests(SimpleNamespace(model_config=config), "cpu", False)
    assert not processor.is_argmax_invariant()
    output: list[int] = []
    guided = SimpleNamespace(extra_args={"tokdfa": "a (single|married) man"})
    plain = SimpleNamespace(extra_args=None)
    added = [(0, guided, [], output), (1, plain, [], [])]
    processor.update_state(SimpleNamespace(removed=[], added=added, moved=[]))
    processor.update_state(None)

    def allowed(row: int) -> list[int]:
        logits = processor.apply(torch.zeros(2, end + 1))
        return [int(id) for id in torch.isfinite(logits[row]).nonzero()]

    assert allowed(0) == [64]
    assert len(allowed(1)) == end + 1
    output.append(64)
    moved = [(0, 1, SimpleNamespace(name="SWAP"))]
    processor.update_state(SimpleNamespace(removed=[], added=[], moved=moved))
    assert len(allowed(0)) == end + 1
    assert len(allowed(1)) == 2
    output.extend(TOKENIZER.encode("a single man")[1:].tolist())
    assert allowed(1) == [end]
    processor.update_state(SimpleNamespace(removed=[1], added=[], moved=[]))
    assert len(allowed(1)) == end + 1


@torch_is_needed
def test_generate_of_transformers() -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    import regex

    torch.manual_seed(0)
    end = TOKENIZER.n_ids
    config = transformers.GPT2Config(
        vocab_size=end + 1, n_positions=64, n_embd=16, n_layer=1, n_head=2, bos_token_id=end, eos_token_id=end,
        pad_token_id=end,
    )  # fmt: skip
    model = transformers.GPT2LMHeadModel(config).eval()
    for language in (None, r"[a-z]{1,5}( [a-z]{1,4}){0,3}\."):
        guide = TOKENIZER.guide(language, end=end, vocab_size=end + 1)
        n_ended = 0
        for _ in range(2):
            prompt = torch.full((250, 2), 5)
            found = model.generate(
                prompt, attention_mask=torch.ones_like(prompt), do_sample=True, max_new_tokens=40,
                logits_processor=transformers.LogitsProcessorList([GuidedLogits(guide)]),
            )  # fmt: skip
            for ids in found[:, 2:].tolist():
                stream = ids[: ids.index(end)] if end in ids else ids
                state = guide.read(stream)
                if end in ids:
                    n_ended += 1
                    assert guide.is_final(state)
                    text = TOKENIZER.decode(stream)
                    assert TOKENIZER.encode(text).tolist() == stream
                    assert language is None or regex.fullmatch(language, text)
        assert n_ended or language is None
