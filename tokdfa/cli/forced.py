"""``tokdfa forced``: whether the text that a grammar forces may be encoded separately."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import (
    json_option,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from tokdfa.guiding.forcing import Forcing

__all__ = ["command"]


@click.command("forced")
@click.argument("tok")
@click.option("--language", metavar="REGEX", help="The texts: those that REGEX matches as a whole.")
@click.option(
    "--json-schema",
    "schema",
    metavar="FILE",
    help="The texts: the JSON documents of a schema, which outlines-core reads.",
)
@click.option(
    "--longest",
    type=click.IntRange(min=0),
    default=24,
    show_default=True,
    metavar="N",
    help="Count the texts of up to N bytes, or of fewer where there are too many.",
)
@tokenizer_options
@json_option
def command(
    tok: str,
    language: str | None,
    schema: str | None,
    longest: int,
    loading: Loading,
    as_json: bool,
) -> int:
    r"""Decide whether the text that a grammar forces may be encoded separately.

    Engines append encode(forced text) where a grammar leaves no choice (jump-ahead). Are these the canonical ids, after
    every prefix that leads there? If not, a shortest text is shown in which they are not, and the number of such texts
    of each length. A JSON schema is made a regular expression by the library outlines-core (pip install outlines-core),
    so only schemas without recursion are read. The exit status is 0 if they are, 1 if not, and 2 if that was not
    decided.

    \b
    tokdfa forced TOK --language '"(yes|no)": (true|false)'
    tokdfa forced TOK --json-schema person.json --longest 40
    """
    from tokdfa.guiding.forcing import forced

    if (language is None) == (schema is None):
        raise click.UsageError("give the texts by --language REGEX or by --json-schema FILE, one of them")
    pattern = _of_schema(Path(schema)) if schema is not None else language
    assert pattern is not None
    tokenizer = load_tokenizer(tok, loading)
    found = forced(tokenizer, pattern, longest=longest)
    if as_json:
        print_json(_fields(found))
    else:
        _print(found)
    return 0 if found else 1


def _of_schema(path: Path) -> str:
    """Return the regular expression of the JSON schema in a file."""
    from tokdfa.errors import FileFormatError, MissingFileError
    from tokdfa.integrations.json_schema import pattern_of_schema

    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MissingFileError("no such file", where=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"the schema cannot be read, {error}", where=str(path)) from None
    return pattern_of_schema(text, where=str(path))


def _fields(found: Forcing) -> dict[str, Any]:
    witness = None
    if found.witness is not None:
        text = found.witness
        witness = {
            "text": text.text,
            "start_byte": text.start_byte,
            "start_token": text.start_token,
            "forced": text.forced,
            "forced_ids": text.forced_ids,
            "canonical_ids": text.canonical_ids,
        }
    lengths = [{"bytes": n, "texts": found.texts[n], "differing": found.differing[n]} for n in found.texts]
    return {
        "holds": found.holds,
        "forced_states": found.n_forced,
        "witness": witness,
        "longest": found.longest,
        "lengths": [row for row in lengths if row["texts"]],
    }


def _print(found: Forcing) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    text = found.witness
    table.add_row("forced in", Text(f"{found.n_forced} states of the language"))
    if found:
        table.add_row("canonical", Text("the ids of forced text, encoded separately, after every prefix"))
    elif text is None:
        table.add_row("not canonical", Text("the ids of forced text; the search for a shortest text was given up"))
    else:
        table.add_row("not canonical", Text("the ids of forced text; a shortest text for which not"))
        table.add_row("text", Text(f"{text.text!r}: {' '.join(map(str, text.canonical_ids))}"))
        table.add_row("forced", Text(f"{text.forced!r} from byte {text.start_byte}: {_shown(text.forced_ids)}"))
        table.add_row("instead of", Text(_shown(text.canonical_ids[text.start_token :])))
    for n, count in found.texts.items():
        if count:
            table.add_row(f"{n} bytes", Text(f"{found.differing[n]} of {count} texts differ"))
    table.add_row("counted", Text(f"the texts of up to {found.longest} bytes"))
    print_table(table)


def _shown(ids: tuple[int, ...]) -> str:
    return " ".join(map(str, ids))
