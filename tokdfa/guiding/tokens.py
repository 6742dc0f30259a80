"""The tables over the ids of a tokenizer by which its canonical streams are read id by id."""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.guiding.followers import Followers
from tokdfa.guiding.spelled import SpelledSpecials
from tokdfa.guiding.splits import Splits
from tokdfa.patterns.trie import TokenTrie
from tokdfa.splitting.lifted import LiftedSplitting
from tokdfa.splitting.steps import Splitting
from tokdfa.tokenizers.canonical import check_overlaps, spelled_specials
from tokdfa.tokenizers.neighbours import neighbours
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["Tokens", "tokens_of"]


class Tokens:
    """The ids of a tokenizer: what they spell, what they do to the pre-tokenizer, and what may follow them.

    Parameters
    ----------
    tokenizer : Tokenizer
        A byte pair tokenizer over bytes that encodes texts unchanged.

    Attributes
    ----------
    tokenizer : Tokenizer
    n_ids : int
    usable, special : bool arrays, one entry an id
        The ids of tokens that some canonical stream has, and those of special tokens.
    trie : TokenTrie
        The words of the usable ids, over bytes.
    followers : Followers
    splits : Splits
    spelled : SpelledSpecials

    Raises
    ------
    UnsupportedFeatureError, PatternError, LimitExceededError
        If the streams of the tokenizer are judged as a whole, not id by id.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        splitting = _splitting_of(tokenizer)
        contents = spelled_specials(tokenizer)
        check_overlaps(contents)
        self.tokenizer = tokenizer
        self.n_ids = n = tokenizer.n_ids
        text, offsets = tokenizer.id_spellings
        alone = tokenizer.token_to_id[tokenizer.whole_piece_tokens]
        alone = alone[alone >= 0]
        self.special: BoolArray = np.zeros(n, dtype=np.bool_)
        self.special[tokenizer.special_ids] = True
        is_alone = np.zeros(n, dtype=np.bool_)
        is_alone[alone] = True
        of = neighbours(tokenizer)
        self.followers = Followers(of, n, alone)
        self.usable: BoolArray = (self.followers.position >= 0) | is_alone
        self.usable &= ~self.special
        self.trie = TokenTrie(text.astype(np.int32), offsets, ~self.usable)
        self.spelled = SpelledSpecials(contents, self.trie, n)
        self.splits = Splits(
            LiftedSplitting(splitting),
            text,
            offsets,
            usable=self.usable,
            special=self.special,
            alone=is_alone,
            forbidden=_merged(tokenizer, alone),
        )
        self.class_list: list[int] = self.splits.class_of.tolist()

    @cached_property
    def id_of(self) -> dict[bytes, int]:
        """The usable ids by their bytes, without those given only for whole pieces."""
        ids = np.flatnonzero(self.usable & (self.followers.position >= 0)).tolist()
        data = self.tokenizer.id_spellings.text.tobytes()
        bounds = self.tokenizer.id_spellings.offsets.tolist()
        return {data[bounds[id] : bounds[id + 1]]: id for id in ids}

    def bytes_of(self, id: int) -> bytes:
        """Return the bytes of an id."""
        text, offsets = self.tokenizer.id_spellings
        return text[offsets[id] : offsets[id + 1]].tobytes()


@lru_cache(maxsize=4)
def tokens_of(tokenizer: AnyTokenizer) -> Tokens:
    """Return the tables over the ids of a tokenizer; those of the last few tokenizers are kept.

    Raises
    ------
    UnsupportedFeatureError, PatternError, LimitExceededError
        If the streams of the tokenizer are judged as a whole, not id by id.
    """
    if not isinstance(tokenizer, Tokenizer):
        what = f"the streams of a {tokenizer.algorithm} tokenizer are judged as a whole, so no guide knows the next id"
        raise UnsupportedFeatureError(what)
    return Tokens(tokenizer)


def _splitting_of(tokenizer: Tokenizer) -> Splitting:
    """Return the splitting of texts, if they are judged id by id."""
    why = None
    splitting = Splitting("tokenizers") if tokenizer.pretokenizer is None else tokenizer.pretokenizer.splitting
    if not tokenizer.is_bytewise:
        why = "the dictionary is not over bytes"
    elif not tokenizer.is_plain:
        why = "the tokenizer rewrites texts" if tokenizer.form is None else "the tokenizer normalizes texts"
    elif tokenizer.suffix is not None:
        why = "words end with a suffix"
    elif splitting.prefix_space is not None or splitting.metaspace is not None:
        why = "the pre-tokenizer inserts spaces"
    elif splitting.byte_steps:
        why = "the pre-tokenizer splits the bytes of a character"
    elif any(step.behavior == "removed" for step in splitting.steps):
        why = "the pre-tokenizer leaves out text"
    if why is not None:
        raise UnsupportedFeatureError(f"{why}: its streams are judged as a whole, so no guide knows the next id")
    return splitting


def _merged(tokenizer: Tokenizer, alone: Int32Array) -> list[tuple[int, ...]]:
    """Return the ids that merging gives for the words of tokens that are given for whole pieces instead."""
    text, offsets = tokenizer.id_spellings
    words = [text[offsets[id] : offsets[id + 1]].tobytes() for id in alone.tolist()]
    if not words:
        return []
    encoded = tokenizer.piece_ids.merge(words)
    sequences = [tuple(encoded.ids[a:b].tolist()) for a, b in pairwise(encoded.offsets.tolist())]
    return [sequence for sequence in sequences if min(sequence) >= 0]
