"""Every platform for which this machine has a compiler and an emulator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaigns.platforms.__main__ import PLATFORMS, outcome_of


@pytest.mark.slow
@pytest.mark.parametrize("name", PLATFORMS)
def test_the_kernels_compile_and_give_the_answers_of_their_twins(name: str, tmp_path: Path) -> None:
    for package in ("ziglang", "lief"):
        pytest.importorskip(package, reason=f"the package {package} is not installed")
    said: list[str] = []
    outcome = outcome_of(PLATFORMS[name], tmp_path, runs=True, say=said.append)
    assert not outcome.failed, said
    assert outcome.exports == "140 functions"
