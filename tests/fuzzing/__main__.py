"""Fuzz the kernels: ``python -m tests.fuzzing --target walk --minutes 20``, or ``--all``.

Each target builds structs from bytes as the doors in Python do, and compares what a kernel answers with a slow twin;
libFuzzer changes the bytes so that they reach ever more of the code, which is compiled with addresses and undefined
behaviour checked. Minutes are those of a processor. A run begins with the corpus in `corpora`, and adds what it has
done to `totals.json`. An input that fails is kept, and the command says where, and how it is run again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzzing.kernels.build import TARGETS, BuildError, fuzzer
from tests.fuzzing.kernels.run import minimize, run
from tests.fuzzing.totals import TOTALS


def main() -> int:
    """Run targets; status 1 if an input fails, 2 if they cannot be run."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--target", choices=TARGETS, action="append")
    chosen.add_argument("--all", action="store_true", help="all targets, one after the other")
    parser.add_argument("--minutes", type=float, default=20, help="of processor time, for each target")
    parser.add_argument("--nice", type=int, default=10, help="how far to let others go first")
    parser.add_argument("--work", type=Path, help="where programs, growing corpora and failing inputs are kept")
    parser.add_argument("--totals", type=Path, default=TOTALS, help="the file to add to")
    parser.add_argument("--minimize", action="store_true", help="then replace the committed corpora by minimal ones")
    options = parser.parse_args()
    work = (options.work or Path(tempfile.gettempdir(), "tokdfa-fuzzing")).resolve()
    failed = False
    for target in TARGETS if options.all else options.target:
        try:
            program = fuzzer(work / "programs", target)
        except BuildError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        for done in run(program, target, work, minutes=options.minutes, nice=options.nice, totals=options.totals):
            print(
                f"{target}: {done.cpu_seconds:.0f} s of processor time, {done.executions:,} inputs, "
                f"{done.edges:,} edges",
                flush=True,
            )
            if done.failed:
                failed = True
                print(done.output[-6000:])
                print(f"{target}: an input fails; run it again by\n    {program} {done.failed}", flush=True)
        if options.minimize:
            n, size = minimize(program, target, work, totals=options.totals)
            print(f"{target}: {n} inputs of {size:,} bytes are kept", flush=True)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
