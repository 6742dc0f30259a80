"""The command line: thin modules of one command, or of a few that belong together.

The commands are `doctor`, `info`, `validate`, `encode`, `decode`, `split`, `compare`, `convert`, `search`, `replace`,
`rollouts`, `check_prefix`, `ban`, `splice`, `cuts`, `injection`, `template`, `turns`, `forced`, `audit`, `bytes`,
`align`, `bounds`, `stores`, `guess`, `fingerprint`, `locality`, `train`, `draw`, and in `about` `demo`, `formats` and
`schema`; `group` imports each one when it is used, and answers shells that complete them. `options` has what several
commands share, and checks the files that they write. `output` writes to stdout, to stderr and certificates for all of
them. `ids` reads their argument IDS, their texts and files of words, `corpus` works on many files of IDS, `counting`
counts in them for `search`, and `contamination` n-grams, `masks` prints the masks of rollouts, `lattices` the lattices
around violations, and `loading` loads a tokenizer, and the automata that several commands write out. ``schemas/``
describes the output of ``--json``.

Exit status 0 means yes (valid, equivalent, found, done), 1 means no, 2 is trouble with one line on stderr, 130 an
interrupt. An unexpected exception is trouble, too: status 1 is always an answer.
"""

# Nothing but the standard library is imported before `main` runs: an earlier failure would exit with status 1.
from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["main"]

_PACKAGE = Path(__file__).parents[1]
_INTERRUPTED = 130
_LONGEST = 2000


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status.

    If the environment variable ``TOKDFA_DEBUG`` is set, the traceback of any error is shown as well.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments; by default the process's own.
    """
    try:
        from tokdfa.cli.group import run
        from tokdfa.cli.output import flush, prepare

        prepare()
        status = run(sys.argv[1:] if arguments is None else arguments)
        flush()
    except BaseException as error:
        status = _report(error)
    _settle_stdout()
    sys.exit(status)


def _settle_stdout() -> None:
    """Discard output that stdout refuses: the interpreter's own flush at exit would fail and change the status."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(error: BaseException) -> int:
    """Report the error on one line of stderr, and return the exit status.

    If the environment variable ``TOKDFA_DEBUG`` is set, the traceback comes first.
    """
    import traceback

    from click.exceptions import Abort, ClickException, Exit, UsageError

    from tokdfa.base.errors import TokdfaError

    if isinstance(error, Exit):
        return error.exit_code
    if os.environ.get("TOKDFA_DEBUG"):
        _complain("".join(traceback.format_exception(error)))
    if isinstance(error, BrokenPipeError):
        return 2  # The reader of the pipe is gone, so nobody would see a message.
    if isinstance(error, (Abort, KeyboardInterrupt)):
        _complain("tokdfa: interrupted\n")
        return _INTERRUPTED
    if isinstance(error, ClickException):
        message = error.format_message()
        if isinstance(error, UsageError) and error.ctx is not None and error.ctx.parent is not None:
            usage = error.ctx.get_usage().removeprefix("Usage: ")
            message += f" (usage: {usage}; {error.ctx.command_path} --help says more)"
    elif isinstance(error, TokdfaError):
        message = str(error)
    elif isinstance(error, MemoryError):
        message = f"out of memory{f': {error}' if str(error) else ''}"
    elif isinstance(error, OSError):
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        if isinstance(error, FileNotFoundError) and isinstance(error.filename, str):
            message += _hint_of_missing(Path(error.filename))
    elif isinstance(error, RecursionError):
        message = f"something is nested too deeply: {error}, in {_line_of(error)}"
    else:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        message = (
            f"unexpected {said}, in {_line_of(error)} "
            "(this is a defect of tokdfa and no answer: please report it, with the traceback that TOKDFA_DEBUG=1 shows)"
        )
    line = " ".join(message.split())
    _complain(f"tokdfa: error: {line if len(line) <= _LONGEST else line[: _LONGEST - 1] + '…'}\n")
    return 2


def _hint_of_missing(path: Path) -> str:
    from tokdfa.base.suggestions import names_beside, nearest

    if not path.parent.is_dir():
        return f" (there is no folder {path.parent})"
    if set("*?") & set(path.name):
        return " (patterns are not expanded here: give the name of one file, or leave the pattern to the shell)"
    near = nearest(path.name, names_beside(path))
    return "" if near is None else f" (did you mean {path.with_name(near)}?)"


def _line_of(error: BaseException) -> str:
    """Return the last line of this package in the error's traceback."""
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
    if not own:
        return "Python itself"
    return f"{Path(own[-1].filename).relative_to(_PACKAGE.parent).as_posix()}, line {own[-1].lineno}"


def _complain(text: str) -> None:
    """Write to stderr if that is possible: the exit status matters more than the message."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
