"""Whether forced text may be encoded separately, by brute force over all texts of finite languages."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest
import regex
from support.tokenizer_files import tiktoken_lines

import tokdfa
from tokdfa.errors import LimitExceededError, PatternError, WrongTypeError
from tokdfa.splitting.named import NAMED

TOKENIZER = tokdfa.default_tokenizer()


def forced_after(prefix: str, texts: set[str]) -> str:
    """The symbols that must follow a prefix."""
    found = ""
    while True:
        here = prefix + found
        following = {text[len(here)] for text in texts if text.startswith(here) and text != here}
        if here in texts or len(following) != 1:
            return found
        found += following.pop()


def test_random_finite_languages(tmp_path: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    source = random.Random(0)
    n_differing = n_same = 0
    for number in range(12):
        symbols = source.sample(["a", "b", " ", "é", "'", "1", "\n"], 4)
        data = "".join(source.choices(symbols, k=60)).encode()
        words = dict.fromkeys(data[at : at + source.randint(2, 4)] for at in source.sample(range(55), 10))
        ranks = {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), *words])}
        path = tmp_path / f"{number}.tiktoken"
        path.write_bytes(tiktoken_lines(ranks))
        name = source.choice(["gpt2_tiktoken", "cl100k"])
        pattern = NAMED[name].steps[0].pattern
        oracle = tiktoken.Encoding("oracle", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        parts = [["".join(source.choices(symbols, k=2)) for _ in range(n)] for n in (1, 2, 1, 2)]
        texts = {"".join(chosen) for chosen in product(*parts)}
        expected = set()
        for text in texts:
            ids = oracle.encode_ordinary(text)
            place = 0
            while place < len(ids):
                try:
                    prefix = oracle.decode_bytes(ids[:place]).decode()
                except UnicodeDecodeError:
                    place += 1
                    continue
                jump = oracle.encode_ordinary(forced_after(prefix, texts))
                if ids[place : place + len(jump)] != jump:
                    expected.add(text)
                    break
                place += max(len(jump), 1)
        found = tokdfa.forced(
            tokdfa.load(path, pretokenizer=name), "|".join(map(regex.escape, sorted(texts))), longest=20
        )
        assert bool(found) == (not expected), (texts, expected)
        sizes = [len(text.encode()) for text in expected]
        assert {n: count for n, count in found.differing.items() if count} == {n: sizes.count(n) for n in sizes}
        assert sum(found.texts.values()) == len(texts)
        n_differing += len(expected)
        n_same += len(texts) - len(expected)
        if expected:
            witness = found.witness
            assert witness is not None
            assert witness.text in expected
            assert len(witness.text.encode()) == min(sizes)
            assert list(witness.canonical_ids) == oracle.encode_ordinary(witness.text)
            prefix = witness.text.encode()[: witness.start_byte].decode()
            assert forced_after(prefix, texts) == witness.forced
            assert list(witness.forced_ids) == oracle.encode_ordinary(witness.forced)
            assert list(witness.canonical_ids[witness.start_token :])[: len(witness.forced_ids)] != [
                *witness.forced_ids
            ]
        else:
            assert found.witness is None
    assert n_differing > 10
    assert n_same > 10


def test_an_infinite_language() -> None:
    found = tokdfa.forced(TOKENIZER, "a( single)* man", longest=12)
    assert not found
    assert found.witness is not None
    assert (found.witness.text, found.witness.forced) == ("a man", "a ")
    assert {n: count for n, count in found.differing.items() if count} == {5: 1, 12: 1}
    # What is longer than all counted texts is decided all the same.
    short = tokdfa.forced(TOKENIZER, "a( single)* man", longest=3)
    assert not short
    assert short.witness is None
    assert tokdfa.forced(TOKENIZER, "[ab]+")


def test_bad_questions() -> None:
    with pytest.raises(WrongTypeError, match=r"^longest: a number of bytes is an integer that is not negative: -1$"):
        tokdfa.forced(TOKENIZER, "a", longest=-1)
    with pytest.raises(PatternError, match=r"^no text is in the language"):
        tokdfa.forced(TOKENIZER, r"a\bb")
    with pytest.raises(WrongTypeError, match=r"^a language is a regular expression or an automaton over bytes: None$"):
        tokdfa.forced(TOKENIZER, None)  # type: ignore[arg-type]


@pytest.mark.slow
def test_too_many_ways_are_refused() -> None:
    with pytest.raises(LimitExceededError, match=r"^the texts have more than \d+ moves over ids"):
        tokdfa.forced(TOKENIZER, "[a-z ]*x")
