"""The answer of identification: candidates, ranked by their violations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tokdfa.guesses import Guided
from tokdfa.identification.mistake import Mistake
from tokdfa.identification.wording import sentence
from tokdfa.stores.store import Place, Problem

__all__ = ["Candidate", "Identification"]


@dataclass(frozen=True, slots=True)
class Candidate(Guided):
    """A tokenizer that may have made a store, and what speaks against it.

    Attributes
    ----------
    name : str
        Its file, or the name that the caller gave.
    pretokenizer : str or None
        The name of the pre-tokenizer that fits best, if the file does not record one.
    ids : int
        The number of ids that were judged: all that were read, or fewer once there were violations enough.
    kinds : dict of str to int
        The number of violations of each kind.
    out_of_range : int
        The number of ids that the tokenizer does not have.
    mistakes : tuple of Mistake
        The likely mistakes, in the order in which they are to be corrected.
    error : str or None
        Why the tokenizer cannot be judged.
    """

    name: str
    pretokenizer: str | None = None
    ids: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    out_of_range: int = 0
    mistakes: tuple[Mistake, ...] = ()
    error: str | None = None

    @property
    def violations(self) -> int:
        """The number of violations, ids that the tokenizer does not have included."""
        return sum(self.kinds.values()) + self.out_of_range

    @property
    def per_million(self) -> float | None:
        """The number of violations per million ids; None if the tokenizer cannot be judged."""
        return 1e6 * self.violations / self.ids if self.ids else None

    def to_dict(self) -> dict[str, Any]:
        """Return the candidate as JSON values."""
        return {
            "name": self.name,
            "pretokenizer": self.pretokenizer,
            "ids": self.ids,
            "violations": self.violations,
            "per_million": self.per_million,
            "kinds": [{"kind": kind, "count": count} for kind, count in self.kinds.items()],
            "out_of_range": self.out_of_range,
            "mistakes": [
                {**mistake._asdict(), "kind": mistake.kind.value, "reason": sentence(mistake)}
                for mistake in self.mistakes
            ],
            "error": self.error,
        }


@dataclass(frozen=True, slots=True)
class Identification(Guided):
    """Which of some tokenizers made a store; truthy if the first one has no violations and no mistakes.

    Attributes
    ----------
    path : str
    format : str
        The format of the files.
    dtype : str or None
        The integer type as which the ids were read; None if they are written as text.
    is_recorded : bool
        Whether the store records that type or the caller gave it; otherwise it is the one that fits best.
    ids : int or None
        The number of ids in the store; None if that is not known without reading it.
    is_whole : bool
        Whether all of it was read.
    stretches : tuple of pairs of a Place and an int
        What was read: where each stretch begins, and its number of ids.
    candidates : tuple of Candidate
        The fewest violations per million ids first; those that cannot be judged last.
    broken : tuple of Problem
        What could not be read.
    """

    path: str
    format: str
    dtype: str | None
    is_recorded: bool
    ids: int | None
    is_whole: bool
    stretches: tuple[tuple[Place, int], ...]
    candidates: tuple[Candidate, ...]
    broken: tuple[Problem, ...] = ()

    @property
    def best(self) -> Candidate:
        """The candidate with the fewest violations per million ids."""
        return self.candidates[0]

    @property
    def read(self) -> int:
        """The number of ids that were read."""
        return sum(n for _, n in self.stretches)

    def __bool__(self) -> bool:
        """Return whether the first candidate has no violations and no mistakes."""
        return self.best.violations == 0 and not self.best.mistakes and self.best.error is None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return {
            "fits": bool(self),
            "path": self.path,
            "format": self.format,
            "dtype": self.dtype,
            "dtype_is_recorded": self.is_recorded,
            "ids": self.ids,
            "read": self.read,
            "is_whole": self.is_whole,
            "stretches": [{**place._asdict(), "ids": n} for place, n in self.stretches],
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            "broken": [{"where": problem.where, "what": problem.what} for problem in self.broken],
        }
