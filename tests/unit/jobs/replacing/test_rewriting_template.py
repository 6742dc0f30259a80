"""Templates and patterns as `regex.sub` reads them, or refused; nothing in between."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import regex

import tokdfa
from tokdfa.base.errors import PatternError, WrongTypeError

TOKENIZER = tokdfa.default_tokenizer()
TEXTS = [
    "a single man of large fortune; four or five thousand a year. ",
    "Mr. Bennet—it's 1.5% of £3,000\r\n\tIt is",
    "ааaé中文 x̂ \u200b 🙂🙂 zz",
    "foo_bar  baz\n\n\nqux",
    "aaaaabbbbbaaab",
    "{x} {e<=1} a{,} {dog}",
    "",
    " a",
]
PATTERNS = [
    *(r"(\w)(\w)?", r"(?P<n>[aeiou])|(?P<m>n)", r"(a)|(b)", r"x*", r"(?:(a)|b)*", r"\b", r"(?m)^|$", r"(?i)MAN"),
    *(r"b(?=a)", r"\s+", r"(.)\b(.)", r"(?s).", r"a{2,3}?", r"(a+)(a)", r"a++b", r"\Aa|z\Z", r"(?!a)", r"🙂", r".*?"),
    *(r"\p{L}+", r"(?m)$\n", r"(?=(a))a", r"()a", r"\d+(?:[.,]\d+)*%?", r"(?:a|ab)(?:c|bcd|b)*", r"\{x\}", r"{x}"),
    *(
        r"(a)\1",
        r"(?<=a)b",
        r"(?r)a",
        r"\X",
        r"a\Kb",
        r"(?|(a)|(b))",
        r"(?:a|b){e<=1}",
        r"a{i}",
        r"{dog}",
        r"a{1<=e<=2}",
    ),
    *(r"a{,}", r"a{1<=e<=2}", r"a{2i+d<3}", r"(?b)a", r"(?V1)[a-z--m]", r"[a&&b]"),
]
PARTS = [
    *(r"\1", r"\2", r"\g<0>", r"\g<1>", r"\g<n>", r"\g<m>", r"\n", r"\\", r"\0", r"\012", r"\101", r"\x41", r"\u00e9"),
    *("a", " ", "é", "{1}", "$1", "&", r"\g<", r"\q", r"\9", r"\g<9>", r"\g<zz>", "\\", r"\377", r"\400", r"\08"),
    *(r"\N{BULLET}", r"\g<-1>", r"\g<01>", "\n", r"\U0001F600", "\0"),
]


def assert_replaced_by_regex(dice: random.Random) -> str:
    pattern = dice.choice(PATTERNS)
    replacement = "".join(dice.choices(PARTS, k=dice.randrange(4)))
    text = "".join(dice.choices(TEXTS, k=dice.randrange(1, 4)))
    try:
        expected, count = regex.subn(pattern, replacement, text)
    except (regex.error, IndexError):
        with pytest.raises(PatternError):
            tokdfa.replace(TOKENIZER, pattern, replacement, TOKENIZER.encode(text))
        return "refused by both"
    try:
        found = tokdfa.replace(TOKENIZER, pattern, replacement, TOKENIZER.encode(text))
    except PatternError:
        return f"refused: {pattern}"
    shown = (pattern, replacement, text)
    assert found.ids.tolist() == TOKENIZER.encode(expected).tolist(), shown
    assert found.count == count, shown
    return "the same" if count else "no match"


def test_templates_and_patterns() -> None:
    dice = random.Random(4)
    met = Counter(assert_replaced_by_regex(dice) for _ in range(300))
    assert met["the same"] > 60, met
    assert met["refused by both"] > 60, met
    # Refused although the library reads it; a template may be refused even where nothing matches.
    assert sum(met.values()) - met["the same"] - met["no match"] - met["refused by both"] < 120, met


@pytest.mark.slow
def test_many_templates_and_patterns() -> None:
    dice = random.Random(5)
    print(Counter(assert_replaced_by_regex(dice) for _ in range(20_000)))


@pytest.mark.parametrize("pattern", ["a{e}", "(?:ab){e<=1}", "a{1<=e<=2}", "a{2i+1d<=3}", "a{,}", "a{s:[b]}"])
def test_what_regex_reads_otherwise_is_refused(pattern: str) -> None:
    assert regex.compile(pattern)
    with pytest.raises(PatternError, match=r"is not supported"):
        tokdfa.replace(TOKENIZER, pattern, "", [])
    with pytest.raises(PatternError, match=r"is not supported"):
        TOKENIZER.search(pattern, [])


@pytest.mark.parametrize("replacement", [len, 3, None, b"a", ["a"]])
def test_what_is_no_template(replacement: object) -> None:
    with pytest.raises(WrongTypeError, match=r"^a replacement must be a str: "):
        tokdfa.replace(TOKENIZER, "a", replacement, [])  # type: ignore[arg-type]
