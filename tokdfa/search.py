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
from tokdfa.kernels.effects import token_effects
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
_MAX_LENGTH = 0x7FFF
# The longest symbol has four bytes.
_CONTEXT = 4

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
        self._find: Any = kernels.find_all if wanted == "all" else kernels.find_leftmost
        self._options = (
            kernels.ALIGNED * aligned
            + kernels.DELAYED * self._finder.backward.delayed
            + kernels.ALL * (wanted == "all")
        )
        self._spellings = tokenizer.id_spellings
        self._lengths = np.diff(self._spellings.offsets)
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
        if self._any_holes and self._holes[ids].any():
            place = int(np.argmax(self._holes[ids]))
            raise TokenStreamError("no token has this id", value=int(ids[place]), where=f"token {first + place}")
        return ids

    @cached_property
    def _any_holes(self) -> bool:
        return bool(self._holes.any())

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
    def _bytewise(self) -> tuple[Any, ...]:
        """What tokens do, before that is known: each is read byte by byte."""
        return np.zeros(self.tokenizer.n_ids, dtype=np.int32), np.zeros(1, dtype=np.int32), 0, self._idle

    @cached_property
    def _tokenwise(self) -> tuple[Any, ...]:
        """What tokens do to the states: properties of the ids, entries, their number a state, the idle state."""
        dfa = self._finder.forward
        if self._lengths.max(initial=0) > _MAX_LENGTH:
            return self._bytewise
        symbols, offsets = self._symbols
        table = 2 * dfa.table + ((dfa.delay[dfa.table] >= 0) | (dfa.table == 0))
        last = int(dfa.column[BORDER]) if self._options & kernels.ALIGNED else -1
        max_effects = min(_MAX_CLASSES - 1, _MAX_ENTRIES // dfa.n_states)
        effect, effects = token_effects(
            table.astype(np.int32).reshape(-1), table.shape[1], dfa.column[symbols], offsets, last, max_effects
        )
        if not len(effects):
            return self._bytewise
        used, effect = np.unique(effect, return_inverse=True)
        reached = effects.reshape(-1, dfa.n_states)[used].T
        entries = (reached // 2) * (2 * len(used)) + reached % 2
        neutral = entries[self._idle] == 2 * len(used) * self._idle
        properties = effect + (self._lengths << kernels.LENGTH_SHIFT)
        properties = np.where(neutral[effect], properties, properties + kernels.NOT_NEUTRAL)
        return (
            properties.astype(np.int32),
            np.ascontiguousarray(entries, dtype=np.int32).reshape(-1),
            len(used),
            self._idle,
        )

    @cached_property
    def _symbols(self) -> tuple[Int32Array, Int64Array]:
        """The symbols of all ids: their bytes, the edge of the text for special ones."""
        lengths = np.where(self._cuts, 1, self._lengths)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        symbols = np.full(int(starts[-1]), EDGE, dtype=np.int32)
        symbols[np.repeat(~self._cuts, lengths)] = self._spellings.text[np.repeat(~self._cuts, self._lengths)]
        return symbols, starts

    @cached_property
    def _automata(self) -> tuple[Any, ...]:
        """The arrays of the automata, as the kernels take them."""
        found = self._finder
        dfa, back = found.forward, found.backward
        return (
            *self._spellings,
            self._cuts,
            dfa.table.reshape(-1),
            dfa.table.shape[1],
            dfa.column,
            dfa.delay,
            dfa.restart,
            dfa.right,
            dfa.end_delay,
            dfa.end_right,
            found.length,
            found.shorter,
            back.table.reshape(-1),
            back.accepts,
            back.initial,
            back.partition.dense,
            back.partition.n_classes,
        )


class _Stream:
    """A search under way: the ids that may still be needed, and where it stands."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher
        self.ids = np.empty(0, dtype=np.int32)
        self.waiting: list[Int32Array] = []
        self.n_read = 0
        self.first = 0  # the place of ids[0] in the stream
        self.registers = np.zeros(kernels.REGISTERS, dtype=np.int64)
        self.registers[kernels.STATE] = searcher._finder.forward.initial

    def read(self, block: npt.ArrayLike) -> Iterator[Matches]:
        """Yield what is found with further ids."""
        self.waiting.append(self.searcher._checked(block, self.n_read))
        self.n_read += len(self.waiting[-1])
        # A match that goes on and on is read further in ever larger steps.
        if sum(map(len, self.waiting)) >= len(self.ids):
            yield from self.step(0)

    def finish(self) -> Iterator[Matches]:
        """Yield what is found now that the stream has ended."""
        yield from self.step(kernels.FINAL)

    def step(self, options: int) -> Iterator[Matches]:
        searcher, registers = self.searcher, self.registers
        tokens = searcher._tokenwise if self.n_read > _PATIENCE else searcher._bytewise
        self.ids = np.concatenate((self.ids, *self.waiting))
        self.waiting = []
        rows: Int64Array = searcher._find(
            self.ids, *tokens, *searcher._automata, searcher._options | options, registers
        )
        if len(rows):
            matches = rows.reshape(-1, 4)
            matches[:, 2:] += self.first
            yield Matches(matches)
        keep = int(registers[kernels.IDLE])
        context = 0
        while keep > 0 and context < _CONTEXT:
            keep -= 1
            context += _CONTEXT if searcher._cuts[self.ids[keep]] else int(searcher._lengths[self.ids[keep]])
        self.ids = self.ids[keep:].copy()
        self.first += keep
        registers[[kernels.TOKEN, kernels.END_TOKEN, kernels.IDLE]] -= keep
        if len(self.ids) > searcher.max_pending:
            raise LimitExceededError(
                f"a match that has begun stays undecided for more than {searcher.max_pending} tokens",
                hint=f"it begins behind token {self.first}; raise max_pending, or bound the repetition",
            )
