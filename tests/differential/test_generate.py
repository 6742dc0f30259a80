"""`generate` of transformers with guides that know the prompt and the budget: complete, canonical, and valid.

The model is tiny and has random weights, so it would choose anything. ``tokenizers`` encodes the texts again, and
``jsonschema`` validates them. ``pip install torch transformers``.
"""

from __future__ import annotations

import json
import random
import warnings
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tokdfa.base.errors import PatternError
from tokdfa.integrations.guided import GuidedLogits
from tokdfa.jobs.guiding.schemas import BoundedStringsWarning

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
jsonschema = pytest.importorskip("jsonschema")
tokenizers = pytest.importorskip("tokenizers")

PROMPTS = ["Return JSON:", "Name and age as JSON: ", "\n\n", '"', "ein Wort für [", "x = ", " {", "答", "```json\n"]
NAMES = ["name", "age", "is it", "größe", "tags", "id"]


def random_schema(dice: random.Random, depth: int = 2) -> dict[str, Any]:
    """Return a schema without recursion."""
    inner = depth and dice.random() < 0.6
    kind = dice.choice(["array", "object", "anyOf"] if inner else ["string", "pattern", "enum", "integer", "boolean"])
    if kind == "string":
        return {"type": "string"} if dice.random() < 0.2 else {"type": "string", "maxLength": dice.randrange(1, 12)}
    if kind == "pattern":
        return {"type": "string", "pattern": dice.choice(["^[a-z]{2,9}$", "^[0-9]{4}-[0-9]{2}$", "^(yes|no)$"])}
    if kind == "enum":
        return {"enum": dice.sample(["red", "two words", 12, None, True, "grün"], dice.randrange(1, 4))}
    if kind == "array":
        least = dice.randrange(3)
        items = random_schema(dice, depth - 1)
        return {"type": "array", "items": items, "minItems": least, "maxItems": least + dice.randrange(1, 3)}
    if kind == "object":
        names = dice.sample(NAMES, dice.randrange(1, 4))
        properties = {name: random_schema(dice, depth - 1) for name in names}
        return {"type": "object", "properties": properties, "required": [name for name in names if dice.random() < 0.7]}
    return {"type": kind} if kind != "anyOf" else {"anyOf": [random_schema(dice, depth - 1) for _ in range(2)]}


@pytest.fixture(scope="module")
def path(data: Path) -> Path:
    return data / "vocabs" / "gpt2" / "tokenizer.json"


@pytest.mark.parametrize("seed", range(20))
def test_generated_json_is_complete_canonical_and_valid(seed: int, path: Path) -> None:
    """A batch has prompts of different lengths, padded on the left; the budget is the least that all of it needs, or
    up to 20 ids more."""
    dice, library = random.Random(seed), tokenizers.Tokenizer.from_file(str(path))
    end = library.token_to_id("<|endoftext|>")
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    config = transformers.GPT2Config(n_positions=256, n_embd=16, n_layer=1, n_head=2, pad_token_id=end)
    model = transformers.GPT2LMHeadModel(config).eval()
    schema = random_schema(dice)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundedStringsWarning)
        guide = tokdfa.guide(tokdfa.load(path), schema=schema, end=end)
    prompts, least = [], 0
    for text in PROMPTS:
        # After some prompts no document is canonical: the seam must have other ids.
        with suppress(PatternError):
            least = max(least, guide.least(guide.after_prompt(library.encode(text).ids)))
            prompts.append(text)
    assert len(prompts) >= 3
    encoded = [library.encode(text).ids for text in prompts]
    width, remaining = max(map(len, encoded)), least + dice.choice([0, 1, 5, 20])
    batch = torch.tensor([[end] * (width - len(ids)) + ids for ids in encoded])
    found = model.generate(
        batch, attention_mask=(batch != end).long(), do_sample=True, top_k=0, max_new_tokens=remaining,
        logits_processor=[GuidedLogits(guide, prompt=True, remaining=remaining)],
    )  # fmt: skip
    for prompt, ids, row in zip(prompts, encoded, found[:, width:].tolist(), strict=True):
        stream = row[: row.index(end)] if end in row else row
        text = library.decode(stream, skip_special_tokens=False)
        jsonschema.validate(json.loads(text), schema)
        assert library.encode(prompt + text).ids == ids + stream


@pytest.mark.parametrize("language", [None, r"( ?[a-z]+){1,9}\.", "a (single|married) man"])
def test_beams_that_know_the_prompt_end_in_time(language: str | None, path: Path) -> None:
    """Each returned beam with a finite score is canonical as one text with its prompt, and complete."""
    library = tokenizers.Tokenizer.from_file(str(path))
    end = library.token_to_id("<|endoftext|>")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = transformers.GPT2Config(n_positions=64, n_embd=16, n_layer=1, n_head=2, pad_token_id=end, eos_token_id=end)
    model = transformers.GPT2LMHeadModel(config).eval()
    guide, met = tokdfa.guide(tokdfa.load(path), language, end=end), 0
    by_length = defaultdict(list)
    for prompt in ("He is", "It is true that", "It is", "Say:"):
        by_length[len(library.encode(prompt).ids)].append(prompt)
    for prompts in by_length.values():
        batch = torch.tensor([library.encode(prompt).ids for prompt in prompts])
        found = model.generate(
            batch, attention_mask=torch.ones_like(batch), do_sample=False, num_beams=4, num_return_sequences=2,
            max_new_tokens=6, return_dict_in_generate=True, output_scores=True,
            logits_processor=[GuidedLogits(guide, prompt=True, remaining=6)],
        )  # fmt: skip
        for at, (row, score) in enumerate(zip(found.sequences.tolist(), found.sequences_scores.tolist(), strict=True)):
            prompt = prompts[at // 2]
            stream = row[: row.index(end)] if end in row else row
            if score == float("-inf"):
                continue
            assert library.encode(library.decode(stream, skip_special_tokens=False)).ids == stream
            state = guide.read(stream[batch.shape[1] :], guide.after_prompt(library.encode(prompt).ids))
            assert guide.is_final(state)
            met += 1
    assert met >= 4
