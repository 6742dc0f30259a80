"""Regular expressions as DFAs: against the engines, on everything short."""

from __future__ import annotations

import re
import time
from itertools import islice

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.dictionaries import all_words
from tests.support.inclusion import equivalence
from tests.support.patterns import patterns, texts
from tokdfa import TokenAlphabet, TokenDFA
from tokdfa.automata.boolean import complement, intersection, union
from tokdfa.automata.language import Language
from tokdfa.automata.lift import language
from tokdfa.base.errors import LimitExceededError, PatternError

SYMBOLS = "abcé😀 \n"
BYTES = bytes(range(256))


def _accepts(dfa: TokenDFA, text: str) -> bool:
    word = text.encode() if dfa.alphabet.kind == "bytes" else text
    return dfa.accepts(dfa.alphabet.base_tokenization(word))


@given(patterns(), st.lists(texts(6), max_size=20))
def test_words_are_those_that_re_matches(pattern: str, words: list[str]) -> None:
    over_bytes, over_characters = language(pattern, BYTES), language(pattern, SYMBOLS)
    for word in words:
        expected = re.fullmatch(pattern, word) is not None
        assert _accepts(over_bytes, word) == _accepts(over_characters, word) == expected


@settings(max_examples=50)
@given(patterns(anchors=True, last_line=True, empty_turns=True))
@example("a$\n|b$")
@example(r"\b")
@example(r"(?:a|\b )+c?")
@example("(?m:^)a(?m:$)\n(?m:^)")
def test_anchors_on_all_short_words(pattern: str) -> None:
    over_bytes, over_characters = language(pattern, BYTES), language(pattern, "ab \n")
    program = regex.compile(pattern)
    for word in all_words("ab \n", 4):
        expected = program.fullmatch(word) is not None
        assert _accepts(over_bytes, word) == _accepts(over_characters, word) == expected


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        (r"\p{Lu}\p{Ll}+", ["Ärger", "Ωmega", "Ab"], ["ab", "AB", "A", ""]),
        (r"(?i)straSSe", ["STRASSE", "strasse"], ["stras e"]),
        (r"(?i)K", ["k", "K", "\N{KELVIN SIGN}"], ["c"]),
        (r"[^\W\d_]+", ["abc", "äöü", "日本"], ["a1", "_", ""]),
        (r"\x41\u00e9\U0001F600", ["Aé😀"], ["A"]),
        (r"(?s:.)(?-s:.)", ["\na"], ["a\n"]),
        (r"a(?=b)b|c(?!d).", ["ab", "ce"], ["a", "cd"]),
        (r"a++b|c?+c", ["aab", "cc"], ["b", "c"]),
        (r"(?>ab)c", ["abc"], ["ab"]),
        (r"", [""], ["a"]),
    ],
)
def test_what_can_be_written(pattern: str, inside: list[str], outside: list[str]) -> None:
    dfa = language(pattern, BYTES)
    assert [word for word in inside if not _accepts(dfa, word)] == []
    assert [word for word in outside if _accepts(dfa, word)] == []
    assert all(regex.fullmatch(pattern, word) for word in inside)
    assert not any(regex.fullmatch(pattern, word) for word in outside)


@pytest.mark.parametrize("name", ["L", "Lu", "N", "Nd", "P", "S", "Z", "Han", "Cyrillic", "White_Space"])
def test_unicode_properties_are_those_of_regex(name: str) -> None:
    dfa = language(rf"\p{{{name}}}", BYTES)
    member = regex.compile(rf"\p{{{name}}}").fullmatch
    step = dfa.step
    for code_point in range(0, 0x110000, 1 if name == "Lu" else 7):
        if 0xD800 <= code_point < 0xE000:
            continue
        state: int | None = dfa.initial
        for byte in chr(code_point).encode():
            state = None if state is None else step(state, byte)
        assert (state is not None and dfa.is_final(state)) == (member(chr(code_point)) is not None), hex(code_point)


@settings(max_examples=50)
@given(patterns(), patterns())
def test_operators_of_patterns_are_those_of_automata(first: str, second: str) -> None:
    def of(pattern: str) -> TokenDFA:
        return language(pattern, SYMBOLS)

    a, b = of(first), of(second)
    assert equivalence(of(f"(?:{first})|(?:{second})"), union(a, b))
    assert equivalence(of(f"(?:{first}){{0}}"), of(""))
    assert equivalence(of(f"(?:{first})?"), union(a, of("")))
    assert equivalence(intersection(a, complement(a, len(SYMBOLS))), of("[^\\s\\S]"))


@settings(max_examples=30)
@given(patterns())
def test_the_result_is_minimal(pattern: str) -> None:
    dfa = language(pattern, BYTES)
    assert dfa == dfa.minimize()


def test_longer_symbols_are_read_character_by_character() -> None:
    dfa = language("(lo)*w</w>", ["lo", "w", "</w>", "l"])
    assert [dfa.alphabet.spell(member) for member in islice(Language(dfa), 2)] == [
        (("w",), ("</w>",)),
        (("lo",), ("w",), ("</w>",)),
    ]


def test_symbols_outside_the_alphabet_make_no_words() -> None:
    assert Language(language("[a-z]{2}", TokenAlphabet("ab"))).count(2) == 4
    assert Language(language("x", "ab")).is_empty()
    assert Language(language("é|a", b"abc")).count(1) == 1
    assert Language(language("[^\\s\\S]", BYTES)).is_empty()


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (r"(a)\1", "reference"),
        ("(?<=a)b", "look-behind"),
        ("a(?=bc)", "look-ahead of more than one symbol"),
        ("(?>a|ab)c", "atomic group"),
        ("(?:ab)*+", "possessive repetition"),
        ("(a", "."),
        ("a**", "."),
        (r"\p{Nonsense}", "."),
    ],
)
def test_what_automata_cannot_do_is_refused_by_name(pattern: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        language(pattern, "ab")


def test_nesting_has_no_depth_that_matters() -> None:
    with pytest.raises(LimitExceededError, match="nested"):
        language("(" * 100_000 + "a" + ")" * 100_000, "ab")
    assert _accepts(language("(" * 50 + "a" + ")*" * 50, "ab"), "aaaa")


def test_explosions_end_in_time() -> None:
    assert language("(a|b)*a(a|b){9}", "ab").n_states == 2**10
    with pytest.raises(LimitExceededError, match="more than 2000 states"):
        language("(a|b)*a(a|b){40}", "ab", max_states=2000)
    start = time.monotonic()
    with pytest.raises(LimitExceededError, match=r"takes more than 0\.2 seconds"):
        language("(a|b)*a(a|b){40}", "ab", max_states=10**9, max_seconds=0.2)
    assert time.monotonic() - start < 5
    with pytest.raises(LimitExceededError, match="instructions"):
        language("(((a{1000}){1000}){1000})", "ab")
