"""The page of evidence and the sentence of README, made from the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.campaigns.evidence.ledger import ROOT, entries
from tests.campaigns.evidence.promises import KINDS, PROMISES
from tests.support.generated_pages import page_with_table

PAGE = ROOT / "notebooks" / "evidence.md"
README = ROOT / "README.md"
NAME = "evidence"
Entry = dict[str, Any]


def page() -> str:
    """Return the text of the page."""
    return page_with_table(PAGE, NAME, "\n".join(tables(entries())))


def readme() -> str:
    """Return the text of README."""
    return page_with_table(README, NAME, sentence(entries()))


def sentence(known: dict[str, Entry]) -> str:
    """The sums over all campaigns, in a sentence."""
    last = [entry["last"] for entry in known.values() if "last" in entry]
    count, differences = (sum(run[name] for run in last) for name in ("count", "differences"))
    total, seconds = (sum(entry["total"][name] for entry in known.values()) for name in ("count", "cpu_seconds"))
    return (
        f"In their last runs, {len(last)} campaigns tried {count:,} cases and found {differences:,} differences; over "
        f"all runs they\ntried {total:,} cases in {_time(seconds)} of processor time "
        "([each, with its commit](notebooks/evidence.md))."
    )


def write(known: Iterable[tuple[Path, str]]) -> None:
    """Write texts to their files."""
    for path, text in known:
        path.write_text(text, encoding="utf-8")


def tables(known: dict[str, Entry]) -> Iterator[str]:
    """The lines of the page: the sums by kind, then the campaigns by promise."""
    yield from _summary(known)
    for promise, says in PROMISES.items():
        of_promise = {name: entry for name, entry in sorted(known.items()) if entry.get("promise") == promise}
        if of_promise:
            yield f"\n## {promise.capitalize()}\n\n{says}\n"
            yield "| campaign | what is counted | last run | differences | CPU time | commit | all runs | differences |"
            yield "|---|---|---:|---:|---:|---|---:|---:|"
            for name, entry in of_promise.items():
                last = entry.get("last")
                cells = [
                    _campaign(name),
                    entry["kind"],
                    *(["", "", "", ""] if last is None else _run(last)),
                    f"{entry['total']['count']:,}",
                    f"{entry['total']['differences']:,}",
                ]
                yield f"| {' | '.join(cells)} |"


def _run(last: Entry) -> list[str]:
    commit = f"`{last['commit']}`, {last['date']}"
    return [f"{last['count']:,}", f"{last['differences']:,}", _time(last["cpu_seconds"]), commit]


def _summary(known: dict[str, Entry]) -> Iterator[str]:
    """One row for each kind: the sums of the last runs, and of all."""
    yield "| what is counted | campaigns | last runs | differences | all runs | CPU time of all |"
    yield "|---|---:|---:|---:|---:|---:|"
    for kind in KINDS:
        of_kind = [entry for entry in known.values() if entry.get("kind") == kind]
        ran = [entry["last"] for entry in of_kind if "last" in entry]
        if of_kind:
            count, differences = (f"{sum(last[name] for last in ran):,}" for name in ("count", "differences"))
            total, seconds = (sum(entry["total"][name] for entry in of_kind) for name in ("count", "cpu_seconds"))
            cells = [
                kind,
                f"{len(of_kind)}",
                *((count, differences) if ran else ("", "")),
                f"{total:,}",
                _time(seconds),
            ]
            yield f"| {' | '.join(cells)} |"


def _campaign(name: str) -> str:
    """The name of a campaign; a test is linked to its file."""
    file, is_test, test = name.partition("::")
    return f"[`{test}`](../{file})" if is_test else f"`{name}`"


def _time(seconds: float) -> str:
    return (
        f"{seconds / 3600:,.1f} h"
        if seconds >= 3600
        else f"{seconds / 60:,.0f} min"
        if seconds >= 60
        else f"{seconds:.0f} s"
    )
