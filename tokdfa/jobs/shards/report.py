"""The findings in shards of a corpus; reports of different shards add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from tokdfa.base.suggestions import SuggestsNames
from tokdfa.jobs.shards.tenths import N_TENTHS
from tokdfa.jobs.validation.groups import Group, GroupSum

__all__ = ["Broken", "Finding", "Group", "Report", "WrongDocument", "total"]

FIRST = 3
"""The number of first violations of each kind that are kept."""

WORST = 10
"""The number of worst documents that are kept."""

_COUNTS = {"kinds": "kind", "rules": "rule", "dead": "id"}
"""The counts of a report, and what their keys are."""


class Finding(NamedTuple):
    """A violation, or an id out of range, with where it is.

    Attributes
    ----------
    file, unit, number, token
        Where it is in the file; see :class:`tokdfa.stores.Location`.
    kind : str
        The value of a :class:`~tokdfa.ViolationKind`, or ``id-out-of-range``.
    ids : tuple of int
        The ids of the piece concerned, at most 16 of them.
    canonical_ids : tuple of int or None
        The ids that belong there, at most 16; None if no text has these bytes.
    rule : int or None
        The rule that keeps two ids apart.
    reason : str
        The violation in one sentence.
    """

    file: str
    unit: str
    number: int
    token: int
    kind: str
    ids: tuple[int, ...]
    canonical_ids: tuple[int, ...] | None
    rule: int | None
    reason: str


class WrongDocument(NamedTuple):
    """A document that is not canonical: how often, and where; the most violations come first."""

    violations: int
    file: str
    unit: str
    number: int


class Broken(NamedTuple):
    """A shard that could not be read to its end; the part read before is counted."""

    file: str
    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Report(SuggestsNames):
    """The findings in some shards.

    Adding is associative and commutative, and ``Report()`` is its zero, so shards may be checked anywhere and in any
    order.

    Attributes
    ----------
    shards : int
        The number of shards, broken ones included.
    ids : int
        The number of ids that were read.
    documents, empty_documents, wrong_documents, unbegun_documents, unended_documents : int
        The numbers of documents: of all, of the empty ones, of the ones that are not canonical, and of the ones with a
        first id that is not a special token, or a last id that does not end documents. A shard that does not say where
        documents begin is one document.
    kinds : dict of str to int
        The number of violations of each kind.
    rules : dict of int to int
        The number of violations by each rule.
    tenths : tuple of int
        The number of violations in each tenth of their documents.
    groups : tuple of Group
        Equal violations, the most frequent groups first, at most 4,096 of a shard.
    groups_error : int
        By how much the count of a group may be too low, and the largest count that a group left out may have; 0 if all
        groups are there, and exact.
    dead : dict of int to int
        How often ids occur that no text is encoded as.
    out_of_range, unknown, fallback : int
        The numbers of ids that the tokenizer does not have, of unknown tokens, and of tokens for single bytes of a
        tokenizer that falls back on them.
    first : tuple of Finding
        The first violations of each kind, by file and position.
    worst : tuple of WrongDocument
        The documents with the most violations.
    broken : tuple of Broken
        The shards that could not be read to their end.

    Examples
    --------
    >>> import tempfile
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/a.npy", tokenizer.encode("a single man"))
    ...     np.save(f"{folder}/b.npy", [64, 261, 1193])
    ...     reports = [tokdfa.check_shard(tokenizer, f"{folder}/{name}.npy") for name in "ab"]
    >>> total = sum(reports, tokdfa.Report())
    >>> bool(total), total.shards, total.ids, total.kinds
    (False, 2, 6, {'pair': 1})
    """

    shards: int = 0
    ids: int = 0
    documents: int = 0
    empty_documents: int = 0
    wrong_documents: int = 0
    unbegun_documents: int = 0
    unended_documents: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    rules: Mapping[int, int] = field(default_factory=dict)
    tenths: tuple[int, ...] = (0,) * N_TENTHS
    groups: tuple[Group, ...] = ()
    groups_error: int = 0
    dead: Mapping[int, int] = field(default_factory=dict)
    out_of_range: int = 0
    unknown: int = 0
    fallback: int = 0
    first: tuple[Finding, ...] = ()
    worst: tuple[WrongDocument, ...] = ()
    broken: tuple[Broken, ...] = ()

    @property
    def violations(self) -> int:
        """The number of violations, ids out of range included."""
        return sum(self.kinds.values()) + self.out_of_range

    def __bool__(self) -> bool:
        """Return whether all shards could be read and are canonical."""
        return not self.violations and not self.broken

    def __add__(self, other: Report) -> Report:
        """Return the report on the shards of both."""
        if not isinstance(other, Report):
            return NotImplemented
        return total((self, other))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        values: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        for name, key in _COUNTS.items():
            values[name] = [{key: each, "count": count} for each, count in getattr(self, name).items()]
        for name in ("first", "worst", "broken"):
            values[name] = [row._asdict() for row in getattr(self, name)]
        values["groups"] = [group.to_dict() for group in self.groups]
        values["tenths"] = [*self.tenths]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Report:
        """Return the report that :meth:`to_dict` made these values of."""
        own = dict(values)
        for name, key in _COUNTS.items():
            own[name] = {row[key]: row["count"] for row in own[name]}
        own["tenths"] = tuple(own["tenths"])
        own["groups"] = tuple(map(Group.from_dict, own["groups"]))
        own["first"] = tuple(map(_finding, own["first"]))
        own["worst"] = tuple(WrongDocument(**row) for row in own["worst"])
        own["broken"] = tuple(Broken(**row) for row in own["broken"])
        return cls(**own)


def total(reports: Iterable[Report]) -> Report:
    """Return the sum of reports, which are taken one by one: none is kept.

    Examples
    --------
    >>> total([Report(shards=1, ids=3), Report(shards=1, ids=4)]).ids
    7
    """
    sums: Counter[str] = Counter()
    counts: dict[str, Counter[Any]] = {name: Counter() for name in _COUNTS}
    groups = GroupSum()
    tenths = [0] * N_TENTHS
    kept: dict[str, tuple[Any, ...]] = dict.fromkeys(_KEPT, ())
    for report in reports:
        sums.update({name: getattr(report, name) for name in _SUMS})
        for name, mine in counts.items():
            mine.update(getattr(report, name))
        groups.add(report.groups, report.groups_error)
        tenths = [*map(sum, zip(tenths, report.tenths, strict=True))]
        kept = {name: choose(kept[name] + getattr(report, name)) for name, choose in _KEPT.items()}
    values: dict[str, Any] = {name: sums[name] for name in _SUMS} | kept
    values |= {name: dict(sorted(mine.items())) for name, mine in counts.items()}
    values |= {"tenths": tuple(tenths), "groups": groups.largest(), "groups_error": groups.error}
    return Report(**values)


def first_of(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the first findings of each kind, in order."""
    kept: list[Finding] = []
    numbers: Counter[str] = Counter()
    for finding in sorted(found, key=_order):
        numbers[finding.kind] += 1
        if numbers[finding.kind] <= FIRST:
            kept.append(finding)
    return tuple(kept)


def worst_of(documents: Iterable[WrongDocument]) -> tuple[WrongDocument, ...]:
    """Return the documents with the most violations; among equals the first ones."""
    return tuple(sorted(documents, key=lambda each: (-each.violations, *each[1:]))[:WORST])


def _order(finding: Finding) -> tuple[Any, ...]:
    canonical = finding.canonical_ids
    rest = (canonical is not None, canonical or (), -1 if finding.rule is None else finding.rule, finding.reason)
    return (*finding[:4], finding.kind, finding.ids, *rest)


def _finding(row: Mapping[str, Any]) -> Finding:
    canonical = row["canonical_ids"]
    own = {"ids": tuple(row["ids"]), "canonical_ids": None if canonical is None else tuple(canonical)}
    return Finding(**{**row, **own})


def _sorted(broken: tuple[Broken, ...]) -> tuple[Broken, ...]:
    return tuple(sorted(broken))


_KEPT: dict[str, Callable[[tuple[Any, ...]], tuple[Any, ...]]] = {
    "first": first_of,
    "worst": worst_of,
    "broken": _sorted,
}
_SUMS = tuple(each.name for each in fields(Report) if each.type == "int" and each.name != "groups_error")
