"""Pre-tokenizers as files define them: splitting steps, the pieces that they make of matches, and those in use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

Behavior: TypeAlias = Literal["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
Library: TypeAlias = Literal["tokenizers", "tiktoken", "llama.cpp"]


@dataclass(frozen=True, slots=True)
class Split:
    """One splitting step: a pattern, whether it is inverted, and the treatment of the matches."""

    pattern: str
    behavior: Behavior = "isolated"
    invert: bool = False
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Splitting:
    """The pre-tokenizer of a file: a name or the steps, in order, with the library that defines the character classes.

    With `prefix_space`, a segment that does not begin with a space gets one before the step of that index; with
    `prefix_once`, only a segment that begins the text does. If `metaspace` is a character, it replaces all spaces
    before the step of index `metaspace_at`; then `prefix_space` is None or the same index and adds this character
    instead of a space. Last, `byte_steps` split the pieces, spelled in GPT-2's byte alphabet, and may so cut a
    character apart. `unicode` is the name of the table that the classes are of, such as ``tokenizers==0.21.1``; None is
    the newest one of the library.
    """

    library: Library
    steps: tuple[Split, ...] = ()
    prefix_space: int | None = None
    metaspace: str | None = None
    prefix_once: bool = False
    metaspace_at: int = 0
    byte_steps: tuple[Split, ...] = ()
    unicode: str | None = field(default=None, repr=False)

    @property
    def table(self) -> str:
        """The name of the table that the classes are of; see :mod:`tokdfa.regex.unicode.versions`."""
        return self.unicode or self.library

    @property
    def is_nothing(self) -> bool:
        """Whether every text is one piece and stays unchanged."""
        return not self.steps and not self.byte_steps and self.prefix_space is None and self.metaspace is None

    @property
    def all_steps(self) -> tuple[Split, ...]:
        """The steps, those that split bytes last."""
        return (*self.steps, *self.byte_steps)

    def without(self, gone: Set[str]) -> Splitting:
        """Return the splitting without the steps that split at a text with characters that no text has."""
        kept = (step for step in self.steps if not (step.literal and not step.invert and gone & {*step.pattern}))
        return replace(self, steps=tuple(kept)) if gone else self


ONE_SCRIPT = r"\p{unicode_script}+"
"""A character with a script and all after it that have the same one or any: no regular expression of the library."""

OWN_CLASS = re.compile(r"\\[pP]\{\^?(?:is|whitespace|unicode)_\w+\}")
"""The classes of other steps of the library, which no pattern of a file can name."""

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_LIKE_LLAMA3 = (
    _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|" + "%s" + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|" + _SPACES
)  # fmt: skip
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_NOT_HAN = r"&&[^\p{Han}]]"
_KIMI_UPPER, _KIMI_LOWER = _UPPER.replace("]", _NOT_HAN), _LOWER.replace("]", _NOT_HAN)
_LIKE_O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+%(end)s|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*%(end)s"
    rf"|%(digits)s| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
)
_ASCII_PUNCTUATION = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""

NAMED: dict[str, Splitting] = {
    "gpt2": Splitting(
        "tokenizers", (Split(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),)
    ),
    "gpt2_tiktoken": Splitting(
        "tiktoken", (Split(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"),)
    ),
    "cl100k": Splitting(
        "tiktoken",
        (
            Split(
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
                r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
            ),
        ),
    ),
    "o200k": Splitting("tiktoken", (Split(_LIKE_O200K % {"end": _CONTRACTIONS + "?", "digits": r"\p{N}{1,3}"}),)),
    "llama3": Splitting("tokenizers", (Split(_LIKE_LLAMA3 % r"\p{N}{1,3}"),)),
    "qwen2": Splitting("tokenizers", (Split(_LIKE_LLAMA3 % r"\p{N}"),)),
    "tekken": Splitting("tiktoken", (Split(_LIKE_O200K % {"end": "", "digits": r"\p{N}"}),)),
    "kimi": Splitting(
        "tiktoken",
        (
            Split(
                rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?{_KIMI_UPPER}*{_KIMI_LOWER}+{_CONTRACTIONS}?"
                rf"|[^\r\n\p{{L}}\p{{N}}]?{_KIMI_UPPER}+{_KIMI_LOWER}*{_CONTRACTIONS}?|\p{{N}}{{1,3}}"
                rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
            ),
        ),
    ),
    "deepseek": Splitting(
        "tokenizers",
        (
            Split(r"\p{N}{1,3}"),
            Split("[一-龥぀-ゟ゠-ヿ]+"),
            Split(
                _ASCII_PUNCTUATION
                + "[A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
                + "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
            ),
        ),
    ),
}
"""Named pre-tokenizers, each with the library whose pattern and character classes it uses."""


_WORD, _BLANK = r"\p{whitespace_word}", r"\p{whitespace_space}"
WHITESPACE = Split(f"{_WORD}+|[^{_WORD}{_BLANK}]+", "removed", invert=True)
WHITESPACE_SPLIT = Split(r"\p{is_whitespace}", "removed")
BERT = (WHITESPACE_SPLIT, Split(r"\p{is_bert_punctuation}"))
"""The steps Whitespace, WhitespaceSplit and BertPreTokenizer of tokenizers, which drop spaces."""

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

    Spans cover the text, each with whether it is a match; an empty match ends the piece before it. ``removed`` drops
    the matches; ``isolated`` makes each a piece; ``contiguous`` joins matches that touch; ``merged_with_previous`` and
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
