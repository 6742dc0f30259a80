"""A fork waits until nobody holds the lock, and no lock is held in the copy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
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
    done = subprocess.run(
        [sys.executable, "-c", FORKED], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
