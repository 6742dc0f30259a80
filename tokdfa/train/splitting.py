"""Cutting a corpus into pieces: the one place where training meets the pre-tokenizers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.errors import TrainingError
from tokdfa.tokenizers.borders import CONTEXT, Borders
from tokdfa.tokenizers.formats.contents import Splitting
from tokdfa.tokenizers.patterns import NAMED, whitespace_split
from tokdfa.tokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.train.corpus import Block

__all__ = ["PRETOKENIZERS", "Splitter", "Unit"]

Unit: TypeAlias = Literal["file", "line"]

ByteArray = npt.NDArray[np.uint8]
Int64Array = npt.NDArray[np.int64]

PRETOKENIZERS = ("none", "whitespace", *NAMED)

_WINDOW = 1 << 10


class Splitter:
    """Cuts blocks of UTF-8 into pieces.

    Parameters
    ----------
    name : str
        ``none``, for which a unit is one piece; ``whitespace``, which drops spaces; the name of a pattern; or a
        pattern, read as tiktoken would.
    unit : str
        ``file``: no piece goes beyond a file. ``line``: no piece goes beyond a line, whose end belongs to it, which is
        how tokenizers reads files.
    any_bytes : bool
        Whether without a pre-tokenizer the text may be any bytes.

    Raises
    ------
    PatternError
        If it is neither a name nor a pattern that can be used.
    """

    def __init__(self, name: str, unit: Unit = "file", *, any_bytes: bool = False) -> None:
        self.name = name
        self.unit = unit
        self._any_bytes = any_bytes and name == "none"
        self._pretokenizer: PreTokenizer | None = None
        if name == "whitespace":
            self._pretokenizer = PreTokenizer(Splitting("tokenizers", (whitespace_split(),)), name)
        elif name != "none":
            self._pretokenizer = pretokenizer(name)

    def __repr__(self) -> str:
        return f"<Splitter {self._pretokenizer or self.name!r} by {self.unit}>"

    @cached_property
    def _borders(self) -> Borders | None:
        return None if self._pretokenizer is None else Borders(self._pretokenizer)

    def last_cut(self, text: bytes) -> int:
        """Return the last place where `text` can be cut, for :meth:`Corpus.blocks`."""
        if self.unit == "line":
            return text.rfind(b"\n") + 1
        if self.name == "whitespace":
            return 1 + max(text.rfind(space, 0, -1) for space in (b" ", b"\n"))
        if self._borders is None:
            return 0
        window = _WINDOW
        while True:
            start = max(len(text) - window, 0)
            # Whole characters only. What is not UTF-8 will be found out when it is split.
            while start < len(text) and text[start] & 0xC0 == 0x80:
                start += 1
            part = text[start:].decode("utf-8", "ignore")
            end = len(part) - CONTEXT - 1
            place = self._borders.last(part, 0, end) if end > 0 else 0
            if place:
                return start + len(part[:place].encode())
            if window >= len(text):
                return 0
            window *= 16

    def cut(self, block: Block) -> tuple[ByteArray, Int64Array]:
        """Return the pieces of a block, one behind the other, and where each ends.

        Raises
        ------
        TrainingError
            If the text is not UTF-8; says at which byte.
        """
        try:
            if self._pretokenizer is None:
                if not self._any_bytes:
                    block.text.decode()
                ends = np.cumsum(np.fromiter(map(len, self._units(block.text)), np.int64))
                return np.frombuffer(block.text, np.uint8), ends
            pieces = [piece.encode() for unit in self._units(block.text) for piece in self._split(unit, block.context)]
        except UnicodeDecodeError:
            raise _not_utf8(block) from None
        return np.frombuffer(b"".join(pieces), np.uint8), np.cumsum(np.fromiter(map(len, pieces), np.int64))

    def _split(self, text: bytes, context: bytes) -> Iterator[str]:
        assert self._pretokenizer is not None
        unit = text.decode()
        length = len(unit)
        if self.unit == "file":
            unit += context.decode("utf-8", "ignore")
        return (unit[start:end] for start, end in self._pretokenizer.spans(unit) if end <= length)

    def _units(self, text: bytes) -> Iterator[bytes]:
        start = 0
        while start < len(text):
            # bytes.splitlines would end lines at carriage returns, too.
            end = text.find(b"\n", start) + 1 if self.unit == "line" else 0
            end = end or len(text)
            yield text[start:end]
            start = end


def _not_utf8(block: Block) -> TrainingError:
    """Return the error that says where the text of a block is not UTF-8."""
    try:
        block.text.decode()
    except UnicodeDecodeError as error:
        return TrainingError(
            "not UTF-8 text",
            value=block.text[error.start : error.start + 8],
            where=f"{block.path}, byte {block.offset + error.start}",
            hint="leave the file out, for instance by a pattern such as 'folder/**/*.txt'",
        )
    raise AssertionError("the text is UTF-8")
