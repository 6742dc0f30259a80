r"""Random patterns with \X, \y and \Y, which are Oniguruma's, on texts of all kinds of symbols: against tokenizers."""

from __future__ import annotations

import random

import pytest

from tests.support.seeds import seeds
from tests.support.splitting import pieces_of_tokenizers
from tokdfa.base.errors import PatternError, UnsupportedFeatureError
from tokdfa.regex.backtracking import compile_backtracking
from tokdfa.regex.graphemes import _classes
from tokdfa.regex.syntax import is_nullable, parse
from tokdfa.regex.unicode import characters_of
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

pytest.importorskip("tokenizers")
KINDS = [[*characters_of(ranges)] for ranges in _classes().values()]
FLAGS = ["🇦", "🇧", "🇿"]
PARTS = [
    r"\X",
    r"\X",
    r"\X",
    r"\y",
    r"\Y",
    "a",
    r"\O",
    r"\N",
    "🇦",
    "\u200d",
    r"\p{M}",
    "[가각\u11a8]",
    "\r",
    "(?=\u0301)",
]
PATTERNS = [r"\X", r"\X{2}", r"a\X|\X", r"\X+?a", r"\O\Y", r"\y\O+?\y", r"\XX|\p{L}+"]


def a_text(dice: random.Random) -> str:
    """A text of few symbols, of kinds that belong together more often than not."""
    symbols = [dice.choice(dice.choice(KINDS)) for _ in range(dice.randint(1, 4))]
    symbols += dice.choice([FLAGS, ["\u200d", "😀", "\u0301"], ["a", "\r", "\n"], ["ᄀ", "ᅡ", "ᆨ", "가", "각"]])
    return "".join(dice.choices(symbols, k=dice.randint(1, 12)))


def a_pattern(dice: random.Random) -> str:
    def part() -> str:
        atom = dice.choice(PARTS)
        return atom + (dice.choice(["+", "*", "?", "{2}", "+?"]) if dice.random() < 0.3 else "")

    return "|".join("".join(part() for _ in range(dice.randint(1, 3))) for _ in range(dice.randint(1, 2)))


def check(seed: int) -> int:
    """Return the number of matches of several symbols in texts of a random pattern; 0 if that is not compared."""
    dice = random.Random(seed)
    pattern = a_pattern(dice)
    try:
        tree = parse(pattern, "tokenizers")
    except PatternError:
        return 0
    if is_nullable(tree):
        return 0
    program, n_long = compile_backtracking(tree), 0
    for text in [a_text(dice) for _ in range(10)]:
        expected = [piece for piece, matched in pieces_of_tokenizers(pattern, text) if matched]
        assert [match.group() for match in program.finditer(text)] == expected, (seed, pattern, text)
        n_long += sum(len(piece) > 1 for piece in expected)
    return n_long


def test_patterns_of_graphemes_match_as_the_library() -> None:
    assert sum(check(seed) > 3 for seed in seeds(60)) > 5


@pytest.mark.slow
def test_many_patterns_of_graphemes_match_as_the_library() -> None:
    assert sum(check(seed) > 3 for seed in seeds(5_000)) > 500


def assert_split_alike(pattern: str, n_texts: int) -> None:
    splitter = PreTokenizer(Splitting("tokenizers", (Split(pattern),)))
    assert splitter.splitter is not None
    dice = random.Random(pattern)
    for text in [a_text(dice) for _ in range(n_texts)]:
        assert splitter.split(text) == [piece for piece, _ in pieces_of_tokenizers(pattern, text)], (pattern, text)


def test_graphemes_are_split_by_a_machine() -> None:
    assert_split_alike(r"\X", 300)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
def test_many_graphemes_are_split_by_a_machine(pattern: str) -> None:
    assert_split_alike(pattern, 20_000)


@pytest.mark.parametrize("pattern", [r"a(?<=\X)", r"a(?<!\y)", r"(?y{w})\X", r"\y*"])
def test_unmodelled_graphemes_are_refused_by_name(pattern: str) -> None:
    with pytest.raises(PatternError):
        parse(pattern, "tokenizers")


def test_graphemes_of_other_versions_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedFeatureError, match="the graphemes of this version"):
        parse(r"\X", "tokenizers==0.20.3")
