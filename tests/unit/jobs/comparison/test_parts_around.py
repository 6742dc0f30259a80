"""Comparing tokenizers that differ in the steps around the dictionary, confirmed by their libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support.tokenizer_files import RULES, added_token, as_bytes, tokenizer_json, vocabulary
from tokdfa import Tokenizer, compare
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.comparison.result import Outcome, Part
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

NFC = {"type": "NFC"}


class Sides:
    """Writes tokenizer.json files, and loads them with this package and with their library."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n = 0

    def __call__(self, **changes: Any) -> tuple[Tokenizer, Any]:
        tokenizers = pytest.importorskip("tokenizers")
        self.n += 1
        data = as_bytes(tokenizer_json(**changes))
        path = self.folder / f"{self.n}.json"
        path.write_bytes(data)
        return tokdfa.load(path), tokenizers.Tokenizer.from_buffer(data)


@pytest.fixture
def side(tmp_path: Path) -> Sides:
    return Sides(tmp_path)


def assert_different(
    one: tuple[Tokenizer, Any], other: tuple[Tokenizer, Any], text: str, *, proven: bool = True
) -> None:
    found = compare(one[0], other[0])
    assert found.witness.text == text
    libraries = [tuple(library.encode(text, add_special_tokens=False).ids) for _, library in (one, other)]
    assert [*found.witness[1:]] == libraries
    assert libraries[0] != libraries[1]
    assert found.checked[Part.SHORTEST] is (Outcome.PROVEN if proven else Outcome.UNPROVEN)


def test_normalizers(side: Sides) -> None:
    plain, nfc = side(), side(normalizer=NFC)
    # Of the symbols of two bytes that NFC replaces the Greek question mark becomes one of a single byte.
    assert_different(plain, nfc, "\u037e")
    assert compare(nfc[0], side(normalizer=NFC)[0])
    found = compare(plain[0], side(normalizer={"type": "Lowercase"})[0])
    assert found.witness.text == "A"
    assert found.checked[Part.NORMALIZER] is Outcome.DIFFERENT


def test_the_same_normalizer_behind_other_patterns(side: Sides) -> None:
    pattern = NAMED["cl100k"].steps[0].pattern
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}

    def split(text: str) -> dict[str, Any]:
        step = {"type": "Split", "pattern": {"Regex": text}, "behavior": "Isolated", "invert": False}
        return {"type": "Sequence", "pretokenizers": [step, byte_level]}

    one = side(normalizer=NFC, pre_tokenizer=split(pattern))
    other = side(normalizer=NFC, pre_tokenizer=split(NAMED["llama3"].steps[0].pattern))
    found = compare(one[0], other[0])
    assert found
    assert found.checked[Part.SEARCH] is Outcome.COMPLETE


def test_prefix_space(side: Sides) -> None:
    def byte_level(prefix: bool) -> dict[str, Any]:
        return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": True}

    without, with_space = (side(pre_tokenizer=byte_level(prefix)) for prefix in (False, True))
    # With the space it is one token.
    assert_different(without, with_space, "t")
    # Where both put in a space, the search goes over texts that begin with one.
    other = side(rules=[*RULES, (b" the", b"a")], pre_tokenizer=byte_level(True))
    assert_different(with_space, other, "thea")


def test_special_tokens(side: Sides) -> None:
    n = len(vocabulary())
    none, one = side(), side(added_tokens=[added_token(n, "<x>")])
    assert_different(none, one, "<x>")
    assert compare(one[0], side(added_tokens=[added_token(n, "<x>")])[0])
    assert_different(one, side(added_tokens=[added_token(n, "<y>")]), "<x>")
    # Found in its place, but with the space before it.
    stripping = side(added_tokens=[added_token(n, "<x>", lstrip=True)])
    assert_different(one, stripping, "\n<x>", proven=False)
    single = side(added_tokens=[added_token(n, "<x>", single_word=True)])
    assert_different(one, single, "1<x>", proven=False)
    # It is never found, for texts are cut at its beginning first.
    hidden = [added_token(n, "<x"), added_token(n + 1, "<x>", normalized=True)]
    with pytest.raises(UnsupportedFeatureError, match="their special tokens differ: '<x>'"):
        compare(side(added_tokens=hidden[:1])[0], side(added_tokens=hidden)[0])


def test_whole_pieces(side: Sides) -> None:
    # Merging never gives abc, for ab is merged before bc.
    dead = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]

    def model(whole: bool) -> dict[str, Any]:
        return {**tokenizer_json(dead)["model"], "ignore_merges": whole}

    one, other = (side(rules=dead, model=model(whole)) for whole in (False, True))
    assert [other[0].token(number) for number in other[0].whole_piece_tokens] == [b"abc"]
    assert_different(one, other, "abc")
    assert compare(other[0], side(rules=dead, model=model(True))[0])


@pytest.mark.parametrize(
    ("name", "pattern", "tables"),
    [
        pytest.param("cl100k", "llama3", ("tiktoken", "regex"), marks=pytest.mark.slow),
        pytest.param("o200k", "o200k", ("tiktoken", "regex"), marks=pytest.mark.slow),
        pytest.param("o200k", "o200k", ("tokenizers", "regex"), marks=pytest.mark.slow),
    ],
)
def test_two_versions_of_unicode(data: Path, name: str, pattern: str, tables: tuple[Any, Any]) -> None:
    pattern = NAMED[pattern].steps[0].pattern
    sides = []
    for table in tables:
        side = tokdfa.load(data / "vocabs" / f"{name}_base.tiktoken", pretokenizer="none")
        side.pretokenizer = PreTokenizer(Splitting(table, (Split(pattern),)))
        sides.append(side)
    found = compare(*sides)
    assert not found
    text = found.witness.text
    # Two letters of two bytes; one of the versions knows only one of them.
    assert len(text.encode()) == 4
    pieces = [side.pretokenizer.split_backtracking(text) for side in sides]
    assert pieces[0] != pieces[1]
    ids = [[i for piece in split for i in sides[0].encode_piece(piece)] for split in pieces]
    assert ids == [[*found.witness[1]], [*found.witness[2]]]
