"""Loss masks on a page: their faults, the ids at the edges of the trained spans, and the first spans as text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from tokdfa.draw.graph import word_label
from tokdfa.draw.report import page as html
from tokdfa.jobs.rollouts.masks import EDGES, Edge, MaskTally, Span


def mask_sections(masks: MaskTally, most: int) -> Iterator[html.Markup]:
    """Yield sections on the faults of masks and on their spans, of these at most `most`."""
    said = f"{masks.said}."
    if not masks.has_markers:
        said += " Without a chat template it is not known which ids are replies."
    found = masks.findings
    faults = html.data_table(
        f"Faults: {len(found):,}",
        ("Fault", "Times", "Of", "Where first", "The text there"),
        (
            (
                html.Markup(html.tag("span", fault.reason) + html.tag("span", fault.kind.meaning, class_="meaning")),
                f"{fault.count:,}",
                f"{fault.of:,}",
                f"{fault.place.source}, token {fault.place.token:,}",
                _text(fault.place.before, "|", fault.place.after),
            )
            for fault in found
        ),
    )
    yield html.tag(
        "section", html.tag("h2", "Loss masks"), html.tag("p", said), *([faults] if found else ()), class_="apart"
    )
    if masks.n_spans:
        spans = masks.spans[:most]
        tables = [_edges(masks), *([_spans(spans)] if spans else ())]
        yield html.tag("section", html.tag("h2", "Trained spans"), *tables, class_="wide")


def _edges(masks: MaskTally) -> html.Markup:
    """Return a table of the most frequent ids at each edge, the most frequent first."""
    columns = [[*map(_edge, common)] for common in masks.common_edges.values()]
    return html.data_table(
        f"The ids at the edges of {masks.n_spans:,} spans",
        (title[0].upper() + title[1:] for title in EDGES.values()),
        zip_longest(*columns, fillvalue=""),
    )


def _edge(edge: Edge) -> html.Markup | str:
    if edge.id is None:
        return f"none: {edge.count:,}"
    label = html.tag("bdi", f"{html.shortened(word_label(edge.text or ''))} ({edge.id})", class_="id")
    return html.Markup(label + html.tag("span", f": {edge.count:,}"))


def _spans(spans: list[Span]) -> html.Markup:
    return html.data_table(
        f"The first {len(spans):,} as text" if len(spans) > 1 else "The first as text",
        ("Where", "Text, the span marked"),
        (
            (
                f"{span.source}, tokens {span.start:,} to {span.stop - 1:,}",
                _text(span.before, span.text, span.after),
            )
            for span in spans
        ),
    )


def _text(before: str, marked: str, after: str) -> html.Markup:
    return html.tag(
        "bdi", word_label(before), html.tag("mark", html.cut_down(word_label(marked))), word_label(after), class_="id"
    )
