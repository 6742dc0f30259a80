"""The causes of violations on a page: groups of equal ones, and where in their documents violations are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokdfa.draw.graph import word_label
from tokdfa.draw.report import page as html
from tokdfa.jobs.rollouts.result import counted
from tokdfa.jobs.rollouts.seams import Seam
from tokdfa.jobs.shards.report import Report
from tokdfa.jobs.validation.groups import Group
from tokdfa.jobs.validation.violation import ViolationKind

MOST_GROUPS = 100
_MEANINGS = {kind.value: kind.meaning for kind in ViolationKind}


def causes(report: Report, spelling: html.Spelling, most: int = MOST_GROUPS) -> Iterator[html.Markup]:
    """Yield sections on the groups of violations in a report, and on the tenths of documents that these are in."""
    if report.groups:
        yield html.tag(
            "section",
            html.tag("h2", "The same violation again and again"),
            html.tag("p", *_explained(report)),
            _table(report.groups[:most], spelling, len(report.groups), report.groups_error),
            class_="apart",
        )
    if report.violations:
        whole = counted(report.documents, "document")
        said = (
            f"Each of the {whole} is divided into ten parts of the same length; most violations, "
            f"{max(report.tenths):,}, are in part {report.tenths.index(max(report.tenths)) + 1}."
        )
        names = ("beginning", "middle", "end")
        bars = [(part, f"part {part + 1} of 10: {n:,}", n) for part, n in enumerate(report.tenths) if n]
        chart = html.chart(bars, len(report.tenths), said, names)
        yield html.tag("section", html.tag("h2", "Where in the documents"), chart)


def _explained(report: Report) -> Iterator[str]:
    yield (
        "A row has all violations with the same ids where the same other ids belong: a program that makes one mistake "
        "makes it many times, so look at the first rows first."
    )
    if report.groups_error:
        yield (
            f" There are too many different violations to count all: a row may have up to {report.groups_error:,} more "
            "than it says, and rows may be missing that have no more than that."
        )


def _table(groups: Sequence[Group], spelling: html.Spelling, n: int, error: int) -> html.Markup:
    is_all = len(groups) == n and not error
    which = "all" if is_all else f"the first {len(groups):,} of {'more than ' * bool(error)}{n:,}"
    return html.data_table(
        f"Given ids, and the ids that belong there: {which}",
        ("Given, and what belongs there", "Times", "Cause, and where first"),
        ((pair(group, spelling), f"{group.count:,}", cause(group, _where(group))) for group in groups),
    )


def pair(group: Group | Seam, spelling: html.Spelling) -> html.Markup:
    """Return the ids of a group, the canonical ids, and the text around the first violation, one below the other."""
    if isinstance(group, Seam):
        # Where parts meet, spaces and ends of lines matter.
        sides = (html.tag("bdi", word_label(side)) for side in (group.left, group.right))
        text = next(sides), html.tag("mark", " + "), next(sides)
    else:
        middle = html.tag("mark", html.tag("bdi", group.text))
        text = html.tag("bdi", group.before), middle, html.tag("bdi", group.after)
    return html.Markup(
        html.tag("span", spelling.labels(group.ids), class_="ids")
        + html.tag("span", "→ ", class_="sr")
        + html.tag("span", belonging(group.canonical_ids, spelling), class_="ids belongs")
        + html.tag("span", *text, class_="meaning")
    )


def belonging(canonical: Sequence[int] | None, spelling: html.Spelling) -> html.Markup | str:
    """Return the labels of canonical ids."""
    return "none: no text has these ids" if canonical is None else spelling.labels(canonical)


def cause(group: Group | Seam, where: str) -> html.Markup:
    """Return the rule that keeps ids apart, or else the meaning of the kind, and where the first violation is."""
    reason = html.tag("span", f"{_MEANINGS[group.kind]}")
    if group.rule is not None and group.merge is not None:
        reason = html.tag("span", f"rule {group.rule:,} merges ", html.tag("bdi", " + ".join(group.merge)))
    return html.Markup(reason + html.tag("span", where, class_="meaning"))


def _where(group: Group) -> str:
    unit = "" if group.unit == "token" else f"{group.unit} {group.number:,}, "
    return f"{group.file}, {unit}token {group.token:,}"
