"""Whether forced text may be encoded separately, by brute force over all texts of finite languages."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import regex

import tokdfa
from tests.support.guided import Guided, guided_in_form, guided_over_characters, guided_with_runs
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa.base.errors import LimitExceededError, PatternError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.guiding import fast_forward
from tokdfa.jobs.guiding.fast_forward import Limits
from tokdfa.tokenizers.pretokenizers.steps import NAMED

TOKENIZER = tokdfa.default_tokenizer()


@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_tokenizers_that_change_the_beginnings_of_texts_are_refused(seed: int, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFeatureError, match=r"^spaces at the beginning of texts are changed, so forced"):
        tokdfa.forced(guided_over_characters(seed, tmp_path).tokenizer, "a single man")


def forced_after(prefix: str, texts: set[str]) -> str:
    """The symbols that must follow a prefix."""
    found = ""
    while True:
        here = prefix + found
        following = {text[len(here)] for text in texts if text.startswith(here) and text != here}
        if here in texts or len(following) != 1:
            return found
        found += following.pop()


def check_random(source: random.Random, path: Path, symbols: list[str], pattern: str, texts: set[str]) -> int:
    """Compare the answer for random ranks with tiktoken; return the number of texts that differ."""
    tiktoken = pytest.importorskip("tiktoken")
    data = "".join(source.choices(symbols, k=60)).encode()
    words = dict.fromkeys(data[at : at + source.randint(2, 4)] for at in source.sample(range(55), 10))
    ranks = {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), *words])}
    path.write_bytes(tiktoken_lines(ranks))
    name = source.choice(["gpt2_tiktoken", "cl100k"])
    split = NAMED[name].steps[0].pattern
    oracle = tiktoken.Encoding("oracle", pat_str=split, mergeable_ranks=ranks, special_tokens={})
    return check(Guided(tokdfa.load(path, pretokenizer=name), oracle.encode_ordinary, symbols), pattern, texts)


def check(made: Guided, pattern: str, texts: set[str]) -> int:
    """Compare the answer for a tokenizer with its own library; return the number of texts that differ."""
    expected = set()
    kept = {text for text in texts if made.keeps(text)}
    for text in kept:
        ids = made.encode(text)
        place = 0
        while place < len(ids):
            try:
                prefix = made.tokenizer.decode_bytes(ids[:place]).decode()
            except UnicodeDecodeError:
                place += 1
                continue
            jump = made.encode(forced_after(prefix, texts))
            if ids[place : place + len(jump)] != jump:
                expected.add(text)
                break
            place += max(len(jump), 1)
    if not kept:
        return 0
    found = tokdfa.forced(made.tokenizer, pattern, longest=40)
    assert bool(found) == (not expected), (texts, expected)
    sizes = [len(text.encode()) for text in expected]
    assert {n: count for n, count in found.differing.items() if count} == {n: sizes.count(n) for n in sizes}
    assert sum(found.texts.values()) == len(kept)
    assert found.longest == 40
    if expected:
        witness = found.witness
        assert witness is not None
        assert witness.text in expected
        assert len(witness.text.encode()) == min(sizes)
        assert list(witness.canonical_ids) == made.encode(witness.text)
        prefix = witness.text.encode()[: witness.start_byte].decode()
        assert made.encode(prefix) == list(witness.canonical_ids[: witness.start_token])
        assert forced_after(prefix, texts) == witness.forced
        assert list(witness.forced_ids) == made.encode(witness.forced)
        assert list(witness.canonical_ids[witness.start_token :])[: len(witness.forced_ids)] != [*witness.forced_ids]
    else:
        assert found.witness is None
    return len(expected)


def test_random_finite_languages(tmp_path: Path) -> None:
    source = random.Random(3)
    n_differing = n_same = 0
    for number in range(12):
        symbols = source.sample(["a", "b", " ", "é", "'", "1", "\n"], 4)
        parts = [["".join(source.choices(symbols, k=2)) for _ in range(n)] for n in (1, 2, 1, 2)]
        texts = {"".join(chosen) for chosen in product(*parts)}
        pattern = "|".join(map(regex.escape, sorted(texts)))
        n = check_random(source, tmp_path / f"{number}.tiktoken", symbols, pattern, texts)
        n_differing += n
        n_same += len(texts) - n
    assert n_differing > 3
    assert n_same > 5


@pytest.mark.parametrize("make", [guided_in_form, guided_over_characters, guided_with_runs])
def test_languages_of_other_families(make: Callable[[int, Path], Guided], tmp_path: Path) -> None:
    n_differing = n_same = 0
    for seed in range(1, 36, 5):
        made, source = make(seed, tmp_path), random.Random(seed)
        decoded = (made.tokenizer.decode([id], errors="replace") for id in range(256, made.tokenizer.n_ids))
        # Text up to the middle of a token is forced.
        word = source.choice([text for text in decoded if len(text) > 1 and "\ufffd" not in text and text[0] != "<"])
        others = source.sample(made.symbols, 3)
        texts = {
            "".join(chosen) for chosen in product(["", others[0]], [word[0]], [word[1:], others[1]], ["", others[2]])
        }
        n_differing += check(made, "|".join(map(regex.escape, sorted(texts))), texts)
        n_same += sum(map(made.keeps, texts))
    assert n_differing > 3
    assert n_same > n_differing + 3


def test_random_records(tmp_path: Path) -> None:
    """Forced text around strings of some symbols, so that many states differ in the last id alone."""
    source = random.Random(4)
    n_some = 0
    for number in range(4):
        inner = source.sample(["a", "b", " ", "é", "'", "1"], 3)
        ends = source.sample(['"', "a", "'s", ' "', '":', "é "], 3)
        middles = ["".join(chosen) for n in range(1, 3) for chosen in product(inner, repeat=n)]
        texts = {ends[0] + middle + ends[1] + last for middle in middles for last in (ends[2], ends[2] + "1")}
        pattern = f"{ends[0]}[{''.join(inner)}]{{1,2}}{ends[1]}{ends[2]}1?"
        n = check_random(source, tmp_path / f"{number}.tiktoken", [*inner, *ends], pattern, texts)
        n_some += 0 < n < len(texts)
    assert n_some > 1


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
