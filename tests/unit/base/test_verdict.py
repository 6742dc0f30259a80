"""Kinds are strings with a sentence; verdicts are shown in a few lines."""

from __future__ import annotations

import json
import pickle

import pytest

import tokdfa
from tokdfa.base.verdict import DescribedEnum, Verdict
from tokdfa.jobs.identification.result import MistakeKind
from tokdfa.jobs.splices.injection import Injection
from tokdfa.jobs.splices.question import Splice
from tokdfa.jobs.splices.turns import Turns
from tokdfa.jobs.validation.violation import Violation, ViolationKind
from tokdfa.jobs.validation.violations import Validation, Violations


@pytest.mark.parametrize("kinds", [tokdfa.ViolationKind, tokdfa.SpanClass, MistakeKind])
def test_each_kind_is_its_value_and_has_a_sentence(kinds: type[DescribedEnum]) -> None:
    for kind in kinds:
        assert isinstance(kind, kinds)
        assert json.loads(json.dumps(kind)) == kind.value == str(kind)
        assert kind.meaning.endswith(".")
        assert kinds(kind.value) is kind
        assert pickle.loads(pickle.dumps(kind)) is kind
    assert len({kind.meaning for kind in kinds}) == len(kinds)


@pytest.mark.parametrize("kind", [Verdict, Validation, Splice, Turns, Injection])
def test_every_verdict_is_shown_in_four_lines(kind: type[Verdict]) -> None:
    given, right = tuple(range(20_000)), tuple(range(10_000))
    violation = Violation(
        kind=ViolationKind.PAIR, index=3, detected_at=4, byte_offset=7, start=3, ids=given, canonical_ids=right
    )
    for holds, witness in ((True, None), (False, violation)):
        verdict = kind(True)
        for name, value in {"holds": holds, "witness": witness, "reason": "because " * 1_000}.items():
            object.__setattr__(verdict, name, value)
        assert "\n" not in repr(verdict)
        assert len(repr(verdict)) <= 4 * 80, repr(verdict)
        assert repr(verdict).startswith(f"{kind.__name__}({holds}")


def test_many_violations_are_shown_by_their_first() -> None:
    violations = [tokdfa.validate(tokdfa.default_tokenizer(), [64, 261, 1193]).witness] * 50
    shown = repr(Violations([violations]))
    assert shown.count("Violation(pair, token 1, byte 1: (261, 1193) for (2513,))") == 3
    assert shown.endswith(", and 47 more)")
