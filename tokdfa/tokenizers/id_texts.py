"""What ids add to a text, not at its beginning, where decoding treats each one separately."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.tokenizers.decoding import (
    REPLACEMENT,
    ByteFallback,
    DecodeSentencePiece,
    DecodeStep,
    StripWhole,
    byte_of,
    decode_tokens,
    loose_byte_of,
)

__all__ = ["IdTexts"]

_NONE = -1
_LONGEST = 4
_OTHER = "x"


class IdTexts:
    """The texts of ids.

    Parameters
    ----------
    tokens : sequence of str
        The spelling of each id in its file.
    first, later : sequence of steps
        The steps that decode the beginning of a text, and the rest of it.
    """

    def __init__(self, tokens: Sequence[str], first: Sequence[DecodeStep], later: Sequence[DecodeStep]) -> None:
        self._tokens = tokens
        self._first = first
        self._later = later

    @cached_property
    def _read(self) -> tuple[list[str], list[int | None]]:
        """The text of each id between others, and its byte if it is read as one; a byte beyond ASCII has no text."""
        tokens: list[str] = [*self._tokens]
        byte: list[int | None] = [None] * len(tokens)
        read: Callable[[str], int | None]
        for step in self._later:
            if isinstance(step, (ByteFallback, DecodeSentencePiece)):
                read = loose_byte_of if isinstance(step, ByteFallback) else byte_of
                byte = [old if old is not None else read(token) for old, token in zip(byte, tokens, strict=True)]
                tokens = [
                    token if value is None else chr(value) if value < 0x80 else ""
                    for token, value in zip(tokens, byte, strict=True)
                ]
            tokens = _apart(tokens, step)
        return tokens, byte

    @property
    def texts(self) -> list[str]:
        """The text of each id; empty for bytes beyond ASCII."""
        return self._read[0]

    @cached_property
    def sizes(self) -> Int64Array:
        """The number of bytes of the text of each id."""
        return np.array([len(text.encode("utf-8", "surrogatepass")) for text in self.texts], dtype=np.int64)

    @cached_property
    def ends(self) -> tuple[Int64Array, Int64Array, BoolArray]:
        """The first and the last character of each id, -1 for none, and whether it is read as a byte."""
        texts, byte = self._read
        first = np.array([ord(text[0]) if text else _NONE for text in texts], dtype=np.int64)
        last = np.array([ord(text[-1]) if text else _NONE for text in texts], dtype=np.int64)
        return first, last, np.array([value is not None for value in byte], dtype=np.bool_)

    @cached_property
    def is_blank(self) -> BoolArray:
        """For each id, whether nothing, or only what a decoder may remove, is in its text."""
        stripped = " \u2581" + "".join(step.character for step in self._first if isinstance(step, StripWhole))
        _, last, is_byte = self.ends
        blank: BoolArray = np.array([not text.strip(stripped) for text in self.texts], dtype=np.bool_)
        if stripped.replace("\u2581", "").isascii():
            blank[is_byte & (last < 0)] = False
        return blank

    def character_of_run(self, ids: Int32Array, is_all: bool, *, forwards: bool = False) -> str | None:
        """Return the character at an end of a run of byte tokens; None if it may depend on ids beyond these.

        `is_all` is whether the run certainly has no more ids.
        """
        data: list[int] = []
        for id in ids[:_LONGEST].tolist():
            byte = self._read[1][id]
            if byte is None:
                return REPLACEMENT
            data.append(byte)
            try:
                return bytes(data if forwards else data[::-1]).decode("utf-8")
            except UnicodeDecodeError:
                continue
        return REPLACEMENT if is_all or len(data) == _LONGEST else None


def _apart(tokens: list[str], step: DecodeStep) -> list[str]:
    """Return what a step makes of tokens, each between others."""
    separated = [_OTHER] * (2 * len(tokens) + 1)
    separated[1::2] = tokens
    text, ends = decode_tokens(separated, (step,))
    data, bounds = text.encode("utf-8"), ends.tolist()
    return [data[bounds[at - 1] : bounds[at]].decode("utf-8") for at in range(1, len(separated), 2)]
