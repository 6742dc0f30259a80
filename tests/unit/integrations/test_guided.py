"""Guides in engines: by the interfaces, and in `generate` of transformers where torch is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex

import tokdfa
from tokdfa.base.errors import WrongTypeError
from tokdfa.integrations.guided import GuidedLogits, Intersection, SequenceStates, allowed_rows
from tokdfa.jobs.guiding.matchers import allocate_bitmask

TOKENIZER = tokdfa.default_tokenizer()


def test_rows_of_allowed_ids() -> None:
    guide = TOKENIZER.guide("a( man)?")
    rows = allowed_rows(guide, [guide.initial, None], TOKENIZER.n_ids + 5)
    assert np.flatnonzero(rows[0]).tolist() == guide.allowed(guide.initial).tolist()
    assert rows[1].all()
    with pytest.raises(WrongTypeError, match=r"^the guide is for \d+ ids, and there are fewer logits: 3 "):
        allowed_rows(guide, [guide.initial], 3)


def test_a_mask_of_another_engine_never_becomes_empty() -> None:
    both = Intersection(TOKENIZER.guide())
    size = TOKENIZER.n_ids
    everything = allocate_bitmask(2, size)
    assert both.narrow(everything, 1)
    assert (everything[1] == both.guide.mask(both.state)).all()
    assert (everything[0] == -1).all()
    # After " s" of "a s" no canonical stream continues with "ingle".
    for id in (64, 261):
        both.accept(id)
    alone = np.zeros((1, -(-size // 32)), dtype=np.int32)
    alone[0, 1193 >> 5] = np.int32(1 << (1193 & 31))
    before = alone.copy()
    assert not both.narrow(alone)
    assert (alone == before).all()
    assert both.fallbacks == 1
    both.accept(1193)
    nothing = np.zeros_like(alone)
    assert both.narrow(nothing)
    assert not nothing.any()
    with pytest.raises(WrongTypeError, match=r"^a bitmask for \d+ ids is int32"):
        both.narrow(np.zeros((1, 3), dtype=np.int32))


torch_is_needed = pytest.mark.slow


def model_of(n_ids: int, end: int, n_positions: int = 64) -> Any:
    """A tiny GPT-2 with random weights."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    # Several threads wait for each other, busily, for a model as small as this.
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=n_ids, n_positions=n_positions, n_embd=16, n_layer=1, n_head=2, bos_token_id=end, eos_token_id=end,
        pad_token_id=end,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config).eval()


def generated(model: Any, guide: tokdfa.Guide, n: int, **options: Any) -> list[list[int]]:
    """The ids that `generate` adds to a prompt of two ids, in `n` sequences."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    prompt = torch.full((n, 2), 5)
    processors = transformers.LogitsProcessorList([GuidedLogits(guide)])
    mask = torch.ones_like(prompt)
    found = model.generate(prompt, attention_mask=mask, logits_processor=processors, **options)
    return [ids[2:] for ids in found.tolist()]


def check_stream(guide: tokdfa.Guide, tokenizer: Any, ids: list[int], end: int, language: str | None) -> bool:
    """Whether the sequence has ended, having checked that it is canonical and, if so, a text of the language."""
    stream = ids[: ids.index(end)] if end in ids else ids
    state = guide.read(stream)
    if end not in ids:
        return False
    assert guide.is_final(state)
    text = tokenizer.decode(stream)
    assert tokenizer.encode(text).tolist() == stream
    assert language is None or regex.fullmatch(language, text)
    return True


SENTENCE = r"[a-z]{1,5}( [a-z]{1,4}){0,3}\."


@torch_is_needed
@pytest.mark.parametrize("name", ["demo", "gpt2"])
@pytest.mark.parametrize("language", [None, SENTENCE])
def test_a_thousand_samples_of_transformers(name: str, language: str | None, data: Path) -> None:
    """With GPT-2's own vocabulary, too: every sample is canonical, and in the language."""
    tokenizer = TOKENIZER if name == "demo" else tokdfa.load(data / "vocabs" / "gpt2" / "tokenizer.json")
    end = tokenizer.n_ids if name == "demo" else tokenizer.n_ids - 1
    n_ids = max(tokenizer.n_ids, end + 1)
    guide = tokenizer.guide(language, end=end, vocab_size=n_ids)
    model = model_of(n_ids, end)
    n_ended = 0
    for _ in range(4):
        for ids in generated(model, guide, 250, do_sample=True, top_k=0, max_new_tokens=40):
            n_ended += check_stream(guide, tokenizer, ids, end, language)
    assert n_ended == 1000 or language is None, n_ended


@torch_is_needed
@pytest.mark.parametrize("n_beams", [2, 5])
@pytest.mark.parametrize("language", [None, SENTENCE, "a (single|married) man"])
def test_beams_of_transformers(n_beams: int, language: str | None) -> None:
    """Beams are permuted; where the language has fewer texts than there are beams, the best is a text all the same."""
    end = TOKENIZER.n_ids
    guide = TOKENIZER.guide(language, end=end, vocab_size=end + 1)
    model = model_of(end + 1, end)
    for ids in generated(model, guide, 6, num_beams=n_beams, do_sample=False, max_new_tokens=40):
        assert check_stream(guide, TOKENIZER, ids, end, language) or language is None
    several = generated(model, guide, 3, num_beams=n_beams, num_return_sequences=2, do_sample=False, max_new_tokens=40)
    for ids in several:
        check_stream(guide, TOKENIZER, ids, end, language)
    assert len({tuple(ids) for ids in several[:2]}) == 2


@torch_is_needed
def test_beams_find_the_likeliest_text() -> None:
    """With as many beams as the language has texts, it is the one that all of them, scored one by one, say it is."""
    torch = pytest.importorskip("torch")
    end = TOKENIZER.n_ids
    texts = [f"a {kind} {who}" for kind in ("single", "married", "young") for who in ("man", "woman")]
    guide = TOKENIZER.guide("|".join(texts), end=end, vocab_size=end + 1)
    model = model_of(end + 1, end)
    scores = {}
    for text in texts:
        ids = [*TOKENIZER.encode(text).tolist(), end]
        with torch.no_grad():
            logits = model(torch.tensor([[5, 5, *ids]])).logits[0, 1:-1].log_softmax(-1)
        scores[text] = float(sum(row[id] for row, id in zip(logits, ids, strict=True)))
    (found,) = generated(model, guide, 1, num_beams=6, do_sample=False, max_new_tokens=20, length_penalty=0.0)
    assert TOKENIZER.decode(found[: found.index(end)]) == max(scores, key=scores.get)  # type: ignore[arg-type]


RECORD = r'\{"name": "[a-z]{1,8}", "age": [0-9]{1,2}\}'


@torch_is_needed
@pytest.mark.parametrize("engine", ["llguidance", "xgrammar"])
@pytest.mark.parametrize("language", [None, RECORD])
def test_masks_of_real_engines(engine: str, language: str | None, data: Path) -> None:
    """Random walks through both masks end with a text of the grammar, and all without a fallback are canonical."""
    pytest.importorskip(engine)
    path = data / "vocabs" / "gpt2" / "tokenizer.json"
    tokenizer = tokdfa.load(path)
    end = tokenizer.n_ids - 1
    guide = tokenizer.guide(language, end=end)
    matcher = of_engine(engine, path, RECORD, tokenizer.n_ids)
    dice = np.random.default_rng(1)
    n_canonical = n_fallbacks = 0
    for _ in range(50):
        fill, accept = matcher()
        both, chosen = Intersection(guide), list[int]()
        while end not in chosen:
            mask = allocate_bitmask(1, tokenizer.n_ids)
            fill(mask)
            before = mask.copy()
            both.narrow(mask)
            assert mask.any()
            assert not (mask & ~before).any()
            bits = np.unpackbits(mask[0].view(np.uint8), bitorder="little")[: tokenizer.n_ids]
            chosen.append(int(dice.choice(np.flatnonzero(bits))))
            accept(chosen[-1])
            if chosen[-1] != end:
                both.accept(chosen[-1])
        text = tokenizer.decode(chosen[:-1])
        assert regex.fullmatch(RECORD, text)
        is_canonical = tokenizer.encode(text).tolist() == chosen[:-1]
        assert is_canonical or both.fallbacks
        n_canonical += is_canonical
        n_fallbacks += both.fallbacks
    print(engine, language, n_canonical, "of 50 canonical,", n_fallbacks, "fallbacks")
    # A guide that knows the language leaves no way open that the grammar closes. Without it, xgrammar's masks let
    # through ids that are canonical so far, but not with the text that the grammar requires next.
    assert (n_canonical, n_fallbacks) == (50, 0) or (language is None and engine == "xgrammar" and n_fallbacks)


Followed = tuple[Callable[[Any], object], Callable[[int], object]]


def of_engine(engine: str, path: Path, language: str, n_ids: int) -> Callable[[], Followed]:
    """Makers of the masks of an engine for a regular expression, and of how it follows ids."""
    torch = pytest.importorskip("torch")
    if engine == "llguidance":
        llguidance = pytest.importorskip("llguidance")
        from llguidance.numpy import fill_next_token_bitmask

        theirs = llguidance.LLTokenizer(path.read_text("utf-8"), n_vocab=n_ids, eos_token=n_ids - 1)

        def of_llguidance() -> Followed:
            matcher = llguidance.LLMatcher(theirs, llguidance.LLMatcher.grammar_from_regex(language))
            return lambda mask: fill_next_token_bitmask(matcher, mask, 0), matcher.consume_token

        return of_llguidance
    xgrammar, transformers = pytest.importorskip("xgrammar"), pytest.importorskip("transformers")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path), eos_token="<|endoftext|>")
    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=n_ids, stop_token_ids=[n_ids - 1])
    compiled = xgrammar.GrammarCompiler(info).compile_regex(language)

    def of_xgrammar() -> Followed:
        matcher = xgrammar.GrammarMatcher(compiled)
        return lambda mask: matcher.fill_next_token_bitmask(torch.from_numpy(mask), 0), matcher.accept_token

    return of_xgrammar


def test_states_are_found_again_in_any_order() -> None:
    guide = TOKENIZER.guide("a (single|married) man", end=TOKENIZER.n_ids, vocab_size=TOKENIZER.n_ids + 1)
    states = SequenceStates(guide)
    ids = tuple(TOKENIZER.encode("a single man").tolist())
    assert states.after(ids) == guide.read(ids)
    assert states.after(ids[:1]) == guide.read(ids[:1])
    assert states.after((*ids, TOKENIZER.n_ids)) is None
    assert states.after((*ids, TOKENIZER.n_ids, 5, 5)) is None
    assert states.after((64, 261)) is None
    assert states.after((64, 261, 7, 9)) is None
    assert states.after(ids[:2]) == guide.read(ids[:2])
