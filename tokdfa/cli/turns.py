"""``tokdfa turns``: whether the ids of a conversation may be kept when a turn is added."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

import click

from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import json_option, print_json, say
from tokdfa.cli.splice import found_option
from tokdfa.cli.text import escapes_option, given_parts


@click.command("turns")
@click.argument("tok")
@click.argument("first")
@click.argument("rest")
@found_option
@escapes_option
@tokenizer_options
@json_option
def command(
    tok: str,
    first: str,
    rest: str,
    special_tokens: Literal["found", "plain"] | None,
    escapes: bool,
    loading: Loading,
    as_json: bool,
) -> int:
    r"""Decide whether the ids of FIRST, a conversation, may be kept when REST is added, whatever the contents are.

    Contents are slots, written as {name}, {name|trim} or {name:regex}; a brace is written twice. The ids may be kept if
    those of FIRST are a prefix of those of both, and the others are those of REST. The exit status is 0 if so, 1 if
    not, and 2 if neither a proof nor two texts were found.

    \b
    tokdfa turns TOK --escapes "<|im_start|>user\n{q}<|im_end|>\n" "<|im_start|>assistant\n{a}<|im_end|>\n"
    """
    from tokdfa.jobs.splices.turns import check_turns

    sides = [given_parts(given, escapes=escapes) for given in (first, rest)]
    tokenizer = load_tokenizer(tok, loading)
    found = check_turns(tokenizer, *sides, specials=special_tokens)
    if as_json:
        prefix = {True: "kept", False: "changes", None: "unknown"}[found.keeps_prefix]
        witness = found.witness and asdict(found.witness)
        print_json({"kept": found.holds, "prefix": prefix, "witness": witness, "reason": found.reason})
    else:
        say(("kept: " if found else "not kept: ") + found.reason)
    return 0 if found else 1
