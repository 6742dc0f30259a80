"""The pieces of a text before any merge: where it is cut, by which step, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, overload

from tokdfa.base.errors import AlphabetError
from tokdfa.base.suggestions import SuggestsNames
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.texts import check_text
from tokdfa.tokenizers.pretokenizers.explanation import Look, alternatives, explain, look_aheads
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import BERT, Span, Splitting

if TYPE_CHECKING:
    from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Piece", "Pieces", "SplitStep", "split_text"]

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Piece(SuggestsNames):
    """A piece of a text.

    Attributes
    ----------
    text : str
        The piece as its tokens spell it, with a space that is put before it and replacements of spaces. The bytes of a
        character that is cut apart are halves of surrogate pairs, as of ``surrogateescape``.
    start, end : int
        Its position in the text: offsets in bytes of UTF-8.
    step : int, optional
        The last step of the pre-tokenizer that has the piece as a match; None if it is text between matches.
    alternative : int, optional
        The number of the alternative of that step's pattern that matched, from 0; None without one. For a step that
        joins matches with their neighbours, the alternative of the first match in the piece.
    looked_ahead : int, optional
        The number of symbols after the piece that the machine read before both ends of the piece were settled; None if
        the splitting has no machine.
    to_end : bool
        Whether only the end of the text, or of the segment between special tokens, settled them.
    special : int, optional
        The id, if the piece is a special token.

    Examples
    --------
    >>> tokdfa.default_tokenizer().split("a man")[1]
    Piece(text=' man', start=1, end=5, step=0, alternative=7, looked_ahead=0, to_end=True, special=None)
    """

    text: str
    start: int
    end: int
    step: int | None = None
    alternative: int | None = None
    looked_ahead: int | None = None
    to_end: bool = False
    special: int | None = None


@dataclass(frozen=True, slots=True)
class SplitStep(SuggestsNames):
    """A step of a pre-tokenizer, and the pieces that it makes of a text.

    Attributes
    ----------
    pattern : str
    alternatives : tuple of str
        The alternatives of the pattern, in the order in which they are tried.
    behavior : str
        The treatment of matches: ``removed``, ``isolated``, ``merged_with_previous``, ``merged_with_next`` or
        ``contiguous``.
    invert : bool
        Whether matches and the text between them change roles.
    literal : bool
        Whether the pattern is matched as it is written.
    pieces : tuple of Piece
        The pieces after this step, special tokens included. Their `looked_ahead` counts for the step alone, in the
        piece that it split.

    Examples
    --------
    >>> (step,) = tokdfa.default_tokenizer().split("a man").steps
    >>> step.behavior, len(step.alternatives), [piece.text for piece in step.pieces]
    ('isolated', 12, ['a', ' man'])
    """

    pattern: str
    alternatives: tuple[str, ...]
    behavior: str
    invert: bool
    literal: bool
    pieces: tuple[Piece, ...]


class Pieces(SuggestsNames, Sequence[Piece]):
    """The pieces of a text, in order; made by :meth:`AnyTokenizer.split`.

    Attributes
    ----------
    text : str
        The text that the positions are of: the text that was split, after normalization if the tokenizer normalizes.
    steps : tuple of SplitStep
        The steps of the pre-tokenizer with the pieces that each makes; empty if they were not to be explained.

    Examples
    --------
    >>> pieces = tokdfa.default_tokenizer().split("a man")
    >>> len(pieces), pieces[0].text, pieces.text
    (2, 'a', 'a man')
    """

    def __init__(self, text: str, pieces: Sequence[Piece], steps: Sequence[SplitStep]) -> None:
        self.text = text
        self.steps = tuple(steps)
        self._pieces = tuple(pieces)

    def __len__(self) -> int:
        return len(self._pieces)

    @overload
    def __getitem__(self, index: int) -> Piece: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Piece, ...]: ...
    def __getitem__(self, index: int | slice) -> Piece | tuple[Piece, ...]:
        return self._pieces[index]

    def __repr__(self) -> str:
        return f"<Pieces: {len(self)} of {len(self.text)} characters>"


def split_text(tokenizer: AnyTokenizer, text: str, *, explained: bool = True) -> Pieces:
    """Return the pieces of a text; see :meth:`AnyTokenizer.split`."""
    check_text(text)
    if found := _SURROGATE.search(text):
        raise AlphabetError("half of a surrogate pair", value=found.group(), where=f"character {found.start()}")
    of = tokenizer.pretokenizer
    splits = pretokenizer(Splitting("tokenizers", BERT)) if isinstance(of, str) else of
    steps = () if splits is None or not explained else splits.splitting.all_steps
    whole: list[str] = []
    pieces: list[Piece] = []
    levels: list[list[Piece]] = [[] for _ in steps]
    at = 0
    for segment, begins in tokenizer.segments(text):
        if isinstance(segment, Special):
            whole.append(segment.text)
            size = len(segment.text.encode())
            special = Piece(segment.text, at, at + size, special=segment.id)
            for level in (pieces, *levels):
                level.append(special)
            at += size
            continue
        whole.append(segment)
        found_pieces, found_levels = _of_segment(splits, segment, begins, at, explained=explained)
        pieces += found_pieces
        for level, found_level in zip(levels, found_levels, strict=True):
            level += found_level
        at += len(segment.encode())
    described = (
        SplitStep(step.pattern, alternatives(step), step.behavior, step.invert, step.literal, tuple(level))
        for step, level in zip(steps, levels, strict=True)
    )
    return Pieces("".join(whole), pieces, tuple(described))


def _of_segment(
    splits: PreTokenizer | None, text: str, begins: bool, at: int, *, explained: bool
) -> tuple[list[Piece], list[list[Piece]]]:
    """Return the pieces of a text between special tokens that begins at byte `at`, and the pieces after each step."""
    positions = [*accumulate((len(symbol.encode()) for symbol in text), initial=at)]
    if splits is None:
        look = Look(0, to_end=True) if explained else None
        return [_piece(text, (at, positions[-1]), None, None, look)], []
    splitting = splits.splitting
    levels: list[list[Piece]] = []
    made: dict[Span, tuple[int, int | None]] = {}
    for number, level in enumerate(explain(splits, text, begins=begins) if explained or splitting.byte_steps else ()):
        pieces = []
        for part in level:
            in_bytes = number >= len(splitting.steps)
            span = (at + part.start, at + part.end) if in_bytes else (positions[part.start], positions[part.end])
            step = None if part.alternative is None else number
            pieces.append(_piece(part.text, span, step, part.alternative, part.look))
            if part.is_match:
                made[span] = number, part.alternative
            elif step is not None and number == len(splitting.all_steps) - 1:
                made.setdefault(span, (number, part.alternative))
        levels.append(pieces)
    if splitting.byte_steps:
        spelled = [(piece.text, (piece.start, piece.end)) for piece in levels[-1]]
    else:
        spans = [(positions[start], positions[end]) for start, end in splits.spans(text, begins=begins)]
        spelled = list(zip(splits.split(text, begins=begins), spans, strict=True))
    if not explained:
        return [_piece(piece, span, None, None, None) for piece, span in spelled], []
    of_whole = None if splitting.byte_steps else look_aheads(splits.splitter, splits.spelled(text, begins=begins))
    looks: list[Look | None] = [None] * len(spelled) if of_whole is None else [*of_whole.values()]
    final = []
    for (piece, span), look in zip(spelled, looks, strict=True):
        step, alternative = made.get(span, (None, None))
        final.append(_piece(piece, span, step, alternative, look))
    return final, levels


def _piece(text: str, span: Span, step: int | None, alternative: int | None, look: Look | None) -> Piece:
    symbols, to_end = (None, False) if look is None else (look.symbols, look.to_end)
    return Piece(text, *span, step, alternative, symbols, to_end)
