"""The group of commands; each one is imported only when it is used or described."""

from __future__ import annotations

import os
from importlib import import_module

import click

import tokdfa
from tokdfa.cli.output import escaped

__all__ = ["COMMANDS", "group", "run"]

# In the order of the help page. Each command's module defers its heavy imports to its function.
COMMANDS: tuple[str, ...] = (
    "demo",
    "validate",
    "compare",
    "search",
    "info",
    "encode",
    "decode",
    "locality",
    "draw",
    "train",
    "schema",
)


_COMPLETION = "_TOKDFA_COMPLETE"


class _Context(click.Context):
    # click writes UTF-8 even if stdout is ASCII, so what cannot be shown is escaped beforehand.
    def get_help(self) -> str:
        return escaped(super().get_help())


class _LazyGroup(click.Group):
    context_class = _Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"tokdfa.cli.{cmd_name}").command
        command.context_class = _Context
        return command


@click.group(cls=_LazyGroup, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tokdfa.__version__, prog_name="tokdfa")
def group() -> None:
    """Know what a tokenizer does: validate, compare, search and draw tokenizations, by their automata."""


def run(arguments: list[str]) -> int:
    """Run a command and return its exit status; every error is raised.

    `click`'s own ``main`` would exit with status 1 on a broken pipe, and take the end of a file for an interrupt.
    """
    if instruction := os.environ.get(_COMPLETION):
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, "tokdfa", _COMPLETION, instruction)
    with group.make_context("tokdfa", arguments) as context:
        status: int = group.invoke(context)
    return status
