"""The tokens of a byte pair tokenizer: words with numbers, ids and bytes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import cast

import numpy as np

from tokdfa.alphabet import Word
from tokdfa.arrays import BoolArray, Int32Array, running_sum
from tokdfa.dictionary import Dictionary
from tokdfa.errors import AlphabetError
from tokdfa.kernels.spelling.spell import spell
from tokdfa.tokenizers.checked_dictionary import ByteTokens
from tokdfa.tokenizers.decoder import Decoder, Spellings, spellings
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.spelled import Spelled, spelled_with_suffix
from tokdfa.unicode.byte_alphabet import BYTE_OF

__all__ = ["NumberedTokens"]


class NumberedTokens(AnyTokenizer):
    """The tokens of a :class:`~tokdfa.Tokenizer`, apart from how it treats texts; algorithms use their numbers.

    Attributes
    ----------
    dictionary : Dictionary
        The rules, whose alphabet numbers the tokens.
    extra_tokens : tuple of words
        Tokens that no rule mentions, numbered after those of the dictionary.
    token_to_id : int32 array, one entry a token
        The id of each token: those of the dictionary's alphabet, then `extra_tokens`, then tokens that nothing can
        spell. -1 for a token without an id.
    id_to_token : int32 array, one entry an id
        The number of a token; -1 for special tokens and unused ids.
    suffix : str or None
        What is appended to the last symbol of a piece, such as ``</w>``.
    spells_bytes : bool
        Whether the characters of the symbols represent bytes, in GPT-2's alphabet.
    """

    def __init__(self, contents: Contents) -> None:
        self.dictionary: Dictionary = contents.dictionary
        self.extra_tokens = contents.extra
        self._foreign = contents.foreign
        self.specials = contents.specials
        self.suffix = contents.suffix
        self.spells_bytes = contents.spelled_bytes
        self.token_to_id = contents.ids
        ids = [int(self.token_to_id.max(initial=-1)), *(special.id for special in self.specials)]
        self.id_to_token: Int32Array = np.full(max(ids) + 1, -1, dtype=np.int32)
        has_id = np.flatnonzero(self.token_to_id >= 0).astype(np.int32)
        self.id_to_token[self.token_to_id[has_id]] = has_id
        self.id_to_token[[special.id for special in self.specials]] = -1
        for array in (self.token_to_id, self.id_to_token):
            array.setflags(write=False)

    @property
    def is_bytewise(self) -> bool:
        """Whether the symbols of the dictionary are the bytes of the text."""
        return self.dictionary.alphabet.kind == "bytes"

    @property
    def n_ids(self) -> int:
        """One more than the largest id."""
        return len(self.id_to_token)

    @property
    def n_tokens(self) -> int:
        """The number of ids that are tokens, not counting special ones."""
        return int(np.count_nonzero(self.id_to_token >= 0))

    @cached_property
    def means_something(self) -> BoolArray:
        """For each id, whether it is that of a token or of a special token."""
        meaning: BoolArray = self.id_to_token >= 0
        meaning[self.special_ids] = True
        return meaning

    @cached_property
    def spellings(self) -> Spellings:
        """The bytes of all tokens, by token number; the suffix, if any, is a space."""
        alphabet = self.dictionary.alphabet
        if not isinstance(alphabet, ByteTokens):
            words: Iterable[Word] = (*alphabet, *self.extra_tokens)
            spelled = cast("list[bytes]", words) if self.is_bytewise else map(self._bytes_of, words)
            return spellings([*spelled, *self._foreign])
        more = spellings([*cast("tuple[bytes, ...]", self.extra_tokens), *self._foreign])
        every = alphabet.spelled_with(*more)
        for array in every:
            array.setflags(write=False)
        return every

    @cached_property
    def id_spellings(self) -> Spellings:
        """The bytes of all ids, those of special tokens included; empty for unused ids."""
        text, offsets = self.spellings
        numbers = self.id_to_token.copy()
        if self.specials:
            contents = spellings([special.text.encode() for special in self.specials])
            numbers[[special.id for special in self.specials]] = np.arange(len(self.specials)) + len(offsets) - 1
            text = np.concatenate((text, contents.text))
            offsets = np.concatenate((offsets, contents.offsets[1:] + offsets[-1]))
        spelled, lengths = spell(text, offsets, numbers)
        spelled.setflags(write=False)
        offsets = running_sum(lengths)
        offsets.setflags(write=False)
        return Spellings(spelled, offsets)

    def _bytes_of(self, word: Word) -> bytes:
        text = "".join(cast("str | tuple[str, ...]", word))
        end = b""
        if self.suffix and text.endswith(self.suffix):
            text, end = text.removesuffix(self.suffix), b" "
        return (bytes(BYTE_OF[character] for character in text) if self.spells_bytes else text.encode()) + end

    @cached_property
    def ends_word(self) -> BoolArray:
        """For each id, whether its last byte is the space after a word, which the last word of a text does not have."""
        words = (*self.dictionary.alphabet, *self.extra_tokens)
        return np.array(
            [
                number >= 0 and str(words[number][-1]).endswith(self.suffix or "\0")
                for number in self.id_to_token.tolist()
            ]
        )

    @property
    def _plain_decoder(self) -> Decoder:
        """The decoder that concatenates the spellings of ids, chunk by chunk."""
        return Decoder(self.id_spellings, self.means_something, None if self.suffix is None else self.ends_word)

    @property
    def spelled(self) -> Spelled:
        """What each id adds to the text of a stream, by its place; the space after the last word is not there."""
        if self.suffix is None:
            return Spelled(self.id_spellings)
        return spelled_with_suffix(self.id_spellings, self.ends_word)

    def token(self, number: int) -> Word:
        """Return the word of a token number; of a token that nothing can spell, its bytes."""
        words = self.dictionary.alphabet
        if number < len(words):
            return words[number]
        return (*self.extra_tokens, *self._foreign)[number - len(words)]

    def id_mask(self, allowed: BoolArray) -> BoolArray:
        """Return the mask over ids for a mask over the tokens of the dictionary; special tokens are not allowed.

        Raises
        ------
        AlphabetError
            If the mask does not have one entry per token.
        """
        n_tokens = len(self.dictionary.alphabet)
        if len(allowed) != n_tokens:
            raise AlphabetError(
                "a mask must have one entry for each token", value=len(allowed), hint=f"{n_tokens} tokens"
            )
        mask = np.zeros(self.n_ids, dtype=np.bool_)
        ids = self.token_to_id[:n_tokens]
        mask[ids[ids >= 0]] = allowed[ids >= 0]
        return mask
