"""The report on the files of a model's folder: the page that is attached to a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokdfa.draw.report import page as html
from tokdfa.jobs.examination.finding import Examination, Finding, Group, Severity

__all__ = ["ExaminationReport"]

# The worst findings come first.
_ORDER = (Severity.FAULT, Severity.UNKNOWN, Severity.WARNING, Severity.OK)


class ExaminationReport(html.Report):
    """A page that shows what is wrong in a model's folder, and what was checked.

    Parameters
    ----------
    found : Examination
        The result of :func:`tokdfa.doctor`.
    name : str
        What was examined.
    known : iterable of Finding
        Findings that are accepted.
    """

    def __init__(self, found: Examination, name: str = "folder", known: Iterable[Finding] = ()) -> None:
        self.verdict = found
        self._name = name
        self._known = [*known]

    def __repr__(self) -> str:
        return f"<ExaminationReport: {self.verdict.counts['fault']} faults>"

    def to_html(self, *, max_shown: int | None = None) -> str:
        """Return the page; see :meth:`Report.to_html`."""
        found, counts = self.verdict, self.verdict.counts
        heading = {0: "No fault", 1: "Faults", 2: "Not decided"}[found.status]
        said = ", ".join(f"{counts[str(severity)]:,} {severity}" for severity in _ORDER)
        tables = [self._table(group, [each for each in found.findings if each.group == group]) for group in Group]
        return html.page(
            f"{heading}: {self._name}",
            html.verdict(bool(found), heading, self._name, f"{said}."),
            html.tag("section", html.tag("h2", "Findings"), *filter(None, tables), class_="tables"),
        )

    def _table(self, group: Group, findings: Sequence[Finding]) -> str:
        ranked = sorted(findings, key=lambda finding: [*map(str, _ORDER)].index(finding.severity))
        rows = [self._row(finding) for finding in ranked]
        return (
            html.data_table(f"{group}: {group.meaning}", ("", "Finding", "What to do", "Files"), rows) if rows else ""
        )

    def _row(self, finding: Finding) -> tuple[str, ...]:
        known = " (known)" if finding in self._known else ""
        files = ", ".join(finding.where)
        return (f"{finding.severity}{known}", html.tag("bdi", finding.sentence), finding.remedy, html.tag("bdi", files))
