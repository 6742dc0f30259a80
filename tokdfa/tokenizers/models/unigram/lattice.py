"""The lattice of a text: its ways through the pieces, and the sums of two of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import Float64Array, Int64Array
from tokdfa.kernels.unigram.segmentation import ENDS_PIECE, ENDS_UNKNOWN, Recording
from tokdfa.tokenizers.models.unigram.model import Arithmetic, UnigramModel
from tokdfa.tokenizers.models.unigram.segmenter import BEGINNING, Before, Segmenter

MOST_SHOWN = 48
"""The sums of a text are kept if it has at most so many characters."""

# Since version 0.2.2, SentencePiece subtracts a sum of a greater magnitude from all that continue it.
_TOO_LARGE = 1e5


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The sums of the scores of two segmentations of a text, up to where they agree again.

    All sums are as in the library, in its own arithmetic, from the beginning of the text or pre-token on.

    Attributes
    ----------
    before : float
        The sum up to where the two diverge.
    best : float
        The sum of the best segmentation.
    given : float or None
        The sum of the given ids; None if they do not segment the text: for example, bytes of a character that is a
        piece.
    text : str
        The first 48 characters of the normalized text.
    sums : tuple of float
        The best sum at each position of `text`, its beginning and end included.
    starts : tuple of int
        For each of these positions, where the last piece of the best way to it begins, in characters of `text`;
        negative before the text.
    arithmetic : {"sentencepiece", "sentencepiece 0.2.1", "tokenizers"}

    Examples
    --------
    >>> vocab = [["?", 0], ["a", -1], ["aaa", -2.5]]
    >>> fields = {"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}, "decoder": {"type": "Fuse"}}
    >>> scores = tokdfa.load(fields).validate([1, 1, 1]).witness.scores
    >>> scores.best, scores.given, scores.margin
    (-2.5, -3.0, 0.5)
    """

    before: float
    best: float
    given: float | None
    text: str
    sums: tuple[float, ...]
    starts: tuple[int, ...]
    arithmetic: Arithmetic

    @property
    def margin(self) -> float | None:
        """By how much the best sum is greater; 0 if only the order of ways decides, None without another sum."""
        return None if self.given is None else self.best - self.given

    @property
    def is_rounded_late(self) -> bool:
        """Whether sums are compared before they are rounded."""
        return self.arithmetic == "sentencepiece 0.2.1"

    def as_json(self) -> dict[str, Any]:
        """Return the sums as ``tokdfa validate --json`` prints them."""
        return {"before": self.before, "best": self.best, "given": self.given, "margin": self.margin, "text": self.text}


class Way(NamedTuple):
    """A piece in a lattice, from one character to another, as the last one of a way."""

    start: int
    stop: int
    # None for an unknown character.
    id: int | None
    score: float
    # The best sum up to its beginning, and its score.
    sum: float
    # Whether it is the last piece of the best way to its end.
    is_best: bool


def lattice(segmenter: Segmenter, scores: Scores) -> Iterator[Way]:
    """Yield the pieces in the text of two segmentations, by where they end, and then by where they begin.

    O(longest piece) a character.
    """
    model, text, id_of = segmenter.model, scores.text, segmenter.id_of
    for stop in range(1, len(text) + 1):
        for start in range(max(0, stop - segmenter.longest), stop):
            id = id_of.get(text[start:stop])
            if id is None and (start + 1 < stop or text[start] in id_of):
                continue
            score = model.unknown_score if id is None else float(model.scores[id])
            total = _sum(model, scores.sums, start, [stop], [score])
            yield Way(start, stop, id, score, total, scores.starts[stop] == start)


def _sum(
    model: UnigramModel, sums: Sequence[float] | Float64Array, begin: int, stops: Sequence[int], scores: Sequence[float]
) -> float:
    """Return the sum from `begin` up to the last stop, as the library adds up; `sums` has the best at each offset."""
    shifts = model.arithmetic == "sentencepiece"
    total = _shifted(float(sums[begin]), model)
    for stop, score in zip(stops, scores, strict=True):
        total = _rounded(score + total, model)
        for offset in range(begin + 1, stop + (stop != stops[-1])) if shifts else ():
            if abs(sums[offset]) > _TOO_LARGE:
                total = _rounded(total - float(sums[offset]), model)
        begin = stop
    return total


def _rounded(total: float, model: UnigramModel) -> float:
    return float(np.float32(total)) if model.is_single else total


def _shifted(total: float, model: UnigramModel) -> float:
    """Return the sum with which ways continue at an offset."""
    return 0.0 if model.arithmetic == "sentencepiece" and abs(total) > _TOO_LARGE else total


class _Part(NamedTuple):
    """Text between special tokens: the number of ids before it, the ends of its sentences, and of its ids."""

    first: int
    data: bytes
    sentences: Int64Array
    found: Recording
    ends: Int64Array


class RecordedText:
    """The sums in a text that has been segmented, with which other segmentations of parts of it are compared."""

    def __init__(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter
        self._parts: list[_Part] = []
        self._n = 0

    def add(self, data: bytes, sentences: Int64Array, before: Before = BEGINNING) -> Before:
        """Add sentences, and return the state before the next one."""
        found, after = self._segmenter.record_on(data, sentences, before)
        ends = _ends_of_ids(self._segmenter, data, sentences, found, before.is_unknown)
        self._parts.append(_Part(self._n, data, sentences, found, ends))
        self._n += len(ends)
        return after

    def skip(self) -> None:
        """Add a special token."""
        self._n += 1

    def compare(self, given: Sequence[int], low: int, high: int) -> Scores | None:
        """Return the sums of given ids, and of ids `low` to `high` of the text, `high` not included.

        None if the latter are not in one segment between special tokens, have no text, or begin or end within a
        character.
        """
        part = next((part for part in self._parts if part.first <= low < high <= part.first + len(part.ends)), None)
        if part is None:
            return None
        model, sums = self._segmenter.model, part.found.sums
        begin = int(part.ends[low - part.first - 1]) if low > part.first else 0
        end = int(part.ends[high - part.first - 1])
        if begin >= end or (begin and not part.found.marks[begin]) or not part.found.marks[end]:
            return None
        best = (np.flatnonzero(part.found.marks[begin + 1 : end + 1]) + begin + 1).tolist()
        stops = self._stops(part, given, begin, end)
        text = part.data[begin : min(end, begin + 4 * MOST_SHOWN)].decode("utf-8", "ignore")[:MOST_SHOWN]
        offsets = begin + np.cumsum([0, *(len(character.encode("utf-8")) for character in text)])
        number_of = {offset: number for number, offset in enumerate(offsets.tolist())}
        given_scores = [float(model.scores[id]) for id in given] if stops is not None else []
        return Scores(
            before=_shifted(float(sums[begin]), model),
            best=_sum(model, sums, begin, best, self._scores(part.data, begin, best)),
            given=None if stops is None else _sum(model, sums, begin, stops, given_scores),
            text=text,
            sums=tuple(sums[offsets].tolist()),
            starts=tuple(number_of.get(start, -1) for start in part.found.starts[offsets].tolist()),
            arithmetic=model.arithmetic,
        )

    def _scores(self, data: bytes, begin: int, stops: list[int]) -> list[float]:
        """Return the scores of the pieces, or unknown characters, that end at some offsets."""
        model, id_of = self._segmenter.model, self._segmenter.id_of
        ids = [id_of.get(data[start:stop].decode("utf-8")) for start, stop in pairwise([begin, *stops])]
        return [model.unknown_score if id is None else float(model.scores[id]) for id in ids]

    def _stops(self, part: _Part, given: Sequence[int], begin: int, end: int) -> list[int] | None:
        """Return the ends of given ids in a part; None if they are not a way through its lattice."""
        model = self._segmenter.model
        stops: list[int] = []
        for id in given:
            piece = model.pieces[id].encode("utf-8") if id < len(model.pieces) and model.is_found[id] else b""
            stop = begin + len(piece)
            crossed = np.searchsorted(part.sentences, (begin, stop - 1), "right")
            if not piece or stop > end or crossed[0] != crossed[1] or not part.data.startswith(piece, begin):
                return None
            stops.append(stop)
            begin = stop
        return stops if begin == end else None


def _ends_of_ids(
    segmenter: Segmenter, data: bytes, sentences: Int64Array, found: Recording, after_unknown: bool
) -> Int64Array:
    """Return the end of each id in a text; the best way has been marked."""
    model, marks = segmenter.model, found.marks
    offsets = np.flatnonzero(marks)
    if not (marks == ENDS_UNKNOWN).any():
        return offsets
    ends: list[int] = []
    last_of_sentence = {*sentences.tolist()}
    begin, run = 0, -1  # Where a run of unknown characters begins.
    is_run_known = after_unknown
    for offset in offsets.tolist():
        if marks[offset] == ENDS_PIECE:
            ends += _ends_of_run(segmenter, data, run, begin) if run >= 0 and not model.is_single else []
            ends.append(offset)
            run, is_run_known = -1, False
        elif not model.is_single:
            run = begin if run < 0 else run
        elif model.byte_ids is not None:
            ends += range(begin + 1, offset + 1)
        elif not is_run_known:
            ends.append(offset)
            is_run_known = True
        elif ends:
            ends[-1] = offset
        if not model.is_single and offset in last_of_sentence and run >= 0:
            ends += _ends_of_run(segmenter, data, run, offset)
            run = -1
        begin = offset
    return np.array(ends, dtype=np.int64)


def _ends_of_run(segmenter: Segmenter, data: bytes, begin: int, end: int) -> list[int]:
    """Return the ends of the ids that tokenizers makes of a run of unknown characters."""
    byte_ids = segmenter.model.byte_ids
    run = data[begin:end]
    if run.decode("utf-8") in segmenter.id_of or byte_ids is None or min(byte_ids[byte] for byte in run) < 0:
        return [end]
    return [*range(begin + 1, end + 1)]
