"""``tokdfa injection``: whether what fills the slots of a template can make a control id."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import json_option, print_fields, print_json
from tokdfa.cli.text import escapes_option, given_parts, given_text

if TYPE_CHECKING:
    from tokdfa.jobs.splices.injection import Attack

rule_option = click.option(
    "--rule",
    type=click.Choice(["transformers", "tiktoken", "mistral-common", "llama.cpp"]),
    default="transformers",
    help="The library that encodes what is rendered.",
)


@click.command("injection")
@click.argument("tok")
@click.argument("template")
@rule_option
@click.option("--allow", multiple=True, metavar="NAME", help="A special token that tiktoken may find; default: all.")
@escapes_option
@tokenizer_options
@json_option
def command(
    tok: str, template: str, rule: Any, allow: tuple[str, ...], escapes: bool, loading: Loading, as_json: bool
) -> int:
    r"""Decide whether what fills the slots of TEMPLATE can make a control id that it does not write itself.

    A slot is written as {name}, {name|trim} or {name:regex}, and a brace twice. There are two answers: for any text,
    and for any text that spells no special token by itself. The exit status is 0 if both are safe, 1 if one is not, and
    2 if neither a proof nor an attack was found.

    \b
    tokdfa injection TOK --escapes "<|im_start|>user\n{content}<|im_end|>\n"
    """
    from tokdfa.jobs.splices.injection import check_injection

    parts = given_parts(template, escapes=escapes)
    allowed = [given_text(name, escapes=escapes) for name in allow] or None
    tokenizer = load_tokenizer(tok, loading)
    answers: dict[str, Attack | str | None] = {}
    for name, spelled in (("any_text", True), ("spelling_none", False)):
        try:
            answers[name] = check_injection(tokenizer, parts, rule=rule, spelled=spelled, allowed=allowed).witness
        except (UnsupportedFeatureError, LimitExceededError) as error:
            answers[name] = error.what
    if as_json:
        print_json({"rule": rule} | {name: answer_fields(answer) for name, answer in answers.items()})
    else:
        titles = {"any_text": "any text", "spelling_none": "spelling none itself"}
        print_fields((title, shown_answer(answers[name])) for name, title in titles.items())
    is_open = [isinstance(answer, str) for answer in answers.values() if answer is not None]
    return 0 if not is_open else 2 if all(is_open) else 1


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
