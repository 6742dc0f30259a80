"""What shells complete: commands and options by click, and here the values of arguments and options."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem, shell_complete

__all__ = ["complete"]

_VARIABLE = "_TOKDFA_COMPLETE"

# Parameters whose values are files, apart from those with the metavar FILE.
_FILES = frozenset(
    {
        *("tok", "a", "b", "ids", "files", "paths", "pattern_and_ids", "pattern_replacement_and_ids"),
        *("corpus", "path", "output", "documents", "tokenizers"),
    }
)


def complete(group: click.Command) -> int | None:
    """Answer the shell if it asks for completions or for its script, and return the exit status; None if it does not.

    The shell asks by a variable of the environment, as the script tells it to.
    """
    instruction = os.environ.get(_VARIABLE)
    if not instruction:
        return None
    return shell_complete(_Completing(group), {}, "tokdfa", _VARIABLE, instruction)


class _Completing(click.Group):
    """A group with the same commands, whose parameters complete their values."""

    def __init__(self, group: click.Command) -> None:
        assert isinstance(group, click.Group)
        super().__init__(group.name, params=group.params)
        self._group = group

    def list_commands(self, ctx: click.Context) -> list[str]:
        return self._group.list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = self._group.get_command(ctx, cmd_name)
        for parameter in [] if command is None else command.params:
            values = _values(parameter)
            if values is not None:
                parameter.shell_complete = values  # type: ignore[method-assign, assignment]
        return command


def _values(parameter: click.Parameter) -> Callable[[click.Context, str], list[CompletionItem]] | None:
    """Return the function that completes the values of a parameter; None for what click completes, or nothing does."""
    if parameter.name in _FILES or parameter.metavar in ("FILE", "X.svg|png|dot"):
        return lambda _, incomplete: [CompletionItem(incomplete, type="file")]
    choices = _CHOICES.get(parameter.metavar or "")
    if choices is None:
        return None
    return lambda _, incomplete: [CompletionItem(name) for name in choices() if name.startswith(incomplete)]


def _formats() -> Iterable[str]:
    from tokdfa.tokenizers.formats import FORMATS

    return FORMATS


def _pretokenizers() -> Iterable[str]:
    from tokdfa.splitting.named import NAMED

    return (*NAMED, "none")


def _versions() -> Iterable[str]:
    from tokdfa.unicode.versions import TABLES, known_versions

    return (f"{library}=={number}" for library in TABLES for number in reversed(known_versions(library)))


def _commands() -> Iterable[str]:
    from tokdfa.cli.schema import described

    return described()


_CHOICES: dict[str, Callable[[], Iterable[str]]] = {
    "FORMAT": _formats,
    "NAME|PATTERN|none": _pretokenizers,
    "TYPE": lambda: ("uint16", "uint32", "uint64", "int16", "int32", "int64", "uint8"),
    "NAME==VERSION": _versions,
    "[COMMAND]": _commands,
}
