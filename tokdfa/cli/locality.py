"""``tokdfa locality``: the number of last tokens that determine the state of a tokenizer's automaton."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import click

from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.cli import options
from tokdfa.cli.loading import Folded, automaton_options, refuse_options
from tokdfa.cli.output import print_fields, print_json, print_table

if TYPE_CHECKING:
    from tokdfa.automata.token_dfa import TokenDFA
    from tokdfa.tokenizers.tokenizer import Tokenizer, WordPieceTokenizer

# The pairs of states that are remembered to find from which k on an automaton is k-local.
_MAX_PAIRS = 20_000_000


class Asked(TypedDict):
    """The options that choose what is measured."""

    language: str | None
    rules: int | None
    max_seconds: float
    longest: int
    look_ahead: bool


@click.command("locality")
@automaton_options
@click.option("-k", "longest", type=options.AtLeast(1), default=4, metavar="N", help="The largest K to measure.")
@click.option(
    "--look-ahead",
    is_flag=True,
    help="Show the greatest number of last tokens, and of their bytes, that a continuation of a text changes; takes "
    "seconds, or minutes for 200,000 rules.",
)
@options.json
def command(tok: str, specials: str | None, format_name: str | None, as_json: bool, **asked: Unpack[Asked]) -> int:
    r"""Measure how far a token's context reaches: how many states K tokens can lead to, for each K.

    The smallest K for which it is one state is shown, too. The automaton accepts the correct tokenizations of all
    texts, by the dictionary alone: pre-tokenizer and special tokens are left out.

    Degrees are given for the automaton of Algorithm 2, and for the minimal trim one.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa locality tokenizer.json
      tokdfa locality tokenizer.json --language "[a-z]+" --rules 100 -k 6
    """
    from tokdfa.tokenizers.loading import load_unsplit

    tokenizer = load_unsplit(tok, specials=specials, format=format_name)
    if tokenizer.segmenter is not None:
        what = "no automaton over neighbouring tokens decides what a Unigram tokenizer gives, so it has no locality"
        raise UnsupportedFeatureError(what, where=tok, hint="see notebooks/guides/unigram.md")
    measured = _MEASURED.get(tokenizer.algorithm)
    if measured is None:
        what = "the locality of tokenizers of this algorithm cannot be measured"
        raise UnsupportedFeatureError(what, value=tokenizer.algorithm, where=tok)
    measure, show = measured
    fields = {"path": tok, **measure(tokenizer, asked)}
    if as_json:
        print_json(fields)
    else:
        show(fields, asked)
    return 0


def _of_words(tokenizer: WordPieceTokenizer, asked: Asked) -> dict[str, Any]:
    """Return from which k on the last k tokens of a word determine the state."""
    given = {"language": asked["language"], "rules": asked["rules"], "look-ahead": asked["look_ahead"]}
    refuse_options(tokenizer.algorithm, **given)
    words = tokenizer.language.words
    least = words.local_from
    below = words.k_locality(least - 1) if least else None
    return {
        "states": len(words.states),
        "local_from": least,
        "witness": None if below is None or below.witness is None else words.vocabulary.spell(below.witness.ids),
        "reason": "" if below is None else below.reason,
    }


def _print_words(fields: dict[str, Any], _: Asked) -> None:
    shown = {name: " ".join(value) if name == "witness" and value else value for name, value in fields.items()}
    print_fields([(name.replace("_", " "), value) for name, value in shown.items()])


def _of_rules(tokenizer: Tokenizer, asked: Asked) -> dict[str, Any]:
    """Return the degrees of the automaton as Algorithm 2 builds it, and of the minimal trim one."""
    if asked["look_ahead"] and asked["language"] is not None:
        raise click.BadParameter("is about all texts, and cannot be used with --language", param_hint="--look-ahead")
    folded = Folded.of(tokenizer.dictionary, asked["language"], asked["rules"], asked["max_seconds"])
    if folded.language is None:
        built, minimal = _of_all_texts(folded, asked["longest"])
        built["look_ahead"] = _look_ahead(folded) if asked["look_ahead"] else None
    else:
        dfa = folded.token_dfa()
        built, minimal = _measure(dfa, asked["longest"]), _measure(dfa.minimize(), asked["longest"])
    return {"rules": len(folded.dictionary), "language": asked["language"], **built, "minimal": minimal}


def _of_all_texts(folded: Folded, longest: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the degrees for T^D(Σ*), without writing it out: 1 for every k, by Corollary 2 and Observation 1."""
    from tokdfa.automata.compact import CompactTokenDFA

    dfa = CompactTokenDFA(folded.dictionary)
    degree = int(folded.dictionary.alphabet.n_symbols > 0)
    built, minimal = (
        {"states": n, "dloc": dict.fromkeys(range(1, longest + 1), degree), "local_from": int(n > 1)}
        for n in (dfa.states_built, dfa.states_minimal)
    )
    return built, minimal


def _look_ahead(folded: Folded) -> dict[str, dict[str, Any]]:
    """Return the number of last tokens that a continuation may change, and the number of their symbols, with texts."""
    from tokdfa.automata.alphabet import show
    from tokdfa.automata.look_ahead import look_ahead

    found = {unit: look_ahead(folded.dictionary, unit) for unit in _UNITS}
    return {
        unit: {"revised": each.revised, "text": show(each.text), "continuation": show(each.continuation)}
        for unit, each in found.items()
    }


def _measure(dfa: TokenDFA, longest: int, *, max_pairs: int = _MAX_PAIRS) -> dict[str, Any]:
    from tokdfa.automata.alphabet import show
    from tokdfa.automata.locality import dloc

    degrees = {k: dloc(dfa, k) for k in range(1, longest + 1)}
    attained = {k: found.tokenization and "≀".join(map(show, found.tokenization)) for k, found in degrees.items()}
    return {
        "states": dfa.n_states,
        "dloc": {k: found.degree for k, found in degrees.items()},
        "attained_by": attained,
        "local_from": _local_from(dfa, {k: found.degree for k, found in degrees.items()}, max_pairs),
    }


def _local_from(dfa: TokenDFA, degrees: dict[int, int], max_pairs: int) -> int | None:
    """Return the least k for which `dfa` is k-local; the degrees show it if one of them is 1 or 0."""
    from tokdfa.automata.locality import local_from

    known = (k for k, degree in {0: dfa.n_states, **degrees}.items() if degree <= 1)
    least = next(known, None)
    if least is not None:
        return least
    try:
        return local_from(dfa, max_pairs=max_pairs)
    except LimitExceededError as error:
        what = f"the automaton is not {max(degrees)}-local, and finding the k from which on it is takes too much memory"
        raise LimitExceededError(what, hint="measure further with a larger -k") from error


def _print(fields: dict[str, Any], asked: Asked) -> None:
    from rich.table import Table
    from rich.text import Text

    automata = (fields, fields["minimal"])
    table = Table("", box=None, pad_edge=False)
    for heading in ("as built", "minimal trim"):
        table.add_column(heading, justify="right")
    table.add_column("attained by, as built", overflow="fold")
    table.add_row("states", *(f"{automaton['states']:,}" for automaton in automata))
    attained = fields.get("attained_by", {})
    for k in range(1, asked["longest"] + 1):
        degrees = (f"{automaton['dloc'][k]:,}" for automaton in automata)
        table.add_row(f"dloc(A, {k})", *degrees, Text(attained.get(k) or ""))
    local = ("never" if automaton["local_from"] is None else str(automaton["local_from"]) for automaton in automata)
    table.add_row("k-local from k =", *local)
    print_table(table)
    revised = fields.get("look_ahead") or {}
    print_fields([
        (f"{unit} that may change", f"the last {each['revised']:,} of '{each['text']}' before '{each['continuation']}'")
        if each["revised"]
        else (f"{unit} that may change", "none")
        for unit, each in revised.items()
    ])  # fmt: skip


_UNITS: tuple[Literal["tokens", "symbols"], ...] = ("tokens", "symbols")

# The function that measures the automaton of a tokenizer and the one that prints the result, by its algorithm.
_MEASURED: dict[str, tuple[Callable[[Any, Asked], dict[str, Any]], Callable[[dict[str, Any], Asked], None]]] = {
    "byte pair": (_of_rules, _print),
    "WordPiece": (_of_words, _print_words),
}
