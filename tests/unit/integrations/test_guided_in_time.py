"""Guides in engines that see the prompt and have a number of ids, in batches, with bans: by their masks on arrays."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support.guided import guided, some_languages
from tokdfa.base.errors import PatternError, TokdfaError, TokenStreamError, WrongTypeError
from tokdfa.integrations.guide_requests import request_of
from tokdfa.integrations.guided import GuidedLogits
from tokdfa.integrations.guided_vllm import GuidedRequests

TOKENIZER = tokdfa.default_tokenizer()
END = TOKENIZER.n_ids
OBJECT = r'\{"name": "[a-z ]*"(, "age": [0-9]+)?\}'


def finite(rows: Any) -> list[list[int]]:
    """The ids that each row of logits leaves."""
    return [np.flatnonzero(np.isfinite(row)).tolist() for row in rows]


def vllm(tokenizer: Any = TOKENIZER, end: int | None = END) -> GuidedRequests:
    """The logits processor of vLLM."""
    config = SimpleNamespace(
        tokenizer=tokenizer, get_vocab_size=lambda: tokenizer.n_ids + 1, hf_config=SimpleNamespace(eos_token_id=end)
    )
    return GuidedRequests(SimpleNamespace(model_config=config), "cpu", False)


def update(*added: tuple[int, object, list[int] | None, list[int], int]) -> SimpleNamespace:
    """A change of a batch: requests with their parameter, the ids of the prompt, their own ids and `max_tokens`."""
    return SimpleNamespace(
        removed=[],
        moved=[],
        added=[
            (at, SimpleNamespace(extra_args={"tokdfa": asked}, max_tokens=most), prompt, ids)
            for at, asked, prompt, ids, most in added
        ],
    )


@pytest.mark.parametrize("seed", range(6))
def test_sequences_of_a_batch_are_those_of_guides_with_each_prompt(seed: int, tmp_path: Path) -> None:
    """For transformers and vLLM; a ban with it. Sequences are permuted, as beams are, and padded where a token pads."""
    tokenizer, encode, symbols = guided(seed, tmp_path)[:3]
    source, met, end = random.Random(seed), 0, tokenizer.n_ids
    language, banned = some_languages(source, symbols)[0][0], source.choice(symbols)
    options: dict[str, Any] = {"ban": tokdfa.ban(tokenizer, [banned]), "end": end, "vocab_size": end + 1}
    guide = tokdfa.guide(tokenizer, language, **options)
    padding = encode("<|a|>") if seed % 2 else []
    judges, prompts = [], []
    for text in [*symbols, "".join(source.choices(symbols, k=5))]:
        prompt = padding * (5 - len(encode(text))) + encode(text)
        with suppress(PatternError):
            judges.append(tokdfa.guide(tokenizer, language, prompt=prompt, **options))
            prompts.append(prompt)
    for length in sorted({*map(len, prompts)}):
        batch = [at for at, prompt in enumerate(prompts) if len(prompt) == length]
        left = max(judges[at].least(judges[at].initial) for at in batch) + source.randrange(3)
        logits, requests = GuidedLogits(guide, prompt=True, remaining=left), vllm(tokenizer, end)
        asked = {"pattern": language, "ban": [banned], "prompt": True, "remaining": True}
        streams: dict[int, list[int]] = {at: [] for at in batch}
        requests.update_state(update(*((row, asked, prompts[at], streams[at], left) for row, at in enumerate(batch))))
        for n in range(left + 1):
            order = source.sample(batch, len(batch))
            rows = np.array([prompts[at] + (streams[at] + [end] * n)[:n] for at in order])
            found = dict(zip(order, finite(logits(rows, np.zeros((len(rows), end + 1)))), strict=True))
            theirs = finite(requests.apply(np.zeros((len(batch), end + 1))))
            for row, at in enumerate(batch):
                if end not in streams[at]:
                    expected = judges[at].allowed(judges[at].read(streams[at]), remaining=left - n).tolist()
                    assert found[at] == expected == theirs[row]
                    streams[at].append(source.choice(expected))
                    met += 1
        for at in batch:
            stream = streams[at][: streams[at].index(end)]
            assert len(stream) <= left
            text = tokenizer.decode(stream)
            assert encode(tokenizer.decode(prompts[at]) + text) == prompts[at] + stream
            # Control tokens have no text for a ban.
            assert seed % 2 or banned not in text
    assert met > 5


def test_a_beam_that_cannot_end_in_time_is_left_alone() -> None:
    guide = TOKENIZER.guide("[a-z]{1,30} man", end=END, vocab_size=END + 1)
    logits = GuidedLogits(guide, remaining=2)
    assert END not in finite(logits(np.array([[7]]), np.zeros((1, END + 1))))[0]
    rows = np.array([[7, int(TOKENIZER.encode("a")[0])], [7, int(TOKENIZER.encode("q")[0])]])
    assert finite(logits(rows, np.zeros((2, END + 1)))) == [TOKENIZER.encode(" man").tolist()] * 2
    late = np.array([[7, *TOKENIZER.encode("qx")[:2].tolist()]])
    assert len(finite(logits(late, np.zeros((1, END + 1))))[0]) == END + 1


def test_prompts_and_numbers_that_transformers_cannot_have() -> None:
    guide = TOKENIZER.guide("(le|ular) man", end=END, vocab_size=END + 1)
    scores = np.zeros((1, END + 1))
    with pytest.raises(TokenStreamError, match=r"^token 2 of the prompt: the prompt is not canonical .*: 1193 "):
        GuidedLogits(guide, prompt=True)(np.array([[64, 261, 1193]]), scores)
    alone = TOKENIZER.guide("le man", end=END, vocab_size=END + 1)
    with pytest.raises(PatternError, match=r"follow the prompt so that its ids remain: b' sing' \(guide\(.*") as error:
        GuidedLogits(alone, prompt=True)(np.array([TOKENIZER.encode(text) for text in ("a.", "a sing")]), scores)
    assert error.value.__notes__ == ["sequence 1 of the batch"]
    with pytest.raises(TokenStreamError, match=r"^no sequence ends within this number of ids: 1 \(the least .* 2"):
        GuidedLogits(guide, remaining=1)(np.array([[5]]), scores)
    with pytest.raises(WrongTypeError, match=r"^remaining: a number of ids is an integer"):
        GuidedLogits(guide, remaining=-1)


def test_requests_of_vllm_without_a_guide_end_at_once(caplog: pytest.LogCaptureFixture) -> None:
    processor = vllm()
    in_time = {"pattern": OBJECT, "remaining": True}
    processor.update_state(
        update(
            (0, in_time, [5], [], 2),
            (1, in_time, [5], [], 40),
            (2, {"pattern": OBJECT, "prompt": True}, [64, 261, 1193], [], 40),
            (3, {"pattern": OBJECT, "prompt": True}, None, [], 40),
            (4, {"pattern": "[^\\x00-\\U0010FFFF]"}, [5], [], 40),
        )
    )
    found = finite(processor.apply(np.zeros((5, END + 1))))
    assert found[0] == found[2] == found[3] == found[4] == [END]
    assert END not in found[1]
    assert processor.n_refused == 4
    for reason in (
        "no sequence ends within this number",
        "token 2 of the prompt",
        "prompt: the engine does not tell it",
    ):
        assert reason in caplog.text
    with pytest.raises(TokdfaError, match=r"^no id ends a sequence"):
        vllm(end=None).update_state(update((0, in_time, [5], [], 2)))


def test_a_schema_with_a_ban_in_time() -> None:
    pytest.importorskip("outlines_core", reason="outlines-core makes expressions of JSON schemas")
    source, processor, ids = random.Random(1), vllm(), list[int]()
    schema = {"type": "object", "properties": {"city": {"enum": ["Rome", "Oslo", "Bern"]}}, "required": ["city"]}
    asked = {"schema": schema, "ban": ["Oslo"], "remaining": 12}
    processor.update_state(update((0, asked, [5], ids, 100)))
    while END not in ids:
        ids.append(source.choice(finite(processor.apply(np.zeros((1, END + 1))))[0]))
    assert len(ids) <= 13
    assert "Oslo" not in TOKENIZER.decode(ids[:-1])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "here: a pattern, a mapping or true is expected: 3"),
        ({"patern": "a"}, "here: a guide has no such parameter: 'patern' (pattern is the nearest)"),
        ({"max": 3}, "here: a guide has no such parameter: 'max' (one of pattern, schema, ban, prompt, remaining)"),
        ({"pattern": 3}, "here: a pattern is a string: 3"),
        ({"pattern": "a", "schema": "{}"}, "here: give a pattern or a schema, one of them: 'a'"),
        ({"ban": "abc"}, "here: words are several, as in a list: 'abc'"),
        ({"remaining": -1}, "here, remaining: a number of ids is an integer that is not negative: -1"),
        ({"prompt": [[1]]}, "ids must be in one dimension: (1, 1)"),
    ],
)
def test_requests_that_are_refused(value: object, message: str) -> None:
    with pytest.raises(TokdfaError) as error:
        request_of(value, "here")
    assert str(error.value).startswith(message)
