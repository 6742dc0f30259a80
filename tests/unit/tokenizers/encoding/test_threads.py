"""One function on several threads."""

from __future__ import annotations

import gc
import weakref
from threading import Barrier, get_ident

import pytest

from tokdfa.tokenizers.encoding.threads import on_threads


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_each_thread_calls_it_once(n_threads: int) -> None:
    together = Barrier(n_threads)

    def work() -> int:
        together.wait(10)
        return get_ident()

    found = on_threads(work, n_threads)
    assert len({*found}) == len(found) == n_threads
    assert get_ident() in found


@pytest.mark.parametrize("fails", ["calling", "other", "both"])
def test_an_error_is_raised_when_all_are_done(fails: str) -> None:
    together, ended = Barrier(2), []
    calling = get_ident()

    def work() -> None:
        together.wait(10)
        own = "calling" if get_ident() == calling else "other"
        ended.append(own)
        if fails in (own, "both"):
            raise KeyError(own)

    with pytest.raises(KeyError, match="calling" if fails == "both" else fails):
        on_threads(work, 2)
    assert sorted(ended) == ["calling", "other"]


def test_an_error_keeps_nothing_alive() -> None:
    class Kept:
        pass

    kept, together, calling = Kept(), Barrier(2), get_ident()
    known = weakref.ref(kept)

    def work(kept: Kept = kept) -> None:
        together.wait(10)
        if get_ident() != calling:
            raise KeyError(str(kept))

    gc.disable()
    try:
        with pytest.raises(KeyError):
            on_threads(work, 2)
        del kept, work
        assert known() is None
    finally:
        gc.enable()
