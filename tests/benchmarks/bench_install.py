"""From a fresh clone to the first answer: environment, installation, compiling, ``tokdfa demo``.

``python -m tests.benchmarks.bench_install [REPEATS]``

Each run clones the checkout, makes a virtual environment and runs the README's first command in it, once with the
compiler of the machine and once with nothing on PATH but Python, where pip fetches the Zig compiler. pip's cache is not
used. The result depends on the network.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from tests.benchmarks.harness import environment, keep_tables, print_table

ROOT = Path(__file__).parents[2]


def run(compiler: bool) -> dict[str, float]:
    """Return the seconds that each step takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder / "tokdfa")], check=True)
        programs = folder / "programs"
        programs.mkdir()
        (programs / "python3").symlink_to(sys.executable)
        settings = {
            "PATH": os.environ["PATH"] if compiler else str(programs),
            "HOME": str(folder),
            "PIP_NO_CACHE_DIR": "1",
            "PIP_QUIET": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        settings |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_INDEX", "PIP_EXTRA"))}
        steps = {
            "environment": [sys.executable, "-m", "venv", ".venv"],
            "installation": [".venv/bin/pip", "install", "-e", "."],
            "demo": [".venv/bin/tokdfa", "demo"],
        }
        seconds = {}
        for step, command in steps.items():
            began = perf_counter()
            subprocess.run(command, cwd=folder / "tokdfa", env=settings, check=True, stdout=subprocess.DEVNULL)
            seconds[step] = perf_counter() - began
        return seconds


def main(repeats: int) -> None:
    """Measure and print."""
    rows: list[list[object]] = []
    for compiler, name in ((True, "a C compiler is there"), (False, "nothing but Python")):
        runs = [run(compiler) for _ in range(repeats)]
        steps = [median(found[step] for found in runs) for step in runs[0]]
        rows.append([name, *steps, median(sum(found.values()) for found in runs)])
    columns = ["machine", "environment s", "installation s", "demo s", "in all s"]
    print_table(f"From a fresh clone to the demo, medians of {repeats}", columns, rows, environment("cffi", "numpy"))


if __name__ == "__main__":
    keep_tables(sys.argv)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
