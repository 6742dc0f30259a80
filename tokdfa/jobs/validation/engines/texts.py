"""Blocks of ids checked by decoding them, encoding their text again, and comparing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, ranges, running_sum
from tokdfa.base.errors import AlphabetError, TokenStreamError
from tokdfa.jobs.validation.differences import compare_texts, differing_parts
from tokdfa.jobs.validation.engine import Engine
from tokdfa.jobs.validation.engines.segment import spans_of_tokens
from tokdfa.jobs.validation.violation import Violation
from tokdfa.jobs.validation.violations import NO_ROWS, Rows
from tokdfa.jobs.validation.window import CLOSE, Block, BlockResult, are_within, last_cut, merged
from tokdfa.tokenizers.decoder import Decoded
from tokdfa.tokenizers.round_trip import RoundTrip

_HEAD = 1 << 12
"""The number of ids among which something is wrong if it is likely that more is."""

_SOON = 1 << 10
"""The number of ids among which something is wrong if much is."""


def check_by_encoding(engine: Engine, block: Block, make: type[Text]) -> BlockResult:
    """Check a block of a stream by decoding it, encoding its text again, and comparing; `make` makes its texts."""
    trip, engines = engine.tokenizer.round_trip, engine.stream_engines()
    following = block.following
    ids, n = block.ids, len(block.ids)
    is_cut = np.zeros(n, dtype=np.bool_) if engine.literal else trip.cuts[ids]
    is_cut[block.unknown] = is_cut[block.separators] = False
    cuts = np.flatnonzero(is_cut)
    starts = np.sort(np.concatenate((block.texts[:, 0], cuts + 1)))
    stops = np.sort(np.concatenate((block.texts[:, 1], cuts)))
    known = _Known(trip, ids, starts, stops)
    sizes = known.sizes.tolist()
    violations: list[Sequence[Violation]] = []
    byte, begins = block.byte, block.begins
    unknown, separators = {*block.unknown.tolist()}, {*block.separators.tolist()}
    for number, (at, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        is_last = number == len(starts) - 1
        if sizes[number] >= 0:
            known.begun[number] = byte
            byte += sizes[number]
        else:
            violations.append(known.spans(trip, block.first, ids, at))
            is_open = is_last and not block.is_last
            text = make(trip, engines, ids[at:stop], block.first + at, byte, begins, is_open=is_open)
            if following is not None and not number:
                text.following = following
            found, n_checked, byte = text.check()
            violations += found
            if is_last:
                break
        if not is_last and starts[number + 1] == stop:
            # A document begins here: ids at the cut are read after the empty text that ends there.
            pass
        elif stop in unknown:
            violations += (known.spans(trip, block.first, ids, stop), [block.out_of_range(stop, byte)])
        elif stop in separators:
            byte += block.separator_size
        elif is_cut[stop]:
            byte += int(trip.decode(ids[stop : stop + 1]).ends[-1])
        begins = True
    following = None if text.following is trip else text.following
    return BlockResult(violations, at + n_checked, byte, begins and not n_checked, following)


class _Known:
    """The texts of a block that are compared with their canonical ids at once; not the first one, nor the last.

    Text k has the ids from ``starts[k]`` to ``stops[k]``, and ``sizes[k]`` bytes, -1 if it is judged on its own: odd
    ones, and those that depend on the following text. ``begun[k]`` is for the offset at which it begins. `rows` are the
    parts that differ, with offsets in their texts.
    """

    def __init__(self, trip: RoundTrip, ids: Int32Array, starts: Int64Array, stops: Int64Array) -> None:
        self.starts, self.stops = starts, stops
        self.sizes: Int64Array = np.full(len(starts), -1, dtype=np.int64)
        self.begun: Int64Array = np.zeros(len(starts), dtype=np.int64)
        self.rows = NO_ROWS
        self._done = 0
        inner = 1 + np.flatnonzero(starts[1:-1] < stops[1:-1])
        if len(inner) < 2 or trip.checks_words:
            return
        indices, bounds = ranges(starts[inner], stops[inner])
        given = ids[indices]
        compared = compare_texts(trip, given, bounds)
        if compared is None:
            return
        text, parts = compared.rows[:, 0], compared.parts(given, bounds)
        is_known = ~compared.is_odd
        is_known[text[parts.undecided | parts.is_silent]] = False
        byte_at = running_sum(compared.sizes)
        self.sizes[inner[is_known]] = np.diff(byte_at[bounds])[is_known]
        rows = Rows.of(given, parts[:4], compared.canonical, byte_at[parts.starts] - byte_at[bounds[text]])
        self.rows = rows._replace(first=np.append(indices, 0)[rows.first]).chosen(is_known[text])

    def spans(self, trip: RoundTrip, first: int, ids: Int32Array, stop: int) -> Sequence[Violation]:
        """Return the next violations, up to the id `stop` of a block that begins at `first`."""
        if self._done == len(self.rows.first):
            return ()
        end = int(np.searchsorted(self.rows.first, stop))
        rows = self.rows.chosen(slice(self._done, end))
        self._done = end
        text = np.searchsorted(self.starts, rows.first, side="right") - 1
        rows = rows._replace(byte=rows.byte + self.begun[text])
        return spans_of_tokens(trip, first, ids, rows, (self.starts, self.stops))


class Text:
    """Ids of a text, from the index `first` of a stream and the offset `byte` on.

    `begins` is whether the text begins with them, and `is_open` whether it may continue after them. `following` is the
    round trip from them on; once they are judged, the round trip of the text after them.
    """

    def __init__(
        self,
        trip: RoundTrip,
        engines: Callable[..., Any],
        ids: Int32Array,
        first: int,
        byte: int,
        begins: bool,
        *,
        is_open: bool,
    ) -> None:
        self._trip = trip
        self._engines = engines
        self._all = ids
        self._is_open = is_open
        self.following = trip
        self._begins = begins
        self._first, self._byte = first, byte
        self._ids = ids[: self._cut_before(len(ids), begins)] if is_open else ids

    def _cut_before(self, stop: int, begins: bool) -> int:
        """Return the last index before `stop` at which the text is always cut; 0 if there is none."""
        return last_cut(self._trip, self._all, 0, stop, begins=begins)

    def check(self) -> tuple[list[Sequence[Violation]], int, int]:
        """Return the violations, the number of ids that are judged, and the offset at which they end."""
        ids = self._ids
        if not len(ids) and (self._is_open or not self._begins):
            return [], 0, self._byte
        try:
            decoded = self._trip.decode(ids, begins=self._begins)
            canonical, others = self._encoded(decoded)
        except (TokenStreamError, AlphabetError):
            return self._all_closely()
        if np.array_equal(ids, canonical):
            return [], len(ids), self._byte + int(decoded.ends[-1:].sum())
        if others is None:
            others = self._ends_of(canonical, decoded)
        return self._all_closely() if others is None else self._compared(decoded, canonical, others)

    def _encoded(self, decoded: Decoded) -> tuple[Int32Array, Int64Array | None]:
        """Return the ids of the text; where it is likely that they are others, also their ends in it, if known."""
        if self._trip.takes_longest and self._is_soon_wrong():
            return self._trip.encode_with_ends(decoded.text)
        return self._trip.encode(decoded.text, begins=self._begins), None

    def _is_soon_wrong(self) -> bool:
        """Return whether something is wrong in the first ids of many."""
        if len(self._ids) < 64 * _SOON:
            return False
        head = self._ids[: self._cut_before(_SOON, self._begins)]
        return not np.array_equal(head, self._trip.encode(self._trip.decode(head, begins=self._begins).text))

    def _ends_of(self, canonical: Int32Array, decoded: Decoded) -> Int64Array | None:
        """Return the ends of canonical ids in the encoded text, if that is also their own."""
        if self._trip.takes_longest:
            return self._trip.encode_with_ends(decoded.text)[1]
        try:
            again = self._trip.decode(canonical, begins=self._begins)
        except TokenStreamError:
            return None
        return again.ends if again.text == decoded.text else None

    def _compared(
        self, decoded: Decoded, canonical: Int32Array, others: Int64Array
    ) -> tuple[list[Sequence[Violation]], int, int]:
        """Return the same as :meth:`judged`, given the text of the ids, and the canonical ids with their ends in it."""
        indices = np.zeros(0, dtype=np.int64)
        if self._trip.takes_longest:
            indices = np.flatnonzero(self._trip.boundaries.always_cut(self._ids, begins=self._begins)) + 1
        parts = differing_parts(self._ids, decoded.ends, indices, canonical, others)
        # Where ids add nothing to the text, more boundaries than those that both sides share may be cuts.
        odd = parts.undecided if self._trip.takes_longest else parts.undecided | parts.is_silent
        byte_at = self._byte + np.append(0, decoded.ends)
        # Ids that add nothing may belong to the text before a boundary at its beginning.
        begins = np.array(
            [self._cut_before(start, self._begins) for start in parts.starts[odd].tolist()], dtype=np.int64
        )
        stops = np.maximum(parts.stops[odd], parts.starts[odd] + 1)
        rows = Rows.of(self._ids, parts[:4], canonical, byte_at[parts.starts])
        return self._merged(rows, byte_at, begins, stops)

    def _merged(
        self, rows: Rows, byte_at: Int64Array, begins: Int64Array, stops: Int64Array
    ) -> tuple[list[Sequence[Violation]], int, int]:
        """Return the same as :meth:`judged`: rows, and the violations found one by one in parts that need care.

        `byte_at` is where each id begins. The parts are from `begins`, where the text is cut, to `stops`, ascending.
        """
        found: list[tuple[int, list[Violation]]] = []
        covered: list[tuple[int, int]] = []
        n_checked, byte = len(self._ids), int(byte_at[-1])
        for begin, stop in zip(begins.tolist(), stops.tolist(), strict=True):
            done = covered[-1][1] if covered else 0
            if covered and stop <= done:
                continue
            at = max(begin, done)
            result = self._closely(at, stop, int(byte_at[at]), CLOSE)
            if result is None:
                # The following ids decide.
                n_checked, byte = at, int(byte_at[at])
                break
            found.append((at, result[0]))
            covered.append((at, result[1]))
            if result[1] >= n_checked:
                n_checked, byte = result[1:3]
        rows = rows.chosen((rows.first < n_checked) & ~are_within(rows.first, covered))
        return merged(found, rows, partial(spans_of_tokens, self._trip, self._first, self._ids)), n_checked, byte

    def _closely(
        self, at: int, until: int, byte: int, size: int | None = None, following: RoundTrip | None = None
    ) -> tuple[list[Violation], int, int, RoundTrip] | None:
        """Check ids one by one from `at`, where the text is cut, to `until` or later; None if the following ids decide.

        Return the violations, the index up to which ids are judged, and the offset and the round trip there.
        """
        begins = self._begins and at == 0
        closer = self._engines(self._first + at, byte, begins=begins, size=size, following=following)
        violations = [*closer.feed(self._all[at:], self._first + until - 1)]
        done = closer.buffer.first - self._first
        if done < until or not until:
            if self._is_open:
                return None
            violations += closer.finish()
            done = len(self._all)
        return violations, done, closer.byte, closer.following

    def _all_closely(self) -> tuple[list[Sequence[Violation]], int, int]:
        result = self._closely(0, len(self._ids), self._byte)
        return ([], 0, self._byte) if result is None else ([result[0]], *result[1:3])


class PartsText(Text):
    """Ids of a text; neighbours show the parts that may not be canonical, and only these are encoded again."""

    def check(self) -> tuple[list[Sequence[Violation]], int, int]:
        """Return the violations, the number of ids that are judged, and the offset at which they end."""
        ids, trip = self._ids, self._trip
        # Most streams are canonical: then encoding all of them takes less time than finding the doubtful parts.
        head = ids if len(ids) < 2 * _HEAD else ids[: self._cut_before(_HEAD, self._begins)]
        if len(head):
            ends, is_canonical = self._compared_alone(head)
            if is_canonical and len(head) < len(ids):
                ends, is_canonical = self._compared_alone(ids)
            if is_canonical:
                return [], len(ids), self._byte + int(ends[-1])
        doubtful = trip.boundaries.doubtful(ids, begins=self._begins) if len(ids) else None
        if doubtful is None:
            return super().check()
        n_first, parts = (int(doubtful[0, 1]), doubtful[1:]) if self._begins else (0, doubtful)
        indices, bounds = ranges(*parts.T)
        compared = compare_texts(trip, ids[indices], bounds, begins=False)
        if compared is None:
            return super().check()
        text, apart = compared.rows[:, 0], compared.parts(ids[indices], bounds)
        odd = parts[np.unique(text[apart.undecided])]
        sizes = trip.boundaries.sizes_of(ids)
        sizes[indices] = compared.sizes
        if n_first:
            ends, is_canonical = self._compared_alone(ids[:n_first])
            sizes[:n_first] = np.diff(ends, prepend=0)
            odd = odd if is_canonical else np.concatenate((doubtful[:1], odd))
        byte_at = self._byte + running_sum(sizes)
        starts, stops = (side + (parts[:, 0] - bounds[:-1])[text] for side in apart[:2])
        rows = Rows.of(ids, (starts, stops, *apart[2:4]), compared.canonical, byte_at[starts])
        return self._merged(rows, byte_at, *odd.T)

    def _compared_alone(self, ids: Int32Array) -> tuple[Int64Array, bool]:
        """Return the ends of the first ids, and whether they are canonical as a text of their own."""
        try:
            decoded = self._trip.decode(ids, begins=self._begins)
            return decoded.ends, np.array_equal(ids, self._trip.encode(decoded.text, begins=self._begins))
        except TokenStreamError:
            return self._trip.spelled(ids)[1], False
        except AlphabetError:
            return decoded.ends, False
