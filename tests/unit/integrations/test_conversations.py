"""Tests for `tokdfa.integrations.conversations`: sampled ids stay, and all ids are the library's."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, fields

import pytest
import tokenizers

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.base.errors import TokenStreamError
from tokdfa.integrations.conversations import Conversation

RULES = [(b"a", b"b"), (b"b", b"a"), (b"ab", b"\n"), (b"\n", b"\n")]
CONTENT = tokenizer_json(RULES, normalizer={"type": "NFC"}, added_tokens=[added_token(300, "<e>", normalized=False)])
OWN, LIBRARY = tokdfa.load(CONTENT), tokenizers.Tokenizer.from_str(json.dumps(CONTENT))


SYMBOLS = ["a", "b", "\n", "e", "\u0301", "<e>"]


def ids_of(text: str) -> list[int]:
    """Return the library's ids."""
    return list(LIBRARY.encode(text, add_special_tokens=False).ids)


def test_ids_of_random_conversations_are_those_of_the_library() -> None:
    drawn, met = random.Random(1), [0, 0]
    for _ in range(300):
        texts = [
            "".join(drawn.choices(["a", "b", "\n", "e", "\u0301", "<e>"], k=drawn.randrange(1, 6))) for _ in range(5)
        ]
        talk, n_sampled = Conversation(OWN, texts[0]), 0
        try:
            for n, text in enumerate(texts[1:]):
                if n % 2:
                    talk.add(text)
                else:
                    talk.sample(ids_of(text))
                    n_sampled += len(ids_of(text))
        except TokenStreamError:
            met[0] += 1
            continue
        met[1] += 1
        assert talk.ids == ids_of(OWN.decode(talk.ids))
        assert sum(talk.mask) == n_sampled
        assert len(talk.mask) == len(talk.ids)
    assert min(met) > 50, met


def test_drift_is_refused_or_kept_and_noted() -> None:
    with pytest.raises(TokenStreamError, match="token 1"):
        Conversation(OWN, "<e>").sample([*ids_of("a"), *ids_of("b")])
    talk = Conversation(OWN, "<e>", keeps_drift=True)
    talk.sample([*ids_of("a"), *ids_of("b")])
    talk.add("<e>\n")
    assert talk.drift == 1
    assert talk.ids == [*ids_of("<e>"), *ids_of("a"), *ids_of("b"), *ids_of("<e>\n")]
    talk = Conversation(OWN, "<e>")
    talk.sample(ids_of("a"))
    with pytest.raises(TokenStreamError, match="the text after sampled ids changes them"):
        talk.add("b")


def test_a_rendered_conversation_is_put_after_its_own_beginning() -> None:
    talk = Conversation(OWN, "a<e>")
    talk.sample(ids_of("ab<e>"))
    talk.render("a<e>ab<e>\nb<e>")
    assert talk.ids == ids_of("a<e>ab<e>\nb<e>")
    with pytest.raises(TokenStreamError, match="character 0"):
        talk.render("b<e>")


@dataclass
class AgentLoopOutput:
    """The fields of verl's class that have ids."""

    prompt_ids: list[int]
    response_ids: list[int]
    response_mask: list[int]


def test_records_have_the_fields_of_the_projects() -> None:
    talk = Conversation(OWN, "a<e>")
    talk.sample(ids_of("ab<e>"))
    talk.add("\n")
    record = AgentLoopOutput(**talk.verl())
    assert {*talk.verl()} == {field.name for field in fields(AgentLoopOutput)}
    assert record.prompt_ids + record.response_ids == talk.ids
    assert record.response_mask == [1, 1, 0]
    assert talk.trl() == {
        "prompt_ids": record.prompt_ids,
        "completion_ids": record.response_ids,
        "env_mask": [1, 1, 0],
    }
    assert talk.slime() == {"tokens": talk.ids, "response_length": 3, "loss_mask": [1, 1, 0]}
    assert talk.vllm() == {"prompt_token_ids": talk.ids}
