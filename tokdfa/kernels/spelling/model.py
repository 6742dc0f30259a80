"""Reading the vocabulary and the rules of a tokenizer.json where they are written plainly, as nearly always."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array, Uint8Array
from tokdfa.kernels.library import Struct, lib

__all__ = ["SEPARATOR", "ModelText", "read_model"]

SEPARATOR = 0
"""The byte after each word, and after each part of a rule; no word that is read contains it."""

# A word of one byte, its quotation marks, a colon, a digit and a comma.
_LEAST_ENTRY = 6


class ModelText(NamedTuple):
    """What is read.

    Attributes
    ----------
    text, offsets : uint8 and int64 arrays
        The words of the vocabulary in UTF-8: word i is ``text[offsets[i] : offsets[i + 1] - 1]``, and the separator
        follows it. None is empty; there may be equal ones.
    ids : int32 array
        Their ids.
    rules : uint8 array
        The rules as strings, or the parts of rules, each followed by the separator.
    n_rules : int
    in_pairs : bool
        Whether the rules are pairs of strings.
    vocab, merges : pairs of int
        The first byte of each, which is a bracket, and the byte after the other bracket.
    """

    text: Uint8Array
    offsets: Int64Array
    ids: Int32Array
    rules: Uint8Array
    n_rules: int
    in_pairs: bool
    vocab: tuple[int, int]
    merges: tuple[int, int]


def read_model(data: bytes, largest_id: int) -> ModelText | None:
    """Read the members ``vocab`` and ``merges`` of the member ``model`` of a JSON object: O(n).

    What is outside them is skipped, and not checked: the file is JSON if it is with an empty object and an empty array
    in their places.

    Parameters
    ----------
    data : bytes
    largest_id : int
        The largest id that is read: less than 2**31, and not negative.

    Returns
    -------
    ModelText or None
        None if one of them is not there, or is anything but a vocabulary of words and ids and a list of strings, or of
        pairs of strings; if it is not UTF-8, has half of a surrogate pair or U+0000, or an empty word; or if a word is
        missing altogether.

    Raises
    ------
    ValueError
        If the largest id is too large.
    """
    if not 0 <= largest_id < 1 << 31:
        raise ValueError(f"{largest_id} is no largest id")
    most = len(data) // _LEAST_ENTRY + 1
    # What is not written to takes no memory.
    words, rules = (np.empty(len(data) + 1, dtype=np.uint8) for _ in range(2))
    offsets, ids = np.empty(most + 1, dtype=np.int64), np.empty(most, dtype=np.int32)
    model = Struct(
        "tokdfa_model_text",
        data=np.frombuffer(data or b"\0", dtype=np.uint8),
        n_data=len(data),
        largest_id=largest_id,
        most_ids=most,
        words=words,
        offsets=offsets,
        ids=ids,
        rules=rules,
        **dict.fromkeys(
            (
                *("n_ids", "n_rules", "n_rule_bytes", "in_pairs"),
                *("vocab_begin", "vocab_end", "merges_begin", "merges_end"),
            ),
            0,
        ),
    )
    if not lib.tokdfa_read_model(model.pointer):
        return None
    found = model.pointer
    return ModelText(
        words[: int(offsets[found.n_ids])],
        offsets[: found.n_ids + 1],
        ids[: found.n_ids],
        rules[: found.n_rule_bytes],
        found.n_rules,
        bool(found.in_pairs),
        (found.vocab_begin, found.vocab_end),
        (found.merges_begin, found.merges_end),
    )
