"""What Unigram models segment of texts: stretches between special tokens, normalized, and split into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.arrays import Int64Array
from tokdfa.encoding.added_tokens import AddedTokens
from tokdfa.encoding.special import Special
from tokdfa.encoding.texts import check_text
from tokdfa.errors import AlphabetError
from tokdfa.tokenizers.boundaries.words import splits_at_spaces
from tokdfa.tokenizers.sentencepiece_normalizer import SPACE
from tokdfa.unicode.byte_alphabet import spell

if TYPE_CHECKING:
    from tokdfa.splitting.pretokenizer import PreTokenizer
    from tokdfa.tokenizers.normalizers import Normalizer

__all__ = ["Sentences", "check_encodable"]

# What Python's strings take for white space, and Unicode does not.
_OF_PYTHON = re.compile("[\x1c-\x1f]")
_SPACE_BYTES = SPACE.encode("utf-8")


class Sentences:
    """The sentences of texts, each of which a model segments by itself: pre-tokens, or whole stretches.

    Parameters
    ----------
    added_tokens : AddedTokens
        Those that are found in texts.
    normalizer : Normalizer, optional
    pretokenizer : PreTokenizer, optional
    spells_bytes : bool
        Whether pre-tokens become letters of GPT-2's byte alphabet.

    Attributes
    ----------
    are_whole : bool
        Whether each text is one sentence.
    """

    def __init__(
        self,
        added_tokens: AddedTokens,
        normalizer: Normalizer | None,
        pretokenizer: PreTokenizer | None,
        *,
        spells_bytes: bool,
    ) -> None:
        self._added_tokens = added_tokens
        self._normalizer = normalizer
        self._split = pretokenizer
        self._spells_bytes = spells_bytes
        self._splits_at_spaces = pretokenizer is not None and splits_at_spaces(pretokenizer.splitting)
        self.are_whole = pretokenizer is None and not spells_bytes and not added_tokens

    def stretches(self, text: str, first: Normalizer | None) -> Iterator[tuple[str | Special, bool]]:
        """Yield special tokens and the normalized stretches between them, and whether each begins the text.

        `first` normalizes the stretch that begins the text.
        """
        return self._added_tokens.stretches(text, self._normalizer, first)

    def of(self, text: str, first: Normalizer | None, *, begins: bool) -> Iterator[Special | tuple[bytes, Int64Array]]:
        """Yield the special tokens of a text, and for the stretches between them the sentences and the end of each.

        Parameters
        ----------
        text : str
        first : Normalizer or None
            What normalizes the stretch that begins the text.
        begins : bool
            Whether the text begins there, and does not go on after a place where texts are cut.
        """
        for stretch, is_first in self.stretches(text, first):
            yield stretch if isinstance(stretch, Special) else self._in_bytes(stretch, begins=begins and is_first)

    def _in_bytes(self, stretch: str, *, begins: bool) -> tuple[bytes, Int64Array]:
        """Return what is segmented of a normalized stretch, in UTF-8, and the ends of the sentences in it."""
        split = self._split
        if split is None and not self._spells_bytes:
            data = stretch.encode("utf-8")
            return data, np.array([len(data)], dtype=np.int64)
        if split is not None and self._splits_at_spaces:
            spaced = _spaced(split, stretch, begins)
            if spaced is not None:
                data = spaced.encode("utf-8")
                return data, _ends_before_spaces(data)
        pieces = [stretch] if split is None else split.split(stretch, begins=begins)
        parts = [piece.encode("utf-8", "surrogateescape") for piece in pieces]
        if self._spells_bytes:
            parts = [spell(part).encode("utf-8") for part in parts]
        return b"".join(parts), np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)))


def check_encodable(text: str) -> None:
    """Raise an error unless this is a text that has an encoding in UTF-8."""
    check_text(text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        where = f"character {error.start}"
        raise AlphabetError("half of a surrogate pair", value=text[error.start], where=where) from None


def _spaced(split: PreTokenizer, stretch: str, begins: bool) -> str | None:
    """Return a stretch with visible spaces, at which it is split; None if that takes the pre-tokenizer."""
    splitting = split.splitting
    if splitting.metaspace_at == 0:
        return split.spelled(stretch, begins=begins)
    # White space is dropped, and each word gets a visible space. Four characters are such space only to Python.
    if splitting.prefix_space is None or splitting.prefix_once or _OF_PYTHON.search(stretch) or SPACE in stretch:
        return None
    words = stretch.split()
    return SPACE + SPACE.join(words) if words else ""


def _ends_before_spaces(data: bytes) -> Int64Array:
    """Return the places before all visible spaces but one at the beginning, and the end of a text."""
    if not data:
        return np.empty(0, dtype=np.int64)
    array = np.frombuffer(data, dtype=np.uint8)
    first, second, third = _SPACE_BYTES
    is_space = (array[:-2] == first) & (array[1:-1] == second) & (array[2:] == third)
    places = np.flatnonzero(is_space[1:]) + 1
    return np.append(places, len(data))
