"""The option ``--masks`` of ``tokdfa rollouts``: the sampled spans, the ids at their edges, and the faults of masks."""

from __future__ import annotations

from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.cli.output import counted, print_table, remark, say

if TYPE_CHECKING:
    from tokdfa.jobs.rollouts.masks import Edge, MaskTally, Place
    from tokdfa.tokenizers.protocol import AnyTokenizer


def mask_tally(tokenizer: AnyTokenizer, tok: str, template: str | None, examples: int) -> MaskTally:
    """Return a tally by the markers of a template: the given one, or the template of TOK, or of the folder of TOK."""
    from tokdfa.jobs.rollouts.masks import MaskTally
    from tokdfa.jobs.templates.markers import markers_of
    from tokdfa.jobs.templates.reading import has_template, read_template

    path = template or next((each for each in (tok, str(Path(tok).parent)) if has_template(each)), None)
    try:
        source = None if path is None else read_template(path)
    except TokdfaError as error:
        if template is not None:
            raise
        source = None
        remark(f"no chat template: {error}")
    markers = None if source is None else markers_of(tokenizer, source.text, source.variables)
    return MaskTally(tokenizer, markers, examples)


def check_replies(masks: MaskTally, template: str | None) -> None:
    """Refuse to judge masks where no reply was found."""
    if masks.has_markers and masks.n_records and not masks.n_replies:
        hint = "give the template of these records: --template FILE" if template is None else None
        raise TokenStreamError("no reply is found: the markers of the chat template are in no record", hint=hint)


def print_masks(masks: MaskTally) -> None:
    """Print spans, the table of their edges, and the findings."""
    from rich.table import Table
    from rich.text import Text

    from tokdfa.jobs.rollouts.masks import EDGES

    for span in masks.spans:
        where = f"{span.source}, tokens {span.start} to {span.stop - 1}"
        say(f"span: {where}: {span.before!r} [{span.text!r}] {span.after!r}")
    table = Table(box=None, pad_edge=False)
    columns: list[list[str]] = []
    for edge, common in masks.common_edges.items():
        table.add_column(EDGES[edge])
        columns.append([f"{each.count:,} × {_named(each)}" for each in common])
    for row in zip_longest(*columns, fillvalue=""):
        table.add_row(*map(Text, row))
    print_table(table)
    for finding in masks.findings:
        say(f"mask: {finding.reason} [{_where(finding.place)}]")
    if not masks.has_markers:
        say("masks: no chat template, so replies are not known (--template FILE gives one)")
    say(f"masks: {masks.said}: {counted(len(masks.findings), 'fault')}")


def _named(edge: Edge) -> str:
    return "none" if edge.id is None else f"{edge.id} {edge.text!r}"


def _where(place: Place) -> str:
    return f"{place.source}, token {place.token}: {place.before!r} | {place.after!r}"


def mask_fields(masks: MaskTally) -> dict[str, Any]:
    """Return the same as JSON values."""
    return {
        "template": masks.has_markers,
        "replies": masks.n_replies,
        "trained_replies": masks.n_trained,
        "spans": masks.n_spans,
        "edges": {edge: [*map(asdict, common)] for edge, common in masks.common_edges.items()},
        "examples": [span._asdict() for span in masks.spans],
        "findings": [
            {
                "kind": finding.kind,
                "count": finding.count,
                "of": finding.of,
                "shift": finding.shift,
                **finding.place._asdict(),
                "reason": finding.reason,
            }
            for finding in masks.findings
        ],
    }
