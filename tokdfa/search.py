"""Searching the text of id streams for patterns, on the ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from tokdfa.automata.finder import Wanted, finder
from tokdfa.automata.ids import checked_ids, id_array
from tokdfa.automata.subset import DEFAULT_MAX_SECONDS, DEFAULT_MAX_STATES
from tokdfa.automata.utf8 import BORDER, EDGE
from tokdfa.errors import LimitExceededError, TokenStreamError
from tokdfa.kernels import search as kernels
from tokdfa.kernels.backwards import Backward, Text
from tokdfa.kernels.effects import token_effects
from tokdfa.kernels.search import Forward, Tokens
from tokdfa.kernels.search_all import find_all
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.unicode import Table

__all__ = ["Match", "Matches", "Searcher", "search"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
Int32Array: TypeAlias = npt.NDArray[np.int32]

# Ids are read in blocks that stay in the second-level cache.
_BLOCK = 1 << 18
# After so many ids it pays to find out what every token does; before that they are read byte by byte.
_PATIENCE = 1 << 16
_MAX_ENTRIES = 1 << 24
_MAX_CLASSES = 1 << 16
# The longest symbol has four bytes.
_CONTEXT = 4
# Matches are fetched so many at a time.
_ROOM = 1 << 14
# So much is remembered of what was read in vain beyond the end of a match.
_MEMORY = 1 << 14

DEFAULT_MAX_PENDING = 1 << 27


class Match(NamedTuple):
    """Where a match is, in bytes of the text and in tokens of the stream.

    Half open: the byte and the token at the end are the first ones behind the match.
    """

    start_byte: int
    end_byte: int
    start_token: int
    end_token: int


class Matches(Sequence[Match]):
    """Matches in an int64 array of shape (n, 4), a row a match; as a sequence it holds :class:`Match` objects."""

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


def search(
    tokenizer: Tokenizer,
    pattern: str | Iterable[str | bytes],
    ids: npt.ArrayLike,
    *,
    wanted: Wanted = "longest",
    aligned: bool = False,
    table: Table = "regex",
) -> Matches:
    """Return the matches of a pattern in the text that ids stand for.

    Parameters and errors are those of :class:`Searcher` and :meth:`Searcher.search`.
    """
    return Searcher(tokenizer, pattern, wanted=wanted, aligned=aligned, table=table).search(ids)


class Searcher:
    r"""A pattern, ready to be searched for in streams of a tokenizer's ids.

    The text of the ids is never spelled out: what a token does to the automaton of the pattern is looked up. The ids
    need not be canonical, nor their bytes UTF-8.

    Parameters
    ----------
    tokenizer : Tokenizer
        What the ids mean. The text is that of ``tokenizer.decode_bytes``, cut at special tokens: nothing matches
        across one or inside it, and what stands between two of them is searched as a text of its own.
    pattern : str, or iterable of str or bytes
        A regular expression; or words, any one of which is looked for as it is spelled.
    wanted : {"longest", "first", "all"}
        Which matches: the leftmost ones and of those the longest (POSIX), or those that a backtracking engine finds
        first (Perl), none overlapping another; or every stretch of the text that matches, in the order of the ends
        and then of the starts. Empty matches are never reported. Of words, "first" prefers the earlier in the list.
    aligned : bool
        Whether matches have to begin and end at borders of tokens.
    table : {"regex", "tokenizers", "tiktoken"}
        The library whose dialect and character classes the expression is written in. ``$`` is the end of the text.
    max_states, max_seconds : int, float
        The budget for each automaton of the pattern.
    max_pending : int
        How many tokens a match that has begun may go on for, undecided, before the search gives up; only when
        searching in chunks.

    Raises
    ------
    PatternError
        If the pattern cannot be read, asks for what automata cannot do, or a word is empty.
    LimitExceededError
        If an automaton exceeds its budget.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        pattern: str | Iterable[str | bytes],
        *,
        wanted: Wanted = "longest",
        aligned: bool = False,
        table: Table = "regex",
        max_states: int = DEFAULT_MAX_STATES,
        max_seconds: float = DEFAULT_MAX_SECONDS,
        max_pending: int = DEFAULT_MAX_PENDING,
    ) -> None:
        self.tokenizer = tokenizer
        self.max_pending = max_pending
        self._finder = finder(
            pattern, wanted, aligned=aligned, table=table, max_states=max_states, max_seconds=max_seconds
        )
        self._wants_all = wanted == "all"
        self._options = kernels.ALIGNED * aligned
        self._lengths = np.diff(tokenizer.id_spellings.offsets)
        self._cuts = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        self._cuts[tokenizer.special_ids] = True
        self._holes = (tokenizer.id_to_token < 0) & ~self._cuts

    def search(self, ids: npt.ArrayLike) -> Matches:
        """Return the matches in the text of some ids.

        Parameters
        ----------
        ids : array_like of int
            All of the text, in one dimension. An array mapped into memory is read in blocks.

        Raises
        ------
        TokenStreamError
            If they are not integers in one dimension, or one means nothing; says which.
        """
        array = id_array(ids)
        blocks = (array[start : start + _BLOCK] for start in range(0, len(array), _BLOCK))
        found = [matches.rows for matches in self.iter_matches(blocks)]
        return Matches(np.concatenate(found) if found else np.empty((0, 4), dtype=np.int64))

    def iter_matches(self, chunks: Iterable[npt.ArrayLike]) -> Iterator[Matches]:
        """Yield the matches in a text whose ids come in chunks, as soon as they are certain.

        Parameters
        ----------
        chunks : iterable of array_like of int
            The ids, in order. Only those of matches that have begun are kept.

        Raises
        ------
        TokenStreamError
            If a chunk has what cannot be ids; says which.
        LimitExceededError
            If a match that has begun stays undecided for more than `max_pending` tokens.
        """
        stream = _Stream(self)
        for chunk in chunks:
            array = id_array(chunk)
            for start in range(0, len(array), _BLOCK):
                yield from stream.read(array[start : start + _BLOCK])
        yield from stream.finish()

    def _checked(self, block: npt.ArrayLike, first: int) -> Int32Array:
        ids = checked_ids(block, self.tokenizer.n_ids, first=first)
        if len(ids) and ids.max() >= self._first_hole and self._holes[ids].any():
            place = int(np.argmax(self._holes[ids]))
            raise TokenStreamError("no token has this id", value=int(ids[place]), where=f"token {first + place}")
        return ids

    @cached_property
    def _first_hole(self) -> int:
        """The least id that means nothing."""
        return int(np.argmax(self._holes)) if self._holes.any() else len(self._holes)

    @cached_property
    def _idle(self) -> int:
        """The state in which most of a text is read: behind a letter, when nothing has begun to match."""
        dfa = self._finder.forward
        state = dfa.initial
        for byte in b" a":
            state = int(dfa.table[state, dfa.column[byte]])
        starts = dfa.starts.tolist()
        return state if state in starts else starts[0]

    @cached_property
    def _bytewise(self) -> Tokens:
        """What tokens do, before that is known: each is read byte by byte."""
        words = np.zeros((self.tokenizer.n_ids, kernels.N_WORD), dtype=np.int64)
        begins = np.cumsum(np.where(self._cuts, 1, self._lengths))
        words[1:, kernels.BEGIN] = begins[:-1]
        words[:, kernels.BYTES_BEGIN] = self._text.offsets[:-1]
        words[:, kernels.RECORD] = (self._lengths << kernels.SIZE_SHIFT) + kernels.CUT * self._cuts
        words[:, kernels.RECORD] += np.append(self._forward.columns, 0)[words[:, kernels.BEGIN]] & kernels.FIRST_MASK
        none, nothing = _frozen(np.zeros(0, dtype=np.int32)), _frozen(np.zeros(0, dtype=np.int64))
        return Tokens(_frozen(words.reshape(-1)), none, none, 0, self._idle, none, nothing)

    @cached_property
    def _tokenwise(self) -> Tokens:
        """What tokens do."""
        forward, dfa, known = self._forward, self._finder.forward, self._bytewise
        simple = not (self._wants_all or self._options or self._finder.backward.delayed)
        if simple:
            words, entries, runs = kernels.idle_outcomes(forward, known.words, self._text, self._backward, self._idle)
            known = known._replace(words=_frozen(words))
        dead = dfa.table == 0
        marks = 2 * dead + ((dfa.delay[dfa.table] >= 0) | dead)
        effect, effects = token_effects(
            (4 * dfa.table + marks).astype(np.int32).reshape(-1),
            forward.n_columns,
            forward.columns.astype(np.int32),
            np.append(known.words[kernels.BEGIN :: kernels.N_WORD], len(forward.columns)),
            forward.border,
            min(_MAX_CLASSES - 1, _MAX_ENTRIES // dfa.n_states),
        )
        if self._lengths.max(initial=0) > kernels.LENGTH_MASK or not (simple or len(effects)):
            return known
        if not len(effects):
            live = self._live
            first = known.words[kernels.RECORD :: kernels.N_WORD] & kernels.FIRST_MASK
            free = (np.bitwise_or.reduce(live) >> first & 1 == 0) & (entries >= 0)
            properties = self._lengths + (first << kernels.FIRST_SHIFT) + np.where(free, 0, kernels.NOT_NEUTRAL)
            return known._replace(
                properties=_frozen(properties.astype(np.int32)),
                entries=_frozen(entries),
                runs=_frozen(runs),
                live=live,
            )
        used, class_of = np.unique(effect, return_inverse=True)
        reached = effects.reshape(-1, dfa.n_states)[used].T
        entries = (reached // 4) * (4 * len(used)) + reached % 4
        neutral = entries[self._idle] == 4 * len(used) * self._idle
        properties = class_of + (self._lengths << kernels.LENGTH_SHIFT)
        properties = np.where(neutral[class_of], properties, properties + kernels.NOT_NEUTRAL)
        return known._replace(
            properties=_frozen(properties.astype(np.int32)),
            entries=_frozen(entries.astype(np.int32).reshape(-1)),
            n_classes=len(used),
        )

    @cached_property
    def _text(self) -> Text:
        text, offsets = self.tokenizer.id_spellings
        return Text(_frozen(text), _frozen(offsets), _frozen(self._cuts))

    @cached_property
    def _forward(self) -> Forward:
        """The searching automaton, and the columns of all ids."""
        dfa = self._finder.forward
        column = dfa.column.astype(np.uint16)
        lengths = np.where(self._cuts, 1, self._lengths)
        columns = np.full(int(lengths.sum()), column[EDGE], dtype=np.uint16)
        columns[np.repeat(~self._cuts, lengths)] = column[self._text.bytes[np.repeat(~self._cuts, self._lengths)]]
        border = int(dfa.column[BORDER]) if self._options & kernels.ALIGNED else -1
        return Forward(_frozen(columns), _frozen(dfa.table.reshape(-1)), dfa.table.shape[1], border, self._told)

    @property
    def _told(self) -> Int64Array:
        """What the kernels are told of every state."""
        found, dfa = self._finder, self._finder.forward
        told = np.zeros((dfa.n_states, kernels.N_TOLD), dtype=np.int64)
        told[:, kernels.DELAY], told[:, kernels.RESTART], told[:, kernels.RIGHT] = dfa.delay, dfa.restart, dfa.right
        # Without assertions there is one state to begin anew with, and what remembers no other state finds it here.
        told[0, kernels.RESTART] = self._idle
        told[:, kernels.FIXED], told[:, kernels.SHORTER] = found.length, found.shorter
        told[:, kernels.ENDING] = np.where(dfa.end_delay < 0, -1, dfa.end_delay + 16 * dfa.end_right)
        for column in self._used_columns:
            told[:, kernels.ALIVE] |= (dfa.table[:, column] != 0).astype(np.int64) << column % 64
        return _frozen(told.reshape(-1))

    @property
    def _live(self) -> Int64Array:
        """The columns, modulo 64, that may lead a state to where they do not lead `_idle`.

        States that a column may kill are left out: they are those with a match pending, when nobody asks.
        """
        table = self._finder.forward.table
        live = np.zeros(len(table), dtype=np.int64)
        for column in self._used_columns:
            targets = table[:, column]
            live |= ((targets != targets[self._idle]) & (targets != 0)).astype(np.int64) << column % 64
        return _frozen(live)

    @property
    def _used_columns(self) -> list[int]:
        """The columns of bytes and edges."""
        return [int(column) for column in np.unique(self._finder.forward.column[: EDGE + 1])]

    @cached_property
    def _backward(self) -> Backward:
        back = self._finder.backward
        return Backward(
            _frozen(back.table.reshape(-1)),
            _frozen(back.accepts),
            _frozen(back.initial),
            _frozen(back.partition.dense),
            back.partition.n_classes,
            back.delayed,
        )


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array as the kernels take it: contiguous and read-only."""
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


class _Stream:
    """A search under way: the ids that may still be needed, and where it stands."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher
        # Buffers are kept from block to block, so that the same memory stays in the cache.
        self.buffer = np.empty(2 * _BLOCK, dtype=np.int32)
        self.kept = 0  # how many ids at the beginning of the buffer are those of earlier blocks
        self.waiting: list[Int32Array] = []
        self.n_read = 0
        self.first = 0  # the place of the buffer in the stream
        self.registers = np.zeros(kernels.REGISTERS, dtype=np.int64)
        self.registers[kernels.STATE] = searcher._finder.forward.initial
        self.found = np.empty(4 * _ROOM, dtype=np.int64)
        self.passed = np.empty(_MEMORY, dtype=np.int64)
        self.futile = np.full(2 * _MEMORY, -1, dtype=np.int64)
        self.steps = np.full(2 * _MEMORY, -1, dtype=np.int64)

    def read(self, block: npt.ArrayLike) -> Iterator[Matches]:
        """Yield what is found with further ids."""
        self.waiting.append(self.searcher._checked(block, self.n_read))
        self.n_read += len(self.waiting[-1])
        # A match that goes on and on is read further in ever larger steps.
        if sum(map(len, self.waiting)) >= self.kept:
            yield from self.step(0)

    def finish(self) -> Iterator[Matches]:
        """Yield what is found now that the stream has ended."""
        yield from self.step(kernels.FINAL)

    def step(self, options: int) -> Iterator[Matches]:
        """Search as far as the ids go, and keep those that may still be needed."""
        searcher, registers = self.searcher, self.registers
        ids = self.filled()
        tokens = searcher._tokenwise if self.n_read > _PATIENCE else searcher._bytewise
        automata = (searcher._forward, searcher._text, searcher._backward)
        arguments = (ids, tokens, *automata, searcher._options | options, registers)
        for found in self.find_all(arguments) if searcher._wants_all else self.find_leftmost(arguments):
            if len(found):
                matches = found.reshape(-1, 4)
                matches[:, 2:] += self.first
                yield Matches(matches)
        keep = max(int(registers[kernels.IDLE]), self.reached_by(ids))
        context = 0
        while keep > 0 and context < _CONTEXT:
            keep -= 1
            context += _CONTEXT if searcher._cuts[ids[keep]] else int(searcher._lengths[ids[keep]])
        self.kept = len(ids) - keep
        self.buffer[: self.kept] = ids[keep:]
        self.first += keep
        registers[[kernels.TOKEN, kernels.END_TOKEN, kernels.IDLE]] -= keep
        if self.kept > searcher.max_pending:
            raise LimitExceededError(
                f"a match that has begun stays undecided for more than {searcher.max_pending} tokens",
                hint=f"it begins behind token {self.first}; raise max_pending, or bound the repetition",
            )

    def reached_by(self, ids: Int32Array) -> int:
        """Return a token before which no match can begin any more, as far as the lengths of matches tell."""
        searcher, registers = self.searcher, self.registers
        left = searcher._finder.longest
        if not left:
            return 0
        token = int(registers[kernels.END_TOKEN] if registers[kernels.PENDING] else registers[kernels.TOKEN])
        while token > 0 and left >= 0:
            token -= 1
            left -= int(searcher._lengths[ids[token]])
        return token

    def filled(self) -> Int32Array:
        """Return the ids kept and those that wait, one after the other in the buffer."""
        size = self.kept + sum(map(len, self.waiting))
        if size > len(self.buffer):
            larger = np.empty(2 * size, dtype=np.int32)
            larger[: self.kept] = self.buffer[: self.kept]
            self.buffer = larger
        for block in self.waiting:
            self.buffer[self.kept : self.kept + len(block)] = block
            self.kept += len(block)
        self.waiting = []
        return self.buffer[:size]

    def find_all(self, arguments: tuple[Any, ...]) -> Iterator[Int64Array]:
        """Yield all matches in the ids at hand."""
        yield find_all(*arguments)

    def find_leftmost(self, arguments: tuple[Any, ...]) -> Iterator[Int64Array]:
        """Yield the leftmost matches in the ids at hand, as many at a time as there is room for."""
        find: Any = kernels.find_leftmost
        n_found = len(self.found)
        while n_found == len(self.found):
            n_found = find(*arguments, self.first, self.passed, self.futile, self.steps, self.found)
            yield self.found[:n_found].copy()
