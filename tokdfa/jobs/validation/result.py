"""The answer of validation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, overload

from tokdfa.base.verdict import Verdict, cut_short

if TYPE_CHECKING:
    from tokdfa.jobs.validation.violation import Violation

__all__ = ["Validation", "Violations", "validation"]


class Violations(Sequence["Violation"]):
    """The violations of a stream, in order: a sequence that compares like a tuple.

    Parameters
    ----------
    parts : sequence of sequences of Violation
        One after the other.
    """

    __slots__ = ("_ends", "_parts")

    def __init__(self, parts: Sequence[Sequence[Violation]] = ()) -> None:
        self._parts = [part for part in parts if len(part)]
        self._ends = [*accumulate(map(len, self._parts))]

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Violation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Violation, ...]: ...
    def __getitem__(self, index: int | slice) -> Violation | tuple[Violation, ...]:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        at = range(len(self))[index]
        number = bisect_right(self._ends, at)
        part = self._parts[number]
        return part[at - self._ends[number] + len(part)]

    def __iter__(self) -> Iterator[Violation]:
        for part in self._parts:
            yield from part

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple | Violations):
            return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        more = f", and {len(self) - _SHOWN:,} more" if len(self) > _SHOWN else ""
        return f"({', '.join(map(repr, self[:_SHOWN]))}{more})"

    def __reduce__(self) -> tuple[type[Violations], tuple[Any]]:
        # Violations to come refer to the tokenizer.
        return Violations, ((tuple(self),),)


_SHOWN = 3
"""The number of violations that are shown."""

NONE = Violations()
"""No violations."""


@dataclass(frozen=True, slots=True, repr=False)
class Validation(Verdict["Violation"]):
    """Whether a stream is canonical; truthy if it is.

    Attributes
    ----------
    holds, reason
        See :class:`Verdict`.
    witness : Violation or None
        The first violation.
    tokens : int
        The number of ids in the stream.
    violations : sequence of Violation
        All violations if they were asked for (``all=True``), otherwise only the first; empty if there are none. It
        compares like a tuple. The violations of an array are found at once, and each is made when it is read.

    Examples
    --------
    >>> verdict = tokdfa.validate(tokdfa.default_tokenizer(), [64, 261, 1193])
    >>> bool(verdict), verdict.tokens, verdict.index, verdict.canonical_ids
    (False, 3, 1, (2513,))
    """

    tokens: int = 0
    violations: Violations = NONE

    def __repr__(self) -> str:
        if self.witness is None:
            return f"Validation(True: {self.tokens:,} tokens)"
        n = len(self.violations)
        found = f"{self.tokens:,} tokens" + (f", {n:,} violations" if n > 1 else "")
        return f"Validation(False: {found}; {self.witness!r}: {cut_short(self.reason, 120)})"

    @property
    def index(self) -> int | None:
        """The first token that the tokenizer would not have given; see :class:`Violation`."""
        return None if self.witness is None else self.witness.index

    @property
    def detected_at(self) -> int | None:
        """The token at which this became known."""
        return None if self.witness is None else self.witness.detected_at

    @property
    def byte_offset(self) -> int | None:
        """The byte offset in the stream at which that token begins."""
        return None if self.witness is None else self.witness.byte_offset

    @property
    def ids(self) -> tuple[int, ...] | None:
        """The ids of the piece concerned, as in the stream."""
        return None if self.witness is None else self.witness.ids

    @property
    def canonical_ids(self) -> tuple[int, ...] | None:
        """The ids that should be in its place; None without a violation, or if no text has these bytes."""
        return None if self.witness is None else self.witness.canonical_ids


def validation(tokens: int, violations: Sequence[Violation] = NONE) -> Validation:
    """Return the verdict on a stream, given its number of ids and its violations."""
    if not violations:
        return _canonical(tokens)
    every = violations if isinstance(violations, Violations) else Violations([violations])
    return Validation(False, every[0], every[0].reason, tokens, every)


# Kept, because making one takes longer than walking over a short stream.
@lru_cache(maxsize=1 << 10)
def _canonical(tokens: int) -> Validation:
    return Validation(True, None, "the ids are exactly those that their text is encoded as", tokens)
