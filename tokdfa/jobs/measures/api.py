"""The function `check_bytes`: whether counts of bytes, by id, add up to the bytes of every text."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int64Array
from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.base.suggestions import SuggestsNames, expect
from tokdfa.base.verdict import Verdict
from tokdfa.jobs.measures.byte_tables import ByteTable, checked_table, of_formula
from tokdfa.jobs.measures.of_tokenizers import streams_of
from tokdfa.jobs.measures.paths import Paths, Search, Weights, are_zero
from tokdfa.jobs.measures.streams import Streams
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["ByteCheck", "Miscount", "check_bytes"]

# Searches are limited by the bytes of a text, so that long tokens are only looked at if the short ones do not decide.
_LENGTHS = tuple(1 << power for power in range(3, 22, 2))
_MOST_TRIED = 1000


@dataclass(frozen=True, slots=True)
class Miscount(SuggestsNames):
    """A text for which the counts do not add up.

    Attributes
    ----------
    text : str
    ids : tuple of int
        Its ids.
    counted : int
        The sum of the counts.
    bytes : int
        The number of bytes of the text in UTF-8.
    shortest : bool
        Whether it is proven that no other such text has fewer bytes.

    Examples
    --------
    >>> tokdfa.check_bytes(tokdfa.default_tokenizer(), "decoded").witness
    Miscount(text='¡', ids=(126, 94), counted=6, bytes=2, shortest=True)
    """

    text: str
    ids: tuple[int, ...]
    counted: int
    bytes: int
    shortest: bool


@dataclass(frozen=True, slots=True, repr=False)
class ByteCheck(Verdict[Miscount]):
    """Whether counts of bytes, by id, add up to the bytes of every text.

    Attributes
    ----------
    holds : bool
        Whether they do.
    witness : Miscount, optional
        The shortest text for which they do not.
    n_wrong : int
        The number of ids of ordinary text that count another number of bytes than they add to a text.
    reason : str
        The result in words.

    Examples
    --------
    >>> found = tokdfa.check_bytes(tokdfa.default_tokenizer(), "decoded")
    >>> bool(found), found.witness.text, found.witness.counted, found.witness.bytes
    (False, '¡', 6, 2)
    """

    n_wrong: int = 0
    reason: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        found, words = self.witness, "the counts add up to the bytes of every text"
        if found is not None:
            words = f"{found.text!r} has {found.bytes} bytes, and the counts of its ids add up to {found.counted}"
        object.__setattr__(self, "reason", words)


def check_bytes(
    tokenizer: AnyTokenizer, table: str | ByteTable | npt.ArrayLike, *, max_seconds: float = 600.0
) -> ByteCheck:
    """Decide whether counts of bytes, by id, add up to the bytes of every text, as bits per byte assume.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer over bytes that encodes texts unchanged, or brings them into a normalization form first.
    table : {"bytes", "decoded"}, ByteTable, or array_like of int
        A count for each id; or the name of a formula: the bytes that the id adds to a text, or the UTF-8 of the text
        that it alone decodes to.
    max_seconds : float
        The most processor time.

    Returns
    -------
    ByteCheck
        Truthy if they add up. Otherwise the witness has the shortest text for which they do not, and both numbers.

    Raises
    ------
    FileFormatError
        If the table has another length, or a count is negative or not whole.
    UnsupportedFeatureError
        If the canonical streams of the tokenizer are not known id by id.
    LimitExceededError
        If neither a proof nor a text was found in time.

    Notes
    -----
    The texts are all that canonical streams without control tokens spell; the counts of these do not matter. The counts
    add up if each state of the automaton of these streams has a potential, by which the counts run ahead of the text.
    For tokenizers that normalize, streams of texts that are not normal are included in a proof.

    Examples
    --------
    >>> bool(tokdfa.check_bytes(tokdfa.default_tokenizer(), "bytes"))
    True
    """
    expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.check_bytes(tokenizer, table)")
    wanted = of_formula(tokenizer, table) if isinstance(table, str) else checked_table(table, tokenizer.n_ids)
    if tokenizer.why_not("bytes") is not None:
        raise UnsupportedFeatureError("counts for every text are only known of byte pairs over bytes")
    streams = streams_of(tokenizer)
    weights = _weights(streams, of_formula(tokenizer, "bytes").counts, wanted)
    n_wrong = int(np.count_nonzero(weights.difference[1:].any(axis=0) & streams.ordinary))
    if not weights.difference[:, streams.ordinary].any():
        return ByteCheck(True)
    paths = Paths(streams, weights, Budget(max_seconds=max_seconds, what="the graph of canonical streams"))
    is_decided = False
    for longest in _LENGTHS:
        found = _first_miscount(tokenizer, paths, longest)
        if found is not None:
            return ByteCheck(False, found, n_wrong)
        if not is_decided and are_zero(paths):
            return ByteCheck(True, n_wrong=n_wrong)
        is_decided = True
    raise LimitExceededError("no canonical text was found with another sum, and no proof that there is none")


def _weights(streams: Streams, size: Int64Array, table: ByteTable) -> Weights:
    """Return by how much the counts exceed the bytes, for ids after the beginning, a boundary, and other ids."""
    n = len(size)
    spaces = np.zeros(n, dtype=np.int64) if table.spaces is None else table.spaces.astype(np.int64)
    difference = np.stack([table.counts - size, table.counts - size, table.counts + spaces - size])
    difference[:, ~streams.ordinary] = 0
    none = np.zeros(n, dtype=np.bool_)
    class_of = np.where(none if table.boundaries is None else table.boundaries, 1, 2).astype(np.int64)
    return Weights(difference, np.stack([size] * 3), class_of)


def _first_miscount(tokenizer: AnyTokenizer, paths: Paths, longest: int) -> Miscount | None:
    """Return the first text of a search that its tokenizer encodes as the ids found; None if there is none."""
    fewest = None
    for tried, ids in enumerate(Search(paths, longest).streams()):
        data = tokenizer.decode_bytes(ids)
        fewest = len(data) if fewest is None else fewest
        text = data.decode("utf-8")
        if tuple(tokenizer.encode(text).tolist()) == ids:
            numbers = (0, *(int(paths.weights.class_of[id]) for id in ids))
            excess = sum(int(paths.weights.difference[number, id]) for number, id in zip(numbers, ids, strict=False))
            return Miscount(text, ids, len(data) + excess, len(data), shortest=len(data) == fewest)
        if tried >= _MOST_TRIED:
            break
    return None
