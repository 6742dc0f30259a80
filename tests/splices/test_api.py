"""Tests for `tokdfa.splices.api`: the question about seams."""

from __future__ import annotations

import json
import os
from collections import Counter
from random import Random

import pytest
from support.random_seams import least_pair, random_question
from support.tokenizer_files import added_token, tokenizer_json

import tokdfa


def _agrees(seed: int, longest: int, met: Counter[str]) -> None:
    question = random_question(Random(seed), longest)
    content = json.loads(question.content)
    verdict = tokdfa.splice(
        tokdfa.load(content),
        before=question.before,
        after=question.after,
        within_before=question.within,
        within_after=question.within,
    )
    expected = least_pair(question)
    found = verdict.witness
    assert (None if found is None else (found.before, found.after)) == expected, (seed, question)
    assert found is None or found.shortest
    met["yes" if verdict else "no"] += 1
    met["specials"] += bool(content["added_tokens"])
    met["yes with specials"] += bool(content["added_tokens"]) and bool(verdict)
    met["ignores merges"] += content["model"]["ignore_merges"]
    if found is not None:
        specials = {token["id"] for token in content["added_tokens"]}
        met["special across"] += len(specials & {*found.ids}) > len(specials & {*found.ids_before, *found.ids_after})
        met["more than two symbols"] += len(found.text) > 2


def test_least_texts_of_random_small_tokenizers() -> None:
    met: Counter[str] = Counter()
    for seed in range(50):
        _agrees(seed, 3, met)
    assert min(met[what] for what in ("yes", "no", "yes with specials", "ignores merges")) > 5, met
    assert min(met["special across"], met["more than two symbols"]) > 2, met


@pytest.mark.slow
def test_least_texts_of_many_small_tokenizers() -> None:
    first, last = map(int, os.environ.get("TOKDFA_SEEDS", "1000:11000").split(":"))
    met: Counter[str] = Counter()
    for seed in range(first, last):
        _agrees(seed, 4, met)
    print(met)


TOKENIZER = tokdfa.default_tokenizer()


def test_ids_of_one_side_may_be_given() -> None:
    given = TOKENIZER.encode("a single").tolist()
    found = tokdfa.splice(TOKENIZER, before_ids=given, after="s").witness
    assert found is not None
    assert (found.before, found.after, found.ids_before) == ("a single", "s", tuple(given))
    assert tokdfa.splice(TOKENIZER, before_ids=given, after=" ")
    assert tokdfa.splice(TOKENIZER, before="a", after_ids=TOKENIZER.encode(" man"))


def test_given_ids_that_are_not_canonical_are_not_what_encoding_gives() -> None:
    broken = [64, 261, 1193]  # a≀ s≀ingle
    found = tokdfa.splice(TOKENIZER, before_ids=broken, after=" man").witness
    assert found is not None
    assert found.shortest
    assert found.ids_before == tuple(broken)
    assert found.ids_before + found.ids_after != found.ids


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"before": "\ud800"}, "half of a surrogate pair"),
        ({"before": "(", "regex": True}, "not closed"),
        ({"before": r"[^\s\S]", "regex": True}, "no text is in this language"),
        ({"before": "a", "within_before": "b*"}, "no text is in this language"),
        ({"before": "a", "before_ids": [64]}, "not both"),
        ({"before_ids": [10**6]}, "id"),
        ({"specials": "some"}, "found or plain"),
        ({"before": 7}, "a text is expected"),
    ],
)
def test_bad_questions_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(tokdfa.TokdfaError, match=message):
        tokdfa.splice(TOKENIZER, **arguments)  # type: ignore[arg-type]


def test_special_tokens_are_found_or_plain() -> None:
    content = tokenizer_json([(b">", b"<"), (b"|", b">")])
    tokenizer = tokdfa.load(content)
    assert tokdfa.splice(tokenizer, before="<|end|>", after="<|end|>")
    assert not tokdfa.splice(tokenizer, before="<|end|>", after="<|end|>", specials="plain")
    found = tokdfa.splice(tokenizer, before="<|en", after="d|>").witness
    assert found is not None
    assert (found.before, found.after) == ("<|en", "d|>")


def test_normalization_that_may_cross_the_seam_is_no_proof() -> None:
    tokenizer = tokdfa.load(tokenizer_json([], normalizer={"type": "NFC"}))
    assert tokdfa.splice(tokenizer, before="\n", after="ab")
    with pytest.raises(tokdfa.TokdfaError, match="a normalization may cross the seam"):
        tokdfa.splice(tokenizer, before="\n")


def test_what_is_not_searched_is_tried_and_then_refused() -> None:
    strips = tokdfa.load(tokenizer_json([], added_tokens=[{**added_token(256, "<x>"), "lstrip": True}]))
    found = tokdfa.splice(strips, before=" ", after="<x>").witness
    assert found is not None
    assert not found.shortest
    lower = tokdfa.load(tokenizer_json([], normalizer={"type": "Lowercase"}))
    with pytest.raises(tokdfa.TokdfaError, match="neither a proof nor two texts"):
        tokdfa.splice(lower, before="a", after="b")
