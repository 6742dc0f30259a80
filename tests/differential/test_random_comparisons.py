"""Random pairs of dictionaries for `compare`: its answer is tried on all short texts, by Algorithm 1 as printed."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.campaigns.evidence.tally import Tally
from tests.support.dictionaries import all_words
from tests.support.seeds import seeds
from tokdfa import Dictionary, compare, tokenize_single_pass


def random_dictionary(source: random.Random, symbols: str) -> list[tuple[str, str]]:
    """Return the rules of a proper dictionary."""
    tokens = list(symbols)
    rules: list[tuple[str, str]] = []
    for _ in range(source.randrange(8)):
        # The last tokens are the likelier parts, so that long chains come up.
        rule = tuple(source.choice(source.choice((tokens, tokens[-3:]))) for _ in range(2))
        if len("".join(rule)) <= 6 and rule not in rules:
            rules.append(rule)  # type: ignore[arg-type]
            tokens.append("".join(rule))
    return rules


def changed(source: random.Random, rules: list[tuple[str, str]], tokens: list[str]) -> list[tuple[str, str]]:
    """Return the rules with one or two left out, moved or put in."""
    rules = list(rules)
    for _ in range(source.choice((1, 1, 2))):
        kind = source.random()
        if kind < 0.4 and rules:
            rules.insert(source.randrange(len(rules)), rules.pop(source.randrange(len(rules))))
        elif kind < 0.7 and rules:
            rules.pop(source.randrange(len(rules)))
        else:
            rules.insert(source.randrange(len(rules) + 1), (source.choice(tokens), source.choice(tokens)))
    return list(dict.fromkeys(rules))


def check_dictionaries(seed: int) -> str:
    """Fail if the answer about two dictionaries is wrong on a short text, or another difference is less."""
    source = random.Random(seed)
    symbols = source.choice(("ab", "ab", "abc"))
    rules = random_dictionary(source, symbols)
    tokens = [*symbols, *("".join(rule) for rule in rules)]
    others = changed(source, rules, tokens) if source.random() < 0.7 else random_dictionary(source, symbols)
    a, b = (Dictionary(side, symbols) for side in (rules, others))
    if not (a.properness() and b.properness()):
        return "improper"
    found = compare(a, b)
    assert bool(compare(b, a)) == bool(found)
    if found.witness is not None:
        text, *sides = found.witness
        assert sides == [tokenize_single_pass(side, text) for side in (a, b)]
        assert sides[0] != sides[1]
    longest = {2: 9, 3: 6}[len(symbols)]
    for word in all_words(symbols, longest):
        of_a, of_b = (tokenize_single_pass(side, word) for side in (a, b))
        if of_a != of_b:
            assert found.witness is not None, word
            key = len(word), len(of_a) + len(of_b), word
            text, *sides = found.witness
            assert (len(text), len(sides[0]) + len(sides[1]), text) <= key, word
            break  # The rest is longer, or as long and greater; tokens of equally long texts are compared below.
    return "equivalent" if found else "different"


def assert_pairs_agree(chosen: range) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for seed in chosen:
        try:
            outcomes[check_dictionaries(seed)] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
    return outcomes


def test_random_pairs() -> None:
    outcomes = assert_pairs_agree(range(120))
    assert min(outcomes["equivalent"], outcomes["different"]) >= 15, outcomes


@pytest.mark.slow
def test_many_random_pairs(tally: Tally) -> None:
    chosen = seeds(1000)
    print(dict(assert_pairs_agree(chosen)), "of", len(chosen), "pairs")
    tally("comparison", "random cases", len(chosen))
