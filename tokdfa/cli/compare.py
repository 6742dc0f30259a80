"""``tokdfa compare``: do two tokenizers give every text the same ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tokdfa.cli.output import html_option, json_option, print_json, print_table, stages

if TYPE_CHECKING:
    from tokdfa.comparison.result import Comparison

__all__ = ["command"]

_COUNTS = {
    "n_tokens_only_a": "live tokens only in A",
    "n_tokens_only_b": "live tokens only in B",
    "n_dead_a": "dead tokens of A",
    "n_dead_b": "dead tokens of B",
    "pairs_only_a": "pairs allowed in A only",
    "pairs_only_b": "pairs allowed in B only",
}


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option("--ignore-ids", is_flag=True, help="It is enough that the tokens are spelled alike.")
@click.option(
    "--pretokenizer", metavar="NAME|PATTERN|none", help="What cuts text into pieces, if not what A and B say."
)
@click.option("--pretokenizer-b", metavar="NAME|PATTERN|none", help="The same for B alone.")
@click.option("--format", "format_name", metavar="FORMAT", help="The format of A and B, if not what they look like.")
@click.option("--format-b", metavar="FORMAT", help="The same for B alone.")
@html_option
@json_option
def command(
    a: str,
    b: str,
    ignore_ids: bool,
    pretokenizer: str | None,
    pretokenizer_b: str | None,
    format_name: str | None,
    format_b: str | None,
    html_path: str | None,
    as_json: bool,
) -> int:
    """Decide whether the tokenizers A and B give every text the same ids.

    Otherwise a shortest text is shown on which they differ. The exit status is 0 if they are equivalent and 1 if they
    differ; 2 if neither can be claimed.
    """
    from tokdfa.comparison.api import compare
    from tokdfa.tokenizers.loading import load

    if html_path is not None:
        from tokdfa.report.comparison import comparison_report
        from tokdfa.training.atomic import check_writable

        check_writable(html_path)
    with stages() as say_stage:
        sides = (
            load(a, pretokenizer=pretokenizer, format=format_name),
            load(b, pretokenizer=pretokenizer_b or pretokenizer, format=format_b or format_name),
        )
        found = compare(*sides, ignore_ids=ignore_ids, progress=say_stage)
    if html_path is not None:
        comparison_report(*sides, found, names=(a, b)).save(html_path)
    if as_json:
        print_json(_fields(found))
    else:
        _print(found)
    return 0 if found else 1


def _fields(found: Comparison) -> dict[str, Any]:
    from tokdfa.alphabet import show

    witness = None
    if found.witness is not None:
        text, ids_a, ids_b = found.witness
        # A text is shown as it is; only bytes that are no text need escapes.
        plain = text if isinstance(text, str) else show(text)
        witness = {"text": plain, "ids_a": ids_a, "ids_b": ids_b}
    report = {
        **{name: getattr(found, name) for name in _COUNTS},
        "tokens_only_a": [*map(show, found.tokens_only_a)],
        "tokens_only_b": [*map(show, found.tokens_only_b)],
    }
    return {
        "equivalent": found.holds,
        "witness": witness,
        "checked": dict(found.checked),
        "reason": found.reason,
        "report": report,
    }


def _print(found: Comparison) -> None:
    from rich.table import Table
    from rich.text import Text

    from tokdfa.alphabet import quoted

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("equivalent" if found else "different", Text(found.reason))
    if found.witness is not None:
        text, ids_a, ids_b = found.witness
        table.add_row("text", Text(repr(text)))
        for name, ids in (("ids of A", ids_a), ("ids of B", ids_b)):
            table.add_row(name, Text("none" if ids is None else " ".join(map(str, ids))))
    for part, how in found.checked.items():
        table.add_row(part, Text(how))
    for name, label in _COUNTS.items():
        if getattr(found, name):
            table.add_row(label, Text(f"{getattr(found, name):,}"))
    for label, words in (("only in A", found.tokens_only_a), ("only in B", found.tokens_only_b)):
        if words:
            table.add_row(label, Text(" ".join(quoted(word) for word in words[:5])))
    print_table(table)
