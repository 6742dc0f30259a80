"""Tests for `tokdfa.jobs.splices.encoding`: the attacks and proofs of each rule, by the rule's own library."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from random import Random

import pytest

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.jobs.splices.injection import check_injection
from tokdfa.jobs.splices.parts import Slot

tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")

TEXTS = ["".join(symbols) for n in range(4) for symbols in product("<a>", repeat=n)]


def assert_agrees_with_tiktoken(seed: int, met: Counter[str]) -> None:
    """Compare an answer with the result of trying all short texts with tiktoken."""
    random = Random(seed)
    texts = sorted({"".join(random.choices("<a>", k=random.randint(2, 3))) for _ in range(3)})
    specials = {text: 256 + number for number, text in enumerate(texts)}
    allowed = {text for text in specials if random.random() < 0.3}
    content = tokenizer_json([], added_tokens=[added_token(id, text) for text, id in specials.items()])
    tokenizer = tokdfa.load(content)
    before, after = ("".join(random.choices("<a>", k=random.randrange(3))) for _ in range(2))
    ranks = {bytes([byte]): tokenizer.encode(chr(byte)).tolist()[0] for byte in b"\0<a>"}
    ranks |= {bytes([byte]): 300 + byte for byte in range(256) if bytes([byte]) not in ranks}
    library = tiktoken.Encoding("x", pat_str=r"(?s).", mergeable_ranks=ranks, special_tokens=specials)

    def made(text: str) -> Counter[int] | None:
        try:
            ids = library.encode(text, allowed_special=allowed, disallowed_special="all")
        except ValueError:
            return None
        return Counter(id for id in ids if 256 <= id < 300)

    try:
        verdict = check_injection(tokenizer, [before, Slot("x"), after], rule="tiktoken", allowed=allowed)
    except tokdfa.TokdfaError:
        met["not decided"] += 1
        return
    alone = [library.encode(text, allowed_special=allowed, disallowed_special=()) for text in (before, after)]
    written = Counter(id for ids in alone for id in ids if 256 <= id < 300)
    found = [text for text in ["\0", *TEXTS] if (ids := made(before + text + after)) is not None and ids - written]
    attack = verdict.witness
    if attack is None:
        assert not found, (seed, found, texts, allowed, before, after)
        met["proof"] += 1
        return
    assert (made(attack.text) or Counter()) - written == Counter(attack.made), (seed, attack)
    least = min(found, key=lambda text: (len(text), text), default=None)
    if attack.shortest and least is not None:
        assert (len(attack.values[0]), attack.values[0]) <= (len(least), least), (seed, attack, least)
    met["attack"] += 1
    met["refused others"] += bool({*specials} - allowed)


def test_tiktoken_agrees() -> None:
    met: Counter[str] = Counter()
    for seed in range(40):
        assert_agrees_with_tiktoken(seed, met)
    assert min(met["proof"], met["attack"], met["refused others"]) > 5, met


@pytest.mark.slow
def test_tiktoken_agrees_often() -> None:
    met: Counter[str] = Counter()
    for seed in range(1000, 6000):
        assert_agrees_with_tiktoken(seed, met)
    print(met)


def test_mistral_common_finds_no_special_token_in_contents(data: Path) -> None:
    library = pytest.importorskip("mistral_common.tokens.tokenizers.sentencepiece")
    path = data / "vocabs" / "mistral_v3.model"
    tokenizer = tokdfa.load(path)
    encode = library.SentencePieceTokenizer(str(path)).encode
    control = {special.id for special in tokenizer.specials}
    for special in tokenizer.specials[:40]:
        assert not control & {*encode(special.content, bos=False, eos=False)}, special.content
    assert check_injection(tokenizer, "[INST]{content}[/INST]", rule="mistral-common")
    # SentencePiece finds none either, but transformers and llama.cpp do.
    for rule in ("transformers", "llama.cpp"):
        attack = check_injection(tokenizer, "[INST]{content}[/INST]", rule=rule).witness  # type: ignore[arg-type]
        assert attack is not None
        assert attack.values == ("<s>",)
        assert attack.shortest
