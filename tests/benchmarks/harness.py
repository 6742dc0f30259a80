"""Measuring things side by side in one process, and showing the figures as a table."""

from __future__ import annotations

import os
import platform
import resource
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median
from time import perf_counter

from rich.console import Console
from rich.table import Table

import tokdfa

__all__ = ["Measurement", "environment", "measure", "peak_memory", "print_table"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The seconds that each repetition took."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)


def measure(callables: Mapping[str, Callable[[], object]], repeats: int = 5) -> dict[str, Measurement]:
    """Time each callable `repeats` times, all of them in turn, after one call of each that does not count."""
    for function in callables.values():
        function()
    seconds: dict[str, list[float]] = {name: [] for name in callables}
    for _ in range(repeats):
        for name, function in callables.items():
            began = perf_counter()
            function()
            seconds[name].append(perf_counter() - began)
    return {name: Measurement(tuple(values)) for name, values in seconds.items()}


def peak_memory() -> int:
    """Return the largest number of bytes that this process has held so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def environment(*packages: str) -> str:
    """Return what was measured, and where."""
    versions = ", ".join((f"tokdfa {tokdfa.__version__}", *(f"{package} {version(package)}" for package in packages)))
    system = f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.machine()}"
    return f"{versions}; {system}"


def print_table(title: str, columns: list[str], rows: list[list[object]], caption: str = "") -> None:
    """Print a table, the first column to the left and figures to the right."""
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left", no_wrap=True)
    for row in rows:
        table.add_row(
            *(
                f"{value:,.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
                for value in row
            )
        )
    Console(width=None if sys.stdout.isatty() else 140).print(table)
