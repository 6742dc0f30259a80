"""``tokdfa search``: find where a pattern matches the text of a stream of ids."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING

import click

from tokdfa.cli import options
from tokdfa.cli.contamination import print_ngrams, read_items
from tokdfa.cli.corpus import is_of_files
from tokdfa.cli.counting import Corpus, print_count, print_words, printable, say_count
from tokdfa.cli.ids import given_text, of_file, read_patterns, read_words
from tokdfa.cli.output import say

if TYPE_CHECKING:
    from tokdfa.base.arrays import IntegerArray
    from tokdfa.jobs.searching.api import Searcher, Spelled
    from tokdfa.jobs.searching.ngram_units import NgramRule
    from tokdfa.jobs.searching.stream import Match
    from tokdfa.tokenizers.protocol import AnyTokenizer

# Bytes of JSON held in memory until the stream has been read to its end; any more waits on disk.
_MOST_IN_MEMORY = 1 << 24
_SHOWN = 60


@click.command("search")
@click.argument("tok")
@click.argument("pattern_and_ids", nargs=-1, metavar="[PATTERN] IDS")
@click.option(
    "--first",
    "wanted",
    flag_value="first",
    help="Find the leftmost matches that a backtracking engine finds first, as replace does; the default for PATTERN.",
)
@click.option(
    "--longest",
    "wanted",
    flag_value="longest",
    help="Find the leftmost, longest matches; the default for --words, the longest at an offset counts.",
)
@click.option("--overlapping", "wanted", flag_value="all", help="Find all matches, overlapping ones included.")
@options.words
@click.option(
    "--patterns",
    metavar="FILE",
    help="Take the patterns and their names from FILE: a pattern, a tab and a name in each line; an earlier pattern is "
    "preferred.",
)
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
@click.option(
    "--text",
    "with_text",
    is_flag=True,
    help="With --json: each match with its text, and with the name of its pattern in --patterns.",
)
@click.option("--count", "only_count", is_flag=True, help="Print only the number of matches; --threads is for this.")
@click.option(
    "--ngrams",
    "items",
    metavar="FILE",
    help="Find which items in FILE, such as an evaluation, have n-grams in IDS: lines, or records of JSONL.",
)
@click.option("-n", "n", type=options.AtLeast(1), metavar="N", help="Words, or ids, of an n-gram; default 13.")
@click.option(
    "--rule",
    type=click.Choice(["exact", "lm-eval", "ids"]),
    help="What n-grams are made of: words from white space to white space (exact, the default); words also in lower "
    "case, without punctuation, of ASCII (lm-eval, as lm-eval-harness does); or the ids of items (ids).",
)
@click.option(
    "--item-field", metavar="FIELD", help="Field of the text in records of --ngrams; default: text, or the only one."
)
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
    wanted: str | None,
    words: str | None,
    patterns: str | None,
    names: tuple[str, ...],
    mask: str | None,
    aligned: bool,
    with_text: bool,
    only_count: bool,
    items: str | None,
    n: int | None,
    rule: NgramRule | None,
    item_field: str | None,
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

    Each line is one match: first byte, byte after it, first token, token after it, text, and the name of its pattern
    in --patterns. With --count IDS may be several files, folders and patterns; with --words or --patterns as well, each
    word or name has a line with its matches, and the documents and files that have one. With --ngrams too, IDS may be
    several: each contaminated item has a line.

    Exit status: 0 there is a match, 1 there is none, 2 trouble.

    \b
    Examples:
      tokdfa search tokenizer.json "[0-9]{3}-[0-9]{4}" ids.npy
      tokdfa search tokenizer.json --ngrams questions.jsonl -n 13 shards/
    """
    n_given = (words is not None) + (patterns is not None) + bool(names) + (items is not None)
    if n_given > 1:
        raise click.UsageError("give one of --words, --patterns, --token and --ngrams")
    if with_text and (not as_json or only_count or names or items is not None):
        raise click.UsageError("--text is for --json with PATTERN, --words or --patterns, without --count")
    if patterns is not None and wanted not in (None, "first"):
        raise click.UsageError("--longest and --overlapping are not for --patterns: an earlier pattern is preferred")
    if items is None and (n, rule, item_field) != (None, None, None):
        raise click.UsageError("-n, --rule and --item-field are for --ngrams")
    if escapes and not names:
        raise click.UsageError("--escapes is for --token; regular expressions have escapes of their own")
    names = tuple(given_text(name, escapes=escapes) for name in names)
    from tokdfa.jobs.searching.api import Searcher
    from tokdfa.jobs.searching.ngrams import NgramCounter
    from tokdfa.stores import iter_ids
    from tokdfa.tokenizers.loading import load_unsplit

    def searcher_of(searched: str | list[bytes] | dict[str, str]) -> Searcher:
        tokenizer = load_unsplit(tok, specials=specials, format=format_name)
        return Searcher(tokenizer, searched, wanted=wanted, aligned=aligned, max_seconds=max_seconds)  # type: ignore[arg-type]

    read = partial(iter_ids, dtype=dtype, field=field)
    n_patterns = 0 if n_given else 1
    named = None if patterns is None else read_patterns(patterns, "name")
    corpus = Corpus(pattern_and_ids[n_patterns:], dtype, field, threads)
    if items is not None and corpus.paths:
        if aligned or mask is not None or only_count:
            raise click.UsageError("--aligned, --mask and --count are not for --ngrams")
        tokenizer = load_unsplit(tok, specials=specials, format=format_name)
        listed_items = read_items(items, item_field)
        counter = NgramCounter(tokenizer, [*listed_items.values()], n or 13, rule or "exact")
        return print_ngrams(counter, listed_items, corpus, as_json)
    if only_count and not names and corpus.paths:
        if words is not None:
            listed = read_words(words)
            return print_words(searcher_of(listed), "word", listed, corpus, as_json)
        if named is not None:
            return print_words(searcher_of(named), "name", [*dict.fromkeys(named.values())], corpus, as_json)
        if len(corpus.paths) > 1 or threads is not None or is_of_files(corpus.paths[0]):
            return print_count(searcher_of(pattern_and_ids[0]), corpus, as_json)
    if threads is not None:
        raise click.UsageError("--threads is for --count and --ngrams")
    if len(pattern_and_ids) != n_patterns + 1:
        several = "; IDS is one file unless --count is given" if len(pattern_and_ids) > 2 else ""
        raise click.UsageError(
            "give TOK, PATTERN and IDS, in this order; or TOK, IDS and --words FILE, --patterns FILE, --token "
            f"NAME or --ngrams FILE{several}"
        )
    if mask is not None and not names:
        raise click.UsageError("--mask is for --token")
    *pattern, ids = pattern_and_ids
    with of_file(ids):
        if names:
            tokenizer = load_unsplit(tok, specials=specials, format=format_name)
            return _print_specials(tokenizer, names, read(ids), mask, only_count=only_count, as_json=as_json)
        searcher = searcher_of(named if named is not None else read_words(words) if words is not None else pattern[0])
        chunks = read(ids)
        if only_count:
            count = sum(map(len, searcher.iter_matches(chunks)))
            say_count(count, as_json)
        elif as_json:
            with_texts = map(_with_texts, searcher.iter_spelled(chunks)) if with_text else None
            count = _print_json(with_texts or searcher.iter_matches(chunks))
        else:
            count = _print_lines(searcher, chunks)
        return 0 if count else 1


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
        say_count(count, as_json)
    elif as_json:
        count = _print_json([match] for match, _ in found)
    else:
        count = 0
        for match, content in found:
            count += 1
            say(f"bytes {match.start_byte}-{match.end_byte}, token {match.start_token}: {content!r}")
    return 0 if count else 1


def _print_json(found: Iterable[Iterable[Match | dict[str, object]]]) -> int:
    """Print one object, but only at the end: for a stream that turns out to be bad none is printed."""
    count = 0
    with SpooledTemporaryFile(max_size=_MOST_IN_MEMORY, mode="w+", encoding="ascii") as spool:
        for matches in found:
            for match in matches:
                spool.write((", " if count else "") + json.dumps(match if isinstance(match, dict) else match._asdict()))
                count += 1
        say('{"matches": [', end="")
        spool.seek(0)
        while part := spool.read(1 << 16):
            say(part, end="")
        say(f'], "count": {count}}}')
    return count


def _with_texts(found: Spelled) -> Iterator[dict[str, object]]:
    """Yield matches with their texts, and with the names of their patterns if these have some."""
    for match, text, name in zip(*found, strict=True):
        yield match._asdict() | {"text": printable(text)} | ({} if name is None else {"name": printable(name)})


def _print_lines(searcher: Searcher, chunks: Iterator[IntegerArray]) -> int:
    count = 0
    for matches, texts, names in searcher.iter_spelled(chunks):
        lines = (
            f"bytes {start}-{end}, tokens {first}-{behind}: {_shown(text)}"
            f"{'' if name is None else f', {printable(name)}'}"
            for (start, end, first, behind), text, name in zip(matches, texts, names, strict=True)
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
