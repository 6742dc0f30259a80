"""Tokenizers with other special tokens in texts, or with none, and the same ids of pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.tokenizer import Tokenizer

SpecialsPolicy: TypeAlias = Literal["found", "plain"]


def twin_with(tokenizer: Tokenizer, specials: Sequence[Special] | None = None, *, finds: bool = True) -> Tokenizer:
    """Return a tokenizer that finds its special tokens, or does not, or finds others; pieces have the same ids."""
    contents = replace(tokenizer.contents, finds_specials=finds)
    return tokenizer.with_contents(contents if specials is None else replace(contents, specials=tuple(specials)))


def with_specials(tokenizer: Tokenizer, policy: SpecialsPolicy | None) -> Tokenizer:
    """Return the tokenizer that finds special tokens in its texts, or does not; itself if it does so already."""
    finds = policy == "found"
    is_same = policy is None or finds == tokenizer.finds_specials
    return tokenizer if is_same else tokenizer.derived(_finding, finds)


def _finding(tokenizer: Tokenizer, finds: bool) -> Tokenizer:
    return twin_with(tokenizer, finds=finds)
