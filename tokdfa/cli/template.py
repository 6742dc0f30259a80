"""``tokdfa template``: the seams of a chat template, and injection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tokdfa.cli.injection import answer_fields, shown_answer
from tokdfa.cli.loading import Loading, tokenizer_options
from tokdfa.cli.output import (
    json_option,
    print_json,
    remark,
    say,
)
from tokdfa.cli.splice import witness_fields
from tokdfa.cli.text import escapes_option, given_text

if TYPE_CHECKING:
    from tokdfa.templates.api import TemplateCheck, TemplateSeam

__all__ = ["command"]


@click.command("template")
@click.argument("tok")
@click.argument("path", metavar="[FILE]", required=False)
@click.option("--name", metavar="NAME", help="The template, where FILE has several; default: the one called default.")
@click.option(
    "--rule",
    type=click.Choice(["transformers", "tiktoken", "mistral-common", "llama.cpp"]),
    default="transformers",
    show_default=True,
    help="The library that encodes what is rendered.",
)
@click.option("--set", "given", multiple=True, metavar="NAME=TEXT", help="A variable, such as bos_token=<s>.")
@escapes_option
@tokenizer_options
@json_option
def command(
    tok: str,
    path: str | None,
    name: str | None,
    rule: Any,
    given: tuple[str, ...],
    escapes: bool,
    loading: Loading,
    as_json: bool,
) -> int:
    """Decide the seams of the chat template in FILE, and whether contents can make control ids.

    FILE is a Jinja template, a tokenizer_config.json, or a folder with chat_template.jinja or tokenizer_config.json; by
    default the folder TOK. Special tokens such as bos_token come from tokenizer_config.json or are guessed.

    The template is rendered for eight conversations, whose contents may be any text, in a sandbox. A seam is safe if
    what is before it and what is after it may always be encoded separately; it is undecided where the template does
    something to a content other than stripping white space. The exit status is 0 if all seams are safe and there is no
    attack, 1 if not, and 2 if something is undecided and nothing is found to be wrong. It needs the extra templates.
    """
    from tokdfa.templates.api import check_template
    from tokdfa.templates.sources import read_template
    from tokdfa.tokenizers.loading import load

    wrong = next((pair for pair in given if "=" not in pair), None)
    if wrong is not None:
        raise click.UsageError(f"--set: {wrong!r} is not NAME=TEXT")
    if path is None and not Path(tok).is_dir():
        raise click.UsageError("give FILE, the chat template, as TOK is not a folder with one")
    source = read_template(tok if path is None else path, name)
    if name is None and source.name is not None:
        remark(f"the template {source.name} of {', '.join(source.names)} (--name NAME takes another one)")
    tokenizer = load(tok, **loading)
    variables = {name: given_text(text, escapes=escapes) for name, _, text in (pair.partition("=") for pair in given)}
    found = check_template(tokenizer, source.text, rule=rule, variables={**source.variables, **variables})
    if as_json:
        print_json({"name": source.name, **_fields(found, rule)})
    else:
        _print(found)
    answers = {seam.answer for seam in found.seams}
    is_wrong = "splits" in answers or any(not isinstance(a, (str, type(None))) for a in found.attacks.values())
    return 1 if is_wrong else 0 if found else 2


def _fields(found: TemplateCheck, rule: str) -> dict[str, Any]:
    return {
        "rule": rule,
        "seams": [_seam_fields(seam) for seam in found.seams],
        "any_text": answer_fields(found.attacks["any text"]),
        "spelling_none": answer_fields(found.attacks["spelling none"]),
        "rendered": found.rendered,
        "refused": found.refused,
    }


def _seam_fields(seam: TemplateSeam) -> dict[str, Any]:
    return {
        "shape": seam.shape,
        "slot": seam.slot,
        "side": seam.side,
        "answer": seam.answer,
        "witness": witness_fields(seam.witness),
        "reason": seam.reason,
        "line": seam.line,
        "count": seam.count,
    }


def _print(found: TemplateCheck) -> None:
    for seam in found.seams:
        where = f"{seam.side} {seam.slot} ({seam.shape}; {seam.count} alike)"
        if seam.witness is not None:
            tail, head = seam.witness.before[-24:], seam.witness.after[:24]
            more = f": …{tail!r} + {head!r}…"
        elif seam.answer == "undecided":
            more = f": line {seam.line}: {seam.reason}" if seam.line else f": {seam.reason}"
        else:
            more = ""
        say(f"{seam.answer:<10} {where}{more}")
    for name, attack in found.attacks.items():
        say(f"{name}: {shown_answer(attack)}")
    for refused in found.refused:
        say(f"refused    {refused}")
