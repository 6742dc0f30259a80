"""Descriptions of shortcuts: how they cut texts, and descriptions that are refused."""

from __future__ import annotations

from typing import Any

import pytest

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.base.errors import PatternError, WrongTypeError
from tokdfa.jobs.auditing.schemes import SCHEMES, scheme_of

TOKENIZER = tokdfa.default_tokenizer()
TEXTS = {
    "before-space": (["a b", " c"], ["a", " b c"]),
    "after-space": (["a b", " c"], ["a ", "b c"]),
    "characters": (["a.b", "!c"], ["a.", "b!", "c"]),
    "characters=ab": (["a.b", "!c"], ["a", ".b", "!c"]),
    "text-prefix": (["a b", " c"], ["a b", " c"]),
    "turns=b": (["abab", "b"], ["a", "ba", "b", "b"]),
    "added-token": (["a b", " c"], ["a b c"]),
}
WRONG: list[Any] = [
    "", "back", "back-off=", "back-off=32,64", "back-off=-1,1", "back-off=1,0", "back-off=1", "back-off=10000,1",
    "back-off=٣,١", "characters=", "turns=", "text-prefix=a", "added-token=",
    {}, {"back": 1}, {"back": 1, "agree": 2}, {"back": 1, "agree": 0}, {"back": True, "agree": True},
    {"back": 4.0, "agree": 1}, {"back": 10_000, "agree": 1}, {"texts": [], "cut": "after", "which": "last"},
    {"texts": "abc", "cut": "after", "which": "last"}, {"texts": [1], "cut": "after", "which": "last"},
    {"texts": ["a"], "cut": "at", "which": "last"}, {"texts": ["a"], "cut": "after", "which": "first"},
    {"texts": ["a"], "cut": "after"}, {"texts": ["a"], "cut": "after", "which": "last", "more": 1},
    {"name": 1, "back": 2, "agree": 1},
]  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_a_scheme_cuts_a_text_as_it_is_described(name: str) -> None:
    (old, new), parts = TEXTS[name]
    assert scheme_of(name).of(TOKENIZER).ids(TOKENIZER, old, new) == [
        id for part in parts for id in TOKENIZER.encode(part).tolist()
    ]


@pytest.mark.parametrize("described", WRONG, ids=str)
def test_a_scheme_that_is_not_described_is_refused(described: Any) -> None:
    with pytest.raises(PatternError) as caught:
        tokdfa.audit(TOKENIZER, described)
    assert caught.value.hint


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(PatternError, match="back-off"):
        tokdfa.audit(TOKENIZER, "backoff=4,4")
    with pytest.raises(WrongTypeError):
        tokdfa.audit(TOKENIZER, 64)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["added-token", "turns"])
def test_without_added_tokens_nothing_is_cut_and_the_answer_says_so(name: str) -> None:
    found = tokdfa.audit(TOKENIZER, name)
    assert found
    assert found.is_trivial
    assert "no added tokens" in found.reason
    spelled = tokdfa.load(tokenizer_json([(b"a", b"b")], added_tokens=[added_token(260, "<s>")]))
    other = tokdfa.audit(spelled, name)
    assert other
    assert not other.is_trivial


def test_a_description_of_ones_own_answers_as_the_scheme_with_a_name() -> None:
    for own, name in (
        ({"texts": ["."], "cut": "after", "which": "every", "name": "dots"}, "characters=."),
        ({"texts": [""], "cut": "after", "which": "last"}, "text-prefix"),
        ({"back": 3, "agree": 2}, "back-off=3,2"),
    ):
        found, same = tokdfa.audit(TOKENIZER, own), tokdfa.audit(TOKENIZER, name)
        assert found.scheme == own.get("name", "own")
        assert (found.holds, found.witness) == (same.holds, same.witness)


def test_a_search_ends_when_its_time_is_up() -> None:
    spelled = tokdfa.load(tokenizer_json([(b"a", b"b")], normalizer={"type": "NFKC"}))
    found = tokdfa.audit(spelled, "back-off=40,40", max_seconds=0.001)
    assert found.answer == "undecided"
    assert "changed" in found.reason


def test_every_scheme_with_a_name_is_explained() -> None:
    assert tokdfa.audit.__doc__ is not None
    assert all(f"``{name}" in tokdfa.audit.__doc__ for name in SCHEMES)
