"""Fuzz kernels and readers: ``python -m tests.campaigns.fuzzing --target walk --minutes 20``, or ``--all``.

Each target of a kernel builds structs from bytes as the API in Python does, and compares what a kernel answers with a
slow twin; libFuzzer changes the bytes so that they reach ever more of the code, which is compiled with addresses and
undefined behaviour checked. Each target of a reader reads a file and compares the ids with the ids of the file's own
library; atheris changes the bytes so that they reach ever more branches of Python. Minutes are processor time.
A run begins with the corpus in `corpora`, and adds what it has done to `tests/campaigns/evidence/ledger.json`. An input
that fails is kept, and the command says where, and how it is run again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.campaigns.evidence.ledger import LEDGER
from tests.campaigns.fuzzing.kernels.build import TARGETS as KERNELS
from tests.campaigns.fuzzing.kernels.build import BuildError, fuzzer
from tests.campaigns.fuzzing.kernels.run import minimize, run
from tests.campaigns.fuzzing.readers import session
from tests.campaigns.fuzzing.readers.target import TARGETS as READERS


def main() -> int:
    """Run targets; status 1 if an input fails, 2 if they cannot be run."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.fuzzing", description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--target", choices=[*KERNELS, *READERS], action="append")
    chosen.add_argument("--all", action="store_true", help="all targets, one after the other")
    parser.add_argument("--minutes", type=float, default=20, help="of processor time, for each target")
    parser.add_argument("--nice", type=int, default=10, help="how far to let others go first")
    parser.add_argument("--work", type=Path, help="where programs, growing corpora and failing inputs are kept")
    parser.add_argument("--ledger", type=Path, default=LEDGER, help="the file to add to")
    parser.add_argument("--minimize", action="store_true", help="then replace the committed corpora by minimal ones")
    options = parser.parse_args()
    work = (options.work or Path(tempfile.gettempdir(), "tokdfa-fuzzing")).resolve()
    failed = False
    minutes, nice, ledger = options.minutes, options.nice, options.ledger
    for target in [*KERNELS, *READERS] if options.all else options.target:
        if target in READERS:
            if not session.is_installed():
                print(f"error: {session.MISSING}", file=sys.stderr)
                return 2
            again = f"{sys.executable} -m tests.campaigns.fuzzing.readers.run {target} inf"
            slices = session.run(target, work, minutes=minutes, nice=nice, ledger=ledger)
        else:
            try:
                program = fuzzer(work / "programs", target)
            except BuildError as error:
                print(f"error: {error}", file=sys.stderr)
                return 2
            again = str(program)
            slices = run(program, target, work, minutes=minutes, nice=nice, ledger=ledger)
        for done in slices:
            print(
                f"{target}: {done.cpu_seconds:.0f} s of processor time, {done.executions:,} inputs, "
                f"{done.edges:,} edges",
                flush=True,
            )
            if done.failed:
                failed = True
                print(done.output[-6000:])
                print(f"{target}: an input fails; run it again by\n    {again} {done.failed}", flush=True)
        if options.minimize:
            is_reader = target in READERS
            n, size = (
                session.minimize(target, work, ledger=ledger)
                if is_reader
                else minimize(program, target, work, ledger=ledger)
            )
            print(f"{target}: {n} inputs of {size:,} bytes are kept", flush=True)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
