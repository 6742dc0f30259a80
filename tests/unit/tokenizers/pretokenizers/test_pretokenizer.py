"""Pre-tokenizers: names, behaviors, refusals. Their pieces are compared with the libraries' in differential/."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from tests.support.live import KIMI
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting, behave


def test_names_are_spelled_as_in_use(data: Path) -> None:
    spellings = json.loads((data / "vocabs" / "patterns.json").read_text("utf-8")) | {"kimi": KIMI}
    assert set(spellings) == set(NAMED)
    for name, patterns in spellings.items():
        steps = [step.pattern for step in NAMED[name].steps]
        assert steps == ([patterns] if isinstance(patterns, str) else patterns)


@pytest.mark.parametrize("name", NAMED)
def test_pieces_and_spans_tell_the_same(name: str) -> None:
    text = "I've  got 12345 Straßen,\r\n\n\t中文x's!! \n"
    splitter = pretokenizer(name)
    assert splitter.split(text) == [text[start:end] for start, end in splitter.spans(text)]
    assert "".join(splitter.split(text)) == text
    assert splitter.split("") == []
    assert str(splitter) == name


def test_examples_are_split_as_published() -> None:
    assert pretokenizer("gpt2").split("\n\nfoo") == ["\n", "\n", "foo"]
    assert pretokenizer("cl100k").split("\n\nfoo") == ["\n\n", "foo"]
    assert pretokenizer("cl100k").split("x'\u017f") == ["x", "'\u017f"]
    assert pretokenizer("o200k").split("\u0295Ab") == ["\u0295", "Ab"]
    assert pretokenizer("gpt2").split("a\x1cb") == ["a", "\x1c", "b"]
    assert pretokenizer("deepseek").split("12345中文") == ["123", "45", "中文"]


def test_sequences_give_each_piece_an_end_of_text() -> None:
    spaces = Split(r"\s+(?!\S)|\s+|\S+")
    alone = PreTokenizer(Splitting("tokenizers", (spaces,)))
    after = PreTokenizer(Splitting("tokenizers", (Split("b"), spaces)))
    assert alone.split("a  b") == ["a", " ", " ", "b"]
    assert after.split("a  b") == ["a", "  ", "b"]


def test_spaces_put_before_pieces() -> None:
    pattern = Split(r" ?\w+|\W+")
    first = PreTokenizer(Splitting("tokenizers", (pattern,), prefix_space=0))
    assert first.split("ab cd") == [" ab", " cd"]
    assert first.spans("ab cd") == [(0, 2), (2, 5)]
    assert first.split(" ab") == [" ab"]
    assert first.split("!ab") == [" !", "ab"]
    assert first.spans("!ab") == [(0, 1), (1, 3)]
    last = PreTokenizer(Splitting("tokenizers", (pattern,), prefix_space=1))
    assert last.split("ab!cd") == [" ab", " !", " cd"]
    assert last.spans("ab!cd") == [(0, 2), (2, 3), (3, 5)]
    assert first.split("") == last.split("") == []


def test_a_space_put_before_may_be_a_piece_of_its_own() -> None:
    splitter = PreTokenizer(Splitting("tokenizers", (Split(" "),), prefix_space=0))
    assert splitter.split("ab") == [" ", "ab"]
    assert splitter.spans("ab") == [(0, 0), (0, 2)]


def test_tiktoken_drops_what_does_not_match_and_tokenizers_keeps_it() -> None:
    dropping = PreTokenizer(Splitting("tiktoken", (Split("a+"),)))
    keeping = PreTokenizer(Splitting("tokenizers", (Split("a+"),)))
    assert dropping.split("aabbca") == ["aa", "a"]
    assert keeping.split("aabbca") == ["aa", "bbc", "a"]
    assert dropping.drops_text
    assert not keeping.drops_text
    assert PreTokenizer(Splitting("tokenizers", (Split("a", "removed"),))).drops_text


@pytest.mark.parametrize(
    ("behavior", "pieces"),
    [
        ("removed", ["a", "c"]),
        ("isolated", ["b", "a", "b", "b", "c", "b"]),
        ("contiguous", ["b", "a", "bb", "c", "b"]),
        ("merged_with_previous", ["b", "ab", "b", "cb"]),
        ("merged_with_next", ["ba", "b", "bc", "b"]),
    ],
)
def test_behaviors_place_the_separator(behavior: str, pieces: list[str]) -> None:
    text = "babbcb"
    flagged = [((i, i + 1), symbol == "b") for i, symbol in enumerate(text)]
    assert [text[start:end] for start, end in behave(flagged, behavior)] == pieces  # type: ignore[arg-type]


def test_a_literal_is_no_pattern() -> None:
    splitter = PreTokenizer(Splitting("tokenizers", (Split("a.", literal=True),)))
    assert splitter.split("aba.b") == ["ab", "a.", "b"]


def test_equal_splittings_have_equal_representations() -> None:
    assert repr(PreTokenizer(NAMED["gpt2"])) == repr(PreTokenizer(NAMED["gpt2"]))
    assert len({repr(PreTokenizer(splitting)) for splitting in NAMED.values()}) == len(NAMED)


@pytest.mark.parametrize(
    ("pattern", "error", "what"),
    [
        ("no_such_name", PatternError, "no pre-tokenizer has this name"),
        ("", PatternError, "must not match the empty text"),
        ("a*", PatternError, "must not match the empty text"),
        (r"(?<=a|)*b", PatternError, "offset 0: an assertion is repeated"),
        (r"b(?:a?)*", PatternError, "offset 1: a split pattern must not repeat"),
        (r"(a)\1|b", PatternError, "back-reference"),
        ("(" * 100_000, LimitExceededError, "nested"),
    ],
)
def test_bad_patterns_are_refused(pattern: str, error: type[Exception], what: str) -> None:
    with pytest.raises(error, match=what):
        pretokenizer(pattern)


def test_tiktoken_has_one_step() -> None:
    for splitting in (
        Splitting("tiktoken", (Split("a"), Split("b"))),
        Splitting("tiktoken", (Split("a", "contiguous"),)),
        Splitting("tiktoken", (Split("a"),), prefix_space=0),
        Splitting("tiktoken"),
    ):
        with pytest.raises(PatternError, match="tiktoken splits by one pattern"):
            PreTokenizer(splitting)


O200K = NAMED["o200k"].steps[0].pattern


@pytest.mark.parametrize(
    ("pattern", "covers"),
    [
        (O200K, True),
        (r"\w+|\W", True),
        (r"a+|[^a]b?", True),
        (r"[^\s]+|\s+(?!\S)|\s+", True),
        (r"\p{L}+|\s", False),
        (r"\w+|[^\w\s]+", False),
        (r"\w+(?=.)|\W", False),
    ],
)
def test_keeping_the_matches_alone_isolates_them_where_they_cover_every_text(pattern: str, covers: bool) -> None:
    step = Split(pattern, "removed", invert=True)
    made = PreTokenizer(Splitting("tokenizers", (step,)))
    assert made.splitting.steps == (Split(pattern) if covers else step,)
    assert made.drops_text is not covers
    assert pickle.loads(pickle.dumps(made)).splitting == made.splitting
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "removed", invert=True)
    for text in ("", "a", "a b", " \n a1", "ab!!aa b\r\n", "É\u0300x 12345", "b" * 9):
        assert made.split(text) == [piece for piece, _ in theirs.pre_tokenize_str(text)]
