"""Several patterns at once, each with its own replacement: as one expression with a group for each of them."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import regex

import tokdfa
from tests.campaigns.standing.laws.replacing import TUNINGS, pattern_of
from tests.support import normalized
from tests.support.families import of_tokenizer_json
from tests.support.tuned import tuned
from tests.unit.jobs.replacing.test_api_random import plain_file
from tokdfa.base.errors import AlphabetError, PatternError, WrongTypeError

TOKENIZER = tokdfa.default_tokenizer()


def substituted(rules: dict[str, str], text: str) -> str:
    """Substitute by one expression: the group of a pattern that took part says which one matches."""
    first, groups = {}, 1
    for pattern in rules:
        first[pattern] = groups
        groups += 1 + regex.compile(pattern).groups

    def of(match: regex.Match[str]) -> str:
        pattern = next(pattern for pattern, group in first.items() if match.group(group) is not None)
        own = rules[pattern]
        return own.replace(r"\g<0>", match.group(0)).replace(
            r"\1", (match.group(first[pattern] + 1) or "") if r"\1" in own else ""
        )

    return regex.sub("|".join(f"({pattern})" for pattern in rules), of, text)


def drawn_rules(drawn: random.Random, text: str) -> dict[str, str]:
    rules = {}
    for _ in range(drawn.randrange(2, 4)):
        pattern = pattern_of(drawn, text)
        has_group = regex.compile(pattern).groups > 0
        rules[pattern] = drawn.choice(["", "a", " b", r"x\g<0>", r"\1 " if has_group else "bc"])
    return rules


def test_random_patterns_are_those_of_one_expression() -> None:
    met: Counter[str] = Counter()
    for seed in range(40):
        drawn = random.Random(seed)
        member = of_tokenizer_json("plain", {**plain_file(drawn), "added_tokens": []})
        assert member is not None
        for _ in range(8):
            text = normalized.text(drawn, 30)
            ids = member.encode(text)
            assert ids is not None
            try:
                rules = drawn_rules(drawn, text)
                replacer = tuned(tokdfa.Replacer, TUNINGS[0])(member.tokenizer, rules, None)
            except (regex.error, PatternError):
                continue
            expected = member.encode(substituted(rules, text))
            try:
                found = replacer.replace(ids)
            except AlphabetError:
                continue
            assert found.ids.tolist() == expected, (seed, rules, text)
            met["exact"] += 1
            met["changed"] += len(found.changes) > 0
            met["depends on neighbours"] += replacer._job.template.captures
            met["in the text"] += replacer._job.plan is None
    assert met["changed"] > 30, met
    assert min(met.values()) > 0, met


def test_the_pattern_that_matches_in_its_context_has_the_replacement() -> None:
    """Of the text of the match alone, the first pattern would be taken."""
    for rules, text, expected in [
        ({r"man\b": "X", "man": "Y"}, "man mankind", "X Ykind"),
        ({"a(?=b)": "X", "a": "Y"}, "ab ac", "Xb Yc"),
        ({"(?i:man)": "X", "woman": "Y"}, "Woman woman MAN", "WoX Y X"),
        ({"(?P<n>a)b": r"\g<n>1", "(?P<n>b)": r"\g<n>2"}, "abb", "a1b2"),
    ]:
        replacer = tokdfa.Replacer(TOKENIZER, rules, None)
        assert TOKENIZER.decode(replacer.replace(TOKENIZER.encode(text)).ids) == expected, rules


def test_several_patterns_have_no_other_replacement() -> None:
    with pytest.raises(WrongTypeError, match="each of several patterns has its own replacement, and no other: 'x'"):
        tokdfa.Replacer(TOKENIZER, {"a": "b"}, "x")
    with pytest.raises(WrongTypeError, match="a replacement must be a str"):
        tokdfa.Replacer(TOKENIZER, "a", None)
    with pytest.raises(PatternError, match="there is no pattern"):
        tokdfa.Replacer(TOKENIZER, {}, None)
    with pytest.raises(PatternError, match="no such group"):
        tokdfa.Replacer(TOKENIZER, {"a": "b", "(c)": r"\2"}, None)
