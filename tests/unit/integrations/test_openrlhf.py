"""Responses of OpenRLHF's agents."""

from __future__ import annotations

import pytest

import tokdfa
from tokdfa.base.errors import TokenStreamError
from tokdfa.integrations.openrlhf import check_responses


def test_ranges_are_the_mask() -> None:
    tokens = [64, 261, 1193, 64, 261, 1193]
    responses = [{"observation_tokens": tokens, "action_ranges": [(1, 3), (5, 6)], "reward": 0.0}]
    assert check_responses(tokdfa.default_tokenizer(), responses).counts == (0, 1, 1)
    with pytest.raises(TokenStreamError, match="a range is not within the ids"):
        check_responses(tokdfa.default_tokenizer(), [{"observation_tokens": tokens, "action_ranges": [(1, 7)]}])
