"""Shared by all tests: where the real data is, and how hypothesis runs."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.campaigns.evidence.tally import pytest_runtest_makereport, pytest_sessionfinish, tally

__all__ = ["pytest_runtest_makereport", "pytest_sessionfinish", "tally"]

settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", parent=settings.get_profile("default"), max_examples=5_000, derandomize=False)
# A planted fault is caught as soon as an example fails; nobody needs the smallest one.
settings.register_profile(
    "faults", parent=settings.get_profile("default"), phases=[Phase.explicit, Phase.generate], max_examples=10
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_finish() -> None:
    """Keep the collector away from the thousands of tests that are there until the end: it took a fifth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder with `vocabs` and `corpora`; tests that need it skip if there is none."""
    folder = os.environ.get("TOKDFA_DATA")
    if not folder:
        pytest.skip("TOKDFA_DATA is unset: it names the folder with the real vocabularies and corpora")
    return Path(folder)
