"""A grammar backend of SGLang, by its interface: its base classes are stand-ins here.

`test_guided_in_sglang` has the classes themselves.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
from array import array
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


class Invalid(Grammar):
    """The attributes of ``InvalidGrammarObject``."""

    def __init__(self, error_message: str) -> None:
        super().__init__()
        self.error_message = error_message


class Backend:
    """The attributes of ``BaseGrammarBackend``, and its dispatch."""

    def __init__(self) -> None:
        self.cache: dict[tuple[str, str], Any] = {}

    def made(self, kind: str, key: str) -> Any:
        return getattr(self, f"dispatch_{kind}")(key)

    def set_cache(self, key: tuple[str, str], value: Any) -> None:
        self.cache[key] = value


@pytest.fixture
def sglang(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The module, imported where SGLang seems to be installed, and the registered backends."""
    registered: dict[str, Callable[..., Any]] = {}
    choices: list[str] = ["xgrammar"]
    found = {name: ModuleType(name) for name in ("sglang", "sglang.srt", "sglang.srt.constrained")}
    base, arguments = (ModuleType(f"sglang.srt.{name}") for name in ("constrained.base_grammar_backend", "server_args"))
    vars(base).update(BaseGrammarObject=Grammar, BaseGrammarBackend=Backend, InvalidGrammarObject=Invalid,
                      register_grammar_backend=registered.__setitem__)  # fmt: skip
    vars(arguments).update(GRAMMAR_BACKEND_CHOICES=choices, add_grammar_backend_choices=choices.extend)
    vars(found["sglang.srt.constrained"]).update(base_grammar_backend=base)
    for module in (*found.values(), base, arguments):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    importlib.reload(guided_sglang)
    guided_sglang.register()
    guided_sglang.register()
    yield SimpleNamespace(create=registered["tokdfa"], choices=choices)
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
    assert allowed(grammar.copy()) == [ids[0]]
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
    assert backend._guide_of.cache_info().misses == 2


def test_a_request_with_its_own_prompt(sglang: SimpleNamespace, backend: Any) -> None:
    """SGLang asks for the key of a request's grammar, and keeps the grammar under it."""
    assert sglang.choices == ["xgrammar", "tokdfa"]
    prompt, tag = array("q", TOKENIZER.encode("a sing")), {"pattern": "(le|ular) man", "prompt": True}
    key = backend.get_request_grammar_key(
        ("structural_tag", json.dumps({"tokdfa": tag})), input_ids=prompt, thinking_budget=None
    )
    grammar = backend.made(*key)
    assert allowed(grammar) == TOKENIZER.encode("ular")[:1].tolist()
    backend.set_cache(key, grammar)
    backend.set_cache(("regex", "a"), backend.made("regex", "a").copy())
    assert [*backend.cache] == [("regex", "a")]
    others = [("regex", "a"), ("structural_tag", "{}"), ("structural_tag", '{"tokdfa": {"prompt": [1]}}')]
    assert others == [backend.get_request_grammar_key(other, input_ids=prompt) for other in others]


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
def test_what_is_refused(kind: str, key: str, reason: str, backend: Any, caplog: pytest.LogCaptureFixture) -> None:
    refused = backend.made(kind, key)
    assert isinstance(refused, Invalid)
    assert reason in refused.error_message
    assert reason in caplog.text


def test_without_sglang(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sglang.srt.constrained", "sglang.srt.constrained.base_grammar_backend"):
        monkeypatch.setitem(sys.modules, name, None)
    importlib.reload(guided_sglang)
    assert guided_sglang.GuidedBackend(TOKENIZER, END, ()).dispatch_ebnf("x") is None
    with pytest.raises(ImportError):
        guided_sglang.register()
    monkeypatch.undo()
    importlib.reload(guided_sglang)


@pytest.mark.slow
def test_masks_on_tensors(backend: Any) -> None:
    torch = pytest.importorskip("torch")
    grammar = backend.made("regex", "a (single|married) man")
    mask = grammar.allocate_vocab_mask(END + 1, 3, "cpu")
    assert (mask.shape, mask.dtype) == ((3, -(-(END + 1) // 32)), torch.int32)
    assert (mask == -1).all()
    grammar.fill_vocab_mask(mask, 1)
    grammar.reset_vocab_mask(mask)
    assert (mask == -1).all()
    grammar.fill_vocab_mask(mask, 2)
    logits = torch.zeros(3, END + 1)
    grammar.apply_vocab_mask(logits, grammar.move_vocab_mask(mask, "cpu"))
    assert torch.isfinite(logits[:2]).all()
    assert torch.isfinite(logits[2]).nonzero().flatten().tolist() == allowed(grammar)
