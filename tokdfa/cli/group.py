"""The group of commands, each imported only when it is used or described; and the completions for shells."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from inspect import cleandoc
from typing import Any

import click
from click.shell_completion import CompletionItem, shell_complete

import tokdfa
from tokdfa.base.errors import Argument, Hint, TokdfaError
from tokdfa.base.suggestions import nearest
from tokdfa.cli.output import escaped

# Heading of the help page -> command -> summary. Each module defers its heavy imports to its function, and the help
# page imports none of them.
GROUPS: dict[str, dict[str, str]] = {
    "Judge ids": {
        "validate": "Decide whether ids are canonical",
        "rollouts": "Tell bugs from drift in rollouts",
        "check-prefix": "Decide whether ids begin with other ids",
        "guess": "Find which tokenizer made ids",
        "stores": "Describe files of ids",
    },
    "Compare and join": {
        "doctor": "Examine the files of a model",
        "compare": "Decide whether two tokenizers ever differ",
        "convert": "Write another format, proven to be the same",
        "fingerprint": "Lock what a tokenizer does",
        "splice": "Decide whether texts can be joined as ids",
        "cuts": "Show where ids or text can be split safely",
        "turns": "Decide whether a conversation keeps its ids",
        "template": "Check a chat template",
        "injection": "Check a template against forged tokens",
        "forced": "Decide whether forced text keeps its ids",
        "bytes": "Decide whether counts of bytes add up",
        "align": "Cut two streams of one text alike",
        "bounds": "Show the fewest and the most tokens of texts",
        "audit": "Decide whether engines' shortcuts are right",
    },
    "Search ids": {
        "search": "Find a regular expression in ids",
        "replace": "Replace a regular expression in ids",
        "ban": "List the ids that would complete a word",
    },
    "Build and show": {
        "demo": "Show the main job on the embedded dictionary",
        "encode": "Print the ids of a text",
        "decode": "Print the text of ids",
        "split": "Print the pieces of a text",
        "info": "Describe a tokenizer",
        "locality": "Measure how far a token's context reaches",
        "draw": "Draw the automata of a dictionary",
        "train": "Train a dictionary",
        "formats": "List the files that can be read",
        "schema": "Print the JSON Schema of a command's --json",
    },
}
COMMANDS: tuple[str, ...] = tuple(name for commands in GROUPS.values() for name in commands)

# Commands that are functions of another command's module.
_HOMES = {
    "decode": "encode",
    "cuts": "split",
    "turns": "splice",
    "injection": "splice",
    "forced": "splice",
    "demo": "about",
    "formats": "about",
    "schema": "about",
}

# Commands of other tools, and the commands that do their job here.
_MEANT = {
    **dict.fromkeys(("check", "verify", "test"), "validate"),
    **dict.fromkeys(("diff", "cmp", "equal", "equals"), "compare"),
    **dict.fromkeys(("find", "grep", "match"), "search"),
    **dict.fromkeys(("sub", "substitute", "redact", "sed"), "replace"),
    **dict.fromkeys(("identify", "which", "detect"), "guess"),
    **dict.fromkeys(("show", "describe", "stats", "inspect", "members"), "info"),
    **dict.fromkeys(("tokenize", "tokenise"), "encode"),
    "detokenize": "decode",
    **dict.fromkeys(("pieces", "pretokenize", "pre-tokenize", "explain", "cut"), "split"),
    **dict.fromkeys(("boundaries", "chunk", "safe-cuts"), "cuts"),
    **dict.fromkeys(("prefix", "begins", "startswith"), "check-prefix"),
    **dict.fromkeys(("forbid", "bad-words", "mask"), "ban"),
    **dict.fromkeys(("inject", "attack"), "injection"),
    **dict.fromkeys(("jinja", "chat-template"), "template"),
    **dict.fromkeys(("chat", "conversation"), "turns"),
    **dict.fromkeys(("learn", "fit"), "train"),
    **dict.fromkeys(("export", "write", "port"), "convert"),
    **dict.fromkeys(("plot", "dot", "graph", "film"), "draw"),
    **dict.fromkeys(("lock", "hash", "digest"), "fingerprint"),
    **dict.fromkeys(("seam", "join", "concat", "concatenate"), "splice"),
    **dict.fromkeys(("jump", "jump-ahead", "grammar"), "forced"),
    **dict.fromkeys(("lint", "examine", "diagnose"), "doctor"),
    **dict.fromkeys(("back-off", "incremental", "cache"), "audit"),
    "help": "--help",
    "version": "--version",
}

_VARIABLE = "_TOKDFA_COMPLETE"

# Parameters that take files, apart from those with the metavar FILE.
_FILES = frozenset(
    {
        *(
            "tok",
            "a",
            "b",
            "ids",
            "ids_a",
            "ids_b",
            "files",
            "paths",
            "pattern_and_ids",
            "pattern_replacement_and_ids",
            "tokenizers_and_ids",
        ),
        *("corpus", "path", "output", "documents", "tokenizers", "table", "other"),
    }
)


# Descriptions of arguments, for the help of every command that takes them.
_ARGUMENTS = {
    "TOK": "TOK is a tokenizer.json, tekken.json, .model, .gguf, .tiktoken, merges.txt or vocab.txt file, or a folder "
    "with one.",
    "TEXT": "TEXT is taken as it is; - is standard input.",
    "IDS": "IDS is a store of ids, such as .npy, .bin, .ds, .parquet or .jsonl, or the folder of a dataset; or - for "
    "standard input.",
    "PATH": "PATH is a file of ids, such as .npy, .bin, .ds, .parquet or .jsonl, a folder, the prefix of Megatron's "
    "files, or a pattern such as 'shards/*.bin'.",
}
_EXIT_STATUS = "Exit status: "


def _with_arguments(command: click.Command) -> str:
    """Return the help of a command with its arguments explained before the exit status."""
    # In raw docstrings, the mark of lines that are kept as they are is two characters.
    text = cleandoc(command.help or "").replace("\n\\b\n", "\n\b\n")
    names = [
        parameter.metavar or parameter.name for parameter in command.params if isinstance(parameter, click.Argument)
    ]
    words = re.findall("[A-Z]+", " ".join(name or "" for name in names).upper())
    told = [_ARGUMENTS[word] for word in dict.fromkeys(words) if word in _ARGUMENTS and _ARGUMENTS[word] not in text]
    head, mark, rest = text.partition(_EXIT_STATUS)
    return head + "".join(f"{each}\n\n" for each in told) + mark + rest


class _Context(click.Context):
    # click writes UTF-8 even if stdout is ASCII, so characters that cannot be shown are escaped beforehand.
    def get_help(self) -> str:
        return escaped(super().get_help())

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Leave a command; an error about arguments of a function names the options that they were given by."""
        if isinstance(error, TokdfaError):
            error.where = self._option_of(error) or error.where
            if isinstance(error.hint, Hint):
                error.hint = error.hint.spelled(self._spelled)
        super().__exit__(kind, error, trace)

    def _spelled(self, argument: Argument) -> str:
        """Return an argument as an option, such as ``--special keep``; as in Python if the command has none."""
        option = f"--{argument.name.replace('_', '-')}"
        if not any(option in each.opts for each in self.command.params):
            return str(argument)
        return option if argument.value is None else f"{option} {argument.value}"

    def _option_of(self, error: TokdfaError) -> str | None:
        """Return where an error is if that is an option, by its name or its value, or the only pattern."""
        keyword, mark, rest = (error.where or "").partition(",")
        patterns = []
        for parameter in self.command.params:
            value, metavar = self.params.get(parameter.name or ""), str(parameter.metavar)
            if value is None:
                continue
            if "REGEX" in metavar or "PATTERN" in metavar:
                patterns.append(parameter)
            if not isinstance(parameter, click.Option):
                continue
            if keyword == parameter.name:
                return parameter.opts[0] + mark + rest
            texts = [text for text in (value if isinstance(value, tuple) else (value,)) if isinstance(text, str)]
            if not keyword and error.value in (*texts, *(text.encode("utf-8", "replace") for text in texts)):
                return parameter.opts[0]
        if keyword == "pattern" and len(patterns) == 1 and isinstance(patterns[0], click.Option):
            return patterns[0].opts[0] + mark + rest
        return None


class _LazyGroup(click.Group):
    context_class = _Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{width}}", summary) for name, summary in commands.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"tokdfa.cli.{_HOMES.get(cmd_name, cmd_name).replace('-', '_')}")
        command: click.Command = getattr(module, cmd_name if cmd_name in _HOMES else "command")
        command.context_class = _Context
        command.short_help = next(commands[cmd_name] for commands in GROUPS.values() if cmd_name in commands)
        command.help = _with_arguments(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        # An option that does not exist is left to click.
        if name not in COMMANDS and not name.startswith("-"):
            meant = _MEANT.get(name) or nearest(name, COMMANDS)
            ctx.fail(f"no such command: {name!r} ({f'did you mean {meant}?' if meant else 'tokdfa --help lists them'})")
        return super().resolve_command(ctx, args)


_EPILOG = """\
\b
Examples:
  tokdfa validate tokenizer.json ids.npy
  tokdfa compare old/tokenizer.json new/tokenizer.json

Exit status: 0 yes, 1 no, 2 trouble, with one line on stderr.

\b
Completion in bash or zsh: eval "$(_TOKDFA_COMPLETE=bash_source tokdfa)", or
zsh_source; in fish: _TOKDFA_COMPLETE=fish_source tokdfa | source
"""


@click.group(
    cls=_LazyGroup,
    no_args_is_help=False,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(tokdfa.__version__, prog_name="tokdfa")
def group() -> None:
    """Decide what a tokenizer does: validate ids, compare tokenizers, search tokenized text."""


def run(arguments: list[str]) -> int:
    """Run a command and return its exit status; every error is raised.

    `click`'s own ``main`` would exit with status 1 on a broken pipe, and take the end of a file for an interrupt.
    """
    if (status := _complete(group)) is not None:
        return status
    if not arguments:
        # Nothing was asked, so this is neither yes nor no.
        with group.make_context("tokdfa", [], resilient_parsing=True) as context:
            print(context.get_help(), file=sys.stderr)
        return 2
    with group.make_context("tokdfa", arguments) as context:
        answer: int = group.invoke(context)
    return answer


def _complete(group: click.Command) -> int | None:
    """Answer the shell if its variable asks for completions or the script, and return the exit status; None if not."""
    instruction = os.environ.get(_VARIABLE)
    if not instruction:
        return None
    return shell_complete(_Completing(group), {}, "tokdfa", _VARIABLE, instruction)


class _Completing(click.Group):
    """A group with the same commands; their parameters complete their values."""

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
    """Return the function that completes the values of a parameter; None if click completes them, or nothing does."""
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
    from tokdfa.tokenizers.pretokenizers.steps import NAMED

    return (*NAMED, "none")


def _versions() -> Iterable[str]:
    from tokdfa.regex.unicode.versions import TABLES, known_versions

    return (f"{library}=={number}" for library in TABLES for number in reversed(known_versions(library)))


def _commands() -> Iterable[str]:
    from tokdfa.cli.about import described

    return described()


_CHOICES: dict[str, Callable[[], Iterable[str]]] = {
    "FORMAT": _formats,
    "NAME|PATTERN|none": _pretokenizers,
    "TYPE": lambda: ("uint16", "uint32", "uint64", "int16", "int32", "int64", "uint8"),
    "NAME==VERSION": _versions,
    "[COMMAND]": _commands,
}
