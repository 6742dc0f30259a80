"""The last tokens that a continuation changes, against all continuations of all short texts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokdfa
from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tokdfa import Dictionary, LookAhead, SubsequentialTransducer, look_ahead, tokenize_single_pass
from tokdfa.base.errors import DictionaryError, ImproperDictionaryError


def revised(
    before: tuple[tokdfa.automata.alphabet.Word, ...], after: tuple[tokdfa.automata.alphabet.Word, ...], unit: str
) -> int:
    """Return the number of last tokens of one tokenization, or of their symbols, that another does not begin with."""
    same = next((i for i, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
    same = min(len(before), len(after)) if same is None else same
    return len(before) - same if unit == "tokens" else sum(map(len, before[same:]))


def of_words(dictionary: Dictionary, words: list[str], unit: str) -> int:
    """Return the most that one of the words changes of the tokenization of a prefix of its own."""
    tokens = {word: tokenize_single_pass(dictionary, word) for word in words}
    return max(revised(tokens[word[:i]], tokens[word], unit) for word in words for i in range(len(word)))


def check_attained(dictionary: Dictionary, found: LookAhead) -> None:
    before, after = (
        tokenize_single_pass(dictionary, text)
        for text in (found.text, found.text + found.continuation)  # type: ignore[operator]
    )
    assert revised(before, after, found.unit) == found.revised


def ranges(*, slow: bool) -> list[object]:
    # The words must be so long that they attain it; the smaller numbers of words do, too.
    quick = [("a", 1, 4), ("a", 2, 8), ("a", 3, 16), ("ab", 1, 4), ("ab", 2, 8)]
    long = [("a", 4, 40), ("ab", 3, 12), ("abc", 2, 8)]
    return [*quick, *(pytest.param(*each, marks=pytest.mark.slow) for each in long)] if slow else list(quick)


@pytest.mark.parametrize(("symbols", "n_rules", "longest"), ranges(slow=True))
def test_every_small_dictionary(symbols: str, n_rules: int, longest: int) -> None:
    words = list(all_words(symbols, longest))
    for dictionary in all_proper_dictionaries(symbols, n_rules, up_to_renaming=True):
        for unit in ("tokens", "symbols"):
            found = look_ahead(dictionary, unit)  # type: ignore[arg-type]
            assert found.revised == of_words(dictionary, words, unit), dictionary
            check_attained(dictionary, found)
            assert unit == "symbols" or found.revised <= len(dictionary.live_rules)


@pytest.mark.parametrize("n", range(7))
def test_the_doubling_family_attains_the_bound(n: int) -> None:
    dictionary = Dictionary([("a" * 2**i, "a" * 2**i) for i in range(n)], "a")
    tokens, symbols = look_ahead(dictionary), look_ahead(dictionary, "symbols")
    assert (tokens.revised, symbols.revised) == (n, 2**n - 1)
    assert tokens.text == symbols.text == "a" * (2**n - 1)
    check_attained(dictionary, tokens)


@given(proper_dictionaries(max_rules=10), st.text("abc", max_size=12), st.text("abc", max_size=6))
def test_no_continuation_changes_more(dictionary: Dictionary, text: str, continuation: str) -> None:
    symbols = set(map(str, dictionary.alphabet.symbols))
    text, continuation = ("".join(c for c in each if c in symbols) for each in (text, continuation))
    before, after = (tokenize_single_pass(dictionary, each) for each in (text, text + continuation))
    for unit in ("tokens", "symbols"):
        found = look_ahead(dictionary, unit)  # type: ignore[arg-type]
        assert revised(before, after, unit) <= found.revised
        check_attained(dictionary, found)


def test_it_is_the_delay_of_a_stream() -> None:
    draw = random.Random(3)
    dictionary = tokdfa.default_dictionary()
    tokens, delay = look_ahead(dictionary), look_ahead(dictionary, "symbols")
    check_attained(dictionary, tokens)
    transducer = SubsequentialTransducer(dictionary)
    stream = transducer.stream()
    # The text that attains it, and then one that only overlaps with itself as much as tokens do.
    stream.feed(delay.text)
    assert stream.delay == stream.longest_delay == delay.revised
    stream.finish()
    for token in draw.choices(list(dictionary.alphabet), k=2000):
        stream.feed(token)
    assert stream.longest_delay == delay.revised
    stream = transducer.stream()
    held = len(transducer(tokens.text)) - len(stream.feed(tokens.text))
    assert held == tokens.revised


def test_words_of_all_kinds() -> None:
    pairs = [("x", "y"), ("xy", "xy")]
    expected = ("xyx", "y")
    assert look_ahead(Dictionary(pairs)) == LookAhead(2, "tokens", *expected)
    of_bytes = look_ahead(Dictionary([(u.encode(), v.encode()) for u, v in pairs]))
    assert of_bytes == LookAhead(2, "tokens", b"xyx", b"y")
    symbols = Dictionary([(("s1",), ("s2",)), (("s1", "s2"), ("s1", "s2"))], [("s1",), ("s2",)])
    assert look_ahead(symbols) == LookAhead(2, "tokens", ("s1", "s2", "s1"), ("s2",))


def test_nothing_changes_without_rules() -> None:
    assert look_ahead(Dictionary([], "ab")) == LookAhead(0, "tokens", "", "")
    assert look_ahead(Dictionary([], "")) == LookAhead(0, "tokens", "", "")
    assert look_ahead(Dictionary([])) == LookAhead(0, "tokens", b"", b"")


def test_what_cannot_be_answered_is_refused() -> None:
    with pytest.raises(ImproperDictionaryError, match=r"^the dictionary is not proper"):
        look_ahead(Dictionary([("ab", "a"), ("a", "b")]))
    with pytest.raises(DictionaryError, match=r"^no such unit"):
        look_ahead(Dictionary([("a", "a")]), "bytes")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "tokens", "n_bytes"), [("gpt2", 38, 129)])
def test_real_dictionaries(data: Path, name: str, tokens: int, n_bytes: int) -> None:
    tokenizer = tokdfa.load(data / "vocabs" / name)
    dictionary = tokenizer.dictionary
    found, delay = look_ahead(dictionary), look_ahead(dictionary, "symbols")
    assert (found.revised, delay.revised) == (tokens, n_bytes)
    transducer = SubsequentialTransducer(dictionary)
    before, after = (transducer(text) for text in (found.text, found.text + found.continuation))  # type: ignore[operator]
    assert revised(before, after, "tokens") == tokens
