"""Results in order, whichever thread found them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import Barrier, active_count, get_ident

import pytest

from tokdfa.tokenizers.encoding.threads import in_order


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 100])
def test_results_come_in_order(n: int, n_threads: int) -> None:
    def slowly(i: int) -> int:
        time.sleep((i * 7 % 5) / 2_000)
        return -i

    assert [*in_order(slowly, range(n), n_threads)] == [-i for i in range(n)]


def test_threads_work_at_the_same_time() -> None:
    # Neither continues before the other is there.
    barrier = Barrier(2, timeout=30)

    def meet(_: int) -> int:
        barrier.wait()
        return get_ident()

    assert len({*in_order(meet, range(10), 2)}) == 2


def test_one_item_and_one_thread_start_none() -> None:
    assert [*in_order(lambda _: get_ident(), range(1), 8)] == [get_ident()]
    assert {*in_order(lambda _: get_ident(), range(20), 1)} == {get_ident()}


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_an_error_comes_in_the_place_of_its_result(n_threads: int) -> None:
    def fail(i: int) -> int:
        if i in (7, 8):
            raise ValueError(i)
        return i

    found = in_order(fail, range(20), n_threads)
    assert [next(found) for _ in range(7)] == [*range(7)]
    with pytest.raises(ValueError, match="7"):
        next(found)
    assert [*found] == []


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_the_caller_asks_for_items_a_few_at_a_time(n_threads: int) -> None:
    asked: list[int] = []

    def items() -> Iterator[int]:
        for i in range(100):
            asked.append(get_ident())
            yield i

    for done, _ in enumerate(in_order(abs, items(), n_threads), 1):
        assert len(asked) <= done + 2 * n_threads
    assert {*asked} == {get_ident()}


def test_an_error_of_the_items_ends_it() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise KeyError("no more")

    with pytest.raises(KeyError):
        [*in_order(abs, items(), 3)]


def test_who_stops_early_leaves_nothing_running() -> None:
    done: list[int] = []
    found = in_order(lambda i: done.append(i), iter(range(10**9)), 3)
    next(found)
    before = active_count()
    found.close()
    n = len(done)
    time.sleep(0.02)
    assert len(done) == n
    assert active_count() <= before


def test_an_interruption_is_not_kept_for_later() -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        [*in_order(interrupt, range(3), 1)]
