"""Samples of slime and miles, with the fields of their own class."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

import tokdfa
from tokdfa.base.errors import TokenStreamError
from tokdfa.integrations.slime import check_samples


@dataclass
class Sample:
    """The fields that matter of slime/utils/types.py, with its defaults."""

    tokens: list[int] = field(default_factory=list)
    response_length: int = 0
    loss_mask: list[int] | None = None


def test_samples_and_groups() -> None:
    spoiled = [64, 261, 1193]
    samples = [[Sample(spoiled, 2), Sample(spoiled, 1)], [Sample(spoiled, 2, [0, 0])], [Sample()]]
    checks = check_samples(tokdfa.default_tokenizer(), samples)
    assert [check.counts for check in checks] == [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 0, 0)]


def test_what_does_not_fit() -> None:
    tokenizer = tokdfa.default_tokenizer()
    with pytest.raises(TokenStreamError, match="longer than its tokens: 2"):
        check_samples(tokenizer, [Sample([64], 2)])
    with pytest.raises(TokenStreamError, match="another length than its response: 1"):
        check_samples(tokenizer, [Sample([64, 64, 64], 2, [1])])
