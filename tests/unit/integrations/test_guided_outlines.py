"""A backend of outlines, with the library itself; with torch, a tiny model of transformers with random weights, too."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import regex

import tokdfa

pytestmark = pytest.mark.slow
outlines = pytest.importorskip("outlines")

from tokdfa.base.errors import PatternError, TokenStreamError, UnsupportedFeatureError  # noqa: E402
from tokdfa.integrations.guided_outlines import GuidedBackend, GuidedProcessor  # noqa: E402


@pytest.fixture(scope="module")
def model(data: Path) -> Any:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
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


def test_generated_texts_after_prompts_in_time(model: Any, data: Path) -> None:
    """By the library's own generator, alone and in a batch that it pads: complete, valid, canonical as one text."""
    path, language, seen = data / "vocabs" / "gpt2" / "tokenizer.json", r"( ?[a-z]+){1,9}\.", set[str]()
    library = pytest.importorskip("tokenizers").Tokenizer.from_file(str(path))
    ban = tokdfa.ban(tokdfa.load(path), ["e"])
    processor = GuidedBackend(model).get_regex_logits_processor(language, ban=ban, prompt=True, remaining=6)
    generator = outlines.Generator(model, processor=processor)
    prompts = ["He is", "It is true that", "One two thr", "Say:", " ", "How many of them"]
    for asked in [prompts, *prompts]:
        is_batch = isinstance(asked, list)
        found = (generator.batch if is_batch else generator)(asked, max_new_tokens=6, do_sample=True, top_k=0)
        for prompt, text in zip(prompts if is_batch else [asked], found if is_batch else [found], strict=True):
            seen.add(text)
            assert regex.fullmatch(language, text)
            assert "e" not in text
            before, together = library.encode(prompt).ids, library.encode(prompt + text).ids
            assert together[: len(before)] == before
            assert 1 <= len(together) - len(before) <= 6
    assert len(seen) > 6


@pytest.mark.parametrize(
    ("prompt", "language", "remaining", "kind", "message"),
    [
        (
            "Say:",
            " one, two, three",
            2,
            TokenStreamError,
            r"^no sequence ends within this number of ids: 2 \(the least",
        ),
        ("a sing", "le man", None, PatternError, r"can follow the prompt so that its ids remain: b' sing' "),
    ],
)
def test_requests_that_cannot_be_followed(
    prompt: str, language: str, remaining: int | None, kind: type[Exception], message: str, model: Any
) -> None:
    """The generator raises the error as it is."""
    processor = GuidedBackend(model).get_regex_logits_processor(language, prompt=True, remaining=remaining)
    with pytest.raises(kind, match=message):
        outlines.Generator(model, processor=processor)(prompt, max_new_tokens=9)


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


def test_prompts_and_numbers_of_ids_in_batches() -> None:
    """Whoever follows the masks ends in time, canonical as one text with each prompt, without banned words."""
    tokenizer = tokdfa.default_tokenizer()
    end, dice, language = tokenizer.n_ids, random.Random(3), "(le|ular|s)?( [a-z]+){1,3}"
    ban = tokdfa.ban(tokenizer, [" x", "man"])
    processor = GuidedProcessor(tokenizer, language, end, "numpy", ban=ban, prompt=True, remaining=4)
    batches = defaultdict(list)
    for text in ("a", "two", "a sing", "is single", "a truth", "in want", "in want of a wif"):
        batches[len(tokenizer.encode(text))].append(text)
    for length, prompts in batches.items():
        processor.reset()
        ids = np.array([tokenizer.encode(prompt) for prompt in prompts])
        while not (ids[:, -1] == end).all():
            logits = processor(ids, np.zeros((len(ids), end + 1), dtype=np.float32))
            ids = np.column_stack([ids, [dice.choice(np.flatnonzero(np.isfinite(row)).tolist()) for row in logits]])
        for row, prompt in zip(ids.tolist(), prompts, strict=True):
            stream = row[: row.index(end)]
            text = tokenizer.decode(stream)
            assert len(stream) <= length + 4
            assert text.startswith(prompt)
            assert regex.fullmatch(language, text[len(prompt) :])
            assert not regex.search(" x|man", text[len(prompt) :])
            assert tokenizer.encode(text).tolist() == stream


def test_processors_of_a_backend_in_time(data: Path) -> None:
    """By a model's attributes, with a tokenizer of transformers."""
    transformers = pytest.importorskip("transformers")
    path = str(data / "vocabs" / "gpt2" / "tokenizer.json")
    live = transformers.PreTrainedTokenizerFast(tokenizer_file=path, eos_token="<|endoftext|>")
    backend = GuidedBackend(SimpleNamespace(hf_tokenizer=live, tensor_library_name="numpy"))
    with pytest.raises(TokenStreamError, match=r"^no sequence ends within this number of ids: 2 "):
        backend.get_regex_logits_processor("one, two, three", remaining=2)
    schema, ids = {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 9}, [5]
    processor = backend.get_json_schema_logits_processor(json.dumps(schema), "", remaining=6)
    while ids[-1] != live.eos_token_id:
        (row,) = processor(np.array([ids]), np.zeros((1, len(live)), dtype=np.float32))
        ids.append(int(np.flatnonzero(np.isfinite(row))[-1]))
    assert len(json.loads(live.decode(ids[1:-1]))) >= 2
    assert len(ids) <= 8


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
