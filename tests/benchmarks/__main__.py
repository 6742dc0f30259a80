"""All tables that the figures keep, measured anew: ``TOKDFA_DATA=… python -m tests.benchmarks [FIGURE…]``.

Each benchmark runs after the other, which takes about an hour; its tables go, with the versions, the date and the
load of the machine, to the file that the figure is drawn from, and the figure is drawn again. Peers that are missing
are in ``pip install --group peers``; bench_wordpiece and bench_load name their further peers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

PROGRAMS = {
    "throughput_validate": ["bench_validate"],
    "throughput_encode": ["bench_encode warm cold start documents short"],
    "throughput_search": [
        *("bench_search patterns", "bench_search words", "bench_search decode"),
        *("bench_replace 9", "bench_replace_files"),
    ],
    "throughput_train": [
        "bench_train --case fra",
        "bench_train --case english",
        "bench_train --case mix --only gigatoken rustbpe",
    ],
    "throughput_wordpiece": ["bench_wordpiece english multilingual"],
    # The figure shows the first table; the others are kept next to it.
    "throughput_families": [
        "bench_families",
        "bench_stores causes",
        "bench_stream_decoder",
        "bench_append",
        "bench_align",
        "bench_guide_budget",
        "bench_bounds",
    ],
    "guides_peers": ["bench_guide_budget_peers cl100k"],
    "time_load": ["bench_load files models objects"],
    "time_compare": ["bench_compare_tokenizers"],
    "growth_jobs": ["bench_growth 1073741824"],
}
"""The programs, with their arguments, whose tables each figure shows."""


def main() -> int:
    """Run what is asked for, all by default; return 1 if one of the programs failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"of {', '.join(PROGRAMS)}; all by default")
    figures = parser.parse_args().figures or [*PROGRAMS]
    unknown = [figure for figure in figures if figure not in PROGRAMS]
    if unknown:
        parser.error(f"no figure of that name: {', '.join(unknown)}")
    failed = False
    for figure in figures:
        kept = ROOT / "figures" / "measurements" / f"{figure}.json"
        for program in PROGRAMS[figure]:
            name, *arguments = program.split()
            command = ["-m", f"tests.benchmarks.{name}", *arguments, "--json", str(kept)]
            failed |= bool(subprocess.run([sys.executable, *command], cwd=ROOT, check=False).returncode)
        failed |= bool(subprocess.run([sys.executable, "-m", "figures", figure], cwd=ROOT, check=False).returncode)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
