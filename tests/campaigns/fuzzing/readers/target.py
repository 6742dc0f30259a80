"""The definition of a target: a check of one input, a way to change inputs, and the time and memory for one input."""

from __future__ import annotations

import atexit
import importlib
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tokdfa.base.errors import TokdfaError

__all__ = ["TARGETS", "Target", "examine", "folder", "must_agree", "target"]

TARGETS = (
    "tokenizer_json",
    "sentencepiece_model",
    "tiktoken_ranks",
    "tekken_json",
    "gguf",
    "merges",
    "vocab_txt",
    "rwkv",
    "id_streams",
    "stores",
    "split_patterns",
    "checkpoints",
)
"""The modules, each of which has a `TARGET`."""


@dataclass(frozen=True)
class Target:
    """A target.

    Attributes
    ----------
    check : function
        Reads an input and returns whether it was accepted. It raises any error that the reader should not raise, and
        AssertionError where the answer is wrong.
    change : function, optional
        Returns a changed input; bytes are changed in the usual ways otherwise.
    longest : int
        The largest number of bytes of an input.
    seconds : float
        The processor time that an input may take.
    megabytes : int
        The memory that an input may take.
    """

    check: Callable[[bytes], bool]
    change: Callable[[bytes, random.Random], bytes] | None = None
    longest: int = 1 << 14
    seconds: float = 2.0
    megabytes: int = 500


def target(name: str) -> Target:
    """Return the target of this name."""
    found: Target = importlib.import_module(f"tests.campaigns.fuzzing.readers.{name}").TARGET
    return found


def examine(target: Target, data: bytes) -> bool:
    """Check an input within the limits of its target."""
    began, most = time.process_time(), _most_memory()
    accepted = target.check(data)
    taken, grown = time.process_time() - began, _most_memory() - most
    assert taken < target.seconds, f"{taken:.1f} seconds for {len(data)} bytes"
    assert grown < target.megabytes, f"{grown:.0f} MB for {len(data)} bytes"
    return accepted


def _most_memory() -> float:
    """Return the megabytes that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1 << 20)


@cache
def folder() -> Path:
    """Return a folder for this process, in memory where there is such a place."""
    shared = "/dev/shm"
    made = tempfile.mkdtemp(prefix="tokdfa-", dir=shared if os.access(shared, os.W_OK) else None)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def must_agree(encode: Callable[[str], list[int]], peer: Callable[[str], list[int] | None], texts: list[str]) -> None:
    """Raise AssertionError unless texts have the ids that the library gives; None where the library fails."""
    for text in texts:
        expected = peer(text)
        try:
            found = encode(text)
        except TokdfaError:
            continue
        assert expected is None or found == expected, (text, found, expected)
