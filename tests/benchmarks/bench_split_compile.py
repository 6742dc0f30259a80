"""The time and memory to compile the collected split patterns.

``PYTHONPATH=tests python -m tests.benchmarks.bench_split_compile``, with TOKDFA_DATA naming the folder of the patterns.

Each pattern is compiled in a process of its own, forked once all modules are imported. Seconds are processor
time, the least of three runs; memory is the growth of the process. The exit status is 1 if a pattern takes
more than a second or 200 MB.
"""

from __future__ import annotations

import os
import resource
import sys
from multiprocessing import get_context
from pathlib import Path
from time import process_time

from tests.benchmarks.harness import environment, keep_tables, print_table
from tests.support.split_patterns import WITHOUT_MACHINE, Case, cases
from tokdfa.base.errors import TokdfaError
from tokdfa.tokenizers.pretokenizers.splitter import Splitter
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

RUNS = 3
SHOWN = 12


def compiled(pattern: str) -> tuple[float, float, str]:
    """Return the seconds, the MB, and the number of states or the reason that no machine exists."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = process_time()
    try:
        made = f"{Splitter(Splitting('tokenizers', (Split(pattern),))).machine.n_states} states"
    except TokdfaError as error:
        made = f"refused: {error}"
    taken = process_time() - began
    return taken, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, made


def measured(case: Case) -> tuple[float, float, str]:
    """Return the least seconds, the most MB and the outcome of some runs."""
    compiled("a|b")
    runs = []
    for _ in range(RUNS):
        with get_context("fork").Pool(1) as pool:
            runs.append(pool.apply(compiled, (case.pattern,)))
    return min(run[0] for run in runs), max(run[1] for run in runs), runs[0][2]


def main() -> int:
    """Measure all patterns and print the slowest."""
    found = cases(Path(os.environ["TOKDFA_DATA"]))
    rows = sorted(((*measured(case), case.name) for case in found), reverse=True)
    print_table(
        f"compiling {len(rows)} split patterns: the {SHOWN} slowest",
        ["pattern", "seconds", "MB", "outcome"],
        [[name, f"{seconds:.2f}", f"{size:.0f}", made[:60]] for seconds, size, made, name in rows[:SHOWN]],
        f"processor time, the least of {RUNS} runs; {environment('numpy')}",
    )
    with_machine = [row for row in rows if row[3] not in WITHOUT_MACHINE]
    print(
        f"with a machine: {len(with_machine)}, at most {max(row[0] for row in with_machine):.2f} s; "
        f"all: at most {rows[0][0]:.2f} s and {max(row[1] for row in rows):.0f} MB"
    )
    return int(max(row[0] for row in with_machine) > 1 or max(row[1] for row in rows) > 200)


if __name__ == "__main__":
    keep_tables(sys.argv)
    sys.exit(main())
