"""The vocabulary and the rules of a tokenizer.json that is written plainly, read without objects for their strings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tokdfa.errors import FileFormatError
from tokdfa.kernels.spelling.lookup import WordTable
from tokdfa.kernels.spelling.model import SEPARATOR, ModelText, read_model
from tokdfa.tokenizers.decoder import Spellings
from tokdfa.tokenizers.formats.contents import LARGEST_ID
from tokdfa.tokenizers.formats.json_text import JsonObject, parse_object
from tokdfa.tokenizers.formats.pairs import Pairs
from tokdfa.tokenizers.formats.spelled_ids import Vocabulary

__all__ = ["PlainFile", "read_plain"]


class PlainFile(NamedTuple):
    """A file whose model has a vocabulary and rules without faults of their own.

    Attributes
    ----------
    top : JsonObject
        The file with an empty vocabulary and no rules.
    vocabulary : Vocabulary
    pairs : callable
        Returns the rules, given a function that reads them slowly: it is called for rules as strings, and for the
        errors that they deserve.
    """

    top: JsonObject
    vocabulary: Vocabulary
    pairs: Callable[[Callable[[], Pairs]], Pairs]


def read_plain(data: bytes, path: Path) -> PlainFile | None:
    """Read a tokenizer.json whose vocabulary and rules are written plainly.

    Returns
    -------
    PlainFile or None
        None if anything is odd, or wrong; :func:`~tokdfa.tokenizers.formats.json_text.parse_object` finds out what.
    """
    found = read_model(data, LARGEST_ID)
    if found is None:
        return None
    try:
        top = parse_object(_without(data, found), path)
    except FileFormatError:
        return None
    model = top.fields.get("model")
    # A key may have been written in two ways.
    if not isinstance(model, dict) or model.get("vocab") != {} or model.get("merges") != []:
        return None
    has_id = np.zeros(int(found.ids.max()) + 1, dtype=np.bool_)
    has_id[found.ids] = True
    table = WordTable(found.text, found.offsets, 1)
    if table.again >= 0 or np.count_nonzero(has_id) < len(found.ids):
        return None
    vocabulary = Vocabulary.of_text(Spellings(found.text, found.offsets), found.ids, table)

    def pairs(slowly: Callable[[], Pairs]) -> Pairs:
        inner = SEPARATOR if found.in_pairs else ord(" ")
        rules = found.rules[:-1]
        return Pairs(
            rules, found.n_rules, inner, SEPARATOR, lambda: slowly().columns, lambda index: slowly().where(index)
        )

    return PlainFile(top, vocabulary, pairs)


def _without(data: bytes, found: ModelText) -> bytes:
    """Return the file with an empty object in the place of the vocabulary, and an empty array in that of the rules."""
    (first, one), (second, other) = sorted(((found.vocab, b"{}"), (found.merges, b"[]")))
    return b"".join((data[: first[0]], one, data[first[1] : second[0]], other, data[second[1] :]))
