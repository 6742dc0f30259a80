"""``tokdfa injection``: whether what fills the slots of a template can make a control id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tokdfa.cli.loading import Loading, tokenizer_options
from tokdfa.cli.output import (
    json_option,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from tokdfa.splices.injection import Attack, Injection

__all__ = ["attack_fields", "command", "shown_attack"]


@click.command("injection")
@click.argument("tok")
@click.argument("template")
@click.option(
    "--rule",
    type=click.Choice(["transformers", "tiktoken", "mistral-common", "llama.cpp"]),
    default="transformers",
    show_default=True,
    help="The library that encodes what is rendered.",
)
@click.option("--allow", multiple=True, metavar="NAME", help="A special token that tiktoken may find; default: all.")
@tokenizer_options
@json_option
def command(
    tok: str,
    template: str,
    rule: Any,
    allow: tuple[str, ...],
    loading: Loading,
    as_json: bool,
) -> int:
    r"""Decide whether what fills the slots of TEMPLATE can make a control id that it does not write itself.

    A slot is written as {name}, {name|trim} or {name:regex}, a brace twice, and a line end as \n. There are two
    answers: for any text, and for any text that spells no special token by itself. The exit status is 0 if both are
    safe, 1 if one is not, and 2 if neither a proof nor an attack was found.

    \b
    tokdfa injection TOK "<|im_start|>user\n{content}<|im_end|>\n"
    """
    from tokdfa.errors import LimitExceededError, UnsupportedFeatureError
    from tokdfa.splices.injection import check_injection
    from tokdfa.splices.parts import parts_of
    from tokdfa.tokenizers.loading import load

    parts = parts_of(template.replace("\\n", "\n"))
    tokenizer = load(tok, **loading)
    answers: dict[str, tuple[Injection | None, str]] = {}
    for name, spelled in (("any_text", True), ("spelling_none", False)):
        try:
            found = check_injection(tokenizer, parts, rule=rule, spelled=spelled, allowed=allow or None)
            answers[name] = found, found.reason
        except (UnsupportedFeatureError, LimitExceededError) as error:
            answers[name] = None, error.what
    if as_json:
        print_json({"rule": rule} | {name: _fields(*answer) for name, answer in answers.items()})
    else:
        _print(answers)
    verdicts = [found for found, _ in answers.values()]
    return 1 if any(found is not None and not found for found in verdicts) else 2 if None in verdicts else 0


def _fields(found: Injection | None, reason: str) -> dict[str, Any]:
    attack = None if found is None or found.witness is None else attack_fields(found.witness)
    answer = "undecided" if found is None else "safe" if found else "attack"
    return {"answer": answer, "attack": attack, "reason": reason}


def attack_fields(attack: Attack) -> dict[str, Any]:
    """Return an attack as JSON values."""
    return {
        "values": attack.values,
        "text": attack.text,
        "ids": attack.ids,
        "made": attack.made,
        "names": attack.names,
        "shortest": attack.shortest,
    }


def shown_attack(attack: Attack) -> str:
    """Return an attack in one line."""
    kind = "" if attack.shortest else " (perhaps not the shortest)"
    return f"{', '.join(map(repr, attack.values))} → {', '.join(attack.names)}{kind}"


def _print(answers: dict[str, tuple[Injection | None, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, title in (("any_text", "any text"), ("spelling_none", "spelling none itself")):
        found, reason = answers[name]
        if found is None:
            words = f"not decided: {reason}"
        elif found.witness is None:
            words = f"safe: {reason}"
        else:
            words = f"not safe: {shown_attack(found.witness)}"
        table.add_row(title, Text(words))
    print_table(table)
