"""Showing the tokens of a tokenizer on a page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from tokdfa.draw.labels import word_label
from tokdfa.draw.report.markup import Markup, escape, tag
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["ESCAPES", "Spelling", "cut_down", "marked_up", "shortened"]

MAX_LABEL = 48
MAX_QUOTE = 160

# What a label shows for characters that do not print; see `word_label`. report.js has the same.
ESCAPES = re.compile(r"(\\(?:[\\ntr]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})|␣)")

PLAIN, SPECIAL, NOT_TEXT, COMBINING = "", "special", "bytes", "combining"


class Spelling:
    """The tokens of a tokenizer as labels, each with its class. It remembers those that are shown.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    """

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        self._tokenizer = tokenizer
        self._text, self._offsets = tokenizer.id_spellings
        self._special = frozenset(tokenizer.special_ids.tolist())
        self._known: dict[int, tuple[str, str]] = {}

    def length(self, id: int) -> int:
        """Return the number of bytes of an id; 0 if no token has it."""
        if not self._tokenizer.decoder.is_id(id):
            return 0
        return int(self._offsets[id + 1] - self._offsets[id])

    def word(self, id: int) -> bytes:
        """Return the bytes of an id."""
        return self._text[self._offsets[id] : self._offsets[id + 1]].tobytes()

    def same(self, id: int, other: Spelling) -> bool:
        """Return whether an id has the same bytes in another tokenizer."""
        return self.word(id) == other.word(id)

    def note(self, ids: Iterable[int]) -> None:
        """Remember that these ids are shown."""
        for id in ids:
            if id not in self._known:
                self._known[id] = self._label(id)

    def label(self, id: int) -> str:
        """Return the label of an id."""
        return (self._known.get(id) or self._label(id))[0]

    def _label(self, id: int) -> tuple[str, str]:
        """Return the label of an id and its class: special, bytes, combining or none of these."""
        if not self._tokenizer.decoder.is_id(id):
            return "no token", SPECIAL  # The id separates documents, or is out of range.
        word = self._tokenizer.name_of(id)
        try:
            text = word.decode("utf-8")
        except UnicodeDecodeError:
            kind = NOT_TEXT
        else:
            kind = COMBINING if text and unicodedata.category(text[0])[0] == "M" else PLAIN
        return shortened(word_label(word)), SPECIAL if id in self._special else kind

    def table(self) -> dict[str, list[str]]:
        """Return, for each id that is shown, its label and its class."""
        return {str(id): [*self._known[id]] for id in sorted(self._known)}


def shortened(label: str) -> str:
    """Return a label, shortened in the middle if it is long."""
    if len(label) <= MAX_LABEL:
        return label
    parts = [part for part in ESCAPES.split(label) if part]
    signs = [sign for part in parts for sign in ([part] if ESCAPES.fullmatch(part) else part)]
    half = MAX_LABEL // 2 - 1
    return label if len(signs) <= MAX_LABEL else "".join([*signs[:half], "…", *signs[-half:]])


def cut_down(text: str) -> str:
    """Return a text, shortened in the middle if it is long."""
    half = MAX_QUOTE // 2
    return text if len(text) <= MAX_QUOTE else f"{text[:half]} … {text[-half:]}"


def marked_up(label: str) -> Markup:
    """Return a label with its escapes marked up."""
    parts = ESCAPES.split(label)
    return Markup("".join(tag("i", part) if number % 2 else escape(part) for number, part in enumerate(parts)))
