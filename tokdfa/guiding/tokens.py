"""The tables over the ids of a tokenizer by which its canonical streams are read id by id."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.guiding.followers import Followers
from tokdfa.guiding.spelled import SpelledSpecials
from tokdfa.guiding.splits import Splits
from tokdfa.kernels.library import Struct
from tokdfa.patterns.trie import TokenTrie
from tokdfa.splitting.lifted import LiftedSplitting
from tokdfa.splitting.steps import Splitting
from tokdfa.tokenizers.canonical import check_overlaps, spelled_specials
from tokdfa.tokenizers.derived import OfTokenizer
from tokdfa.tokenizers.neighbours import neighbours
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["Tokens", "tokens_of"]


class Tokens(OfTokenizer["Tokenizer"]):
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
    words, special_ids : int32 arrays
        The usable ids, in the order of the trie; and those of special tokens, ascending.
    struct : Struct
        What the kernels read.

    Raises
    ------
    UnsupportedFeatureError, PatternError, LimitExceededError
        If the streams of the tokenizer are judged as a whole, not id by id.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        splitting = _splitting_of(tokenizer)
        contents = spelled_specials(tokenizer)
        check_overlaps(contents)
        super().__init__(tokenizer)
        self.n_ids = n = tokenizer.n_ids
        text, offsets = tokenizer.id_spellings
        alone = tokenizer.token_to_id[tokenizer.whole_piece_tokens]
        alone = alone[alone >= 0]
        self.special: BoolArray = np.zeros(n, dtype=np.bool_)
        self.special[tokenizer.special_ids] = True
        is_alone = np.zeros(n, dtype=np.bool_)
        is_alone[alone] = True
        of = tokenizer.derived(neighbours)
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
        self.words: Int32Array = self.trie.words.astype(np.int32)
        self.special_ids: Int32Array = np.flatnonzero(self.special).astype(np.int32)
        special_of = np.full(n, -1, dtype=np.int32)
        special_of[self.special_ids] = np.arange(len(self.special_ids), dtype=np.int32)
        self.struct = Struct(
            "tokdfa_guide_ids",
            class_of=self.splits.class_of, row_of=self.followers.row_of, position=self.followers.position,
            special_of=special_of, from_start=self.spelled.from_start, spelled=self.spelled.table, text=text,
            offsets=offsets, symbol=self.trie.symbol, depth=self.trie.depth, end=self.trie.end, first=self.trie.first,
            words=self.words, byte_id=self._ids_of_bytes(), special_ids=self.special_ids,
            **self._ending(),
        )  # fmt: skip

    def _ids_of_bytes(self) -> Int32Array:
        """Return the id of each byte, -1 if it has none or only one given for whole pieces."""
        ids = self.words[self.trie.depth[np.repeat(np.arange(self.trie.n_nodes), np.diff(self.trie.first))] == 1]
        ids = ids[self.followers.position[ids] >= 0]
        found = np.full(256, -1, dtype=np.int32)
        text, offsets = self.tokenizer.id_spellings
        found[text[offsets[ids]]] = ids
        return found

    def _ending(self) -> dict[str, Int32Array]:
        """Return the ids that begin with the last bytes of a symbol, by their positions."""
        text, offsets = self.tokenizer.id_spellings
        position, id_at = self.followers.position, self.followers.id_at
        ids = id_at[id_at >= 0]
        ids = ids[self.usable[ids]]
        ids = ids[(text[offsets[ids]] & 0xC0) == 0x80]
        before = np.zeros(len(id_at) + 1, dtype=np.int32)
        before[position[ids] + 1] = 1
        return {"ending": ids, "ending_from": np.cumsum(before, dtype=np.int32)}

    def bytes_of(self, id: int) -> bytes:
        """Return the bytes of an id."""
        text, offsets = self.tokenizer.id_spellings
        return text[offsets[id] : offsets[id + 1]].tobytes()


def tokens_of(tokenizer: AnyTokenizer) -> Tokens:
    """Return the tables over the ids of a tokenizer.

    Raises
    ------
    UnsupportedFeatureError, PatternError, LimitExceededError
        If the streams of the tokenizer are judged as a whole, not id by id.
    """
    if not isinstance(tokenizer, Tokenizer):
        what = f"the streams of a {tokenizer.algorithm} tokenizer are judged as a whole, so no guide knows the next id"
        raise UnsupportedFeatureError(what)
    return tokenizer.derived(Tokens)


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
