"""The command line, called as a shell calls it but in this process."""

from __future__ import annotations

import pytest

from tokdfa.cli import main

__all__ = ["run"]


def run(*arguments: object) -> int:
    """Run ``tokdfa`` with these arguments and return its exit status."""
    with pytest.raises(SystemExit) as leaving:
        main([str(argument) for argument in arguments])
    assert isinstance(leaving.value.code, int)
    return leaving.value.code
