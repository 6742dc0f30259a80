"""The message and the exit status of a command that fails or is interrupted."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_INTERRUPTED = 130
_LONGEST = 2000


def report(error: BaseException) -> int:
    """Report the error on one line of stderr, and return the exit status.

    If the environment variable ``TOKDFA_DEBUG`` is set, the traceback comes first.
    """
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
        message = f"something is nested too deeply: {error}, in {_place(error)}"
    else:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        message = (
            f"unexpected {said}, in {_place(error)} "
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


def _place(error: BaseException) -> str:
    """Return the last line of this package in the error's traceback."""
    frames = traceback.extract_tb(error.__traceback__)
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
