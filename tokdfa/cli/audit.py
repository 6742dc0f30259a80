"""``tokdfa audit``: whether the shortcuts by which engines encode a text that has grown are right."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tokdfa.base.errors import FileFormatError
from tokdfa.cli import options
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import print_fields, print_json

if TYPE_CHECKING:
    from tokdfa.jobs.auditing.api import Audit

_READERS = {".json": json.loads, ".toml": tomllib.loads}


@click.command("audit")
@click.argument("tok")
@click.option(
    "--scheme",
    "names",
    multiple=True,
    metavar="NAME|FILE",
    help="A shortcut, perhaps with parameters, or its description; default: all with a name. May be repeated.",
)
@options.time_limit("Leave a shortcut undecided after N seconds.", 60.0)
@tokenizer_options
@options.json
def command(tok: str, names: tuple[str, ...], max_seconds: float, loading: Loading, as_json: bool) -> int:
    r"""Decide whether engines' shortcuts are right: encoding only a part of a text that has grown.

    Each shortcut gives the right ids for every text, or wrong ids for a text that is shown, or it is undecided. OLD is
    the text that was encoded, and NEW the text that is added to it.

    \b
      added-token         encode only what follows the last added token of OLD
      turns[=TEXT]        encode each turn alone; it begins with an added token, or TEXT
      before-space        encode from the last space, tab or line break of OLD on
      after-space         encode from the end of that on
      characters[=.!?]    cut the text after each of the characters
      text-prefix         encode only NEW
      back-off[=64,32]    encode from the last 64 ids of OLD on; if 32 come again, keep them

    FILE is a .json or .toml with a shortcut of your own: texts (a list, or "added" for all added tokens), cut (before
    or after) and which (last or every); or back and agree, two numbers.

    Exit status: 0 all are right, 1 one is wrong, 2 undecided or trouble.

    \b
    Examples:
      tokdfa audit TOK --scheme back-off=64,32
      tokdfa audit TOK --scheme added-token --scheme "turns=### User:"
    """
    from tokdfa.jobs.auditing.api import audit
    from tokdfa.jobs.auditing.schemes import SCHEMES, scheme_of

    chosen = [_described(name) for name in names or SCHEMES]
    for described in chosen:
        scheme_of(described)
    tokenizer = load_tokenizer(tok, loading)
    found = [audit(tokenizer, described, max_seconds=max_seconds) for described in chosen]
    if as_json:
        print_json({"audits": [_fields(each) for each in found]})
    else:
        print_fields((repr(each.scheme)[1:-1], f"{each.answer}: {each.reason}") for each in found)
    answers = {each.answer for each in found}
    return 1 if "wrong" in answers else 2 if "undecided" in answers else 0


def _described(name: str) -> str | Mapping[str, Any]:
    """Return the name of a scheme, or the description in a file."""
    path = Path(name)
    if path.suffix not in _READERS or "=" in name:
        return name
    try:
        fields: object = _READERS[path.suffix](path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"the description of a scheme cannot be read: {error}", where=name) from None
    if not isinstance(fields, dict):
        raise FileFormatError("the description of a scheme is an object", value=fields, where=name)
    return {"name": path.stem, **fields}


def _fields(found: Audit) -> dict[str, Any]:
    witness = found.witness and asdict(found.witness)
    names = ("scheme", "answer", "is_trivial", "reason")
    return {name: getattr(found, name) for name in names} | {"witness": witness}
