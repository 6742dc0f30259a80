"""Random and exhaustive small dictionaries, for property tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from tokdfa import Dictionary


@st.composite
def proper_dictionaries(draw: st.DrawFn, symbols: str = "abc", max_rules: int = 8) -> Dictionary:
    """Proper dictionaries: every part is a symbol or an earlier product. Dead rules and u = v are common."""
    alphabet = draw(st.integers(1, len(symbols)).map(lambda size: symbols[:size]))
    tokens = list(alphabet)
    rules: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, max_rules))):
        # The last tokens are the likelier parts, so that long chains come up.
        part = st.one_of(st.sampled_from(tokens), st.sampled_from(tokens[-2:]))
        rule = (draw(part), draw(part))
        rules.append(rule)
        if rule[0] + rule[1] not in tokens:
            tokens.append(rule[0] + rule[1])
    return Dictionary.from_pairs(rules, alphabet)


def all_proper_dictionaries(symbols: str, n_rules: int, *, up_to_renaming: bool = False) -> Iterator[Dictionary]:
    """Every proper dictionary of exactly `n_rules` distinct rules over `symbols`.

    With `up_to_renaming`, of dictionaries that differ only in names of symbols, some are left out: if their first rule
    does not begin with the first symbol.
    """

    def extend(rules: list[tuple[str, str]], tokens: list[str]) -> Iterator[list[tuple[str, str]]]:
        if len(rules) == n_rules:
            yield rules
            return
        for u in tokens:
            for v in tokens:
                if (u, v) not in rules:
                    yield from extend([*rules, (u, v)], tokens if u + v in tokens else [*tokens, u + v])

    for rules in extend([], list(symbols)):
        if up_to_renaming and rules and not rules[0][0].startswith(symbols[0]):
            continue
        yield Dictionary.from_pairs(rules, symbols)


def all_rules_up_to_renaming(n_rules: int) -> Iterator[tuple[tuple[str, str], ...]]:
    """Every proper sequence of `n_rules` distinct rules over any symbols, which are named in the order of their use."""

    def extend(rules: tuple[tuple[str, str], ...], symbols: str, tokens: tuple[str, ...]) -> Iterator[Any]:
        if len(rules) == n_rules:
            yield rules
            return
        for u in (*tokens, chr(ord("a") + len(symbols))):
            with_u = symbols if u in tokens else symbols + u
            known = tokens if u in tokens else (*tokens, u)
            for v in (*known, chr(ord("a") + len(with_u))):
                if (u, v) not in rules:
                    with_v = with_u if v in known else with_u + v
                    yield from extend((*rules, (u, v)), with_v, tuple(dict.fromkeys((*known, v, u + v))))

    return extend((), "", ())


def all_words(symbols: str, longest: int) -> Iterator[str]:
    """Every word of up to `longest` symbols, the shortest first."""
    level = [""]
    for _ in range(longest + 1):
        yield from level
        level = [word + symbol for word in level for symbol in symbols]
