"""``tokdfa info``: facts about a tokenizer and its automaton."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from tokdfa.base.errors import (
    FileFormatError,
    ImproperDictionaryError,
    LimitExceededError,
    TokdfaError,
    UnsupportedFeatureError,
)
from tokdfa.cli import options
from tokdfa.cli.loading import Folded, Loading, tokenizer_options
from tokdfa.cli.output import print_fields, print_json, remark, say
from tokdfa.cli.stores import describe_stores, is_store

if TYPE_CHECKING:
    from tokdfa.tokenizers.protocol import AnyTokenizer

_LONGEST_COUNTED = 8
_LONGEST_SHOWN = 60
_POLICIES = {
    "found": "found in the text to encode, as tokenizers does",
    "ignored": "not found in the text to encode; their ids split a stream (with validate --literal they do not)",
}


@click.command("info")
@click.argument("tok")
@tokenizer_options
@options.language
@click.option(
    "--proper-out",
    metavar="FILE",
    callback=options.new_file,
    help="Write the rules of TOK to FILE as a proper dictionary, if it merges every text as TOK does.",
)
@options.force
@options.max_seconds
@options.dtype
@options.field
@options.json
def command(
    tok: str,
    loading: Loading,
    language: str | None,
    proper_out: str | None,
    max_seconds: float,
    dtype: str | None,
    field: str | None,
    as_json: bool,
) -> int:
    r"""Describe a tokenizer, its dictionary and its automaton; or a store of ids, as tokdfa stores does.

    With --language the tokenizations of a regular language are described instead: their number, and the size of their
    automaton, by the dictionary alone, without pre-tokenizer and special tokens.

    Exit status: 0 done, 1 no proper dictionary or inconsistent ids, 2 trouble.

    \b
    Examples:
      tokdfa info tokenizer.json
      tokdfa info tokenizer.json --language "[0-9]{1,3}"
    """
    from tokdfa.tokenizers.formats.lint import lint_tokenizer
    from tokdfa.tokenizers.loading import load

    if language is not None:
        members = describe_members(tok, language, loading["specials"], loading["format"], max_seconds)
        (print_json if as_json else _print_members)(members)
        return 0
    if dtype is not None or field is not None:
        return describe_stores([tok], dtype, field, as_json=as_json)
    lint = _lint(tok)
    began = perf_counter()
    try:
        tokenizer = load(tok, **loading)
    except TokdfaError as error:
        # A tokenizer that is refused is not a store: UnsupportedFeatureError is a FileFormatError, too.
        unknown = isinstance(error, FileFormatError) and not isinstance(error, UnsupportedFeatureError)
        if unknown and loading["format"] is None and is_store(tok):
            return describe_stores([tok], dtype, field, as_json=as_json)
        for name, sentence in _of_lint(lint, {}):
            remark(f"{name}: {sentence}")
        raise
    seconds = perf_counter() - began
    lint += [asdict(finding) for finding in lint_tokenizer(tokenizer)]
    facts = tokenizer.facts()
    spent = {"load": seconds, **facts.pop("seconds", {})}
    fields = {
        "path": tok,
        **facts,
        "engine": _engine_of(tokenizer),
        "lint": lint,
        "seconds": spent,
        "peak_memory_bytes": _peak_memory(),
    }
    (print_json if as_json else _print)(fields)
    return 0 if proper_out is None or _write_proper(tokenizer, proper_out) else 1


def _lint(tok: str) -> list[dict[str, Any]]:
    """Return the oddities of a GGUF file; nothing if its head cannot be read, which loading it then says."""
    from tokdfa.tokenizers.formats.lint import lint_file

    try:
        return [asdict(finding) for finding in lint_file(Path(tok))]
    except (TokdfaError, OSError):
        return []


def _engine_of(tokenizer: AnyTokenizer) -> str | None:
    """Return the name of the engine of streams; None if an improper dictionary is undefined, or ids have no text."""
    from tokdfa.jobs.validation.engine import engine_of

    if tokenizer.why_not("text") is not None:
        return None
    try:
        return tokenizer.derived(engine_of).name
    except ImproperDictionaryError:
        return None


def _write_proper(tokenizer: AnyTokenizer, path: str) -> bool:
    """Write the proper dictionary that merges as the tokenizer does, and return whether there is one."""
    from tokdfa.training.output import write_dictionary

    dictionary = tokenizer.proper_dictionary
    if dictionary is None:
        remark("nothing written: the merges in their order are not a proper dictionary that merges as TOK does")
        return False
    write_dictionary(dictionary, path)
    return True


def _peak_memory() -> int | None:
    try:
        import resource
    except ImportError:  # Windows does not have this module.
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _print(fields: dict[str, Any]) -> None:
    rows: list[tuple[str, object]] = []
    for name, value in fields.items():
        if name in _WRITTEN:
            rows += _WRITTEN[name](value, fields)
        elif value is not None:
            rows.append((_NAMES.get(name, name.replace("_", " ")), value))
    print_fields(rows)


def _of_improper(proper: bool, fields: dict[str, Any]) -> list[tuple[str, object]]:
    offence = fields["first_offending_rule"]
    why = offence["reason"] if offence else "some rules have equal strength: their leftmost pair merges first"
    return [("proper", "yes")] if proper else [("improper", why)]


def _of_proper_part(part: dict[str, Any] | None, _: dict[str, Any]) -> list[tuple[str, object]]:
    if part is None:
        return []
    rows: list[tuple[str, object]] = [
        ("proper part", f"{part['rules']:,} rules, {'merges the same' if part['equivalent'] else 'merges differently'}")
    ]
    if not part["equivalent"]:
        late, pairs = part["late_token_examples"], part["pair_examples"]
        rows.append(("  late tokens", f"{part['late_tokens']:,}: {', '.join(map(repr, late))}"))
        rows.append(("  pairs", f"{part['pairs']:,}: {', '.join('≀'.join(pair) for pair in pairs)}"))
    return rows


def _of_examples(examples: list[dict[str, Any]], _: dict[str, Any]) -> list[tuple[str, object]]:
    return [
        ("", f"{example['id']} {example['token']}" + (f": {example['reason']}" if "reason" in example else ""))
        for example in examples
    ]


def _of_specials(n: int, fields: dict[str, Any]) -> list[tuple[str, object]]:
    policy = fields.get("specials_policy")
    rows: list[tuple[str, object]] = [
        ("specials", ("none" if not n else f"{n:,}") if policy in (None, "none") else f"{n:,}, {_POLICIES[policy]}")
    ]
    if n:
        n_text = fields["text_specials"]
        rows.append(("  control", f"{n - n_text:,}, which cut the text that is searched, replaced or banned"))
        rows.append(("  text", f"{n_text:,}, which are searched, replaced and banned like other text"))
    return rows


def _of_semantics(semantics: str, fields: dict[str, Any]) -> list[tuple[str, object]]:
    return [("semantics", semantics + (", a piece that is a token is not merged" if fields.get("whole_piece") else ""))]


def _of_what_is_left_out(parts: Sequence[str], _: dict[str, Any]) -> list[tuple[str, object]]:
    why = []
    if not {"truncation", "padding"}.isdisjoint(parts):
        why.append("ids are neither cut off nor filled up")
    if not {"truncation", "padding"}.issuperset(parts):
        why.append("no special tokens are added around a text")
    return [("left out", f"{', '.join(parts)}: {', and '.join(why)}")] if parts else []


def _of_case(case: dict[str, Any] | None, fields: dict[str, Any]) -> list[tuple[str, object]]:
    if case is None:
        return []
    is_lower = fields["normalizer"]["lowercase"]
    said = f"{'lower' if is_lower else 'kept'}, {_CASE_SOURCES[case['source']]}"
    if is_lower and case["capitals"]:
        said += f"; {case['capitals']:,} entries have capitals and are never found, --no-lowercase is for a cased model"
    return [("case", said)]


def _of_lint(lint: list[dict[str, Any]], _: dict[str, Any]) -> list[tuple[str, object]]:
    from tokdfa.tokenizers.formats.lint import Finding, words_of

    return [("odd", words_of(Finding(**finding))) for finding in lint]


_CASE_SOURCES = {
    "default": "as the libraries do by default",
    "tokenizer_config.json": "by the tokenizer_config.json next to it",
    "lowercase=": "as asked",
}
_NAMES = {"states_reachable": "  reachable", "states_minimal": "  minimal"}
# The fields that are not simply written as name and value.
_WRITTEN: dict[str, Callable[[Any, dict[str, Any]], list[tuple[str, object]]]] = {
    **dict.fromkeys(
        ("path", "ids", "first_offending_rule", "whole_piece", "specials_policy", "text_specials"), lambda *_: []
    ),
    "tokens": lambda tokens, fields: [("tokens", f"{tokens:,} of {fields['ids']:,} ids")],
    "pretokenizer": lambda name, _: [("pre-tokenizer", "none" if name is None else name)],
    "proper": _of_improper,
    "proper_part": _of_proper_part,
    "dead_token_examples": _of_examples,
    "only_whole_pieces": lambda n, _: [("only whole pieces", n)] if n else [],
    "semantics": _of_semantics,
    "rewriting": lambda rewriting, _: [(name.replace("_", " "), value) for name, value in rewriting.items()],
    "case": _of_case,
    "left_out": _of_what_is_left_out,
    "ignored": lambda parts, _: [("ignored", ", ".join(parts))] if parts else [],
    "specials": _of_specials,
    # Nearly every decoder waits for the end of a character.
    "undecided": lambda parts, _: [("undecided", ", ".join(parts))] if {*parts} - {"character"} else [],
    "lint": _of_lint,
    "seconds": lambda spent, _: [
        ("time", ", ".join(f"{name} {s:.3f} s" for name, s in spent.items() if s is not None))
    ],
    "peak_memory_bytes": lambda n, _: [("peak memory", f"{n / 1e6:,.0f} MB")] if n is not None else [],
}


def describe_members(
    tok: str,
    pattern: str,
    specials: str | None,
    format_name: str | None,
    max_seconds: float,
    *,
    max_transitions: int = 500_000,
) -> dict[str, Any]:
    """Return the fields of T^D(L): the size of its automaton, and the lengths and number of its members."""
    from tokdfa.automata.alphabet import show
    from tokdfa.automata.compact import CompactTokenDFA
    from tokdfa.automata.language import Language
    from tokdfa.automata.lift import tokenized_language
    from tokdfa.automata.token_dfa import TokenDFA
    from tokdfa.tokenizers.loading import load_byte_pairs

    dictionary = load_byte_pairs(tok, pretokenizer="none", specials=specials, format=format_name).dictionary
    dictionary, language = Folded.of(dictionary, pattern, None, max_seconds)
    assert language is not None
    dfa = CompactTokenDFA(dictionary)  # The same for all languages, so it is built before the clock starts.
    began = perf_counter()
    product = tokenized_language(dictionary, language, dfa=dfa)
    try:
        explicit = TokenDFA.from_automaton(product, dictionary.alphabet, max_transitions=max_transitions)
    except LimitExceededError as error:
        raise LimitExceededError(error.what, value=pattern, hint="narrow the language") from None
    members = Language(explicit)
    seconds = perf_counter() - began
    longest = members.longest
    counted = _LONGEST_COUNTED if longest is None else min(longest, _LONGEST_COUNTED)
    shortest = next(iter(members), None)
    return {
        "path": tok,
        "rules": len(dictionary),
        "language": pattern,
        "states_of_language": language.n_states,
        "states": explicit.n_states,
        "states_minimal": explicit.minimize().n_states,
        "transitions": explicit.n_transitions,
        "empty": members.is_empty(),
        "finite": bool(members.finiteness()),
        "longest": None if longest == -1 else longest,
        "shortest": None if shortest is None else [show(word) for word in dictionary.alphabet.spell(shortest)],
        "counts": {length: members.count(length) for length in range(counted + 1)},
        "seconds": seconds,
    }


def _print_members(fields: dict[str, Any]) -> None:
    """Print the fields of :func:`describe_members` for people."""
    shortest = fields["shortest"]
    longest, of_language = fields["longest"], fields["states_of_language"]
    finite = f"yes, up to {longest} token{'s' * (longest != 1)}" if fields["finite"] else "no"
    rows = {
        "language": f"{fields['language']}: {of_language:,} state{'s' * (of_language != 1)} over symbols",
        "states": f"{fields['states']:,}, {fields['states_minimal']:,} in the minimal automaton",
        "transitions": f"{fields['transitions']:,}",
        "empty": "yes" if fields["empty"] else "no",
        "finite": "yes" if fields["empty"] else finite,
    }
    if shortest is not None:
        rows["shortest"] = ("≀".join(shortest) or "the empty text")[:_LONGEST_SHOWN]
    for name, value in rows.items():
        say(f"{name:<13}{value}")
    for length, count in fields["counts"].items():
        if count:
            heading = "members" if length == min(k for k, n in fields["counts"].items() if n) else ""
            say(f"{heading:<13}{count:,} of {length} token{'s' * (length != 1)}")
