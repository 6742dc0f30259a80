"""The answer of identification: candidates, ranked by their violations, and the mistakes that are likely."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.suggestions import SuggestsNames
from tokdfa.base.verdict import DescribedEnum, cut_short
from tokdfa.stores.store import Location, Problem

HARDLY_ANY = 2
"""The violations that a file cut anywhere may have at both ends, which are not held against a candidate."""

_SHOWN = 8
# Candidates with at most so many times the least violations are not told apart.
_NEARLY = 1.1


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
    MIXED = "mixed", "Another tokenizer made a part of the ids."


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
    parts : tuple of pairs of a str and a Location
        The tokenizer of each part, and from where on it is known to be of it; for ``mixed``.
    """

    kind: MistakeKind
    per_million: float
    dtype: str | None = None
    offset: int | None = None
    ids: tuple[int, ...] = ()
    parts: tuple[tuple[str, Location], ...] = ()

    @property
    def reason(self) -> str:
        """The mistake in one sentence without a full stop, and the violations left when it is corrected."""
        return f"{self.said}; then {self.per_million:,.0f} per million are left"

    @property
    def said(self) -> str:
        """The mistake in a few words."""
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
            case MistakeKind.MIXED:
                parts = "; ".join(f"{name} from {where} on" for name, where in self.parts)
                return f"several tokenizers made the ids: {parts}"
        return "another version of this tokenizer made the ids, or one that splits text otherwise"

    def to_dict(self) -> dict[str, Any]:
        """Return the mistake as JSON values."""
        parts = [{"name": name, "begin": begin._asdict()} for name, begin in self.parts]
        return {**self._asdict(), "kind": self.kind.value, "reason": self.reason, "parts": parts}


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
    fits : bool
        Whether it made the ids, or a version of it, once the mistakes are corrected.
    error : str or None
        Why the tokenizer cannot be judged.
    """

    name: str
    pretokenizer: str | None = None
    ids: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    out_of_range: int = 0
    mistakes: tuple[Mistake, ...] = ()
    fits: bool = False
    error: str | None = None

    @property
    def violations(self) -> int:
        """The number of violations, ids that the tokenizer does not have included."""
        return sum(self.kinds.values()) + self.out_of_range

    @property
    def per_million(self) -> float | None:
        """The number of violations per million ids; None if the tokenizer is not judged."""
        return 1e6 * self.violations / self.ids if self.ids else None

    @property
    def left(self) -> float:
        """The number of violations per million ids that are left once the mistakes are corrected."""
        left = self.mistakes[-1].per_million if self.mistakes else self.per_million
        return np.inf if left is None else left

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
            "mistakes": [mistake.to_dict() for mistake in self.mistakes],
            "fits": self.fits,
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
        Those that fit first, then by the violations per million ids; candidates that cannot be judged last.
    is_enough : bool
        Whether there are enough different ids to tell candidates apart that have some violations.
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
    is_enough: bool = True
    broken: tuple[Problem, ...] = ()

    @property
    def best(self) -> Candidate:
        """The first candidate."""
        return self.candidates[0]

    @property
    def makers(self) -> tuple[Candidate, ...]:
        """The candidates that fit best once their mistakes are corrected; several if they leave as many violations."""
        fitting = [candidate for candidate in self.candidates if candidate.fits]
        least = min((candidate.left for candidate in fitting), default=0.0)
        return tuple(
            candidate
            for candidate in fitting
            if candidate.left <= _NEARLY * least + 1e6 * HARDLY_ANY / max(candidate.ids, 1)
        )

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
            "makers": [maker.name for maker in self.makers],
            "is_enough": self.is_enough,
            "broken": [{"where": problem.where, "what": problem.what} for problem in self.broken],
        }


class Group(NamedTuple):
    """Stores that the same tokenizers made, with the same mistakes.

    Attributes
    ----------
    makers : tuple of str
        The names of the tokenizers; empty if none of them fits.
    mistakes : tuple of Mistake
        The mistakes in the first store.
    is_enough : bool
        Whether its ids are enough to tell tokenizers apart.
    paths : tuple of str
        The stores, in their order.
    """

    makers: tuple[str, ...]
    mistakes: tuple[Mistake, ...]
    is_enough: bool
    paths: tuple[str, ...]

    @property
    def said(self) -> str:
        """The tokenizers and the mistakes in a few words."""
        if not self.makers:
            return "none of the tokenizers" if self.is_enough else "undecided: too few ids to tell"
        return "; ".join((" or ".join(self.makers), *(mistake.said for mistake in self.mistakes)))

    def to_dict(self) -> dict[str, Any]:
        """Return the group as JSON values."""
        mistakes = [mistake.to_dict() for mistake in self.mistakes]
        return {**self._asdict(), "mistakes": mistakes, "reason": self.said}


def groups_of(found: Iterable[Identification]) -> list[Group]:
    """Return the stores by their tokenizers and mistakes, the largest group first."""
    groups: dict[Any, list[Identification]] = {}
    for each in found:
        makers = each.makers
        mistakes = makers[0].mistakes if makers else ()
        parts = (tuple(name for name, _ in mistake.parts) for mistake in mistakes)
        details = tuple((mistake.kind, mistake.dtype, mistake.offset, mistake.ids) for mistake in mistakes)
        key = tuple(sorted(maker.name for maker in makers)), details, tuple(parts), each.is_enough or bool(makers)
        groups.setdefault(key, []).append(each)
    return sorted(
        (
            Group(names, members[0].makers[0].mistakes if names else (), enough, tuple(each.path for each in members))
            for (names, _, _, enough), members in groups.items()
        ),
        key=lambda group: -len(group.paths),
    )
