"""Cutting a corpus into pieces: the one place where training meets the pre-tokenizers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from typing import Literal, TypeAlias

import numpy as np

from tokdfa.base.arrays import Int64Array, Uint8Array
from tokdfa.base.errors import LimitExceededError, PatternError, TrainingError
from tokdfa.regex.unicode.utf8 import byte_offsets
from tokdfa.tokenizers.pretokenizers.certain import CONTEXT, CertainPairs
from tokdfa.tokenizers.pretokenizers.named import NAMED, whitespace_split
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.pretokenizers.splitter import Splitter
from tokdfa.tokenizers.pretokenizers.steps import Splitting
from tokdfa.training.corpus import Block

__all__ = ["PRETOKENIZERS", "CorpusSplitter", "Unit"]

Unit: TypeAlias = Literal["file", "line"]

ByteArray = Uint8Array
Int64Array = Int64Array

PRETOKENIZERS = ("none", "whitespace", *NAMED)

_WINDOW = 1 << 10


class CorpusSplitter:
    """Cuts blocks of UTF-8 into pieces.

    The name is ``none``, for which a unit is one piece; ``whitespace``, which drops spaces; the name of a pattern; or a
    pattern in the dialect of tiktoken. With the unit ``file``, no piece extends beyond a file; with ``line``, none
    beyond a line, which includes its line end: this is how tokenizers reads files. Without a pre-tokenizer the text may
    be `any_bytes`. So many bytes of a block as `stretch` are split at once; their pieces stay in the caches until they
    are counted.
    """

    def __init__(self, name: str, unit: Unit = "file", *, any_bytes: bool = False, stretch: int = 1 << 16) -> None:
        self.name = name
        self.unit = unit
        self._stretch = stretch
        self._any_bytes = any_bytes and name == "none"
        self._pretokenizer: PreTokenizer | None = None
        if name == "whitespace":
            self._pretokenizer = _whitespace()
        elif name != "none":
            self._pretokenizer = pretokenizer(name)

    def __repr__(self) -> str:
        return f"<CorpusSplitter {self._pretokenizer or self.name!r} by {self.unit}>"

    @cached_property
    def _machine(self) -> Splitter | None:
        return None if self._pretokenizer is None else _machine(self._pretokenizer.splitting)

    @cached_property
    def _boundaries(self) -> CertainPairs | None:
        return None if self._pretokenizer is None else _boundaries(self._pretokenizer)

    def last_cut(self, text: bytes) -> int:
        """Return the last place where `text` can be cut, for :meth:`Corpus.blocks`."""
        if self.unit == "line":
            return text.rfind(b"\n") + 1
        if self.name == "whitespace":
            return 1 + max(text.rfind(space, 0, -1) for space in (b" ", b"\n"))
        if self._boundaries is None:
            return 0
        window = _WINDOW
        while True:
            start = max(len(text) - window, 0)
            # Whole characters only. Invalid UTF-8 will be found when the text is split.
            while start < len(text) and text[start] & 0xC0 == 0x80:
                start += 1
            part = text[start:].decode("utf-8", "ignore")
            end = len(part) - CONTEXT - 1
            place = self._boundaries.last(part, 0, end) if end > 0 else 0
            if place:
                return start + len(part[:place].encode())
            if window >= len(text):
                return 0
            window *= 16

    def cut(self, block: Block) -> Iterator[tuple[ByteArray, Int64Array]]:
        """Yield the pieces of a block, a stretch at a time: the bytes, and the beginning and end of each piece in them.

        A TrainingError says which byte is not UTF-8.
        """
        try:
            if self.unit == "line":
                yield np.frombuffer(block.text, np.uint8), self._line_spans(block.text)
                return
            # The context helps to decide where the last piece ends, but does not belong to this block.
            context = block.context.decode("utf-8", "ignore").encode()
            text, end = np.frombuffer(block.text, np.uint8), len(block.text)
            for spans in self._iter_spans(block.text, context):
                yield text, spans[: np.searchsorted(spans[:, 1], end, side="right")]
        except (UnicodeDecodeError, PatternError):
            raise _not_utf8(block) from None

    def _line_spans(self, text: bytes) -> Int64Array:
        """Return the pieces of the lines of a text, each line split separately."""
        if self._machine is not None:
            return self._machine.line_spans(text)
        # bytes.splitlines would end lines at carriage returns, too.
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
        boundaries = np.unique(np.concatenate(([0], ends, [len(text)])))
        lines = np.stack((boundaries[:-1], boundaries[1:]), axis=1)
        if self._pretokenizer is None:
            self._spans(text)
            return lines
        return np.concatenate([np.empty((0, 2), np.int64), *(a + self._spans(text[a:b]) for a, b in lines.tolist())])

    def _iter_spans(self, text: bytes, context: bytes) -> Iterator[Int64Array]:
        """Yield the pieces of a text and of what follows it, in order; with a machine, as they are settled."""
        if self._machine is None:
            yield self._spans(text + context)
            return
        stream = self._machine.stream()
        for start in range(0, len(text), self._stretch):
            yield stream.feed(text[start : start + self._stretch])
        yield stream.feed(context)
        yield stream.finish()

    def _spans(self, text: bytes) -> Int64Array:
        """Return the pieces of a text that is split as a whole."""
        if self._pretokenizer is None:
            if not self._any_bytes:
                text.decode()
            return np.array([[0, len(text)]] if text else [], np.int64).reshape(-1, 2)
        if self._machine is not None:
            return self._machine.spans(text)
        decoded = text.decode()
        spans = np.array(self._pretokenizer.spans(decoded), np.int64).reshape(-1, 2)
        return byte_offsets(text)[spans] if len(decoded) < len(text) else spans


@cache
def _whitespace() -> PreTokenizer:
    return PreTokenizer(Splitting("tokenizers", (whitespace_split(),)), "whitespace")


# Each named pre-tokenizer is a single object, so its boundaries and machine are computed once.
@lru_cache(maxsize=16)
def _boundaries(pretokenizer: PreTokenizer) -> CertainPairs:
    return CertainPairs(pretokenizer)


@cache
def _machine(splitting: Splitting) -> Splitter | None:
    """Return the machine of a splitting, or None if there is none and the definition must be used."""
    try:
        return Splitter(splitting)
    except (PatternError, LimitExceededError):
        return None


def _not_utf8(block: Block) -> TrainingError:
    """Return the error that says where the text of a block is not UTF-8."""
    try:
        block.text.decode()
    except UnicodeDecodeError as error:
        return TrainingError(
            "not UTF-8 text",
            value=block.text[error.start : error.start + 8],
            where=f"{block.path}, byte {block.offset + error.start}",
            hint="exclude the file, for instance with a pattern such as 'folder/**/*.txt'",
        )
    raise AssertionError("the text is UTF-8")
