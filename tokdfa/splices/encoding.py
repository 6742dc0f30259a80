"""Encoding a text as the start of a text, or as the continuation of another one."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.encoding.special import Special
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.splitting.pretokenizer import pretokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["SpecialsPolicy", "decode_after", "encode_after", "with_specials"]

SpecialsPolicy: TypeAlias = Literal["found", "plain"]


def with_specials(tokenizer: Tokenizer, policy: SpecialsPolicy | None) -> Tokenizer:
    """Return the tokenizer that finds special tokens in its texts, or does not; itself if it does so already."""
    finds = tokenizer.finds_specials if policy is None else policy == "found"
    if finds == tokenizer.finds_specials:
        return tokenizer
    return tokenizer.derived(_with_specials_the_other_way)


def _with_specials_the_other_way(tokenizer: Tokenizer) -> Tokenizer:
    """Return the tokenizer that finds special tokens if this one does not, and the other way round."""
    contents = replace(tokenizer._contents, finds_specials=not tokenizer.finds_specials)
    twin = type(tokenizer)(contents, tokenizer.pretokenizer)
    twin.piece_ids = tokenizer.piece_ids
    return twin


def encode_after(tokenizer: Tokenizer, text: str) -> Int32Array:
    """Return the ids of a text as the continuation of another one: nothing is put before it."""
    if not tokenizer.is_plain:
        normalizer, split = tokenizer.rewriting.normalizer, tokenizer.pretokenizer
        changes_start = normalizer is not None and (not normalizer.is_local or normalizer.touches_ends)
        if not changes_start and (split is None or split.splitting.prefix_space is None):
            return tokenizer.encode(text)
        if (normalizer is not None and not normalizer.is_local) or (split and split.splitting.prefix_space):
            raise UnsupportedFeatureError("a continuation cannot be encoded by this tokenizer", value=normalizer)
        return tokenizer.later.encode(text)
    if tokenizer.pretokenizer is None or tokenizer.pretokenizer.splitting.prefix_space is None:
        return tokenizer.encode(text)
    parts = [np.empty(0, dtype=np.int32)]
    for place, stretch in enumerate(tokenizer.added_tokens.cut(text)):
        if isinstance(stretch, Special):
            parts.append(np.array([stretch.id], dtype=np.int32))
        elif stretch:
            encodes = tokenizer if place else tokenizer.derived(_without_prefix)
            parts.append(encodes.encode_stretch(stretch, begins=False))
    return np.concatenate(parts)


def decode_after(tokenizer: Tokenizer, ids: Int32Array) -> str:
    """Return the text of ids that follow others, of which no space is dropped at the beginning."""
    if not tokenizer.is_plain and tokenizer.form is None:
        return tokenizer.later.decode(ids)
    return tokenizer.decode(ids)


def _without_prefix(tokenizer: Tokenizer) -> Tokenizer:
    """Return the tokenizer that puts no space before its texts."""
    assert tokenizer.pretokenizer is not None
    splitting = replace(tokenizer.pretokenizer.splitting, prefix_space=None)
    twin = Tokenizer(tokenizer._contents, pretokenizer(splitting))
    twin.piece_ids = tokenizer.piece_ids
    return twin
