"""Measuring things side by side in one process, and showing the figures as a table.

Every benchmark takes ``--json FILE``: its tables go to that file as well, which keeps tables of other titles already in
it. From such files ``python -m figures throughput`` draws.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

import tokdfa

__all__ = ["Measurement", "as_installed", "environment", "keep_tables", "measure", "peak_memory", "print_table"]

_kept: list[Path] = []


@dataclass(frozen=True, slots=True)
class Measurement:
    """The seconds that each repetition took."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)


def measure(
    callables: Mapping[str, Callable[[], object]],
    repeats: int = 5,
    clock: Callable[[], float] = perf_counter,
    *,
    at_rest: bool = False,
) -> dict[str, Measurement]:
    """Time each callable `repeats` times, all of them in turn, after one call of each that does not count.

    `at_rest`, each timed call follows another of the same callable: it finds in the caches what it left there, not what
    the others did.

    For what runs on one thread ``time.process_time`` is the better clock: where other programs run as well, a long call
    waits for them and a short one does not.
    """
    for function in callables.values():
        function()
    seconds: dict[str, list[float]] = {name: [] for name in callables}
    for _ in range(repeats):
        for name, function in callables.items():
            if at_rest:
                function()
            began = clock()
            function()
            seconds[name].append(clock() - began)
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


def as_installed() -> dict[str, str]:
    """Return the environment of a process that keeps modules as byte code, as it does where tokdfa is installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def keep_tables(arguments: list[str]) -> None:
    """Take ``--json FILE`` out of the arguments of a program; tables that are printed go to that file from now on."""
    if "--json" in arguments:
        place = arguments.index("--json")
        if place + 1 == len(arguments):
            sys.exit("--json takes the name of a file")
        _kept[:] = [Path(arguments[place + 1])]
        del arguments[place : place + 2]


def _keep(path: Path, title: str, columns: list[str], rows: list[list[object]], caption: str) -> None:
    """Write a table to a file of tables, in the place of one that has its title."""
    tables = json.loads(path.read_text(encoding="utf-8"))["tables"] if path.exists() else []
    found = {
        "title": title,
        "measured": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "machine": f"{_processor()}, {os.cpu_count()} CPUs, {platform.system()}",
        # The load of the machine; our own part is about 1.
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "caption": caption,
        "columns": columns,
        "rows": [[float(f"{value:.4g}") if isinstance(value, float) else value for value in row] for row in rows],
    }
    places = [place for place, table in enumerate(tables) if table["title"] == title]
    tables[slice(places[0], places[0] + 1) if places else slice(len(tables), None)] = [found]
    text = ",\n".join(_in_lines(table) for table in tables)
    path.write_text(f'{{"tables": [\n{text}\n]}}\n', encoding="utf-8")


def _in_lines(table: dict[str, object]) -> str:
    """Return a table as JSON, a row a line, so that a change of a figure is a change of a line."""
    fields = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()]
    rows: list[object] = table["rows"]  # type: ignore[assignment]
    fields[-1] = '  "rows": [\n' + ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in rows) + "\n  ]"
    return "{\n" + ",\n".join(fields) + "\n}"


def _processor() -> str:
    """Return what the processor calls itself."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _shown(value: object) -> str:
    return f"{value:,.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def print_table(title: str, columns: list[str], rows: list[list[object]], caption: str = "") -> None:
    """Print a table, the first column to the left and figures to the right, and keep it where that was asked for."""
    for path in _kept:
        _keep(path, title, columns, rows, caption)
    table = Table(title=Text(title), caption=Text(caption), title_justify="left", caption_justify="left")
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left", no_wrap=True)
    for row in rows:
        table.add_row(
            *(
                f"{value:,.3g}"
                if isinstance(value, float)
                else f"{value:,}"
                if isinstance(value, int)
                else Text(str(value))
                for value in row
            )
        )
    Console(width=None if sys.stdout.isatty() else 140).print(table)
