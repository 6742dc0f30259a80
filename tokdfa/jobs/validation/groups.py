"""Equal violations, counted: which ids stand where which ids belong, how often, and the first with the text around it.

The ids 261 1193 where 2513 belongs, 12,000 times in a corpus, are one group of 12,000. Violations come as arrays, and
are counted by the bytes of their ids, so none is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from tokdfa.automata.alphabet import quoted
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, offsets_of, ranges, running_sum
from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.validation.recent import LastIds
from tokdfa.jobs.validation.violation import Violation, ViolationKind
from tokdfa.jobs.validation.violations import KIND_INDEX, KINDS, Outline, Spans, spans_between
from tokdfa.tokenizers.protocol import AnyTokenizer

MOST_IDS = 16
"""The number of ids of each side that a group has; of longer ones, these and the lengths are compared."""

MOST_GROUPS = 1 << 12
"""The number of groups that are kept, the largest ones; twice as many while they are counted."""

CONTEXT = 8
"""The number of ids before and after the first violation of a group that its text has."""


@dataclass(frozen=True, slots=True)
class Group:
    """Violations with the same ids, the same canonical ids and the same cause.

    Attributes
    ----------
    count : int
        The number of violations.
    kind : str
        The value of their :class:`~tokdfa.ViolationKind`.
    ids, canonical_ids : tuple of int, the second or None
        The ids of the piece concerned and the ids that belong there, at most 16 of each; None if no text has them.
    n_ids, n_canonical_ids : int
        How many ids these are, with the ones that are left out.
    rule : int or None
        The rule that keeps two ids apart.
    merge : tuple of two str or None
        The two words that this rule merges, quoted.
    before, text, after : str
        The text of the first violation, and the text of up to 8 ids before and after it in its document.
    file, unit, number, token
        Where the first violation is; see :class:`tokdfa.stores.Location`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/ids.npy", [64, 261, 1193, 462, 261, 1193])
    ...     (group,) = tokdfa.check_shard(tokdfa.default_tokenizer(), f"{folder}/ids.npy").groups
    >>> group.count, group.ids, group.canonical_ids, group.before, group.text, group.after
    (2, (261, 1193), (2513,), 'a', ' single', ' man single')
    """

    count: int
    kind: str
    ids: tuple[int, ...]
    canonical_ids: tuple[int, ...] | None
    n_ids: int
    n_canonical_ids: int
    rule: int | None
    merge: tuple[str, str] | None
    before: str
    text: str
    after: str
    file: str
    unit: str
    number: int
    token: int

    @property
    def key(self) -> tuple[Any, ...]:
        """The properties that its violations share."""
        canonical = self.canonical_ids
        rule = -1 if self.rule is None else self.rule
        return (self.kind, self.ids, canonical is not None, canonical or (), self.n_ids, self.n_canonical_ids, rule)

    @property
    def place(self) -> tuple[Any, ...]:
        """Where the first violation is, to be compared."""
        return (self.file, self.number, self.token, self.before, self.text, self.after)

    def to_dict(self) -> dict[str, Any]:
        """Return the group as JSON values."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Group:
        """Return the group of the values that :meth:`to_dict` gave, as JSON has them."""
        lists = {name: None if row[name] is None else tuple(row[name]) for name in ("ids", "canonical_ids", "merge")}
        return cls(**{**row, **lists})


def in_order(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Return groups, the largest first."""
    return tuple(sorted(groups, key=lambda group: (-group.count, group.key)))


class GroupSum:
    """The sum of groups. The largest are kept, and `error` is by how much their counts may be too low."""

    def __init__(self, most: int = MOST_GROUPS) -> None:
        self.error = 0
        self._most = most
        self._groups: dict[tuple[Any, ...], Group] = {}

    def add(self, groups: Iterable[Group], error: int = 0) -> None:
        """Add groups; their counts may be too low by `error`."""
        self.error += error
        for group in groups:
            known = self._groups.get(key := group.key)
            if known is not None:
                first = min(known, group, key=lambda each: each.place)
                group = replace(first, count=known.count + group.count)
            self._groups[key] = group
        if len(self._groups) > 8 * self._most:
            self._keep(4 * self._most)

    def _keep(self, most: int) -> None:
        ordered = in_order(self._groups.values())
        if len(ordered) > most:
            self.error += ordered[most].count
        self._groups = {group.key: group for group in ordered[:most]}

    def largest(self) -> tuple[Group, ...]:
        """Return the groups that are kept, the largest first."""
        self._keep(self._most)
        return tuple(self._groups.values())


class Sides(NamedTuple):
    """The ids of violations and the canonical ids, as ranges in arrays, and whether there are canonical ids at all."""

    given: IntegerArray
    spans: Int64Array
    canonical: Int32Array
    canonical_spans: Int64Array
    is_text: BoolArray

    @classmethod
    def of(cls, part: Sequence[Violation], taken: Int64Array) -> Sides:
        """Return the ids of some violations; none that is found later is made."""
        if isinstance(part, Spans):
            rows = part.rows.chosen(taken)
            return cls(rows.ids, rows.spans, rows.canonical, rows.canonical_spans, rows.is_text)
        chosen = [part[index] for index in taken.tolist()]
        (given, spans), (right, right_spans) = (
            (
                np.array([id for ids in side for id in ids], dtype=np.int64),
                spans_between(offsets_of(side)),
            )
            for side in ([each.ids for each in chosen], [each.canonical_ids or () for each in chosen])
        )
        is_text = np.array([each.canonical_ids is not None for each in chosen], dtype=np.bool_)
        return cls(given, spans, right.astype(np.int32), right_spans, is_text)

    def keys(self, kinds: IntegerArray, rules: Int64Array) -> list[bytes]:
        """Return for each violation its kind, its rule, both numbers of ids, and the first ids, as bytes of int64."""
        (low, high), (right_low, right_high) = self.spans.T, self.canonical_spans.T
        sizes, right_sizes = high - low, right_high - right_low
        n, m = np.minimum(sizes, MOST_IDS), np.minimum(right_sizes, MOST_IDS)
        offsets = running_sum(_HEAD + n + m)
        at, packed = offsets[:-1], np.empty(int(offsets[-1]), dtype=np.int64)
        heads = (kinds, rules, sizes, np.where(self.is_text, right_sizes, -1))
        packed[at[:, None] + np.arange(_HEAD)] = np.column_stack(heads)
        packed[ranges(at + _HEAD, at + _HEAD + n)[0]] = self.given[ranges(low, low + n)[0]]
        packed[ranges(offsets[1:] - m, offsets[1:])[0]] = self.canonical[ranges(right_low, right_low + m)[0]]
        data, ends = packed.tobytes(), (8 * offsets).tolist()
        return [data[begin:end] for begin, end in pairwise(ends)]


_HEAD = 4
_LAST, _WRAP = (1 << 63) - 1, 1 << 64  # An id of 64 bits without a sign is kept as one with a sign, by the rule -2.


class _First(NamedTuple):
    """The first violation of a group: its index in the stream, its location, and the ids around it and of it."""

    location: tuple[str, str, int, int]
    before: list[int]
    ids: list[int]
    end: int  # The index after its ids


class GroupCounter:
    """Counts the violations of one shard by group, in memory that does not grow with them.

    Groups are dropped, the smallest first, when there are too many; `error` is how often a group may have been counted
    too seldom.
    """

    def __init__(self, most: int = MOST_GROUPS) -> None:
        self._most = most
        self.error = 0
        self._counts: dict[bytes, int] = {}
        self._first: dict[bytes, _First] = {}
        self._after: dict[bytes, list[int]] = {}
        self._open: list[bytes] = []

    def count(self, keys: Sequence[bytes], counts: Sequence[int] | None = None) -> list[int]:
        """Count violations by their keys, and return the indices of the ones that begin a group."""
        begun, known = [], self._counts
        for index, key in enumerate(keys):
            n = known.get(key)
            if n is None:
                begun.append(index)
            known[key] = (n or 0) + (1 if counts is None else counts[index])
        return begun

    def note(
        self, key: bytes, location: tuple[str, str, int, int], recent: LastIds, span: tuple[int, int], low: int
    ) -> None:
        """Note the first violation of a group: its location, and the ids around it in a document from `low` on."""
        start, end = span
        before = recent.between(max(low, start - CONTEXT), start)
        self._first[key] = _First(location, before, recent.between(start, min(end, start + MOST_IDS)), end)
        self._open.append(key)

    def close(self, recent: LastIds, starts: Int64Array, *, is_last: bool = False) -> None:
        """Note the ids after the violations that lack them, up to the next of the `starts` of documents."""
        still_open = []
        for key in self._open:
            first = self._first.get(key)
            if first is None:
                continue
            stop = min([first.end + CONTEXT, *starts[np.searchsorted(starts, first.end) :][:1].tolist()])
            if stop <= recent.end or is_last:
                self._after[key] = recent.between(first.end, stop)
            else:
                still_open.append(key)
        self._open = still_open
        if len(self._counts) > 4 * self._most:
            self._keep(2 * self._most)

    def _keep(self, most: int) -> list[bytes]:
        ordered = sorted(self._counts, key=lambda key: (-self._counts[key], key))
        if len(ordered) > most:
            self.error += self._counts[ordered[most]]
        for key in ordered[most:]:
            del self._counts[key]
            self._first.pop(key, None)
            self._after.pop(key, None)
        return ordered[:most]

    def groups(self, tokenizer: AnyTokenizer) -> tuple[Group, ...]:
        """Return the largest groups."""
        return in_order(self._group(tokenizer, key) for key in self._keep(self._most))

    def _group(self, tokenizer: AnyTokenizer, key: bytes) -> Group:
        kind, rule, n_ids, n_canonical, *ids = np.frombuffer(key, dtype=np.int64).tolist()
        n = min(n_ids, MOST_IDS)
        ids = ids if rule > -2 else [ids[0] + _WRAP]
        first = self._first[key]
        before, text, after = texts_of(tokenizer, first.before, first.ids, self._after.get(key, []))
        return Group(
            self._counts[key],
            KINDS[kind].value,
            tuple(ids[:n]),
            tuple(ids[n:]) if n_canonical >= 0 else None,
            n_ids,
            max(n_canonical, 0),
            rule if rule >= 0 else None,
            merge_of(tokenizer, rule),
            before,
            text,
            after,
            *first.location,
        )


def merge_of(tokenizer: AnyTokenizer, rule: int) -> tuple[str, str] | None:
    """Return the words that a rule merges, quoted."""
    automaton = tokenizer.pair_automaton
    if rule < 0 or automaton is None:
        return None
    found = automaton.rule(rule)
    return quoted(found.left), quoted(found.right)


def texts_of(tokenizer: AnyTokenizer, *parts: Sequence[int]) -> list[str]:
    """Return the texts of neighbouring parts of a stream; an id that the tokenizer does not have is U+FFFD."""
    is_known = [[tokenizer.decoder.is_id(id) for id in part] for part in parts]
    known = [[*compress(part, own)] for part, own in zip(parts, is_known, strict=True)]
    try:
        data, ends = tokenizer.round_trip.spelled(np.array([*chain.from_iterable(known)], dtype=np.int32))
        words = iter([data[begin:end] for begin, end in pairwise([0, *ends.tolist()])])
    except TokdfaError:  # Ids that are not UTF-8 have no text next to each other.
        words = iter([tokenizer.name_of(id) for id in chain.from_iterable(known)])
    spelled = (b"".join(next(words) if is_id else _REPLACEMENT for is_id in own) for own in is_known)
    return [part.decode("utf-8", "replace") for part in spelled]


_REPLACEMENT = "\ufffd".encode()


def keys_out_of_range(values: IntegerArray, most: int = MOST_GROUPS) -> tuple[list[bytes], list[int], Int64Array, int]:
    """Return the keys of ids that a tokenizer does not have, their counts, the first index of each, and an error.

    Only the most frequent are returned; the others occur at most as often as the error says.
    """
    distinct, index, counts = np.unique(values, return_index=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    kept, rest = np.sort(order[:most]), order[most:]
    kind = KIND_INDEX[ViolationKind.ID_OUT_OF_RANGE]
    heads = (
        [kind, -2 if value > _LAST else -1, 1, -1, value - _WRAP * (value > _LAST)] for value in distinct[kept].tolist()
    )
    keys = [np.array(head, dtype=np.int64).tobytes() for head in heads]
    error = int(counts[rest[0]]) if len(rest) else 0
    return keys, counts[kept].tolist(), index[kept], error


def keys_of(part: Sequence[Violation], outline: Outline, taken: Int64Array) -> tuple[list[bytes], Int64Array]:
    """Return the keys of some violations, and where their ids begin and end in the stream, of shape (violations, 2)."""
    sides = Sides.of(part, taken)
    starts = outline.starts[taken]
    spans = np.column_stack((starts, starts + sides.spans[:, 1] - sides.spans[:, 0]))
    return sides.keys(outline.kinds[taken], outline.rules[taken]), spans
