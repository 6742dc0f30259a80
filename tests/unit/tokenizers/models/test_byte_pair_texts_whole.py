"""Why streams are judged as a whole."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tokdfa
from tests.support.tokenizer_files import RANKS, merges_txt, tokenizer_json
from tokdfa.tokenizers.models.byte_pair_texts import why_whole
from tokdfa.tokenizers.tokenizer import Tokenizer

LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
DIGITS = {"type": "Digits", "individual_digits": True}


def loaded(source: Any, **options: Any) -> Tokenizer:
    tokenizer = tokdfa.load(source, **options)
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([LEVEL], None),
        ([DIGITS, LEVEL], None),
        ([{**LEVEL, "add_prefix_space": True}], "the pre-tokenizer puts spaces before pieces"),
        ([LEVEL, DIGITS], "the pre-tokenizer splits letters that stand for bytes"),
        ([{"type": "WhitespaceSplit"}, LEVEL], "the pre-tokenizer drops text"),
        ([{"type": "UnicodeScripts"}, LEVEL], "the pre-tokenizer drops text"),
    ],
)
def test_pre_tokenizers(steps: list[dict[str, Any]], why: str | None) -> None:
    tokenizer = loaded(tokenizer_json(pre_tokenizer={"type": "Sequence", "pretokenizers": steps}))
    found = tokenizer.why_whole
    assert found == why_whole(tokenizer)
    assert found is None if why is None else re.match(why, found or "")
    # info says it.
    assert tokenizer.facts()["rewriting"].get("judged_as_a_whole") == found


def test_without_a_pre_tokenizer_pairs_have_to_decide() -> None:
    assert loaded(merges_txt().encode()).why_whole is None
    # By leftmost merging, and not in one pass, a chain of one letter becomes one token.
    rules = [(b"a", b"a"), (b"a", b"aa"), (b"aa", b"aaa"), (b"aa", b"a")]
    assert "pairs of tokens do not decide" in (loaded(merges_txt(rules).encode()).why_whole or "")
    assert loaded(RANKS, pretokenizer="none").why_whole is None
    # A piece that is a token is not merged, and no merging gives this one.
    assert "pairs of tokens do not decide" in (loaded({**RANKS, b"xyz": 500}, pretokenizer="none").why_whole or "")
