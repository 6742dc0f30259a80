"""The spans of rollouts that differ from the encoding of their text: their classes, and why they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.base.errors import AlphabetError, TokenStreamError
from tokdfa.base.verdict import DescribedEnum
from tokdfa.jobs.validation.engine import model_of
from tokdfa.jobs.validation.engines.segment import bad_bytes, otherwise
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.violation import MOST_NAMED, Cause, ViolationKind, spelled
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Counts", "Shares", "SpanClass"]

ENCODED, NOT_UTF8, NOT_ENCODABLE, OUT_OF_RANGE = 0, 1, 2, 3
"""Why a span is wrong: its text has other ids; no text has these ids; encoding is an error; no token has the id."""


class Spans(NamedTuple):
    """Spans of ids that differ from the canonical ids of their text, in order.

    The canonical ids y of ids x are the encoding of the text of x. A boundary is shared if a token of x and a token of
    y end there. Between two neighbouring boundaries that both share there is a span of x and a span of y, and
    they differ if their ids do. Equal ids are spans of one token each, so differences are cut as finely as
    possible. There are four exceptions:

    - Special tokens that `encode` never gives split the text, and the parts between them are encoded separately.
      Documents are encoded separately too.
    - Ids that are not UTF-8 have no text. Neighbouring ones are a span without canonical ids, and the ids before and
      after them are encoded separately.
    - An id that the tokenizer does not have is a span without canonical ids, and cuts the text as they do.
    - If the canonical ids spell another text, because the tokenizer normalizes it, no boundary is known to be shared
      except in the longest common prefix and suffix, and where the tokenizer always cuts the text.
    """

    bounds: Int64Array  # Of shape (spans, 2): the first id of each and the one after the last, in the given ids
    # Span i has the canonical ids ``canonical[offsets[i]:offsets[i + 1]]``.
    canonical: Int32Array
    offsets: Int64Array
    outcomes: np.ndarray[tuple[int], np.dtype[np.int8]]  # ENCODED, NOT_UTF8, NOT_ENCODABLE or OUT_OF_RANGE

    @classmethod
    def encoded(cls, bounds: Int64Array, canonical: Int32Array, offsets: Int64Array) -> Spans:
        """Return the spans that have other ids when their text is encoded."""
        return cls(bounds, canonical, offsets, np.full(len(bounds), ENCODED, dtype=np.int8))

    def moved(self, n: int) -> Spans:
        """Return the same spans with all bounds moved."""
        return self._replace(bounds=self.bounds + n)

    def rows(self, low: int = 0, high: int | None = None) -> Iterator[tuple[int, int, Int32Array, int]]:
        """Yield the bounds, the canonical ids and the outcome of each span, or of those from `low` to `high`."""
        for at in range(low, len(self.bounds) if high is None else high):
            start, stop = self.bounds[at].tolist()
            yield start, stop, self.canonical[self.offsets[at] : self.offsets[at + 1]], int(self.outcomes[at])

    def where(self, keep: BoolArray) -> Spans:
        """Return some of the spans."""
        sizes = np.diff(self.offsets)
        canonical = self.canonical[np.repeat(keep, sizes)]
        return Spans(self.bounds[keep], canonical, running_sum(sizes[keep]), self.outcomes[keep])


def nothing() -> Spans:
    """Return no spans."""
    return Spans(np.zeros((0, 2), np.int64), np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0, np.int8))


def joined(parts: Iterable[Spans]) -> Spans:
    """Return the spans of all parts, which are in order."""
    found = [*parts]
    if len(found) < 2:
        return found[0] if found else nothing()
    bounds, canonical, offsets, outcomes = zip(*found, strict=True)
    sizes = np.concatenate([*map(np.diff, offsets)])
    return Spans(np.concatenate(bounds), np.concatenate(canonical), running_sum(sizes), np.concatenate(outcomes))


def without_ids(bounds: Int64Array, outcome: int) -> Spans:
    """Return spans without canonical ids."""
    n = len(bounds)
    return Spans(bounds, np.zeros(0, np.int32), np.zeros(n + 1, np.int64), np.full(n, outcome, np.int8))


def in_order(found: Spans, boundaries: Int64Array | None = None) -> Spans:
    """Return spans in order; join neighbours that are not UTF-8, unless one of `boundaries` is between them."""
    order = np.argsort(found.bounds[:, 0], kind="stable")
    bounds, outcomes = found.bounds[order], found.outcomes[order]
    sizes, canonical = np.diff(found.offsets), found.canonical
    if (order[1:] < order[:-1]).any():
        parts = [canonical[found.offsets[at] : found.offsets[at + 1]] for at in order.tolist()]
        canonical, sizes = np.concatenate((canonical[:0], *parts)), sizes[order]
    is_bad = outcomes == NOT_UTF8
    is_next = np.append(False, is_bad[1:] & is_bad[:-1] & (bounds[1:, 0] == bounds[:-1, 1]))[: len(bounds)]
    if boundaries is not None:
        is_next &= ~np.isin(bounds[:, 0], boundaries)
    if not is_next.any():
        return Spans(bounds, canonical, running_sum(sizes), outcomes)
    first, last = ~is_next, np.append(~is_next[1:], True)
    # Spans that become one have no canonical ids.
    bounds = np.column_stack((bounds[first, 0], bounds[last, 1]))
    return Spans(bounds, canonical, running_sum(sizes[first]), outcomes[first])


class SpanClass(DescribedEnum):
    """The class of a span that is not canonical. The values are stable: ``--json`` and the pages print them.

    Attributes
    ----------
    meaning : str
        One sentence that describes the class.

    Examples
    --------
    >>> [each.value for each in tokdfa.SpanClass]
    ['bugs', 'drift', 'junctions']
    """

    BUG = "bugs", "No id of the span was sampled: a program encoded this text in parts, or with another tokenizer."
    DRIFT = "drift", "All ids of the span were sampled: decoding and encoding again would change them."
    JUNCTION = "junctions", "Some ids were sampled and some not: a sampled token and the text next to it would merge."


class Counts(NamedTuple):
    """A number for each class of spans.

    Examples
    --------
    >>> tokdfa.check_rollout(tokdfa.default_tokenizer(), [64, 261, 1193], prompt=2).counts
    Counts(bugs=0, drift=0, junctions=1)
    """

    bugs: int = 0
    drift: int = 0
    junctions: int = 0

    @classmethod
    def total(cls, counts: Iterable[Counts]) -> Counts:
        """Return the sum of some counts, class by class."""
        return cls(*map(sum, zip(cls(), *counts, strict=True)))


class Shares(NamedTuple):
    """The shares of ids in bugs, among ids not sampled; in drift, among sampled ids; in junctions, among all.

    Examples
    --------
    >>> tokdfa.check_rollout(tokdfa.default_tokenizer(), [64, 261, 1193, 64], prompt=1).shares.drift
    0.6666666666666666
    """

    bugs: float = 0.0
    drift: float = 0.0
    junctions: float = 0.0


def classes_of(bounds: Int64Array, sampled: BoolArray, low: Int64Array, high: Int64Array) -> Int64Array:
    """Return the number of the class of each span: 0 for a bug, 1 for drift, 2 for a junction.

    A span without ids, where the tokenizer would add some, takes the class of the two ids that it is between.
    `bounds` are of shape (spans, 2), `sampled` is for each id, and `low` and `high`, where its rollout begins and
    ends, for each span.
    """
    begin, stop = bounds.T
    is_empty = begin == stop
    begin, stop = np.maximum(begin - is_empty, low), np.minimum(stop + is_empty, high)
    until = running_sum(sampled.view(np.uint8))
    n_sampled = until[stop] - until[begin]
    found: Int64Array = np.where(n_sampled == 0, 0, np.where(n_sampled == stop - begin, 1, 2))
    return found


_MOST_CAUSES = 1 << 14


def cause_of(tokenizer: AnyTokenizer, ids: Int32Array, canonical: Int32Array, outcome: int) -> tuple[Cause, int]:
    """Return why a span is not canonical, and the number of its ids before the one that shows it.

    The cause depends on the span alone: its ids, the canonical ones, and the outcome of encoding, as `Spans` has
    them. Spans repeat, and the tokenizer keeps the causes of the last ones.
    """
    known = tokenizer.derived(_causes)
    name = ids.tobytes(), canonical.tobytes(), outcome
    found = known.get(name)
    if found is None:
        if len(known) >= _MOST_CAUSES:
            known.clear()
        found = known[name] = _cause_of(tokenizer, ids, canonical, outcome)
    return found


def _cause_of(tokenizer: AnyTokenizer, ids: Int32Array, canonical: Int32Array, outcome: int) -> tuple[Cause, int]:
    """Return the same, found now.

    Every boundary of a piece is a boundary of the canonical ids, so no two ids of a span have one between them: a
    pair that the token DFA does not allow is wrong here. If all pairs are allowed and all tokens are live, a token goes
    past the end of a piece.
    """
    last = max(len(ids) - 1, 0)
    if outcome == NOT_UTF8:
        data, _ = tokenizer.round_trip.spelled(ids)
        start, end = bad_bytes(data)
        return Cause(kind=ViolationKind.NOT_UTF8, bad_bytes=data[start:end]), last
    if outcome == NOT_ENCODABLE:
        return Cause(kind=ViolationKind.NOT_ENCODABLE, error=_error(tokenizer, ids)), 0
    intruders = np.setdiff1d(canonical[np.isin(canonical, tokenizer.special_ids)], ids)
    if len(intruders) and tokenizer.found_specials:
        special = int(intruders[0])
        text = next(each.text for each in tokenizer.found_specials if each.id == special)
        return Cause(kind=ViolationKind.SPECIAL_TOKEN, special=special, text=text), last
    is_paired = tokenizer.why_not("rules") is None and tokenizer.why_not("spelling") is None
    if is_paired and (model := model_of(tokenizer)).by_pairs:
        return _by_pairs(model, ids, canonical)
    trip = tokenizer.round_trip
    if trip.takes_longest and len(ids):
        spellings = spelled([int(ids[0]), *canonical.tolist()[:MOST_NAMED]], trip.spelling)
        return Cause(kind=ViolationKind.NOT_LONGEST_MATCH, token=int(ids[0]), spellings=spellings), last
    return otherwise(trip, ids.tolist(), canonical.tolist()), last


def _causes(tokenizer: AnyTokenizer) -> dict[tuple[bytes, bytes, int], tuple[Cause, int]]:
    """Return the cache of causes by the bytes of ids and canonical ids, filled by :func:`cause_of`."""
    return {}


def _by_pairs(model: Model, ids: Int32Array, canonical: Int32Array) -> tuple[Cause, int]:
    """Return the cause where pairs of neighbours decide the result of merging."""
    last = max(len(ids) - 1, 0)
    wrong = np.flatnonzero(model.pairs.forbidden(ids)[1:] & ~model.dead[ids[1:]]) + 1
    if len(wrong):
        index = int(wrong[0])
        return model.pair_cause(int(ids[index - 1]), int(ids[index])), index
    if len(ids) and len(canonical) == 1 and model.alone[canonical[0]]:
        text = model.tokenizer.decode(canonical)
        return model.cause(ViolationKind.PIECE_IS_A_TOKEN, int(ids[0]), text=text), last
    if model.special[ids].any():
        return otherwise(model.tokenizer.round_trip, ids.tolist(), canonical.tolist()), last
    dead = np.flatnonzero(model.dead[ids])
    if len(dead):
        index = int(dead[0])
        kind = ViolationKind.WHOLE_PIECE_ONLY if model.alone[ids[index]] else ViolationKind.DEAD_TOKEN
        return model.cause(kind, int(ids[index])), index
    if model.tokenizer.pretokenizer is None:
        return otherwise(model.tokenizer.round_trip, ids.tolist(), canonical.tolist()), last
    return Cause(kind=ViolationKind.BOUNDARY), last


def _error(tokenizer: AnyTokenizer, ids: Int32Array) -> str:
    """Return the error of the tokenizer for the text of ids."""
    trip = tokenizer.round_trip
    try:
        trip.encode(trip.decode(ids).text)
    except (AlphabetError, TokenStreamError) as error:
        return str(error)
    return "a symbol has no token"
