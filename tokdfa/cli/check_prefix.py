"""``tokdfa check-prefix``: whether ids begin with other ids."""

from __future__ import annotations

from typing import Any

import click

from tokdfa.cli import options
from tokdfa.cli.ids import ids_in, of_file
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import print_json, say


@click.command("check-prefix")
@click.argument("tok")
@click.argument("ids_a", metavar="A")
@click.argument("ids_b", metavar="B")
@options.dtype
@options.field
@tokenizer_options
@options.json
def command(
    tok: str, ids_a: str, ids_b: str, dtype: str | None, field: str | None, loading: Loading, as_json: bool
) -> int:
    r"""Decide whether the ids B begin with the ids A, as a turn must begin with the turns before it.

    If they do not, the answer is the first id that differs, whether the text differs as well, which of the two is
    canonical there, and the rule that shows it.

    A and B are ids, such as 64,2513, or stores of ids, such as .npy or .json; one of them may be - for standard input.

    Exit status: 0 B begins with A, 1 it does not, 2 trouble.

    \b
    Examples:
      tokdfa check-prefix tokenizer.json 64,261,1193 64,2513,462
      tokdfa check-prefix tokenizer.json prompt.json prompt_and_answer.json
    """
    from tokdfa.jobs.rollouts.prefix import check_prefix

    if ids_a == ids_b == "-":
        raise click.UsageError("standard input is one stream, so A and B cannot both be -")
    tokenizer = load_tokenizer(tok, loading)
    sides = []
    for given in (ids_a, ids_b):
        with of_file(given):
            sides.append(tokenizer.decoder.check(ids_in(given, dtype=dtype, field=field)))
    found = check_prefix(tokenizer, *sides)
    if as_json:
        fields: dict[str, Any] = {
            "holds": found.holds,
            "kind": found.kind,
            "index": found.index,
            "byte_offset": found.byte_offset,
            "ids_a": found.ids_a,
            "ids_b": found.ids_b,
            "text_a": found.text_a.decode("utf-8", "backslashreplace"),
            "text_b": found.text_b.decode("utf-8", "backslashreplace"),
            "canonical": found.canonical or None,
            "rule": found.cause and found.cause.rule,
            "reason": found.reason,
        }
        print_json(fields)
    else:
        say(found.reason)
    return 0 if found else 1
