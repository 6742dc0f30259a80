"""``tokdfa formats`` and ``tokdfa schema``: the files that can be read, and the JSON that commands print."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import click

from tokdfa.cli import options
from tokdfa.cli.output import print_json, print_table, say


@click.command("formats")
@options.json
def command(as_json: bool) -> int:
    r"""List the files that can be read, the library that defines each format, and how its streams are judged.

    Streams are judged in bounded memory, or as a whole: then all ids are held until the stream ends. For one tokenizer
    tokdfa info says which, and why.

    The names of formats are for --format, which is needed only if content and name of a file do not say. Last come the
    library versions whose Unicode tables are known, the newest first.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa formats
      tokdfa formats --json
    """
    from tokdfa.tokenizers.formats.reading import OBJECTS, READ

    if as_json:
        rows = {name: [row._asdict() for row in rows] for name, rows in (("files", READ), ("objects", OBJECTS))}
        print_json({**rows, "unicode": _tables()})
        return 0
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    # Wide enough for the longest name of a class.
    table.add_column("files and folders", overflow="fold", min_width=max(len(row.what.split()[-1]) for row in OBJECTS))
    for heading in ("format", "exact by the standard of", "streams are judged"):
        table.add_column(heading, overflow="fold")
    for row in READ:
        table.add_row(row.what, ", ".join(row.formats), row.standard, row.streams)
    table.add_row()
    table.add_row("objects, in Python", style="bold")
    for row in OBJECTS:
        table.add_row(row.what, ", ".join(row.formats), row.standard, row.streams)
    print_table(table)
    versions = Table(box=None, pad_edge=False)
    for heading in ("Unicode tables of", "versions, as --unicode NAME==VERSION takes them; each row is one table"):
        versions.add_column(heading, overflow="fold")
    for part in _tables():
        versions.add_row(part["library"], ", ".join(part["versions"]))
    print_table(versions)
    return 0


def _tables() -> list[dict[str, Any]]:
    from tokdfa.regex.unicode.versions import LIBRARIES, ranges_of

    return [
        {"library": part.library, "versions": part.versions, "newest": part.name == part.library}
        for library in LIBRARIES
        for part in ranges_of(library)
    ]


_FOLDER = "schemas"
_SUFFIX = ".json"


@click.command("schema")
@click.argument("name", metavar="[COMMAND]", required=False)
def schema(name: str | None) -> int:
    r"""Print the JSON Schema of a command's --json; without COMMAND, list the commands.

    The schema is of draft 2020-12.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa schema
      tokdfa schema validate
    """
    if name is None:
        for known in described():
            say(known)
        return 0
    if name not in described():
        what = f"{name!r} is not a command with --json; those are {', '.join(described())}"
        raise click.BadParameter(what, param_hint="'[COMMAND]'")
    say(schema_text(name), end="")
    return 0


def described() -> tuple[str, ...]:
    """Return the names of the commands that have a schema, in alphabetical order."""
    paths = files("tokdfa.cli").joinpath(_FOLDER).iterdir()
    return tuple(sorted(path.name.removesuffix(_SUFFIX) for path in paths if path.name.endswith(_SUFFIX)))


def schema_text(name: str) -> str:
    """Return the text of a command's schema."""
    text = files("tokdfa.cli").joinpath(_FOLDER, name + _SUFFIX).read_text(encoding="ascii")
    return json.dumps(json.loads(text, object_hook=_listed), indent=2) + "\n" if '"enumOf"' in text else text


def _listed(node: dict[str, Any]) -> dict[str, Any]:
    """Return an object with `enum` in place of `enumOf`: the name of a list, and values of it that never occur."""
    if "enumOf" not in node:
        return node
    name, *never = node["enumOf"]
    values = [value for value in _LISTS[name]() if value not in never]
    return {key if key != "enumOf" else "enum": value if key != "enumOf" else values for key, value in node.items()}


def _formats() -> list[str]:
    from tokdfa.tokenizers.formats import FORMATS

    return [*FORMATS]


def _kinds() -> list[str]:
    from tokdfa.jobs.validation.kind import ViolationKind

    return [kind.value for kind in ViolationKind]


_LISTS: dict[str, Callable[[], list[str]]] = {"formats": _formats, "violation kinds": _kinds}
