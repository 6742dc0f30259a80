"""bounds against brute force: random small tokenizers, languages and numbers of bytes, and all texts of a few bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import product

import pytest

import tokdfa
from tests.support.byte_tokenizers import tokenizer_of
from tests.support.canonical_by_definition import Definition
from tokdfa.base.errors import PatternError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.measures.extremes import Extreme
from tokdfa.tokenizers.tokenizer import Tokenizer

LONGEST = 6
RULES = [(b"a", b"b"), (b"b", b"a"), (b" ", b"a"), (b"\xc3", b"\xa9"), (b"ab", b"a"), (b"a", b"a"), (b"b", b"ab")]
PATTERNS = [None, " ?[ab]+|[^ab]+", "[a-z]| ?[^a-z]+", "a+|[^a]", "b+a|[^b]+|b+"]
# Of the characters of the languages, é and à have the same first byte.
LANGUAGES = ["[ab]+", "[ab é]+", "(ab)+|é{1,3}", "a{1,5}", "b?(é|à)*", "(aab| )+", "[abéà ]{0,4}", "(a|b ){2,3}", "b*a"]
CHARACTERS = "abéà "


@lru_cache
def texts_of(language: str) -> list[str]:
    """Return the texts of a language of up to `LONGEST` characters."""
    every = ("".join(text) for n in range(LONGEST + 1) for text in product(CHARACTERS, repeat=n))
    return [text for text in every if re.fullmatch(language, text)]


@lru_cache(maxsize=4)
def tokenizer_and_definition(seed: int) -> tuple[Tokenizer, Definition]:
    """Return a random tokenizer, and its canonical streams by the definition."""
    source = random.Random(seed)
    tokens, rules = {b"a", b"b", b" ", b"\xc3", b"\xa9"}, []
    for left, right in source.sample(RULES, len(RULES)):
        if {left, right} <= tokens and left + right not in tokens and source.random() < 0.7:
            rules.append((left, right))
            tokens.add(left + right)
    pattern = source.choice(PATTERNS)
    specials = source.choice([[], ["ba"], ["a b"]])
    tokenizer = tokenizer_of(rules, pattern, specials, finds_specials=source.random() < 0.7)
    return tokenizer, Definition(tokenizer, pattern)


def values(definition: Definition, texts: Iterable[str]) -> dict[str, tuple[Fraction | None, Fraction | None]]:
    """Return the least and greatest values of some texts, by brute force."""
    controls = {*definition.tokenizer.control_ids.tolist()}
    streams = [(text, ids) for text in texts if not controls & {*(ids := definition.encode(text))}]
    found: dict[str, list[Fraction]] = {"bytes": [], "characters": [], "tokens": []}
    for text, ids in streams:
        found["tokens"].append(Fraction(len(ids)))
        if ids:
            found["bytes"].append(Fraction(len(text.encode()), len(ids)))
            found["characters"].append(Fraction(len(text), len(ids)))
    return {name: (min(some, default=None), max(some, default=None)) for name, some in found.items()}


def assert_attained(found: Extreme, name: str, definition: Definition, language: str) -> None:
    """Assert that the text of a value has it; if a part is repeated, that the texts approach it."""
    assert list(found.ids) == definition.encode(found.text)
    assert re.fullmatch(language, found.text)
    size = {"bytes": len(found.text.encode()), "characters": len(found.text)}.get(name)
    if found.repeated is None:
        n = len(found.ids)
        assert found.value == (n if size is None else Fraction(size, n))
        return
    # The part is where the text with one part less has been cut.
    at = next(
        i
        for i in range(len(found.text))
        if found.text.startswith(found.repeated, i)
        and all(re.fullmatch(language, found.text[:i] + found.repeated * times + found.text[i:]) for times in (1, 5))
    )
    texts = [found.text[:at] + found.repeated * times + found.text[at:] for times in (10, 20)]
    tokens = [len(definition.encode(text)) for text in texts]
    assert tokens[1] > tokens[0]
    sizes = [len(text) if name == "characters" else len(text.encode()) for text in texts]
    rate = Fraction(sizes[1] - sizes[0], tokens[1] - tokens[0])
    assert found.value == (None if name == "tokens" else rate)


def outcomes(seeds: range, n_languages: int = 1) -> dict[str, int]:
    """Compare values with brute force; return how many cases there were of each kind.

    So many seeds in a row have one tokenizer.
    """
    seen = {"attained": 0, "approached": 0, "infinite": 0, "sized": 0, "no text": 0}
    for seed in seeds:
        source = random.Random(seed)
        tokenizer, definition = tokenizer_and_definition(seed // n_languages)
        language = source.choice(LANGUAGES)
        n_bytes = source.choice([None, source.randrange(1, LONGEST + 1)])
        texts = texts_of(language)
        expected = values(definition, texts)
        sized = values(definition, (text for text in texts if len(text.encode()) == n_bytes))
        try:
            found = tokdfa.bounds(tokenizer, language=language, n_bytes=n_bytes)
        except PatternError:
            seen["no text"] += 1
            assert (expected["bytes"] if n_bytes is None else sized["tokens"])[0] is None, (seed, language)
            continue
        expected["tokens"] = expected["tokens"] if n_bytes is None else sized["tokens"]
        for name, (least, greatest) in expected.items():
            extremes = getattr(found, name)
            for extreme, value, sign in ((extremes.fewest, least, 1), (extremes.most, greatest, -1)):
                assert extreme.is_exact, (seed, name)
                assert_attained(extreme, name, definition, language)
                if extreme.value is None:
                    seen["infinite"] += 1
                    continue
                # Texts that are longer than all of brute force may have a value that no short one has.
                assert value is None or sign * extreme.value <= sign * value, (seed, name)
                if len(extreme.text) <= LONGEST and extreme.repeated is None:
                    assert extreme.value == value, (seed, name)
                    seen["sized" if name == "tokens" and n_bytes is not None else "attained"] += 1
                elif extreme.repeated is not None:
                    seen["approached"] += 1
    return seen


def pairs_compared(seeds: range, n_languages: int = 1) -> dict[str, int]:
    """Compare the most tokens of another tokenizer with brute force; return how many cases there were of each kind."""
    seen = {"attained": 0, "approached": 0, "above 1": 0, "not exact": 0}
    for seed in seeds:
        source, number = random.Random(seed), seed // n_languages
        (first, of_first), (second, of_second) = map(tokenizer_and_definition, (2 * number, 2 * number + 1))
        language = source.choice([*LANGUAGES, "[abéà ]*"])
        controls = {*first.control_ids.tolist()}, {*second.control_ids.tolist()}
        ratios = []
        for text in texts_of(language):
            ids = of_first.encode(text), of_second.encode(text)
            if text and not any(control & {*part} for control, part in zip(controls, ids, strict=True)):
                ratios.append(Fraction(len(ids[1]), len(ids[0])))
        found = tokdfa.bounds(first, language=language, other=second).other
        assert found is not None
        assert found.value is not None
        assert found.proved is not None
        assert max(ratios, default=0) <= found.proved, (seed, language)
        assert re.fullmatch(language, found.text)
        counts = [(len(of_second.encode(found.text)), len(of_first.encode(found.text)))]
        if found.repeated is None:
            assert found.value == Fraction(*counts[0])
            seen["attained"] += 1
        else:
            at = found.text.index(found.repeated)
            before, after = found.text[:at], found.text[at:]
            texts = [before + found.repeated * times + after for times in (8, 16)]
            counts = [(len(of_second.encode(text)), len(of_first.encode(text))) for text in texts]
            assert found.value == Fraction(counts[1][0] - counts[0][0], counts[1][1] - counts[0][1]), (seed, found)
            seen["approached"] += 1
        seen["above 1"] += found.value > 1
        seen["not exact"] += not found.is_exact
    return seen


def test_brute_force_agrees_on_all_values() -> None:
    seen = outcomes(range(30))
    assert min(seen.values()) >= 2, seen


def test_brute_force_agrees_on_the_most_tokens_of_another_tokenizer() -> None:
    seen = pairs_compared(range(60, 80))
    assert min(seen["attained"], seen["approached"], seen["above 1"]) >= 1, seen
    assert not seen["not exact"]


@pytest.mark.slow
def test_brute_force_agrees_10_000_times() -> None:
    seen = outcomes(range(1000, 11_000), n_languages=8)
    assert min(seen.values()) >= 500, seen
    seen = pairs_compared(range(1000, 6000), n_languages=8)
    assert min(seen["attained"], seen["approached"], seen["above 1"]) >= 100, seen
    assert not seen["not exact"]


@pytest.mark.parametrize(
    ("language", "n_bytes", "words"),
    [
        ("[^\\x00-\U0010ffff]", None, "no text is in the language"),
        ("(<x>)*", None, "only the empty text"),
        ("<x>", None, "no text without control tokens"),
        ("", None, "only the empty text"),
        ("(é)*", 3, "no text of the language has 3 bytes"),
        ("<x>|aa", 3, "no text without control tokens has 3 bytes"),
    ],
)
def test_languages_without_texts_are_refused(language: str, n_bytes: int | None, words: str) -> None:
    tokenizer = tokenizer_of([(b"a", b"b")], specials=["<x>"], finds_specials=True)
    with pytest.raises(PatternError, match=words):
        tokdfa.bounds(tokenizer, language=language, n_bytes=n_bytes)


@pytest.mark.parametrize("n_bytes", [-1, 1 << 21, 0.5, True, "9"])
def test_other_numbers_of_bytes_are_refused(n_bytes: object) -> None:
    with pytest.raises(WrongTypeError, match="number of bytes"):
        tokdfa.bounds(tokdfa.default_tokenizer(), n_bytes=n_bytes)  # type: ignore[arg-type]


def test_other_models_are_refused_by_name() -> None:
    tokenizer = tokenizer_of([(b"a", b"b")], suffix="</w>")
    with pytest.raises(UnsupportedFeatureError, match="suffix"):
        tokdfa.bounds(tokenizer)
    with pytest.raises(UnsupportedFeatureError, match="suffix"):
        tokdfa.bounds(tokdfa.default_tokenizer(), other=tokenizer)


def test_the_empty_text_has_no_tokens() -> None:
    for language, n_bytes in (("a*", None), (None, 0)):
        found = tokdfa.bounds(tokdfa.default_tokenizer(), language=language, n_bytes=n_bytes).tokens
        assert found is not None
        assert (found.fewest.value, found.fewest.text) == (0, "")


def test_long_texts_have_as_many_bytes_as_asked_for() -> None:
    tokenizer = tokdfa.default_tokenizer()
    found = tokdfa.bounds(tokenizer, n_bytes=10_000).tokens
    assert found is not None
    for extreme in (found.fewest, found.most):
        assert extreme.is_exact
        assert len(extreme.text.encode()) == 10_000
        assert tokenizer.encode(extreme.text).tolist() == [*extreme.ids]
    assert (found.fewest.value, found.most.value) == (715, 10_000)


def test_without_time_a_bound_is_proved_and_has_a_text() -> None:
    # Two of the tokens in a row are merged otherwise, which only a search shows.
    tokenizer = tokenizer_of([(b"a", b"a"), (b"aa", b"a"), (b"b", b"a")], "[ab]+|[^ab]")
    exact = tokdfa.bounds(tokenizer, language="b?(aab)+").bytes.most
    assert (exact.is_exact, exact.is_timed_out) == (True, False)
    found = tokdfa.bounds(tokenizer, language="b?(aab)+", max_seconds=1e-9).bytes.most
    assert (found.is_exact, found.is_timed_out) == (False, True)
    assert found.value is not None
    assert found.proved is not None
    assert exact.value is not None
    assert found.value <= exact.value <= found.proved
    assert tokenizer.encode(found.text).tolist() == [*found.ids]
