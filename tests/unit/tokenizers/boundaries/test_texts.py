"""Safe cuts of texts: the library gives both parts, encoded separately, the ids of the whole text."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import product
from random import Random

import pytest
import tokenizers

import tokdfa
from tests.support.random_seams import Question, is_over_bytes, random_question
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.tokenizers.boundaries.texts import TextBoundaries


def assert_safe(seed: int, question: Question, content: dict[str, object], met: Counter[str]) -> None:
    """Cut random texts where it is safe, and compare with the library, for every short text that may follow."""
    random = Random(seed)
    library = tokenizers.Tokenizer.from_str(json.dumps(content))
    tokenizer = tokdfa.load(content)
    assert isinstance(tokenizer, tokdfa.Tokenizer)

    @cache
    def encode(text: str) -> list[int]:
        return list(library.encode(text, add_special_tokens=False).ids)

    symbols = "".join(dict.fromkeys(question.symbols + " ab"))
    specials = [special.content for special in tokenizer.specials]
    rests = ["".join(some) for n in range(3) for some in product(symbols, repeat=n)] + specials
    for _ in range(4):
        text = "".join(random.choice(symbols) for _ in range(random.randrange(1, 7)))
        if specials:
            place = random.randrange(len(text) + 1)
            text = text[:place] + random.choice(specials) + text[place:]
        for begins, ends in ((True, False), (True, True), (False, False)):
            found = tokenizer.safe_cuts(text, begins=begins, ends=ends).tolist()
            met["safe"] += len(found)
            met["not safe"] += len(text) - 1 - len(found)
            for place in found:
                for rest in [""] if ends else rests:
                    for first in [""] if begins else rests[: len(symbols) + 1] + specials:
                        u, v = first + text[:place], text[place:] + rest
                        assert encode(u) + encode(v) == encode(u + v), (seed, text, place, u, v)
                        met["tried"] += 1


def test_random_tokenizers() -> None:
    met: Counter[str] = Counter()
    for seed in range(40):
        question = random_question(Random(seed), 3)
        if is_over_bytes(question.content):
            assert_safe(seed, question, json.loads(question.content), met)
    assert min(met.values()) > 200, met


def odd_content(random: Random, question: Question) -> dict[str, object]:
    content: dict[str, object] = json.loads(question.content)
    model = content["model"]
    assert isinstance(model, dict)
    first = len(model["vocab"])
    tokens = []
    for _ in range(random.randint(1, 3)):
        text = "".join(random.choice("ab <") for _ in range(random.randint(1, 3)))
        if not text.isspace() and text not in {*model["vocab"], *(token["content"] for token in tokens)}:
            flags = {name: random.random() < 0.4 for name in ("lstrip", "rstrip", "single_word", "normalized")}
            tokens.append({**added_token(first + len(tokens), text), **flags})
    if random.random() < 0.3:
        content["normalizer"] = {"type": random.choice(["NFC", "NFKC", "NFD"])}
    return {**content, "added_tokens": tokens}


def test_special_tokens_that_strip_or_are_single_words_and_normalization() -> None:
    met: Counter[str] = Counter()
    for seed in range(100):
        random = Random(seed)
        question = random_question(random, 3)
        if not is_over_bytes(question.content):
            continue
        content = odd_content(random, question)
        if content["normalizer"] is not None:
            question = Question(question.content, "", "", "ae\u0301é", 3)
        assert_safe(seed, question, content, met)
        met["normalizer"] += content["normalizer"] is not None
    assert met["safe"] > 200, met
    assert met["normalizer"] > 10, met


def test_what_what_follows_may_decide() -> None:
    cuts = tokdfa.load(tokenizer_json([])).boundaries
    assert isinstance(cuts, TextBoundaries)
    text = "one two  three<|end|>four <|en"
    found = cuts.of_text(text)
    shown = "".join("|" * bool(safe) + symbol for safe, symbol in zip(found.offsets, text + "$", strict=True))
    assert shown == "|one| two| | three|<|end|>|four| <|en$"
    assert text[found.undecided :] == "<|en"
    assert cuts.of_text(text, ends=True).offsets[-1]


@pytest.mark.parametrize("where", ["no pattern", "drops"])
def test_without_an_automaton_only_the_ends_of_special_tokens_are_safe(where: str) -> None:
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "Removed", "invert": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    steps = [level] if where == "no pattern" else [split, level]
    content = tokenizer_json([], pre_tokenizer={"type": "Sequence", "pretokenizers": steps})
    cuts = tokdfa.load(content).boundaries
    assert isinstance(cuts, TextBoundaries)
    places = cuts.of_text("a b<|end|>c d").offsets
    assert [place for place, safe in enumerate(places) if safe] == [0, 3, 10]
