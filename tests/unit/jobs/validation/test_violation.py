"""Violations as data: their fields survive, and each kind has a sentence."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import pytest

import tokdfa
from tokdfa.jobs.validation.violation import MOST_NAMED, Violation, ViolationKind, parts, sentence

K = ViolationKind
PLACE: dict[str, Any] = {
    "index": 0,
    "detected_at": 1,
    "byte_offset": 0,
    "start": 0,
    "ids": (1, 2),
    "canonical_ids": (3,),
    "spellings": ((1, b"a"), (2, b"b\xff"), (3, "it's")),
}
MANY = {"ids": (1,) * 7, "canonical_ids": ()}
SPELLED_A = " 'a' (1)"
SENTENCES: list[tuple[ViolationKind, dict[str, Any], str]] = [
    (K.PAIR, {"pair": (1, 2)}, r"'b\xff' (2) never follows 'a' (1)"),
    (
        K.PAIR,
        {"pair": (2, 1), "rule": 4_000, "merge": (b"b", b" a")},
        r"'a' (1) never follows 'b\xff' (2): rule 4000 ('b' + ' a') would have merged them",
    ),
    (K.BOUNDARY, {"token": 1, "text": "x\n"}, r"'a' (1) goes past the end of the piece 'x\n'"),
    (K.NOT_UTF8, {"bad_bytes": b"\xe2\x82"}, "the bytes e2 82 are not UTF-8, so no text has these ids"),
    (K.SPECIAL_TOKEN, {"special": 9, "text": "<e>"}, "the text spells the special token '<e>' (9)"),
    (K.DEAD_TOKEN, {"token": 1}, "merging never gives 'a' (1)"),
    (K.WHOLE_PIECE_ONLY, {"token": 1}, "'a' (1) is emitted only as a whole piece"),
    (K.PIECE_IS_A_TOKEN, {"text": "abc"}, "the piece 'abc' is a token, and is emitted without merging"),
    (
        K.NOT_LONGEST_MATCH,
        {"token": 1},
        """'a' (1) is not the longest match in its text, which is encoded as "it's" (3)""",
    ),
    (K.IN_NO_TEXT, {"token": 1}, "no text has 'a' (1), whatever surrounds it"),
    (K.IN_NO_TEXT, {"token": 1, "pair": (3, 1)}, """no text has 'a' (1) after "it's" (3), whatever surrounds them"""),
    (K.IN_NO_TEXT, {}, "no text ends like this"),
    (K.ID_OUT_OF_RANGE, {"token": -1}, "the tokenizer has no id -1"),
    (K.NOT_ENCODABLE, {"error": "no token"}, "their text cannot be encoded: no token"),
    (K.ENCODED_OTHERWISE, {"token": 1, "text": "ab"}, "the piece 'ab' is encoded differently"),
    (K.ENCODED_OTHERWISE, {}, r"""the text is encoded as "it's" (3), not as 'a' (1) 'b\xff' (2)"""),
    (K.ENCODED_OTHERWISE, MANY, f"the text is encoded as nothing, not as{MOST_NAMED * SPELLED_A} …"),
]


@pytest.mark.parametrize(("kind", "fields", "expected"), SENTENCES)
def test_sentences_are_made_of_the_fields(kind: ViolationKind, fields: dict[str, Any], expected: str) -> None:
    violation = Violation(kind=kind, **{**PLACE, **fields})
    assert violation.reason == sentence(violation) == expected
    assert all(parts(violation))
    for other in (pickle.loads(pickle.dumps(violation)), copy.deepcopy(violation), copy.copy(violation)):
        assert other == violation
        assert hash(other) == hash(violation)
        assert other.kind is kind
        assert other.reason == expected


def test_every_kind_has_a_sentence_and_a_meaning() -> None:
    assert {kind for kind, _, _ in SENTENCES} == {*ViolationKind}
    assert len({kind.meaning for kind in ViolationKind}) == len(ViolationKind)
    for kind in ViolationKind:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", kind.value)
        assert kind.meaning.endswith(".")
        assert ViolationKind(kind.value) is kind


def test_what_a_verdict_holds() -> None:
    verdict = tokdfa.validate(tokdfa.default_tokenizer(), [64, 261, 1193])
    (violation,) = verdict.violations
    assert violation.kind is tokdfa.ViolationKind.PAIR
    assert (violation.pair, violation.rule, violation.merge) == ((261, 1193), 2257, (b" s", b"ingle"))
    assert verdict.reason == violation.reason
    assert violation.as_json() == {
        "index": 1,
        "detected_at": 2,
        "byte_offset": 1,
        "start": 1,
        "ids": (261, 1193),
        "canonical_ids": (2513,),
        "kind": "pair",
        "pair": (261, 1193),
        "rule": 2257,
        "reason": "'ingle' (1193) never follows ' s' (261): rule 2257 (' s' + 'ingle') would have merged them",
    }
    assert pickle.loads(pickle.dumps(verdict)) == verdict
