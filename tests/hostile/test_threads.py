"""Threads and processes: one cold tokenizer in many threads, arrays that change, forks, and leaving while calls run."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support import random_files
from tests.support.answers import answers
from tests.support.tokenizer_files import as_bytes, tekken_json, tiktoken_lines, tokenizer_json
from tokdfa.base.arrays import checked_ids

ROOT = Path(__file__).parents[2]
THREADS = 8


def script(source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program that must neither crash nor hang."""
    command = [sys.executable, "-W", "error", "-c", source, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def wordpiece() -> bytes:
    import random

    return as_bytes(random_files.wordpiece_file(random.Random(5)))


FILES: dict[str, tuple[str, Callable[[], bytes], dict[str, Any]]] = {
    "byte pairs": ("tokenizer.json", lambda: as_bytes(tokenizer_json()), {}),
    "ranks": ("x.tiktoken", tiktoken_lines, {"pretokenizer": "o200k"}),
    "tekken": ("tekken.json", lambda: as_bytes(tekken_json()), {}),
    "normalized": ("tokenizer.json", lambda: as_bytes(tokenizer_json(normalizer={"type": "NFKC"})), {}),
    "wordpiece": ("tokenizer.json", wordpiece, {}),
}


@pytest.mark.parametrize("name", FILES)
def test_eight_threads_on_one_cold_tokenizer(name: str, tmp_path: Path) -> None:
    file, content, options = FILES[name]
    path = tmp_path / file
    path.write_bytes(content())
    expected = answers(tokdfa.load(path, **options))
    cold, together = tokdfa.load(path, **options), Barrier(THREADS)

    def ask(_: int) -> list[object]:
        together.wait()
        return answers(cold)

    with ThreadPoolExecutor(THREADS) as pool:
        assert [*pool.map(ask, range(THREADS))] == [expected] * THREADS


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint16", ">i4", "object"])
def test_ids_are_checked_in_an_array_of_their_own(dtype: str) -> None:
    tokenizer = tokdfa.default_tokenizer()
    ids = np.array([64, 261, 1193], dtype)
    if dtype != "object":
        assert not np.shares_memory(checked_ids(ids, 2000), ids)
        assert not np.shares_memory(tokenizer.decoder.check(ids), ids)
    assert not tokdfa.validate(tokenizer, ids[:0].astype(np.int32)).violations


CHANGING = """
import sys, threading, time
import numpy as np, tokdfa
tokenizer = tokdfa.default_tokenizer()
right = tokenizer.encode("a single man in possession of a good fortune " * 300).astype(sys.argv[2])
ids, stop = right.copy(), False
jobs = {
    "validate": lambda: tokenizer.validate(ids),
    "every": lambda: tokenizer.validate(ids, all=True),
    "decode": lambda: tokenizer.decode_bytes(ids),
    "search": lambda: tokenizer.search("man", ids),
}
def change():
    at = len(ids) // 2
    while not stop:
        ids[at : at + 9] = 2**31 - 1
        ids[:] = right
thread = threading.Thread(target=change)
thread.start()
outcomes = [0, 0]
began = time.monotonic()
while time.monotonic() - began < 0.25 or (not all(outcomes) and time.monotonic() - began < 30):
    try:
        outcomes[bool(jobs[sys.argv[1]]())] += 1
    except tokdfa.TokdfaError:
        outcomes[0] += 1
stop = True
thread.join()
assert all(outcomes), outcomes
"""


@pytest.mark.parametrize(("job", "dtype"), [("validate", "int32"), ("every", "int64"), ("decode", "int32"),
                                            ("search", "int32")])  # fmt: skip
def test_ids_that_another_thread_changes_meanwhile(job: str, dtype: str) -> None:
    """C reads the ids that were checked; a stream that is wrong for a moment is refused or is not canonical."""
    done = script(CHANGING, job, dtype)
    assert (done.returncode, done.stderr) == (0, "")


LEAVING = """
import sys, threading, time
import tokdfa
tokenizer = tokdfa.default_tokenizer()
text = "a single man in possession " * 20000
ids = tokenizer.encode(text)
jobs = {
    "encode": lambda: tokenizer.encode(text),
    "validate": lambda: tokenizer.validate(ids),
    "search": lambda: tokenizer.search("man", ids),
    "decode": lambda: tokenizer.decode(ids),
}
begun = threading.Barrier(3)
def work():
    begun.wait()
    while True:
        jobs[sys.argv[1]]()
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(0.05)
"""


@pytest.mark.parametrize("job", ["encode", "validate", "search", "decode"])
def test_daemon_threads_in_a_kernel_at_exit(job: str) -> None:
    """The interpreter lets go of its modules while kernels run; the library stays where it is."""
    # Before 3.14, Python ends a daemon thread when it next asks for the lock. In the C++ of numpy that is a call of
    # std::terminate, which no library can prevent. It cannot come from the kernels, which are without C++, and an
    # access to a library that was closed is another signal. A run that numpy ended shows nothing, so there is another.
    numpy_ended_it = (-signal.SIGABRT, "terminate called without an active exception\n")
    for _ in range(12):
        done = script(LEAVING, job)
        outcome = done.returncode, done.stderr
        if sys.version_info >= (3, 14) or outcome != numpy_ended_it:
            assert outcome == (0, "")
            return
    pytest.fail("numpy ended all runs")


def test_the_kernels_are_without_cxx() -> None:
    """Nothing of theirs throws or terminates while Python ends its threads."""
    (library,) = Path(tokdfa.__file__).parent.joinpath("kernels").glob("_kernels.*")
    content = library.read_bytes()
    assert b"tokdfa_walk" in content
    assert not [name for name in (b"libstdc++", b"libc++", b"__gxx_personality", b"_ZSt9terminate") if name in content]


FORKING = """
import os, signal, threading
import tokdfa
tokenizer = tokdfa.default_tokenizer()
text = "a single man in possession of a good fortune\\n" * 300
def ask():
    ids = tokenizer.encode(text)
    return ids.tolist(), bool(tokenizer.validate(ids)), len(tokenizer.search("man", ids)), tokenizer.decode(ids) == text
expected, stop = ask(), False
def work():
    while not stop:
        assert ask() == expected
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
import warnings
warnings.simplefilter("ignore")  # that threads are not copied
for _ in range(12):
    child = os.fork()
    if not child:
        signal.alarm(20)
        os._exit(0 if ask() == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
stop = True
for thread in threads:
    thread.join()
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system has no fork")
def test_forks_while_threads_are_at_it() -> None:
    done = script(FORKING)
    assert (done.returncode, done.stderr) == (0, "")


AT_EXIT = """
import atexit, threading
import tokdfa
tokenizer = tokdfa.default_tokenizer()
ids = tokenizer.encode("a single man")
def late():
    assert tokenizer.validate(ids)
    assert tokenizer.decode(tokenizer.encode("a single man")) == "a single man"
    print("late")
atexit.register(late)
threading.Thread(target=late).start()
"""


def test_calls_at_exit() -> None:
    done = script(AT_EXIT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "late\nlate\n", "")
