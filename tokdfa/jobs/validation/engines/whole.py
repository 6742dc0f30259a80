"""Whole texts: the streams of tokenizers that do not split text into pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.violation import Violation, common_prefix
from tokdfa.jobs.validation.window import DEFAULT, Buffer, Specials, Tuning, Window


@dataclass(frozen=True, slots=True)
class _Segment:
    """The end of the text of a segment, in bytes of the window, and whether the text ends there or may continue."""

    end: int
    closed: bool


@dataclass(frozen=True, slots=True)
class _Repair:
    """The tokenizer's ids: `canonical` in place of the ids from `index` to before `stop`.

    `last` is the last canonical id, `aligned` is whether the ids continue where it ends.
    """

    index: int
    canonical: Int32Array
    stop: int
    last: int
    aligned: bool


class WholeText:
    """The engine that finds violations in a stream by pairs of neighbours, without pieces.

    A pair that is not allowed shows that something is wrong up to there, not where it begins: that is found by encoding
    the text around it, as far as the following ids cannot change it. Nothing else is decoded or encoded, and the memory
    does not grow with the stream. :class:`~tokdfa.jobs.validation.engines.reencoding.TextComparison` would keep a text
    without pieces as a whole.

    The model's tokenizer has no pre-tokenizer, and a proper dictionary. `first` is the index of the first token fed in
    the stream, and `byte` the offset of its first byte.
    """

    def __init__(self, model: Model, first: int = 0, byte: int = 0, *, tuning: Tuning = DEFAULT) -> None:
        self._model = model
        self._history = tuning.history
        self._buffer = Buffer(first, byte, tuning.window)
        self._done = 0  # The number of buffered ids that are judged.
        self._floor = 0  # Ids before this one say nothing about the ids after them,
        self._before: int | None = None  # but for this id, the one just before it; None at the beginning of a segment.
        self._last: int | None = None  # The id before the next one to check.
        self._bar = 0  # Ids before this one are not looked at again.

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
        return len(self._buffer)

    @property
    def byte(self) -> int:
        """The byte offset of the end of a finished text."""
        return self._buffer.byte + int(self._model.lengths[self._buffer.all()].sum())

    def unjudged(self) -> None:
        """Return None: no index is known before which nothing matters."""

    def accept(self, ids: Int32Array) -> bool:
        """Return False: no look at ids shows without judging them that nothing is wrong."""
        return False

    def feed(self, ids: Int32Array) -> Iterator[Violation]:
        """Take more ids, and yield the violations that they settle."""
        self._buffer.append(ids)
        while self._buffer.is_full():
            yield from self._check(final=False)

    def finish_open(self) -> Iterator[Violation]:
        """End a stream that may continue; nothing is known about the remaining ids."""
        return iter(())

    def finish(self) -> Iterator[Violation]:
        """End the stream, and yield the remaining violations."""
        while self._done < len(self._buffer):
            yield from self._check(final=self._buffer.is_last)

    def _check(self, final: bool) -> Iterator[Violation]:
        buffer = self._buffer
        window = Window(self._model, buffer.window, buffer.first, buffer.byte, final)
        yield from self._check_window(window)
        self._trim(window)

    def _check_window(self, window: Window) -> Iterator[Violation]:
        specials = window.specials()
        intruder = specials.intruder
        if intruder is not None:
            end = int(window.byte_at[intruder.start])
        else:
            end = int(window.byte_at[specials.decided])
        limit = int(np.searchsorted(window.ends, end, side="right"))
        limit = max(limit, self._done)
        open_end = _Segment(end, closed=intruder is not None or (window.final and window.bad is None))
        while self._done < limit:
            marks = self._model.pairs.forbidden(window.ids[self._done : limit], self._last)
            if not marks.any():
                self._pass(window, limit)
                break
            at = self._done + int(np.argmax(marks))
            self._pass(window, at)
            cuts = np.flatnonzero(self._model.special[window.ids[at:limit]])
            end_of_segment = _Segment(int(window.starts[at + cuts[0]]), closed=True) if len(cuts) else open_end
            repair = self._repair(window, at, end_of_segment)
            if repair is None:
                if window.bad is None:
                    return
                break
            if intruder is not None and not repair.aligned:
                yield from self._intruded(window, repair, specials)
                return
            cause = self._model.pair_cause(int(window.ids[at - 1]), int(window.ids[at]))
            yield window.violation(repair.index, repair.stop, 0, repair.canonical, at, cause)
            self._restart(repair.stop, repair.last)
        if intruder is not None:
            # At the end of a segment nothing depends on the following ids.
            repair = self._repair(window, limit, open_end)
            assert repair is not None
            yield from self._intruded(window, repair, specials)
        elif window.bad is not None:
            yield self._not_utf8(window)

    def _pass(self, window: Window, stop: int) -> None:
        """Count the ids up to `stop` as judged."""
        if stop > self._done:
            cuts = np.flatnonzero(self._model.special[window.ids[self._done : stop]])
            if len(cuts):
                self._floor, self._before = self._done + int(cuts[-1]) + 1, None
            self._last = int(window.ids[stop - 1])
            self._done = stop

    def _restart(self, stop: int, last: int | None) -> None:
        """Continue at `stop` as if only the id `last` came before; None for the beginning of a text."""
        self._done = self._floor = stop
        self._before = self._last = last

    def _trim(self, window: Window) -> None:
        """Drop the judged ids, except for some history."""
        keep = max(self._floor, self._done - self._history)
        # The text of the next window must not begin inside a character.
        while self._bar < keep < len(window.ids) and not self._model.opens[window.ids[keep]]:
            keep -= 1
        if keep > self._floor:
            self._before = int(window.ids[keep - 1])
        size = int(window.starts[keep]) if keep < len(window.ids) else int(window.ends[-1])
        self._buffer.drop(keep, size)
        self._done -= keep
        self._floor = max(self._floor - keep, 0)
        self._bar = 0

    def _not_utf8(self, window: Window) -> Violation:
        violation, stop = window.not_utf8()
        self._restart(stop, None)
        self._bar = stop
        return violation

    def _intruded(self, window: Window, repair: _Repair, specials: Specials) -> Iterator[Violation]:
        """Yield the violation at a special token that the text spells, unless its end depends on the following ids."""
        intruder = specials.intruder
        assert intruder is not None
        end = int(window.byte_at[intruder.end])
        after = self._after(window, end, specials)
        if after is None:
            if window.bad is not None:
                yield self._not_utf8(window)
            return
        canonical = np.concatenate((repair.canonical, np.array([intruder.id], np.int32), after.canonical))
        self._restart(after.stop, after.last if len(after.canonical) and not self._model.special[after.last] else None)
        self._bar = after.stop
        cause = window.spelling(intruder)
        yield window.violation(repair.index, after.stop, 0, canonical, window.token_at(end - 1), cause)

    def _after(self, window: Window, low: int, specials: Specials) -> _Repair | None:
        """Return the canonical ids from a byte on, where a special token ends, up to where a token begins with them.

        None if they depend on the following ids.
        """
        found: list[Int32Array] = [np.zeros(0, dtype=np.int32)]
        last = -1
        while not window.begins_at(low):
            later = [each for each in specials.found if int(window.byte_at[each.start]) >= low]
            is_end = window.final and window.bad is None
            segment = _Segment(int(window.byte_at[specials.decided]), closed=is_end)
            if later:
                segment = _Segment(int(window.byte_at[later[0].start]), closed=True)
            settled, meeting = self._meeting(window, low, segment)
            if meeting is None and not later:
                return None
            found.append(settled if meeting is None else settled[: meeting + 1])
            last = int(found[-1][-1]) if len(found[-1]) else last
            low += int(self._model.lengths[found[-1]].sum())
            if meeting is None:
                found.append(np.array([later[0].id], dtype=np.int32))
                last, low = later[0].id, int(window.byte_at[later[0].end])
        return _Repair(0, np.concatenate(found), window.token_from(low), last, aligned=True)

    def _meeting(self, window: Window, low: int, segment: _Segment) -> tuple[Int32Array, int | None]:
        """Return the settled ids from a byte on, and the index of the first one that ends where the ids continue."""
        ahead = 8 * self._model.longest
        while True:
            end = min(low + ahead, segment.end)
            settled = self._settled(window, low, end, segment.closed and end == segment.end)
            ends = low + np.cumsum(self._model.lengths[settled])
            for number, at in enumerate(ends.tolist()):
                if window.begins_at(at) and (at == segment.end or self._goes_on(window, at, settled[number])):
                    return settled, number
            if end == segment.end:
                return settled, None
            ahead *= 2

    def _goes_on(self, window: Window, byte: int, last: np.int32) -> bool:
        """Return whether the id that begins at a byte, and with a character, may follow the last one."""
        stop = window.token_from(byte)
        if stop == len(window.ids):
            return False
        return bool(self._model.opens[window.ids[stop]]) and self._model.may_follow(int(last), int(window.ids[stop]))

    def _repair(self, window: Window, at: int, segment: _Segment) -> _Repair | None:
        """Return the correct ids where those up to `at` go wrong; None if that depends on the following ids."""
        back = 16
        while True:
            begin = max(self._floor, at - back)
            before = self._before if begin == self._floor else int(window.ids[begin - 1])
            ahead = 8
            while True:
                end = min(int(window.ends[min(at + ahead, len(window.ids)) - 1]), segment.end)
                closed = segment.closed and end == segment.end
                low = int(window.starts[begin]) if begin < len(window.ids) else end
                settled = self._settled(window, low, end, closed)
                if before is not None and len(settled) and not self._model.may_follow(before, int(settled[0])):
                    break
                repair = self._compare(window, begin, settled, closed)
                if repair is not None:
                    return repair
                if end == segment.end:
                    return None
                ahead *= 2
            if begin == self._floor:
                raise LimitExceededError(
                    f"the violation begins more than {self._history} tokens earlier",
                    where=f"token {window.first + at}",
                )
            back *= 4

    def _settled(self, window: Window, low: int, end: int, closed: bool) -> Int32Array:
        """Return the canonical ids of the text from byte `low` to `end`, as far as they do not depend on the rest.

        Whatever follows, there is a last token that begins up to `end`, and it ends there or later. The text before
        that token is canonical on its own; so the common beginning of the encodings is settled.
        """
        if closed:
            return self._encode([window.data[low:end]])[0]
        beginnings = []
        for at in range(end, max(end - self._model.longest, -1), -1):
            if at == end or self._model.is_proper_prefix(window.data[at:end]):
                if at <= low:
                    return np.zeros(0, dtype=np.int32)
                beginnings.append(window.data[low:at])
        first, *others = self._encode(beginnings)
        return first[: min((common_prefix(first, other) for other in others), default=len(first))]

    def _compare(self, window: Window, begin: int, settled: Int32Array, closed: bool) -> _Repair | None:
        """Return where the ids from `begin` on diverge from the settled ones, and where they meet them again."""
        same = common_prefix(window.ids[begin:], settled)
        index = begin + same
        if same == len(settled):
            last = int(window.ids[index - 1]) if index else -1
            return _Repair(index, settled[same:], index, last, aligned=True) if closed else None
        low = int(window.starts[begin])
        ends = low + np.cumsum(self._model.lengths[settled])
        for number in range(same, len(settled)):
            stop = window.token_from(int(ends[number]))
            begins_there = stop < len(window.ids) and window.starts[stop] == ends[number]
            is_end = closed and number == len(settled) - 1
            last = int(settled[number])
            if is_end or (begins_there and self._model.may_follow(last, int(window.ids[stop]))):
                aligned = begins_there or int(ends[number]) == int(window.ends[-1])
                return _Repair(index, settled[same : number + 1], stop, last, aligned)
        return None

    def _encode(self, texts: list[bytes]) -> list[Int32Array]:
        """Return the canonical ids of each text, taken as one piece; ends within a character are cut off."""
        tokenizer = self._model.tokenizer
        pieces = texts if tokenizer.why_not("bytes") is None else [text.decode("utf-8", "ignore") for text in texts]
        encoded = tokenizer.encode_pieces(pieces)
        return [encoded.ids[low:high] for low, high in pairwise(encoded.offsets.tolist())]
