"""Kinds are strings with a sentence."""

from __future__ import annotations

import json
import pickle

import pytest

import tokdfa
from tokdfa.base.verdict import DescribedEnum
from tokdfa.jobs.identification.result import MistakeKind


@pytest.mark.parametrize("kinds", [tokdfa.ViolationKind, tokdfa.SpanClass, MistakeKind])
def test_each_kind_is_its_value_and_has_a_sentence(kinds: type[DescribedEnum]) -> None:
    for kind in kinds:
        assert isinstance(kind, kinds)
        assert json.loads(json.dumps(kind)) == kind.value == str(kind)
        assert kind.meaning.endswith(".")
        assert kinds(kind.value) is kind
        assert pickle.loads(pickle.dumps(kind)) is kind
    assert len({kind.meaning for kind in kinds}) == len(kinds)
