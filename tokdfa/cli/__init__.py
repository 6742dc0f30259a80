"""The command line: one thin module a command.

Exit status 0 is yes (valid, equivalent, found, done), 1 is no, 2 is trouble with one line on stderr.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

import tokdfa
from tokdfa.errors import TokdfaError

__all__ = ["main"]

# In the order of the help page. A command's module is imported only when it is used or described, and imports
# what is heavy inside its function.
_COMMANDS: tuple[str, ...] = (
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
)


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(f"tokdfa.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tokdfa.__version__, prog_name="tokdfa")
def _group() -> None:
    """Know what a tokenizer does: validate, compare, search and see byte pair encodings as automata."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit status.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments; those of the process by default.
    """
    try:
        status = _group.main(arguments, prog_name="tokdfa", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as leaving:
        status = leaving.exit_code
    except click.ClickException as error:
        status = _trouble(error.format_message())
    except (TokdfaError, MemoryError) as error:
        status = _trouble(str(error) or "out of memory")
    except BrokenPipeError:
        # The reader has gone; nothing more can be said, not even by the interpreter's own flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 2
    except OSError as error:
        status = _trouble(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (click.Abort, KeyboardInterrupt):
        status = 130
    sys.exit(status if isinstance(status, int) else 0)


def _trouble(message: str) -> int:
    print(f"tokdfa: error: {' '.join(message.split())}", file=sys.stderr)
    return 2
