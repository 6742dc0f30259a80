"""A function in a process of its own: its values, its errors, and its end."""

from __future__ import annotations

import os
import signal
import time

import pytest

import tokdfa
from tokdfa.integrations.ray_tasks import iterate_apart, run_tasks
from tokdfa.jobs.shards.check import Options


def test_values_in_order() -> None:
    assert [*iterate_apart(range, 3, lost="all is lost")] == [0, 1, 2]
    assert [*iterate_apart(iter, [], lost="all is lost")] == []


def test_errors_are_raised_here() -> None:
    tokenizer = tokdfa.default_tokenizer()
    job = ("nowhere", tokenizer, Options(), 1, ["x.npy"])
    with pytest.raises(tokdfa.TokdfaError) as caught:
        next(iterate_apart(run_tasks, *job, lost="all is lost"))
    # Without Ray the address is never looked at.
    assert "no address of a Ray cluster" in str(caught.value) or "pip install 'tokdfa[ray]'" in str(caught.value)
    with pytest.raises(ZeroDivisionError):
        next(iterate_apart(divmod, 1, 0, lost="all is lost"))


def test_what_is_no_iterator() -> None:
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        next(iterate_apart(abs, -1, lost="all is lost"))


def test_a_process_that_ends_is_no_answer() -> None:
    with pytest.raises(tokdfa.TokdfaError, match="all is lost: the process that used it ended with status 7"):
        next(iterate_apart(os._exit, 7, lost="all is lost"))


SLOW = "(__import__('time').sleep(60 * n) or __import__('os').getpid() for n in range(2))"


def test_it_ends_with_its_generator() -> None:
    lines = iterate_apart(eval, SLOW, lost="all is lost")
    process = next(lines)
    assert process != os.getpid()
    lines.close()
    for _ in range(500):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    pytest.fail("it is still running")
