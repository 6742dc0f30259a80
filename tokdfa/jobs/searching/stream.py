"""A search under way, chunk by chunk, and its matches; where streams have special tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, checked_ids
from tokdfa.base.errors import LimitExceededError, TokenStreamError
from tokdfa.base.verdict import Displayed
from tokdfa.jobs.searching.plan import Placed, SearchPlan, Words
from tokdfa.kernels.library import Struct
from tokdfa.kernels.search.search import FINAL, Copying
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Match", "Matches"]

_SHORT = frozenset(map(np.dtype, (np.uint8, np.int16, np.uint16, np.int32, np.uint32)))
"""The types of integers that have the same 32 bits wherever the integer is an id."""
_OF_32_BITS = frozenset(map(np.dtype, (np.int32, np.uint32)))
_NOTHING: Int32Array = np.empty(0, dtype=np.int32)


class Match(NamedTuple):
    """The position of a match, in bytes of the text and in tokens of the stream.

    It is half open: the end byte and the end token are the first ones after the match.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> tokdfa.search(tokenizer, "man", tokenizer.encode("a single man"))[0]
    Match(start_byte=9, end_byte=12, start_token=2, end_token=3)
    """

    start_byte: int
    end_byte: int
    start_token: int
    end_token: int


class Matches(Displayed, Sequence[Match]):
    """Matches in an int64 array of shape (n, 4), one row per match; as a sequence it holds :class:`Match` objects.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> found = tokdfa.search(tokenizer, "[a-z]+", tokenizer.encode("a single man"))
    >>> len(found), found[-1].start_byte
    (3, 9)
    >>> found.rows.tolist()
    [[0, 1, 0, 1], [2, 8, 1, 2], [9, 12, 2, 3]]
    """

    def __init__(self, rows: Int64Array) -> None:
        self.rows = rows
        rows.setflags(write=False)

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> Matches: ...
    def __getitem__(self, index: int | slice) -> Match | Matches:
        if isinstance(index, slice):
            return Matches(self.rows[index])
        return Match(*self.rows[index].tolist())

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Match]:
        return (Match(*row) for row in self.rows.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Matches):
            return NotImplemented
        return np.array_equal(self.rows, other.rows)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} matches>"


class Stream:
    """The state of a search: the ids that may still be needed, and the current position.

    For many ids, `n_expected` of them, it pays to prepare more. Without `spells`, the ids of matches are not kept for
    :meth:`spell`. Items that cannot be ids are refused as they are read.
    """

    def __init__(self, plan: SearchPlan, max_pending: int, n_expected: int = 0, *, spells: bool = False) -> None:
        self.plan = plan
        self._copies = not (spells or plan.wants_all or plan.words.varies)
        self.max_pending = max_pending
        self.n_expected = n_expected
        self._block, self._at_a_time = plan.tuning.block, plan.tuning.step
        self.search = plan.begin()
        # The buffer is kept from block to block and from stream to stream, so that its memory stays in the cache.
        self.buffer = self.search.buffer
        self.kept = 0  # the number of ids of earlier blocks at the beginning of the buffer
        self.filled = 0  # the number of ids in the buffer
        self._placed = Placed(plan.words)
        self.n_read = 0
        self.first = self.first_byte = 0  # the position of the buffer in the stream, in tokens and in bytes
        self.ids = _NOTHING  # the ids at hand when matches are yielded
        self.settled = 0  # the token of the stream before which no further match begins
        # For each leftmost match just yielded, the number of bytes of its first token that come before it.
        self.offsets = self.search.offsets

    def read(self, block: npt.ArrayLike) -> Iterator[Matches]:
        """Yield the matches found with further ids."""
        if self._copies:
            yield from self._search_in_copy(block, 0)
            return
        self._add(block)
        # A long match is read in ever larger steps.
        if self.filled >= 2 * self.kept:
            yield from self._step(0)

    def read_all(self, block: npt.ArrayLike) -> Iterator[Matches]:
        """Yield the matches in a stream of one block, no longer than `max_pending`."""
        if self._copies:
            yield from self._search_in_copy(block, FINAL)
            self._end()
            return
        ids = self._placed.read(self._checked(block))
        if self.plan.words.varies == "last":
            ids = np.concatenate((ids, self._placed.finish()))
        self.n_read = len(ids)
        yield from self._found(ids, FINAL)
        self._end()

    def finish_in_copy(self, ids: Int32Array, own: Int32Array) -> Iterator[Matches]:
        """Yield the remaining matches of a stream; `own` becomes a checked copy of its ids meanwhile.

        `ids` are all of the stream, contiguous; the ids read so far are not looked at again. `own` does not overlap
        them.
        """
        words = self.plan.words
        assert not words.varies
        # The ids that were read and are not needed any more come from `ids`, the others from the buffer.
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
        copying = Copying(ids, limit=words.n_ids, filled=n_read, done=n_read, step=self._at_a_time)
        for found in self.search.leftmost_in_copy(self._machine, copying, own, self.plan.options | FINAL):
            yield from self._matches(found)
        is_whole = copying.pointer.done == len(ids)
        # One pass if all is well; checking which ids are in use takes several.
        if not is_whole or (words.first_hole < words.n_ids and own.max(initial=0) >= words.first_hole):
            self.n_read = 0
            self._checked(own if is_whole else ids)
        self._end()

    def finish(self) -> Iterator[Matches]:
        """End the stream, and yield the remaining matches."""
        self._append(self._placed.finish())
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

    def names(self, spelled: Sequence[bytes]) -> Sequence[str | None]:
        """Return the names of the matches just yielded, which are spelled like this; None without names."""
        names, found = self.plan.names, self.plan.finder
        if names is None:
            return [None] * len(spelled)
        if found.longest:
            return [names[found.of_word[text]] for text in spelled]
        return [names[which] for which in (self.search.kinds // found.n_kinds).tolist()]

    def _add(self, block: npt.ArrayLike) -> None:
        """Put further ids into the buffer, and check them there."""
        words = self.plan.words
        if not words.varies and type(block) is np.ndarray and block.dtype in _SHORT and block.ndim == 1:
            added = self._slots_for(len(block))
            added[:] = block
            # Read as unsigned, negative ids are the largest.
            if added.view(np.uint32).max(initial=0) < words.first_hole:
                self.filled += len(added)
                self.n_read += len(added)
                return
        ids = self._checked(block)
        self.n_read += len(ids)
        self._append(self._placed.read(ids))

    def _append(self, ids: Int32Array) -> None:
        self._slots_for(len(ids))[:] = ids
        self.filled += len(ids)

    def _slots_for(self, n: int) -> Int32Array:
        """Return the next n slots of the buffer, which is enlarged if it has too few."""
        size = self.filled + n
        if size > len(self.buffer):
            larger = np.empty(2 * max(size, self._block), dtype=np.int32)
            larger[: self.filled] = self.buffer[: self.filled]
            self.buffer = larger
        return self.buffer[self.filled : size]

    def _end(self) -> None:
        """Give back the buffer of the search."""
        self.plan.n_read += self.n_read
        if len(self.buffer) <= 2 * self._block:
            self.search.buffer = self.buffer
        self.plan.end(self.search)

    def _checked(self, block: npt.ArrayLike) -> Int32Array:
        words = self.plan.words
        ids = checked_ids(block, words.n_ids, first=self.n_read)
        if len(ids) and ids.max() >= words.first_hole and words.holes[ids].any():
            at = int(np.argmax(words.holes[ids]))
            raise TokenStreamError("no token has this id", value=int(ids[at]), where=f"token {self.n_read + at}")
        return ids

    def takes(self, ids: IntegerArray) -> bool:
        """Return whether :meth:`read` takes ids as they are, so that many of them cost as little as few."""
        return self._copies and ids.dtype in _OF_32_BITS and ids.flags.c_contiguous and ids.flags.aligned

    def _to_copy(self, block: npt.ArrayLike) -> Int32Array:
        """Return ids in the form in which the search copies and checks them."""
        if not (type(block) is np.ndarray and block.ndim == 1 and block.dtype in _SHORT):
            return self._checked(block)
        same: IntegerArray = block if block.dtype in _OF_32_BITS else block.astype(np.int32)
        flags = same.flags
        ids: Int32Array = (same if flags.c_contiguous and flags.aligned else same.copy()).view(np.int32)
        return ids

    def _search_in_copy(self, block: npt.ArrayLike, options: int) -> Iterator[Matches]:
        """Yield the matches found with further ids, which are copied and checked meanwhile."""
        words, at = self.plan.words, self.search.at
        ids = self._to_copy(block)
        n_before = self.n_read
        self.n_read += len(ids)
        copying = Copying(
            ids, limit=words.first_hole, filled=self.filled, longest=self.plan.finder.longest, step=self._at_a_time
        )
        while True:
            # The ids in the buffer, with capacity for more.
            size = 2 * max(self._at_a_time, self.filled)
            self._slots_for(size - self.filled)
            part = self.buffer[:size]
            for found in self.search.leftmost_in_copy(self._machine, copying, part, self.plan.options | options):
                yield from self._matches(found)
            self.filled, self.first = copying.pointer.filled, at.first
            done = copying.pointer.done
            if not options & FINAL and (at.more or done == len(ids)):
                self._forget()
            if done == len(ids) and not at.more:
                return
            if not at.more:
                # The search ends at an item that is not an id, or is beyond the first id not in use.
                self.n_read = n_before + done
                self._checked((block if isinstance(block, np.ndarray) else ids)[done:])
                self.n_read = n_before + len(ids)
                copying.pointer.limit = words.n_ids

    def _step(self, options: int) -> Iterator[Matches]:
        """Search through the ids, and keep the ones that may still be needed."""
        at = self.search.at
        ids = self.buffer[: self.filled]
        yield from self._found(ids, options)
        if options & FINAL:
            return
        self._forget()
        self.first_byte = at.position - int(self.plan.words.lengths[ids[: at.token]].sum())

    def _forget(self) -> None:
        """Keep the ids that may still be needed, and refuse to keep too many."""
        at = self.search.at
        n_kept = self.search.forget(self._machine, self.buffer[: self.filled], self.plan.finder.longest)
        self.filled = self.kept = n_kept
        self.first, self.settled = at.first, at.settled
        if n_kept > self.max_pending:
            raise LimitExceededError(
                f"a match that has begun stays undecided for more than {self.max_pending} tokens",
                hint=f"it begins after token {self.first}; raise max_pending, or bound the repetition",
            )

    @property
    def _machine(self) -> Struct:
        return self.plan.machine_for(max(self.n_read, self.n_expected))

    def _found(self, ids: Int32Array, options: int) -> Iterator[Matches]:
        """Yield the matches in the ids at hand."""
        self.ids = ids
        find = self.search.all if self.plan.wants_all else self.search.leftmost
        for found in find(self._machine, ids, self.plan.options | options):
            yield from self._matches(found)

    def _matches(self, found: Int64Array) -> Iterator[Matches]:
        if len(found):
            self.offsets = self.search.offsets
            yield Matches(found.reshape(-1, 4))


def iter_special_tokens(
    tokenizer: AnyTokenizer,
    names: Collection[str],
    chunks: Iterable[IntegerArray],
    mask: Iterable[IntegerArray] | None = None,
) -> Iterator[tuple[Match, str]]:
    """Yield where a stream has the ids of special tokens, and which ones, in memory that does not grow with it.

    The name "all" stands for all special tokens. The mask has, for each id, 1 if it counts, such as one that a model
    sampled, and otherwise 0; it is cut into chunks in any way.
    """
    contents = {special.id: special.content for special in tokenizer.specials}
    wanted = {*names}
    unknown = sorted(wanted.difference(contents.values(), {"all"}))
    if unknown:
        some = ", ".join([*contents.values()][:8])
        hint = f"this tokenizer has {some}" if some else "this tokenizer has none"
        raise TokenStreamError("no such special token", value=unknown[0], hint=hint)
    is_wanted: BoolArray = np.zeros(tokenizer.n_ids, dtype=np.bool_)
    is_wanted[[id for id, content in contents.items() if "all" in wanted or content in wanted]] = True
    words = Words.of(tokenizer)
    flags = None if mask is None else _Flags(mask)
    token = byte = 0
    for ids in _placed(tokenizer, words, chunks):
        sizes = words.lengths[ids]
        ids = ids % words.n_ids
        ends = byte + np.cumsum(sizes)
        found = is_wanted[ids]
        if flags is not None:
            found &= flags.take(len(ids), token)
        for at in np.flatnonzero(found).tolist():
            end, size = int(ends[at]), int(sizes[at])
            yield Match(end - size, end, token + at, token + at + 1), contents[int(ids[at])]
        token += len(ids)
        byte = int(ends[-1]) if len(ids) else byte
    if flags is not None:
        flags.finish(token)


def _placed(tokenizer: AnyTokenizer, words: Words, chunks: Iterable[IntegerArray]) -> Iterator[Int32Array]:
    """Yield the ids of a stream as a search reads them."""
    placed, n = Placed(words), 0
    for chunk in chunks:
        ids = tokenizer.decoder.check(chunk, n)
        n += len(ids)
        yield placed.read(ids)
    yield placed.finish()


class _Flags:
    """A mask that comes in chunks of its own."""

    def __init__(self, chunks: Iterable[IntegerArray]) -> None:
        self._chunks = iter(chunks)
        self._rest: IntegerArray = np.zeros(0, dtype=np.int64)

    def take(self, n: int, first: int) -> BoolArray:
        """Return the flags of the next ids."""
        parts, n_found = [self._rest], len(self._rest)
        while n_found < n:
            more = next(self._chunks, None)
            if more is None:
                raise TokenStreamError("the mask is shorter than the ids", value=first + n_found)
            parts.append(more)
            n_found += len(more)
        flags = np.concatenate(parts)
        taken, self._rest = flags[:n], flags[n:]
        wrong = np.flatnonzero((taken != 0) & (taken != 1))
        if len(wrong):
            where = f"token {first + int(wrong[0])} of the mask"
            raise TokenStreamError("the mask must be 0 and 1", value=int(taken[wrong[0]]), where=where)
        is_set: BoolArray = taken != 0
        return is_set

    def finish(self, n: int) -> None:
        """Check that no flag is left."""
        if len(self._rest) or any(len(chunk) for chunk in self._chunks):
            raise TokenStreamError("the mask is longer than the ids", hint=f"there are {n} ids")
