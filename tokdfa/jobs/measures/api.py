"""The function `check_bytes`: whether a table of bytes by id adds up to the number of bytes of every text."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray
from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError
from tokdfa.base.suggestions import SuggestsNames, expect
from tokdfa.base.verdict import Verdict
from tokdfa.jobs.measures.attained import MOST_TRIED
from tokdfa.jobs.measures.byte_tables import ByteTable, checked_table, of_formula
from tokdfa.jobs.measures.missing_space import lacks_space, no_space, shortest_miscount
from tokdfa.jobs.measures.of_tokenizers import streams_of
from tokdfa.jobs.measures.paths import Paths, Search, Weights, are_zero
from tokdfa.jobs.measures.streams import Streams
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["ByteCheck", "Miscount", "check_bytes"]

# Searches are limited by the bytes of a text, so that long tokens are only looked at if the short ones do not decide.
_LENGTHS = tuple(1 << power for power in range(3, 22, 2))


@dataclass(frozen=True, slots=True)
class Miscount(SuggestsNames):
    """A text that a table miscounts.

    Attributes
    ----------
    text : str
    ids : tuple of int
        The ids of the text.
    counted : int
        The sum of the counts of the ids.
    bytes : int
        The number of bytes of the text in UTF-8.
    shortest : bool
        Whether it is proven that no miscounted text has fewer bytes.

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
    """Whether a table of bytes by id adds up to the number of bytes of every text.

    Attributes
    ----------
    holds : bool
        Whether it adds up.
    witness : Miscount, optional
        The shortest text that it miscounts.
    n_wrong : int
        The number of ids with a wrong count: not the number of bytes that the id adds to a text that has begun.
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
            size = f"{found.bytes} byte{'s' * (found.bytes != 1)}"
            words = f"{found.text!r} has {size}, and the counts of its ids add up to {found.counted}"
        object.__setattr__(self, "reason", words)


def check_bytes(
    tokenizer: AnyTokenizer, table: str | ByteTable | npt.ArrayLike, *, max_seconds: float = 600.0
) -> ByteCheck:
    """Decide whether a table of bytes by id adds up to the number of bytes of every text, as bits per byte assume.

    If an evaluation counts ``len(decode([id]).encode())`` for each id, the two ids of "¡" count 3 bytes each, because
    each decodes to U+FFFD, and "¡" has 2 bytes.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        Byte pairs over bytes or characters, or WordPiece.
    table : str, ByteTable, or array_like of int
        A count for each id; or the name of a formula: "bytes", which is right, or "decoded", "sentencepiece",
        "sentencepiece-decoded" or "sentencepiece-twice".
    max_seconds : float
        The most processor time.

    Returns
    -------
    ByteCheck
        Truthy if the table adds up. Otherwise the witness is the shortest text that it miscounts.

    Raises
    ------
    FileFormatError
        If the table has another length, or a count is negative or not whole.
    UnsupportedFeatureError
        If there is no automaton of the canonical ids of the tokenizer, as for Unigram.
    LimitExceededError
        If neither a proof nor a miscounted text was found in time.

    Notes
    -----
    The texts are those that canonical ids without control tokens decode to, so the counts of control tokens do not
    matter. A space before the text that decoding removes is not counted. If a vocabulary lacks a token for the space,
    the text is the one that was encoded.

    The table adds up if all paths to a state of the automaton agree on how many bytes the counts are ahead of the text.
    For tokenizers that normalize, the proof includes ids of texts that are not in the normalization form.

    Examples
    --------
    >>> bool(tokdfa.check_bytes(tokdfa.default_tokenizer(), "bytes"))
    True
    """
    expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.check_bytes(tokenizer, table)")
    wanted = of_formula(tokenizer, table) if isinstance(table, str) else checked_table(table, tokenizer.n_ids)
    if lacks_space(tokenizer):
        return _without_space(tokenizer, wanted)
    streams = streams_of(tokenizer)
    weights = _weights(streams, wanted)
    n_wrong = len(np.unique(streams.ids[weights.difference[1:].any(axis=0)]))
    if not weights.difference.any():
        return ByteCheck(True)
    paths = Paths(streams, weights, Budget(max_seconds=max_seconds, what="the graph of canonical streams"))
    is_decided = False
    for longest in _LENGTHS:
        found = _first_miscount(tokenizer, wanted, paths, longest)
        if found is not None:
            return ByteCheck(False, found, n_wrong)
        if not is_decided and are_zero(paths):
            return ByteCheck(True, n_wrong=n_wrong)
        is_decided = True
    raise LimitExceededError("no canonical text was found with another sum, and no proof that there is none")


def _weights(streams: Streams, table: ByteTable) -> Weights:
    """Return by how much the counts exceed the bytes, for labels at the beginning, after a boundary, and elsewhere."""
    counts, spaces, boundaries = (
        np.zeros(len(streams.ids), dtype=np.int64)
        if part is None
        else np.where(streams.ids < 0, 0, part[streams.ids]).astype(np.int64)
        for part in table
    )
    begins, elsewhere = _positions(streams, len(table.counts))
    boundaries[~elsewhere & ~begins] = 0
    difference = np.stack([counts, counts, counts + spaces]) - streams.sizes
    for number, is_there in enumerate((begins, elsewhere & boundaries.any(), elsewhere)):
        difference[number, ~is_there] = 0
    return Weights(difference, np.stack([streams.sizes] * 3), np.where(boundaries > 0, 1, 2))


def _positions(streams: Streams, n_ids: int) -> tuple[BoolArray, BoolArray]:
    """Return which labels are at the beginning of some stream, and which may be elsewhere."""
    first = streams.edges(0)
    begins: BoolArray = np.zeros(len(streams.ids), dtype=np.bool_)
    begins[first.labels] = True
    elsewhere = streams.ordinary.copy()
    if len(elsewhere) > n_ids:
        # Labels of the beginning may follow only labels that spell nothing there.
        second: BoolArray = np.zeros(len(elsewhere), dtype=np.bool_)
        for base in np.unique(np.concatenate((first.free, first.cut))).tolist():
            if base >= 0:
                second[streams.edges(base).labels] = True
        elsewhere[n_ids:] &= second[n_ids:]
    return begins, elsewhere


def _first_miscount(tokenizer: AnyTokenizer, table: ByteTable, paths: Paths, longest: int) -> Miscount | None:
    """Return the first text of a search that is encoded as the ids that were found; None if there is none."""
    fewest, streams = None, paths.streams
    for labels in islice(Search(paths, longest).streams(), MOST_TRIED):
        data, ids = streams.spelled(labels), streams.ids_of(labels)
        fewest = len(data) if fewest is None else fewest
        text = data.decode("utf-8")
        if tuple(tokenizer.encode(text).tolist()) == ids:
            return Miscount(text, ids, table.count(np.array(ids)), len(data), shortest=len(data) == fewest)
    return None


def _without_space(tokenizer: AnyTokenizer, table: ByteTable) -> ByteCheck:
    """Return the answer for a vocabulary without a space: a text that is counted wrongly; refuse without one."""
    found = shortest_miscount(tokenizer, table.count)
    if found is None:
        raise no_space()
    text, ids = found
    return ByteCheck(False, Miscount(text, tuple(ids.tolist()), table.count(ids), len(text), shortest=len(text) == 1))
