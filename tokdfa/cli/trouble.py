"""What is said and which exit status is left with when a command does not come to its end."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

__all__ = ["report"]

_PACKAGE = Path(__file__).parents[1]
_INTERRUPTED = 130


def report(error: BaseException) -> int:
    """Say on one line of stderr what went wrong, and return the exit status.

    With the environment variable ``TOKDFA_DEBUG`` set, the traceback comes first.
    """
    from click.exceptions import Abort, ClickException, Exit

    from tokdfa.errors import TokdfaError

    if isinstance(error, Exit):
        return error.exit_code
    if os.environ.get("TOKDFA_DEBUG"):
        _complain("".join(traceback.format_exception(error)))
    if isinstance(error, BrokenPipeError):
        return 2  # The reader has gone and does not ask why.
    if isinstance(error, (Abort, KeyboardInterrupt)):
        _complain("tokdfa: interrupted\n")
        return _INTERRUPTED
    if isinstance(error, ClickException):
        message = error.format_message()
    elif isinstance(error, TokdfaError):
        message = str(error)
    elif isinstance(error, MemoryError):
        message = f"out of memory{f': {error}' if str(error) else ''}"
    elif isinstance(error, OSError):
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    elif isinstance(error, RecursionError):
        message = f"something is nested too deeply: {error}, in {_place(error)}"
    else:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        message = (
            f"unexpected {said}, in {_place(error)} "
            "(no answer, but a defect of tokdfa: please report it, with the traceback that TOKDFA_DEBUG=1 shows)"
        )
    _complain(f"tokdfa: error: {' '.join(message.split())}\n")
    return 2


def _place(error: BaseException) -> str:
    """Return the last line of the package that the error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
    if not own:
        return "Python itself"
    return f"{Path(own[-1].filename).relative_to(_PACKAGE.parent).as_posix()}, line {own[-1].lineno}"


def _complain(text: str) -> None:
    """Write on stderr, if there is one that takes it: the status counts more than the words."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
