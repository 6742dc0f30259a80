"""The machine of a splitting as tables that the kernel reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tokdfa.arrays import Int32Array, Uint8Array, Uint16Array
from tokdfa.kernels.encode.events import EVENT_BITS, UNSETTLED
from tokdfa.kernels.encode.split import BLOCK_BITS, PAIR_EVENTS
from tokdfa.kernels.library import Struct
from tokdfa.splitting.machine import Machine

__all__ = ["DEFAULT", "Tuning", "split_tables"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of splitting. They change its cost, never the pieces.

    Parameters
    ----------
    max_pairs : int
        The maximum number of entries, of 4 bytes each, in the table for two symbols of ASCII. A machine that needs more
        reads symbols one by one. The table only pays off if it stays in the second-level cache.
    """

    max_pairs: int = 1 << 17


DEFAULT = Tuning()


def split_tables(machine: Machine, *, tuning: Tuning = DEFAULT) -> Struct:
    """Return the tables of a machine, ``tokdfa_splitting``."""
    n_classes = machine.target.shape[1]
    class_bits = max(n_classes - 1, 1).bit_length()
    single = machine.n_hypotheses == 1
    settled = single[:, None] & single[machine.target]
    quick = np.where(settled, machine.event[:, :, 0], UNSETTLED).astype(np.uint8)
    pages, classes = _paged(machine.class_of_code_point)
    pairs, pair_class, pair_bits = _pairs(machine.target, quick, machine.class_of_code_point[:0x80], tuning.max_pairs)
    tables = {
        "ascii_class": machine.class_of_code_point[:0x80].copy(),
        "pages": pages,
        "classes": classes,
        "target": _padded(machine.target.astype(np.int32) << class_bits, class_bits),
        "quick": _padded(quick, class_bits),
        "single": single.astype(np.uint8),
        "parent": _padded(machine.parent, class_bits),
        "event": _padded(machine.event, class_bits),
        "pairs": pairs,
        "pair_class": pair_class,
        "borne_out": machine.borne_out,
    }
    for table in tables.values():
        table.setflags(write=False)
    return Struct(
        "tokdfa_splitting", **tables, width=machine.parent.shape[2], class_bits=class_bits, pair_bits=pair_bits
    )


def _padded(cells: Any, class_bits: int) -> Any:
    """Return the cells of all states and classes as one row, with ``1 << class_bits`` entries per state."""
    room = np.zeros((len(cells), 1 << class_bits, *cells.shape[2:]), dtype=cells.dtype)
    room[:, : cells.shape[1]] = cells
    return room.reshape(-1)


def _pairs(
    target: Int32Array, quick: Uint8Array, ascii_class: Uint8Array, max_pairs: int
) -> tuple[Int32Array, Uint8Array, int]:
    """Return the entries for two symbols of ASCII, the classes used for these, and the bits of the classes."""
    classes, pair_class = np.unique(ascii_class, return_inverse=True)
    bits = (len(classes) - 1).bit_length()
    if len(target) << 2 * bits > max_pairs:
        # Every symbol is a separate step.
        none = np.full(len(target), 1 << 2 * EVENT_BITS, dtype=np.int32)
        return none, np.zeros(0x80, dtype=np.uint8), 0
    between = target[:, classes]
    first, second = quick[:, classes][:, :, None], quick[:, classes][between]
    behind = target[:, classes][between].astype(np.int32) << 2 * bits << PAIR_EVENTS
    is_unsettled = (first == UNSETTLED) | (second == UNSETTLED)
    does = first.astype(np.int32) << EVENT_BITS | second
    entries = np.zeros((len(target), 1 << bits, 1 << bits), dtype=np.int32)
    entries[:, : len(classes), : len(classes)] = behind | is_unsettled << 2 * EVENT_BITS | does
    return entries.reshape(-1), pair_class.astype(np.uint8), bits


def _paged(classes: Uint8Array) -> tuple[Uint16Array, Uint8Array]:
    """Return the classes of all code points in two tables: the page of each block, and the distinct pages."""
    blocks = classes.reshape(-1, 1 << BLOCK_BITS)
    # Nearly all blocks are of one class: the pages of those come first, one a class.
    alike = (blocks == blocks[:, :1]).all(axis=1)
    of_class, pages = np.unique(blocks[:, 0], return_inverse=True)
    numbers: dict[bytes, int] = {}
    others = [numbers.setdefault(block.tobytes(), len(of_class) + len(numbers)) for block in blocks[~alike]]
    pages[~alike] = others
    whole = np.repeat(of_class, 1 << BLOCK_BITS)
    return pages.astype(np.uint16), np.concatenate((whole, np.frombuffer(b"".join(numbers), dtype=np.uint8)))
