"""Rules as arrays are the mapping that they were made of."""

from __future__ import annotations

import pickle
import random

import numpy as np

from tests.campaigns.tables.graphemes import charsmap
from tokdfa.tokenizers.formats.charsmap import read_charsmap
from tokdfa.tokenizers.models.unigram.character_rules import CharacterRules

LETTERS = "ab é\u0301中ﬁ\U0001f600"


def drawn_rules(dice: random.Random) -> dict[str, str]:
    words = ("".join(dice.choices(LETTERS, k=dice.choice([1, 1, 2, 3]))) for _ in range(dice.randint(1, 30)))
    return {word: dice.choice(["", " ", "  ", "x", "xé", "▁", "".join(dice.choices(LETTERS, k=3))]) for word in words}


def test_they_are_the_mapping() -> None:
    dice = random.Random(1)
    for _ in range(200):
        plain = drawn_rules(dice)
        for rules in (CharacterRules.of(plain), read_charsmap(charsmap(plain), "here")):
            probes = {
                *plain,
                *LETTERS,
                "",
                "\ud800",
                "zz",
                *(word[:1] for word in plain),
                *(word + "a" for word in plain),
            }
            # Before there is a dictionary, and after.
            for _ in range(2):
                assert {probe: rules.get(probe) for probe in probes} == {probe: plain.get(probe) for probe in probes}
                assert {probe for probe in probes if probe in rules} == {*probes} & plain.keys()
                assert rules.singles == {word: new for word, new in plain.items() if len(word) == 1}
                assert dict(rules) == plain
            assert len(rules) == len(plain)
            assert dict(pickle.loads(pickle.dumps(rules))) == plain
            assert CharacterRules.of(rules) is rules


def test_where_characters_are() -> None:
    dice = random.Random(2)
    for _ in range(100):
        plain = drawn_rules(dice)
        found = CharacterRules.of(plain).characters
        alone, inside, first = ({*map(chr, np.flatnonzero(marks).tolist())} for marks in found)
        assert alone == {word for word in plain if len(word) == 1}
        assert inside == {character for word in plain for character in word[1:]}
        assert first == {word[0] for word in plain if len(word) > 1}


def test_parts_of_words_and_of_replacements_in_use() -> None:
    dice = random.Random(3)
    n_found = 0
    for _ in range(200):
        plain = drawn_rules(dice)
        rules = CharacterRules.of(plain)
        for part in ("  ", "▁", " ", "é"):
            found = rules.first_with(part)
            assert (found is not None) == any(part in new for new in plain.values())
            assert found is None or (part in found and found in plain.values())
            assert rules.words_have(part) == any(part in word for word in plain)
            n_found += found is not None
    assert n_found > 50
    # Bytes that no rule uses do not count.
    table = bytearray(charsmap({"a": "b"}))
    assert read_charsmap(bytes(table) + b"  \0", "here").first_with("  ") is None


def test_no_rules_are_an_empty_mapping() -> None:
    empty = CharacterRules.of({})
    assert (dict(empty), len(empty), "a" in empty, empty.get("a"), empty.singles) == ({}, 0, False, None, {})
    assert not any(marks.any() for marks in empty.characters)


def test_many_look_ups() -> None:
    plain = {chr(0x4E00 + number): str(number % 7) for number in range(3_000)}
    rules = CharacterRules.of(plain)
    assert [rules[word] for word in plain] == [*plain.values()]
