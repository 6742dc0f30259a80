"""``tokdfa search``: find where a pattern matches the text of a stream of ids."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING

import click

from tokdfa.cli import options
from tokdfa.cli.corpus import count_in_files, is_of_files
from tokdfa.cli.ids import given_text, of_file, read_words
from tokdfa.cli.output import counted, print_json, print_table, say

if TYPE_CHECKING:
    from typing import TypeAlias

    from tokdfa.base.arrays import IntegerArray
    from tokdfa.cli.corpus import Advance
    from tokdfa.jobs.searching.api import Searcher
    from tokdfa.jobs.searching.counting import Counts
    from tokdfa.jobs.searching.stream import Match
    from tokdfa.stores.store import Chunk
    from tokdfa.tokenizers.protocol import AnyTokenizer

    Read: TypeAlias = Callable[[Path], Iterator[IntegerArray]]

# Bytes of JSON held in memory until the stream has been read to its end; any more waits on disk.
_MOST_IN_MEMORY = 1 << 24
_SHOWN = 60


@click.command("search")
@click.argument("tok")
@click.argument("pattern_and_ids", nargs=-1, metavar="[PATTERN] IDS")
@click.option("--longest", "wanted", flag_value="longest", default=True, help="Find the leftmost, longest matches.")
@click.option(
    "--first", "wanted", flag_value="first", help="Find the leftmost matches that a backtracking engine finds first."
)
@click.option("--overlapping", "wanted", flag_value="all", help="Find all matches, overlapping ones included.")
@options.words
@click.option(
    "--token",
    "names",
    metavar="NAME",
    multiple=True,
    help="Find the ids of the special token NAME (all: of every one), instead of PATTERN; may be repeated.",
)
@click.option(
    "--mask",
    metavar="FILE",
    help="With --token: find only ids for which FILE, of the same length as IDS, has 1, such as sampled ids.",
)
@click.option("--aligned", is_flag=True, help="Find only matches that begin and end at token boundaries.")
@click.option("--count", "only_count", is_flag=True, help="Print only the number of matches; --threads is for this.")
@options.dtype
@options.field
@options.threads
@options.specials
@options.format
@options.escapes
@options.max_seconds
@options.json
def command(
    tok: str,
    pattern_and_ids: tuple[str, ...],
    wanted: str,
    words: str | None,
    names: tuple[str, ...],
    mask: str | None,
    aligned: bool,
    only_count: bool,
    dtype: str | None,
    field: str | None,
    threads: int | None,
    specials: str | None,
    format_name: str | None,
    escapes: bool,
    max_seconds: float,
    as_json: bool,
) -> int:
    r"""Find a regular expression in ids: where PATTERN matches the text of IDS, without decoding them.

    Matches are those in the decoded text, cut at control tokens. Positions count from the beginning of IDS, across its
    documents.

    Each line is one match: first byte, byte after it, first token, token after it, text. With --count IDS may be
    several files, folders and patterns; with --words as well, each word has a line with its matches, and the documents
    and files that have one.

    Exit status: 0 there is a match, 1 there is none, 2 trouble.

    \b
    Examples:
      tokdfa search tokenizer.json "[0-9]{3}-[0-9]{4}" ids.npy
      tokdfa search tokenizer.json --words names.txt --count 'shards/*.bin'
    """
    if words is not None and names:
        raise click.UsageError("give --words or --token, not both")
    if escapes and not names:
        raise click.UsageError("--escapes is for --token; regular expressions have escapes of their own")
    names = tuple(given_text(name, escapes=escapes) for name in names)
    from tokdfa.jobs.searching.api import Searcher
    from tokdfa.stores import iter_ids
    from tokdfa.tokenizers.loading import load_unsplit

    def searcher_of(searched: str | list[bytes]) -> Searcher:
        tokenizer = load_unsplit(tok, specials=specials, format=format_name)
        return Searcher(tokenizer, searched, wanted=wanted, aligned=aligned, max_seconds=max_seconds)  # type: ignore[arg-type]

    read = partial(iter_ids, dtype=dtype, field=field)
    n_patterns = 0 if words is not None or names else 1
    if only_count and not names and len(pattern_and_ids) > n_patterns:
        given = pattern_and_ids[n_patterns:]
        if words is not None:
            chunks_of = partial(_chunks_of, dtype=dtype, field=field)
            listed = read_words(words)
            return _print_words(searcher_of(listed), listed, given, chunks_of, threads or os.cpu_count() or 1, as_json)
        if len(given) > 1 or threads is not None or is_of_files(given[0]):
            return _print_count(searcher_of(pattern_and_ids[0]), given, read, threads or os.cpu_count() or 1, as_json)
    if threads is not None:
        raise click.UsageError("--threads is for --count")
    if len(pattern_and_ids) != n_patterns + 1:
        several = "; IDS is one file unless --count is given" if len(pattern_and_ids) > 2 else ""
        raise click.UsageError(
            f"give TOK, PATTERN and IDS, in this order; or TOK, IDS and --words FILE or --token NAME{several}"
        )
    if mask is not None and not names:
        raise click.UsageError("--mask is for --token")
    *pattern, ids = pattern_and_ids
    with of_file(ids):
        if names:
            tokenizer = load_unsplit(tok, specials=specials, format=format_name)
            return _print_specials(tokenizer, names, read(ids), mask, only_count=only_count, as_json=as_json)
        searcher = searcher_of(pattern[0] if words is None else read_words(words))
        chunks = read(ids)
        if only_count:
            count = sum(map(len, searcher.iter_matches(chunks)))
            _say_count(count, as_json)
        elif as_json:
            count = _print_json(searcher.iter_matches(chunks))
        else:
            count = _print_lines(searcher, chunks)
        return 0 if count else 1


def _print_count(searcher: Searcher, paths: tuple[str, ...], read: Read, threads: int, as_json: bool) -> int:
    """Print the number of matches in all files, and return the exit status."""

    def matches(path: Path, advance: Advance) -> int:
        def chunks() -> Iterator[IntegerArray]:
            for chunk in read(path):
                yield chunk
                advance(len(chunk))

        return sum(map(len, searcher.iter_matches(chunks())))

    counts, is_whole = count_in_files(paths, threads, matches)
    _say_count(sum(counts), as_json)
    return 2 if not is_whole else 0 if sum(counts) else 1


def _chunks_of(path: Path, dtype: str | None, field: str | None) -> Iterator[Chunk]:
    from tokdfa.stores import consistent, iter_ids, open_store
    from tokdfa.stores.store import Chunk

    if str(path) == "-":
        return (Chunk(ids) for ids in iter_ids("-", dtype=dtype, field=field))
    return consistent(open_store(path, dtype=dtype, field=field)).iter_chunks()


def _print_words(
    searcher: Searcher,
    words: list[bytes],
    paths: tuple[str, ...],
    chunks_of: Callable[[Path], Iterator[Chunk]],
    threads: int,
    as_json: bool,
) -> int:
    """Print how often each word occurs in all files, and return the exit status."""
    from rich.table import Table
    from rich.text import Text

    from tokdfa.jobs.searching.counting import add_counts, count_words

    def counts_of(path: Path, advance: Advance) -> Counts:
        return count_words(searcher, chunks_of(path), advance)

    counts, is_whole = (
        ([counts_of(Path("-"), lambda _: None)], True) if paths == ("-",) else count_in_files(paths, threads, counts_of)
    )
    total: Counts = reduce(add_counts, counts, {})
    count = sum(row[0] for row in total.values())
    shown = {word: total.get(word, [0, 0, 0]) for word in words}
    if as_json:
        names = ("count", "documents", "files")
        rows = [{"word": _text(word), **dict(zip(names, row, strict=True))} for word, row in shown.items()]
        print_json({"total": count, "words": rows})
    else:
        table = Table(box=None, pad_edge=False)
        table.add_column("word", overflow="fold")
        for title in ("matches", "documents", "files"):
            table.add_column(title, justify="right")
        for word, row in sorted(shown.items(), key=lambda item: -item[1][0]):
            if row[0]:
                table.add_row(Text(_text(word)), *(f"{n:,}" for n in row))
        print_table(table)
        matches = f"{count:,} match{'es' * (count != 1)}"
        say(f"{matches} of {len(total):,} of {counted(len(shown), 'word')}")
    return 2 if not is_whole else 0 if count else 1


def _text(word: bytes) -> str:
    return word.decode("utf-8", "backslashreplace")


def _say_count(count: int, as_json: bool) -> None:
    say(f'{{"count": {count}}}' if as_json else f"{count:,}")


def _print_specials(
    tokenizer: AnyTokenizer,
    names: tuple[str, ...],
    ids: Iterator[IntegerArray],
    mask: str | None,
    *,
    only_count: bool,
    as_json: bool,
) -> int:
    """Print where special tokens are, and return the exit status."""
    from tokdfa.jobs.searching.stream import iter_special_tokens
    from tokdfa.stores import iter_ids

    flags = None if mask is None else iter_ids(mask)
    found = iter_special_tokens(tokenizer, names, ids, flags)
    if only_count:
        count = sum(1 for _ in found)
        _say_count(count, as_json)
    elif as_json:
        count = _print_json([match] for match, _ in found)
    else:
        count = 0
        for match, content in found:
            count += 1
            say(f"bytes {match.start_byte}-{match.end_byte}, token {match.start_token}: {content!r}")
    return 0 if count else 1


def _print_json(found: Iterable[Iterable[Match]]) -> int:
    """Print one object, but only at the end: for a stream that turns out to be bad none is printed."""
    count = 0
    with SpooledTemporaryFile(max_size=_MOST_IN_MEMORY, mode="w+", encoding="ascii") as spool:
        for matches in found:
            for match in matches:
                spool.write((", " if count else "") + json.dumps(match._asdict()))
                count += 1
        say('{"matches": [', end="")
        spool.seek(0)
        while part := spool.read(1 << 16):
            say(part, end="")
        say(f'], "count": {count}}}')
    return count


def _print_lines(searcher: Searcher, chunks: Iterator[object]) -> int:
    count = 0
    for matches, spelled in searcher.iter_spelled(chunks):  # type: ignore[arg-type]
        lines = (
            f"bytes {start}-{end}, tokens {first}-{behind}: {_shown(text)}"
            for (start, end, first, behind), text in zip(matches, spelled, strict=True)
        )
        if len(matches):
            say("\n".join(lines))
        count += len(matches)
    return count


def _shown(text: bytes) -> str:
    """Return a text on one line, shortened."""
    shown = text[: 4 * _SHOWN].decode("utf-8", "replace")
    if len(text) <= 4 * _SHOWN and len(shown) <= _SHOWN:
        return repr(shown)
    return f"{shown[:_SHOWN]!r} … ({len(text):,} bytes)"
