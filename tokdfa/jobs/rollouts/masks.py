"""Loss masks: the table of their edges, and the faults that the turns of the conversation show."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import TokdfaError
from tokdfa.base.verdict import DescribedEnum, Displayed
from tokdfa.jobs.rollouts.frameworks import Rollout, checked_prompt, sampled_ids
from tokdfa.jobs.rollouts.result import RolloutCheck, counted
from tokdfa.jobs.rollouts.turns import Markers, Part, Turn, TurnFinder, Turns
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["EDGES", "Edge", "MaskFault", "MaskFinding", "MaskTally", "Place", "Span"]

EDGES = {"before": "id before a span", "first": "first id", "last": "last id", "after": "id after it"}
"""The ids at the edges of a trained span: the one before it, its first and its last, and the one after it."""

_MOST_COMMON = 8
"""Different ids at an edge that are shown."""

_SHOWN = 8
"""Ids before and after the place of a fault."""


class MaskFault(DescribedEnum):
    """The kind of a fault of masks. The values are stable: ``--json`` prints them.

    Attributes
    ----------
    meaning : str
        One sentence that describes the fault.

    Examples
    --------
    >>> tokdfa.MaskFault("stop-untrained").meaning
    'The reply is trained, and the stop token after it is not.'
    """

    SHIFTED = "shifted", "Every span begins and ends one id too early, or one too late."
    OPEN_END = "open-end", "A span that begins in a reply continues to the end of the record, past the reply."
    TEXT = "text-trained", "Text that the model did not write is trained, such as a user's."
    HEADER = "header-trained", "The text of the template before a turn is trained."
    FIRST = "first-untrained", "The first id of a reply is not trained, and the next one is."
    STOP = "stop-untrained", "The reply is trained, and the stop token after it is not."
    OTHER_STOP = "stop-of-others-trained", "The stop token after a text that the model did not write is trained."
    BREAK = "line-break-trained", "The white space after a stop token is trained."
    NOTHING = "nothing-trained", "No id of a record with a complete reply is trained."
    CHARACTER = "within-character", "A span begins or ends within a character."
    TOKEN = "within-token", "A span begins or ends within a text, between ids that the tokenizer would join."


class Place(NamedTuple):
    """The place of a fault, and the text around it."""

    source: str
    token: int  # The index of the first id concerned
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class MaskFinding(Displayed):
    """A fault of the masks of some rollouts.

    Attributes
    ----------
    kind : MaskFault
    count : int
        The number of cases.
    of : int
        The number of replies that are trained, or of records for "nothing-trained", or of spans for "shifted",
        "within-character" and "within-token".
    place : Place
        The first case.
    shift : int
        For a shifted mask: -1 if it is one id too early, 1 if it is one too late.

    Examples
    --------
    >>> template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> ids = tokenizer.encode("<user>Hi</user><assistant>Yes</assistant>")
    >>> tokdfa.check_masks(tokenizer, [tokdfa.Rollout(ids)], template)[0].reason
    'text that the model did not write is trained, 1 time in 1 reply'
    """

    kind: MaskFault
    count: int
    of: int
    place: Place
    shift: int = 0

    @property
    def reason(self) -> str:
        """The finding in one sentence."""
        n = f"{self.count:,} of {self.of:,}"
        match self.kind:
            case MaskFault.SHIFTED if self.shift < 0:
                why = "either the mask marks the ids that predict, or it was shifted twice"
                return f"shifted by one: all {self.count:,} spans begin and end one id too early; {why}"
            case MaskFault.SHIFTED:
                return f"shifted by one: all {self.count:,} spans begin and end one id too late"
            case MaskFault.STOP if self.count == self.of:
                return f"the stop token is never trained, after {n} replies"
            case MaskFault.NOTHING:
                return f"nothing is trained in {n} records with a complete reply"
            case MaskFault.CHARACTER | MaskFault.TOKEN:
                return f"{_SENTENCES[self.kind]}, in {n} spans"
        n_times, n_replies = counted(self.count, "time"), f"{self.of:,} {'reply' if self.of == 1 else 'replies'}"
        return f"{_SENTENCES[self.kind]}, {n_times} in {n_replies}"


_SENTENCES = {
    MaskFault.OPEN_END: "a span is open to the end: it continues past the reply",
    MaskFault.TEXT: "text that the model did not write is trained",
    MaskFault.HEADER: "the text of the template before a turn is trained",
    MaskFault.FIRST: "the first id of the reply is not trained",
    MaskFault.STOP: "the stop token is not trained",
    MaskFault.OTHER_STOP: "the stop token after a text that the model did not write is trained",
    MaskFault.BREAK: "the white space after the stop token is trained",
    MaskFault.CHARACTER: "a character is cut",
    MaskFault.TOKEN: "two ids are cut apart that the tokenizer would join",
}


class Span(NamedTuple):
    """A trained span, as it is shown."""

    source: str
    start: int
    stop: int
    before: str
    text: str
    after: str


@dataclass(frozen=True, slots=True)
class Edge:
    """An id at an edge of spans, with its text, and how often it is there; none where a record begins or ends."""

    id: int | None
    text: str | None
    count: int


_LONGEST_SHOWN = 24


class MaskTally:
    """The edges and the faults of the masks of many rollouts, in memory that does not grow with their number.

    `edges` counts the ids at each edge of spans, None where a record begins or ends; `spans` has the first spans as
    text. Call :meth:`add` for each rollout, and :meth:`judge` with each check, in the same order.
    """

    def __init__(self, tokenizer: AnyTokenizer, markers: Markers | None, n_examples: int = 3) -> None:
        self._tokenizer = tokenizer
        self._finder = TurnFinder(tokenizer, markers)
        self._is_special = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        self._is_special[tokenizer.special_ids] = True
        self.has_markers = markers is not None
        self.edges: dict[str, Counter[int | None]] = {edge: Counter() for edge in EDGES}
        self.spans: list[Span] = []
        self.n_records = self.n_spans = self.n_replies = self.n_trained = 0
        self._n_examples = n_examples
        self._counts: Counter[MaskFault] = Counter()
        self._places: dict[MaskFault, Place] = {}
        # For each shift, the number of spans that it explains completely; none once it does not explain one.
        self._shifts: dict[int, int | None] = {-1: 0, 1: 0}
        self._shift_places: dict[int, Place] = {}
        # Of each rollout that was not judged yet: the record, and the edges of its spans within texts.
        self._waiting: deque[tuple[_Record, list[int]] | None] = deque()

    def add(self, rollout: Rollout | TokdfaError, source: object = "") -> None:
        """Add a rollout; one that cannot be checked does not count."""
        self._waiting.append(None)
        if isinstance(rollout, Rollout):
            with suppress(TokdfaError):
                self._add(rollout, source)

    def _add(self, rollout: Rollout, source: object) -> None:
        ids, _ = self._tokenizer.decoder.check_known(rollout.ids)
        sampled = sampled_ids(rollout.mask, checked_prompt(rollout.prompt, len(ids)), np.asarray(rollout.ids))
        mask: BoolArray = np.ones(len(ids), dtype=np.bool_) if sampled is None else sampled
        record = _Record(ids, mask, self._finder.of(ids), str(source))
        self.n_records += 1
        self.n_replies += len(record.turns.replies)
        for start, stop in record.spans:
            self._count_edges(record, start, stop)
        self._compare_shifts(record)
        for kind, index in record.faults(self._is_special):
            self._note(kind, record, index)
        self.n_trained += record.n_trained
        for index in record.edges_in_characters():
            self._note(MaskFault.CHARACTER, record, index)
        within = [*record.edges_within()] if self.has_markers else []
        if within:
            self._waiting[-1] = record, within

    def judge(self, check: RolloutCheck | TokdfaError) -> None:
        """Add the check of the first rollout that was added and not judged yet."""
        waiting = self._waiting.popleft()
        if waiting is None or not isinstance(check, RolloutCheck):
            return
        record, within = waiting
        for junction in check.junctions:
            for index in within:
                if junction.start < index < junction.start + len(junction.ids):
                    self._note(MaskFault.TOKEN, record, index)

    @property
    def findings(self) -> list[MaskFinding]:
        """The faults, in the order of their kinds. A shift explains all others but a record with nothing trained."""
        shift = next((shift for shift, count in self._shifts.items() if count), 0)
        found = []
        for kind in MaskFault:
            if kind == MaskFault.SHIFTED and shift:
                found.append(MaskFinding(kind, self.n_spans, self.n_spans, self._shift_places[shift], shift))
            elif kind in self._counts and (not shift or kind == MaskFault.NOTHING):
                of = {MaskFault.NOTHING: self.n_records}
                of |= dict.fromkeys((MaskFault.CHARACTER, MaskFault.TOKEN), self.n_spans)
                found.append(MaskFinding(kind, self._counts[kind], of.get(kind, self.n_trained), self._places[kind]))
        return found

    @property
    def said(self) -> str:
        """How many spans there are, and how many of the replies are trained."""
        n_replies = f"{self.n_replies:,} {'reply' if self.n_replies == 1 else 'replies'}"
        return f"{counted(self.n_spans, 'span')}, {self.n_trained:,} of {n_replies} trained"

    def _note(self, kind: MaskFault, record: _Record, index: int) -> None:
        self._counts[kind] += 1
        if kind not in self._places:
            self._places[kind] = self._place(record, index)

    def _place(self, record: _Record, index: int) -> Place:
        return Place(
            record.source,
            index,
            self.text_of(record.ids[max(index - _SHOWN, 0) : index]),
            self.text_of(record.ids[index : index + _SHOWN]),
        )

    @property
    def common_edges(self) -> dict[str, list[Edge]]:
        """The most frequent ids at each edge."""
        return {
            name: [
                Edge(id, None if id is None else self.text_of(np.array([id], dtype=np.int32)), count)
                for id, count in counts.most_common(_MOST_COMMON)
            ]
            for name, counts in self.edges.items()
        }

    def text_of(self, ids: Int32Array) -> str:
        """Return the text of ids, with their special tokens; bytes that are not UTF-8 as escapes."""
        names = [self._tokenizer.name_of(id) for id in ids.tolist()]
        return b"".join(names).decode("utf-8", "backslashreplace")

    def _count_edges(self, record: _Record, start: int, stop: int) -> None:
        ids = record.ids
        self.n_spans += 1
        before = int(ids[start - 1]) if start else None
        after = int(ids[stop]) if stop < len(ids) else None
        for edge, id in zip(EDGES, (before, int(ids[start]), int(ids[stop - 1]), after), strict=True):
            self.edges[edge][id] += 1
        if len(self.spans) < self._n_examples:
            around = (self.text_of(each) for each in (ids[max(start - _SHOWN, 0) : start], ids[stop : stop + _SHOWN]))
            left, right = around
            text = self.text_of(ids[start:stop] if stop - start <= 2 * _LONGEST_SHOWN else ids[start:start])
            if not text:
                head, tail = ids[start : start + _LONGEST_SHOWN], ids[stop - _LONGEST_SHOWN : stop]
                text = f"{self.text_of(head)} … {self.text_of(tail)}"
            self.spans.append(Span(record.source, start, stop, left, text, right))

    def _compare_shifts(self, record: _Record) -> None:
        for shift, count in self._shifts.items():
            if count is None or not record.spans:
                continue
            whole = [record.shows_shift(start, stop, shift) for start, stop in record.spans]
            self._shifts[shift] = None if None in whole else count + sum(map(bool, whole))
            if True in whole:
                self._shift_places.setdefault(shift, self._place(record, record.spans[whole.index(True)][0]))


class _Record:
    """A rollout with its mask and its turns."""

    def __init__(self, ids: Int32Array, mask: BoolArray, turns: Turns, source: str) -> None:
        self.ids, self.mask, self.turns, self.source = ids, mask, turns, source
        edges = np.flatnonzero(np.diff(mask.view(np.int8), prepend=np.int8(0), append=np.int8(0)))
        self.spans: list[tuple[int, int]] = [(low, high) for low, high in edges.reshape(-1, 2).tolist()]
        self._trained = [turn for turn in turns.replies if self._is_trained(turn)]

    @property
    def n_trained(self) -> int:
        """The number of replies with a trained id."""
        return len(self._trained)

    def _is_trained(self, turn: Turn) -> bool:
        inside = slice(turn.first, turn.end - turn.has_stop)
        return bool((self.mask[inside] & (self.turns.parts[inside] == Part.REPLY)).any())

    def shows_shift(self, start: int, stop: int, shift: int) -> bool | None:
        """Return whether a span is a whole reply, shifted; False if the record ends before that shows; None if not."""
        for turn in self.turns.replies:
            if start - shift in turn.begins:
                if stop - shift == turn.end and turn.has_stop:
                    return True
                return False if stop == len(self.ids) and stop - shift <= turn.end else None
        return None

    def faults(self, is_special: BoolArray) -> Iterator[tuple[MaskFault, int]]:
        """Yield the faults that the turns show, each with its first id."""
        if not self.spans and any(turn.has_stop for turn in self.turns.replies):
            yield MaskFault.NOTHING, 0
        for turn in self._trained:
            stop = turn.end - 1
            if turn.has_stop and not self.mask[stop]:
                yield MaskFault.STOP, stop
            is_late = turn.first + 1 < turn.end and self.mask[turn.first : turn.first + 2].tolist() == [False, True]
            if is_late and not is_special[self.ids[turn.first]]:
                yield MaskFault.FIRST, turn.first
        if self.turns.replies:
            for start, stop in self.spans:
                yield from self._excess(start, stop)

    def _excess(self, start: int, stop: int) -> Iterator[tuple[MaskFault, int]]:
        """Yield the faults of a span: trained ids outside of replies, run by run."""
        parts = self.turns.parts[start:stop]
        is_own = np.isin(parts, (Part.REPLY, Part.STOP, Part.EITHER))
        edges = np.flatnonzero(np.diff((~is_own).view(np.int8), prepend=np.int8(0), append=np.int8(0)))
        is_of_others = False
        for low, high in edges.reshape(-1, 2).tolist():
            has_reply = not is_of_others and bool(np.isin(parts[:low], (Part.REPLY, Part.STOP)).any())
            rest, run = {*parts[low:].tolist()}, {*parts[low:high].tolist()}
            is_padded = int(np.count_nonzero(parts[low:] == Part.CONTROL)) > 1
            if has_reply and stop == len(self.ids) and (is_padded or not rest.isdisjoint(_OF_OTHERS)):
                yield MaskFault.OPEN_END, start + low
                return
            for part, kind in _KINDS.items():
                # Everything around the text of others goes with it.
                if part in run and (part == Part.TEXT or not is_of_others):
                    yield kind, start + low + int(np.argmax(parts[low:high] == part))
                    break
            is_of_others = is_of_others or Part.TEXT in run

    def edges_within(self) -> Iterator[int]:
        """Yield the edges of spans within a text or a reply."""
        parts = self.turns.parts
        for index in self._inner_edges():
            if parts[index - 1] == parts[index] and parts[index] in (Part.TEXT, Part.REPLY):
                yield index

    def edges_in_characters(self) -> Iterator[int]:
        """Yield the edges of spans that are within a character."""
        for index in self._inner_edges():
            at = int(self.turns.starts[index])
            if _cuts_character(self.turns.points[max(at - 3, 0) : at + 3], min(at, 3)):
                yield index

    def _inner_edges(self) -> Iterator[int]:
        return (index for span in self.spans for index in span if 0 < index < len(self.ids))


_OF_OTHERS = frozenset({Part.TEXT, Part.OPENING, Part.HEADER, Part.OTHER_STOP})
# By weight: a run with text that others wrote has their headers, too.
_KINDS = {
    Part.TEXT: MaskFault.TEXT,
    Part.OPENING: MaskFault.HEADER,
    Part.HEADER: MaskFault.HEADER,
    Part.OTHER_STOP: MaskFault.OTHER_STOP,
    Part.BREAK: MaskFault.BREAK,
}


def _cuts_character(points: npt.NDArray[np.int64] | Int64Array, at: int) -> bool:
    """Return whether a character of UTF-8 goes across an offset in symbols, at most three before it and three after."""
    if at >= len(points) or not 0x80 <= points[at] < 0xC0:
        return False
    data = bytes(int(point) if point < 0x100 else 0 for point in points)
    lead = next((index for index in range(at - 1, -1, -1) if not 0x80 <= data[index] < 0xC0), None)
    if lead is None:
        return False
    size = 2 if data[lead] < 0xE0 else 3 if data[lead] < 0xF0 else 4
    try:
        data[lead : lead + size].decode("utf-8")
    except UnicodeDecodeError:
        return False
    return lead + size > at
