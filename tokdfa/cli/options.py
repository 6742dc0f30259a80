"""The options and arguments that several commands share, and the check of the files that commands write."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import Any, TypeVar

import click

from tokdfa.base.budget import DEFAULT_MAX_SECONDS

F = TypeVar("F", bound=Callable[..., Any])


class AtLeast(click.IntRange):
    """The type of whole numbers from a least one on."""

    name = "whole number"


class Seconds(click.FloatRange):
    """The type of numbers of seconds, above 0 unless `or_none`."""

    name = "number of seconds"

    def __init__(self, *, or_none: bool = False) -> None:
        super().__init__(min=0, min_open=not or_none)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number. NaN is refused: it passes all comparisons with the limits."""
        number = float(super().convert(value, param, ctx))
        return self.fail(f"{value!r} is not a number.", param, ctx) if isnan(number) else number


class NamedPath(click.Path):
    """The type of paths: any text but the empty one, which a variable without a value is, not the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        return super().convert(value, param, ctx) if value else self.fail("the path is empty", param, ctx)


# What is printed and written

json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")

_FORCE, _WRITTEN = "tokdfa.cli.force", "tokdfa.cli.written"


def _force(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.meta[_FORCE] = value


# Eager, so that it is known when the output files are checked.
force = click.option(
    "--force", is_flag=True, is_eager=True, expose_value=False, callback=_force, help="Replace output files that exist."
)


def is_forced() -> bool:
    """Return whether the current command has --force."""
    return bool(click.get_current_context().meta[_FORCE])


def check_new(path: str | Path, option: str) -> None:
    """Refuse an output file that cannot be written, is given twice, or exists without --force."""
    from tokdfa.base.atomic import check_writable

    meta = click.get_current_context().meta
    try:
        check_writable(path)
    except OSError as error:
        more = f" (there is no folder {Path(path).parent})" if error.errno == errno.ENOENT else ""
        raise click.BadParameter(f"{path}: {error.strerror}{more}", param_hint=option) from None
    if Path(path).is_file() and not is_forced():
        raise click.UsageError(f"{option} {path}: the file exists; --force replaces it")
    other = meta.setdefault(_WRITTEN, {}).setdefault(os.path.realpath(path), option)
    if other != option:
        raise click.UsageError(f"{other} and {option} name the same file: {path}")


def is_given(name: str) -> bool:
    """Return whether a parameter of the current command has a value that is not its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, click.core.ParameterSource.DEFAULT)


def new_file(ctx: click.Context, parameter: click.Parameter, path: Any) -> Any:
    """Check the value of an option for an output file before the command runs; the command has --force, too."""
    if path is not None:
        check_new(path, parameter.opts[0])
    return path


html = click.option(
    "--html", "html_path", metavar="FILE", callback=new_file, help="Also write the findings to FILE as a web page."
)
certificate = click.option(
    "--certificate",
    "certificate_path",
    metavar="FILE",
    callback=new_file,
    help="Write the proof of the answer to FILE, which python -m tokdfa.check verifies.",
)

# Tokenizers

lowercase = click.option(
    "--lowercase/--no-lowercase",
    default=None,
    help="Whether a vocab.txt is of text in lower case; default: do_lower_case of a tokenizer_config.json next to it, "
    "otherwise yes.",
)
unicode = click.option(
    "--unicode",
    metavar="NAME==VERSION",
    help="Unicode tables of this library version, such as tokenizers==0.20.3; default: the newest known.",
)
format = click.option(
    "--format",
    "format_name",
    metavar="FORMAT",
    help="Format of the tokenizer file, as tokdfa formats lists them; detected by default.",
)
specials = click.option(
    "--specials",
    metavar="FILE|NAME",
    help="Special tokens of a rank file: a JSON file of texts and ids, or with added_tokens_decoder as in a "
    "tokenizer_config.json (those not special are text); or the name of an encoding, such as o200k_harmony.",
)
plain_specials = click.option(
    "--plain-specials/--find-specials",
    default=None,
    help="Whether special tokens are plain text in the texts, or found in them; default: as TOK does.",
)


def pretokenizer_of(otherwise: str, default: str | None = None) -> Callable[[F], F]:
    """Return the option --pretokenizer of a command; `otherwise` says what holds without it."""
    text = f"How text is split into pieces: a name such as gpt2, a pattern, or none{otherwise}."
    return click.option("--pretokenizer", metavar="NAME|PATTERN|none", help=text, default=default)


pretokenizer = pretokenizer_of("; default: as the tokenizer file says")

# Ids

dtype = click.option(
    "--dtype",
    metavar="TYPE",
    help="Integer type of raw ids that do not record it (.bin files, OLMo's .npy, standard input), such as uint16.",
)
field = click.option(
    "--field",
    metavar="FIELD",
    help="Field, column or array of the ids in files of records, such as input_ids or a.b; default: a usual name.",
)
documents = click.option(
    "--documents",
    metavar="SEPARATOR_ID|INDEX_FILE|none",
    help="Documents to take separately: the id that separates them, a file with the index of the first token of each, "
    "or none to take IDS as one stream; default: the documents of the store.",
)


def _one(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> str:
    if not given:
        # Shells that complete the line have not got to it yet.
        if ctx.resilient_parsing:
            return ""
        raise click.MissingParameter(ctx=ctx, param=parameter)
    if len(given) == 1 or ctx.resilient_parsing:
        return given[0]
    if all(word.isascii() and word.isdecimal() for word in given):
        words = " ".join(given[:8])
        what = f"ids are read from a file, or from standard input: echo {words} | {ctx.command_path} TOK -"
        raise click.UsageError(what, ctx)
    raise click.UsageError(
        f"IDS is one file, and here are {len(given)}: {' '.join(given[:3])}{' …' * (len(given) > 3)}; "
        f'take one after the other: for f in …; do {ctx.command_path} TOK "$f" || echo "$f"; done',
        ctx,
    )


def _many(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    if len(given) < 2 or all(word.isascii() and word.isdecimal() for word in given):
        return (_one(ctx, parameter, given),)
    if "-" in given and not ctx.resilient_parsing:
        raise click.UsageError("standard input is one stream, and cannot be given together with files", ctx)
    return given


ids = click.argument("ids", nargs=-1, type=NamedPath(), metavar="IDS", callback=_one)
many_ids = click.argument("paths", nargs=-1, type=NamedPath(), metavar="IDS...", callback=_many)

# Texts, patterns and work

file = click.option(
    "--file", "path", metavar="FILE", help="Read the text from FILE, in UTF-8, instead of TEXT; - is standard input."
)
escapes = click.option(
    "--escapes",
    is_flag=True,
    help=r"Read \n, \t, \r, \\, \uXXXX and \UXXXXXXXX in arguments; by default they are literal.",
)
words = click.option(
    "--words", metavar="FILE", help="Take the words in FILE, one per line and literal, instead of those in arguments."
)
language = click.option("--language", metavar="REGEX", help="Only the texts that REGEX matches as a whole.")


def time_limit(help: str, default: float = DEFAULT_MAX_SECONDS) -> Callable[[F], F]:
    """Return --max-seconds of a command."""
    return click.option("--max-seconds", type=Seconds(), default=default, show_default=True, metavar="N", help=help)


max_seconds = time_limit("Give up if building the automaton of the pattern takes more than N seconds.")
threads = click.option(
    "--threads",
    type=AtLeast(1),
    metavar="N",
    help="Use up to N threads; the answer is the same. Default: one per core.",
)
