"""Tests for `tokdfa.jobs.splices.encoding`: a text that follows another is encoded without a prefix space."""

from __future__ import annotations

import pytest

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.splices.encoding import decode_after, encode_after
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.tokenizers.twins import with_specials


def loaded(**changes: object) -> Tokenizer:
    tokenizer = tokdfa.load(tokenizer_json([(b" ", b"a")], added_tokens=[added_token(257, "<x>")], **changes))
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


SPACED = {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True, "trim_offsets": True}


@pytest.mark.parametrize("text", ["a", " a", "a<x>a", "<x>a", ""])
def test_no_space_is_put_before_what_follows(text: str) -> None:
    tokenizer, plain = loaded(pre_tokenizer=SPACED), loaded()
    # Only before the first stretch: after a special token it is put, as at the beginning of a text.
    first, mark, rest = text.partition("<x>")
    expected = plain.encode(first).tolist() + (tokenizer.encode(mark + rest).tolist() if mark else [])
    assert encode_after(tokenizer, text).tolist() == expected
    assert encode_after(plain, text).tolist() == plain.encode(text).tolist()
    assert decode_after(plain, plain.encode(text)) == text


def test_special_tokens_are_found_or_plain() -> None:
    tokenizer = loaded()
    assert with_specials(tokenizer, None) is with_specials(tokenizer, "found") is tokenizer
    plain = with_specials(tokenizer, "plain")
    assert len(plain.encode("<x>")) == 3
    assert tokenizer.encode("<x>").tolist() == [257]


def test_a_space_before_later_pieces_is_refused() -> None:
    step = {"type": "Split", "pattern": {"Regex": r"\s*\S+|\s+"}, "behavior": "Isolated", "invert": False}
    spaced = {**SPACED, "use_regex": False}
    tokenizer = loaded(pre_tokenizer={"type": "Sequence", "pretokenizers": [step, spaced]})
    # The piece of a tab has one wherever it is.
    assert tokenizer.encode("a\t").tolist() == tokenizer.encode(" a").tolist() + tokenizer.encode(" \t").tolist()[:2]
    with pytest.raises(UnsupportedFeatureError, match="a continuation cannot be encoded by this tokenizer"):
        encode_after(tokenizer, "a\t")
