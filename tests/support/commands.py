"""The command line, called as a shell calls it but in this process; its output with --json is checked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.schemas import check
from tokdfa.cli import main

__all__ = ["run"]


def run(*arguments: object) -> int:
    """Run ``tokdfa`` with these arguments and return its exit status.

    An answer with ``--json`` fails the test if it is not as the schema of the command says.
    """
    with _heard() as printed, pytest.raises(SystemExit) as leaving:
        main([str(argument) for argument in arguments])
    status = leaving.value.code
    assert isinstance(status, int)
    if "--json" in arguments and status in (0, 1) and sys.stdout is not None:
        check(str(arguments[0]), "".join(printed))
    return status


@contextmanager
def _heard() -> Iterator[list[str]]:
    """Listen to the output on the current sys.stdout."""
    stdout, heard = sys.stdout, []
    if stdout is None:
        yield heard
        return
    write = stdout.write

    def write_and_hear(text: str) -> int:
        written = write(text)
        heard.append(text)
        return written

    stdout.write = write_and_hear  # type: ignore[method-assign]
    try:
        yield heard
    finally:
        del stdout.write  # type: ignore[method-assign]
