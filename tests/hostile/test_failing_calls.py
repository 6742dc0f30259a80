"""Reads and writes that fail: the message names that file, and no part of an output is left."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest

from tests.support.preloaded import printed_with


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = printed_with("failing_calls", tmp_path_factory.mktemp("library"))
    return found


def test_the_file_that_failed_is_named(failures: list[dict[str, Any]]) -> None:
    for failure in failures:
        first, *_ = failure["said"].splitlines()
        named = first.removesuffix(f": {os.strerror(errno.EIO)}")
        assert named != first, failure
        assert named.split(": ")[-1] == failure["file"], failure
        assert failure["status"] == 2, failure
    assert {failure["command"] for failure in failures} > {"encode", "replace", "replace in files", "train", "convert"}


def test_later_calls_and_calls_while_writing_fail_too(failures: list[dict[str, Any]]) -> None:
    assert sum(failure["first"] > 0 for failure in failures) > 10
    assert not any(failure["is_left"] for failure in failures)
