"""The answer of identification: candidates, ranked by their violations, and the mistakes that are likely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.suggestions import SuggestsNames
from tokdfa.base.verdict import DescribedEnum, cut_short
from tokdfa.stores.store import Location, Problem

_SHOWN = 8


class MistakeKind(DescribedEnum):
    """The likely mistake in ids that almost fit a tokenizer. The values are stable: ``--json`` prints them.

    Attributes
    ----------
    meaning : str
        One sentence that describes the mistake.
    """

    SHIFTED_IDS = "shifted-ids", "A constant was added to all ids."
    DTYPE = "dtype", "The ids are integers of another type."
    BYTE_ORDER = "byte-order", "The ids are integers in the other byte order."
    CUT_TO_16_BITS = "cut-to-16-bits", "Ids from 65,536 on were written as uint16, so only the lower 16 bits are left."
    SPECIAL_IDS = "special-ids", "Ids are used as special tokens, and the tokenizer does not have such special tokens."
    SPECIALS_AS_TEXT = "specials-as-text", "Special tokens were encoded as the text of their names."
    ANOTHER_VERSION = "another-version", "Another version of the tokenizer made the ids, or one that splits otherwise."


class Mistake(NamedTuple):
    """A likely mistake, and the violations left once it is corrected.

    Attributes
    ----------
    kind : MistakeKind
    per_million : float
        The number of violations per million ids that are left.
    dtype : str or None
        The type of the integers, as numpy names it; for ``dtype`` and ``byte-order``.
    offset : int or None
        The number that was added to the ids; for ``shifted-ids``.
    ids : tuple of int
        The ids that are used as special tokens; for ``special-ids``, at most 16 of them.
    """

    kind: MistakeKind
    per_million: float
    dtype: str | None = None
    offset: int | None = None
    ids: tuple[int, ...] = ()

    @property
    def reason(self) -> str:
        """The mistake in one sentence without a full stop, and the violations left when it is corrected."""
        return f"{self._said}; then {self.per_million:,.0f} per million are left"

    @property
    def _said(self) -> str:
        match self.kind:
            case MistakeKind.SHIFTED_IDS:
                offset = self.offset or 0
                how = "added to" if offset > 0 else "subtracted from"
                return f"the ids are shifted: {abs(offset):,} was {how} each"
            case MistakeKind.DTYPE:
                return f"the ids are of another integer type: read them as {self.dtype}"
            case MistakeKind.BYTE_ORDER:
                order = "big" if np.dtype(self.dtype).str.startswith(">") else "little"
                return f"the ids are in the other byte order: read them as {self.dtype}, {order}-endian"
            case MistakeKind.CUT_TO_16_BITS:
                return "ids from 65,536 on were cut to 16 bits when they were written, and are lost"
            case MistakeKind.SPECIAL_IDS:
                ids = " ".join(map(str, self.ids[:_SHOWN])) + " …" * (len(self.ids) > _SHOWN)
                which = f"the id {ids} is" if len(self.ids) == 1 else f"the ids {ids} are"
                return f"{which} used as special tokens, and this tokenizer has no such special tokens"
            case MistakeKind.SPECIALS_AS_TEXT:
                return "special tokens were encoded as the text of their names"
        return "another version of this tokenizer made the ids, or one that splits text otherwise"


@dataclass(frozen=True, slots=True)
class Candidate(SuggestsNames):
    """A tokenizer that may have made a store, and the evidence against it.

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
                {**mistake._asdict(), "kind": mistake.kind.value, "reason": mistake.reason} for mistake in self.mistakes
            ],
            "error": self.error,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Identification(SuggestsNames):
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
    segments : tuple of pairs of a Location and an int
        The segments read: where each begins, and its number of ids.
    candidates : tuple of Candidate
        The fewest violations per million ids first; candidates that cannot be judged last.
    broken : tuple of Problem
        The parts that could not be read.
    """

    path: str
    format: str
    dtype: str | None
    is_recorded: bool
    ids: int | None
    is_whole: bool
    segments: tuple[tuple[Location, int], ...]
    candidates: tuple[Candidate, ...]
    broken: tuple[Problem, ...] = ()

    @property
    def best(self) -> Candidate:
        """The candidate with the fewest violations per million ids."""
        return self.candidates[0]

    @property
    def read(self) -> int:
        """The number of ids that were read."""
        return sum(n for _, n in self.segments)

    def __bool__(self) -> bool:
        """Return whether the first candidate has no violations and no mistakes."""
        return self.best.violations == 0 and not self.best.mistakes and self.best.error is None

    def __repr__(self) -> str:
        best = self.best
        rate = "" if best.per_million is None else f"{best.per_million:,.0f} violations per million ids"
        said = "; ".join(filter(None, (rate, best.error, *(mistake.reason for mistake in best.mistakes))))
        path, name = cut_short(repr(self.path), 60), cut_short(repr(best.name), 60)
        return f"Identification({bool(self)}: {path}, {self.read:,} ids read; best {name}, {cut_short(said, 120)})"

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
            "segments": [{**location._asdict(), "ids": n} for location, n in self.segments],
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            "broken": [{"where": problem.where, "what": problem.what} for problem in self.broken],
        }
