"""``tokdfa template``: the seams of a chat template, and injection."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from tokdfa.cli import options
from tokdfa.cli.ids import given_text
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import print_json, remark, say
from tokdfa.cli.splice import answer_fields, rule_option, shown_answer

if TYPE_CHECKING:
    from tokdfa.jobs.templates.api import TemplateCheck
    from tokdfa.jobs.templates.prefixes import TemplatePrefix
    from tokdfa.jobs.templates.seams import TemplateSeam


@click.command("template")
@click.argument("tok")
@click.argument("path", type=options.NamedPath(), metavar="[FILE]", required=False)
@click.option("--name", metavar="NAME", help="The template, where FILE has several; default: the one called default.")
@rule_option
@click.option("--set", "given", multiple=True, metavar="NAME=TEXT", help="A variable, such as bos_token=<s>.")
@options.escapes
@options.time_limit("Leave the remaining seams undecided after N seconds.", 60.0)
@tokenizer_options
@options.json
def command(
    tok: str,
    path: str | None,
    name: str | None,
    rule: Any,
    given: tuple[str, ...],
    escapes: bool,
    max_seconds: float,
    loading: Loading,
    as_json: bool,
) -> int:
    r"""Check a chat template: seams, kept prefixes, and contents that make control ids.

    FILE is a Jinja template, a tokenizer_config.json or chat_template.json, a GGUF file, or a folder with one of them;
    by default TOK, a folder or a GGUF file. Special tokens such as bos_token come from tokenizer_config.json or the
    GGUF file, or are guessed.

    The template is rendered in a sandbox, for eight conversations whose contents may be any text. A seam is safe if the
    text before it and the text after it may always be encoded separately. It is undecided where the template does more
    to a content than strip white space.

    A conversation is kept if its ids are always the first ids of the conversation with one more turn: as it is (turn),
    and with the generation prompt before an answer (prompt).

    This needs the extra: pip install tokdfa[templates].

    Exit status: 0 safe and kept, 1 something is wrong, 2 undecided or trouble.

    \b
    Examples:
      tokdfa template model/
      tokdfa template tokenizer.json chat_template.jinja --set "bos_token=<s>"
    """
    from tokdfa.jobs.templates.api import check_template
    from tokdfa.jobs.templates.reading import has_template, read_template

    wrong = next((pair for pair in given if "=" not in pair), None)
    if wrong is not None:
        raise click.UsageError(f"--set: {wrong!r} is not NAME=TEXT")
    if path is None and not has_template(tok):
        raise click.UsageError("give FILE, the chat template, as TOK is neither a folder nor a GGUF file with one")
    source = read_template(tok if path is None else path, name)
    if name is None and source.name is not None:
        remark(f"the template {source.name} of {', '.join(source.names)} (--name NAME takes another one)")
    tokenizer = load_tokenizer(tok, loading)
    variables = {name: given_text(text, escapes=escapes) for name, _, text in (pair.partition("=") for pair in given)}
    found = check_template(
        tokenizer, source.text, rule=rule, variables={**source.variables, **variables}, max_seconds=max_seconds
    )
    if as_json:
        print_json({"name": source.name, **_fields(found, rule)})
    else:
        _print(found, tok)
    answers = {seam.answer for seam in found.seams} | {prefix.answer for prefix in found.prefixes}
    is_attacked = any(not isinstance(attack, (str, type(None))) for attack in found.attacks.values())
    is_wrong = is_attacked or not answers.isdisjoint(("splits", "changes"))
    return 1 if is_wrong else 0 if found else 2


def _fields(found: TemplateCheck, rule: str) -> dict[str, Any]:
    return {
        "rule": rule,
        "seams": [*map(asdict, found.seams)],
        "prefixes": [_prefix_fields(prefix) for prefix in found.prefixes],
        "any_text": answer_fields(found.attacks["any text"]),
        "spelling_none": answer_fields(found.attacks["spelling none"]),
        "rendered": found.rendered,
        "refused": found.refused,
    }


def _prefix_fields(prefix: TemplatePrefix) -> dict[str, Any]:
    changed = None
    if prefix.messages:
        messages = [{"role": role, "content": content} for role, content in prefix.messages]
        changed = {"messages": messages, "before": prefix.before, "after": prefix.after, "offset": prefix.offset}
    return {
        "kind": prefix.kind,
        "shape": prefix.shape,
        "answer": prefix.answer,
        "changed": changed,
        "witness": prefix.witness and asdict(prefix.witness),
        "reason": prefix.reason,
        "line": prefix.line,
        "count": prefix.count,
    }


def _print(found: TemplateCheck, tok: str) -> None:
    for seam in found.seams:
        where = f"{seam.side} {seam.slot} ({seam.shape}; {seam.count} alike)"
        conditions = f", if {' and '.join(seam.conditions)}" if seam.conditions else ""
        say(f"{seam.answer:<10} {where}{conditions}{_why(seam)}")
        if seam.turns is not None:
            say(f"{'':<10} decided by: {_turns_command(tok, seam.turns)}")
    for prefix in found.prefixes:
        more = _why(prefix)
        if prefix.messages:
            texts = (text[prefix.offset : prefix.offset + 24] for text in (prefix.before, prefix.after))
            given = ", ".join(f"{role} {content!r}" for role, content in prefix.messages)
            more = ": after …{!r}, {!r} becomes {!r}".format(prefix.before[: prefix.offset][-24:], *texts)
            more += f" for the contents {given}"
        say(f"{prefix.answer:<10} {prefix.kind} ({prefix.shape}; {prefix.count} alike){more}")
    for name, attack in found.attacks.items():
        say(f"{name}: {shown_answer(attack)}")
    for refused in found.refused:
        say(f"refused    {refused}")


def _turns_command(tok: str, turns: tuple[str, str]) -> str:
    """Return the command that decides a seam, for a shell."""
    from tokdfa.jobs.splices.parts import parts_of
    from tokdfa.jobs.templates.seams import written

    sides = ([_escaped(part) if isinstance(part, str) else part for part in parts_of(text)] for text in turns)
    texts = map(written, sides)
    return shlex.join(["tokdfa", "turns", tok, "--escapes", "--", *texts])


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _why(found: TemplateSeam | TemplatePrefix) -> str:
    """Return the addition to an answer: texts that are split, or why it is undecided."""
    if found.witness is not None:
        return f": …{found.witness.before[-24:]!r} + {found.witness.after[:24]!r}…"
    if found.answer == "undecided":
        return f": line {found.line}: {found.reason}" if found.line else f": {found.reason}"
    return ""
