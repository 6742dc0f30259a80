"""``tokdfa splice``, ``turns``, ``injection`` and ``forced``: the ids at the seams of joined texts."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from tokdfa.base.errors import (
    FileFormatError,
    LimitExceededError,
    MissingFileError,
    PatternError,
    UnsupportedFeatureError,
)
from tokdfa.base.suggestions import nearest
from tokdfa.cli import options
from tokdfa.cli.ids import given_parts, given_text, listed_ids
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import print_fields, print_json, say, write_certificate

if TYPE_CHECKING:
    from tokdfa.jobs.certificates.api import Certificate
    from tokdfa.jobs.guiding.fast_forward import Forcing
    from tokdfa.jobs.splices.injection import Attack
    from tokdfa.jobs.splices.question import Splice
    from tokdfa.tokenizers.protocol import AnyTokenizer

_SPECIALS: dict[bool | None, Literal["found", "plain"] | None] = {True: "plain", False: "found", None: None}


@click.command("splice")
@click.argument("tok")
@click.option(
    "--before",
    default="",
    show_default=False,
    metavar="S",
    help="The end of the text before the seam; default: any.",
)
@click.option(
    "--after",
    default="",
    show_default=False,
    metavar="T",
    help="The beginning of the text after the seam; default: any.",
)
@click.option("--regex", is_flag=True, help="S and T are regular expressions.")
@click.option("--within-before", metavar="REGEX", help="Only texts before the seam that match REGEX as a whole.")
@click.option("--within-after", metavar="REGEX", help="Only texts after the seam that match REGEX as a whole.")
@click.option("--before-ids", metavar="IDS", help="The ids before the seam, such as a cached prompt: 64,2513.")
@click.option("--after-ids", metavar="IDS", help="The ids after the seam.")
@options.plain_specials
@click.option("--as-start", is_flag=True, help="Encode the text after the seam as the start of a text.")
@options.escapes
@tokenizer_options
@options.certificate
@options.force
@options.json
def command(
    tok: str,
    before: str,
    after: str,
    regex: bool,
    within_before: str | None,
    within_after: str | None,
    before_ids: str | None,
    after_ids: str | None,
    plain_specials: bool | None,
    as_start: bool,
    escapes: bool,
    loading: Loading,
    certificate_path: str | None,
    as_json: bool,
) -> int:
    r"""Decide whether texts can be joined as ids: whether encoding them separately gives the ids of the joined text.

    The answer is for all texts u that end with S and all texts v that begin with T. If ids(u) + ids(v) is not always
    ids(u + v), the shortest counterexample is shown.

    Exit status: 0 always, 1 not always, 2 undecided or trouble.

    \b
    Examples:
      tokdfa splice TOK --before "<|im_end|>" --after "<|im_start|>"
      tokdfa splice TOK --before "[0-9]" --after "[0-9]" --regex
    """
    from tokdfa.jobs.splices.api import splice

    if regex and escapes:
        raise click.UsageError("--escapes is for texts; regular expressions have escapes of their own")
    if not regex:
        before, after = (given_text(text, escapes=escapes) for text in (before, after))
    narrowed = {
        "--within-before": within_before, "--within-after": within_after,
        "--before-ids": before_ids, "--after-ids": after_ids,
    }  # fmt: skip
    given = [option for option, value in narrowed.items() if value is not None]
    if certificate_path is not None and given:
        raise click.UsageError(f"there is no certificate for a question with {given[0]}")
    for text, ids, side in ((before, before_ids, "before"), (after, after_ids, "after")):
        if text and ids is not None:
            raise click.UsageError(f"give either --{side} or --{side}-ids, and not both")
    tokenizer = load_tokenizer(tok, loading)
    specials = _SPECIALS[plain_specials]
    found = splice(
        tokenizer,
        before=before,
        after=after,
        regex=regex,
        within_before=within_before,
        within_after=within_after,
        before_ids=None if before_ids is None else listed_ids(before_ids, "--before-ids"),
        after_ids=None if after_ids is None else listed_ids(after_ids, "--after-ids"),
        specials=specials,
        starts=as_start,
    )

    def certificate() -> Certificate:
        from tokdfa.jobs.certificates.api import certify_splice

        return certify_splice(found, tokenizer, file=tok, before=before, after=after, regex=regex, specials=specials)

    written = write_certificate(certificate, certificate_path)
    if as_json:
        witness = found.witness and asdict(found.witness)
        print_json({"splices": found.holds, "witness": witness, "reason": found.reason, "certificate": written.fields})
    else:
        _print(found)
        written.show()
    written.check()
    return 0 if found else 1


def _print(found: Splice) -> None:
    pair = found.witness
    if pair is None:
        print_fields([("splices", found.reason)])
        return
    rows = [("does not splice", "the shortest texts for which not" if pair.shortest else "texts for which not")]
    for name, value, ids in (
        ("before", pair.before, pair.ids_before),
        ("after", pair.after, pair.ids_after),
        ("as one text", pair.text, pair.ids),
    ):
        rows.append((name, f"{value!r}: {' '.join(map(str, ids))}"))
    print_fields(rows)


@click.command("turns")
@click.argument("tok")
@click.argument("first")
@click.argument("rest")
@options.plain_specials
@options.escapes
@tokenizer_options
@options.json
def turns(
    tok: str,
    first: str,
    rest: str,
    plain_specials: bool | None,
    escapes: bool,
    loading: Loading,
    as_json: bool,
) -> int:
    r"""Decide whether a conversation keeps its ids when a turn is added, for all contents.

    FIRST is the conversation, REST the turn. The ids are kept if ids(FIRST) + ids(REST) is ids(FIRST + REST).

    Contents are slots, written {name}, {name|trim} or {name:regex}; a literal brace is written twice.

    Exit status: 0 kept, 1 not kept, 2 undecided or trouble.

    \b
    Examples:
      tokdfa turns TOK "User: {q}" " Bot: {a}"
      tokdfa turns TOK --escapes "<|user|>\n{q|trim}<|end|>\n" "<|bot|>\n{a}"
    """
    from tokdfa.jobs.splices.turns import check_turns

    sides = [given_parts(given, escapes=escapes) for given in (first, rest)]
    tokenizer = load_tokenizer(tok, loading)
    found = check_turns(tokenizer, *sides, specials=_SPECIALS[plain_specials])
    if as_json:
        prefix = {True: "kept", False: "changes", None: "unknown"}[found.keeps_prefix]
        witness = found.witness and asdict(found.witness)
        print_json({"kept": found.holds, "prefix": prefix, "witness": witness, "reason": found.reason})
    else:
        say(("kept: " if found else "not kept: ") + found.reason)
    return 0 if found else 1


rule_option = click.option(
    "--rule",
    type=click.Choice(["transformers", "tiktoken", "mistral-common", "llama.cpp"]),
    default="transformers",
    help="The library that encodes the rendered text.",
)


@click.command("injection")
@click.argument("tok")
@click.argument("template")
@rule_option
@click.option(
    "--allow", "allowed", multiple=True, metavar="NAME", help="A special token that tiktoken may find; default: all."
)
@click.option(
    "--control",
    multiple=True,
    metavar="ID|NAME",
    help="A control id, or its special token; default: all special tokens.",
)
@options.escapes
@tokenizer_options
@options.json
def injection(
    tok: str,
    template: str,
    rule: Any,
    allowed: tuple[str, ...],
    control: tuple[str, ...],
    escapes: bool,
    loading: Loading,
    as_json: bool,
) -> int:
    r"""Check a template against forged tokens: whether the contents of its slots can make a control id.

    A slot is written {name}, {name|trim} or {name:regex}; a literal brace is written twice.

    There are two answers: for any text, and for any text that does not spell a special token by itself. With --control,
    only the ids that are named count as control ids: those that end a turn, for instance.

    Exit status: 0 both are safe, 1 one is not, 2 undecided or trouble.

    \b
    Examples:
      tokdfa injection TOK "User: {content}"
      tokdfa injection TOK "<|im_start|>user {content}" --control "<|im_end|>"
    """
    from tokdfa.jobs.splices.injection import check_injection

    parts = given_parts(template, escapes=escapes)
    names = [given_text(name, escapes=escapes) for name in allowed] or None
    tokenizer = load_tokenizer(tok, loading)
    controls = [_control_id(tokenizer, given_text(each, escapes=escapes)) for each in control] or None
    answers: dict[str, Attack | str | None] = {}
    for name, spelled in (("any_text", True), ("spelling_none", False)):
        try:
            found = check_injection(tokenizer, parts, rule=rule, spelled=spelled, allowed=names, control=controls)
            answers[name] = found.witness
        except (UnsupportedFeatureError, LimitExceededError) as error:
            answers[name] = error.what
    if as_json:
        print_json({"rule": rule} | {name: answer_fields(answer) for name, answer in answers.items()})
    else:
        titles = {"any_text": "any text", "spelling_none": "spelling none itself"}
        print_fields((title, shown_answer(answers[name])) for name, title in titles.items())
    is_open = [isinstance(answer, str) for answer in answers.values() if answer is not None]
    return 0 if not is_open else 2 if all(is_open) else 1


def _control_id(tokenizer: AnyTokenizer, given: str) -> int:
    """Return the id of a special token, given by its text or as the id."""
    ids = {special.content: special.id for special in tokenizer.specials}
    if given in ids:
        return ids[given]
    if given.isascii() and given.isdecimal():
        return int(given)
    near = nearest(given, ids)
    hint = f"did you mean {near}?" if near else "tokdfa info lists the special tokens"
    raise PatternError("no such special token", value=given, where="control", hint=hint)


def answer_fields(answer: Attack | str | None) -> dict[str, Any]:
    """Return an answer about injection as JSON values: an attack, why it is not decided, or None for a proof."""
    from tokdfa.jobs.splices.injection import Injection

    if isinstance(answer, str):
        return {"answer": "undecided", "attack": None, "reason": answer}
    reason = Injection(answer is None, answer).reason
    name = "safe" if answer is None else "attack"
    return {"answer": name, "attack": answer and asdict(answer), "reason": reason}


def shown_answer(answer: Attack | str | None) -> str:
    """Return an answer about injection in one line."""
    if isinstance(answer, str):
        return f"not decided: {answer}"
    if answer is None:
        return "safe"
    kind = "" if answer.shortest else " (perhaps not the shortest)"
    return f"not safe: {', '.join(map(repr, answer.values))} → {', '.join(answer.names)}{kind}"


@click.command("forced")
@click.argument("tok")
@options.language
@click.option(
    "--json-schema",
    "schema",
    metavar="FILE",
    help="Only the texts that are JSON documents of the schema in FILE.",
)
@click.option(
    "--max-bytes",
    type=options.AtLeast(0),
    default=24,
    metavar="N",
    help="Count the texts of up to N bytes, or of fewer if there are too many.",
)
@tokenizer_options
@options.json
def forced(tok: str, language: str | None, schema: str | None, max_bytes: int, loading: Loading, as_json: bool) -> int:
    r"""Decide whether forced text keeps its ids: text that a grammar forces, encoded separately.

    Engines append encode(forced text) where a grammar leaves no choice (jump-ahead). If these ids are not canonical
    after every prefix that leads there, a shortest counterexample is shown, and the number of counterexamples of each
    length.

    A JSON schema is read by outlines-core (pip install outlines-core), so only without recursion.

    Exit status: 0 always canonical, 1 not always, 2 undecided or trouble.

    \b
    Examples:
      tokdfa forced TOK --language '"(yes|no)": (true|false)'
      tokdfa forced TOK --json-schema person.json --max-bytes 40
    """
    from tokdfa.jobs.guiding import fast_forward

    if (language is None) == (schema is None):
        raise click.UsageError("give the texts by --language REGEX or by --json-schema FILE, one of them")
    pattern = _of_schema(Path(schema)) if schema is not None else language
    assert pattern is not None
    tokenizer = load_tokenizer(tok, loading)
    found = fast_forward.forced(tokenizer, pattern, longest=max_bytes)
    if as_json:
        print_json(_forced_fields(found))
    else:
        _print_forced(found)
    return 0 if found else 1


def _of_schema(path: Path) -> str:
    """Return the regular expression of the JSON schema in a file."""
    from tokdfa.jobs.guiding.schemas import pattern_of_schema

    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MissingFileError("no such file", where=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"the schema cannot be read, {error}", where=str(path)) from None
    return pattern_of_schema(text, where=str(path), longest=None)


def _forced_fields(found: Forcing) -> dict[str, Any]:
    lengths = [{"bytes": n, "texts": found.texts[n], "differing": found.differing[n]} for n in found.texts]
    return {
        "holds": found.holds,
        "forced_states": found.n_forced,
        "witness": found.witness and asdict(found.witness),
        "longest": found.longest,
        "lengths": [row for row in lengths if row["texts"]],
    }


def _print_forced(found: Forcing) -> None:
    text = found.witness
    rows = [("forced in", f"{found.n_forced} states of the language")]
    if found:
        rows.append(("canonical", "the ids of forced text, encoded separately, after every prefix"))
    elif text is None:
        rows.append(("not canonical", "the ids of forced text; the search for a shortest text was given up"))
    else:
        rows += [
            ("not canonical", "the ids of forced text; a shortest text for which not"),
            ("text", f"{text.text!r}: {_shown(text.canonical_ids)}"),
            ("forced", f"{text.forced!r} from byte {text.start_byte}: {_shown(text.forced_ids)}"),
            ("instead of", _shown(text.canonical_ids[text.start_token :])),
        ]
    rows += [
        (f"{n} bytes", f"{found.differing[n]} of {count} texts differ") for n, count in found.texts.items() if count
    ]
    rows.append(("counted", f"the texts of up to {found.longest} bytes"))
    print_fields(rows)


def _shown(ids: tuple[int, ...]) -> str:
    return " ".join(map(str, ids))
