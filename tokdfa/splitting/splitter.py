"""Splitting UTF-8 by a finite machine: whole texts, and streams of any length."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int64Array
from tokdfa.errors import PatternError
from tokdfa.kernels.encode.events import BEGINS, CONTINUES, DROPPED, EVENT_BITS, EVENT_MASK
from tokdfa.kernels.encode.split import SplitRun, close, split_lines
from tokdfa.kernels.library import Struct
from tokdfa.patterns.budget import DEFAULT_MAX_SECONDS
from tokdfa.splitting.known_machines import known_machine
from tokdfa.splitting.machine import DEFAULT_MAX_STATES, Machine
from tokdfa.splitting.split_tables import DEFAULT, Tuning, split_tables
from tokdfa.splitting.steps import Splitting

__all__ = ["SplitStream", "Splitter"]


_BLOCK = 1 << 18


class Splitter:
    """A splitting as a machine over UTF-8, equal to the backtracking definition on every text.

    Immutable. If the splitting puts a space before a text, the caller has to add it.

    Parameters
    ----------
    splitting : Splitting
        The steps.
    max_states, max_seconds : int, float
        The budget for building the machine; the machines of the splittings in use are prebuilt.
    tuning : Tuning, optional
        The maximum size of tables.

    Attributes
    ----------
    machine : Machine
        The machine, over classes of code points.
    tables : Struct
        The machine in the form that the kernels read, ``tokdfa_splitting``.

    Raises
    ------
    PatternError
        If a pattern cannot be read, or needs something automata cannot express: back-references, or an
        atomic group or possessive repetition that may backtrack inside itself; or repeats what may be empty.
    LimitExceededError
        If the budget does not suffice.

    Examples
    --------
    >>> from tokdfa.splitting.named import NAMED
    >>> Splitter(NAMED["gpt2"]).spans("I've  got").tolist()
    [[0, 1], [1, 4], [4, 5], [5, 9]]
    """

    def __init__(
        self,
        splitting: Splitting,
        *,
        max_states: int = DEFAULT_MAX_STATES,
        max_seconds: float = DEFAULT_MAX_SECONDS,
        tuning: Tuning = DEFAULT,
    ) -> None:
        machine = known_machine(splitting)
        if machine is None or machine.n_states > max_states:
            from tokdfa.splitting.machine_building import build_machine

            machine = build_machine(splitting, max_states=max_states, max_seconds=max_seconds)
        self.machine: Machine = machine
        self.tables: Struct = split_tables(self.machine, tuning=tuning)
        self._tuning = tuning

    def __getstate__(self) -> tuple[Machine, Tuning]:
        return self.machine, self._tuning

    def __setstate__(self, state: tuple[Machine, Tuning]) -> None:
        self.machine, self._tuning = state
        self.tables = split_tables(self.machine, tuning=self._tuning)

    @property
    def n_states(self) -> int:
        """The number of states of the machine."""
        return self.machine.n_states

    @property
    def drops_text(self) -> bool:
        """Whether there are texts of which something is dropped."""
        return bool((self.machine.event == DROPPED).any())

    def spans(self, text: str | bytes) -> Int64Array:
        """Return the pieces of a text as an int64 array of shape (pieces, 2) of byte offsets, start and end.

        Raises
        ------
        PatternError
            If the text is not UTF-8, or has surrogates; the message says where.
        """
        stream = self.stream()
        return np.concatenate((stream.feed(_encoded(text)), stream.finish()))

    def line_spans(self, text: bytes) -> Int64Array:
        """Return the pieces of a text whose lines are split separately, as :meth:`spans` does.

        A line ends after its line feed.

        Raises
        ------
        PatternError
            If a line is not UTF-8.
        """
        begun = split_lines(self.tables, text)
        if begun is None:
            raise PatternError("a line is not UTF-8")
        return close(begun)

    def stream(self) -> SplitStream:
        """Return a stream that is fed a text part by part."""
        return SplitStream(self)


class SplitStream:
    """A text read in parts, whose pieces are returned as soon as no continuation can change them.

    Attributes
    ----------
    n_bytes : int
        The number of bytes fed so far.
    """

    def __init__(self, splitter: Splitter) -> None:
        self._run = SplitRun(splitter.tables, 0)
        self._tail = b""
        self._open = CONTINUES  # the piece, or the dropped text, that has begun
        self.n_bytes = 0

    def feed(self, part: bytes) -> Int64Array:
        """Read more of the text.

        Parameters
        ----------
        part : bytes
            Any number of bytes; symbols may be split between parts.

        Returns
        -------
        int64 array of shape (pieces, 2)
            The pieces settled since the last call: byte offsets in the whole text, start and end.

        Raises
        ------
        PatternError
            If the text is not UTF-8; the message says where.
        """
        if len(part) <= _BLOCK:
            return self._feed(part)
        found = [self._feed(part[start : start + _BLOCK]) for start in range(0, len(part), _BLOCK)]
        return np.concatenate(found)

    def _feed(self, part: bytes) -> Int64Array:
        base = self.n_bytes - len(self._tail)
        data = self._tail + part
        self.n_bytes += len(part)
        is_valid = self._run.read(data, base)
        at = self._run.at - base
        if not is_valid:
            raise PatternError("not UTF-8", value=data[at : at + 4], where=f"byte {base + at}")
        self._tail = data[at:]
        return self._close(self._run.begun[: self._run.n_begun])

    def finish(self) -> Int64Array:
        """Return the pieces that the end of the text settles; nothing can be fed any more.

        Raises
        ------
        PatternError
            If the text ends within a symbol.
        """
        end = self.n_bytes
        if self._tail:
            raise PatternError("the text ends within a symbol", value=self._tail, where=f"byte {end - len(self._tail)}")
        self._run.finish()
        n_begun = self._run.n_begun
        self._run.begun[n_begun] = end << EVENT_BITS
        return self._close(self._run.begun[: n_begun + 1])

    @property
    def open_piece(self) -> tuple[int, int] | None:
        """The beginning of the open piece, and the place up to which it certainly extends; None in dropped text."""
        if self._open & EVENT_MASK != BEGINS:
            return None
        read = int(self._run.trail_at[0]) if self._run.n_waiting else self.n_bytes - len(self._tail)
        return self._open >> EVENT_BITS, read

    def _close(self, begun: Int64Array) -> Int64Array:
        """Return the pieces that end where something else begins."""
        spans = close(begun, self._open)
        if len(begun):
            self._open = int(begun[-1])
        return spans


def _encoded(text: str | bytes) -> bytes:
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        where = f"character {error.start}"
        raise PatternError("half of a surrogate pair", value=text[error.start], where=where) from None
