"""Dictionaries from ranked words: any split of a word into two others is a legal merge, with the word's rank.

tiktoken's files have no rules. On what the stronger words make of a text at most one split of a word can occur
(context-invariance), and it is found by tokenizing the word itself with the stronger words. Where that leaves more than
two tokens the word is dead for merging, unless a split with a *weaker* part brings it about later: then no proper
dictionary says the same, and all splits are kept.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tokdfa.errors import FileFormatError
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Contents, Int32Array, Merges, check_bytes, number_bytes

__all__ = ["from_ranks"]


def from_ranks(words: list[bytes], ranks: npt.NDArray[np.int64], path: Path, format: str, *, first_id: int) -> Contents:
    """Return what ranked words say.

    Parameters
    ----------
    words : list of bytes
        Distinct and not empty.
    ranks : int64 array
        Their ranks, distinct and not negative.
    path : Path
        For messages.
    format : str
    first_id : int
        The id of rank 0.

    Raises
    ------
    FileFormatError
        If a byte of UTF-8 has no rank, or an id would be too large for tables.
    """
    if int(ranks.max()) + first_id > LARGEST_ID:
        raise FileFormatError(
            "rank too large", value=int(ranks.max()), where=str(path), hint=f"ids up to {LARGEST_ID} are supported"
        )
    order = np.argsort(ranks, kind="stable")
    sorted_words = words if np.array_equal(order, np.arange(len(words))) else [words[i] for i in order.tolist()]
    ids = (ranks[order] + first_id).astype(np.int32)
    lengths = np.fromiter(map(len, sorted_words), dtype=np.int64, count=len(words))
    long = lengths > 1
    long_words = [word for word in sorted_words if len(word) > 1]
    byte_ids = np.full(256, -1, dtype=np.int32)
    byte_ids[[word[0] for word in sorted_words if len(word) == 1]] = ids[~long]
    check_bytes(np.flatnonzero(byte_ids >= 0).tolist(), path)

    rules, splits = _rules(long_words, lengths[long])
    dictionary, extra, number = number_bytes(long_words, rules)
    numbered_ids = np.empty_like(number)
    numbered_ids[number] = np.concatenate((byte_ids, ids[long]))
    merges = (
        None
        if splits is None
        else Merges(number[splits[:, 0]], number[splits[:, 1]], splits[:, 2], number[splits[:, 2]])
    )
    return Contents(
        format=format, dictionary=dictionary, extra=extra, ids=numbered_ids, whole_piece=True, merges=merges
    )


def _rules(words: list[bytes], lengths: npt.NDArray[np.int64]) -> tuple[Int32Array, Int32Array | None]:
    """Return the rules and, if they are improper, all splits, both as rows (left, right, product) by ascending rank."""
    from tokdfa.kernels.merging import derive

    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    nothing = np.empty(0, dtype=np.int32)
    left, right, first, _ = derive(text, offsets, np.empty(0, dtype=np.int64), nothing, nothing)
    splits = None
    if (first >= 0).any():
        splits = _all_splits(words)
        start = np.searchsorted(splits[:, 2], np.arange(256, 257 + len(words)))
        left, right, _, _ = derive(
            text, offsets, start, np.ascontiguousarray(splits[:, 0]), np.ascontiguousarray(splits[:, 1])
        )
        _find_late_pairs(words, left, right, splits)
    product = np.arange(256, 256 + len(words), dtype=np.int32)
    rules = np.stack((left, right, product), axis=1)[left >= 0]
    return rules, splits


def _all_splits(words: list[bytes]) -> Int32Array:
    """Return every split of a word into two, weaker ones included."""
    numbers = {bytes([byte]): byte for byte in range(256)} | {word: 256 + i for i, word in enumerate(words)}
    splits = []
    for product, word in enumerate(words, 256):
        pairs = [
            (numbers[word[:cut]], numbers[word[cut:]], product)
            for cut in range(1, len(word))
            if word[:cut] in numbers and word[cut:] in numbers
        ]
        splits.extend(sorted(pairs))
    return np.array(splits, dtype=np.int32).reshape(-1, 3)


def _find_late_pairs(words: list[bytes], left: Int32Array, right: Int32Array, splits: Int32Array) -> None:
    """Fill in the pairs of the words that come about through a weaker part only: by merging the word to the end."""
    products = {(u, v): product for u, v, product in splits.tolist()}
    for i in np.flatnonzero(left < 0).tolist():
        tokens = list(words[i])
        while len(tokens) > 2:
            found = [(products.get(pair, 1 << 31), at) for at, pair in enumerate(pairwise(tokens))]
            product, at = min(found)
            if product == 1 << 31:
                break
            tokens[at : at + 2] = [product]
        if len(tokens) == 2:
            left[i], right[i] = tokens
