"""Pre-tokenizers, which cut text into pieces before any rule is applied."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tokdfa.base.arrays import Int64Array, offsets_of, ranges, running_sum
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.regex.unicode import version
from tokdfa.regex.unicode.utf8 import CHARACTER_OF, begins_symbol, spell
from tokdfa.tokenizers.pretokenizers.machine import is_known
from tokdfa.tokenizers.pretokenizers.splitter import Splitter
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Library, Span, Split, Splitting, split_piece

if TYPE_CHECKING:
    from tokdfa.regex.syntax import Node

# A symbol that is not in the alphabet; it separates pieces, and no step can tell it from the ends of a text.
_SEPARATOR = "\n"
_SPELLED = [*(CHARACTER_OF[byte].encode() for byte in range(256)), _SEPARATOR.encode()]
_WIDTH = np.array([*map(len, _SPELLED)], dtype=np.int64)
_FIRST = np.array([letter[0] for letter in _SPELLED], dtype=np.uint8)
_LAST = np.array([letter[-1] for letter in _SPELLED], dtype=np.uint8)


class ByteSteps:
    """The splitting of pieces of UTF-8 by steps that see a letter for each byte.

    Digits after ByteLevel, as in Falcon, cuts at every byte that is written ², ³, ¹, ¼, ½ or ¾: these letters are
    numeric. All pieces of a text are split in one pass of one machine. Its first step removes the separators.
    """

    def __init__(self, steps: tuple[Split, ...], unicode: str | None = None) -> None:
        split = Split(_SEPARATOR, "removed", literal=True)
        self._splitting = Splitting("tokenizers", (split, *steps), unicode=unicode)

    @cached_property
    def splitter(self) -> Splitter | None:
        """The machine of the steps, on pieces with separators between them; None if there is none."""
        try:
            return Splitter(self._splitting)
        except (PatternError, LimitExceededError):
            return None

    @cached_property
    def _programs(self) -> list[tuple[Split, Any]]:
        from tokdfa.regex.backtracking import compile_backtracking
        from tokdfa.tokenizers.pretokenizers.step_trees import step_tree

        steps = self._splitting.steps[1:]
        return [(step, compile_backtracking(step_tree(step, self._splitting))) for step in steps]

    def spans(self, data: bytes, spans: Int64Array) -> Int64Array:
        """Return the pieces into which the pieces ``data[start:end]`` are split, as an array of the same kind."""
        if self.splitter is None or not len(spans):
            return self.spans_backtracking(data, spans)
        lengths = spans[:, 1] - spans[:, 0]
        # The bytes of all pieces, each piece followed by a separator; and where in the data each comes from.
        offset, bounds = ranges(spans[:, 0], spans[:, 1] + 1)
        begins = bounds[:-1]
        codes = np.append(np.frombuffer(data, dtype=np.uint8), np.uint8(0))[offset].astype(np.int64)
        codes[begins + lengths] = len(_SPELLED) - 1
        ends = np.cumsum(_WIDTH[codes])
        letters = np.empty(int(ends[-1]), dtype=np.uint8)
        letters[ends - 1] = _LAST[codes]
        letters[ends - _WIDTH[codes]] = _FIRST[codes]
        found = self.splitter.spans(letters.tobytes())
        first = np.searchsorted(ends, found[:, 0], side="right")
        last = np.searchsorted(ends, found[:, 1])
        return np.stack((offset[first], offset[last] + 1), axis=1)

    def spans_backtracking(self, data: bytes, spans: Int64Array) -> Int64Array:
        """Return the same as :meth:`spans`, by the backtracking engine."""
        found = [
            (start + first, start + last)
            for start, end in spans.tolist()
            for first, last in self._split(spell(data[start:end]))
        ]
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def _split(self, letters: str) -> list[tuple[int, int]]:
        pieces = [(0, len(letters))]
        for step, program in self._programs:
            pieces = [
                (start + first, start + last)
                for start, end in pieces
                for first, last in split_piece(letters[start:end], step, program)
            ]
        return pieces


_OF_LLAMA_CPP = "llama.cpp:"


class PreTokenizer:
    """Splits text as a library does.

    The meaning of a splitting is defined by the backtracking engine of `regex` with the library's own classes. If the
    splitting can be expressed by an automaton, as every pattern in use can, a finite machine does the work, with the
    same result. Each step splits every piece of the previous one separately, as if the piece were the whole text.
    tokenizers keeps the text that a pattern does not match, as separate pieces; tiktoken drops it. Immutable.

    Raises PatternError if a pattern cannot be read, can match the empty text or repeats something that may be empty, or
    if the library does not support these steps; LimitExceededError if one is nested too deeply.
    """

    def __init__(self, splitting: Splitting, name: str | None = None) -> None:
        if splitting.library == "tiktoken":
            steps = splitting.steps
            if len(steps) != 1 or splitting.prefix_space is not None or steps[0] != Split(steps[0].pattern):
                raise PatternError("tiktoken splits by one pattern, nothing else", value=splitting)
        self._given = splitting
        self.name = name
        if not is_known(splitting):
            # Patterns that cannot be used are refused now.
            _ = self._trees

    def __reduce__(self) -> tuple[Callable[[Splitting, str | None], PreTokenizer], tuple[Splitting, str | None]]:
        return _shared, (self._given, self.name)

    def with_table(self, unicode: str | None) -> PreTokenizer:
        """Return the same pre-tokenizer with the classes of a table, by its name; None is the newest of the library."""
        return _shared(replace(self._given, unicode=unicode), self.name)

    @cached_property
    def splitting(self) -> Splitting:
        """The steps; one that keeps the matches of a pattern and drops the rest isolates them if there is no rest.

        Files converted for transformers.js write the pattern of GPT-4o so, whose alternatives match every text.
        """
        steps = self._given.steps
        if not any(map(_keeps_matches, steps)) or is_known(self._given):
            return self._given
        table = self._given.unicode
        return replace(self._given, steps=tuple(_isolated(step, self._given.library, table) for step in steps))

    @cached_property
    def drops_text(self) -> bool:
        """Whether text may be dropped, so that the pieces need not cover all of it."""
        if self.splitter is not None:
            return self.splitter.drops_text
        return self.splitting.library == "tiktoken" or any(
            step.behavior == "removed" for step in self.splitting.all_steps
        )

    @cached_property
    def splitter(self) -> Splitter | None:
        """The machine of the splitting; None if it cannot be expressed by an automaton or needs too many states."""
        try:
            return Splitter(self.splitting)
        except (PatternError, LimitExceededError):
            return None

    @cached_property
    def _literals(self) -> tuple[str, ...] | None:
        """The texts without which a text is one piece, if all steps split at such a text; None otherwise."""
        steps = self.splitting.steps
        are_literal = steps and all(step.literal and not step.invert for step in steps)
        if not are_literal or replace(self.splitting, steps=()) != Splitting(self.splitting.library):
            return None
        return tuple(step.pattern for step in steps)

    def split(self, text: str, *, begins: bool = True) -> list[str]:
        """Return the non-empty pieces of `text`, with the spaces that are put before some of them.

        `begins` says whether it begins a text, rather than following a special token. The bytes of a character that is
        cut apart are halves of surrogate pairs, as of ``surrogateescape``.
        """
        if self._literals is not None and not any(literal in text for literal in self._literals):
            return [text] if text else []
        if self.splitting.byte_steps:
            data, bounds = self.byte_pieces(text, begins=begins)
            return [data[start:end].decode("utf-8", "surrogateescape") for start, end in bounds.tolist()]
        spaced = self.spelled(text, begins=begins)
        spans = self._spans_by_machine(spaced)
        if spans is None:
            return self.split_backtracking(text, begins=begins)
        return [spaced[start:end] for start, end in spans]

    def spans(self, text: str, *, begins: bool = True) -> list[Span]:
        """Return the pieces of `text` as pairs (start, end) of offsets in code points; see :meth:`split`.

        A space that is put before a piece has no width, and a character that is cut apart is in several pieces.
        """
        if self.splitting.byte_steps:
            return self._around_bytes(text, begins)
        spaced = self.spelled(text, begins=begins)
        spans = self._spans_by_machine(spaced)
        if spans is None:
            return self.spans_backtracking(text, begins=begins)
        width = len(spaced) - len(text)
        return [(max(start - width, 0), end - width) for start, end in spans]

    def spelled(self, text: str, *, begins: bool = True) -> str:
        """Return `text` with the space put before it and with spaces replaced; see :meth:`split`."""
        space = self._space
        text = text if self.splitting.metaspace_at else text.replace(" ", space)
        puts = self.splitting.prefix_space == 0 and (begins or not self.splitting.prefix_once)
        return space + text if puts and text and text[0] != space else text

    @property
    def _space(self) -> str:
        return self.splitting.metaspace or " "

    def _spans_by_machine(self, text: str) -> list[Span] | None:
        if self.splitter is None:
            return None
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:  # half a surrogate pair: whoever needs the bytes will refuse it
            return None
        spans = self.splitter.spans(data)
        if len(data) > len(text):
            spans = running_sum(begins_symbol(data).view(np.uint8))[spans]
        pairs: list[Span] = spans.tolist()
        return pairs

    # Steps that split bytes

    def byte_pieces(self, text: str, *, begins: bool = True) -> tuple[bytes, Int64Array]:
        """Return the pieces of `text` as UTF-8 with the spaces put into it, and the byte offsets of each piece.

        They are the pieces of :meth:`split`, and need not be UTF-8 themselves. Raises UnicodeEncodeError for half of a
        surrogate pair.
        """
        data, spans = _joined(self._before_bytes.split(text, begins=begins))
        return data, self._byte_steps.spans(data, spans)

    @cached_property
    def _before_bytes(self) -> PreTokenizer:
        return _shared(replace(self.splitting, byte_steps=()))

    @cached_property
    def _byte_steps(self) -> ByteSteps:
        return ByteSteps(self.splitting.byte_steps, self.splitting.unicode)

    def _around_bytes(self, text: str, begins: bool) -> list[Span]:
        pieces, whole = self._before_bytes.split(text, begins=begins), self._before_bytes.spans(text, begins=begins)
        offsets: list[int] = []
        for piece, (start, end) in zip(pieces, whole, strict=True):
            # For each byte, the offset of its character in the text; a space put before a piece is at its beginning.
            first = end - len(piece)
            offsets += [max(first + at, start) for at, symbol in enumerate(piece) for _ in symbol.encode()]
        _, found = self.byte_pieces(text, begins=begins)
        ends = [end for _, end in whole]
        spans = []
        for first, last in found.tolist():
            start = offsets[first]
            stop = min([offsets[last - 1] + 1, *(end for end in ends if end >= offsets[last - 1])])
            spans.append((start, max(stop, start)))
        return spans

    # The definition

    def split_backtracking(self, text: str, *, begins: bool = True) -> list[str]:
        """Return the same as :meth:`split`, by the backtracking engine."""
        spelled = text.replace(" ", self._space)
        pieces = [prefix + spelled[start:end] for prefix, (start, end) in self._split(text, begins)]
        if not self.splitting.byte_steps:
            return pieces
        data, spans = _joined(pieces)
        found = self._byte_steps.spans_backtracking(data, spans)
        return [data[start:end].decode("utf-8", "surrogateescape") for start, end in found.tolist()]

    def spans_backtracking(self, text: str, *, begins: bool = True) -> list[Span]:
        """Return the same as :meth:`spans`, by the backtracking engine."""
        if self.splitting.byte_steps:
            return self._around_bytes(text, begins)
        return [span for _, span in self._split(text, begins)]

    @cached_property
    def _trees(self) -> list[Node]:
        from tokdfa.tokenizers.pretokenizers.step_trees import step_tree

        return [step_tree(step, self._given) for step in self._given.all_steps]

    @cached_property
    def _programs(self) -> list[Any]:
        from tokdfa.regex.backtracking import compile_backtracking

        return [compile_backtracking(tree) for tree in self._trees]

    def iter_levels(
        self, text: str, split: Callable[[str, int], Iterable[Span]], *, begins: bool
    ) -> Iterator[list[tuple[str, Span]]]:
        """Yield the pieces after each step, and once more with the space put that comes last, or without change.

        A piece is a space put before it, or nothing, and its span of `text`. `split` splits a piece by the step of an
        index.
        """
        splitting, space = self.splitting, self._space
        pieces: list[tuple[str, Span]] = [("", (0, len(text)))] if text else []
        at = splitting.prefix_space if begins or not splitting.prefix_once else None
        for index in range(len(splitting.steps)):
            text = text.replace(" ", space) if index == splitting.metaspace_at else text
            pieces = self._put_spaces(pieces, text) if index == at else pieces
            pieces = [
                inner
                for prefix, (start, end) in pieces
                for inner in _shift(split(prefix + text[start:end], index), prefix, start)
            ]
            yield pieces
        yield self._put_spaces(pieces, text.replace(" ", space)) if at == len(splitting.steps) else pieces

    def _put_spaces(self, pieces: Iterable[tuple[str, Span]], text: str) -> list[tuple[str, Span]]:
        space, once = self._space, self.splitting.prefix_once
        return [("" if text[span[0]] == space or (once and span[0]) else space, span) for _, span in pieces]

    def _split(self, text: str, begins: bool) -> list[tuple[str, Span]]:
        *_, pieces = self.iter_levels(text, self._split_piece, begins=begins)
        return pieces

    def _split_piece(self, piece: str, index: int) -> list[Span]:
        program = self._programs[index]
        if self.splitting.library == "tiktoken":
            return [match.span() for match in program.finditer(piece)]
        return split_piece(piece, self.splitting.steps[index], program)

    def __str__(self) -> str:
        return self.name or " · ".join(step.pattern for step in self.splitting.all_steps)

    def __repr__(self) -> str:
        library, table = self.splitting.library, self.splitting.table
        return f"PreTokenizer({self.splitting!r}, {self.name!r}, {library}=={version(table)})"


def _joined(pieces: list[str]) -> tuple[bytes, Int64Array]:
    """Return pieces as UTF-8, one after the other, and their offsets in it."""
    data = [piece.encode("utf-8") for piece in pieces]
    ends = offsets_of(data)
    return b"".join(data), np.stack((ends[:-1], ends[1:]), axis=1)


def _shift(spans: Iterable[Span], prefix: str, start: int) -> Iterator[tuple[str, Span]]:
    """Yield the spans of a piece as spans of the text; the first one keeps the space put before the piece."""
    for first, end in spans:
        inserted = prefix if first == 0 else ""
        yield inserted, (start + max(first - len(prefix), 0), start + end - len(prefix))


def _keeps_matches(step: Split) -> bool:
    """Return whether a step drops all text but the matches of a pattern."""
    return step.behavior == "removed" and step.invert and not step.literal


@lru_cache(maxsize=16)
def _isolated(step: Split, library: Library, table: str | None) -> Split:
    """Return the step that isolates the matches, if it does the same: no text has a part without a match."""
    if not _keeps_matches(step):
        return step
    try:
        drops_text = Splitter(Splitting(library, (step,), unicode=table)).drops_text
    except (PatternError, LimitExceededError):
        return step
    return step if drops_text else Split(step.pattern)


@lru_cache(maxsize=16)
def _shared(splitting: Splitting, name: str | None = None) -> PreTokenizer:
    """Return the pre-tokenizer, made once per process because its machine takes a fraction of a second to build."""
    return PreTokenizer(splitting, name)


def pretokenizer(splitting: str | Splitting) -> PreTokenizer:
    """Return the pre-tokenizer for the steps of a file, a name, or a pattern in the dialect of tiktoken.

    Names are the keys of :data:`tokdfa.tokenizers.pretokenizers.steps.NAMED`, and "llama.cpp:" with one of
    :data:`tokdfa.tokenizers.pretokenizers.llama_cpp.PRE_TOKENIZERS`.
    """
    if isinstance(splitting, Splitting):
        return _shared(splitting)
    if splitting in NAMED:
        return _shared(NAMED[splitting], splitting)
    if splitting.startswith(_OF_LLAMA_CPP):
        from tokdfa.tokenizers.pretokenizers.llama_cpp import PRE_TOKENIZERS

        name = splitting.removeprefix(_OF_LLAMA_CPP)
        if name not in PRE_TOKENIZERS:
            hint = f"use one of {', '.join(PRE_TOKENIZERS)}"
            raise PatternError("llama.cpp has no pre-tokenizer of this name", value=name, hint=hint)
        return _shared(PRE_TOKENIZERS[name].splitting, splitting)
    if re.fullmatch(r"[\w.-]+", splitting, re.ASCII):
        hint = f"use a pattern or one of {', '.join(NAMED)}"
        raise PatternError("no pre-tokenizer has this name", value=splitting, hint=hint)
    return _shared(Splitting("tiktoken", (Split(splitting),)))
