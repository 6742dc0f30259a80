"""How tests report what they have counted.

A test asks for the fixture `tally`, and calls it with the number of cases that it has tried::

    def test_many_random_pairs(tally: Tally) -> None:
        check(seeds(1000))
        tally("comparison", "random cases", 1000)

Where the environment variable TOKDFA_LEDGER names a file, the sums of a run are added to it at the end, one entry for
each test function. A test that fails is a difference.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

from tests.campaigns.evidence.ledger import VARIABLE, entries, ledger_named, record
from tests.campaigns.evidence.promises import KINDS, PROMISES

# (Campaign, (promise, kind)) -> the number of cases, of failed tests, and of seconds.
SUMS = pytest.StashKey[dict[tuple[str, tuple[str, str] | None], list[float]]]()


class Tally:
    """The counts of one test so far, by promise and kind."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], int] = {}
        self._began = _processor_time()

    def __call__(self, promise: str, kind: str, count: int) -> None:
        """Add to a count."""
        assert promise in PROMISES, promise
        assert kind in KINDS, kind
        self.counts[promise, kind] = self.counts.get((promise, kind), 0) + count

    @property
    def cpu_seconds(self) -> float:
        """The processor time since the beginning, including processes that have ended."""
        return _processor_time() - self._began


def _processor_time() -> float:
    return sum(os.times()[:4])


@pytest.fixture
def tally() -> Tally:
    """Counts cases for the page of evidence."""
    return Tally()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Add what a test has counted to the sums of the session."""
    report = yield
    counted = getattr(item, "funcargs", {}).get("tally")
    if report.when == "call" and counted is not None and not report.skipped:
        campaign = item.nodeid.partition("[")[0]
        sums = item.session.stash.setdefault(SUMS, {})
        # A test that fails may not have got as far as counting.
        for key in counted.counts or [None]:
            known = sums.setdefault((campaign, key), [0, 0, 0.0])
            known[0] += counted.counts.get(key, 0)
            known[1] += report.failed
            known[2] += counted.cpu_seconds / max(len(counted.counts), 1)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Add the sums to the ledger, if one is named."""
    path, sums = ledger_named(), session.stash.get(SUMS, {})
    if path is None or not sums:
        return
    if hasattr(session.config, "workerinput"):
        raise pytest.UsageError(f"{VARIABLE}: several processes would be recorded as several runs; leave -n out")
    campaigns = Counter(campaign for campaign, key in sums if key is not None)
    kinds = Counter((campaign, key[1]) for campaign, key in sums if key is not None)
    for (campaign, key), (count, failed, seconds) in sums.items():
        before = entries(path).get(campaign, {})
        promise, kind = key or (before.get("promise"), before.get("kind"))
        if promise is not None and kind is not None:
            one_of = kind if kinds[campaign, kind] < 2 else f"{promise}, {kind}"
            name = campaign if campaigns[campaign] < 2 else f"{campaign} ({one_of})"
            record(name, promise, kind, int(count), differences=int(failed), cpu_seconds=seconds, path=path)
