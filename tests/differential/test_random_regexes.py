"""Random regular expressions, searched in random streams: against brute force by `regex`, and against RE2.

The brute force knows nothing of automata: it asks `regex` of every stretch of the text whether the pattern matches
there, the rest of the text being in sight, and picks by the definition of each preference.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any

import pytest
import regex

from tests.campaigns.evidence.tally import Tally
from tests.support.seeds import seeds
from tests.support.streams import Vocabulary
from tokdfa.base.errors import LimitExceededError
from tokdfa.jobs.searching.api import Match, Searcher

WANTED = ("longest", "first", "all")
# Time does not matter here, and machines may be busy.
SECONDS = 600

SYMBOLS = ["a", "b", "A", "_", "0", " ", "\n", "\r", "é", "ß", "中", "😀", "\u0301", "\u0660", "\u200b", "\U0010ffff"]
SPELLED = {"\n": r"\n", "\r": r"\r", "\u0301": r"\u0301", "\u200b": r"\u200b", "\U0010ffff": r"\U0010ffff"}
CLASSES = [r"\d", r"\D", r"\s", r"\S", r"\w", r"\W", r"\p{L}", r"\P{L}", r"\p{Lu}", r"\p{N}", ".", "[^\n]", "(?s:.)"]
IN_BRACKETS = ["a-c", "A-Z", r"\d", r"\s", r"\p{L}", r"\w", "é", "中", "😀", "α-ω", "_", "0-5"]
PLACES = [r"\b", r"\B", r"\A", r"\Z", "^", "$", "(?m:^)", "(?m:$)"]
NEXT = ["a", r"\s", r"\S", r"\w", "[^a]", r"\Z", r"b|\Z"]
REPEATED = ["*", "+", "?", "{2}", "{1,2}", "{0,2}", "{2,}", "{3}", "{,2}"]


class Grammar:
    """Patterns of one throw of the dice: which of the language's parts this pattern may have."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.symbols = dice.sample(SYMBOLS, dice.randint(2, 6))
        self.places = dice.random() < 0.5
        self.last_line = self.places and dice.random() < 0.3
        self.looks = dice.random() < 0.3
        self.lazy = dice.random() < 0.5

    def pattern(self, depth: int) -> tuple[str, bool]:
        """A pattern, and whether it may be empty."""
        dice = self.dice
        kind = dice.random()
        if depth == 0 or kind < 0.25:
            return self.atom()
        if kind < 0.55:
            parts = [self.pattern(depth - 1) for _ in range(dice.randint(2, 3))]
            return "".join(f"(?:{text})" if "|" in text else text for text, _ in parts), all(e for _, e in parts)
        if kind < 0.75:
            parts = [self.pattern(depth - 1) for _ in range(dice.randint(2, 4))]
            return "(?:" + "|".join(text for text, _ in parts) + ")", any(empty for _, empty in parts)
        text, empty = self.pattern(depth - 1)
        if empty:  # engines have their own ways with empty turns; tests/unit/regex/test_subset.py has regex's
            return text, True
        operator = dice.choice(REPEATED)
        mode = "?" if self.lazy and dice.random() < 0.4 else "+" if len(text) == 1 and dice.random() < 0.1 else ""
        return f"(?:{text}){operator}{mode}", operator in ("*", "?", "{0,2}", "{,2}")

    def atom(self) -> tuple[str, bool]:
        dice = self.dice
        kind = dice.random()
        if self.places and kind < 0.2:
            place = dice.choice(PLACES)
            return (place if self.last_line or place != "$" else r"\Z"), True
        if self.looks and kind < 0.35:
            return f"(?{dice.choice('=!')}{dice.choice(NEXT)})", True
        if kind < 0.7:
            return self.symbol(), False
        if kind < 0.8:
            return dice.choice(CLASSES), False
        inside = [dice.choice(IN_BRACKETS) if dice.random() < 0.4 else self.symbol() for _ in range(dice.randint(1, 3))]
        return f"[{dice.choice(['', '^'])}{''.join(inside)}]", False

    def symbol(self) -> str:
        symbol = self.dice.choice(self.symbols)
        return SPELLED.get(symbol, symbol)


def stream(dice: random.Random, symbols: list[str], longest: int) -> tuple[str, Vocabulary, list[int]]:
    """A text, a vocabulary that spells it, and its ids, cut at any bytes."""
    text = "".join(dice.choices(symbols if dice.random() < 0.7 else SYMBOLS, k=dice.randint(0, longest)))
    data = text.encode()
    bounds = sorted({0, len(data), *dice.choices(range(len(data) + 1), k=dice.randint(0, len(data)))})
    words = [data[start:end] for start, end in pairwise(bounds)]
    distinct = list(dict.fromkeys([*words, b"", b"a", *(bytes([byte]) for byte in data[:3])]))
    ids = [distinct.index(word) for word in words]
    for _ in range(dice.randint(0, 2)):
        ids.insert(dice.randint(0, len(ids)), distinct.index(b""))
    return text, Vocabulary(distinct), ids


def matching_ends(pattern: str, text: str) -> list[list[int]]:
    """For each place of the text where it may be matched from, the ends of all its matches but the empty one.

    Every stretch is asked for separately, as one that is followed by a number of symbols and the end.
    """
    n = len(text)
    programs = [regex.compile(f"(?:{pattern})(?=(?s:.{{{n - end}}})\\Z)", regex.V0) for end in range(n + 1)]
    return [[end for end in range(start + 1, n + 1) if programs[end].match(text, start)] for start in range(n)]


def by_definition(pattern: str, text: str, wanted: str, ends: list[list[int]]) -> list[tuple[int, int]]:
    """The stretches that are to be found, in code points, of those that match."""
    if wanted == "all":
        return sorted(((i, j) for i in range(len(text)) for j in ends[i]), key=lambda span: span[::-1])
    found, start = [], 0
    while start < len(text):
        if not ends[start]:
            start += 1
            continue
        end = max(ends[start])
        if wanted == "first":
            behind = "|".join(f"(?s:.{{{len(text) - end}}})" for end in ends[start])
            match = regex.compile(f"(?:{pattern})(?=(?:{behind})\\Z)", regex.V0).match(text, start)
            assert match
            end = match.end()
        found.append((start, end))
        start = end
    return found


def in_bytes(spans: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    at = list(accumulate((len(symbol.encode()) for symbol in text), initial=0))
    return [(at[start], at[end]) for start, end in spans]


def check_tokens(vocabulary: Vocabulary, ids: list[int], matches: list[Match]) -> None:
    """The tokens of a match are those that have its first and its last byte."""
    ends = list(accumulate(len(vocabulary.words[number] or b"") for number in ids))
    for match in matches:
        assert match.start_token == next(i for i, end in enumerate(ends) if end > match.start_byte)
        assert match.end_token == next(i for i, end in enumerate(ends) if end >= match.end_byte) + 1


def spans(matches: list[Match]) -> list[tuple[int, int]]:
    return [(match.start_byte, match.end_byte) for match in matches]


def in_chunks(searcher: Searcher, ids: list[int], dice: random.Random) -> list[Match]:
    bounds = sorted({0, len(ids), *dice.choices(range(len(ids) + 1), k=3)})
    chunks = [ids[start:end] for start, end in pairwise(bounds)]
    return [match for matches in searcher.iter_matches(chunks) for match in matches]


# There regex 2026.11.15 overlooks a match that it finds when the stretch is all of the text, and that re finds.
OVERLOOKED = {14755}


def check(seed: int) -> int:
    """Check the pattern of a seed, and return the number of matches."""
    if seed in OVERLOOKED:
        return 0
    dice = random.Random(seed)
    grammar = Grammar(dice)
    pattern, _ = grammar.pattern(dice.randint(2, 4))
    text, vocabulary, ids = stream(dice, grammar.symbols, 8)
    ends = matching_ends(pattern, text)
    count = 0
    for wanted in WANTED:
        if wanted == "all" and "$" in pattern.replace("(?m:$)", ""):
            continue  # refused: $ holds at two places
        expected = in_bytes(by_definition(pattern, text, wanted, ends), text)
        searcher = Searcher(vocabulary, pattern, wanted=wanted, max_seconds=SECONDS)  # type: ignore[arg-type]
        found = list(searcher.search(ids))
        assert spans(found) == expected, (seed, wanted, pattern, text, ids)
        check_tokens(vocabulary, ids, found)
        assert in_chunks(searcher, ids, dice) == found, (seed, wanted, pattern, text, ids)
        count += len(found)
    return count


def assert_each_or_refused(check: Callable[[int], int], tried: range) -> None:
    """Check all seeds; hardly any pattern may be refused for its size, and none for its time."""
    refused: dict[int, str] = {}
    for seed in tried:
        try:
            check(seed)
        except LimitExceededError as error:
            refused[seed] = error.what
    print(f"{len(tried)} patterns, {len(refused)} refused for their size: {list(refused)}")
    assert not any("seconds" in what for what in refused.values()), refused
    assert len(refused) <= 1 + 0.005 * len(tried), refused


def test_random_patterns() -> None:
    """A good part of the patterns finds something."""
    tried = seeds(60)
    assert sum(check(seed) > 0 for seed in tried) > 0.3 * len(tried)


@pytest.mark.slow
def test_many_random_patterns(tally: Tally) -> None:
    assert_each_or_refused(check, seeds(5_000))
    tally("splitting", "random cases", len(seeds(5_000)))


# RE2: its classes are of ASCII, its matches of whole code points.

RE2_CLASSES = [".", "[ab]", "[^a]", "[a-zé]", "[^中]", "(?s:.)", "[0-9]", r"\pL", r"[\pN_]"]


class PlainGrammar(Grammar):
    """The patterns that RE2 reads as regex does."""

    def atom(self) -> tuple[str, bool]:
        if self.places and self.dice.random() < 0.2:
            return self.dice.choice([r"\A", "(?m:^)", "(?m:$)"]), True
        if self.dice.random() < 0.7:
            return regex.escape(self.dice.choice(["a", "b", "é", "中", "😀", " ", "0"]), literal_spaces=True), False
        return self.dice.choice(RE2_CLASSES), False


def by_re2(pattern: str, text: str, wanted: str) -> list[tuple[int, int]]:
    re2 = pytest.importorskip("re2")
    options = re2.Options()
    options.longest_match = wanted == "longest"
    options.log_errors = False
    matches: Any = re2.compile(pattern, options).finditer(text)
    return [match.span() for match in matches if match.end() > match.start()]


def check_re2(seed: int) -> int:
    dice = random.Random(seed)
    pattern, nullable = PlainGrammar(dice).pattern(dice.randint(2, 4))
    pattern = pattern.replace("{,", "{0,").replace("*+", "*").replace("++", "+").replace("?+", "?").replace("}+", "}")
    ours = pattern.replace(r"\pL", r"\p{L}").replace(r"\pN", r"\p{N}")
    text, vocabulary, ids = stream(dice, ["a", "b", "é", "中", "😀", " ", "0", "\n"], 60)
    count = 0
    for wanted in ("longest",) if nullable else ("longest", "first"):  # an empty match is one that is preferred
        searcher = Searcher(vocabulary, ours, wanted=wanted, max_seconds=SECONDS)  # type: ignore[arg-type]
        found = list(searcher.search(ids))
        assert spans(found) == in_bytes(by_re2(pattern, text, wanted), text), (seed, wanted, pattern, text, ids)
        count += len(found)
    return count


def test_random_patterns_of_re2() -> None:
    tried = seeds(60)
    assert sum(check_re2(seed) > 0 for seed in tried) > 0.3 * len(tried)


@pytest.mark.slow
def test_many_random_patterns_of_re2(tally: Tally) -> None:
    assert_each_or_refused(check_re2, seeds(10_000))
    tally("splitting", "random cases", len(seeds(10_000)))


# Lists of words


def assert_words_are_found(seed: int) -> int:
    """Words of bytes, cut anywhere: as an alternation of `regex`, and by trying every word at every place."""
    dice = random.Random(seed)
    alphabet = dice.choice(["ab", "aé", "ab中😀", "abcdefgh"])
    spelled = ("".join(dice.choices(alphabet, k=dice.randint(1, 5))) for _ in range(dice.randint(1, 12)))
    listed = list(dict.fromkeys(spelled))
    text, vocabulary, ids = stream(dice, [*alphabet, "\n"], 40)
    data = text.encode()
    words = [word.encode() for word in listed]
    given = [word if dice.random() < 0.5 else word.encode() for word in listed]
    every = sorted(((at, at + len(word)) for at in range(len(data)) for word in words if data.startswith(word, at)),
                   key=lambda span: span[::-1])  # fmt: skip
    expected = {"all": every}
    for wanted, order in (("longest", sorted(words, key=len, reverse=True)), ("first", words)):
        expected[wanted] = [match.span() for match in regex.finditer(b"|".join(map(regex.escape, order)), data)]
    for wanted in WANTED:
        searcher = Searcher(vocabulary, given, wanted=wanted)  # type: ignore[arg-type]
        found = list(searcher.search(ids))
        assert spans(found) == expected[wanted], (seed, wanted, given, text, ids)
        check_tokens(vocabulary, ids, found)
        assert in_chunks(searcher, ids, dice) == found, (seed, wanted, given, text, ids)
    return len(every)


def test_random_lists_of_words() -> None:
    tried = seeds(150)
    assert sum(assert_words_are_found(seed) > 0 for seed in tried) > 0.5 * len(tried)


@pytest.mark.slow
def test_many_random_lists_of_words(tally: Tally) -> None:
    for seed in seeds(10_000):
        assert_words_are_found(seed)
    tally("splitting", "random cases", len(seeds(10_000)))
