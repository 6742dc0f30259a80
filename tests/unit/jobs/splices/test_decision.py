"""Tests for `tokdfa.jobs.splices.decision`: special tokens that must be followed, and questions not searched."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tokenizers

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.automata.texts import ANYTHING, language_of, literal, regular
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.splices.decision import Ground, Marks, ground_of
from tokdfa.tokenizers.tokenizer import Tokenizer


def ground(*texts: str, **changes: object) -> Ground:
    """Return what seams are searched in, with special tokens of these texts."""
    added = [added_token(256 + number, text) for number, text in enumerate(texts)]
    tokenizer = tokdfa.load(tokenizer_json([], added_tokens=added, **changes))
    assert isinstance(tokenizer, Tokenizer)
    return ground_of(tokenizer)


SOME = language_of("any", ANYTHING)


def test_special_tokens_that_no_language_distinguishes_are_not_followed() -> None:
    assert ground("<x>", "<y>").tracked(SOME, SOME) == set()


def test_of_special_tokens_that_can_replace_each_other_the_least_is_followed() -> None:
    trimmed = language_of("trimmed", regular(r"(\S(.*\S)?)?", "regex", "trimmed"))
    assert ground("<yy>", "<z>", "<x>").tracked(SOME, trimmed) == {"<x>"}
    # One that the language distinguishes from the others is followed, too.
    odd = language_of("odd", regular(r"(?:[^z]*z[^z]*z)*", "regex", "odd"))
    assert ground("<yy>", "<z>", "<x>").tracked(SOME, odd) == {"<x>", "<z>"}


def test_special_tokens_that_overlap_are_followed_together() -> None:
    after = language_of("after", literal("a<x", "after"), ANYTHING)
    assert ground("<x>", ">>", "|y|").tracked(SOME, after) == {"<x>", ">>"}


def test_after_a_special_token_no_space_is_put() -> None:
    """Where a space is put only before a text, a text can begin without it after a special token."""
    vocab = {word: id for id, word in enumerate(("a", "b", "\u2581", "\u2581a", "ba", "aa", "ab"))}
    merges = [["\u2581", "a"], ["b", "a"], ["a", "a"], ["a", "b"]]
    content = tokenizer_json(
        [],
        added_tokens=[added_token(7, "<x>")],
        decoder={"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": False},
    )
    content["model"] |= {"vocab": vocab, "merges": merges}
    content["pre_tokenizer"] = {
        "type": "Metaspace",
        "replacement": "\u2581",
        "prepend_scheme": "first",
        "split": False,
    }
    tokenizer = tokdfa.load(content)
    found = tokdfa.splice(tokenizer, before="a", within_before="(.*[^a])?a", after="b").witness
    assert found is not None
    assert (found.before, found.after) == ("<x>a", "b")
    library = tokenizers.Tokenizer.from_str(json.dumps(content))
    assert library.encode("<x>ab").tokens == ["<x>", "ab"]


@pytest.mark.parametrize("flag", ["lstrip", "rstrip", "single_word"])
def test_special_tokens_that_depend_on_their_neighbours_are_not_searched(flag: str) -> None:
    tokenizer = tokdfa.load(tokenizer_json([], added_tokens=[{**added_token(256, "<x>"), flag: True}]))
    assert isinstance(tokenizer, Tokenizer)
    with pytest.raises(UnsupportedFeatureError, match="a special token depends on its neighbours"):
        Ground(tokenizer)


def with_metaspace(content: str) -> dict[str, Any]:
    """Return a tokenizer.json without merges that puts a space before each text and after each special token."""
    space = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    fields = tokenizer_json([], added_tokens=[added_token(259, content)], pre_tokenizer=space, decoder=space)
    vocab = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"a": 256, "\u2581": 257, "b": 258}
    fields["model"] |= {"vocab": vocab, "byte_fallback": True}
    return fields


def test_a_space_is_put_after_a_special_token_in_the_whole_text_alone() -> None:
    fields = with_metaspace("<s>")
    library = tokenizers.Tokenizer.from_str(json.dumps(fields))
    tokenizer = tokdfa.load(fields)
    found = tokdfa.splice(tokenizer, after="a").witness
    assert found is not None
    assert (found.before, found.after, found.ids_before, found.ids_after) == ("<s>", "a", (259,), (256,))
    assert list(found.ids) == library.encode("<s>a", add_special_tokens=False).ids == [259, 257, 256]
    assert tokdfa.splice(tokenizer, before="b", after="a")
    # The start of a text has a space of its own, also after a special token.
    starts = tokdfa.splice(tokenizer, after="a", starts=True).witness
    assert starts is not None
    assert (starts.before, starts.after) == ("\0", "a")


@pytest.mark.parametrize(
    ("ends", "begins", "fuses", "left", "right", "shows"),
    [
        # 0 is a class of characters without a symbol, 1 one of others.
        (True, False, False, 1, 1, True),
        (True, False, False, 0, 1, False),
        (True, False, False, 1, 0, True),
        (False, True, False, 1, 0, False),
        (False, True, False, 0, 1, True),
        (True, True, False, 0, 0, False),
        (True, True, True, 0, 0, True),
        (True, False, True, 0, 1, False),
    ],
)
def test_which_boundaries_show(ends: bool, begins: bool, fuses: bool, left: int, right: int, shows: bool) -> None:
    assert Marks(ends, begins, frozenset({0}), fuses).show(left, right) is shows
