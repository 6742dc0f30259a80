"""From the matches of a pattern to pieces, as the behaviors of tokenizers define them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from tokdfa.tokenizers.pretokenizers.steps import Behavior, Split

__all__ = ["Flagged", "Span", "behave", "split_piece"]

Span: TypeAlias = tuple[int, int]
Flagged: TypeAlias = list[tuple[Span, bool]]


def split_piece(piece: str, step: Split, program: Any) -> list[Span]:
    """Return the pieces into which a step of tokenizers splits a piece, by the step's compiled pattern."""
    flagged = list(_with_gaps(_matches(piece, program), len(piece)))
    return behave([(span, matched != step.invert) for span, matched in flagged], step.behavior)


def _matches(piece: str, program: Any) -> Iterator[Span]:
    """Yield the matches as tokenizers does: an empty one right where the last one ended does not count."""
    at, last_end = 0, -1
    while at <= len(piece):
        match = program.search(piece, at)
        if match is None:
            return
        start, end = match.span()
        if start == end == last_end:
            at += 1
            continue
        yield start, end
        at = last_end = end


def _with_gaps(matches: Iterable[Span], length: int) -> Iterator[tuple[Span, bool]]:
    """Yield the matches and the gaps between them, each with whether it is a match; some may be empty."""
    at = 0
    for start, end in matches:
        if at < start:
            yield (at, start), False
        yield (start, end), True
        at = end
    if at < length:
        yield (at, length), False


def behave(flagged: Flagged, behavior: Behavior) -> list[Span]:
    """Return the pieces with text that a behavior of tokenizers makes of matches and the gaps between them.

    Spans cover the text, each with whether it is a match; an empty match ends what is before it. ``removed`` drops the
    matches; ``isolated`` makes each a piece; ``contiguous`` joins matches that touch; ``merged_with_previous`` and
    ``merged_with_next`` join a match with the piece before or after it, unless that is a match, too.
    """
    return [(start, end) for start, end in _joined(flagged, behavior) if start < end]


def _joined(flagged: Flagged, behavior: Behavior) -> list[Span]:
    """Return the pieces, including those without text."""
    if behavior == "removed":
        return [span for span, matched in flagged if not matched]
    if behavior == "isolated":
        return [span for span, _ in flagged]
    backward = behavior == "merged_with_next"
    merged: list[list[int]] = []
    previous: bool | None = None
    for (start, end), matched in reversed(flagged) if backward else flagged:
        joins = matched == previous if behavior == "contiguous" else matched and previous is False
        previous = matched
        if not joins:
            merged.append([start, end])
        elif backward:
            merged[-1][0] = start
        else:
            merged[-1][1] = end
    return [(start, end) for start, end in (reversed(merged) if backward else merged)]
