"""The report on the validation of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy.typing as npt

from tokdfa.base.arrays import IntegerArray
from tokdfa.base.suggestions import wrong_argument
from tokdfa.draw.report.causes import causes
from tokdfa.draw.report.collect import Collection
from tokdfa.draw.report.page import (
    Markup,
    Report,
    chart,
    data_table,
    facts,
    json_block,
    kind_table,
    merge_label,
    page,
    rule_table,
    sentence,
    tag,
    verdict,
)
from tokdfa.jobs.rollouts.result import counted
from tokdfa.jobs.shards.report import Report as CorpusFindings
from tokdfa.jobs.validation.violations import Validation, Violations, validation
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["MAX_SHOWN", "ValidationReport", "validation_report"]

MAX_SHOWN = 5_000
# The number of violations in the plain table, for readers without scripts.
WRITTEN_OUT = 100
MOST_RULES = 8


class ValidationReport(Report):
    """A page that shows where and why a stream is not canonical.

    Made by :func:`validation_report`.

    Attributes
    ----------
    verdict : Validation
        The result of :func:`tokdfa.validate`.
    n_violations, n_shown : int
        The number of violations in the stream, and the number that the page shows.
    counts : dict
        The number of violations of each kind, by the value of the :class:`ViolationKind`.
    """

    def __init__(self, found: Validation, collection: Collection, title: str, source: str) -> None:
        self.verdict = found
        self._found = collection
        self._title = title
        self._source = source
        self.causes: CorpusFindings | None = None
        self.n_violations = collection.violations
        self.n_shown = len(collection.shown)
        self.counts = {str(kind): count for kind, count in collection.kinds.most_common()}

    def __repr__(self) -> str:
        return f"<ValidationReport: {self._found.tokens} tokens, {self.n_violations} violations>"

    def to_html(self, *, max_shown: int | None = None) -> str:
        """Return the page; see :meth:`Report.to_html`."""
        found = self._found
        if not found.violations:
            sentence = f"All {found.tokens:,} tokens are exactly those that the tokenizer gives for their text."
            return page(f"Canonical: {self._title}", verdict(True, "Canonical", sentence), self._facts())
        shown = found.shown[:max_shown]
        rules = self._rule_labels()
        data = {
            "violations": shown,
            "total": found.violations,
            "tokens": found.spelling.table(),
            "rules": rules,
            "meanings": {str(kind): kind.meaning for kind in found.kinds},
            "live": self._n_live(),
        }
        return page(
            f"Not canonical: {self._title}",
            self._answer(),
            self._facts(),
            *(() if self.causes is None else causes(self.causes, found.spelling)),
            tag("section", tag("h2", "Reasons"), *self._reasons(rules), class_="tables halves"),
            self._picture(),
            tag(
                "section",
                tag("h2", "Violations", id="violations"),
                tag("p", _how_many(len(shown), found.violations), id="how-many"),
                tag("div", id="cards"),
                tag("div", id="below"),
                tag("noscript", *_plain(shown)),
            ),
            data=json_block(data, "data"),
        )

    def _answer(self) -> Markup:
        found = self._found
        first = found.shown[0]
        return verdict(
            False,
            "Not canonical",
            f"{_parts_of(found.violations)} of {found.tokens:,} tokens "
            f"{'is' if found.violations == 1 else 'are'} not what the tokenizer gives for the text.",
            f"The first begins at token {first['index']:,}, byte {first['byte_offset']:,}{_document(first, ', in ')}.",
        )

    def _picture(self) -> Markup:
        """Return a chart of the number of violations in each part of the stream."""
        width, counts, tokens = self._found.histogram.width, self._found.histogram.counts, self._found.tokens
        most = max(counts)
        n_parts = max(-(-tokens // width), len(counts), 1)
        bars = [
            (part, f"tokens {part * width:,} to {(part + 1) * width - 1:,}: {count:,}", count)
            for part, count in enumerate(counts)
            if count
        ]
        said = (
            f"{len(bars):,} of {n_parts:,} parts of {counted(width, 'token')} each "
            f"{'has' if len(bars) == 1 else 'have'} violations; "
            f"the one with the most has {most:,}, from token {counts.index(most) * width:,} on."
        )
        last = max(tokens - 1, 0)
        ends = ("token 0", *([f"token {last // 2:,}"] if last > 1 else []), f"token {last:,}")
        return tag("section", tag("h2", "Where in the stream"), chart(bars, n_parts, said, ends, width))

    def _facts(self) -> Markup:
        found, tokenizer = self._found, self._found.tokenizer
        rows = [("Stream", self._source), ("Tokenizer", self._title), ("Format", tokenizer.format)]
        rows += [(name.capitalize(), f"{size:,}") for name, size in tokenizer.sizes.items()]
        rows.append(("Ids", f"{tokenizer.n_ids:,}"))
        rows.append(("Judged as", found.judged_as))
        rows.append(("Tokens in the stream", f"{found.tokens:,}"))
        rows.append(("Violations", f"{found.violations:,}"))
        if found.violations:
            rate = 100_000 * found.violations / max(found.tokens, 1)
            rows.append(("Per 100,000 tokens", f"{rate:,.0f}" if rate >= 100 else f"{rate:.2g}"))
        return facts(row for row in rows if row[1])

    def _rule_labels(self) -> dict[str, str]:
        """Return the labels of the rules that the page names, by their numbers."""
        found, automaton = self._found, self._found.tokenizer.pair_automaton
        if automaton is None:
            return {}
        wanted = {fields["rule"] for fields in found.shown if fields["rule"] is not None}
        labels = {}
        for number in sorted({*wanted, *(rule for rule, _ in self._rules())}):
            rule = automaton.rule(number)
            labels[str(number)] = merge_label(rule.left, rule.right)
        return labels

    def _n_live(self) -> int:
        """Return the number of tokens of the automaton, if the page shows a part of it."""
        found, automaton = self._found, self._found.tokenizer.pair_automaton
        pictures = (fields["picture"] for fields in found.shown)
        is_shown = any(picture is not None and picture["allowed"] is not None for picture in pictures)
        return automaton.n_live_tokens if is_shown and automaton is not None else 0

    def _rules(self) -> list[tuple[int, int]]:
        counted = self._found.rules.items()
        return sorted(counted, key=lambda row: (-row[1], row[0]))[:MOST_RULES]

    def _reasons(self, rules: dict[str, str]) -> Iterator[Markup]:
        found = self._found
        yield kind_table("By kind", "Violations", found.kinds)
        if found.rules:
            whole = found.violations
            yield rule_table(
                "By rule", "Violations", found.rules, lambda rule: rules[str(rule)], most=MOST_RULES, whole=whole
            )


def _document(fields: dict[str, Any], before: str = "") -> str:
    """Return the document of a violation and the token in it, in words; empty if there are no documents."""
    if fields["document"] is None:
        return ""
    name, token = fields["document"]
    return f"{before}{name}, token {token:,}"


def _parts_of(count: int) -> str:
    return "1 place" if count == 1 else f"{count:,} places"


def _how_many(shown: int, total: int) -> str:
    which = f"All {total:,} are" if shown == total else f"The first {shown:,} of {total:,} are"
    if total == 1:
        which = "The only one is"
    elif shown == 1:
        which = f"The first of {total:,} is"
    return f"{which} on this page."


def _plain(shown: list[dict[str, Any]]) -> Iterator[Markup]:
    """Return a table of violations for readers without scripts, to whom no cards are shown."""
    if len(shown) > WRITTEN_OUT:
        yield tag("p", f"Without scripts only the first {WRITTEN_OUT} are shown; the others are in the page's data.")
    yield data_table(
        "Violations",
        ("Token", "Byte", "Given ids", "Canonical ids", "Reason"),
        (
            (
                f"{fields['index']:,}{_document(fields, ': ')}",
                f"{fields['byte_offset']:,}",
                _ids(fields["lanes"], "left"),
                _ids(fields["lanes"], "right") if fields["text"] else "none: no text has these ids",
                sentence(fields["said"]),
            )
            for fields in shown[:WRITTEN_OUT]
        ),
    )


def _ids(lanes: dict[str, Any], side: str) -> str:
    ids = " ".join(str(id) for id, _ in lanes[side])
    more = lanes[f"{side}_more"]
    return f"{ids} … {more:,} more" if more else ids or "nothing"


def validation_report(
    tokenizer: AnyTokenizer,
    ids: npt.ArrayLike | Iterator[IntegerArray],
    *,
    all: bool = False,
    window: bool = False,
    documents: int | npt.ArrayLike | None = None,
    literal: bool = False,
    max_shown: int = MAX_SHOWN,
    names: tuple[str, str] = ("", ""),
) -> ValidationReport:
    """Validate ids, and make a page of the result.

    The page shows the first violations with the tokens around them, the reason, the canonical tokens and the part of
    the automaton that decides. All violations are counted, by kind, by rule and by place. Memory does not grow with the
    stream.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    ids : array_like of int, or iterator of arrays
        The stream; an iterator gives it in chunks.
    all : bool
        Whether the verdict has all violations, or only the first. The page counts all of them either way.
    window, documents, literal
        See :func:`tokdfa.validate`. The page names the document of each violation, from 0, and the token in it.
    max_shown : int
        The number of violations that the page shows; each takes about 500 bytes.
    names : tuple of str
        The names of the tokenizer and of the stream.

    Returns
    -------
    ValidationReport

    Raises
    ------
    TokenStreamError, ImproperDictionaryError, UnsupportedFeatureError
        As :func:`tokdfa.validate` does.

    Examples
    --------
    >>> report = tokdfa.validation_report(tokdfa.default_tokenizer(), [64, 261, 1193])
    >>> bool(report.verdict), report.n_violations, report.to_html()[:15]
    (False, 1, '<!doctype html>')
    """
    if isinstance(ids, AnyTokenizer):
        raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.validation_report(tokenizer, ids)", swapped=True)
    collection = Collection(tokenizer, max(max_shown, 1), window=window, documents=documents, literal=literal)
    return report_on(collection, ids, all=all, names=names)


def report_on(
    collection: Collection, ids: npt.ArrayLike | Iterator[IntegerArray], *, all: bool, names: tuple[str, str]
) -> ValidationReport:
    """Return the page of ids that a collection, still empty, judges; see :func:`validation_report`."""
    parts = collection.watch(ids if isinstance(ids, Iterator) else [ids])
    found = Violations([*(parts if all else islice(parts, 1))])
    for _ in parts:
        pass
    result = validation(collection.tokens, found if all else found[:1])
    return ValidationReport(result, collection, names[0] or collection.tokenizer.format, names[1])
