"""The normal form of a splitting depends on its effect on texts, not on the spelling of its patterns."""

from __future__ import annotations

from itertools import combinations

from tokdfa.tokenizers.pretokenizers.normal_form import splitting_form
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

SPELLINGS = [
    {"a|b|[^ab]", "[ab]|[^ab]", "(?s:.)", "a|(?s:.)", "b(?!a)|(?s:.)"},
    {"a+|[^a]", "aa*|[^a]", "a+(?!a)|[^a]", "a{1,}|[^a]"},
    {"a+|[^a]+", "[^a]+|a+"},
    {"a{1,2}|[^a]", "aa?|[^a]"},
    {"'(?i:s)|(?s:.)", "'[sSſ]|(?s:.)"},
    {"'[sS]|(?s:.)", "'s|'S|(?s:.)"},
]


def test_patterns_that_split_alike() -> None:
    forms = [{splitting_form(Splitting("tiktoken", (Split(p),))) for p in alike} for alike in SPELLINGS]
    assert all(len(form) == 1 for form in forms)
    assert len(set().union(*forms)) == len(SPELLINGS)


def test_patterns_in_use() -> None:
    forms = {name: splitting_form(splitting) for name, splitting in NAMED.items()}
    alike = {(one, other) for one, other in combinations(sorted(forms), 2) if forms[one] == forms[other]}
    assert alike == {("gpt2", "gpt2_tiktoken")}
