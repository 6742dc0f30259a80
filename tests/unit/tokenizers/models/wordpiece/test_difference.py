"""Two tokenizers are distinguished by a shortest text, or proved to be alike."""

from __future__ import annotations

import random
from itertools import product

import pytest

from tests.support.dictionaries import all_words
from tokdfa.base.errors import AutomatonError, LimitExceededError
from tokdfa.tokenizers.models.wordpiece.difference import SeparatingText, first_difference
from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary


def _machine(entries: list[str] | dict[str, int], limit: int | None = 100, **settings: object) -> EndToEnd:
    return EndToEnd(WordPieceVocabulary(entries, longest_word=limit), **settings)  # type: ignore[arg-type]


BASE = ["[UNK]", "a", "b", "##a", "##b", "ab", "##ab"]


@pytest.mark.parametrize(
    ("other", "text"),
    [
        ([*BASE, "aba"], "aba"),
        ([*BASE, "##ba"], "bba"),
        ([*BASE, "##bb"], "bbb"),
        ([*BASE, "."], "."),
        ([*BASE, "##z"], "az"),
        (["[UNK]", "b", "a", *BASE[3:]], "a"),
        (BASE[1:], "!"),
    ],
)
def test_vocabularies_that_differ(other: list[str], text: str) -> None:
    ours, theirs = _machine(BASE), _machine(other)
    difference = first_difference(ours, theirs)
    assert difference == SeparatingText(text, (ours.try_encode(text), theirs.try_encode(text)))
    swapped = first_difference(theirs, ours)
    assert swapped is not None
    assert swapped.ids == difference.ids[::-1]
    assert len(swapped.text) == len(text)


@pytest.mark.parametrize(
    "other",
    [
        [*BASE, "[unused0]", "A", "##!", "##A", "", "a b", "##"],  # Never in a text.
        [*BASE, "##" + "b" * 100],  # Too long after any beginning.
    ],
)
def test_entries_without_effect_make_no_difference(other: list[str]) -> None:
    assert first_difference(_machine(BASE), _machine(other)) is None


def test_an_entry_that_longer_ones_keep_from_being_used() -> None:
    # After an a, every b goes to ab or ##ab, and nothing else precedes ##bb.
    entries = ["[UNK]", "a", "ab", "##a", "##ab", "abb", "##abb"]
    assert first_difference(_machine(entries), _machine([*entries, "##b"])) == SeparatingText("abbb", ((0,), (5, 7)))
    assert first_difference(_machine(["[UNK]", "a", "ab"]), _machine(["[UNK]", "a", "ab", "##b"])) == SeparatingText(
        "abb", ((0,), (2, 3))
    )
    assert first_difference(
        _machine(["[UNK]", "ab", "abb"]), _machine(["[UNK]", "ab", "abb", "##bb"])
    ) == SeparatingText("abbbb", ((0,), (2, 3)))


def test_limits_of_words_are_found() -> None:
    difference = first_difference(_machine(BASE, 7), _machine(BASE, 5))
    assert difference is not None
    assert len(difference.text) == 6
    assert difference.ids[1] == (0,)
    assert first_difference(_machine(["[UNK]", "abc", "##ab"], 6), _machine(["[UNK]", "abc", "##ab"], 5)) is None
    found = first_difference(_machine(["[UNK]", "abc", "##ab"], 7), _machine(["[UNK]", "abc", "##ab"], None))
    assert found is not None
    assert found.text == "abcababab"


def test_normalizers_and_specials() -> None:
    ours = _machine(BASE)
    found = first_difference(ours, _machine(BASE, normalizer=BertNormalizer(lowercase=False)))
    assert found == SeparatingText("A", ((1,), (0,)))
    found = first_difference(ours, _machine(BASE, added={"[UNK]": 0}))
    assert found is not None
    assert found.text == "[UNK]"
    found = first_difference(_machine(BASE, added={"[UNK]": 0}), _machine(BASE, added={"[UNK]": 5}))
    assert found == SeparatingText("[UNK]", ((0,), (5,)))
    with pytest.raises(LimitExceededError, match="not decided: the normalizers differ"):
        first_difference(_machine(["[UNK]"]), _machine(["[UNK]"], normalizer=BertNormalizer(lowercase=False)))
    with pytest.raises(AutomatonError, match="spell"):
        first_difference(ours, _machine(BASE, added={"ba": 5}))


def test_against_all_words_of_random_vocabularies() -> None:
    dice = random.Random(13)
    words = list(all_words("ab", 7))
    pieces = ["".join(word) for length in (1, 2, 3) for word in product("ab", repeat=length)]
    alike = 0
    for _ in range(30):
        entries = {"[UNK]": 0}
        for piece in pieces:
            for prefix in ("", "##"):
                if dice.random() < 0.4:
                    entries[prefix + piece] = len(entries)
        other = dict(entries)
        for _ in range(dice.randint(1, 2)):
            if dice.random() < 0.5 and len(other) > 1:
                del other[dice.choice(list(other)[1:])]
            else:
                other.setdefault("##" + dice.choice(pieces), 90 + dice.randrange(9))
        if len(set(other.values())) < len(other):
            continue
        ours, theirs = _machine(entries), _machine(other)
        brute = next((word for word in words if ours.try_encode(word) != theirs.try_encode(word)), None)
        found = first_difference(ours, theirs)
        assert (found is None) == (brute is None), (entries, other, found, brute)
        alike += found is None
        if found is not None and brute is not None:
            assert len(found.text) == len(brute)
            assert found.ids == (ours.try_encode(found.text), theirs.try_encode(found.text))
            assert found.ids[0] != found.ids[1]
    assert 1 < alike < 20


@pytest.mark.parametrize(("setting", "character"), [("clean_text", "\0"), ("chinese", "\u3400")])
def test_normalizers_that_differ_in_one_setting(setting: str, character: str) -> None:
    # A character that only one of them changes, where it comes between two letters at most.
    entries = ["[UNK]", "a", "##a", character, f"##{character}"]
    ours = _machine(entries, normalizer=BertNormalizer(lowercase=False, strip_accents=False))
    settings = {"lowercase": False, "strip_accents": False, setting: False}
    found = first_difference(ours, _machine(entries, normalizer=BertNormalizer(**settings)))
    assert found is not None
    assert len(found.text) <= 3
    assert character in found.text
