"""Tokenizers that lack bytes, and texts with characters on which Unicode tables disagree."""

from __future__ import annotations

import pytest

import tokdfa
from tests.support.gguf_files import Typed, byte_level, gguf
from tokdfa.base.errors import AlphabetError
from tokdfa.jobs.comparison.models import texts_of_tables
from tokdfa.jobs.comparison.result import Outcome, Part

RULES = [(b"h", b"e"), (b" ", b"t"), (b"1", b"2"), (b" ", b"1"), (b"'", b"s"), (b"a", b"a")]


def lacking(byte: str, rules: list[tuple[bytes, bytes]] = RULES) -> tokdfa.AnyTokenizer:
    """Return a tokenizer without a token for one byte, which is given as GPT-2 spells it."""
    fields = byte_level(rules, specials=())
    # The tokens of rules are sorted, so that equal ones have the same ids for any order of rules.
    words = sorted(word for word in fields["tokenizer.ggml.tokens"].value if word != byte)
    types = Typed("i32", [1] * len(words))
    fields |= {"tokenizer.ggml.tokens": Typed("string", words), "tokenizer.ggml.token_type": types}
    # No machine of a pre-tokenizer has to be built.
    return tokdfa.load(gguf(fields), pretokenizer="none")


def test_equal_with_proof_though_a_byte_has_no_token() -> None:
    a, b = lacking("\u010b"), lacking("\u010b", [*RULES[::-1][:2], *RULES[:-2]])
    with pytest.raises(AlphabetError):
        a.encode("\x0b")
    found = tokdfa.compare(a, b)
    assert found
    assert found.checked[Part.SEARCH] == Outcome.COMPLETE


def test_a_shortest_text_though_a_byte_has_no_token() -> None:
    a, b = lacking("\u010b"), lacking("\u010b", [*RULES[:4], (b"h", b"ea"), (b"e", b"a")])
    found = tokdfa.compare(a, b, ignore_ids=True)
    assert found.witness is not None
    assert found.checked[Part.SHORTEST] == Outcome.PROVEN
    assert found.witness.text in ("'s", "aa", "ea")
    # Only one of the two has a token for the vertical tab.
    found = tokdfa.compare(lacking("\u010b"), lacking(""))
    assert found.witness is not None
    assert (found.witness.text, found.witness.tokens_a) == ("\x0b", None)


def test_texts_with_characters_on_which_tables_disagree() -> None:
    texts = [*texts_of_tables("tokenizers", "llama.cpp")]
    assert {" \u061d", "\u1c89", "a\u1c89", "\u1c89!"} <= {*texts}
    assert not any("b" in text for text in texts)
    assert [*texts_of_tables("tokenizers", "tokenizers")] == []
