"""Tests for `tokdfa.splices.decision`: which special tokens must be followed, and what is not searched."""

from __future__ import annotations

import json

import pytest
import tokenizers
from support.tokenizer_files import added_token, tokenizer_json

import tokdfa
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.splices.decision import Ground, ground_of
from tokdfa.splices.languages import ANYTHING, language_of, literal, regular
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
    with pytest.raises(UnsupportedFeatureError, match="a special token depends on what is beside it"):
        Ground(tokenizer)
