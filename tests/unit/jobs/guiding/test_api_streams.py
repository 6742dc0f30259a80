"""Guides of all texts read exactly the streams that `validate` finds canonical."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.guided import (
    Guided,
    guided,
    guided_by_sentencepiece,
    guided_in_form,
    guided_over_characters,
    guided_with_runs,
    guided_with_strips,
)
from tests.support.real_tokenizers import family_files


def is_read(guide: tokdfa.Guide, ids: Sequence[int]) -> bool:
    state: tokdfa.State | None = guide.initial
    for id in ids:
        state = None if state is None else guide.step(state, id)
    return state is not None and guide.is_final(state)


def some_ids(guide: tokdfa.Guide, encoded: Sequence[int], pool: list[int], dice: random.Random) -> list[int]:
    """Return ids of a text, of the masks, or at random; some of them with one id changed."""
    kind, ids = dice.randrange(3), list[int]()
    if kind == 0:
        ids = [*map(int, encoded)]
    elif kind == 1:
        ids = dice.choices(pool, k=dice.randrange(1, 5))
    state = guide.initial
    while kind == 2 and len(ids) < dice.randrange(1, 12) and len(allowed := guide.allowed(state)):
        ids.append(int(dice.choice(allowed)))
        state = guide.read(ids[-1:], state)
    if kind != 1 and ids and dice.random() < 0.5:
        ids[dice.randrange(len(ids))] = dice.choice(pool)
    return ids


@pytest.mark.parametrize(
    "make",
    [guided, guided_in_form, guided_over_characters, guided_with_runs, guided_with_strips, guided_by_sentencepiece],
)
def test_guides_read_the_streams_that_validate_accepts(make: Callable[[int, Path], Guided], tmp_path: Path) -> None:
    met: Counter[bool] = Counter()
    for seed in range(4):
        made, dice = make(seed, tmp_path), random.Random(seed)
        tokenizer, guide = made.tokenizer, made.tokenizer.guide()
        used = [made.encode("".join(dice.choices(made.symbols, k=5))) for _ in range(20)]
        pool = [*{*np.concatenate(used).astype(int).tolist()}, *tokenizer.special_ids.tolist() * 3]
        for _ in range(120):
            ids = some_ids(guide, dice.choice(used), pool, dice)
            assert is_read(guide, ids) == bool(tokenizer.validate(ids)), (seed, ids)
            met[bool(tokenizer.validate(ids))] += 1
    assert met[True] > 90, met
    assert met[False] > 90, met


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama2", "internlm2", "gemma2", "gemma3", "mistral_v3"])
def test_twelve_thousand_streams_of_real_tokenizers(name: str, data: Path) -> None:
    files = family_files() | {"mistral_v3": data / "vocabs" / "mistral_v3.model"}
    if name not in files:
        pytest.skip(f"TOKDFA_FAMILIES has no {name}")
    tokenizer, dice = tokdfa.load(files[name]), random.Random(name)
    guide, corpus = tokenizer.guide(), (data / "corpora/multilingual.txt").read_text("utf-8")
    contents = [special.content for special in tokenizer.found_specials]
    between = [*dice.sample(contents, min(len(contents), 9)), "\n", "\n\n", "\t", " ", "  ", "\u2581", "\x01", "<"]
    short = [id for id, text in enumerate(tokenizer.token_strings) if len(text) < 3 or "\n" in text]
    runs = [id for id, text in enumerate(tokenizer.token_strings) if text and {*text} <= {"\n", "\t", "\u2581"}]
    # Runs of spaces and lines overlap the most.
    pool = [*short, *(set(tokenizer.special_ids.tolist()) - {*range(9, 6000)}), *runs * (1 + len(short) // len(runs))]

    def encoded() -> Sequence[int]:
        begin = dice.randrange(len(corpus) - 60)
        parts = [corpus[begin : begin + dice.randrange(30)], *dice.choices(between, k=dice.randrange(4))]
        return tokenizer.encode("".join(dice.sample(parts, len(parts)))).tolist()

    met: Counter[bool] = Counter()
    for _ in range(12_000):
        ids = some_ids(guide, encoded(), pool, dice)
        found = is_read(guide, ids)
        assert found == bool(tokenizer.validate(ids)), ids
        met[found] += 1
    assert min(met.values()) > 200, met
