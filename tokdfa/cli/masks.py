"""The option ``--masks`` of ``tokdfa rollouts``: the sampled spans, the ids at their edges, and the faults of masks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.cli.output import counted, print_table, remark, say

if TYPE_CHECKING:
    from tokdfa.jobs.rollouts.masks import MaskTally, Place
    from tokdfa.tokenizers.protocol import AnyTokenizer

_MOST_ROWS = 8


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

    for span in masks.spans:
        where = f"{span.source}, tokens {span.start} to {span.stop - 1}"
        say(f"span: {where}: {span.before!r} [{span.text!r}] {span.after!r}")
    table = Table(box=None, pad_edge=False)
    columns = []
    for edge, title in _TITLES.items():
        table.add_column(title)
        columns.append([_cell(masks, id, count) for id, count in masks.edges[edge].most_common(_MOST_ROWS)])
    for row in range(max(map(len, columns))):
        table.add_row(*(Text(column[row] if row < len(column) else "") for column in columns))
    print_table(table)
    for finding in masks.findings:
        say(f"mask: {finding.reason} [{_where(finding.place)}]")
    if not masks.has_markers:
        say("masks: no chat template, so replies are not known (--template FILE gives one)")
    trained = f"{masks.n_trained:,} of {counted(masks.n_replies, 'reply').replace('replys', 'replies')} trained"
    say(f"masks: {counted(masks.n_spans, 'span')}, {trained}: {counted(len(masks.findings), 'fault')}")


_TITLES = {"before": "id before a span", "first": "first id", "last": "last id", "after": "id after it"}


def _cell(masks: MaskTally, id: int | None, count: int) -> str:
    return f"{count:,} × " + ("none" if id is None else f"{id} {_text(masks, id)!r}")


def _text(masks: MaskTally, id: int) -> str:
    import numpy as np

    return masks.text_of(np.array([id], dtype=np.int32))


def _where(place: Place) -> str:
    return f"{place.source}, token {place.token}: {place.before!r} | {place.after!r}"


def mask_fields(masks: MaskTally) -> dict[str, Any]:
    """Return the same as JSON values."""
    return {
        "template": masks.has_markers,
        "replies": masks.n_replies,
        "trained_replies": masks.n_trained,
        "spans": masks.n_spans,
        "edges": {
            edge: [
                {"id": id, "text": None if id is None else _text(masks, id), "count": count}
                for id, count in counts.most_common(_MOST_ROWS)
            ]
            for edge, counts in masks.edges.items()
        },
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
