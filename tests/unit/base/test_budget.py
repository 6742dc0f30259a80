"""The budget of everything that is built from a pattern."""

from __future__ import annotations

import math
import time
from threading import Thread

import pytest

from tokdfa.base.budget import Budget, total_of
from tokdfa.base.errors import LimitExceededError
from tokdfa.regex.program import compile_program
from tokdfa.regex.subset import determinize
from tokdfa.regex.syntax import parse
from tokdfa.regex.utf8 import to_bytes


def test_every_limit_says_what_to_do() -> None:
    refusals = [
        lambda: Budget(max_seconds=-1).check_time(),
        lambda: Budget(3).check_states(4),
        lambda: Budget(3).check_byte_states(31),
        lambda: Budget(max_entries=5).spend(6),
        lambda: Budget(max_entries=5).check_size(6, "sets of symbols"),
    ]
    for refuse in refusals:
        with pytest.raises(LimitExceededError, match="the automaton of the pattern") as caught:
            refuse()
        assert caught.value.hint
        assert "narrow it" in caught.value.hint


def test_what_was_spent_is_spent() -> None:
    budget = Budget(max_entries=5)
    budget.spend(3)
    budget.spend(2)
    with pytest.raises(LimitExceededError):
        budget.spend(1)


def test_the_clock_runs_through_all_constructions() -> None:
    """Each construction checks the clock: with an expired budget, none begins."""
    late = Budget(max_seconds=-1)
    node = parse("ab*c")
    program = compile_program(node)
    dfa = determinize(program)
    for build in (
        lambda: parse("ab*c", budget=late),
        lambda: compile_program(node, budget=late),
        lambda: determinize(program, budget=late),
        lambda: to_bytes(dfa, late),
    ):
        with pytest.raises(LimitExceededError, match="seconds"):
            build()


def test_only_processor_time_counts() -> None:
    budget = Budget(max_seconds=0.02)
    time.sleep(0.05)
    budget.check_time()
    with pytest.raises(LimitExceededError, match=r"more than 0\.02 seconds"):
        _check_for_ever(budget)


def _check_for_ever(budget: Budget) -> None:
    while True:
        budget.check_time()


def test_in_another_thread_all_time_counts() -> None:
    budget = Budget(max_seconds=0.02)
    found: list[Exception] = []

    def check() -> None:
        time.sleep(0.05)
        try:
            budget.check_time()
        except LimitExceededError as error:
            found.append(error)

    thread = Thread(target=check)
    thread.start()
    thread.join()
    assert found


def test_states_over_bytes_are_counted() -> None:
    dfa = determinize(compile_program(parse(r"\p{L}{5}")))
    assert to_bytes(dfa).n_states > 1_000
    with pytest.raises(LimitExceededError, match="more than 1000 states over bytes"):
        to_bytes(dfa, Budget(100))


def test_a_repetition_of_nothing_is_nothing() -> None:
    """However often it is repeated, it takes no instruction."""
    assert len(compile_program(parse("(){4000000000}")).instructions) <= 2
    assert len(compile_program(parse("(?:a(){4000000000}){3}")).instructions) <= 5


def test_budgets_in_a_block_have_their_time_together() -> None:
    with total_of(1e-9) as total:
        assert total.seconds_left == 0
        for seconds in (60, math.inf):
            with pytest.raises(LimitExceededError, match="time is up"):
                Budget(max_seconds=seconds).check_time()
    Budget(max_seconds=60).check_time()
    with total_of(60) as total:
        Budget(max_seconds=60).check_time()
        assert 0 < total.seconds_left <= 60


def test_the_time_left_is_of_the_processor_however_busy_the_machine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(max_seconds=60)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 50)
    assert budget.seconds_left > 55
    budget.check_time()
