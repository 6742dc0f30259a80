"""The parts of two tokenizers: the outcome of each, and claims that do not follow from them."""

from __future__ import annotations

from pathlib import Path

import pytest

import tokdfa
from tests.support.tokenizer_files import ranks, tiktoken_lines
from tokdfa import Tokenizer
from tokdfa.jobs.comparison.parts import Parts
from tokdfa.jobs.comparison.result import Outcome, Part
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import Behavior, Split, Splitting

TOO_LARGE = ("(a|b)*a(a|b){12}|.|\n", "(?:a|b)*a(?:a|b){12}|.|\n")


def load(path: Path, words: list[bytes], splitting: Splitting) -> Tokenizer:
    path.write_bytes(tiktoken_lines(ranks(words)))
    tokenizer = tokdfa.load(path, pretokenizer="none")
    tokenizer.pretokenizer = PreTokenizer(splitting)
    return tokenizer


def steps(*patterns: str, behavior: Behavior = "isolated") -> list[Splitting]:
    return [Splitting("tokenizers", (Split(pattern, behavior),)) for pattern in patterns]


@pytest.mark.parametrize(
    ("splittings", "outcome"),
    [
        (steps("a+|[^a]", "aa*|[^a]"), Outcome.SAME),
        (steps("a+|[^a]", "a|[^a]"), Outcome.DIFFERENT),
        # No automaton of them is built, or text is left out: that they are written differently says nothing.
        (steps(*TOO_LARGE), Outcome.UNKNOWN),
        (steps("a+|[^a]", TOO_LARGE[0]), Outcome.UNKNOWN),
        (steps(TOO_LARGE[0], TOO_LARGE[0]), Outcome.SAME),
        (steps("a+", "a", behavior="removed"), Outcome.UNKNOWN),
    ],
)
def test_pieces_are_compared_in_both_orders(tmp_path: Path, splittings: list[Splitting], outcome: Outcome) -> None:
    sides = [load(tmp_path / f"{i}.tiktoken", [b"ab"], splitting) for i, splitting in enumerate(splittings)]
    assert Parts(*sides, ignore_ids=False).report.checked[Part.PRETOKENIZER] is outcome
    assert Parts(*sides[::-1], ignore_ids=False).report.checked[Part.PRETOKENIZER] is outcome


@pytest.mark.parametrize("splittings", [steps("a+", "a", behavior="removed"), steps("a+|[^a]", "a|[^a]")])
def test_equivalence_does_not_follow_from_parts_that_are_not_the_same(
    tmp_path: Path, splittings: list[Splitting]
) -> None:
    sides = [load(tmp_path / f"{i}.tiktoken", [b"ab"], splitting) for i, splitting in enumerate(splittings)]
    assert not Parts(*sides, ignore_ids=False).are_same()
    assert Parts(sides[0], sides[0], ignore_ids=False).are_same()
