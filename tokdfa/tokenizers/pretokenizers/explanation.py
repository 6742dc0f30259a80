"""The effect of each step of a pre-tokenizer: which alternative matched, and how far the machine had to look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.regex.backtracking import spell_out
from tokdfa.regex.syntax import parse
from tokdfa.regex.unicode.utf8 import spell
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.pretokenizers.splitter import Splitter
from tokdfa.tokenizers.pretokenizers.step_trees import step_tree
from tokdfa.tokenizers.pretokenizers.steps import ONE_SCRIPT, Span, Split, Splitting, split_piece

_FLAGS = re.compile(r"(?:\(\?[a-zA-Z-]+\))*")
DEFAULT_MAX_SECONDS = 10.0
"""Longer than any honest match takes; a pattern that backtracks without end is given up."""


@dataclass(frozen=True, slots=True)
class Look:
    """How far the machine read before a cut was settled: `symbols` after the end of the piece, or the whole text.

    If `to_end`, only the end of the text settled it.
    """

    symbols: int
    to_end: bool


@dataclass(frozen=True, slots=True)
class Part:
    """A piece as a step makes it.

    `text` is the piece as it is spelled, with a space put before it; `start` and `end` are offsets in code points, or
    in bytes for steps that split bytes. `alternative` is the number of the alternative of the step's pattern that
    matched in it, the first match if there are several; None if none did; `is_match` says whether the piece is that
    match and nothing else. `look` says how far the machine of the step read; None if the step has no machine.
    """

    text: str
    start: int
    end: int
    alternative: int | None
    is_match: bool
    look: Look | None


def alternatives(step: Split) -> tuple[str, ...]:
    """Return the alternatives of a step's pattern, as they are written.

    Examples
    --------
    >>> from tokdfa.tokenizers.pretokenizers.explanation import alternatives
    >>> from tokdfa.tokenizers.pretokenizers.steps import Split
    >>> alternatives(Split(r"'s|[|a]+|(b|c)"))
    ("'s", '[|a]+', '(b|c)')
    """
    if step.literal or step.pattern == ONE_SCRIPT:
        return (step.pattern,)
    found: list[str] = []
    begin = depth = 0
    brackets: list[int] = []  # where the open ones begin
    at = 0
    pattern = step.pattern
    while at < len(pattern):
        symbol = pattern[at]
        if symbol == "\\":
            at += 1
        elif brackets:
            first = brackets[-1] + (2 if pattern.startswith("[^", brackets[-1]) else 1)
            if symbol == "]" and at > first - (pattern[first : first + 1] != "]"):
                brackets.pop()
            elif symbol == "[" and at >= first:
                brackets.append(at)
        elif symbol == "[":
            brackets.append(at)
        elif symbol in "()":
            depth += 1 if symbol == "(" else -1
        elif symbol == "|" and not depth:
            found.append(pattern[begin:at])
            begin = at + 1
        at += 1
    return (*found, pattern[begin:])


@lru_cache(maxsize=64)
def _program(step: Split, splitting: Splitting) -> Any:
    """Return the pattern of a step for the backtracking engine, with a named group for each alternative."""
    import regex

    whole = step_tree(step, splitting)
    parts = alternatives(step)
    if len(parts) == 1:
        return regex.compile(f"(?P<a0>{spell_out(whole)})", regex.VERSION0)
    # Flags at the beginning of the pattern hold for all alternatives.
    flags = _FLAGS.match(step.pattern)
    assert flags is not None  # it matches the empty text
    spelled = [
        spell_out(parse(part if number == 0 else flags.group() + part, splitting.table))
        for number, part in enumerate(parts)
    ]
    return regex.compile("|".join(f"(?P<a{number}>{part})" for number, part in enumerate(spelled)), regex.VERSION0)


class _Recorder:
    """A compiled pattern that remembers the alternative of each of its matches."""

    def __init__(self, program: Any, max_seconds: float) -> None:
        self._program = program
        self._max_seconds = max_seconds
        self.found: list[tuple[Span, int]] = []

    def search(self, text: str, at: int) -> Any:
        """Return the first match from an offset on, as the compiled pattern does."""
        try:
            match = self._program.search(text, at, timeout=self._max_seconds)
        except TimeoutError:
            what = f"finding a match of the pattern took more than {self._max_seconds:g} s"
            raise LimitExceededError(what, value=text[at : at + 40], hint="explain a shorter text") from None
        if match is not None and match.end() > match.start():
            self.found.append((match.span(), int(match.lastgroup[1:])))
        return match

    def finditer(self, text: str) -> Iterator[Any]:
        """Yield the matches, never empty ones, as the compiled pattern does."""
        match = self.search(text, 0)
        while match is not None:
            yield match
            match = self.search(text, match.end())


def explain(
    of: PreTokenizer, text: str, *, begins: bool = True, max_seconds: float = DEFAULT_MAX_SECONDS
) -> list[list[Part]]:
    """Return the pieces that each step makes of a text, step by step.

    `begins` says whether `text` begins a text, rather than following a special token. If the pattern of a step
    backtracks for longer than `max_seconds`, LimitExceededError is raised.
    """
    splitting = of.splitting
    parts: list[Part] = []

    def split(piece: str, index: int) -> list[Span]:
        found = _parts(piece, splitting.steps[index], splitting, max_seconds)
        parts.extend(part for _, part in found)
        return [span for span, _ in found]

    levels: list[list[Part]] = []
    pieces: list[tuple[str, Span]] = []
    for pieces in of.iter_levels(text, split, begins=begins):
        if len(levels) < len(splitting.steps):
            spans = (span for _, span in pieces)
            levels.append(
                [replace(part, start=start, end=end) for part, (start, end) in zip(parts, spans, strict=True)]
            )
            parts.clear()
    if splitting.byte_steps:
        levels += _explain_bytes(splitting, text.replace(" ", splitting.metaspace or " "), pieces, max_seconds)
    return levels


def _explain_bytes(
    splitting: Splitting, text: str, pieces: list[tuple[str, Span]], max_seconds: float
) -> Iterator[list[Part]]:
    """Yield the pieces of the steps that split bytes; their offsets are bytes of the text."""
    offsets = [*accumulate((len(symbol.encode("utf-8", "surrogatepass")) for symbol in text), initial=0)]
    found = [
        ((prefix + text[start:end]).encode("utf-8"), offsets[start] - len(prefix.encode()), offsets[start])
        for prefix, (start, end) in pieces
    ]
    split = Splitting("tokenizers", unicode=splitting.unicode)
    for step in splitting.byte_steps:
        level: list[Part] = []
        inner = []
        for data, start, least in found:
            for (first, last), part in _parts(spell(data), step, split, max_seconds):
                piece = data[first:last].decode("utf-8", "surrogateescape")
                level.append(replace(part, text=piece, start=max(start + first, least), end=max(start + last, least)))
                inner.append((data[first:last], start + first, least))
        found = inner
        yield level


def _parts(piece: str, step: Split, splitting: Splitting, max_seconds: float) -> list[tuple[Span, Part]]:
    """Return the pieces that a step makes of one piece, by their offsets in it."""
    recorder = _Recorder(_program(step, splitting), max_seconds)
    if splitting.library == "tiktoken":
        spans = [match.span() for match in recorder.finditer(piece)]
    else:
        spans = split_piece(piece, step, recorder)
    looks = look_aheads(pretokenizer(Splitting(splitting.library, (step,), unicode=splitting.unicode)).splitter, piece)
    found = []
    matches = iter(recorder.found)
    match = next(matches, None)
    for start, end in spans:
        while match is not None and match[0][0] < start:
            match = next(matches, None)
        inner, alternative = match if match is not None and match[0][0] < end else (None, None)
        is_match = inner == (start, end)
        look = None if looks is None else looks.get((start, end))
        found.append(((start, end), Part(piece[start:end], start, end, alternative, is_match, look)))
    return found


def look_aheads(splitter: Splitter | None, text: str) -> dict[Span, Look] | None:
    """Return, for each piece of a text, how far a machine reads before both its ends are settled.

    The pieces are given by their offsets in code points. None without a machine, or if the text is not UTF-8.
    """
    if splitter is None:
        return None
    stream = splitter.stream()
    looks: dict[Span, Look] = {}
    index = {0: 0}  # of the symbol that begins at a byte
    n_bytes = 0
    try:
        for number, symbol in enumerate(text, 1):
            data = symbol.encode("utf-8")
            n_bytes += len(data)
            index[n_bytes] = number
            for start, end in stream.feed(data).tolist():
                looks[index[start], index[end]] = Look(number - index[end], False)
        for start, end in stream.finish().tolist():
            looks[index[start], index[end]] = Look(len(text) - index[end], True)
    except (UnicodeEncodeError, PatternError):
        return None
    return looks
