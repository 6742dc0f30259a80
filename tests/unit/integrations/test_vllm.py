"""Responses of vLLM's server, of chats and of completions."""

from __future__ import annotations

from typing import Any

import pytest

import tokdfa
from tokdfa.base.errors import TokenStreamError
from tokdfa.integrations.vllm import check_responses


class Response:
    """As a client has it."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self._fields


def test_each_choice_is_a_rollout() -> None:
    chat = {"id": "x", "prompt_token_ids": [64], "choices": [{"token_ids": [261, 1193]}, {"token_ids": [2513]}]}
    completion = {"choices": [{"prompt_token_ids": [64, 261], "token_ids": [1193], "text": "ingle"}]}
    checks = check_responses(tokdfa.default_tokenizer(), [chat, Response(completion)])
    assert [check.counts for check in checks] == [(0, 1, 0), (0, 0, 0), (0, 0, 1)]


def test_responses_without_ids() -> None:
    with pytest.raises(TokenStreamError, match=r"field choices\[0\].token_ids: the field is missing or null"):
        check_responses(tokdfa.default_tokenizer(), [{"choices": [{"text": "a"}], "prompt_token_ids": [64]}])
