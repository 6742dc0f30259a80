"""Random patterns that ignore case, over the letters that Oniguruma matches with sequences: against tokenizers."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tests.support.seeds import seeds
from tests.support.splitting import pieces_of_tokenizers
from tokdfa.base.errors import PatternError
from tokdfa.regex.backtracking import compile_backtracking
from tokdfa.regex.syntax import is_nullable, parse
from tokdfa.regex.unicode import case_variants, characters_of, fold_expansions
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

pytest.importorskip("tokenizers")
FOLDS = {chr(symbol): sequence for symbol, sequence in fold_expansions("tokenizers").items()}
QUANTIFIERS = ["*", "+", "?", "+?", "{2}", "{1,2}", "{1}", "{1,1}", "{2,}?"]
COMMON = ["ß", "ẞ", "ﬀ", "ﬁ", "ﬃ", "ﬄ", "ﬅ", "ﬆ"]


class Grammar:
    """Patterns over the letters of two or three folds."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        chosen = dice.sample([*FOLDS], 2) if dice.random() < 0.5 else dice.sample(COMMON, 3)
        self.sequences = [FOLDS[symbol] for symbol in chosen]
        letters = {ord(letter) for sequence in self.sequences for letter in sequence}
        alike = {c for letter in letters for c in characters_of(case_variants(((letter, letter),), "tokenizers"))}
        same = [symbol for symbol, sequence in FOLDS.items() if sequence in self.sequences]
        self.symbols = sorted(alike | {*chosen, *same})

    def literals(self) -> str:
        if self.dice.random() < 0.7:
            word = self.dice.choice(self.sequences)
            swapped = "".join(each.swapcase() if self.dice.random() < 0.3 else each for each in word)
            return swapped if len(swapped) == len(word) else word
        symbol = self.dice.choice(self.symbols)
        return symbol if self.dice.random() < 0.8 else rf"\x{{{ord(symbol):x}}}"

    def bracket(self) -> str:
        dice = self.dice
        items = [*dice.choices(self.symbols, k=dice.randint(1, 3))]
        if dice.random() < 0.2:
            items.append(dice.choice([r"\p{Ll}", r"\P{L}", r"\W", "[:^upper:]", "a-z", "[^a-s]"]))
        if dice.random() < 0.1:
            items += ["&&", dice.choice(self.symbols), dice.choice(["a-z", r"\p{L}"])]
        return f"[{dice.choice(['', '', '^'])}{''.join(items)}]"

    def part(self, depth: int) -> str:
        dice, kind = self.dice, self.dice.random()
        if depth == 0 or kind < 0.5:
            text = self.bracket() if dice.random() < 0.25 else self.literals()
            return text + (dice.choice(QUANTIFIERS) if dice.random() < 0.15 else "")
        inner = self.pattern(depth - 1)
        if kind < 0.6:
            return f"(?:{inner}){dice.choice(['', *QUANTIFIERS])}"
        if kind < 0.65:
            return f"({dice.choice(['', '?>', '?-i:', '?#'])}{inner})" if "(" not in inner else inner
        if kind < 0.75:
            return f"(?{dice.choice(['=', '!', '<=', '<!'])}{inner})"
        return inner

    def pattern(self, depth: int) -> str:
        options = ["".join(self.part(depth) for _ in range(self.dice.randint(1, 3))) for _ in range(2)]
        return "|".join(options[: 1 + (self.dice.random() < 0.3)])

    def text(self) -> str:
        words = [*self.symbols, *self.sequences, *self.sequences, "x", "ss"]
        return "".join(self.dice.choices(words, k=self.dice.randint(1, 9)))


def of_library(pattern: str, text: str) -> list[tuple[str, bool]] | None:
    """Return what the library makes of a text; None if it refuses the pattern."""
    try:
        return pieces_of_tokenizers(pattern, text)
    except Exception:
        return None


def of_tree(pattern: str, text: str) -> list[str]:
    return [match.group() for match in compile_backtracking(parse(pattern, "tokenizers")).finditer(text)]


def check(seed: int, n_texts: int = 8, machine: bool = False) -> tuple[str, int, int]:
    """Return whether a pattern is refused, by us or the library, or compared; and counts of matches, and of folds."""
    dice = random.Random(seed)
    grammar = Grammar(dice)
    pattern = dice.choice(["(?i)", "(?i:"]) + grammar.pattern(dice.randint(0, 2))
    pattern += ")" * pattern.startswith("(?i:")
    try:
        tree = parse(pattern, "tokenizers")
    except PatternError as error:
        return str(error), 0, 0
    if is_nullable(tree):
        return "nullable", 0, 0
    splitter = PreTokenizer(Splitting("tokenizers", (Split(pattern),))) if machine else None
    n_matches = n_folds = 0
    for text in [grammar.text() for _ in range(n_texts)]:
        pieces = of_library(pattern, text)
        if pieces is None:
            return "refused by the library", 0, 0
        expected = [piece for piece, matched in pieces if matched]
        assert of_tree(pattern, text) == expected, (seed, pattern, text)
        if splitter is not None:
            assert splitter.split(text) == [piece for piece, _ in pieces], (seed, pattern, text)
        n_matches += len(expected)
        n_folds += sum(symbol in piece for piece in expected for symbol in FOLDS)
    return "", n_matches, n_folds


def check_all(tried: Sequence[int], machine: bool = False) -> tuple[int, int, int]:
    """Return the numbers of patterns compared, of matches, and of matches with a symbol that is a sequence, too."""
    found = [check(seed, machine=machine) for seed in tried]
    return sum(not refused for refused, *_ in found), sum(n for _, n, _ in found), sum(n for *_, n in found)


def test_sequences_are_matched_as_by_the_library() -> None:
    n_patterns, n_matches, n_folds = check_all(seeds(80))
    assert n_patterns > 50
    assert n_matches > 200
    assert n_folds > 50


def test_sequences_are_split_as_by_the_library() -> None:
    assert check_all(seeds(25), machine=True)[2] > 5


@pytest.mark.slow
def test_many_sequences_are_matched_as_by_the_library() -> None:
    assert check_all(seeds(20_000))[0] > 10_000


@pytest.mark.parametrize("symbol", [*FOLDS])
def test_every_letter_matches_its_sequence_and_back(symbol: str) -> None:
    sequence = FOLDS[symbol]
    texts = [symbol, sequence, sequence.upper(), sequence[:-1], f"x{symbol}{sequence}{symbol}", sequence * 2]
    for pattern in (symbol, sequence, f"[{symbol}]", f"[^{symbol}]", f"(?<={symbol})x", f"{sequence}+"):
        for text in (*texts, f"{symbol}x{sequence}x"):
            expected = [piece for piece, matched in of_library(f"(?i){pattern}", text) or [] if matched]
            assert of_tree(f"(?i){pattern}", text) == expected, (pattern, text)
