"""``tokdfa validate``: whether the tokenizer gives these ids for their text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from tokdfa.cli import options
from tokdfa.cli.corpus import (
    corpus_options,
    is_of_files,
    print_answer,
    print_causes,
    print_findings,
    print_violations,
    progress,
    validate_corpus,
    violations_in,
)
from tokdfa.cli.ids import Records, ids_and_documents, stream_of
from tokdfa.cli.lattices import Lattices
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import counted, say

if TYPE_CHECKING:
    from tokdfa.base.arrays import Int64Array, IntegerArray
    from tokdfa.draw.report.validation import ValidationReport
    from tokdfa.jobs.shards.report import Report
    from tokdfa.tokenizers.protocol import AnyTokenizer

Again: TypeAlias = "tuple[Iterator[IntegerArray], int | Int64Array | None, Records | None]"


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
    or --ray: the findings of all files are added up, and an unreadable file is trouble.

    The page of --html shows all violations, with or without --all; of a corpus, its totals and worst files.

    Exit status: 0 canonical, 1 not canonical, 2 trouble.

    \b
    Examples:
      tokdfa validate tokenizer.json ids.npy
      tokdfa validate tokenizer.json 'shards/*.bin' --dtype uint16 --threads 8
    """
    is_corpus = len(paths) > 1 or any(each is not None for each in (threads, report_path, cluster))
    is_corpus = is_corpus or is_of_files(paths[0])
    if cluster is not None and paths == ("-",):
        raise click.UsageError("standard input cannot be read by the workers of a cluster")
    from tokdfa.jobs.shards.stream import IdStream, check_stream

    tokenizer = load_tokenizer(tok, loading)
    lattices = Lattices.of(tokenizer) if explain else None
    if is_corpus:
        reading = corpus_options(dtype, field, documents, literal, window)
        threads = threads or (os.cpu_count() or 1 if cluster is None else 1)
        total, files, unwritten = validate_corpus(
            tokenizer, paths, reading, threads=threads, report_path=report_path, cluster=cluster
        )
        wrong = [path for path in sorted(files) if files[path].violations]
        every_one = (each for path in wrong for each in violations_in(tokenizer, path, reading, every=every))
        violations = every_one if every else islice(every_one, 1)
        status = print_findings(total, violations, lattices, as_json=as_json, every=every)
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
        options = corpus_options(dtype, field, own, literal, window)
        seen = Records(store)
        verdict, report = check_stream(tokenizer, store, options, all=every, seen=seen.see, advance=advance)
    found = [(seen.where(violation), violation) for violation in verdict.violations]
    if as_json:
        print_answer(verdict.holds, verdict.tokens, found, report, lattices)
    elif verdict:
        say(f"canonical: {counted(verdict.tokens, 'token')}")
    else:
        print_violations(found, lattices)
        print_causes(report)
        shown = counted(len(found), "violation") if every else "only the first violation is shown"
        say(f"not canonical: {counted(verdict.tokens, 'token')}, {shown}")
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
