"""A clock that is advanced by hand ends any phase of bounds: the answers are still valid."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

import tokdfa
from tests.unit.jobs.alignment.test_longest_families import random_bytes
from tests.unit.jobs.measures.test_bounds_families import random_file, random_wordpiece
from tokdfa.base import budget
from tokdfa.base.errors import LimitExceededError
from tokdfa.jobs.measures.attained import SECONDS_FOR_TEXTS
from tokdfa.jobs.measures.extremes import Bounds, Extreme
from tokdfa.tokenizers.protocol import AnyTokenizer

DRAWS = random_bytes, random_file, random_wordpiece
QUESTIONS = (None, None), (None, 3), ("[ab]+x?", None)
MAX_SECONDS = 100.0


class Clock:
    """A clock that stands still, until it has been read some times; then it is `later`."""

    def __init__(self, n_reads: int | None, later: float) -> None:
        self.n_reads, self.later, self.n_asked = n_reads, later, 0

    def read(self) -> float:
        self.n_asked += 1
        return self.later if self.n_reads is not None and self.n_asked > self.n_reads else 0.0


@contextmanager
def clock_of(n_reads: int | None, later: float, patch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """Let budgets read another clock."""
    clock = Clock(n_reads, later)
    with patch.context() as patched:
        patched.setattr(budget, "time", SimpleNamespace(monotonic=clock.read, thread_time=clock.read))
        yield clock


def extremes_of(found: Bounds) -> Iterator[tuple[str, int, Extreme]]:
    """Yield the values with their names, and the sign with which a value is the least."""
    for name in ("bytes", "characters", "tokens"):
        both = getattr(found, name)
        if both is not None:
            yield f"fewest {name}", 1, both.fewest
            yield f"most {name}", -1, both.most
    if found.other is not None:
        yield "other", -1, found.other


def ended(ask: Callable[[], object], source: random.Random, patch: pytest.MonkeyPatch) -> Iterator[object]:
    """Yield the answers if the time is over at some moments; `None` if the time for texts is over, too."""
    with clock_of(None, 0, patch) as clock:
        ask()
    for later in (MAX_SECONDS + 1, MAX_SECONDS + 1000):
        for moment in sorted(source.sample(range(clock.n_asked), min(8, clock.n_asked))):
            with clock_of(moment, later, patch):
                try:
                    yield ask()
                except LimitExceededError as error:
                    # Texts have time of their own, and the automaton of a pattern has a limit.
                    if later < MAX_SECONDS + SECONDS_FOR_TEXTS and "pattern" not in error.what:
                        raise
                    yield None


def outcomes(seeds: Iterable[int], patch: pytest.MonkeyPatch) -> Counter[str]:
    """Compare the answers without time with those with all of it; return how many there were of each kind."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        source = random.Random(seed)
        tokenizers = [tokdfa.load(json.dumps(source.choice(DRAWS)(source)).encode()) for _ in range(2)]
        language, n_bytes = source.choice(QUESTIONS)

        def ask(
            both: list[AnyTokenizer] = tokenizers, language: str | None = language, n_bytes: int | None = n_bytes
        ) -> Bounds:
            return tokdfa.bounds(both[0], language=language, n_bytes=n_bytes, other=both[1], max_seconds=MAX_SECONDS)

        try:
            whole = {name: extreme for name, _, extreme in extremes_of(ask())}
        except (LimitExceededError, tokdfa.PatternError):
            seen["no text"] += 1
            continue
        for found in ended(ask, source, patch):
            if not isinstance(found, Bounds):
                seen["no answer"] += 1
                continue
            for name, sign, extreme in extremes_of(found):
                exact = whole[name]
                assert tokenizers[0].encode(extreme.text).tolist() == [*extreme.ids], seed
                if extreme.value is not None and exact.proved is not None:
                    assert sign * extreme.value >= sign * exact.proved, (seed, name)
                if extreme.proved is not None and exact.value is not None:
                    assert sign * extreme.proved <= sign * exact.value, (seed, name)
                seen["bounded only" if exact.is_exact and not extreme.is_exact else "as before"] += 1
    return seen


def test_a_clock_that_ends_any_phase_leaves_valid_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    # Tokenizers of all kinds, and all questions.
    seen = outcomes((1, 2, 5, 6, 7, 17), monkeypatch)
    assert min(seen["no answer"], seen["bounded only"], seen["as before"]) >= 10, seen


@pytest.mark.slow
def test_a_clock_that_ends_any_phase_leaves_valid_bounds_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = outcomes(range(1000, 1200), monkeypatch)
    assert min(seen["no answer"], seen["bounded only"], seen["as before"]) >= 300, seen
