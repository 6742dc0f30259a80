"""A backend of outlines, with the library itself and a tiny model of transformers with random weights."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex

import tokdfa

pytestmark = pytest.mark.slow
outlines = pytest.importorskip("outlines")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tokdfa.base.errors import PatternError, UnsupportedFeatureError  # noqa: E402
from tokdfa.integrations.guided_outlines import GuidedBackend, GuidedProcessor  # noqa: E402


@pytest.fixture(scope="module")
def model(data: Path) -> Any:
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(data / "vocabs" / "gpt2" / "tokenizer.json"), eos_token="<|endoftext|>"
    )
    end = tokenizer.eos_token_id
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_positions=128, n_embd=16, n_layer=1, n_head=2, bos_token_id=end, eos_token_id=end, pad_token_id=end
    )
    return outlines.from_transformers(transformers.GPT2LMHeadModel(config).eval(), tokenizer)


def test_generated_texts(model: Any, data: Path) -> None:
    tokenizer = tokdfa.load(data / "vocabs" / "gpt2" / "tokenizer.json")
    language = r"(one|two)( and (three|four)){0,2}\."
    processor = GuidedBackend(model).get_regex_logits_processor(language)
    generator = outlines.Generator(model, processor=processor)
    texts = set()
    for prompt in ("Say:", "Count to two, please:", ["a", "b"]):
        call = generator.batch if isinstance(prompt, list) else generator
        found = call(prompt, max_new_tokens=20, do_sample=True)
        for text in found if isinstance(found, list) else [found]:
            assert regex.fullmatch(language, text), text
            texts.add(text)
            assert tokenizer.validate(tokenizer.encode(text))
    assert texts


def test_a_json_schema(model: Any) -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    processor = GuidedBackend(model).get_json_schema_logits_processor(json.dumps(schema), whitespace_pattern="")
    found = outlines.Generator(model, processor=processor)("JSON:", max_new_tokens=20, do_sample=True)
    assert json.loads(found) in ({"ok": True}, {"ok": False})


def test_what_is_refused(model: Any) -> None:
    backend = GuidedBackend(model)
    with pytest.raises(PatternError):
        backend.get_regex_logits_processor("(a")
    with pytest.raises(UnsupportedFeatureError, match=r"^a guide is for a regular language"):
        backend.get_cfg_logits_processor("start: 'a'")
    with pytest.raises(UnsupportedFeatureError, match=r"^the tensors of this library are not masked"):
        GuidedProcessor(tokdfa.default_tokenizer(), "a", 1, "jax")


def test_arrays_of_numpy() -> None:
    """Generations one after the other, with prompts of different lengths."""
    tokenizer = tokdfa.default_tokenizer()
    end, dice = tokenizer.n_ids, random.Random(3)
    processor = GuidedProcessor(tokenizer, "a (single|married) man", end, "numpy")
    for prompt in ([7], [1, 2, 3]):
        processor.reset()
        ids = np.array([prompt, prompt])
        while not (ids[:, -1] == end).all():
            logits = processor(ids, np.zeros((2, end + 1), dtype=np.float32))
            assert logits.dtype == np.float32
            ids = np.column_stack([ids, [dice.choice(np.flatnonzero(np.isfinite(row)).tolist()) for row in logits]])
        for row in ids[:, len(prompt) :].tolist():
            assert tokenizer.decode(row[: row.index(end)]) in ("a single man", "a married man")
