"""The units of two streams of ids of one text."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, ranges
from tokdfa.base.atomic import write_atomically
from tokdfa.base.errors import WrongTypeError
from tokdfa.base.verdict import Displayed
from tokdfa.jobs.alignment.spelling import Words
from tokdfa.kernels.spelling.spell import spell_bytes

__all__ = ["Alignment", "Candidates", "Unit"]

SideName: TypeAlias = Literal["a", "b"]


class Side(NamedTuple):
    """The words of a tokenizer, and which of them the ids of its stream are."""

    words: Words
    numbers: Int32Array


class Candidates(NamedTuple):
    """Ids for each unit: unit k has ``ids[bounds[k]:bounds[k + 1]]``.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> tokdfa.align(tokenizer, [64, 2513], tokenizer, [64, 261, 1193]).candidates("b").ids.tolist()
    [64, 2513]
    """

    bounds: Int64Array
    ids: Int32Array


class Unit(NamedTuple):
    """A unit: the ids of both sides, and the bytes that both spell.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> alignment = tokdfa.align(tokenizer, [64, 2513], tokenizer, [64, 261, 1193])
    >>> [*alignment][1]
    Unit(a=(2513,), b=(261, 1193), text=b' single')
    """

    a: tuple[int, ...]
    b: tuple[int, ...]
    text: bytes


@dataclass(frozen=True, eq=False, repr=False)
class Alignment(Displayed):
    """Two streams of ids of one text, cut at the boundaries that both share.

    Unit k has the ids ``ids_a[a_bounds[k]:a_bounds[k + 1]]`` and ``ids_b[b_bounds[k]:b_bounds[k + 1]]``, and the bytes
    of the text from ``offsets[k]`` to ``offsets[k + 1]``. Iterating gives each as a :class:`Unit`.

    Attributes
    ----------
    ids_a, ids_b : int32 array
        The ids of both streams.
    a_bounds, b_bounds : int64 array of shape (units + 1,)
        The index of the first id of each unit, and the number of ids.
    offsets : int64 array of shape (units + 1,)
        The first byte of each unit in the text, and the number of bytes. The texts of several documents follow each
        other.
    documents : int64 array of shape (documents + 1,)
        The first unit of each document, and the number of units.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> tokdfa.align(tokenizer, [64, 2513], tokenizer, [64, 261, 1193]).shapes
    {(1, 1): 1, (1, 2): 1}
    """

    ids_a: Int32Array
    ids_b: Int32Array
    a_bounds: Int64Array
    b_bounds: Int64Array
    offsets: Int64Array
    documents: Int64Array
    _sides: dict[SideName, Side]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        sizes = f"{len(self.ids_a):,} and {len(self.ids_b):,} ids, {int(self.offsets[-1]):,} bytes"
        return f"Alignment({len(self):,} units of {sizes})"

    def __getitem__(self, index: int) -> Unit:
        at = range(len(self))[index]
        (a, next_a), (b, next_b) = self.a_bounds[at : at + 2].tolist(), self.b_bounds[at : at + 2].tolist()
        low, high = self.offsets[at : at + 2].tolist()
        return Unit(tuple(self.ids_a[a:next_a].tolist()), tuple(self.ids_b[b:next_b].tolist()), self.text[low:high])

    def __iter__(self) -> Iterator[Unit]:
        return (self[index] for index in range(len(self)))

    @cached_property
    def text(self) -> bytes:
        """The bytes of the text."""
        words, numbers = self._sides["a"]
        return spell_bytes(*words.words, numbers)

    @cached_property
    def shapes(self) -> dict[tuple[int, int], int]:
        """The number of units by their numbers of ids on both sides, the most frequent shape first."""
        n_a, n_b = np.diff(self.a_bounds), np.diff(self.b_bounds)
        width = int(n_b.max(initial=0)) + 1
        found, counts = np.unique(n_a * width + n_b, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {divmod(int(found[at]), width): int(counts[at]) for at in order}

    @cached_property
    def within_characters(self) -> BoolArray:
        """Whether each boundary splits a character of the text: a bool array of shape (units + 1,).

        The bytes of the units next to it are not UTF-8, so these units have no text of their own.
        """
        padded = np.frombuffer(self.text + b"\0", dtype=np.uint8)
        found: BoolArray = padded[self.offsets] & 0xC0 == 0x80
        return found

    def candidates(self, side: SideName) -> Candidates:
        """Return for each unit the ids of one side that alone have the bytes of the unit, ascending.

        To distil a model into one with other tokens, the probability of each unit on one side is compared with the
        probability of these ids on the other. At the beginning of a text that is decoded without its first space, the
        ids are compared as they are decoded there. Units without bytes have no candidates.

        Parameters
        ----------
        side : {"a", "b"}
            Whose ids are looked for.

        Returns
        -------
        Candidates

        Examples
        --------
        >>> tokenizer = tokdfa.default_tokenizer()
        >>> found = tokdfa.align(tokenizer, [261, 1193], tokenizer, [261, 82, 278]).candidates("a")
        >>> found.bounds.tolist(), found.ids.tolist()
        ([0, 1, 2], [261, 1193])
        """
        if side not in self._sides:
            raise WrongTypeError('the side is "a" or "b"', value=side, where="side")
        words, numbers = self._sides[side]
        text = np.frombuffer(self.text, dtype=np.uint8)
        starts, counts = words.usual.find(text, self.offsets)
        ids = words.usual.ids
        if words.varies:
            bounds = self.a_bounds if side == "a" else self.b_bounds
            edges = bounds[:-1] if words.varies == "first" else bounds[1:] - 1
            is_at_edge = np.append(numbers, np.int32(0))[edges] >= words.n
            other_starts, other_counts = words.at_edge.find(text, self.offsets)
            starts = np.where(is_at_edge, other_starts + len(ids), starts)
            counts = np.where(is_at_edge, other_counts, counts)
            ids = np.concatenate((ids, words.at_edge.ids))
        spelling, ends = ranges(starts, starts + counts)
        return Candidates(ends, ids[spelling])

    def save(self, path: str | Path) -> None:
        """Write the units to a file, complete or not at all: arrays to a .npz, or an object a unit to a .jsonl.

        A .npz has the arrays of this class, and the candidates of both sides as a_candidate_bounds, a_candidates,
        b_candidate_bounds and b_candidates.

        Parameters
        ----------
        path : str or path
            The file.

        Raises
        ------
        WrongTypeError
            If the name of the file has another ending.
        """
        kind = Path(path).suffix.lower()
        if kind not in FILES:
            raise WrongTypeError(f"units are written to {' or '.join(FILES)}", value=str(path), where="path")
        candidates = {side: self.candidates(side) for side in self._sides}
        if kind == ".npz":
            arrays = {name: getattr(self, name) for name in _ARRAYS}
            for side, found in candidates.items():
                arrays |= {f"{side}_candidate_bounds": found.bounds, f"{side}_candidates": found.ids}
            file = io.BytesIO()
            np.savez(file, **arrays)
            write_atomically(path, file.getvalue())
            return
        split = self.within_characters
        lines: list[str] = []
        for index, unit in enumerate(self):
            fields: dict[str, object] = {"a": unit.a, "b": unit.b}
            # Bytes that are not UTF-8 are escaped, and then `splits_character` is true.
            fields |= {"text": unit.text.decode("utf-8", "backslashreplace"), "offset": int(self.offsets[index])}
            fields["splits_character"] = bool(split[index] or split[index + 1])
            for side, (bounds, ids) in candidates.items():
                fields[f"{side}_candidates"] = ids[bounds[index] : bounds[index + 1]].tolist()
            lines.append(json.dumps(fields) + "\n")
        write_atomically(path, "".join(lines).encode())


FILES = (".npz", ".jsonl")
"""The endings of files that units are written to."""

_ARRAYS = ("ids_a", "ids_b", "a_bounds", "b_bounds", "offsets", "documents")
