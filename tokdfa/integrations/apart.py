"""Iterating in another process, for libraries that end the process that they run in."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Thread
from typing import Any, BinaryIO

from tokdfa.base.errors import TokdfaError

__all__ = ["iterate_apart"]

_SECONDS = 10
_PROGRAM = f"from {__name__} import _serve; _serve()"
_ITEM, _ERROR, _END = range(3)


def iterate_apart(function: Callable[..., Iterator[Any]], *arguments: Any, lost: str) -> Iterator[Any]:
    """Yield what a function of a module yields in a process of its own, which ends with this generator.

    The function, its arguments and what it yields can be pickled; what it raises is raised here. `lost` says what it
    means if the process ends before the function does, for the message.
    """
    # What it prints is not for the terminal of this process, which gives one answer.
    errors = None if os.environ.get("TOKDFA_DEBUG") else subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with suppress(BrokenPipeError):
            pickle.dump((function, arguments), process.stdin)
            process.stdin.flush()
        while True:
            try:
                kind, value = pickle.load(process.stdout)
            except (EOFError, pickle.UnpicklingError):
                status = process.wait()
                what = f"{lost}: the process that used it ended with status {status}"
                raise TokdfaError(what, hint="TOKDFA_DEBUG=1 shows what it printed") from None
            if kind == _END:
                return
            if kind == _ERROR:
                raise value
            yield value
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        try:
            process.wait(2 * _SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _serve() -> None:
    """Run the function that standard input has, and write to what was standard output."""
    # An interrupt is for the process that asks; it then closes standard input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    function, arguments = pickle.load(sys.stdin.buffer)
    Thread(target=_end_with_input, daemon=True).start()
    try:
        for item in function(*arguments):
            _send(answers, _ITEM, item)
        _send(answers, _END, None)
    except BrokenPipeError:
        os._exit(0)
    except Exception as error:
        try:
            _send(answers, _ERROR, error)
        except (pickle.PicklingError, TypeError, AttributeError):
            _send(answers, _ERROR, TokdfaError(f"{type(error).__name__}: {error}"))


def _send(stream: BinaryIO, kind: int, value: object) -> None:
    stream.write(pickle.dumps((kind, value)))
    stream.flush()


def _end_with_input() -> None:
    """End this process when the one that asks has ended, or wants no more."""
    # Without a buffer, whose lock this thread would hold when the interpreter ends.
    while os.read(0, 1):
        pass
    # What the function has begun, it ends.
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_SECONDS)
    os._exit(0)


def _exit(*_: object) -> None:
    sys.exit(0)
