"""A grammar backend within SGLang's own classes: its grammar manager, its masks of a batch, its trees of drafts.

A server needs a GPU, but these parts do not. ``pip install sglang``, or an unpacked wheel on the path with what it
imports.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
from array import array
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import regex

import tokdfa

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
torch = pytest.importorskip("torch")
base = pytest.importorskip("sglang.srt.constrained.base_grammar_backend", reason="SGLang is not installed")
manager_of = pytest.importorskip("sglang.srt.constrained.grammar_manager")

from tokdfa.integrations import guided_sglang  # noqa: E402

TOKENIZER = tokdfa.default_tokenizer()
END = TOKENIZER.n_ids
SENTENCE = "[a-z]{1,4}( [a-z]{1,4}){0,2}( [0-9]{1,3})?"


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Any:
    """SGLang's manager of grammars, with the backend that it creates by its name."""
    importlib.reload(guided_sglang)
    guided_sglang.register()
    monkeypatch.setattr(base, "get_exec", lambda: SimpleNamespace(kernel=SimpleNamespace(grammar_backend="tokdfa")))
    manager = manager_of.GrammarManager.__new__(manager_of.GrammarManager)
    vars(manager).update(
        grammar_backend=base.create_grammar_backend(SimpleNamespace(), TOKENIZER, END + 1, {END}), grammar_queue=[],
        grammar_sync_size=1, pp_rank=0, pp_size=1, SGLANG_GRAMMAR_POLL_INTERVAL=5.0,
        SGLANG_GRAMMAR_MAX_POLL_ITERATIONS=100, _enable_strict_thinking=False, server_args=SimpleNamespace(),
        scheduler=SimpleNamespace(),
    )  # fmt: skip
    assert isinstance(manager.grammar_backend, base.BaseGrammarBackend)
    return manager


class Request:
    """What the manager uses of a request."""

    def __init__(self, prompt: list[int], **grammar: str) -> None:
        names = "json_schema", "regex", "ebnf", "structural_tag"
        fields: dict[str, Any] = dict.fromkeys(names) | grammar
        self.sampling_params = SimpleNamespace(**fields, ebnf_full_assistant=False, custom_params=None)
        self.origin_input_ids = array("q", prompt)
        self.require_reasoning = False
        self.grammar: Any = None
        self.grammar_key: Any = None
        self.grammar_wait_ct = 0
        self.refused = ""

    def finished(self) -> bool:
        return False

    def set_finish_with_abort(self, reason: str) -> None:
        self.refused = reason


def ready(manager: Any, *requests: Request) -> None:
    """Wait until the grammars of requests are made."""
    if sum(manager.process_req_with_grammar(request) for request in requests):
        manager.get_ready_grammar_requests()
    assert not manager.grammar_queue


def tagged(**wanted: Any) -> str:
    return json.dumps({"tokdfa": wanted})


def masks(grammars: list[Any]) -> Any:
    """The logits of a batch, all zero, after SGLang has applied its grammars."""
    from sglang.srt.sampling.sampling_batch_info import SamplingBatchInfo

    batch = SimpleNamespace(grammars=grammars, vocab_size=END + 1, temperatures=[1.0] * len(grammars), device="cpu")
    SamplingBatchInfo.update_regex_vocab_mask(batch)
    logits = torch.zeros(len(grammars), END + 1)
    batch.grammar_mask.apply(logits)
    return [np.flatnonzero(np.isfinite(row)).tolist() for row in logits.numpy()]


def test_the_option_of_the_server() -> None:
    from sglang.srt.server_args import ServerArgs

    for _ in range(2):
        guided_sglang.register()
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    read = parser.parse_args(["--model-path", "m", "--grammar-backend", "tokdfa"])
    assert read.grammar_backend == "tokdfa"


def test_requests_of_a_batch(manager: Any) -> None:
    """Rows without a grammar are free; each other row follows its own prompt, budget and ban until it has ended."""
    dice, prompts = random.Random(1), [TOKENIZER.encode(text).tolist() for text in ("a sing", "is it", "two")]
    tag = tagged(pattern=r"(le|ular|s)?( [a-z]+){1,3}", ban=[" x"], prompt=True, remaining=4)
    requests = [*(Request(prompt, structural_tag=tag) for prompt in prompts), Request([5], regex=SENTENCE)]
    ready(manager, *requests)
    assert len({*(request.grammar_key for request in requests)}) == 4
    grammars = [request.grammar for request in requests]
    assert all(isinstance(grammar, base.BaseGrammarObject) and not grammar.finished for grammar in grammars)
    streams: list[list[int]] = [[] for _ in grammars]
    while not all(grammar.finished for grammar in grammars):
        found = masks([*grammars, None])
        assert len(found[4]) == END + 1
        for grammar, allowed, stream in zip(grammars, found, streams, strict=False):
            if grammar.finished:
                assert len(allowed) == END + 1
                continue
            stream.append(dice.choice(allowed))
            grammar.accept_token(stream[-1])
            grammar.finished = grammar.is_terminated()
    for prompt, stream in zip(prompts, streams, strict=False):
        assert stream.pop() == END
        assert len(stream) <= 4
        assert TOKENIZER.encode(TOKENIZER.decode(prompt + stream)).tolist() == prompt + stream
        assert " x" not in TOKENIZER.decode(stream)
    assert regex.fullmatch(SENTENCE, TOKENIZER.decode(streams[3][:-1]))


def test_requests_share_grammars_without_a_prompt(manager: Any) -> None:
    prompt = TOKENIZER.encode("a sing").tolist()
    first, with_prompt = Request([5], regex=SENTENCE), Request(prompt, structural_tag=tagged(pattern="le", prompt=[5]))
    ready(manager, first, with_prompt)
    assert [*manager.grammar_backend.cache] == [("regex", SENTENCE)]
    first.grammar.accept_token(masks([first.grammar])[0][0])
    again = Request([5], regex=SENTENCE)
    assert not manager.process_req_with_grammar(again)
    assert masks([again.grammar]) != masks([first.grammar])


@pytest.mark.parametrize(
    ("grammar", "reason"),
    [
        ({"regex": "(a"}, "the group is not closed"),
        ({"ebnf": "root ::= 'a'"}, "a guide is for a regular language"),
        ({"structural_tag": '{"type": "structural_tag"}'}, "a guide is for a regular language, not for tags"),
        ({"structural_tag": tagged(pattern="a man", remaining=1)}, "number of ids: 1 (the least number is 2)"),
        ({"structural_tag": tagged(pattern="le man", prompt=True)}, "token 2 of the prompt: the prompt is not"),
        ({"structural_tag": tagged(pattern="le man", prompt=[64, 261])}, "can follow the prompt so that"),
        ({"structural_tag": tagged(remaining=True)}, "remaining: the engine does not tell it"),
    ],
)  # fmt: skip
def test_a_request_is_aborted_with_the_reason(grammar: dict[str, str], reason: str, manager: Any) -> None:
    for _ in range(2):  # The second one is refused from the cache.
        request = Request([64, 261, 1193], **grammar)
        ready(manager, request)
        assert request.refused.startswith("Failed to compile ")
        assert reason in request.refused


@pytest.mark.parametrize("seed", range(20))
def test_masks_of_a_tree_of_drafts(seed: int, manager: Any) -> None:
    """As one guide a path says; the grammar is afterwards where it was."""
    traverse_tree = pytest.importorskip("sglang.srt.speculative.spec_utils").traverse_tree

    dice, size = random.Random(seed), 12
    asked = tagged(pattern=SENTENCE, remaining=5)
    request = Request([5], structural_tag=asked)
    ready(manager, request)
    grammar, guide = request.grammar, TOKENIZER.guide(SENTENCE, end=END, vocab_size=END + 1)
    committed: list[int] = []
    for _ in range(dice.randrange(3)):
        state = guide.read(committed)
        going_on = [id for id in guide.allowed(state, remaining=5 - len(committed)).tolist() if id != END]
        if going_on:
            committed.append(dice.choice(going_on))
            grammar.accept_token(committed[-1])
    # Node 0 is the last id chosen; each other node is a draft after an earlier node, mostly an allowed one.
    parents, drafts, paths = [-1], [0], [committed]
    for _ in range(1, size):
        parent = dice.randrange(len(parents))
        before = paths[parent]
        state = None if before is None or END in before else guide.read(before)
        allowed = [] if state is None else guide.allowed(state, remaining=5 - len(before)).tolist()
        draft = dice.choice(allowed) if allowed and dice.random() < 0.8 else dice.randrange(END + 1)
        if any(up == parent and id == draft for up, id in zip(parents, drafts, strict=True)):
            draft = next(id for id in range(END + 1) if (parent, id) not in zip(parents, drafts, strict=True))
        parents.append(parent)
        drafts.append(draft)
        paths.append([*before, draft] if draft in allowed else None)  # type: ignore[arg-type]
    children = [[at for at, up in enumerate(parents) if up == node] for node in range(size)]
    following = torch.tensor([each[0] if each else -1 for each in children])
    sibling = torch.full((size,), -1)
    for each in children:
        for one, other in pairwise(each):
            sibling[one] = other
    bitmask = grammar.allocate_vocab_mask(vocab_size=END + 1, batch_size=size, device="cpu")
    before_it = masks([grammar])
    traverse_tree(following, sibling, torch.tensor(drafts), grammar, bitmask, vocab_size=END + 1)
    assert masks([grammar]) == before_it
    for path, row in zip(paths, bitmask.numpy(), strict=True):
        if path is None or END in path:
            assert (row == -1).all()
        else:
            assert (row == guide.mask(guide.read(path), remaining=5 - len(path))).all()
