"""Without a decoder ids have no text: texts are encoded, split and compared, and all that needs their text says why."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.campaigns.standing.laws.parts import in_parts
from tests.support.commands import run
from tests.support.families import REFUSED
from tests.support.family_files import OF_JSON, PARTS, Fields
from tokdfa import Tokenizer
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError

FAMILIES = ["characters, any steps", "Llama-2", "Gemma", "prefix", "suffix", "Unigram of tokenizers"]
WHY = "its file has no decoder, so ids have no text"


def drawn_pair(family: str, seed: int) -> tuple[Fields, Tokenizer, Tokenizer]:
    """A file without a decoder, loaded, and the same one with its decoder."""
    drawn = random.Random(f"{family} {seed}")
    for _ in range(100):
        fields = OF_JSON[family](drawn)
        bare = {**fields, "decoder": None}
        try:
            with_decoder, without = tokdfa.load(fields), tokdfa.load(bare)
        except REFUSED:
            continue
        if without.why_not("text") is not None and with_decoder.why_not("text") is None:
            return bare, without, with_decoder
    raise AssertionError(family)


@pytest.mark.parametrize("family", FAMILIES)
def test_texts_are_encoded_as_by_the_library(family: str) -> None:
    import tokenizers

    n_texts = 0
    for seed in range(4):
        bare, tokenizer, with_decoder = drawn_pair(family, seed)
        peer: Any = tokenizers.Tokenizer.from_str(json.dumps(bare))
        peer.no_truncation()
        peer.no_padding()
        drawn = random.Random(seed)
        for _ in range(20):
            text = "".join(drawn.choices([*PARTS, "a", "b", " "], k=drawn.randrange(10)))
            try:
                ids = tokenizer.encode(text).tolist()
            except AlphabetError:
                continue
            assert ids == peer.encode(text, add_special_tokens=False).ids == with_decoder.encode(text).tolist()
            stream = tokenizer.stream()
            fed = [*map(stream.feed, in_parts(drawn, text)), stream.finish()]
            assert [id for part in fed for id in part.tolist()] == ids
            n_texts += bool(text)
        assert tokdfa.compare(tokenizer, with_decoder)
        assert tokenizer.fingerprint != with_decoder.fingerprint
    assert n_texts > 10


IDS = np.zeros(1, dtype=np.int32)
NEEDING_TEXT: dict[str, Callable[[Tokenizer], Any]] = {
    "decode": lambda tokenizer: tokenizer.decode(IDS),
    "decode_bytes": lambda tokenizer: tokenizer.decode_bytes(IDS),
    "validate": lambda tokenizer: tokenizer.validate(IDS),
    "validate windows": lambda tokenizer: tokenizer.validate(IDS, window=True),
    "search": lambda tokenizer: [*tokenizer.search("a", IDS)],
    "replace": lambda tokenizer: tokdfa.replace(tokenizer, "a", "b", IDS),
    "cuts in ids": lambda tokenizer: tokenizer.safe_cuts(IDS),
    "continued": lambda tokenizer: tokenizer.twin(continues=True).decode(IDS),
    "a copy": lambda tokenizer: tokdfa.load(json.loads(json.dumps(drawn_pair("Llama-2", 0)[0]))).decode(IDS),
}


@pytest.mark.parametrize("job", NEEDING_TEXT)
@pytest.mark.parametrize("family", ["Llama-2", "suffix"])
def test_jobs_that_need_the_text_of_ids_say_why_there_is_none(family: str, job: str) -> None:
    _, tokenizer, with_decoder = drawn_pair(family, 0)
    with pytest.raises(UnsupportedFeatureError, match=WHY):
        NEEDING_TEXT[job](tokenizer)
    assert with_decoder.why_not("text") is None
    assert tokenizer.why_not("text") == WHY


@pytest.mark.parametrize("family", FAMILIES)
def test_info_says_that_ids_have_no_text(family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(drawn_pair(family, 0)[0]))
    assert run("info", path, "--json") == 0
    described = json.loads(capsys.readouterr().out)
    assert described["engine"] is None
    assert described["rewriting"]["decoder"] == "none, so ids have no text"
