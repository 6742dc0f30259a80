"""``tokdfa validate``: whether the tokenizer gives these ids for their text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from tokdfa.cli import options
from tokdfa.cli.corpus import (
    corpus_options,
    is_of_files,
    line_of,
    print_causes,
    print_findings,
    progress,
    report_as_json,
    validate_corpus,
    violations_in,
)
from tokdfa.cli.ids import Records, ids_and_documents, stream_of
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import counted, print_json, say

if TYPE_CHECKING:
    from tokdfa.base.arrays import Int64Array, IntegerArray
    from tokdfa.draw.report.validation import ValidationReport
    from tokdfa.jobs.shards.report import Report
    from tokdfa.jobs.validation.violation import Violation
    from tokdfa.stores.store import Location
    from tokdfa.tokenizers.models.unigram.lattice import Scores, Way
    from tokdfa.tokenizers.models.unigram.segmenter import Segmenter
    from tokdfa.tokenizers.protocol import AnyTokenizer

Again: TypeAlias = "tuple[Iterator[IntegerArray], int | Int64Array | None, Records | None]"

# The maximum number of pieces of a lattice that are printed.
_MOST_WAYS = 100


@click.command("validate")
@click.argument("tok")
@options.many_ids
@options.dtype
@options.field
@click.option("--all", "every", is_flag=True, help="Report every violation, not only the first.")
@click.option(
    "--window", is_flag=True, help="IDS were cut out of a longer stream: report only what is wrong in any context."
)
@options.documents
@click.option(
    "--literal",
    is_flag=True,
    help="Judge special tokens that encoding never gives, such as control pieces, by the text that they decode to, "
    "instead of splitting IDS there.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="For Unigram: print the lattice around each violation, with the pieces, their scores and the best sums.",
)
@tokenizer_options
@options.threads
@click.option(
    "--report",
    "report_path",
    metavar="FILE",
    help="Write the findings of all files to FILE, as JSON. A run that was stopped is resumed from it.",
)
@click.option(
    "--ray",
    "cluster",
    metavar="ADDRESS|local",
    help="Check the files with the workers of the Ray cluster at ADDRESS (HOST:PORT or auto), or on this machine; with "
    "--threads N, each takes N CPUs. The answer is the same.",
)
@options.html
@options.force
@options.json
def command(
    tok: str,
    paths: tuple[str, ...],
    dtype: str | None,
    field: str | None,
    every: bool,
    window: bool,
    documents: str | None,
    literal: bool,
    explain: bool,
    loading: Loading,
    threads: int | None,
    report_path: str | None,
    cluster: str | None,
    html_path: str | None,
    as_json: bool,
) -> int:
    r"""Decide whether IDS are canonical: exactly what the tokenizer TOK gives for their text.

    If IDS have documents, each is judged separately.

    Several IDS, folders and patterns such as 'shards/0?.bin' form a corpus, as does one file with --threads, --report
    or --ray: the findings of all files are added up, and an unreadable file is trouble. --window and --explain are for
    one file.

    The page of --html shows all violations, with or without --all; of a corpus, its totals and worst files.

    Exit status: 0 canonical, 1 not canonical, 2 trouble.

    \b
    Examples:
      tokdfa validate tokenizer.json ids.npy
      tokdfa validate tokenizer.json 'shards/*.bin' --dtype uint16 --threads 8
    """
    is_corpus = len(paths) > 1 or any(each is not None for each in (threads, report_path, cluster))
    is_corpus = is_corpus or is_of_files(paths[0])
    if is_corpus and (window or explain):
        what = "--window and --explain are for one file, without --threads, --report and --ray"
        raise click.UsageError(what)
    if cluster is not None and paths == ("-",):
        raise click.UsageError("standard input cannot be read by the workers of a cluster")
    from tokdfa.jobs.shards.stream import IdStream, check_stream

    tokenizer = load_tokenizer(tok, loading)
    if explain:
        _segmenter(tokenizer)
    if is_corpus:
        reading = corpus_options(dtype, field, documents, literal)
        threads = threads or (os.cpu_count() or 1 if cluster is None else 1)
        total, files, unwritten = validate_corpus(
            tokenizer, paths, reading, threads=threads, report_path=report_path, cluster=cluster
        )
        wrong = [path for path in sorted(files) if files[path].violations]
        violations = (each for path in wrong for each in violations_in(tokenizer, path, reading, every=every))
        shown = violations if every else islice(violations, 1)
        status = print_findings(total, shown, as_json=as_json, every=every)
        if html_path is not None:
            from tokdfa.draw.report.corpus import CorpusReport

            CorpusReport(tokenizer, total, files, title=tok, source=", ".join(paths)).save(html_path)
        if unwritten is not None:
            raise unwritten
        return status
    (ids,) = paths
    own = documents if documents is None or documents == "none" or documents.isdecimal() else None
    store = stream_of(ids, dtype, field, documents)
    if html_path is not None and ids == "-" and isinstance(store, IdStream):
        store.held = []  # The page is made in a second pass.
    with progress([Path(ids)], store.n_ids) as (advance, _):
        options = corpus_options(dtype, field, own, literal)
        seen = Records(store)
        how = {"all": every, "window": window}
        verdict, report = check_stream(tokenizer, store, options, **how, seen=seen.see, advance=advance)
    if as_json:
        print_json(
            {
                "valid": verdict.holds,
                "tokens": verdict.tokens,
                "violations": [
                    _as_json(tokenizer, violation, seen.where(violation), explain) for violation in verdict.violations
                ],
                "report": report_as_json(report),
            }
        )
    elif verdict:
        say(f"canonical: {counted(verdict.tokens, 'token')}")
    else:
        for violation in verdict.violations:
            say(line_of(violation, seen.where(violation)))
            for line in _explanation(_segmenter(tokenizer), violation) if explain else ():
                say(line)
        print_causes(report)
        found = counted(len(verdict.violations), "violation") if every else "only the first violation is shown"
        say(f"not canonical: {counted(verdict.tokens, 'token')}, {found}")
    if html_path is not None:
        if isinstance(store, IdStream) and store.held is not None:
            starts = store.given if own is None or own == "none" else int(own)
            again: Again = (iter(store.held), starts, None)
        else:
            again = ids_and_documents(ids, dtype, field, documents)
        source = "standard input" if ids == "-" else ids
        _page(tokenizer, (tok, source), again, report, window=window, literal=literal).save(html_path)
    return 0 if verdict else 1


def _page(
    tokenizer: AnyTokenizer,
    names: tuple[str, str],
    again: Again,
    report: Report,
    *,
    window: bool,
    literal: bool,
) -> ValidationReport:
    """Return the page on a stream that is read again, with its documents and records."""
    from tokdfa.draw.report.collect import Collection
    from tokdfa.draw.report.validation import MAX_SHOWN, report_on

    stream, starts, records = again
    name = None if records is None else records.name
    collection = Collection(tokenizer, MAX_SHOWN, name, window=window, documents=starts, literal=literal)
    page = report_on(collection, stream, all=False, names=names)
    page.causes = report
    return page


def _as_json(tokenizer: AnyTokenizer, violation: Violation, where: Location, explain: bool) -> dict[str, Any]:
    fields = where._asdict() | violation.as_json()
    if explain and violation.scores is not None:
        fields["scores"] |= {"lattice": _lattice_as_json(_segmenter(tokenizer), violation.scores)}
    return fields


def _segmenter(tokenizer: AnyTokenizer) -> Segmenter:
    """Return the segmenter of a tokenizer with a lattice for violations."""
    if tokenizer.segmenter is None:
        raise click.UsageError(
            f"--explain prints the lattice of a Unigram tokenizer, and this is a {tokenizer.algorithm} tokenizer; "
            "its violations say why without it"
        )
    return tokenizer.segmenter


def _explanation(segmenter: Segmenter, violation: Violation) -> Iterator[str]:
    """Yield the lines that show the lattice of the text that both segmentations have."""
    from tokdfa.automata.alphabet import quoted
    from tokdfa.tokenizers.models.unigram.lattice import MOST_SHOWN, lattice

    scores = violation.scores
    if scores is None:
        yield "    no scores decide here"
        return
    whole = "" if len(scores.text) < MOST_SHOWN else f", at most {MOST_SHOWN} characters"
    yield f"    lattice of {quoted(scores.text)}{whole}; the sum of scores before it is {_number(scores.before)}"
    ways = [*islice(lattice(segmenter, scores), _MOST_WAYS + 1)]
    names = [_name(way, scores) for way in ways]
    widest = max(map(len, names), default=0)
    stop = 0
    for way, name in zip(ways[:_MOST_WAYS], names, strict=False):
        end = f"to {way.stop}" if way.stop != stop else ""
        if end and scores.starts[way.stop] < 0:
            yield f"    {end:<6} best by a piece from before, sum {_number(scores.sums[way.stop])}"
            end = ""
        stop = way.stop
        sums = f"score {_number(way.score)}, sum {_number(way.sum)}{', best' if way.is_best else ''}"
        yield f"    {end:<6} {name:<{widest}}  from {way.start}, {sums}"
    if len(ways) > _MOST_WAYS:
        yield f"    … at most {_MOST_WAYS} pieces are shown"
    if scores.is_rounded_late:
        yield "    sums are compared before they are rounded to 32 bits; of equal ones the longest last piece counts"
    else:
        yield "    of equal sums the one whose last piece begins first counts"


def _lattice_as_json(segmenter: Segmenter, scores: Scores) -> list[dict[str, Any]]:
    """Return the pieces of the lattice, as ``tokdfa validate --explain --json`` prints them."""
    from tokdfa.tokenizers.models.unigram.lattice import lattice

    return [
        {"start": way.start, "stop": way.stop, "id": way.id, "score": way.score, "sum": way.sum, "best": way.is_best}
        for way in islice(lattice(segmenter, scores), _MOST_WAYS)
    ]


def _name(way: Way, scores: Scores) -> str:
    from tokdfa.automata.alphabet import quoted

    text = quoted(scores.text[way.start : way.stop])
    return f"{text}, unknown" if way.id is None else f"{text} ({way.id})"


def _number(value: float) -> str:
    return f"{value:.9g}"
