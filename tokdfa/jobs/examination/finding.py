"""What a check finds, as data: its group, its kind, how bad it is, the files, and values such as a witness."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tokdfa.base.errors import TokdfaError
from tokdfa.base.verdict import DescribedEnum, Displayed

__all__ = ["Examination", "Finding"]


class Severity(DescribedEnum):
    """How bad a finding is."""

    OK = "ok", "The check was made, and nothing is wrong."
    WARNING = "warning", "It works, but some texts or uses may surprise."
    FAULT = "fault", "Two files contradict each other, or some ids or texts are wrong."
    UNKNOWN = "unknown", "The check could not be made."


class Group(DescribedEnum):
    """A group of checks."""

    FILES = "files", "Which tokenizers and other files there are, and whether they can be read."
    AGREEMENT = "agreement", "Whether the tokenizers give every text the same ids."
    IDS = "ids", "Whether sizes and ids fit the tokenizer."
    SPECIAL_TOKENS = "special tokens", "Whether special tokens exist, are not split, and have one id."
    TEMPLATE = "template", "Whether the chat template writes tokens that exist, and ends turns."
    DICTIONARY = "dictionary", "Whether each token can occur."
    DECODING = "decoding", "Whether decoding gives the text back."
    UNICODE = "unicode", "Whether library versions with other Unicode tables give the same ids."


@dataclass(frozen=True, slots=True)
class Finding(Displayed):
    """What a check finds.

    Attributes
    ----------
    group : str
        The group of the check, such as "ids".
    kind : str
        What is found, such as "vocabulary too small".
    severity : {"ok", "warning", "fault", "unknown"}
        How bad it is.
    where : tuple of str
        The names of the files.
    values : dict
        Numbers and texts, which the sentence quotes; a witness is among them.
    is_optional : bool
        Whether an unknown does not count, because it needs a package that is not installed.

    Examples
    --------
    >>> finding = tokdfa.Finding("ids", "size fits", "ok", ("config.json",), {"size": 320, "ids": 300})
    >>> print(finding.sentence)
    vocab_size 320 has room for all 300 ids
    """

    group: str
    kind: str
    severity: str
    where: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    is_optional: bool = False

    @property
    def sentence(self) -> str:
        """The finding in words, without a full stop."""
        from tokdfa.jobs.examination.sentences import sentence_of

        return sentence_of(self.kind, self.values)

    @property
    def remedy(self) -> str:
        """What to do about it; empty where there is nothing to do."""
        from tokdfa.jobs.examination.sentences import remedy_of

        return "" if self.severity == Severity.OK else remedy_of(self.kind, self.values)

    @property
    def counts(self) -> bool:
        """Whether it counts against the folder: a fault, or a check that should have been made."""
        return self.severity == Severity.FAULT or (self.severity == Severity.UNKNOWN and not self.is_optional)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        return {
            "group": str(self.group),
            "kind": self.kind,
            "severity": str(self.severity),
            "where": [*self.where],
            "values": json.loads(json.dumps(dict(self.values))),
            "optional": self.is_optional,
            "sentence": self.sentence,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class Examination(Displayed):
    """The findings about a folder; truthy if none is a fault, and all checks were made.

    Attributes
    ----------
    findings : tuple of Finding
        In the order of the groups.
    tokenizers : tuple of str
        The tokenizers that were loaded; the first one is the standard for the other files.

    Examples
    --------
    >>> found = tokdfa.doctor(tokdfa.default_tokenizer())
    >>> bool(found), found.counts["fault"]
    (True, 0)
    """

    findings: tuple[Finding, ...]
    tokenizers: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not any(finding.counts for finding in self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings of each severity."""
        severities = [finding.severity for finding in self.findings]
        return {str(severity): severities.count(severity) for severity in Severity}

    @property
    def status(self) -> int:
        """The exit status: 1 with a fault, 2 if a check could not be made, otherwise 0."""
        return status_of(self.findings)

    def new(self, known: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
        """Return the findings that are not among those of an earlier `to_dict`.

        Parameters
        ----------
        known : iterable of dict
            The ``findings`` of the earlier one.
        """
        accepted = {_key(finding) for finding in known}
        return tuple(finding for finding in self.findings if _key(finding.to_dict()) not in accepted)

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as JSON values."""
        return {
            "tokenizers": [*self.tokenizers],
            "counts": self.counts,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def status_of(findings: Iterable[Finding]) -> int:
    """Return the exit status for findings: 1 with a fault, 2 if a check could not be made, otherwise 0."""
    counting = {finding.severity for finding in findings if finding.counts}
    return 1 if Severity.FAULT in counting else 2 if counting else 0


def _key(finding: Mapping[str, Any]) -> str:
    """Return what makes two findings the same one: all but the words."""
    names = "group", "kind", "severity", "where", "values"
    return json.dumps([finding.get(name) for name in names], sort_keys=True)


def guarded(group: Group, check: str, make: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """Yield the findings of a check; if it raises an error, an unknown with the reason comes last."""
    try:
        yield from make()
    except (TokdfaError, OSError) as error:
        yield Finding(group, "check not made", Severity.UNKNOWN, (), {"check": check, "reason": reason_of(error)})


def reason_of(error: Exception) -> str:
    """Return the message of an error, without the file that it repeats."""
    return getattr(error, "what", "") or getattr(error, "strerror", "") or str(error)
