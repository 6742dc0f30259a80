"""``tokdfa guess``: which tokenizer made a store of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tokdfa.cli.ids import dtype_option, field_option
from tokdfa.cli.output import counted, json_option, print_json, print_table, remark, say, stages

if TYPE_CHECKING:
    from tokdfa.jobs.identification.result import Candidate, Identification


@click.command("guess")
@click.argument("path")
@click.argument("tokenizers", nargs=-1, required=True, metavar="TOK...")
@dtype_option
@field_option
@click.option(
    "--pretokenizer",
    metavar="NAME|PATTERN|none",
    help="How text is split, for files that do not record it; by default all named ones are tried.",
)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    metavar="N",
    help="Read about N ids, in stretches that are evenly spread over PATH. By default a million.",
)
@json_option
def command(
    path: str,
    tokenizers: tuple[str, ...],
    dtype: str | None,
    field: str | None,
    pretokenizer: str | None,
    most: int | None,
    as_json: bool,
) -> int:
    """Guess which of the tokenizers TOK made the ids in PATH: the violations per million ids of each.

    PATH is a store of ids, such as .npy, .bin, .ds, .parquet or .jsonl, or a folder or pattern with several. TOK is a
    tokenizer.json, tekken.json, .model, .tiktoken, merges.txt or vocab.txt file, or a folder with one. Where a file
    does not record how text is split, every named pre-tokenizer is tried, except that a file of ranks which is not
    known needs --pretokenizer; where PATH does not record the type of its integers, every type is tried. Likely
    mistakes are named: shifted ids, another integer type or byte order, ids cut to 16 bits, special tokens out of
    place, and another version of the tokenizer. The exit status is 0 if the best one has no violations and no mistakes
    in what was read, 1 if it has some, and 2 if a file of PATH could not be read.
    """
    from tokdfa.jobs.identification.api import MOST_IDS, identify

    with stages() as stage:
        found = identify(
            path, tokenizers, dtype=dtype, field=field, pretokenizer=pretokenizer, most=most or MOST_IDS, stage=stage
        )
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    if found.broken:
        remark(f"{counted(len(found.broken), 'file')} could not be read")
        return 2
    return 0 if found else 1


def _print(found: Identification) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    table.add_column("tokenizer", overflow="fold")
    for title in ("violations per million", "ids judged"):
        table.add_column(title, justify="right")
    for candidate in found.candidates:
        rate = "not judged" if candidate.per_million is None else f"{candidate.per_million:,.0f}"
        table.add_row(Text(_name(candidate)), rate, f"{candidate.ids:,}")
    print_table(table)
    for candidate in found.candidates:
        if candidate.error is not None:
            say(f"{candidate.name}: {candidate.error}")
        for mistake in candidate.mistakes:
            say(f"{candidate.name}: {mistake.reason}")
    for problem in found.broken:
        say(f"broken: {problem}")
    dtype = "" if found.dtype is None else f", {found.dtype}"
    if not found.is_recorded:
        dtype += ", the type that fits best"
    of = "" if found.is_whole or found.ids is None else f" of {found.ids:,}"
    first, last = found.stretches[0][0], found.stretches[-1][0]
    where = f"from {first} on" if len(found.stretches) == 1 else f"the first from {first} on, the last from {last} on"
    n = len(found.stretches)
    part = "all there is" if found.is_whole else f"{n:,} {'stretch' if n == 1 else 'stretches'}, {where}"
    say(f"read: {counted(found.read, 'id')}{of} ({found.format}{dtype}): {part}")


def _name(candidate: Candidate) -> str:
    return candidate.name + (f" (pre-tokenizer {candidate.pretokenizer})" if candidate.pretokenizer else "")
