"""The bytes that ids add to the text of a stream, if they depend on the position in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.tokenizers.decoder import Spellings, spellings
from tokdfa.tokenizers.decoding import (
    ByteFallback,
    DecodeSentencePiece,
    DecodeStep,
    StripWhole,
    byte_of,
    decode_tokens,
    loose_byte_of,
)
from tokdfa.tokenizers.normalizers.steps import check_growth, most_characters
from tokdfa.tokenizers.word_decoding import DecodeSuffix

if TYPE_CHECKING:
    from tokdfa.tokenizers.protocol import AnyTokenizer


class Spelled(NamedTuple):
    """The bytes of ids in a stream, where the first or the last id may be spelled differently.

    `usual` has the bytes of each id in any other position. `varies` is which id of a stream is spelled differently, and
    `other` has the bytes of each id in that position; None without. `silent`, a bool array, is whether the id after it
    still counts as the first one; None without such ids.
    """

    usual: Spellings
    varies: Literal["", "first", "last"] = ""
    other: Spellings | None = None
    silent: BoolArray | None = None


class EndsByPosition:
    """The ends of ids in their bytes, where these depend on the position of each id only."""

    def __init__(self, spelled: Spelled) -> None:
        self._usual: Int64Array = np.diff(spelled.usual.offsets)
        self._other = self._usual if spelled.other is None else np.diff(spelled.other.offsets)
        self._varies, self._silent = spelled.varies, spelled.silent

    def of(self, ids: Int32Array) -> Int64Array:
        """Return the end of each of some checked ids."""
        lengths = self._usual[ids]
        if self._varies == "first" and len(ids):
            # Ids that are silent, and the one after them.
            n_first = 1 if self._silent is None else int(np.argmin(np.append(self._silent[ids[:-1]], False))) + 1
            lengths[:n_first] = self._other[ids[:n_first]]
        elif self._varies == "last":
            lengths[-1:] = self._other[ids[-1:]]
        ends: Int64Array = np.cumsum(lengths)
        return ends


def ends_by_position(tokenizer: AnyTokenizer) -> EndsByPosition:
    """Return the ends of ids by their positions, a derived table; where more decides, their ends between other ids."""
    try:
        return EndsByPosition(tokenizer.spelled)
    except UnsupportedFeatureError:
        return EndsByPosition(Spelled(tokenizer.id_spellings))


def spelled_with_suffix(usual: Spellings, ends_word: BoolArray) -> Spelled:
    """Return the spelling of ids, some of them with the space after a word, which the last word lacks."""
    text, offsets = usual
    lengths = np.diff(offsets) - ends_word
    kept = np.ones(len(text), dtype=np.bool_)
    kept[offsets[1:][ends_word] - 1] = False
    return Spelled(usual, "last", Spellings(text[kept], np.concatenate(([0], np.cumsum(lengths)))))


# A token before others, or after them, from which no step removes anything.
_OTHER = "x"
_NONE = -1
# Tokens that are decoded at once; each takes some hundred bytes meanwhile.
_PART = 1 << 15


def spelled_by_steps(tokens: Sequence[str], steps: Sequence[DecodeStep], file_format: str) -> Spelled:
    """Return the spelling of tokens that are decoded by steps, if it depends only on which of them is first or last."""
    at_end = all(isinstance(step, DecodeSuffix) for step in steps)
    at_start = all(step.is_separate and not (isinstance(step, StripWhole) and step.count > 1) for step in steps)
    if not (at_start or at_end):
        what = "the text of an id depends on the ids next to it"
        raise UnsupportedFeatureError(what, value=file_format, hint="decode the ids and work on the text")
    parts = [_part_by_steps(tokens[at : at + _PART], steps, at_end=at_end) for at in range(0, len(tokens) or 1, _PART)]
    usual, alone = (_joined([part[side] for part in parts]) for side in (0, 1))
    drops_all = any(isinstance(step, DecodeSentencePiece) and step.drops_all for step in steps)
    silent: BoolArray = np.diff((alone if drops_all else usual).offsets) == 0
    return Spelled(usual, "last" if at_end else "first", alone, silent)


def _part_by_steps(tokens: Sequence[str], steps: Sequence[DecodeStep], *, at_end: bool) -> tuple[Spellings, Spellings]:
    """Return the bytes of some tokens between others, and where they are spelled differently."""
    # A byte token is searched as its byte, next to any others.
    reads_bytes = any(isinstance(step, ByteFallback | DecodeSentencePiece) for step in steps)
    byte = [byte_of(token) if reads_bytes else None for token in tokens]
    others = [_OTHER if value is not None else token for token, value in zip(tokens, byte, strict=True)]
    decoded = decode_tokens([_OTHER, *others, _OTHER], steps)
    text, ends = decoded.text.encode("utf-8"), decoded.ends.tolist()
    usual = [
        bytes([value]) if value is not None else text[ends[number] : ends[number + 1]]
        for number, value in enumerate(byte)
    ]
    if not at_end and all(step.later == step for step in steps):
        # No token is spelled in another way at the beginning.
        return spellings(usual), spellings(usual)
    alone = usual.copy()
    for number, (token, found) in enumerate(zip(tokens, usual, strict=True)):
        if token and (at_end or not found or b" " in found):
            single = decode_tokens([token], steps).text.encode("utf-8")
            alone[number] = single if byte[number] is None or not single else found
    return spellings(usual), spellings(alone)


def _joined(parts: Sequence[Spellings]) -> Spellings:
    """Return the words of several parts."""
    texts, lengths = (np.concatenate(each) for each in zip(*((text, np.diff(at)) for text, at in parts), strict=True))
    return Spellings(texts, running_sum(lengths))


class IdTexts:
    """The strings that ids add to a text, not at its beginning, where decoding treats each one separately.

    `tokens` has the spelling of each id in its file; `steps` decode the beginning of a text.
    """

    def __init__(self, tokens: Sequence[str], steps: Sequence[DecodeStep]) -> None:
        self._tokens = tokens
        self._first = steps
        self._later = [later for step in steps if (later := step.later) is not None]

    @cached_property
    def _read(self) -> tuple[list[str], list[int | None]]:
        """The text of each id between others, and its byte if it is read as one; a byte beyond ASCII has no text."""
        tokens: list[str] = [*self._tokens]
        byte: list[int | None] = [None] * len(tokens)
        read: Callable[[str], int | None]
        most = most_characters(sum(map(len, tokens)))
        for step in self._later:
            if isinstance(step, (ByteFallback, DecodeSentencePiece)):
                read = loose_byte_of if isinstance(step, ByteFallback) else byte_of
                byte = [old if old is not None else read(token) for old, token in zip(byte, tokens, strict=True)]
                tokens = [
                    token if value is None else chr(value) if value < 0x80 else ""
                    for token, value in zip(tokens, byte, strict=True)
                ]
            # Each between others.
            separated = [_OTHER] * (2 * len(tokens) + 1)
            separated[1::2] = tokens
            tokens = step(separated)[1::2]
            # Each step by itself may lengthen them within the budget.
            check_growth(sum(map(len, tokens)), most, step)
        return tokens, byte

    @property
    def texts(self) -> list[str]:
        """The text of each id; empty for bytes beyond ASCII."""
        return self._read[0]

    @cached_property
    def spelled(self) -> Spellings | None:
        """The bytes of each id, which make up a text except for its beginning; None if more decides them.

        None, too, if all of them together are too long. Bytes that are not UTF-8 are U+FFFD there.
        """
        reads = [isinstance(step, (ByteFallback, DecodeSentencePiece)) for step in self._later]
        # A step after the one that reads bytes may change several of them together.
        if not all(step.is_separate for step in self._first) or True in reads[:-1]:
            return None
        try:
            texts, byte = self._read
            words = [
                text.encode() if value is None else bytes((value,)) for text, value in zip(texts, byte, strict=True)
            ]
        except (UnicodeEncodeError, LimitExceededError):
            return None
        return spellings(words)

    @cached_property
    def sizes(self) -> Int64Array:
        """The number of bytes of the text of each id."""
        return np.array([len(text.encode("utf-8", "surrogatepass")) for text in self.texts], dtype=np.int64)

    @cached_property
    def ends(self) -> tuple[Int32Array, Int32Array, BoolArray]:
        """The first and the last character of each id, -1 for none, and whether it is read as a byte."""
        texts, byte = self._read
        first = np.array([ord(text[0]) if text else _NONE for text in texts], dtype=np.int32)
        last = np.array([ord(text[-1]) if text else _NONE for text in texts], dtype=np.int32)
        return first, last, np.array([value is not None for value in byte], dtype=np.bool_)

    @cached_property
    def is_high(self) -> BoolArray:
        """For each id, whether it is read as a byte beyond ASCII."""
        _, last, is_byte = self.ends
        high: BoolArray = is_byte & (last == _NONE)
        return high

    @cached_property
    def is_blank(self) -> BoolArray:
        """For each id, whether nothing, or only what a decoder may remove, is in its text."""
        stripped = " \u2581" + "".join(step.character for step in self._first if isinstance(step, StripWhole))
        _, last, is_byte = self.ends
        blank: BoolArray = np.array([not text.strip(stripped) for text in self.texts], dtype=np.bool_)
        if stripped.replace("\u2581", "").isascii():
            blank[is_byte & (last < 0)] = False
        return blank

    @cached_property
    def byte_of(self) -> Int32Array:
        """The byte that each id is read as, -1 for none."""
        return np.array([_NONE if byte is None else byte for byte in self._read[1]], dtype=np.int32)
