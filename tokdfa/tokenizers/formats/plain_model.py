"""The vocabulary and the rules of a tokenizer.json that is written plainly, read without objects for their strings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.errors import FileFormatError
from tokdfa.kernels.spelling.lookup import WordTable
from tokdfa.kernels.spelling.model import NOWHERE, SEPARATOR, ModelText, Scores, read_model
from tokdfa.tokenizers.decoder import Spellings
from tokdfa.tokenizers.formats.contents import LARGEST_ID
from tokdfa.tokenizers.formats.json_text import JsonObject, parse_object
from tokdfa.tokenizers.formats.written import Pairs, Vocabulary


class PlainFile(NamedTuple):
    """A file whose model has a sound vocabulary and sound rules; `top` is the file without these.

    `pairs` returns the rules, given a function that reads them slowly: it is called for rules as strings, and for the
    errors that they deserve.
    """

    top: JsonObject
    vocabulary: Vocabulary
    pairs: Callable[[Callable[[], Pairs]], Pairs]


class PlainWords(NamedTuple):
    """A file whose model has a sound vocabulary and no rules; `top` is the file without the vocabulary."""

    top: JsonObject
    vocabulary: Vocabulary
    scores: Scores | None


def read_plain(data: bytes, path: Path) -> PlainFile | None:
    """Read a tokenizer.json whose vocabulary and rules are written plainly; None if anything is odd, or wrong.

    Then :func:`~tokdfa.tokenizers.formats.json_text.parse_object` finds out what.
    """
    found = read_model(data, LARGEST_ID)
    if found is None or found.merges == NOWHERE:
        return None
    top = _rest(_without(data, (found.vocab, b"{}"), (found.merges, b"[]")), path, float, vocab={}, merges=[])
    vocabulary = None if top is None else _vocabulary(found)
    if top is None or vocabulary is None:
        return None

    def pairs(slowly: Callable[[], Pairs]) -> Pairs:
        inner = SEPARATOR if found.in_pairs else ord(" ")
        rules = found.rules[:-1]
        return Pairs(
            rules, found.n_rules, inner, SEPARATOR, lambda: slowly().columns, lambda index: slowly().where(index)
        )

    return PlainFile(top, vocabulary, pairs)


def read_plain_words(
    data: bytes, path: Path, number: Callable[[str], float], *, scored: bool = False
) -> PlainWords | None:
    """Read a tokenizer.json whose vocabulary is written plainly, and that has no rules; None as for `read_plain`.

    `number` reads a number that is not an integer from its spelling, outside of the vocabulary; `scored` is whether the
    vocabulary is an array of words with scores.
    """
    found = read_model(data, LARGEST_ID, scored=scored)
    if found is None or found.merges != NOWHERE:
        return None
    empty: Any = [] if scored else {}
    top = _rest(_without(data, (found.vocab, b"[]" if scored else b"{}")), path, number, vocab=empty)
    vocabulary = None if top is None else _vocabulary(found)
    return None if top is None or vocabulary is None else PlainWords(top, vocabulary, found.scores)


def _rest(data: bytes, path: Path, number: Callable[[str], float], **parts: object) -> JsonObject | None:
    """Parse a file without the parts of its model; None if it is wrong, or has others."""
    try:
        top = parse_object(data, path, number=number)
    except FileFormatError:
        return None
    model = top.fields.get("model")
    # A key may have been written in two ways.
    if not isinstance(model, dict) or any(model.get(key) != part for key, part in parts.items()):
        return None
    return None if "merges" in model and "merges" not in parts else top


def _vocabulary(found: ModelText) -> Vocabulary | None:
    """Return the vocabulary; None if two words, or two ids, are equal."""
    has_id = np.zeros(int(found.ids.max()) + 1, dtype=np.bool_)
    has_id[found.ids] = True
    table = WordTable(found.text, found.offsets, 1)
    if table.again >= 0 or np.count_nonzero(has_id) < len(found.ids):
        return None
    return Vocabulary.of_text(Spellings(found.text, found.offsets), found.ids, table)


def _without(data: bytes, *parts: tuple[tuple[int, int], bytes]) -> bytes:
    """Return the file with other text in the place of its parts."""
    kept, at = [], 0
    for (begin, end), other in sorted(parts):
        kept += [data[at:begin], other]
        at = end
    return b"".join((*kept, data[at:]))
