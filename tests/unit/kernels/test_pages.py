"""Zeros straight from the system are zeros like others."""

from __future__ import annotations

import mmap

import numpy as np
import pytest

from tokdfa.kernels import pages


@pytest.mark.parametrize("size", [0, 5, pages.LARGE_PAGE // 16, pages.LARGE_PAGE // 16 - 1, pages.LARGE_PAGE])
def test_zeros_can_be_written(size: int) -> None:
    for make in (pages.zeros, pages.untouched):
        found = make(size, np.uint64)
        assert (found.shape, found.dtype, bool(found.any())) == ((size,), np.dtype(np.uint64), False)
        found[:] = np.arange(size)
        assert int(found.sum()) == size * (size - 1) // 2
    found = pages.zeros(size, np.uint64)
    if 16 * size >= pages.LARGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
        assert found.ctypes.data % pages.LARGE_PAGE == 0


def test_a_system_without_advice_or_room_has_zeros_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError

    monkeypatch.setattr(pages.mmap, "mmap", refuse)
    assert pages.zeros(pages.LARGE_PAGE, np.uint8).sum() == 0
    assert pages.untouched(pages.LARGE_PAGE, np.uint8).sum() == 0
    monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    monkeypatch.delattr(mmap, "MAP_ANONYMOUS", raising=False)
    assert pages.zeros(pages.LARGE_PAGE, np.uint8).sum() == 0
    assert pages.untouched(pages.LARGE_PAGE, np.uint8).sum() == 0


@pytest.mark.parametrize("n", [0, 1, 9, 1 << 20])
def test_arrays_that_share_pages_share_no_bytes(n: int) -> None:
    wanted = [(n, np.uint32), (n, np.uint8), (0, np.int64), (3, np.int64)]
    found = pages.zeros_together(*wanted)
    assert [(len(array), array.dtype) for array in found] == wanted
    assert all(array.flags.aligned and array.flags.c_contiguous and not array.any() for array in found)
    for number, array in enumerate(found, 1):
        array.fill(number)
    assert all((array == number).all() for number, array in enumerate(found, 1))


def test_room_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_freed", [0])
    for size in (0, 5, 1000, 1 << 20, pages._MOST_KEPT, pages._MOST_KEPT + 1, 1000):
        found = pages.empty(size, np.uint8)
        found[:] = 1
        assert int(found.sum()) == size
        # The freed block is larger than everything so far, up to a size.
        assert size <= pages._freed[0] <= pages._MOST_KEPT or size > pages._MOST_KEPT
    found = pages.empty(3, np.int64)
    assert (found.shape, found.dtype) == ((3,), np.dtype(np.int64))


@pytest.mark.skipif(not hasattr(mmap, "MADV_HUGEPAGE"), reason="a system that takes no advice about large pages")
@pytest.mark.parametrize("offset", [0, 1, 4096])
def test_large_pages_are_asked_for_where_an_array_fills_them(offset: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int, int]] = []
    monkeypatch.setattr(pages, "_madvise", lambda: lambda *given: asked.append(given))
    array = np.zeros(20 * pages.LARGE_PAGE, dtype=np.uint8)[offset:]
    pages.bring_in_large_pages(array)
    ((begin, size, advice),) = asked
    address = array.ctypes.data
    assert (begin % pages.LARGE_PAGE, size % pages.LARGE_PAGE, advice) == (0, 0, mmap.MADV_HUGEPAGE)
    assert address <= begin < address + pages.LARGE_PAGE
    assert begin + size <= address + array.nbytes < begin + size + pages.LARGE_PAGE
    pages.bring_in_large_pages(array[: 16 * pages.LARGE_PAGE - 1])
    monkeypatch.delattr(mmap, "MADV_HUGEPAGE")
    pages.bring_in_large_pages(array)
    assert len(asked) == 1


def test_what_is_in_an_array_stays_there() -> None:
    array = np.arange(6 * pages.LARGE_PAGE, dtype=np.int64)
    pages.bring_in_large_pages(array)
    assert (np.diff(array) == 1).all()
    array[:] = 1
    assert int(array.sum()) == len(array)


def test_memory_that_is_given_back_was_free() -> None:
    held = np.arange(1 << 20)
    del held
    kept = pages.empty(1 << 18, np.int64)
    kept[:] = 7
    pages.give_back()
    assert bool((kept == 7).all())
