"""Nothing is computed under the shared lock; a fork waits until nobody holds it, and no lock is held in the copy."""

from __future__ import annotations

import functools
import os
import random
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import RLock
from types import FrameType

import pytest

import tokdfa
from tests.support import answers
from tests.support.families import FAMILIES, Member
from tokdfa.base.errors import TokdfaError

ROOT = Path(__file__).parents[3]
PACKAGE = Path(tokdfa.__file__).parent
# Rooms that build no tables of their own accord.
LEAVES = tuple(str(PACKAGE / name) for name in ("kernels", "base", "base/budget.py"))
FORKED = """
import os, signal, threading, time
import tokdfa
from tokdfa.base.locks import SHARED
from tokdfa.automata.compact import CompactTokenDFA
from functools import cached_property

tokenizer = tokdfa.default_tokenizer()
ids = tokenizer.encode("a single man in possession")
inside, released = threading.Event(), []
properties = [value for value in vars(type(tokenizer)).values() if isinstance(value, cached_property)]
properties = [value for value in properties if hasattr(value, "lock")]

def hold():
    for value in properties:
        value.lock.acquire()
    with SHARED:
        inside.set()
        time.sleep(0.3)
        released.append(True)
    time.sleep(5)

threading.Thread(target=hold, daemon=True).start()
inside.wait()
child = os.fork()
if not child:
    signal.alarm(20)
    assert released
    twin = tokdfa.default_tokenizer()
    os._exit(0 if twin.validate(ids) and twin.search("man", ids) and twin.validate(ids, all=True) else 1)
assert os.waitpid(child, 0)[1] == 0
assert SHARED.acquire(timeout=1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_waits_for_the_lock_and_is_free_of_others() -> None:
    # From 3.12 on, Python warns of forks in processes with threads, which is the case to test.
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


class WatchedLock:
    """A lock that records which functions are called while it is held, outside of the module that holds it."""

    def __init__(self) -> None:
        self.called: set[str] = set()
        self.held_in: Counter[str] = Counter()
        self._lock = RLock()
        self._holders: list[str] = []

    def __enter__(self) -> None:
        self._lock.acquire()
        holder = sys._getframe(1).f_code.co_filename
        self.held_in[Path(holder).relative_to(PACKAGE).as_posix()] += 1
        self._holders.append(holder)
        sys.setprofile(self._record)

    def __exit__(self, *_: object) -> None:
        self._holders.pop()
        sys.setprofile(self._record if self._holders else None)
        self._lock.release()

    def _record(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith((str(PACKAGE), functools.__file__)):
            return
        if not code.co_filename.startswith((self._holders[-1], *LEAVES)):
            self.called.add(f"{code.co_qualname} of {code.co_filename}, in {self._holders[-1]}")


def ask_everything(member: Member, drawn: random.Random) -> None:
    """Ask a tokenizer questions that need tables shared by threads; ignore the answers."""
    asked = [(answers.encode, member.text(drawn)) for _ in range(2)]
    asked += [(answers.search, member.text(drawn)), (answers.stream, member.text(drawn))]
    tokenizer = member.load()
    for question, value in asked:
        answers.attempt(lambda question=question, value=value: question(tokenizer, value))
    for _ in range(3):
        answers.attempt(lambda: tokdfa.validate(tokenizer, member.stream(drawn), all=True).violations)
        answers.attempt(lambda: tokenizer.safe_cuts(member.text(drawn)))  # type: ignore[attr-defined]
    with suppress(TokdfaError):
        guide = tokdfa.guide(tokenizer, drawn.choice([None, "(a|b)+", "a.b"]))
        state, n_steps = guide.initial, 0
        while len(allowed := guide.allowed(state)) and n_steps < 8:
            state, n_steps = guide.step(state, drawn.choice(allowed.tolist())), n_steps + 1
            guide.mask(state)


def test_nothing_is_computed_under_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that computes may wait for a table of another thread, which would wait for the lock."""
    watched = WatchedLock()
    users = [each for each in PACKAGE.rglob("*.py") if "with SHARED:" in each.read_text("utf-8")]
    for user in users:
        name = ".".join(user.relative_to(PACKAGE.parent).with_suffix("").parts)
        monkeypatch.setitem(vars(import_module(name)), "SHARED", watched)
    for family in FAMILIES:
        for seed in range(3):
            drawn = random.Random(f"{family} {seed} locks")
            ask_everything(FAMILIES[family](drawn), drawn)
    assert watched.held_in.keys() == {each.relative_to(PACKAGE).as_posix() for each in users}
    assert not watched.called
