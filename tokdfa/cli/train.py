"""``tokdfa train``: train a dictionary on a corpus."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click

from tokdfa.base.errors import TrainingError
from tokdfa.cli import options
from tokdfa.cli.ids import given_text
from tokdfa.cli.output import print_json, say

if TYPE_CHECKING:
    from tokdfa.automata.dictionary import Dictionary
    from tokdfa.training.api import EndOfWord, Level
    from tokdfa.training.counting import Unit
    from tokdfa.training.rules import CountRule, GreedyRules, TieRule, Trainer

_TIES = ("first-seen", "oldest-pair", "huggingface", "rustbpe", "sentencepiece", "subword-nmt", "any")
_LIKE = ("tokenizers", "sentencepiece", "subword-nmt", "rustbpe", "minbpe")


class _Options(TypedDict):
    """The options that --like sets together."""

    level: Level
    unit: Unit
    end_of_word: EndOfWord | None
    tie: TieRule
    count: CountRule
    min_frequency: int
    max_token_length: int | None


@click.command("train")
@click.argument("corpus", type=options.NamedPath(), nargs=-1, required=True)
@click.option("--merges", type=options.AtLeast(0), metavar="N", help="Number of rules to make.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="merges.txt, tokenizer.json, X.tiktoken, or a folder for several of them.",
)
@options.force
@click.option(
    "--check",
    "listed",
    metavar="MERGES",
    help="Train nothing: decide whether each merge of this file is the most frequent pair at that time.",
)
@options.format
@click.option(
    "--like",
    type=click.Choice(_LIKE),
    help="Train as this trainer does: sets --tie, --count, --unit, --level, --end-of-word and the limits together.",
)
@click.option(
    "--tie",
    type=click.Choice(_TIES),
    default="first-seen",
    help="How to break ties between equally frequent pairs; any, only with --check: accept each of them.",
)
@click.option(
    "--count",
    type=click.Choice(["non-overlapping", "overlapping"]),
    default="non-overlapping",
    help="Whether aaa contains one pair aa or two.",
)
@click.option(
    "--method",
    type=click.Choice(["greedy", "naive", "exact"]),
    default="greedy",
    help="naive: the rules of greedy, found slowly. exact: the best dictionary possible, for tiny corpora only.",
)
@options.pretokenizer_of("", default="gpt2")
@click.option("--level", type=click.Choice(["byte", "character"]), default="byte", help="What a symbol is.")
@click.option(
    "--unit",
    type=click.Choice(["file", "line"]),
    default="file",
    help="What is split separately: a whole file, or each line with its line end.",
)
@click.option(
    "--end-of-word", type=click.Choice(["attached", "separate"]), help="Mark the end of each piece with </w>."
)
@click.option(
    "--min-frequency",
    type=options.AtLeast(1),
    default=2,
    metavar="N",
    help="Do not merge pairs that occur fewer than N times.",
)
@click.option("--max-token-length", type=options.AtLeast(2), metavar="N", help="Make no token of more than N symbols.")
@click.option("--alphabet", metavar="TEXT", help="Characters to include as symbols even if they do not occur.")
@options.threads
@click.option(
    "--checkpoint", metavar="FILE", help="Save progress to FILE, and resume from it; it is removed at the end."
)
@click.option(
    "--interval",
    type=options.Seconds(or_none=True),
    default=60,
    metavar="N",
    help="Save a checkpoint every N seconds.",
)
@options.escapes
@options.json
def command(
    corpus: tuple[str, ...],
    merges: int | None,
    output: str | None,
    listed: str | None,
    format_name: str | None,
    like: Trainer | None,
    method: str,
    pretokenizer: str,
    alphabet: str | None,
    threads: int | None,
    checkpoint: str | None,
    interval: float,
    escapes: bool,
    as_json: bool,
    **asked: Unpack[_Options],
) -> int:
    r"""Train a dictionary: make the merge rules for a corpus.

    CORPUS is files (plain, .gz, .zst), folders, glob patterns, or - for standard input.

    With --check, the trainer is run again, and each merge of a file is compared with the most frequent pair at that
    time. The corpus is split as the file says. The first wrong merge is shown, with both counts and a likely cause.

    Exit status: 0 done, or each merge is right, 1 one is wrong, 2 trouble.

    \b
    Examples:
      tokdfa train corpus/ --merges 32000 -o tokenizer.json
      tokdfa train corpus/ --check tokenizer.json --like tokenizers
    """
    from tokdfa.training.api import Reading, count_corpus_pieces
    from tokdfa.training.output import check_output, write_dictionary
    from tokdfa.training.rules import DEFAULTS, GreedyRules, resolve

    began = perf_counter()
    if listed is not None:
        of_check = {**asked, "like": like, "pretokenizer": pretokenizer}
        return _check(listed, corpus, format_name, of_check, threads, as_json=as_json)
    if format_name is not None:
        raise click.UsageError("--format is the format of the file of --check; without --check, -o names the format")
    for value, name in ((merges, "--merges"), (output, "-o")):
        if value is None:
            raise click.UsageError(f"missing option {name}: without --check a dictionary is trained and written")
    assert merges is not None
    assert output is not None
    if str(asked["tie"]) == "any":
        raise click.UsageError("--tie any cannot be used without --check; name another rule")
    chosen = {name: asked[name] for name in DEFAULTS if options.is_given(name)}  # type: ignore[literal-required]
    if like is not None and method == "exact":
        raise click.UsageError(f"--method exact cannot be combined with --like {like}; leave one of the two out")
    meant: dict[str, Any] = {**asked, **resolve(like, chosen)}
    reading = Reading(pretokenizer, meant["level"], meant["unit"], meant["end_of_word"])
    if method == "exact":
        for name in ("tie", "count", "min_frequency", "max_token_length"):
            if options.is_given(name):
                option = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"{option} cannot be used with --method exact; leave one of the two out")
    rules = GreedyRules(meant["tie"], meant["count"], meant["min_frequency"], meant["max_token_length"])
    alphabet = None if alphabet is None else given_text(alphabet, escapes=escapes)
    if alphabet is not None and reading.kind != "characters":
        what = f"{alphabet!r} has characters, and here the symbols are bytes, and all 256 are included; leave it out"
        raise click.BadParameter(f"{what}, or give --level character", param_hint="--alphabet")
    try:
        is_folder = check_output(output, reading.kind, pretokenizer, reading.suffix) is None
    except TrainingError as error:
        error.where = "output"  # By the name of the parameter, the message names the option.
        raise
    for name in ("merges.txt", "vocab.json", "tokenizer.json") if is_folder else ("",):
        if (path := Path(output, name)).is_file():
            options.check_new(path, "-o")
    with _progress(corpus, merges) as (counted, made):
        counts = count_corpus_pieces(
            corpus,
            reading,
            threads=threads or os.cpu_count() or 1,
            checkpoint=checkpoint,
            interval=interval,
            progress=counted,
        )
        if not len(counts):
            raise TrainingError("the corpus contains no text", where=" ".join(corpus))
        counting = perf_counter() - began
        dictionary = _trained(method, reading.words(counts), merges, rules, alphabet, made)
    merging = perf_counter() - began - counting
    files = write_dictionary(dictionary, output, pretokenizer=pretokenizer, suffix=reading.suffix)
    if checkpoint:
        Path(checkpoint).unlink(missing_ok=True)
    fields: dict[str, Any] = {
        "rules": len(dictionary),
        "seconds": perf_counter() - began,
        "seconds_counting": counting,
        "seconds_merging": merging,
        "pieces": int(counts.counts.sum()),
        "unique_pieces": len(counts),
        "files": [str(path) for path in files],
    }
    if as_json:
        print_json(fields)
    else:
        n_rules, n_pieces, n_unique = (fields[name] for name in ("rules", "pieces", "unique_pieces"))
        say(
            f"{n_rules:,} rule{'s' * (n_rules != 1)} from {n_pieces:,} piece{'s' * (n_pieces != 1)}, "
            f"{n_unique:,} distinct"
        )
        if n_rules < merges:
            limit = "" if rules.max_token_length is None else " within --max-token-length"
            say(f"fewer than {merges:,}: no other pair{limit} occurs {rules.min_frequency:,} times (--min-frequency)")
        say(f"written to {', '.join(fields['files'])} in {fields['seconds']:.2f} s")
    return 0


_OF_TRAINING = ("merges", "output", "force", "method", "alphabet", "checkpoint", "interval", "escapes")


def _check(
    listed: str,
    corpus: tuple[str, ...],
    format: str | None,
    asked: dict[str, Any],
    threads: int | None,
    *,
    as_json: bool,
) -> int:
    """Check merges instead of making them."""
    from tokdfa.tokenizers.formats.writers.vocabulary import spelled
    from tokdfa.training.checking import check_merges

    began = perf_counter()
    for name in _OF_TRAINING:
        if options.is_given(name):
            option = "-o" if name == "output" else f"--{name}"
            raise click.UsageError(f"{option} cannot be used with --check; leave one of the two out")
    chosen = {name: value for name, value in asked.items() if options.is_given(name)}
    found = check_merges(listed, corpus, format=format, threads=threads or os.cpu_count() or 1, **chosen)
    wrong = found.witness
    if not as_json:
        say(found.reason)
        return int(not found)
    spell = partial(spelled, prefix=found.prefix)
    shown = wrong and {
        "index": wrong.index,
        "product": spell(wrong.product),
        "pair": wrong.pair and [*map(spell, wrong.pair)],
        "count": wrong.count,
        "best": wrong.best and [*map(spell, wrong.best)],
        "best_count": wrong.best_count,
        "cause": wrong.cause,
        "detail": wrong.detail,
    }
    print_json(
        {
            "path": listed,
            "honest": bool(found),
            "merges": found.n_merges,
            "assumed_pretokenizer": found.assumed,
            "wrong": shown,
            "seconds": perf_counter() - began,
        }
    )
    return int(not found)


def _trained(
    method: str,
    pieces: Any,
    merges: int,
    rules: GreedyRules,
    alphabet: str | None,
    made: Callable[[int], object] | None,
) -> Dictionary:
    from dataclasses import asdict

    if method == "exact":
        from tokdfa.training.theory import train_exact_dictionary

        return train_exact_dictionary(pieces, merges, alphabet=alphabet)
    if method == "naive":
        from tokdfa.training.naive import train_naive

        return train_naive(pieces, merges, **asdict(rules), alphabet=alphabet)
    from tokdfa.training.greedy import train_greedy

    return train_greedy(pieces, merges, **asdict(rules), alphabet=alphabet, progress=made)


@contextmanager
def _progress(
    corpus: tuple[str, ...], merges: int
) -> Iterator[tuple[Callable[[int], object] | None, Callable[[int], object] | None]]:
    """Yield two functions that advance the progress bars, or None if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None, None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from tokdfa.training.corpus import Corpus

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    packed = any(name.endswith((".gz", ".zst")) for name in corpus)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        counting = bars.add_task("counting", total=None if packed else Corpus.find(corpus).size())
        merging = bars.add_task("merging", total=merges)
        yield (lambda count: bars.advance(counting, count), lambda count: bars.update(merging, completed=count))
