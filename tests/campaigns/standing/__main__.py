"""Run the standing campaign: ``python -m tests.campaigns.standing --seeds 0:19999 [--part stream …] [--jobs 2]``.

A seed is a random tokenizer of a family for the laws; other parts draw their own. The cases reached are printed by
part, and each difference with its seed and part, which find it again. The exit status is 1 if there is one. Where the
environment variable TOKDFA_LEDGER names a file, the numbers of seeds are added to it.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from multiprocessing import get_context

# Before the libraries are loaded that read it.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
from tests.campaigns.evidence.ledger import ledger_named, record
from tests.campaigns.standing.campaign import PROMISES, Outcome, run

LOT = 50
LOTS_EACH = 10


def seeds(spelled: str) -> range:
    """Read ``N`` or ``FIRST:LAST``, both included, as TOKDFA_SEEDS has it."""
    first, colon, last = spelled.rpartition(":")
    chosen = range(int(first), int(last) + 1) if colon else range(int(spelled))
    if not chosen or chosen[0] < 0:
        raise ValueError(spelled)
    return chosen


def show(outcome: Outcome) -> None:
    """Print what was reached, and where the parts differ."""
    for part, met in outcome.met.items():
        counts = ", ".join(f"{name} {count:,}" for name, count in met.most_common())
        print(f"{part}: {outcome.seconds[part] / outcome.seeds * 1e3:.1f} ms a seed; {counts}")
    print(f"members: {outcome.seconds['members'] / outcome.seeds * 1e3:.1f} ms a seed")
    for part, seed, message in outcome.differences:
        print(f"DIFFERENT: --part {part} --seeds {seed}:{seed}: {message[:2000]}")


def main(arguments: list[str] | None = None) -> int:
    """Run the seeds in lots, print, and write to the ledger; return 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.standing", description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--seeds", type=seeds, default=range(1000), help="N, or FIRST:LAST, both included")
    parser.add_argument("--part", action="append", choices=PROMISES, help="one part, or several; all by default")
    parser.add_argument("--jobs", type=int, default=1, help="the number of processes")
    options = parser.parse_args(arguments)
    parts = options.part or [*PROMISES]
    lots = [options.seeds[at : at + LOT] for at in range(0, len(options.seeds), LOT)]
    outcome = Outcome()
    # Caches keep their keys alive: a process ends after some lots. The executor of concurrent.futures may wait
    # for ever when all of its processes have ended so (Python 3.11).
    with get_context("spawn").Pool(options.jobs, maxtasksperchild=LOTS_EACH) as pool:
        for done in pool.imap_unordered(partial(run, parts=parts), lots):
            outcome.add(done)
            total = sum(outcome.seconds.values())
            print(
                f"{outcome.seeds:,} of {len(options.seeds):,} seeds, {len(outcome.differences)} differences, "
                f"{total:.0f} s of processor time",
                flush=True,
            )
    show(outcome)
    path = ledger_named()
    for part in parts if path is not None else ():
        differences = sum(name == part for name, _, _ in outcome.differences)
        record(
            f"python -m tests.campaigns.standing --part {part}", PROMISES[part], "random cases", outcome.seeds,
            cpu_seconds=outcome.seconds[part], differences=differences, path=path,
        )  # fmt: skip
    return int(bool(outcome.differences))


if __name__ == "__main__":
    sys.exit(main())
