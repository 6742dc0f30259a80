"""A tokenizer as the content of files, with the parts that are lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.base.verdict import DescribedEnum


class LostPart(DescribedEnum):
    """A part of a tokenizer for which a format has no word."""

    NORMALIZER = "normalizer", "The steps that change a text before it is split."
    PRETOKENIZER = "pretokenizer", "Steps that split a text."
    TABLES = "tables", "The Unicode tables by which patterns class characters, which differ from the format's own."
    SPECIALS = "specials", "Special tokens, which are found in a text."
    FLAGS = "flags", "Flags of special tokens: white space that they take, whole words, normalized text."
    SYMBOLS = "symbols", "The treatment of symbols without a token."
    ARITHMETIC = "arithmetic", "How the sums of the scores of pieces are rounded."
    LONGEST_WORD = "longest_word", "The length from which on a word is unknown."
    PRIORITY = "priority", "An order of the rules that is not the order of the ids."
    WHOLE_PIECES = "whole_pieces", "The rule that a piece which is a token is not merged."
    TOKENS = "tokens", "Tokens that no text has among its ids; their ids are left without a meaning."
    DECODER = "decoder", "The steps from ids to text."
    ENDS = "ends", "Truncation, padding, and the special tokens that are added at the ends of a text."
    NAMES = "names", "Which tokens begin, end, pad or replace a text, and the template of chats."

    @property
    def may_change_ids(self) -> bool:
        """Whether a text may have other ids without the part."""
        return self not in (LostPart.TOKENS, LostPart.DECODER, LostPart.ENDS, LostPart.NAMES)


class Loss(NamedTuple):
    """A lost part, and what it has in the tokenizer: names of steps, texts of tokens."""

    part: LostPart
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A tokenizer in the format `target` as the content of files by name, the main one first.

    `options` are the keywords of :func:`tokdfa.load` with which the main file is loaded. The value of `specials` is the
    name of one of the files. `smaller` returns a draft without the tokens that no text has among its ids, for a format
    that may give them where the tokenizer does not.
    """

    target: str
    files: Mapping[str, bytes]
    options: Mapping[str, str] = field(default_factory=dict)
    losses: tuple[Loss, ...] = ()
    smaller: Callable[[], Draft] | None = None

    @property
    def main(self) -> str:
        """The name of the main file."""
        return next(iter(self.files))

    def options_in(self, folder: Path) -> dict[str, Any]:
        """Return the keywords of :func:`tokdfa.load` for the files in a folder."""
        return {key: str(folder / value) if key == "specials" else value for key, value in self.options.items()}


def unwritable(what: str, value: object, hint: str | None = None) -> UnsupportedFeatureError:
    """Return the error that says that a format has no word for something."""
    return UnsupportedFeatureError(what, value=value, hint=hint)
