"""The report on the files of a corpus: totals, the worst files and documents, and the first violations of each kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tokdfa.draw.report import page as html
from tokdfa.draw.report.causes import belonging, causes
from tokdfa.jobs.rollouts.result import counted
from tokdfa.jobs.shards.report import Report
from tokdfa.jobs.validation.violation import ViolationKind
from tokdfa.tokenizers.protocol import AnyTokenizer

MOST_FILES = 100
MOST_RULES = 20


class CorpusReport(html.Report):
    """A page about the shards of a corpus.

    `total` is the sum of the reports on `files`, which are by path; `title` and `source` are the names of the tokenizer
    and of the corpus.
    """

    def __init__(
        self, tokenizer: AnyTokenizer, total: Report, files: Mapping[str, Report], *, title: str = "", source: str = ""
    ) -> None:
        self._total = total
        self._files = files
        self._title = title or tokenizer.format
        self._source = source
        self._tokenizer = tokenizer
        self._spelling = html.Spelling(tokenizer)

    def __repr__(self) -> str:
        return f"<CorpusReport: {self._total.shards} files, {self._total.violations} violations>"

    def to_html(self, *, max_shown: int | None = None) -> str:
        """Return the page; see :meth:`Report.to_html`."""
        total = self._total
        heading = "Canonical" if total else "Not canonical" if total.violations else "Not all could be read"
        sentences = [
            f"{counted(total.violations, 'violation')} in {counted(total.ids, 'id')}, "
            f"{counted(total.wrong_documents, 'document')} of {total.documents:,} concerned."
            if total.violations
            else f"All {total.ids:,} ids that were read are what the tokenizer gives for their text."
        ]
        if total.broken:
            sentences.append(f"{counted(len(total.broken), 'file')} could not be read to the end.")
        sections = [
            ("Reasons", [*self._kinds(), *self._rules()], "tables halves"),
            ("Files", [*self._broken(), *self._worst_files()], "tables"),
            ("Documents", [*self._worst_documents()], "tables"),
            ("First violations of each kind", [*self._first(max_shown)], "wide"),
        ]
        return html.page(
            f"{heading}: {self._source or self._title}",
            html.verdict(bool(total), heading, *sentences),
            self._facts(),
            *causes(total, self._spelling),
            *(
                html.tag("section", html.tag("h2", name), *parts, class_=kind)
                for name, parts, kind in sections
                if parts
            ),
        )

    def _facts(self) -> html.Markup:
        total = self._total
        rows = [("Corpus", self._source), ("Tokenizer", self._title)]
        numbers = (
            ("Files", total.shards),
            ("Ids", total.ids),
            ("Documents", total.documents),
            ("Wrong documents", total.wrong_documents),
            ("Empty documents", total.empty_documents),
            ("Documents without a beginning", total.unbegun_documents),
            ("Documents without an end", total.unended_documents),
            ("Ids out of range", total.out_of_range),
            ("Unknown tokens", total.unknown),
            ("Tokens for single bytes", total.fallback),
            ("Ids that no text has", sum(total.dead.values())),
        )
        rows += [(name, f"{number:,}") for name, number in numbers if number or name in ("Files", "Ids", "Documents")]
        said = (
            "A document has no beginning, or no end, if its first or last id is not a special token. Ids out of range "
            "are not ids of the tokenizer; ids that no text has are never given by it, whatever the text."
        )
        return html.Markup(html.facts(row for row in rows if row[1]) + html.tag("p", said, class_="meaning"))

    def _kinds(self) -> Iterator[html.Markup]:
        total = self._total
        kinds = {kind.value: kind for kind in ViolationKind}
        counts = {kinds[name]: count for name, count in total.kinds.items()}
        if total.out_of_range:
            counts[ViolationKind.ID_OUT_OF_RANGE] = total.out_of_range
        if counts:
            yield html.kind_table("By kind", "Violations", counts)

    def _rules(self) -> Iterator[html.Markup]:
        total, automaton = self._total, self._tokenizer.pair_automaton
        if automaton is not None and total.rules:

            def merge(number: int) -> str:
                rule = automaton.rule(number)
                return html.merge_label(rule.left, rule.right)

            yield html.rule_table("By rule", "Violations", total.rules, merge, most=MOST_RULES, whole=total.violations)

    def _broken(self) -> Iterator[html.Markup]:
        if self._total.broken:
            caption = f"Not read to the end: {len(self._total.broken):,}"
            rows = ((each.where, each.what) for each in self._total.broken[:MOST_FILES])
            yield html.data_table(caption, ("Where", "Problem"), rows)

    def _worst_files(self) -> Iterator[html.Markup]:
        wrong = [(path, report) for path, report in self._files.items() if report.violations]
        wrong.sort(key=lambda row: (-row[1].violations, row[0]))
        if wrong:
            shown = wrong[:MOST_FILES]
            which = f"{len(shown):,} of {len(wrong):,}"
            yield html.data_table(
                f"With violations, the most first: {which}, of {counted(self._total.shards, 'file')}",
                ("File", "Ids", "Documents", "Wrong documents", "Violations", "Per 100,000 ids"),
                (
                    (
                        path,
                        f"{report.ids:,}",
                        f"{report.documents:,}",
                        f"{report.wrong_documents:,}",
                        f"{report.violations:,}",
                        f"{100_000 * report.violations / max(report.ids, 1):,.0f}",
                    )
                    for path, report in shown
                ),
            )

    def _worst_documents(self) -> Iterator[html.Markup]:
        if self._total.worst:
            yield html.data_table(
                "The worst documents",
                ("File", "Where", "Violations"),
                ((each.file, f"{each.unit} {each.number:,}", f"{each.violations:,}") for each in self._total.worst),
            )

    def _first(self, max_shown: int | None) -> Iterator[html.Markup]:
        if self._total.first:
            label = self._spelling.labels
            yield html.data_table(
                "By file and position",
                ("File", "Where", "Kind", "Given", "Canonical", "Reason"),
                (
                    (
                        found.file,
                        f"token {found.token:,}"
                        if found.unit == "token"
                        else f"{found.unit} {found.number:,}, token {found.token:,}",
                        found.kind,
                        label(found.ids),
                        belonging(found.canonical_ids, self._spelling),
                        html.tag("bdi", found.reason),
                    )
                    for found in self._total.first[:max_shown]
                ),
            )
