"""A search under way, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import Int32Array, Int64Array, checked_ids
from tokdfa.errors import LimitExceededError, TokenStreamError
from tokdfa.kernels.library import Struct
from tokdfa.kernels.search.run import FINAL
from tokdfa.searching.matches import Matches
from tokdfa.searching.plan import SearchPlan

__all__ = ["Stream"]


# The longest symbol has four bytes.
_CONTEXT = 4
_SHORT = frozenset(map(np.dtype, (np.uint8, np.int16, np.uint16, np.int32, np.uint32)))
"""The types of integers of which every one that is an id has the same 32 bits."""


class Stream:
    """The state of a search: the ids that may still be needed, and the current position.

    Parameters
    ----------
    plan : SearchPlan
    max_pending : int
        The number of tokens for which a match that has begun may stay undecided.
    n_expected : int
        The number of ids that will be read, if that is known: for many of them it pays to prepare more.

    Attributes
    ----------
    settled : int
        The token of the stream before which no further match begins.
    offsets : int64 array
        For each leftmost match just yielded, the number of bytes of its first token that come before it.
    """

    def __init__(self, plan: SearchPlan, max_pending: int, n_expected: int = 0) -> None:
        self.plan = plan
        self.max_pending = max_pending
        self.n_expected = n_expected
        self._block, self._patience = plan.tuning.block, plan.tuning.patience
        self.search = plan.begin()
        # The buffer is kept from block to block and from stream to stream, so that its memory stays in the cache.
        self.buffer = self.search.buffer
        self.kept = 0  # the number of ids of earlier blocks at the beginning of the buffer
        self.filled = 0  # the number of ids in the buffer
        self.held: Int32Array = self.buffer[:0]  # the last id, if it may be spelled differently
        self.has_begun = False  # whether the first id has been seen
        self.n_read = 0
        self.first = self.first_byte = 0  # the position of the buffer in the stream, in tokens and in bytes
        self.ids = self.buffer[:0]  # the ids at hand when matches are yielded
        self.settled = 0
        self.offsets = self.search.offsets

    def read(self, block: npt.ArrayLike) -> Iterator[Matches]:
        """Yield the matches found with further ids.

        Raises
        ------
        TokenStreamError
            If they are not ids; the error says which.
        LimitExceededError
            If a match stays undecided for too long.
        """
        self._add(block)
        # A match that goes on for long is read in ever larger steps.
        if self.filled >= 2 * self.kept:
            yield from self._step(0)

    def read_all(self, block: npt.ArrayLike) -> Iterator[Matches]:
        """Yield the matches in a stream of one block, no longer than `max_pending`.

        Raises
        ------
        TokenStreamError
            If they are not ids; the error says which.
        """
        ids = self._varied(self._checked(block))
        self.n_read = len(ids)
        if self.plan.words.varies == "last":
            ids = np.concatenate((ids[:-1], ids[-1:] + np.int32(self.plan.words.n_ids)))
        yield from self._found(ids, FINAL)
        self._end()

    def finish_in_copy(self, ids: Int32Array, own: Int32Array) -> Iterator[Matches]:
        """Yield the remaining matches of a stream, of whose ids `own` becomes a checked copy meanwhile.

        Parameters
        ----------
        ids : int32 array
            All ids of the stream, contiguous. Those read so far are not looked at again.
        own : int32 array
            Of as many places; it may not overlap `ids`.

        Raises
        ------
        TokenStreamError
            If they are not ids; the error says which.
        """
        words = self.plan.words
        assert not words.varies
        # What has been read and is needed no more comes from the ids, and what is still needed from the buffer.
        n_read, moved = self.n_read, self.first
        self.n_read = 0
        own[:moved] = self._checked(ids[:moved])
        own[moved:n_read] = self.buffer[: self.filled]
        at = self.search.at
        at.token += moved
        at.end_token += moved
        at.idle_token += moved
        self.first = at.first = 0
        self.n_read, self.ids = len(ids), own
        options = self.plan.options | FINAL
        find = self.search.leftmost_in_copy(self._machine, ids, own, options, done=n_read, limit=words.n_ids)
        for found in find:
            yield from self._matches(found, own)
        is_whole = self.search.n_copied == len(ids)
        # One pass if all is well; checking which ids are in use takes several.
        if not is_whole or (words.first_hole < words.n_ids and own.max(initial=0) >= words.first_hole):
            self.n_read = 0
            self._checked(own if is_whole else ids)
        self._end()

    def finish(self) -> Iterator[Matches]:
        """End the stream, and yield the remaining matches."""
        self._append(self.held + np.int32(self.plan.words.n_ids))
        yield from self._step(FINAL)
        self._end()

    def spell(self, matches: Matches) -> list[bytes]:
        """Return the bytes of the matches just yielded, as long as no further ones are asked for."""
        if not len(matches):
            return []
        text, offsets = self.plan.words.spelled
        ids = self.ids[: int(matches.rows[:, 3].max()) - self.first]
        lengths = self.plan.words.lengths[ids]
        begins = self.first_byte + np.cumsum(lengths) - lengths
        spelled = []
        for start, end, start_token, end_token in matches.rows.tolist():
            inside = slice(start_token - self.first, end_token - self.first)
            data = b"".join(text[offsets[number] : offsets[number + 1]].tobytes() for number in ids[inside].tolist())
            skipped = start - int(begins[inside.start])
            spelled.append(data[skipped : skipped + end - start])
        return spelled

    def _add(self, block: npt.ArrayLike) -> None:
        """Put further ids into the buffer, and check them there."""
        words = self.plan.words
        if not words.varies and type(block) is np.ndarray and block.dtype in _SHORT and block.ndim == 1:
            added = self._room_for(len(block))
            added[:] = block
            # Read as unsigned, negative ids are the largest.
            if added.view(np.uint32).max(initial=0) < words.first_hole:
                self.filled += len(added)
                self.n_read += len(added)
                return
        ids = self._varied(self._checked(block))
        self.n_read += len(ids)
        if words.varies == "last":
            ids = np.concatenate((self.held, ids))
            ids, self.held = ids[:-1], ids[-1:]
        self._append(ids)

    def _append(self, ids: Int32Array) -> None:
        self._room_for(len(ids))[:] = ids
        self.filled += len(ids)

    def _room_for(self, n: int) -> Int32Array:
        """Return the next n places of the buffer, which is enlarged if it has too few."""
        size = self.filled + n
        if size > len(self.buffer):
            larger = np.empty(2 * max(size, self._block), dtype=np.int32)
            larger[: self.filled] = self.buffer[: self.filled]
            self.buffer = larger
        return self.buffer[self.filled : size]

    def _end(self) -> None:
        """Give back the room of the search."""
        if len(self.buffer) <= 2 * self._block:
            self.search.buffer = self.buffer
        self.plan.end(self.search)

    def _checked(self, block: npt.ArrayLike) -> Int32Array:
        words = self.plan.words
        ids = checked_ids(block, words.n_ids, first=self.n_read)
        if len(ids) and ids.max() >= words.first_hole and words.holes[ids].any():
            place = int(np.argmax(words.holes[ids]))
            raise TokenStreamError("no token has this id", value=int(ids[place]), where=f"token {self.n_read + place}")
        return ids

    def _varied(self, ids: Int32Array) -> Int32Array:
        """Return ids of which those that are spelled differently because they are the first ones are others."""
        words = self.plan.words
        if words.varies == "first" and not self.has_begun and len(ids):
            self.has_begun = not words.silent[ids].all()
            first = int(np.argmin(words.silent[ids])) + 1 if self.has_begun else len(ids)
            ids = np.concatenate((ids[:first] + np.int32(words.n_ids), ids[first:]))
        return ids

    def _step(self, options: int) -> Iterator[Matches]:
        """Search through the ids, and keep those that may still be needed."""
        plan, at, lengths = self.plan, self.search.at, self.plan.words.lengths
        ids = self.buffer[: self.filled]
        yield from self._found(ids, options)
        keep = max(at.idle_token, self._reached_by(ids))
        self.settled = self.first + keep
        context = 0
        while keep > 0 and context < _CONTEXT:
            keep -= 1
            context += _CONTEXT if plan.words.cuts[ids[keep]] else int(lengths[ids[keep]])
        self.kept = len(ids) - keep
        self.buffer[: self.kept] = ids[keep:]
        self.filled = self.kept
        if not options & FINAL:
            self.first_byte = at.position - int(lengths[ids[keep : at.token]].sum())
        self.first += keep
        at.first = self.first
        at.token -= keep
        at.end_token -= keep
        at.idle_token -= keep
        if self.kept > self.max_pending:
            raise LimitExceededError(
                f"a match that has begun stays undecided for more than {self.max_pending} tokens",
                hint=f"it begins after token {self.first}; raise max_pending, or bound the repetition",
            )

    @property
    def _machine(self) -> Struct:
        plan = self.plan
        return plan.tokenwise if max(self.n_read, self.n_expected) > self._patience else plan.bytewise

    def _found(self, ids: Int32Array, options: int) -> Iterator[Matches]:
        """Yield the matches in the ids at hand."""
        self.ids = ids
        find = self.search.all if self.plan.wants_all else self.search.leftmost
        for found in find(self._machine, ids, self.plan.options | options):
            yield from self._matches(found, ids)

    def _matches(self, found: Int64Array, ids: Int32Array) -> Iterator[Matches]:
        if len(found):
            matches = found.reshape(-1, 4)
            _leave_out_empty_tokens(matches[:, 3], self.plan.words.lengths, ids)
            matches[:, 2:] += self.first
            self.offsets = self.search.offsets
            yield Matches(matches)

    def _reached_by(self, ids: Int32Array) -> int:
        """Return a token before which no later match can begin, judging by the lengths of matches."""
        at, lengths = self.search.at, self.plan.words.lengths
        left = self.plan.finder.longest
        if not left:
            return 0
        token = int(at.end_token if at.pending else at.token)
        while token > 0 and left >= 0:
            token -= 1
            left -= int(lengths[ids[token]])
        return token


def _leave_out_empty_tokens(ends: Int64Array, lengths: Int64Array, ids: Int32Array) -> None:
    """Move the ends of matches to directly after the tokens with their last bytes.

    If a match is certain only once the symbol after it is known, tokens without text may lie between.
    """
    while (empty := lengths[ids[ends - 1]] == 0).any():
        ends -= empty
