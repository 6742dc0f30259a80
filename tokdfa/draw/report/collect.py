"""Collecting the violations of a stream: the first ones with their surroundings, and all of them counted."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, zip_longest
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int64Array, IntegerArray, id_array
from tokdfa.draw.graph import word_label
from tokdfa.draw.report.page import Spelling, cut_down, shortened
from tokdfa.jobs.validation.recent import LastIds
from tokdfa.jobs.validation.validator import ValidationOptions, Validator
from tokdfa.jobs.validation.violation import MergedPair, Quote, Token, Violation, ViolationKind, parts
from tokdfa.jobs.validation.violations import KINDS, Outline
from tokdfa.tokenizers.protocol import AnyTokenizer

MAX_CELLS = 12


class Divergence(NamedTuple):
    """The parts of two sequences of ids between their common prefix and suffix, and the lengths of these."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    before: int
    behind: int


def divergence(left: Sequence[int], right: Sequence[int]) -> Divergence:
    """Return where two sequences differ."""
    most = min(len(left), len(right))
    before = next((i for i in range(most) if left[i] != right[i]), most)
    most -= before
    behind = next((i for i in range(most) if left[-1 - i] != right[-1 - i]), most)
    return Divergence(
        tuple(left[before : len(left) - behind]), tuple(right[before : len(right) - behind]), before, behind
    )


class Lanes(NamedTuple):
    """Two rows of cells over the same columns.

    Each row has, for every token, its id and the number of its columns. The columns that a row lacks are filled by a
    cell that counts the tokens left out, or says that there are none.
    """

    columns: int
    left: list[list[int]]
    right: list[list[int]]
    left_more: int
    right_more: int


def lanes(
    left: Sequence[int],
    right: Sequence[int],
    length: Callable[[int], int],
    other_length: Callable[[int], int] | None = None,
) -> Lanes:
    """Lay out two tokenizations of the same bytes so that cells above each other are the same text.

    If the bytes differ, cells above each other are unrelated, except that the rows end together. `length` returns the
    number of bytes of an id, `other_length` the number of bytes of an id of the second sequence, if it is of another
    tokenizer.
    """
    sizes, other_sizes = [*map(length, left)], [*map(other_length or length, right)]
    ends, other_ends = [*accumulate(sizes)], [*accumulate(other_sizes)]
    same_text = ends[-1:] == other_ends[-1:] != [] and 0 not in sizes and 0 not in other_sizes
    if not same_text:
        ends, other_ends = [*range(1, len(left) + 1)], [*range(1, len(right) + 1)]
    total = max(ends[-1:] + other_ends[-1:], default=1)
    shown, other_shown = ends[:MAX_CELLS], other_ends[:MAX_CELLS]
    columns = {end: number for number, end in enumerate(sorted({*shown, *other_shown, total}), 1)}
    # In rows that do not end with the text, the last token shown extends to the end.
    if not same_text:
        for row, tokens in ((shown, left), (other_shown, right)):
            if row and len(tokens) == len(row):
                row[-1] = total
    return Lanes(
        len(columns),
        _cells(left, shown, columns),
        _cells(right, other_shown, columns),
        max(len(left) - MAX_CELLS, 0),
        max(len(right) - MAX_CELLS, 0),
    )


def _cells(ids: Sequence[int], ends: Sequence[int], columns: dict[int, int]) -> list[list[int]]:
    at = [0, *(columns[end] for end in ends)]
    return [[id, at[i + 1] - at[i]] for i, id in enumerate(ids[: len(ends)])]


CHUNK = 1 << 16
CONTEXT = 8
MAX_STEPS = 5

# Laid out by the page itself: runs of ids, and a sentence in parts.
_NOT_ON_PAGE = frozenset({"ids", "canonical_ids", "scores", "reason"})


class Histogram:
    """The number of violations in each part of a stream of unknown length.

    The `width` of a part, in tokens, is a power of two, such that there are at most `most` parts.
    """

    def __init__(self, most: int = 96) -> None:
        self.width = 1
        self.counts: list[int] = []
        self._most = most

    def add(self, tokens: Int64Array) -> None:
        """Count violations at one token or more."""
        self.reach(int(tokens.max()))
        found = np.bincount(tokens // self.width).tolist()
        self.counts = [mine + more for mine, more in zip_longest(self.counts, found, fillvalue=0)]

    def reach(self, token: int) -> None:
        """Widen the parts until they cover this token."""
        while token // self.width >= self._most:
            self.width *= 2
            padded = [*self.counts, 0] if len(self.counts) % 2 else self.counts
            self.counts = [left + right for left, right in zip(padded[::2], padded[1::2], strict=True)]


class Documents:
    """The documents of a stream, known by their first tokens or found by the id that separates them."""

    def __init__(self, documents: int | npt.ArrayLike | None) -> None:
        self.separator = documents if isinstance(documents, int) else None
        self._starts = [] if documents is None else [0] if self.separator is not None else id_array(documents).tolist()
        self._n_forgotten = 0

    def find(self, ids: IntegerArray, first: int) -> None:
        """Find the documents that begin after separators among ids, which begin at token `first`."""
        if self.separator is not None:
            self._starts += (np.flatnonzero(ids == self.separator) + first + 1).tolist()

    def of(self, token: int) -> tuple[int, int] | None:
        """Return the number of the document of a token, from 0, and the number of the token in it."""
        known = bisect_right(self._starts, token) - 1
        return None if known < 0 else (self._n_forgotten + known, token - self._starts[known])

    def keep(self, first: int) -> None:
        """Forget the documents that end before a token, where a separator begins them."""
        known = bisect_right(self._starts, first) - 1
        if self.separator is not None and known > 0:
            self._n_forgotten += known
            del self._starts[:known]


class Collection:
    """The violations of a stream, as a report shows them.

    All are counted, by kind, by rule and by place; the first `max_shown` are kept with their surroundings, as JSON
    values. The options are as for :class:`~tokdfa.Validator`.
    """

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        max_shown: int,
        record_name: Callable[[int], str] | None = None,
        **options: Unpack[ValidationOptions],
    ) -> None:
        self.tokenizer = tokenizer
        self._validator = Validator(tokenizer, **options)
        self.spelling = Spelling(tokenizer)
        self.tokens = self.violations = 0
        self.kinds: Counter[ViolationKind] = Counter()
        self.rules: Counter[int] = Counter()
        self.histogram = Histogram()
        self.shown: list[dict[str, Any]] = []
        self._max_shown = max_shown
        self._options = options
        self._recent = LastIds()
        self._documents = Documents(options.get("documents"))
        self._record_name = record_name or "document {:,}".format
        # The violations that still lack the tokens after them, with the first one that they lack.
        self._open: list[tuple[dict[str, Any], int]] = []
        self._allowed: dict[int, int] = {}

    @property
    def judged_as(self) -> str:
        """How the stream is judged, in words; empty for a stream that is one text."""
        how = ["cut out of a longer stream"] if self._options.get("window") else []
        documents = self._options.get("documents")
        if documents is not None:
            how.append(f"documents, with {documents} between them" if isinstance(documents, int) else "documents")
        if self._options.get("literal"):
            how.append("special tokens by the text that they decode to")
        return ", ".join(how)

    def watch(self, chunks: Iterable[npt.ArrayLike]) -> Iterator[Sequence[Violation]]:
        """Judge a stream that comes in chunks, and yield its violations in parts."""
        for array in map(id_array, chunks):
            for begin in range(0, len(array), CHUNK):
                # The copy releases the array from which the chunk was cut.
                chunk = array[begin : begin + CHUNK].copy()
                self._documents.find(chunk, self._recent.end)
                self._recent.append(chunk)
                for part in filter(len, self._validator.iter_parts(chunk)):
                    self._add(part)
                    yield part
                self._close(final=False)
                self._recent.keep(self._validator.n_kept + CONTEXT)
                self._documents.keep(self._recent.first)
        if last := self._validator.finish():
            self._add(last)
            yield last
        self._close(final=True)
        self.tokens = self._validator.tokens
        self.histogram.reach(max(self.tokens - 1, 0))

    def _close(self, final: bool) -> None:
        """Fill in the ids after each violation that still lacks them."""
        still_open = []
        for fields, start in self._open:
            if final or start + CONTEXT <= self._recent.end:
                self._finish(fields, start)
            else:
                still_open.append((fields, start))
        self._open = still_open

    def _add(self, part: Sequence[Violation]) -> None:
        """Count violations; only those that are shown are made."""
        outline = Outline.of(part)
        for kind, count in zip(*(side.tolist() for side in np.unique(outline.kinds, return_counts=True)), strict=True):
            self.kinds[KINDS[kind]] += count
        self.rules.update(outline.rules[outline.rules >= 0].tolist())
        self.histogram.add(outline.indices)
        for violation in part[: max(self._max_shown - self.violations, 0)]:
            self.shown.append(self._fields(violation, len(self.shown) + 1))
            self._open.append((self.shown[-1], violation.start + len(violation.ids)))
        self.violations += len(part)

    def _fields(self, violation: Violation, number: int) -> dict[str, Any]:
        ids, canonical = violation.ids, violation.canonical_ids
        found = divergence(ids, () if canonical is None else canonical)
        at = violation.start + found.before
        before = [*self._recent.between(max(at - CONTEXT, 0), violation.start), *ids[: found.before]][-CONTEXT:]
        table = lanes(found.left, found.right, self.spelling.length)
        known, document = violation.detected_at - at, self._documents.of(violation.index)
        end = len(found.left)
        self.spelling.note((*before, *(cell[0] for cell in (*table.left, *table.right))))
        return {
            **{name: value for name, value in violation.as_json().items() if name not in _NOT_ON_PAGE},
            "n": number,
            "document": document and (self._record_name(document[0]), document[1]),
            "said": self._said(violation),
            "before": before,
            "begins": at <= len(before),
            "lanes": table._asdict(),
            "text": canonical is not None,
            "known_in": known if 0 <= known < len(table.left) else -1,
            "known_behind": known - end if known >= end else -1,
            "behind": [*ids[len(ids) - found.behind :]],
            "picture": self._picture(violation, at, found.left, found.right),
        }

    def _said(self, violation: Violation) -> list[str]:
        """Return the sentence in parts; every second one is the label of a token, a text or a rule."""
        said = [""]
        for part in parts(violation):
            match part:
                case Token(id, _):
                    said += [self.spelling.label(id), f" ({id})"]
                case Quote(text):
                    said += [cut_down(repr(text)), ""]
                case MergedPair(left, right):
                    said += [f"{shortened(word_label(left))} + {shortened(word_label(right))}", ""]
                case int():
                    said[-1] += f"{part:,}"
                case str():
                    said[-1] += part
        return said

    def _finish(self, fields: dict[str, Any], start: int) -> None:
        """Add the context after the ids of a violation, which end before token `start`."""
        behind = [*fields["behind"], *self._recent.between(start, start + CONTEXT)]
        fields["ends"] = start + len(behind) - len(fields["behind"]) == self._recent.end and len(behind) <= CONTEXT
        fields["behind"] = behind[:CONTEXT]
        self.spelling.note(fields["behind"])

    def _picture(
        self, violation: Violation, at: int, left: tuple[int, ...], right: tuple[int, ...]
    ) -> dict[str, Any] | None:
        """Return the run up to the token not allowed, where `allowed` tokens could come, and the canonical run."""
        if violation.canonical_ids is None:
            return None
        given = violation.ids[at - violation.start : violation.detected_at + 1 - violation.start]
        if not given:
            return None
        fields: dict[str, Any] = {"given": _steps(given), "right": _steps(right), "states": {}, "allowed": None}
        shown = {id for first, _, last in (fields["given"], fields["right"]) for id in (*first, *last)}
        self.spelling.note(shown)
        pair, automaton = violation.pair, self.tokenizer.pair_automaton
        if violation.kind is not ViolationKind.PAIR or pair is None or pair[1] != given[-1]:
            return fields
        if automaton is None:
            return fields
        self.spelling.note(pair)
        states = {id: automaton.state_of(id) for id in sorted({*shown, *pair})}
        before = pair[0]
        if states[before] is None:
            return fields
        if before not in self._allowed:
            self._allowed[before] = automaton.n_allowed(before)
        fields["states"] = {str(id): state for id, state in states.items() if state is not None}
        fields["allowed"] = self._allowed[before]
        return fields


def _steps(ids: tuple[int, ...]) -> list[Any]:
    """Return the first steps of a run, the number of steps left out, and the last steps."""
    if len(ids) <= MAX_STEPS:
        return [[*ids], 0, []]
    return [[*ids[:2]], len(ids) - MAX_STEPS + 1, [*ids[len(ids) - MAX_STEPS + 3 :]]]
