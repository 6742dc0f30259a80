"""Splitting UTF-8 by a finite machine: whole texts, and streams of any length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array, Uint16Array
from tokdfa.base.budget import DEFAULT_MAX_SECONDS
from tokdfa.base.errors import PatternError
from tokdfa.kernels.encode.events import BEGINS, CONTINUES, DROPPED, EVENT_BITS, EVENT_MASK, UNSETTLED
from tokdfa.kernels.encode.split import BLOCK_BITS, CONTINUATION, LONGEST_PART, SplitRun, close, split_texts
from tokdfa.kernels.library import Struct
from tokdfa.tokenizers.pretokenizers.machine import DEFAULT_MAX_STATES, Machine, Runs, known_machine
from tokdfa.tokenizers.pretokenizers.steps import Splitting


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of splitting. They change its cost, never the pieces.

    `max_pairs`, up to 65536, is the maximum number of entries, of 4 bytes each, in the table for two bytes. A machine
    that needs more reads symbols one by one. The table only pays off if it stays in the second-level cache. `block`,
    from 4 to 4096, is the number of bytes that are read before the pieces that begin in them are written. A segment of
    at least four times `least_chain` bytes is read in four parts at once.
    """

    max_pairs: int = 1 << 16
    block: int = LONGEST_PART
    least_chain: int = 16


DEFAULT = Tuning()

_CLASSES_OF_PAIRS = 256
# A machine with more entries for pairs of classes, in multiples of the most pairs, is not examined further.
_COLUMNS = 4

# The hypotheses of an unsettled action fill whole machine words, which the kernel reads at once.
_ROW = 8


def split_tables(machine: Machine, *, tuning: Tuning = DEFAULT) -> Struct:
    """Return the tables of a machine, ``tokdfa_splitting``."""
    assert 4 <= tuning.block <= LONGEST_PART
    n_classes = machine.target.shape[1]
    class_bits = max(n_classes - 1, 1).bit_length()
    pages, classes = _paged(machine.runs)
    action, unsettled = _actions(machine)
    # The first block is ASCII.
    ascii_class = classes[int(pages[0]) << BLOCK_BITS :][: 1 << BLOCK_BITS].copy()
    pairs, pair_class, known_after, pair_bits = _pairs(machine.target, action, ascii_class, tuning.max_pairs)
    tables = {
        "ascii_class": ascii_class,
        "pages": pages,
        "classes": classes,
        "target": _padded(machine.target.astype(np.int32) << class_bits, class_bits),
        "action": _padded(action, class_bits),
        **unsettled,
        "pairs": pairs,
        "pair_class": pair_class,
        "known_after": known_after,
        "borne_out": machine.borne_out,
    }
    for table in tables.values():
        table.setflags(write=False)
    return Struct(
        "tokdfa_splitting", **tables, width=_ROW * -(-machine.parent.shape[2] // _ROW), class_bits=class_bits,
        pair_bits=pair_bits, block=tuning.block, least_chain=tuning.least_chain,
    )  # fmt: skip


def _actions(machine: Machine) -> tuple[Int32Array, dict[str, Uint8Array]]:
    """Return the action of every cell, and for the unsettled ones the parents, the events, and whether they settle."""
    single = machine.n_nfa_states == 1
    settles = single[machine.target]
    is_open = ~(single[:, None] & settles)
    action: Int32Array = machine.event[:, :, 0].astype(np.int32)
    width = machine.parent.shape[2]
    rows = np.concatenate((machine.parent[is_open], machine.event[is_open], settles[is_open][:, None]), axis=1)
    first, action[is_open] = _distinct(rows.astype(np.uint8))
    action[is_open] += UNSETTLED
    parent, event, last = np.split(rows[first].astype(np.uint8), (width, 2 * width), axis=1)
    filler = np.zeros((len(first), -width % _ROW), dtype=np.uint8)
    parent, event = np.hstack((parent, filler)), np.hstack((event, filler))
    return action, {name: row.flatten() for name, row in (("parent", parent), ("event", event), ("settles", last))}


def _distinct(rows: Any) -> tuple[Any, Any]:
    """Return where each different row is first, and for each row the number of the one that it equals."""
    rows = np.ascontiguousarray(rows)
    # Compared as bytes, which is faster than by columns.
    _, first, number = np.unique(
        rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1),
        return_index=True,
        return_inverse=True,
    )
    return first, number.reshape(-1)


def _pairs(
    target: Int32Array, action: Int32Array, ascii_class: Uint8Array, max_pairs: int
) -> tuple[Any, Uint8Array, Int32Array, int]:
    """Return the entries for two bytes, their classes, the states known after those, and the bits of the classes."""
    n, n_classes = target.shape
    none = np.zeros(1, dtype=np.uint32), np.zeros(1, dtype=np.uint8), np.zeros(1, dtype=np.int32), 0
    max_pairs = min(max_pairs, 1 << 16)
    if n_classes >= 0x100 - CONTINUATION or action.max() > 0xFF or n * (n_classes + 1) ** 2 > _COLUMNS * max_pairs:
        return none
    # A continuation, the last class, leaves the state as it is.
    target = np.concatenate((target, np.arange(n, dtype=np.int32)[:, None]), axis=1)
    action = np.concatenate((action, np.zeros((n, 1), dtype=np.int32)), axis=1)
    entries = (target[target] << 16 | action[target] << 8 | action[:, :, None]).astype(np.uint32)
    columns = entries.reshape(n, -1).T
    first, number = _distinct(columns)
    bits = max(len(first) - 1, 1).bit_length()
    if len(first) > _CLASSES_OF_PAIRS or n << bits > max_pairs:
        return none
    states, both = columns[first] >> 16, columns[first] & 0xFFFF
    known_after = np.where((states == states[:, :1]).all(axis=1), states[:, 0].astype(np.int32) << bits, -1)
    pairs = np.zeros((n, 1 << bits), dtype=np.uint32)
    pairs[:, : len(first)] = (states << bits << 16 | both).T
    of_byte: Uint8Array = np.zeros(0x100, dtype=np.uint8)
    of_byte[:CONTINUATION] = ascii_class
    of_byte[CONTINUATION] = n_classes
    of_byte[CONTINUATION + 1 : CONTINUATION + 1 + n_classes] = range(n_classes)
    by_second = number.astype(np.uint8).reshape(n_classes + 1, n_classes + 1).T
    pair_class = by_second[of_byte][:, of_byte].reshape(-1)
    return pairs.reshape(-1), pair_class, known_after.astype(np.int32), bits


def _padded(cells: Any, class_bits: int) -> Any:
    """Return the cells of all states and classes as one row, with ``1 << class_bits`` entries per state."""
    padded = np.zeros((len(cells), 1 << class_bits, *cells.shape[2:]), dtype=cells.dtype)
    padded[:, : cells.shape[1]] = cells
    return padded.reshape(-1)


def _paged(runs: Runs) -> tuple[Uint16Array, Uint8Array]:
    """Return the classes of all code points in two tables: the page of each block, and the distinct pages."""
    size = 1 << BLOCK_BITS
    ends = np.cumsum(runs.lengths)
    starts = ends - runs.lengths
    # Nearly all blocks are of one class: the pages of those come first, one a class.
    is_class = np.zeros(0x100, dtype=np.bool_)
    is_class[runs.classes] = True
    of_class = np.flatnonzero(is_class).astype(np.uint8)
    page_of_class = np.cumsum(is_class, dtype=np.uint16) - np.uint16(1)
    n_begin_in = -(-ends // size) - -(-starts // size)
    pages = np.repeat(page_of_class[runs.classes], n_begin_in)
    # Those of several classes are cut out of runs that end with them.
    is_mixed = np.zeros(len(pages), dtype=np.bool_)
    is_mixed[starts[starts % size != 0] // size] = True
    mixed = np.flatnonzero(is_mixed)
    cuts = np.sort(np.concatenate((starts, size * mixed, size * (mixed + 1))), kind="stable")
    inside = is_mixed[np.minimum(cuts // size, len(pages) - 1)] & (cuts < ends[-1])
    of_cut = runs.classes[np.searchsorted(starts, cuts[inside], side="right") - 1]
    blocks = np.repeat(of_cut, np.diff(cuts, append=ends[-1])[inside]).reshape(-1, size)
    numbers: dict[bytes, int] = {}
    pages[mixed] = [numbers.setdefault(block.tobytes(), len(of_class) + len(numbers)) for block in blocks]
    return pages, np.concatenate((np.repeat(of_class, size), np.frombuffer(b"".join(numbers), dtype=np.uint8)))


_BLOCK = 1 << 18


class Splitter:
    """A splitting as a machine over UTF-8, equal to the backtracking definition on every text.

    Immutable. If the splitting puts a space before a text, the caller has to add it. `max_states` and `max_seconds` are
    the budget for building the machine; the machines of the splittings in use are prebuilt. `machine` is over classes
    of code points, and `tables`, ``tokdfa_splitting``, are the same as the kernels read it.

    PatternError is raised if a pattern cannot be read, repeats a part that may be empty, or needs something automata
    cannot express: back-references, or an atomic group or possessive repetition that may backtrack inside itself.
    LimitExceededError is raised if the budget does not suffice.

    Examples
    --------
    >>> from tokdfa.tokenizers.pretokenizers.steps import NAMED
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
            from tokdfa.tokenizers.pretokenizers.building import build_machine

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
        """Whether some texts lose a part."""
        return bool((self.machine.event == DROPPED).any())

    def spans(self, text: str | bytes) -> Int64Array:
        """Return the pieces of a text as an int64 array of shape (pieces, 2) of byte offsets, start and end.

        Raises PatternError if the text is not UTF-8, or has surrogates; the error says where.
        """
        if isinstance(text, str):
            try:
                text = text.encode("utf-8")
            except UnicodeEncodeError as error:
                where = f"character {error.start}"
                raise PatternError("half of a surrogate pair", value=error.object[error.start], where=where) from None
        stream = self.stream()
        return np.concatenate((stream.feed(text), stream.finish()))

    def spans_of_texts(self, texts: bytes, ends: Int64Array) -> Int64Array | None:
        """Return the pieces of texts, one after the other, that are split separately, given their ends; see `spans`.

        None is returned if one of them is not UTF-8.
        """
        begun = split_texts(self.tables, texts, ends)
        return None if begun is None else close(begun)

    def stream(self) -> SplitStream:
        """Return a stream that is fed a text part by part."""
        return SplitStream(self)


class SplitStream:
    """A text read in parts; its pieces are returned as soon as no continuation can change them.

    `n_bytes` counts the bytes fed so far.
    """

    def __init__(self, splitter: Splitter) -> None:
        self._run = SplitRun(splitter.tables, 0)
        self._tail = b""
        self._open = CONTINUES  # the piece, or the dropped text, that has begun
        self.n_bytes = 0

    def feed(self, part: bytes) -> Int64Array:
        """Read more of the text, any number of bytes; symbols may be split between parts.

        Returns the pieces settled since the last call: byte offsets in the whole text, of shape (pieces, 2), start and
        end. Raises PatternError if the text is not UTF-8; the error says where.
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

        Raises PatternError if the text ends within a symbol.
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
        """The beginning of the open piece, and the offset up to which it is known to extend; None in dropped text."""
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
