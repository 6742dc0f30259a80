"""``tokdfa guess``: which tokenizer made a store of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tokdfa.cli import options
from tokdfa.cli.output import counted, print_json, print_table, remark, say, stages

if TYPE_CHECKING:
    from tokdfa.jobs.identification.result import Candidate, Identification


@click.command("guess")
@click.argument("tokenizers", nargs=-1, required=True, metavar="TOK...")
@click.argument("ids")
@options.dtype
@options.field
@options.pretokenizer_of(", for files that do not say; default: every name is tried")
@click.option(
    "--max-ids",
    type=options.AtLeast(1),
    metavar="N",
    help="Read about N ids, in segments evenly spread over IDS. Default: a million.",
)
@options.json
def command(
    tokenizers: tuple[str, ...],
    ids: str,
    dtype: str | None,
    field: str | None,
    pretokenizer: str | None,
    max_ids: int | None,
    as_json: bool,
) -> int:
    r"""Find which of the tokenizers TOK made IDS, by the violations per million ids of each.

    Every named pre-tokenizer is tried if a file does not record how text is split; an unknown rank file needs
    --pretokenizer. Every integer type is tried if IDS do not record it.

    Likely mistakes are named: shifted ids, another integer type or byte order, ids cut to 16 bits, special tokens out
    of place, another version of the tokenizer.

    Exit status: 0 no violations or mistakes in the best, 1 some, 2 trouble.

    \b
    Examples:
      tokdfa guess gpt2/tokenizer.json llama3/tokenizer.json ids.bin
      tokdfa guess merges.txt 'shards/*.npy' --pretokenizer gpt2
    """
    from tokdfa.jobs.identification.api import MOST_IDS, identify

    with stages() as stage:
        found = identify(
            ids, tokenizers, dtype=dtype, field=field, pretokenizer=pretokenizer, most=max_ids or MOST_IDS, stage=stage
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
    first, last = found.segments[0][0], found.segments[-1][0]
    where = f"from {first} on" if len(found.segments) == 1 else f"the first from {first} on, the last from {last} on"
    n = len(found.segments)
    part = "all there is" if found.is_whole else f"{n:,} {'segment' if n == 1 else 'segments'}, {where}"
    say(f"read: {counted(found.read, 'id')}{of} ({found.format}{dtype}): {part}")


def _name(candidate: Candidate) -> str:
    return candidate.name + (f" (pre-tokenizer {candidate.pretokenizer})" if candidate.pretokenizer else "")
