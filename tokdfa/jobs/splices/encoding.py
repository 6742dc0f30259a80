"""Encoding a text as the start of a text, or as the continuation of another one, with special tokens or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, cast

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.base.suggestions import wrong_argument
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

SpecialsPolicy: TypeAlias = Literal["found", "plain"]


def checked(tokenizer: AnyTokenizer, call: str, what: str = "seams are decided") -> Tokenizer:
    """Return a tokenizer that makes its tokens by rules; refuse others, and other objects."""
    if not isinstance(tokenizer, AnyTokenizer):
        raise wrong_argument(tokenizer, "a tokenizer", call)
    if tokenizer.why_not("rules") is not None:
        raise UnsupportedFeatureError(f"{what} only for byte pair tokenizers", value=tokenizer.algorithm)
    return cast(Tokenizer, tokenizer)


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


def encode_after(tokenizer: Tokenizer, text: str) -> Int32Array:
    """Return the ids of a text as the continuation of another one: nothing is put before it."""
    normalizer, split = tokenizer.rewriting.normalizer, tokenizer.pretokenizer
    # The step before which a space is put.
    prefix = None if split is None else split.splitting.prefix_space
    is_local = normalizer is None or normalizer.is_local
    if prefix is None and is_local and not (normalizer is not None and normalizer.touches_ends):
        return tokenizer.encode(text)
    # A later step puts a space before pieces, also where the text only continues.
    if not is_local or prefix:
        value = split if is_local else normalizer
        raise UnsupportedFeatureError("a continuation cannot be encoded by this tokenizer", value=value)
    return tokenizer.continued.encode(text)


def decode_after(tokenizer: Tokenizer, ids: Int32Array) -> str:
    """Return the text of ids that follow others, without dropping a space at the beginning."""
    return (tokenizer if tokenizer.rewriting.decoding is None else tokenizer.continued).decode(ids)
