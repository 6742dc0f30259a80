"""Reasons of violations, taken apart: what kind they are, which rule and which tokens they name."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["KINDS", "Kind", "Reason", "kind_of", "read_reason"]

MAX_PART = 160

# Tokens and texts are quoted as Python quotes them; a rule stands between its number and what it does.
_QUOTED = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_RULE = re.compile(r": rule (\d+), (.*), merges across their border\Z", re.DOTALL)
_PAIR = re.compile(r"“” \((\d+)\) never stands behind “” \((\d+)\)\Z")


class Reason(NamedTuple):
    """A reason.

    Attributes
    ----------
    parts : list of str
        The sentence; every second part is a token or a text.
    template : str
        The sentence without the tokens and texts in it.
    pair : tuple of int or None
        The ids of two neighbours that may not be neighbours.
    rule : int or None
        The rule that keeps them apart.
    """

    parts: list[str]
    template: str
    pair: tuple[int, int] | None
    rule: int | None


class Kind(NamedTuple):
    """A kind of violation: what it is called, and what it means."""

    name: str
    meaning: str


KINDS: tuple[tuple[str, Kind], ...] = (
    (
        "never stands behind",
        Kind("pair not allowed", "The token DFA has no transition for the second of two neighbours in one piece."),
    ),
    (
        "goes on behind the end of",
        Kind("across a border", "A token goes on where the text is cut, by the pre-tokenizer or by a special token."),
    ),
    (
        "not UTF-8",
        Kind("not a text", "The bytes are not UTF-8, so that no text has these ids."),
    ),
    (
        "special token",
        Kind("special token", "The text spells a special token that the ids do not have, or the other way round."),
    ),
    ("merging never gives", Kind("dead token", "No order of merging ends with this token.")),
    ("whole piece only", Kind("whole pieces only", "The token comes about only where it is the whole piece.")),
    ("is emitted as it is", Kind("piece is a token", "The piece is itself a token, and is taken as it is.")),
    ("longest match", Kind("not the longest match", "WordPiece takes the longest entry, and this is not it.")),
    ("spells nothing", Kind("empty token", "A token without text is never given.")),
    (
        "whatever else is around it",
        Kind("in no text", "No text has this token behind the one before it, whatever else is around them."),
    ),
    ("no text ends like this", Kind("in no text", "No text ends like this.")),
    ("cannot be encoded", Kind("not a text", "The tokenizer refuses the text.")),
    ("no text has this token", Kind("not a text", "No text has this token.")),
    ("encoded otherwise", Kind("encoded otherwise", "The text, encoded again, has other ids.")),
    ("the text is encoded as", Kind("encoded otherwise", "The text, encoded again, has other ids.")),
)


def read_reason(reason: str) -> Reason:
    """Take a reason apart."""
    rule = _RULE.search(reason)
    head = reason if rule is None else reason[: rule.start()]
    parts = _QUOTED.split(head)
    template = "".join("“”" if number % 2 else part for number, part in enumerate(parts))
    pair = _PAIR.search(template)
    if rule is not None:
        parts[-1] += f": rule {int(rule[1]):,}, "
        parts += [rule[2].replace(" ", "␣"), ", merges across their border"]
        template += ": a rule merges across their border"
    return Reason(
        [_shortened(part) for part in parts],
        template,
        None if pair is None else (int(pair[2]), int(pair[1])),
        None if rule is None else int(rule[1]),
    )


def kind_of(template: str) -> Kind:
    """Return the kind of a template; one that is not known stands for itself, but for its numbers."""
    for words, kind in KINDS:
        if words in template:
            return kind
    return Kind(_shortened(re.sub(r"\d+", "…", template)), "")


def _shortened(part: str) -> str:
    half = MAX_PART // 2
    return part if len(part) <= MAX_PART else f"{part[:half]} … {part[-half:]}"
