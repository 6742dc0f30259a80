"""The report on rollouts: each class of spans by itself, by position, by kind and by rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from tokdfa.automata.alphabet import Word
from tokdfa.draw.report import page as html
from tokdfa.draw.report.causes import belonging, cause, pair
from tokdfa.draw.report.masks import mask_sections
from tokdfa.jobs.rollouts.masks import MaskTally
from tokdfa.jobs.rollouts.result import PARTS, Example, Tally, counted
from tokdfa.jobs.rollouts.spans import SpanClass
from tokdfa.tokenizers.protocol import AnyTokenizer

MOST_ROWS = 20
MOST_EXAMPLES = 100
_HEADINGS = {SpanClass.BUG: "Bugs", SpanClass.DRIFT: "Drift", SpanClass.JUNCTION: "Junctions"}

_BEGINS = {SpanClass.BUG: "bugs begin", SpanClass.DRIFT: "drift begins", SpanClass.JUNCTION: "junctions begin"}


class RolloutsReport(html.Report):
    """A page that sorts the violations in rollouts into bugs, drift and junctions.

    `tally` has the sums and the examples to show, `masks` the loss masks, if these were checked; `bad` has the
    locations and faults of the first of `n_bad` bad records; `title` and `source` are the names of the tokenizer and of
    the files.
    """

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        tally: Tally,
        masks: MaskTally | None = None,
        *,
        bad: Sequence[tuple[str, str]] = (),
        n_bad: int = 0,
        title: str = "",
        source: str = "",
    ) -> None:
        self._tally = tally
        self._masks = masks
        self._bad = bad
        self._n_bad = n_bad
        self._title = title or tokenizer.format
        self._source = source
        self._spelling = html.Spelling(tokenizer)

    def __repr__(self) -> str:
        return f"<RolloutsReport: {self._tally.reason}>"

    def to_html(self, *, max_shown: int | None = None) -> str:
        """Return the page; see :meth:`Report.to_html`."""
        tally = self._tally
        faults = [] if self._masks is None else self._masks.findings
        good = not tally.counts.bugs and not self._n_bad and not faults
        heading = "No bugs" if not tally.counts.bugs and not self._n_bad else counted(tally.counts.bugs, "bug")
        if faults:
            heading += f", {counted(len(faults), 'fault')} of the masks"
        sentences = [f"{tally.reason}."]
        if self._n_bad:
            sentences.append(f"{counted(self._n_bad, 'record')} could not be checked.")
        most = MOST_EXAMPLES if max_shown is None else min(max_shown, MOST_EXAMPLES)
        return html.page(
            f"Rollouts: {self._title}",
            html.verdict(good, heading, *sentences),
            self._facts(),
            *(() if self._masks is None else mask_sections(self._masks, most)),
            self._overview(),
            *(self._section(each, most) for each in SpanClass if getattr(tally.counts, each.value)),
            *self._bad_records(),
        )

    def _facts(self) -> html.Markup:
        tally = self._tally
        rows = [
            ("Files", self._source),
            ("Tokenizer", self._title),
            ("Rollouts", f"{tally.rollouts:,}"),
            ("Ids", f"{tally.tokens:,}"),
            ("Sampled", f"{tally.sampled:,}"),
        ]
        return html.facts(row for row in rows if row[1])

    def _overview(self) -> html.Markup:
        tally = self._tally
        whole = {
            SpanClass.BUG: tally.tokens - tally.sampled,
            SpanClass.DRIFT: tally.sampled,
            SpanClass.JUNCTION: tally.tokens,
        }
        of = {SpanClass.BUG: "those not sampled", SpanClass.DRIFT: "those sampled", SpanClass.JUNCTION: "all"}

        def row(each: SpanClass) -> tuple[str, ...]:
            n_ids = getattr(tally.ids_in, each.value)
            spans, rollouts = getattr(tally.counts, each.value), getattr(tally.rollouts_with, each.value)
            # The others are explained in sections of their own; here it would make the table too wide for a phone.
            meaning = "" if spans else html.tag("span", each.meaning, class_="meaning")
            name = html.Markup(html.tag("span", _HEADINGS[each]) + meaning)
            share = f"{100 * getattr(tally.shares, each.value):.4f}\u00a0% of {of[each]}"
            return name, f"{spans:,}", f"{rollouts:,}", f"{n_ids:,}", share, html.bar(n_ids, whole[each])

        heads = ("Class", "Spans", "Rollouts", "Ids", "Share", "")
        table = html.data_table(
            "What is not canonical, by who wrote it", heads[:-1], (row(each)[:-1] for each in SpanClass)
        )
        return html.tag("section", html.tag("h2", "Classes"), table, class_="tables")

    def _section(self, each: SpanClass, most: int) -> html.Markup:
        return html.tag(
            "section",
            html.tag("h2", _HEADINGS[each], id=each.value),
            html.tag("p", each.meaning),
            self._positions(each),
            *self._seams(each, most),
            html.tag("div", self._kinds(each), *self._rules(each), class_="tables halves"),
            self._examples(each, most),
            class_="apart",
        )

    def _seams(self, each: SpanClass, most: int) -> Iterator[html.Markup]:
        """Yield a table of the seams with the most spans: the roles and the text on both sides, and the ids."""
        found = self._tally.seams.seams(most, each)
        error = self._tally.seams.error
        more = f"; up to {error:,} more of each" if error else ""
        yield html.data_table(
            f"{_HEADINGS[each]} by seam, the place where two parts of a rollout meet: the first {len(found):,}{more}",
            ("Parts, text, and what belongs there", "Times", "Cause, and where first"),
            (
                (
                    html.Markup(html.tag("span", f"{seam.before} + {seam.after}") + pair(seam, self._spelling)),
                    f"{seam.count:,}",
                    cause(seam, f"{seam.source}, token {seam.token:,}"),
                )
                for seam in found
            ),
        )

    def _positions(self, each: SpanClass) -> html.Markup:
        """Return a chart of the positions in the rollouts at which spans begin."""
        counts = [self._tally.positions[each, part] for part in range(PARTS)]
        bars = [
            (part, f"from {100 * part // PARTS} % to {100 * (part + 1) // PARTS} % of a rollout: {count:,}", count)
            for part, count in enumerate(counts)
            if count
        ]
        most = max(counts)
        part = counts.index(most)
        said = (
            f"Where {_BEGINS[each]} in their rollouts: most, {most:,} of {sum(counts):,}, "
            f"from {100 * part / PARTS:g} % to {100 * (part + 1) / PARTS:g} %."
        )
        ends = ("first id, 0 %", "50 %", "last id, 100 %")
        return html.chart(bars, PARTS, said, ends)

    def _kinds(self, each: SpanClass) -> html.Markup:
        counts = {kind: count for (name, kind), count in self._tally.kinds.items() if name == each}
        return html.kind_table(f"{_HEADINGS[each]} by kind", "Spans", counts)

    def _rules(self, each: SpanClass) -> Iterator[html.Markup]:
        counts = {rule: count for (name, rule), count in self._tally.rules.items() if name == each}
        if counts:
            caption, whole = f"{_HEADINGS[each]} by rule", sum(counts.values())
            yield html.rule_table(caption, "Spans", counts, self._merge, most=MOST_ROWS, whole=whole)

    def _merge(self, rule: int) -> str:
        left, right = self._tally.merges[rule]
        return html.merge_label(cast("Word", left), cast("Word", right))

    def _examples(self, each: SpanClass, most: int) -> html.Markup:
        """Return a table of the first different spans, the most frequent first."""
        found = [example for example in self._tally.examples if example.span_class == each][:most]
        if not found:
            return html.Markup("")
        table = html.data_table(
            f"{_HEADINGS[each]}: {counted(len(found), 'different span')}, "
            f"{sum(example.count for example in found):,} of {getattr(self._tally.counts, each.value):,} in all",
            ("Given", "Canonical", "Times", "First", "Id", "Its text", "Reason"),
            (
                (
                    self._spelling.labels(example.violation.ids),
                    belonging(example.violation.canonical_ids, self._spelling),
                    f"{example.count:,}",
                    "\u00a0".join(example.source.rsplit(" ", 1)),
                    f"{example.violation.index:,}",
                    self._text_around(example),
                    html.tag("bdi", example.violation.reason),
                )
                for example in sorted(found, key=lambda example: -example.count)
            ),
        )
        return html.tag("div", table, class_="wide")

    def _text_around(self, example: Example) -> html.Markup:
        """Return the text of a span, marked, between the text of the ids before and after it."""
        before, within, after = (
            "".join(map(self._spelling.label, ids))
            for ids in (example.before, example.violation.ids[:8], example.after)
        )
        return html.tag("bdi", before, html.tag("mark", within), after, class_="id")

    def _bad_records(self) -> Iterator[html.Markup]:
        if self._n_bad:
            caption = f"Records that could not be checked: the first {len(self._bad):,} of {self._n_bad:,}"
            table = html.data_table(caption, ("Where", "What is wrong"), self._bad[:MOST_EXAMPLES])
            yield html.tag("section", html.tag("h2", "Bad records"), table, class_="tables")
