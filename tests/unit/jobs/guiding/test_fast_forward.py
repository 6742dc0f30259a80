"""Whether forced text may be encoded separately: families with other beginnings of texts, limits and bad questions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import regex

import tokdfa
from tests.campaigns.standing.forcing import Judged, judge
from tests.support.guided import Guided, guided_in_form, guided_over_characters, guided_with_runs, guided_with_strips
from tests.support.seeds import seeds
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa.base.errors import LimitExceededError, PatternError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.guiding import fast_forward
from tokdfa.jobs.guiding.fast_forward import Limits

TOKENIZER = tokdfa.default_tokenizer()


@pytest.mark.parametrize("make", [guided_in_form, guided_over_characters, guided_with_runs, guided_with_strips])
def test_languages_of_other_families(make: Callable[[int, Path], Guided], tmp_path: Path) -> None:
    met: Counter[str] = Counter()
    for seed in seeds(20):
        made, source = make(seed, tmp_path), random.Random(seed)
        decoded = (made.tokenizer.decode([id], errors="replace") for id in range(256, made.tokenizer.n_ids))
        # Text up to the middle of a token is forced.
        word = source.choice([text for text in decoded if len(text) > 1 and "\ufffd" not in text and text[0] != "<"])
        others = source.sample(made.symbols, 3)
        texts = {
            "".join(chosen) for chosen in product(["", others[0]], [word[0]], [word[1:], others[1]], ["", others[2]])
        }
        pattern = "|".join(map(regex.escape, sorted(texts)))
        judged = Judged("", made.tokenizer, made.encode, made.tokenizer.decode_bytes, "")
        kept = {*filter(made.keeps, texts)}
        if kept:
            judge(judged, pattern, texts, kept, met)
    assert met["undecided"] == 0
    assert met["texts that differ"] > 3
    assert met["texts that do not differ"] > met["texts that differ"] + 3


def test_an_id_that_only_some_last_ids_allow(tmp_path: Path) -> None:
    """After `a`, `bx` cannot come, as `ab` is merged first; after `c` it can, and then `y` is not a token by itself."""
    ranks = {
        word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), b"ab", b"bx", b"xy", b"yz"])
    }
    path = tmp_path / "small.tiktoken"
    path.write_bytes(tiktoken_lines(ranks))
    tokenizer = tokdfa.load(path, pretokenizer="gpt2_tiktoken")
    assert tokdfa.forced(tokenizer, "(ab|cd)xy(z|w)")
    found = tokdfa.forced(tokenizer, "[ac][bd]xy(z|w)")
    assert not found
    assert found.witness is not None
    assert (found.witness.text, found.witness.forced, found.witness.canonical_ids) == ("cbxyz", "y", (99, 257, 259))
    assert (found.texts[5], found.differing[5]) == (8, 1)


def test_an_infinite_language() -> None:
    found = tokdfa.forced(TOKENIZER, "a( single)* man", longest=12)
    assert not found
    assert found.witness is not None
    assert (found.witness.text, found.witness.forced) == ("a man", "a ")
    assert {n: count for n, count in found.differing.items() if count} == {5: 1, 12: 1}
    # Texts longer than all counted ones are decided and found all the same.
    short = tokdfa.forced(TOKENIZER, "a( single)* man", longest=3)
    assert not short
    assert short.witness == found.witness
    assert short.texts == {0: 0, 1: 0, 2: 0, 3: 0}
    assert tokdfa.forced(TOKENIZER, "[ab]+")


def test_bad_questions() -> None:
    with pytest.raises(WrongTypeError, match=r"^longest: a number of bytes is an integer that is not negative: -1$"):
        tokdfa.forced(TOKENIZER, "a", longest=-1)
    with pytest.raises(PatternError, match=r"^no text is in the language"):
        tokdfa.forced(TOKENIZER, r"a\bb")
    with pytest.raises(WrongTypeError, match=r"^a language is a regular expression or an automaton over bytes: None$"):
        tokdfa.forced(TOKENIZER, None)  # type: ignore[arg-type]


def test_strings_of_many_tokens() -> None:
    few = Limits(max_counted=1 << 17)
    assert tokdfa.forced(TOKENIZER, r'\{"name": "[a-z]{1,5}"\}', longest=12, limits=few)
    found = tokdfa.forced(TOKENIZER, r'\{"name": "[^"\\]*", "age": [0-9]+\}', longest=30, limits=few)
    assert not found
    assert found.witness is not None
    text = found.witness.text
    assert regex.fullmatch(r'\{"name": "[^"\\]*", "age": [0-9]+\}', text)
    assert len(text) == len('{"name": "", "age": 0}')
    assert TOKENIZER.encode(text).tolist() == list(found.witness.canonical_ids)
    # There are too many ways to the longer texts to count them in a moment.
    assert found.longest < 30
    assert len(found.texts) == len(found.differing) == found.longest + 1


def test_limits_shorten_the_answer() -> None:
    question = r"x[a-c]{1,9}( man|ly)"
    full = tokdfa.forced(TOKENIZER, question, longest=12)
    part = tokdfa.forced(TOKENIZER, question, longest=12, limits=Limits(max_counted=300))
    assert 2 < part.longest < 12
    assert part.texts == {n: full.texts[n] for n in part.texts}
    assert part.differing == {n: full.differing[n] for n in part.texts}
    assert (part.holds, part.witness) == (full.holds, full.witness)
    assert tokdfa.forced(TOKENIZER, question, limits=Limits(max_searched=0)).witness is None
    with pytest.raises(LimitExceededError, match=r"^canonical ids lead through more than 10 moves \(use a narrower"):
        tokdfa.forced(TOKENIZER, question, limits=Limits(max_moves=10))


def test_a_text_that_encoding_does_not_confirm(monkeypatch: pytest.MonkeyPatch) -> None:
    question = "a (single|married) man"
    found = tokdfa.forced(TOKENIZER, question).witness
    assert found is not None
    for wrong in (
        replace(found, canonical_ids=(64, 261, 1193)),
        replace(found, forced="a", forced_ids=tuple(TOKENIZER.encode("a").tolist())),
        replace(found, start_byte=1),
    ):
        monkeypatch.setattr(fast_forward, "find_difference", lambda *given, wrong=wrong: wrong)
        with pytest.raises(UnsupportedFeatureError, match="encoding does not confirm the text that a search found"):
            tokdfa.forced(TOKENIZER, question)
