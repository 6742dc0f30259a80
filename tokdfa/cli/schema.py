"""``tokdfa schema``: JSON Schemas of what the commands print with ``--json``."""

from __future__ import annotations

from importlib.resources import files

import click

from tokdfa.cli.output import say

_FOLDER = "schemas"
_SUFFIX = ".json"


@click.command("schema")
@click.argument("name", metavar="[COMMAND]", required=False)
def command(name: str | None) -> int:
    """Print the JSON Schema (draft 2020-12) of the --json output of COMMAND; without COMMAND, list the commands."""
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
    return files("tokdfa.cli").joinpath(_FOLDER, name + _SUFFIX).read_text(encoding="ascii")
