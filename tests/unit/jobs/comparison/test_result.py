"""A text is a witness only if encoding shows that two tokenizers differ on it, as their libraries do."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tokenizers

import tokdfa
from tests.support.tokenizer_files import SPELLED, added_token, tokenizer_json
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.jobs.comparison import models, result
from tokdfa.jobs.comparison.api import compare_tokenizers
from tokdfa.jobs.comparison.models import Tuning
from tokdfa.jobs.comparison.result import confirmed
from tokdfa.tokenizers.models.wordpiece.difference import first_difference

QUICK = Tuning(longest_tried=1, max_seconds=0.05)


def over_letters(letters: str, **changes: Any) -> dict[str, Any]:
    """Return a tokenizer.json over some letters, without an unknown token: the library drops others."""
    fields = tokenizer_json([], added_tokens=[], pre_tokenizer=None, decoder={"type": "Fuse"}, **changes)
    fields["model"]["vocab"] = {letter: id for id, letter in enumerate(letters)}
    return fields


def ids_of(fields: dict[str, Any], text: str) -> list[int]:
    return tokenizers.Tokenizer.from_str(json.dumps(fields)).encode(text, add_special_tokens=False).ids


def test_a_dropped_and_a_removed_symbol_are_no_difference() -> None:
    """One lacks x, which its library drops; the normalizer of the other removes it."""
    lacks = over_letters("ab")
    removes = over_letters("ab", normalizer={"type": "Replace", "pattern": {"String": "x"}, "content": ""})
    keeps = over_letters("abx")
    one, other, third = map(tokdfa.load, (lacks, removes, keeps))
    assert ids_of(lacks, "axb") == ids_of(removes, "axb") == [0, 1] != ids_of(keeps, "axb")
    with pytest.raises(AlphabetError):
        one.encode("axb")
    assert confirmed(one, other, "axb") is None
    assert confirmed(other, one, "axb") is None
    found = confirmed(one, third, "axb")
    assert found is not None
    assert (found.tokens_a, found.tokens_b) == (None, (0, 2, 1))
    # Nothing else separates them, and their normalizers differ.
    with pytest.raises(UnsupportedFeatureError, match="neither a difference nor equivalence"):
        compare_tokenizers(one, other, tuning=QUICK)


def test_a_text_that_encoding_does_not_confirm(monkeypatch: pytest.MonkeyPatch) -> None:
    vocab = "[UNK]\na\nb\n##b\n"
    a, b = (tokdfa.load(words.encode(), format="vocab.txt") for words in (vocab, vocab + "ab\n"))
    found = tokdfa.compare(a, b)
    assert found.witness is not None
    assert found.witness.text == "ab"
    # The search errs.
    monkeypatch.setattr(models, "first_difference", lambda *sides: first_difference(*sides)._replace(text="a"))
    with pytest.raises(UnsupportedFeatureError, match="encoding does not confirm the text that a search found: 'a'"):
        tokdfa.compare(a, b)


def test_letters_of_bytes_that_end_words() -> None:
    """With ends of words, as CLIP has them, symbols are not bytes alone, and the texts are tried."""
    sides = []
    for content in ("<x>", "<y>"):
        fields = tokenizer_json([], added_tokens=[])
        letters = [letter + end for end in ("", "</w>") for letter in SPELLED.values()]
        fields["model"] |= {
            "vocab": {letter: id for id, letter in enumerate([*letters, "ab</w>"])},
            "merges": [["a", "b</w>"]],
            "end_of_word_suffix": "</w>",
        }
        fields["added_tokens"] = [added_token(len(letters) + 1, content)]
        sides.append(tokdfa.load(fields))
    found = compare_tokenizers(*sides, tuning=QUICK)
    assert found.witness is not None
    assert found.witness.text == "<x>"


def test_a_long_difference_is_shown_in_four_lines() -> None:
    parts = dict.fromkeys(result.Part, result.Outcome.DIFFERENT)
    ids = tuple(range(10_000))
    found = result.Comparison(False, result.Difference("a" * 10_000, ids, None), checked=parts)
    assert str(found) == repr(found)
    assert len(repr(found)) <= 4 * 80
    assert "\n" not in repr(found)
    assert repr(found).startswith("Comparison(False: 'aaa")
