"""Compare real families with their libraries: ``python -m tests.campaigns.families --family gpt2 --texts 100000``.

TOKDFA_DATA names the folder with the shared vocabularies, TOKDFA_FAMILIES the one with ``NAME/package/models/
tokenizer.json``; ``--file PATH`` takes any file instead. The cases reached are printed by kind, each refusal with its
reason, and each difference made small. The exit status is 1 if there is one. Where the environment variable
TOKDFA_LEDGER names a file, the numbers are added to it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

# Before the libraries are loaded that read it.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
from tests.campaigns.evidence.ledger import ledger_named, record
from tests.campaigns.families.asking import Family, Outcome
from tests.campaigns.families.changes import ask_changes
from tests.campaigns.families.subjects import names, of_file, subject

COMMAND = "python -m tests.campaigns.families"
# Kind of questions -> the promise that they test, and the kind of inputs.
ASKED = {
    "texts": ("encoding", "real texts"),
    "streams": ("validation", "spoiled inputs"),
    "changes": ("encoding", "real texts"),
}


def show(name: str, outcome: Outcome) -> None:
    """Print the cases reached, the refusals, and the differences."""
    refused = sum(outcome.refused.values())
    print(
        f"{name}: {outcome.texts:,} texts, {outcome.streams:,} streams, {outcome.changes:,} changes, "
        f"{len(outcome.differences)} differences, {refused:,} refused; "
        f"{' s, '.join(f'{outcome.seconds[what]:.0f}' for what in ASKED)} s of a processor"
    )
    print("  reached:", ", ".join(f"{kind} {count:,}" for kind, count in sorted(outcome.met.items()) if count))
    for reason, count in outcome.refused.most_common():
        print(f"  refused: {count:,}: {reason}")
    for difference in outcome.differences:
        print(f"  DIFFERENT: {difference}")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Run, print, and write to the ledger; return 1 if something differs."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--family", action="append", help="one name, or several; all by default")
    parser.add_argument("--file", action="append", type=Path, default=[], help="a file of any family")
    parser.add_argument("--pretokenizer", help="the pattern of files of ranks")
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--changes", type=int, default=500, help="appends, edits and rollbacks of texts")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    counts, seconds, n_differences = Counter[str](), Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        chosen = options.family or ([] if options.file else names())
        made = [lambda path=path: of_file(path, options.pretokenizer) for path in options.file]
        made += [lambda name=name: subject(name, Path(os.environ["TOKDFA_DATA"]), Path(folder)) for name in chosen]
        for make in made:
            family = Family(make(), options.seed)
            family.ask_texts(options.texts)
            family.ask_streams(options.streams)
            ask_changes(family, options.changes)
            show(family.subject.name, family.outcome)
            counts.update({what: getattr(family.outcome, what) for what in ASKED})
            seconds.update(family.outcome.seconds)
            n_differences += len(family.outcome.differences)
    path = ledger_named()
    for what, (promise, kind) in ASKED.items() if path is not None else ():
        # Families that are asked one after the other, each by a process, are one run.
        record(
            f"{COMMAND} --{what}", promise, kind, counts[what], cpu_seconds=seconds[what], goes_on=True, path=path,
            differences=n_differences if what == "streams" else 0,
        )  # fmt: skip
    return int(n_differences > 0)


if __name__ == "__main__":
    sys.exit(main())
