"""``tokdfa guess``: which tokenizer made a store of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tokdfa.cli import options
from tokdfa.cli.output import counted, print_json, print_table, remark, say, stages

if TYPE_CHECKING:
    from tokdfa.jobs.identification.result import Candidate, Identification
    from tokdfa.stores.store import Problem

_SHOWN = 3


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
    help="Read about N ids, in segments evenly spread over IDS. Default: a million; 65,536 of each file with --each.",
)
@click.option("--each", is_flag=True, help="Judge each file of IDS by itself, and group the files by the answer.")
@options.json
def command(
    tokenizers: tuple[str, ...],
    ids: str,
    dtype: str | None,
    field: str | None,
    pretokenizer: str | None,
    max_ids: int | None,
    each: bool,
    as_json: bool,
) -> int:
    r"""Find which of the tokenizers TOK made IDS, by the violations per million ids of each.

    TOK is a file, or a folder with one tokenizer or several. Every named pre-tokenizer is tried if a file does not
    record how text is split; an unknown rank file needs --pretokenizer. Every integer type is tried if IDS do not
    record it.

    Likely mistakes are named: shifted ids, another integer type or byte order, ids cut to 16 bits, special tokens out
    of place, another version of the tokenizer, ids of several tokenizers.

    Exit status: 0 no violations or mistakes in the best, 1 some, 2 trouble.

    \b
    Examples:
      tokdfa guess gpt2/tokenizer.json llama3/tokenizer.json ids.bin
      tokdfa guess tokenizers/ shards/ --each
    """
    from tokdfa.jobs.identification.api import MOST_IDS, MOST_IDS_EACH, identify, identify_each
    from tokdfa.stores.store import Problem

    if each:
        with stages() as stage:
            many = identify_each(
                ids,
                tokenizers,
                dtype=dtype,
                field=field,
                pretokenizer=pretokenizer,
                most=max_ids or MOST_IDS_EACH,
                stage=stage,
            )
            answers = [*many]
        broken = [answer for answer in answers if isinstance(answer, Problem)]
        return _print_each([answer for answer in answers if not isinstance(answer, Problem)], broken, as_json=as_json)
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


def _print_each(found: list[Identification], broken: list[Problem], *, as_json: bool) -> int:
    """Print the answers for each file, and return the exit status."""
    from rich.table import Table
    from rich.text import Text

    from tokdfa.jobs.identification.result import groups_of

    fits = all(found)
    broken += [problem for each in found for problem in each.broken]
    groups = groups_of(found)
    if as_json:
        problems = [{"where": problem.where, "what": problem.what} for problem in broken]
        files = [each.to_dict() for each in found]
        print_json({"fits": fits, "groups": [group.to_dict() for group in groups], "files": files, "broken": problems})
    else:
        table = Table(box=None, pad_edge=False)
        table.add_column("files", justify="right")
        table.add_column("made by", overflow="fold")
        table.add_column("which", overflow="fold")
        for group in groups:
            n = len(group.paths)
            more = f" … ({n - _SHOWN:,} more)" if n > _SHOWN else ""
            table.add_row(f"{n:,}", Text(group.said), Text(" ".join(group.paths[:_SHOWN]) + more))
        print_table(table)
        for candidate in found[0].candidates if found else ():
            if not candidate.ids and candidate.error is not None:
                say(f"{candidate.name}: {candidate.error}")
        for problem in broken:
            say(f"broken: {problem}")
    if broken:
        remark(f"{counted(len(broken), 'file')} could not be read")
        return 2
    return 0 if fits else 1


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
