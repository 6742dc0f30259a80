"""``tokdfa info``: what a dictionary and its automaton are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tokdfa.cli.output import json_option, print_json, print_table, remark, seconds_option
from tokdfa.cli.wordpiece import describe, print_fields

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["command"]

_EXAMPLES = 5
_POLICIES = {
    "found": "found in the text to encode, as tokenizers does",
    "ignored": "not found in the text to encode; ids of them cut a stream (validate --literal: as they are decoded)",
    "none": "there are none",
}


@click.command("info")
@click.argument("tok")
@click.option("--pretokenizer", metavar="NAME|PATTERN|none", help="What cuts text into pieces, if not what TOK says.")
@click.option(
    "--language", metavar="REGEX", help="Instead, the correct tokenizations of what REGEX matches as a whole."
)
@click.option("--format", "format_name", metavar="FORMAT", help="The format of TOK, if not what it looks like.")
@click.option(
    "--proper-out",
    metavar="FILE",
    help="Write the rules, in their order, as a proper dictionary, if it merges as TOK does.",
)
@seconds_option
@json_option
def command(
    tok: str,
    pretokenizer: str | None,
    language: str | None,
    format_name: str | None,
    proper_out: str | None,
    max_seconds: float,
    as_json: bool,
) -> int:
    """Tell what the dictionary of TOK and its automaton are.

    TOK is a tokenizer.json, tekken.json, .model, .tiktoken, merges.txt or vocab.txt file, or a folder with one. With
    --proper-out the exit status is 1 if there is no such dictionary. With --language, tell how large the automaton of
    the correct tokenizations of the texts that REGEX matches is, and how many there are, by the dictionary alone:
    pre-tokenizer and special tokens are left out.
    """
    from time import perf_counter

    from tokdfa.tokenizers.loading import load
    from tokdfa.tokenizers.tokenizer import Tokenizer

    if language is not None:
        from tokdfa.cli.members import describe_members, print_members

        members = describe_members(tok, language, format_name, max_seconds)
        (print_json if as_json else print_members)(members)
        return 0
    began = perf_counter()
    tokenizer = load(tok, pretokenizer=pretokenizer, format=format_name)
    seconds = perf_counter() - began
    if isinstance(tokenizer, Tokenizer):
        fields = {"path": tok, **_describe(tokenizer, seconds)}
    else:
        fields = {"path": tok, **describe(tokenizer), "seconds": {"load": round(seconds, 3)}}
    if as_json:
        print_json(fields)
    elif isinstance(tokenizer, Tokenizer):
        _print(fields)
    else:
        print_fields(fields)
    if proper_out is None:
        return 0
    return 0 if isinstance(tokenizer, Tokenizer) and _write_proper(tokenizer, proper_out) else 1


def _write_proper(tokenizer: Tokenizer, path: str) -> bool:
    """Write the proper dictionary that merges as the tokenizer does; tell whether there is one."""
    from tokdfa.training.output import write_dictionary

    dictionary = tokenizer.dictionary
    if not dictionary.is_proper():
        if not tokenizer.proper_part.is_everything:
            remark("in the file's order the merges are no proper dictionary that says the same")
            return False
        dictionary = tokenizer.proper_part.dictionary
    write_dictionary(dictionary, path)
    return True


def _proper_part(tokenizer: Tokenizer) -> dict[str, Any] | None:
    """Return what the proper part of an improper dictionary is, and where merging does otherwise."""
    from tokdfa.alphabet import show
    from tokdfa.errors import LimitExceededError

    if tokenizer.dictionary.is_proper() or not tokenizer.is_bytewise:
        return None
    try:
        part = tokenizer.proper_part
    except LimitExceededError:
        return None
    late = [show(tokenizer.token(number)) for number in part.late.tolist()]
    pairs = [[show(tokenizer.token(number)) for number in pair] for pair in part.pairs.tolist()]
    return {
        "rules": len(part.dictionary),
        "equivalent": part.is_everything,
        "late_tokens": len(late),
        "late_token_examples": late[:_EXAMPLES],
        "pairs": len(pairs),
        "pair_examples": pairs[:_EXAMPLES],
    }


def _describe(tokenizer: Tokenizer, load_seconds: float) -> dict[str, Any]:
    from tokdfa.verdict import Verdict

    proper: Verdict[Any] = tokenizer.dictionary.is_proper()
    offence = proper.witness
    tied = tokenizer.merges is not None and proper.holds
    # First, for the others use what is folded here, and this is to be timed.
    automaton = _describe_automaton(tokenizer, load_seconds)
    dead = _dead_tokens(tokenizer)
    return {
        "format": tokenizer.format,
        "ids": tokenizer.n_ids,
        "tokens": tokenizer.n_tokens,
        "rules": len(tokenizer.dictionary),
        "proper": proper.holds and not tied,
        "first_offending_rule": offence
        and {"index": offence.index, "rule": str(offence.rule), "side": offence.side, "reason": proper.reason},
        "proper_part": _proper_part(tokenizer),
        **automaton,
        "dead_tokens": len(dead),
        "dead_token_examples": dead[:_EXAMPLES],
        "only_whole_pieces": len(tokenizer.whole_piece_tokens),
        "pretokenizer": "none" if tokenizer.pretokenizer is None else str(tokenizer.pretokenizer),
        "semantics": tokenizer.semantics,
        "rewriting": _describe_rewriting(tokenizer),
        "left_out": list(tokenizer.ignored),
        "whole_piece": tokenizer.whole_piece,
        "specials": len(tokenizer.specials),
        "specials_policy": "none" if not tokenizer.specials else "found" if tokenizer.finds_specials else "ignored",
        "fingerprint": tokenizer.fingerprint,
        "peak_memory_bytes": _peak_memory(),
    }


def _describe_rewriting(tokenizer: Tokenizer) -> dict[str, str]:
    """Return what is done to texts and to spellings, where anything is."""
    rewriting, fallback, _, prefix = tokenizer.rewrites
    described = {}
    if rewriting is not None and rewriting.normalizer is not None:
        described["normalizer"] = str(rewriting.normalizer)
    if rewriting is not None and rewriting.decoding is not None:
        described["decoder"] = " ".join(map(str, rewriting.decoding)) or "Fuse"
    if fallback is not None:
        described["unknown symbols"] = "their bytes" if fallback.bytes else f"{fallback.unknown!r}"
    if prefix is not None:
        described["prefix"] = prefix
    return described


def _describe_automaton(tokenizer: Tokenizer, load_seconds: float) -> dict[str, Any]:
    from time import perf_counter

    import tokdfa.kernels.fold.folding  # noqa: F401  loading compiled code is no part of the fold
    from tokdfa.automata.compact import CompactTokenDFA
    from tokdfa.errors import LimitExceededError

    fields: dict[str, Any] = dict.fromkeys(("live_rules", "states_built", "states_reachable", "states_minimal"))
    seconds = {"load": load_seconds, "fold": None}
    if tokenizer.dictionary.is_proper() and tokenizer.merges is None:
        began = perf_counter()
        fields["live_rules"] = len(tokenizer.dictionary.live_rules)
        dfa = CompactTokenDFA(tokenizer.dictionary)
        seconds["fold"] = perf_counter() - began
        fields["states_built"] = dfa.states_built
        fields["states_reachable"] = dfa.states_reachable
        try:
            fields["states_minimal"] = dfa.states_minimal
        except LimitExceededError:
            fields["states_minimal"] = None
    return {**fields, "seconds": seconds}


def _dead_tokens(tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """Return the tokens that `encode` never emits, with the reason."""
    from tokdfa.alphabet import show

    dictionary = tokenizer.dictionary
    reasons = {}
    if dictionary.is_proper():
        reasons = {dictionary.alphabet.number(dead.rule.product): dead.reason for dead in dictionary.dead_rules}
    return [
        {
            "id": int(tokenizer.token_to_id[number]),
            "token": show(tokenizer.token(number)),
            "reason": reasons.get(number, "no rule makes it"),
        }
        for number in tokenizer.dead_tokens.tolist()
    ]


def _peak_memory() -> int | None:
    try:
        import resource
    except ImportError:  # There is none on Windows.
        return None
    import sys

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _print(fields: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")

    def row(name: str, value: object) -> None:
        table.add_row(name, Text(f"{value:,}" if isinstance(value, int) else str(value)))

    row("format", fields["format"])
    row("tokens", f"{fields['tokens']:,} of {fields['ids']:,} ids")
    row("rules", fields["rules"])
    if fields["proper"]:
        row("live rules", fields["live_rules"])
        row("states built", fields["states_built"])
        row("  reachable", fields["states_reachable"])
        if fields["states_minimal"] is not None:
            row("  minimal", fields["states_minimal"])
    else:
        offence = fields["first_offending_rule"]
        row("improper", offence["reason"] if offence else "tokens of equal strength: the leftmost pair merges first")
    part = fields["proper_part"]
    if part is not None:
        how = "merges the same" if part["equivalent"] else "not the same"
        row("proper part", f"{part['rules']:,} rules, {how}")
    if part is not None and not part["equivalent"]:
        row("  late tokens", f"{part['late_tokens']:,}: {', '.join(map(repr, part['late_token_examples']))}")
        row("  pairs", f"{part['pairs']:,}: {', '.join('≀'.join(pair) for pair in part['pair_examples'])}")
    row("dead tokens", fields["dead_tokens"])
    for example in fields["dead_token_examples"]:
        row("", f"{example['id']} {example['token']}: {example['reason']}")
    if fields["only_whole_pieces"]:
        row("only whole pieces", fields["only_whole_pieces"])
    row("pre-tokenizer", fields["pretokenizer"])
    row("semantics", fields["semantics"] + (", a piece that is a token as it is" if fields["whole_piece"] else ""))
    for name, value in fields["rewriting"].items():
        row(name, value)
    if fields["left_out"]:
        row("left out", f"{', '.join(fields['left_out'])}: no special tokens are put around a text")
    row("specials", f"{fields['specials']:,}, {_POLICIES[fields['specials_policy']]}" if fields["specials"] else "none")
    row("fingerprint", fields["fingerprint"])
    seconds = fields["seconds"]
    timed = f"load {seconds['load']:.3f} s"
    row("time", timed if seconds["fold"] is None else f"{timed}, fold {seconds['fold']:.3f} s")
    if fields["peak_memory_bytes"] is not None:
        row("peak memory", f"{fields['peak_memory_bytes'] / 1e6:,.0f} MB")
    print_table(table)
