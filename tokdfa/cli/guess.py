"""``tokdfa guess``: which tokenizer made a store of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tokdfa.cli.ids import dtype_option, field_option
from tokdfa.cli.output import counted, json_option, pretokenizer_option_of, print_json, print_table, remark, say, stages

if TYPE_CHECKING:
    from tokdfa.jobs.identification.result import Candidate, Identification


@click.command("guess")
@click.argument("path")
@click.argument("tokenizers", nargs=-1, required=True, metavar="TOK...")
@dtype_option
@field_option
@pretokenizer_option_of(", for files that do not say; default: every name is tried")
@click.option(
    "--most",
    type=click.IntRange(min=1),
    metavar="N",
    help="Read about N ids, in segments evenly spread over PATH. Default: a million.",
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
    r"""Find which of the tokenizers TOK made the ids in PATH, by the violations per million ids of each.

    Every named pre-tokenizer is tried if a file does not record how text is split; an unknown rank file needs
    --pretokenizer. Every integer type is tried if PATH does not record it.

    Likely mistakes are named: shifted ids, another integer type or byte order, ids cut to 16 bits, special tokens out
    of place, another version of the tokenizer.

    Exit status: 0 no violations or mistakes in the best, 1 some, 2 trouble.

    \b
    Examples:
      tokdfa guess ids.bin gpt2/tokenizer.json llama3/tokenizer.json
      tokdfa guess 'shards/*.npy' merges.txt --pretokenizer gpt2
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
