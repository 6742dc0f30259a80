"""Searching real streams: against RE2, `re` and `regex` on the decoded text of the corpora."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import regex

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tokdfa.jobs.searching.api import Matches, Searcher

CORPORA = ["english.txt", "python_code.txt", "multilingual.txt", "fra_eng_en.txt"]
VOCABULARIES = ["gpt2", "cl100k_base.tiktoken"]
# Read alike by RE2, re and regex.
PATTERNS = [
    "[0-9]{4}",
    "whale|import|Paris",
    "[A-Z][a-z]+ [A-Z][a-z]+",
    r"\b(?:def|class) [a-z_]+",
    r"(?m:^)[A-Z][^\n.]*\.(?m:$)",
    "[а-яё]{12,}",
    "(?:the|a|an) (?:[a-z]+ )?(?:man|men|house)",
    r"[a-z0-9._]+@[a-z0-9]+\.[a-z]+",
    '"[^"\n]*"',
    "(?:in)+g|ing?",
    ".{60,}",
]


@cache
def tokenizer(folder: Path, name: str) -> tokdfa.Tokenizer:
    found = tokdfa.load(folder / "vocabs" / name, pretokenizer=None if name == "gpt2" else "cl100k")
    assert isinstance(found, tokdfa.Tokenizer)
    return found


def stream(folder: Path, name: str, corpus: str, size: int | None) -> tuple[npt.NDArray[np.int32], str]:
    """The ids of the beginning of a corpus, and their text."""
    text = (folder / "corpora" / corpus).read_text("utf-8")[:size]
    ids = tokenizer(folder, name).encode(text)
    return ids, tokenizer(folder, name).decode(ids)


def spans(matches: Matches) -> list[tuple[int, int]]:
    return [(start, end) for start, end in matches.rows[:, :2].tolist()]


def in_bytes(engine: Iterator[Any], text: str) -> list[tuple[int, int]]:
    """The spans in bytes of an engine's matches in a text, empty matches left out."""
    lengths = np.fromiter((len(symbol.encode()) for symbol in text), dtype=np.int64, count=len(text))
    at = np.concatenate(([0], np.cumsum(lengths)))
    found = np.array([match.span() for match in engine if match.end() > match.start()], dtype=np.int64).reshape(-1, 2)
    return [(start, end) for start, end in at[found].tolist()]


def by_re2(pattern: str, text: str) -> list[tuple[int, int]]:
    re2 = pytest.importorskip("re2")
    options = re2.Options()
    options.longest_match = True
    return [match.span() for match in re2.compile(pattern.encode(), options).finditer(text.encode())]


def check_tokens(vocabulary: tokdfa.Tokenizer, ids: npt.NDArray[np.int32], matches: Matches) -> None:
    """The tokens of matches are those that have their first and last bytes."""
    ends = np.cumsum(np.diff(vocabulary.id_spellings.offsets)[ids])
    start, end, first, behind = matches.rows.T
    np.testing.assert_array_equal(first, np.searchsorted(ends, start, side="right"))
    np.testing.assert_array_equal(behind, np.searchsorted(ends, end - 1, side="right") + 1)


def assert_patterns_are_found(folder: Path, name: str, corpus: str, size: int | None, patterns: list[str]) -> None:
    vocabulary = tokenizer(folder, name)
    ids, text = stream(folder, name, corpus, size)
    for pattern in patterns:
        longest = Searcher(vocabulary, pattern, wanted="longest").search(ids)
        assert spans(longest) == by_re2(pattern, text), pattern
        check_tokens(vocabulary, ids, longest)
        first = Searcher(vocabulary, pattern, wanted="first").search(ids)
        assert spans(first) == in_bytes(re.finditer(pattern, text), text), pattern
        check_tokens(vocabulary, ids, first)


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("corpus", CORPORA[:3])
def test_patterns_are_found_in_corpora(data: Path, name: str, corpus: str) -> None:
    assert_patterns_are_found(data, name, corpus, 60_000, PATTERNS[:: 1 if name == "gpt2" else 3])


@pytest.mark.slow
@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("corpus", CORPORA)
def test_whole_corpora(data: Path, name: str, corpus: str, tally: Tally) -> None:
    assert_patterns_are_found(data, name, corpus, None, PATTERNS)
    tally("searching", "real texts", len(PATTERNS))


def random_pattern(dice: random.Random, text: str, depth: int = 3) -> str:
    """A pattern that is found here and there: stretches of the text, made vaguer."""
    kind = dice.random()
    if depth == 0 or kind < 0.3:
        start = dice.randrange(len(text) - 5)
        symbols = []
        for symbol in text[start : start + dice.randint(1, 4)]:
            vague = dice.random()
            if vague < 0.2:
                symbols.append(".")
            elif vague < 0.4 and symbol.isalpha() and symbol.isascii():
                symbols.append("[a-z]" if symbol.islower() else "[A-Z]")
            else:
                symbols.append(re.escape(symbol) if symbol != "\n" else r"\n")
        return "".join(symbols)
    parts = [random_pattern(dice, text, depth - 1) for _ in range(2)]
    if kind < 0.6:
        return "".join(parts)
    if kind < 0.8:
        return f"(?:{parts[0]}|{parts[1]})"
    return f"(?:{parts[0]}){dice.choice(['+', '?', '{1,2}', '{2}'])}{parts[1]}"


def assert_random_patterns_are_found(folder: Path, name: str, corpus: str, size: int, seed: int, count: int) -> None:
    dice = random.Random(seed)
    vocabulary = tokenizer(folder, name)
    ids, text = stream(folder, name, corpus, size)
    for _ in range(count):
        pattern = random_pattern(dice, text)
        for wanted, engine in (("longest", f"(?p)(?:{pattern})"), ("first", pattern)):
            found = Searcher(vocabulary, pattern, wanted=wanted).search(ids)  # type: ignore[arg-type]
            assert spans(found) == in_bytes(regex.finditer(engine, text), text), (pattern, wanted)
            check_tokens(vocabulary, ids, found)


@pytest.mark.parametrize("corpus", CORPORA[:3])
def test_random_patterns(data: Path, corpus: str) -> None:
    assert_random_patterns_are_found(data, "gpt2", corpus, 20_000, 1, 10)


@pytest.mark.slow
@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("corpus", CORPORA)
def test_many_random_patterns(data: Path, name: str, corpus: str, tally: Tally) -> None:
    assert_random_patterns_are_found(data, name, corpus, 200_000, 2, 150)
    tally("searching", "random cases", 150)


def broken_up(vocabulary: tokdfa.Tokenizer, ids: npt.NDArray[np.int32], dice: random.Random) -> npt.NDArray[np.int32]:
    """The same text in other tokens: some are cut in two, or into bytes."""
    text, offsets = vocabulary.id_spellings
    bounds = offsets.tolist()
    words = [text[start:stop].tobytes() for start, stop in pairwise(bounds)]
    of_text = {word: number for number, word in enumerate(words) if vocabulary.id_to_token[number] >= 0}
    other: list[int] = []
    for number in ids.tolist():
        word = words[number]
        place = dice.randint(1, len(word))
        parts = [word[:place], word[place:]] if dice.random() < 0.3 else [word]
        for part in filter(None, parts):
            other += [of_text[part]] if part in of_text else [of_text[bytes([byte])] for byte in part]
    return np.array(other, dtype=np.int32)


@pytest.mark.parametrize("name", VOCABULARIES)
def test_streams_that_are_not_canonical(data: Path, name: str) -> None:
    vocabulary = tokenizer(data, name)
    ids, text = stream(data, name, "multilingual.txt", 40_000)
    other = broken_up(vocabulary, ids, random.Random(3))
    assert len(other) > len(ids)
    assert vocabulary.decode(other) == text
    for pattern in PATTERNS:
        searcher = Searcher(vocabulary, pattern)
        found = searcher.search(other)
        assert spans(found) == spans(searcher.search(ids))
        check_tokens(vocabulary, other, found)


@pytest.mark.parametrize("size", [1, 1000, 65_536])
def test_chunks_make_no_difference(data: Path, size: int) -> None:
    ids, _ = stream(data, "gpt2", "python_code.txt", 20_000 if size == 1 else 400_000)
    for pattern in PATTERNS[:: 5 if size == 1 else 2]:
        searcher = Searcher(tokenizer(data, "gpt2"), pattern)
        chunks = (ids[start:stop] for start, stop in pairwise([*range(0, len(ids), size), len(ids)]))
        found = [row for matches in searcher.iter_matches(chunks) for row in matches]
        assert found == list(searcher.search(ids))


def test_aligned_words_are_found_where_the_tokens_are(data: Path) -> None:
    """Aligned to GPT-2's tokens, words are found where encoding them gives the tokens of the stream."""
    vocabulary = tokenizer(data, "gpt2")
    ids, text = stream(data, "gpt2", "english.txt", 100_000)
    ends = {0, *np.cumsum(np.diff(vocabulary.id_spellings.offsets)[ids]).tolist()}
    for word in (" the", "the", " whale", "ing", "e"):
        every = [(match.start(), match.end()) for match in re.finditer(word.encode(), text.encode())]
        expected = [span for span in every if ends.issuperset(span)]
        for pattern in (word, [word]):
            assert spans(vocabulary.search(pattern, ids, aligned=True)) == expected


def word_list(text: str, count: int) -> list[str]:
    words = sorted(set(regex.findall(r"\p{L}{4,}", text)))
    return random.Random(4).sample(words, min(count, len(words)))


def assert_words_are_found(folder: Path, corpus: str, size: int | None, count: int) -> None:
    ids, text = stream(folder, "gpt2", corpus, size)
    words = word_list(text, count)
    longest_first = sorted(words, key=len, reverse=True)
    data = text.encode()
    for wanted, listed in (("longest", longest_first), ("first", words)):
        found = Searcher(tokenizer(folder, "gpt2"), words, wanted=wanted).search(ids)  # type: ignore[arg-type]
        expected = regex.finditer(b"|".join(re.escape(word.encode()) for word in listed), data)
        assert spans(found) == [match.span() for match in expected]
        check_tokens(tokenizer(folder, "gpt2"), ids, found)


@pytest.mark.parametrize("corpus", CORPORA[:3])
def test_word_lists_are_found_in_corpora(data: Path, corpus: str) -> None:
    assert_words_are_found(data, corpus, 60_000, 300)


@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPORA)
def test_long_word_lists(data: Path, corpus: str) -> None:
    assert_words_are_found(data, corpus, 1_000_000, 3_000)
