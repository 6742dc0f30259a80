"""The alternative that made each piece, against named groups of the `regex` module on the patterns as written."""

from __future__ import annotations

import random

import pytest
import regex

from tokdfa.base.errors import LimitExceededError
from tokdfa.tokenizers.pretokenizers.explanation import alternatives, explain, look_aheads
from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

# Characters about which all versions of Unicode agree.
SYMBOLS = [*"aBzé的ʰ'streLvmd019²½ \t\n\r  /.,!?-_€́\u200b😀", "'s", "'t", "'re", "'VE", "'ve", "'m", "'ll", "'d"]
# The alternatives of patterns in use, written out by hand.
WRITTEN = {
    "gpt2": [
        "'s", "'t", "'re", "'ve", "'m", "'ll", "'d", r" ?\p{L}+", r" ?\p{N}+", r" ?[^\s\p{L}\p{N}]+", r"\s+(?!\S)",
        r"\s+",
    ],
    "cl100k": [
        "'(?i:[sdmt]|ll|ve|re)", r"[^\r\n\p{L}\p{N}]?+\p{L}++", r"\p{N}{1,3}+", r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
        r"\s++\Z", r"\s*[\r\n]", r"\s+(?!\S)", r"\s",
    ],
    "qwen2": [
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"[^\r\n\p{L}\p{N}]?\p{L}+", r"\p{N}", r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+",
    ],
}  # fmt: skip


def random_texts(count: int, longest: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices(SYMBOLS, k=draw.randrange(longest + 1))) for _ in range(count)]


def test_alternatives_are_those_of_the_outermost_bars() -> None:
    assert alternatives(Split(r"a|(b|c)|[|\]|]|\||(?:d|e)f|")) == ("a", "(b|c)", r"[|\]|]", r"\|", "(?:d|e)f", "")
    assert alternatives(Split("[]|]|[^]|]|x")) == ("[]|]", "[^]|]", "x")
    assert alternatives(Split("[a[b|]|]|c")) == ("[a[b|]|]", "c")
    assert alternatives(Split("a|b", literal=True)) == ("a|b",)


@pytest.mark.parametrize("name", WRITTEN)
def test_alternatives_agree_with_named_groups(name: str) -> None:
    written = regex.compile("|".join(f"(?P<g{number}>{part})" for number, part in enumerate(WRITTEN[name])))
    of = pretokenizer(name)
    assert len(alternatives(of.splitting.steps[0])) == len(WRITTEN[name])
    seen = set()
    for text in random_texts(400, 24, seed=1):
        (level,) = explain(of, text)
        expected = [(*match.span(), int(match.lastgroup[1:])) for match in written.finditer(text)]
        assert [(part.start, part.end, part.alternative) for part in level] == expected, text
        assert all(part.is_match for part in level)
        seen.update(part.alternative for part in level)
    # Matches of Qwen's last alternative are matched by the others before it or end the text.
    assert len(seen) >= len(WRITTEN[name]) - 1


@pytest.mark.parametrize("behavior", ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"])
@pytest.mark.parametrize("invert", [False, True])
def test_behaviors_agree_with_the_library(behavior: str, invert: bool) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    pattern = r"\d{1,2}|[ab]+|-"
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), behavior, invert)
    of = pretokenizer(Splitting("tokenizers", (Split(pattern, behavior, invert),)))
    draw = random.Random(2)
    n_matches = 0
    for _ in range(300):
        text = "".join(draw.choices("01ab-xé ", k=draw.randrange(12)))
        (level,) = explain(of, text)
        assert [(part.text, (part.start, part.end)) for part in level] == split.pre_tokenize_str(text)
        for part in level:
            first = regex.search(pattern, part.text)
            assert (part.alternative is None) == (first is None)
            if first is not None:
                kind = 0 if first.group().isdigit() else 1 if first.group().isalpha() else 2
                assert part.alternative == kind
                assert part.is_match == (first.group() == part.text) or part.text == first.group()
                n_matches += part.is_match
    assert n_matches > 100 or behavior != "isolated"


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "deepseek"])
def test_nothing_after_what_was_read_changes_a_piece(name: str) -> None:
    of = pretokenizer(name)
    draw = random.Random(3)
    farthest = 0
    for text in random_texts(120, 14, seed=4):
        looks = look_aheads(of.splitter, text)
        assert looks is not None
        assert [*looks] == of.spans_backtracking(text)
        for (start, end), look in looks.items():
            if look.to_end:
                assert look.symbols == len(text) - end
                continue
            farthest = max(farthest, look.symbols)
            for _ in range(3):
                other = text[: end + look.symbols] + "".join(draw.choices(SYMBOLS, k=draw.randrange(6)))
                assert (start, end) in of.spans_backtracking(other), (text, other)
    assert farthest >= 2


def test_how_far_the_machine_looks_is_known_for_white_space() -> None:
    looks = look_aheads(pretokenizer("gpt2").splitter, "a    b ")
    assert looks is not None
    # The space before b belongs to it, so the three before are settled by b; the last space, by the end alone.
    assert [(span, look.symbols, look.to_end) for span, look in looks.items()] == [
        ((0, 1), 1, False),
        ((1, 4), 2, False),
        ((4, 6), 1, False),
        ((6, 7), 0, True),
    ]
    assert look_aheads(None, "a") is None
    assert look_aheads(pretokenizer("gpt2").splitter, "\ud800") is None
    assert look_aheads(pretokenizer("gpt2").splitter, "") == {}


def test_steps_see_the_pieces_of_the_steps_before() -> None:
    of = pretokenizer("deepseek")
    for text in random_texts(80, 20, seed=5):
        first, _, last = explain(of, text)
        digits = [match.span() for match in regex.finditer(r"\p{N}{1,3}", text)]
        assert [(part.start, part.end) for part in first if part.alternative == 0] == digits
        assert [(part.start, part.end) for part in last] == of.spans_backtracking(text)
    splitting = Splitting("tokenizers", (Split(" ", "merged_with_next", literal=True), NAMED["gpt2"].steps[0]), 1)
    of = pretokenizer(splitting)
    for text in ("", "a b", " a", "a  b1"):
        *_, last = explain(of, text)
        assert [(part.start, part.end) for part in last] == of.spans_backtracking(text)
        assert [part.text for part in last] == of.split_backtracking(text)


def test_a_pattern_that_backtracks_is_given_up() -> None:
    of = pretokenizer(Splitting("tokenizers", (Split("(?:a|a)+b"),)))
    with pytest.raises(LimitExceededError, match="took more than"):
        explain(of, "a" * 64, max_seconds=0.05)
