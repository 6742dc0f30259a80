"""Ctrl-C in the middle of long calls: it is answered soon, and later calls are as if nothing had happened.

The time is processor time, from the signal to the exception, so that a busy machine makes no difference.
"""

from __future__ import annotations

import _weakrefset
import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support.tokenizer_files import ranks, tiktoken_lines

SECONDS = 0.4  # of two processors
WAIT = 0.06
MB = 1 << 20

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers that signal")


class StoppedError(BaseException):
    """The exception that the signal raises."""


@contextmanager
def signalled_after(seconds: float) -> Iterator[None]:
    """Raise StoppedError once the process has computed for so long.

    Again and again: the interpreter drops what is raised in a callback of the collector, which hypothesis has, and the
    signal is passed over where a set of weak references forgets a thread, since an error there is no one's.
    """

    def stop(_: int, frame: FrameType | None) -> None:
        if frame is None or frame.f_code.co_filename != _weakrefset.__file__:
            raise StoppedError

    gc.freeze()  # collecting what other tests have left is no time of the call
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, SECONDS / 8)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@cache
def byte_pairs(folder: Path) -> Any:
    path = folder / "x.tiktoken"
    path.write_bytes(tiktoken_lines(ranks([b"he", b" t", b"th", b"the", b" the", b"  ", b"aa", b"ab"])))
    return tokdfa.load(path, pretokenizer="cl100k")


@cache
def wordpiece(folder: Path) -> Any:
    path = folder / "vocab.txt"
    path.write_bytes(b"[UNK]\nthe\na\n##b\nc\n##at\n,\n")
    return tokdfa.load(path)


TEXT = "the cat, 12 abab\n the the "
LONG = TEXT * (16 * MB // len(TEXT))


def encode(tokenizer: Any) -> Callable[[], object]:
    return lambda: tokenizer.encode(LONG)


def encode_one_piece(tokenizer: Any) -> Callable[[], object]:
    text = "abaab" * (3 * MB)
    return lambda: tokenizer.encode(text)


def encode_other_letters(tokenizer: Any) -> Callable[[], object]:
    text = "aж中ア" * (2 * MB)
    return lambda: tokenizer.encode(text)


def encode_pieces(tokenizer: Any) -> Callable[[], object]:
    pieces = ["the", " the", "abaab" * 100_000] * 40
    return lambda: tokenizer.encode_pieces(pieces)


def ids_of(tokenizer: Any) -> Any:
    return np.tile(tokenizer.encode(TEXT), 1 << 20)


def validate(tokenizer: Any) -> Callable[[], object]:
    ids = ids_of(tokenizer)
    return lambda: tokenizer.validate(ids, all=True)


def search(tokenizer: Any) -> Callable[[], object]:
    ids = ids_of(tokenizer)
    return lambda: tokenizer.search("zebra", ids)


def decode(tokenizer: Any) -> Callable[[], object]:
    ids = ids_of(tokenizer)
    return lambda: tokenizer.decode(ids)


JOBS = [
    *((byte_pairs, job) for job in (encode, encode_one_piece, encode_other_letters, encode_pieces)),
    *((byte_pairs, job) for job in (validate, search, decode)),
    *((wordpiece, job) for job in (encode, encode_other_letters)),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@pytest.mark.parametrize(("load", "job"), JOBS, ids=lambda value: value.__name__)
def test_a_signal_is_answered_soon(load: Callable[[Path], Any], job: Callable[..., Any], folder: Path) -> None:
    tokenizer = load(folder)
    expected = tokenizer.encode(TEXT).tolist()
    short = tokenizer.validate(expected), tokenizer.decode(expected)
    work = job(tokenizer)
    for wait in (WAIT, 1.7 * WAIT):
        began = time.process_time()
        with pytest.raises(StoppedError), signalled_after(wait):  # noqa: PT012
            while True:
                work()
        assert time.process_time() - began < wait + SECONDS
        assert tokenizer.encode(TEXT).tolist() == expected
        assert (tokenizer.validate(expected), tokenizer.decode(expected)) == short
        assert tokenizer.encode("abaab" * 20_000).tolist() == tokenizer.encode("abaab" * 20_000).tolist()


def test_a_signal_is_answered_soon_while_one_endless_piece_is_trained_on(folder: Path) -> None:
    text = folder / "endless.txt"
    text.write_bytes(bytes(np.random.default_rng(1).choice(np.frombuffer(b"etaoin shr", np.uint8), 4 * MB)))
    tokdfa.train(text, 1, pretokenizer="none")
    # While pairs are counted, while they are listed, and while they are merged.
    for wait in (0.12, 0.2, 0.4):
        began = time.process_time()
        with pytest.raises(StoppedError), signalled_after(wait):  # noqa: PT012
            while True:
                tokdfa.train(text, 300, pretokenizer="none")
        assert time.process_time() - began < wait + SECONDS
