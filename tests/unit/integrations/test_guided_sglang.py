"""A grammar backend of SGLang, by its interface: SGLang needs a GPU, so its base classes are stand-ins here."""

from __future__ import annotations

import importlib
import json
import random
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tokdfa
from tokdfa.base.errors import TokenStreamError
from tokdfa.integrations import guided_sglang
from tokdfa.jobs.guiding.matchers import allocate_bitmask

TOKENIZER = tokdfa.default_tokenizer()
END = TOKENIZER.n_ids


class Grammar:
    """The attributes of ``BaseGrammarObject``."""

    def __init__(self) -> None:
        self.finished, self.grammar_stats, self.current_token = False, None, None


class Backend:
    """The attributes of ``BaseGrammarBackend``, and its dispatch."""

    def __init__(self) -> None:
        self.cache: dict[tuple[str, str], Any] = {}

    def made(self, kind: str, key: str) -> Any:
        return getattr(self, f"dispatch_{kind}")(key)


@pytest.fixture
def sglang(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The module, imported where SGLang seems to be installed, and the registered backends."""
    registered: dict[str, Callable[..., Any]] = {}
    base = ModuleType("sglang.srt.constrained.base_grammar_backend")
    invalid = Grammar()
    vars(base).update(BaseGrammarObject=Grammar, BaseGrammarBackend=Backend, INVALID_GRAMMAR_OBJ=invalid,
                      register_grammar_backend=registered.__setitem__)  # fmt: skip
    for name in ("sglang", "sglang.srt", "sglang.srt.constrained"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, base.__name__, base)
    importlib.reload(guided_sglang)
    guided_sglang.register()
    yield SimpleNamespace(create=registered["tokdfa"], invalid=invalid)
    monkeypatch.undo()
    importlib.reload(guided_sglang)


@pytest.fixture
def backend(sglang: SimpleNamespace) -> Any:
    return sglang.create(SimpleNamespace(grammar_backend="tokdfa"), TOKENIZER, END + 1, {END})


def allowed(grammar: Any) -> list[int]:
    mask = allocate_bitmask(2, END + 1)
    grammar.fill_vocab_mask(mask, 1)
    assert (mask[0] == -1).all()
    return np.flatnonzero(np.unpackbits(mask[1].view(np.uint8), bitorder="little")).tolist()


def test_a_request_is_guided_to_its_end(backend: Any) -> None:
    made = backend.made("regex", "a (single|married) man")
    grammar = made.copy()
    ids = TOKENIZER.encode("a single man").tolist()
    assert grammar.try_jump_forward(None) == ([ids[0]], "")
    assert grammar.jump_forward_str_state(([ids[0]], "")) == ("", -1)
    for place, id in enumerate([*ids, END]):
        assert id in allowed(grammar)
        assert not grammar.is_terminated()
        if place == 1:
            assert grammar.try_jump_forward(None) is None
            with pytest.raises(TokenStreamError, match=r"^token 1: no canonical stream .* with this id: 261$"):
                grammar.accept_token(261)
        grammar.accept_token(id)
    assert grammar.is_terminated()
    grammar.accept_token(5)
    grammar.rollback(2)
    assert not grammar.is_terminated()
    assert allowed(grammar) == [ids[-1]]
    assert allowed(made) == [ids[0]]
    grammar.jump_and_retokenize(ids[:2], [ids[0], int(TOKENIZER.encode(" married")[0])], -1)
    assert allowed(grammar) == [ids[-1]]
    assert grammar.finished is False


def test_random_requests(backend: Any) -> None:
    dice = random.Random(1)
    made = backend.made("regex", "[a-z]{1,4}( [0-9]{1,3})?")
    for _ in range(20):
        grammar, chosen = made.copy(), []
        while not grammar.is_terminated():
            chosen.append(dice.choice(allowed(grammar)))
            grammar.accept_token(chosen[-1])
        assert chosen.pop() == END
        assert TOKENIZER.encode(TOKENIZER.decode(chosen)).tolist() == chosen


def test_a_json_schema(backend: Any) -> None:
    pytest.importorskip("outlines_core", reason="outlines-core makes expressions of JSON schemas")
    grammar = backend.made("json", json.dumps({"enum": ["yes", "no"]}))
    for id in [*TOKENIZER.encode('"no"').tolist(), END]:
        grammar.accept_token(id)
    assert grammar.is_terminated()


def test_a_request_with_a_prompt_and_a_number_of_ids(backend: Any) -> None:
    """Whoever follows the masks ends in time, canonical as one text with the prompt, without banned words."""
    dice, prompt = random.Random(2), TOKENIZER.encode("a sing").tolist()
    wanted = {"pattern": "(le|ular|s)( [a-z]+){1,3}", "ban": [" x"], "prompt": prompt, "remaining": 3}
    made = backend.made("structural_tag", json.dumps({"tokdfa": wanted}))
    for _ in range(20):
        grammar, chosen = made.copy(), []
        while not grammar.is_terminated():
            chosen.append(dice.choice(allowed(grammar)))
            grammar.accept_token(chosen[-1])
        text = "a sing" + TOKENIZER.decode(chosen[:-1])
        assert len(chosen) <= 4
        assert " x" not in text
        assert TOKENIZER.encode(text).tolist() == prompt + chosen[:-1]
    # Another request for the same texts has the same guide.
    assert backend.made("regex", "a") is not backend.made("regex", "a")
    assert len(backend._guides) == 2


@pytest.mark.parametrize(
    ("kind", "key", "reason"),
    [
        ("regex", "(a", "the group is not closed"),
        ("regex", "[^\\x00-\\U0010FFFF]", ""),
        ("json", "{", "the schema is no JSON"),
        ("ebnf", "root ::= 'a'", "a guide is for a regular language"),
        ("structural_tag", "{}", "a guide is for a regular language, not for tags"),
        ("structural_tag", "no JSON", "a guide is for a regular language, not for tags"),
        (
            "structural_tag",
            '{"tokdfa": {"prompt": true}}',
            "prompt: the engine does not tell it: True (give it instead)",
        ),
        ("structural_tag", '{"tokdfa": {"pattern": "a man", "remaining": 1}}', "no sequence ends within this number"),
    ],
)
def test_what_is_refused(
    kind: str, key: str, reason: str, sglang: SimpleNamespace, backend: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert backend.made(kind, key) is sglang.invalid
    assert reason in caplog.text


def test_without_sglang() -> None:
    assert guided_sglang.GuidedBackend(TOKENIZER, END, ()).dispatch_ebnf("x") is None
    with pytest.raises(ImportError):
        guided_sglang.register()


@pytest.mark.slow
def test_masks_on_tensors(backend: Any) -> None:
    torch = pytest.importorskip("torch")
    grammar = backend.made("regex", "a (single|married) man")
    mask = grammar.allocate_vocab_mask(END + 1, 3, "cpu")
    assert (mask.shape, mask.dtype) == ((3, -(-(END + 1) // 32)), torch.int32)
    assert (mask == -1).all()
    grammar.fill_vocab_mask(mask, 2)
    logits = torch.zeros(3, END + 1)
    grammar.apply_vocab_mask(logits, grammar.move_vocab_mask(mask, "cpu"))
    assert torch.isfinite(logits[:2]).all()
    assert torch.isfinite(logits[2]).nonzero().flatten().tolist() == allowed(grammar)
