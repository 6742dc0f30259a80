"""``tokdfa compare``: whether two tokenizers give every text the same ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click

from tokdfa.cli.loading import remark_unsplit
from tokdfa.cli.output import (
    certificate_option,
    html_option,
    json_option,
    print_certificate,
    print_fields,
    print_json,
    stages,
    write_certificate,
)

if TYPE_CHECKING:
    from tokdfa.jobs.comparison.result import Comparison, Stage

_NUMBERS = (
    *("n_tokens_only_a", "n_tokens_only_b", "n_dead_a", "n_dead_b"),
    *("pairs_only_a", "pairs_only_b", "n_other_ids"),
)


class _Sides(TypedDict):
    """The keywords of :func:`tokdfa.load` for A and B; the keywords of A hold for B, too, unless it has its own."""

    pretokenizer: str | None
    pretokenizer_b: str | None
    specials: str | None
    specials_b: str | None
    unicode: str | None
    unicode_b: str | None
    format: str | None
    format_b: str | None


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option("--ignore-ids", is_flag=True, help="Compare the spelling of the tokens, not their ids.")
@click.option(
    "--pretokenizer",
    metavar="NAME|PATTERN|none",
    help="How A and B split text into pieces; default: what they specify.",
)
@click.option("--pretokenizer-b", metavar="NAME|PATTERN|none", help="The pre-tokenizer of B, if it differs.")
@click.option(
    "--specials",
    metavar="FILE|NAME",
    help="The special tokens of A and B, if they are rank files: a JSON file of them, or the name of an encoding.",
)
@click.option("--specials-b", metavar="FILE|NAME", help="The special tokens of B, if they differ.")
@click.option(
    "--unicode",
    metavar="NAME==VERSION",
    help="The version of the library of A and B whose Unicode tables say what a letter is, such as tokenizers==0.20.3; "
    "default: the newest that is known.",
)
@click.option("--unicode-b", metavar="NAME==VERSION", help="The version for B, if it differs.")
@click.option("--format", metavar="FORMAT", help="The format of A and B; detected by default.")
@click.option("--format-b", metavar="FORMAT", help="The format of B, if it differs.")
@certificate_option
@html_option
@json_option
def command(
    a: str,
    b: str,
    ignore_ids: bool,
    certificate_path: str | None,
    html_path: str | None,
    as_json: bool,
    **sides: Unpack[_Sides],
) -> int:
    """Decide whether the tokenizers A and B give every text the same ids.

    If they do not, a shortest text on which they differ is shown. The exit status is 0 if they are equivalent, 1 if
    they differ, and 2 if neither could be established.
    """
    from tokdfa.base.atomic import check_writable
    from tokdfa.jobs.comparison.api import compare
    from tokdfa.jobs.comparison.result import stage_words
    from tokdfa.tokenizers.loading import load

    for path in filter(None, (html_path, certificate_path)):
        check_writable(path)
    with stages() as say_stage:
        asked: dict[str, Any] = dict(sides)
        of_a = {name: asked[name] for name in ("pretokenizer", "specials", "format", "unicode")}
        of_b = {name: asked[f"{name}_b"] or given for name, given in of_a.items()}
        both = load(a, **of_a), load(b, **of_b)
        progress: Callable[[Stage], object] | None = say_stage and (lambda stage: say_stage(stage_words(stage)))
        found = compare(*both, ignore_ids=ignore_ids, progress=progress)
    if html_path is not None:
        from tokdfa.draw.report.comparison import comparison_report

        comparison_report(*both, found, names=(a, b)).save(html_path)
    written = None
    if certificate_path is not None:
        from tokdfa.jobs.certificates.api import certify_comparison

        written = write_certificate(certify_comparison(found, *both, files=(a, b)), certificate_path)
    # Two dictionaries on their own are compared as such; one compared with a whole tokenizer is a surprise.
    if (both[0].pretokenizer is None) != (both[1].pretokenizer is None):
        remark_unsplit(both[0], a, of_a["pretokenizer"])
        remark_unsplit(both[1], b, of_b["pretokenizer"], "--pretokenizer-b")
    if as_json:
        print_json({**_fields(found), "certificate": written})
    else:
        _print(found)
        print_certificate(written)
    return 0 if found else 1


def _fields(found: Comparison) -> dict[str, Any]:
    from tokdfa.automata.alphabet import show

    witness = None
    if found.witness is not None:
        text, ids_a, ids_b = found.witness
        # A text is shown unchanged; only bytes that are not a text need escapes.
        plain = text if isinstance(text, str) else show(text)
        witness = {"text": plain, "ids_a": ids_a, "ids_b": ids_b}
    return {
        "equivalent": found.holds,
        "witness": witness,
        "checked": {part.value: outcome.value for part, outcome in found.checked.items()},
        "reason": found.reason,
        "report": {
            **{name: getattr(found, name) for name in _NUMBERS},
            "tokens_only_a": [*map(show, found.tokens_only_a)],
            "tokens_only_b": [*map(show, found.tokens_only_b)],
        },
    }


def _print(found: Comparison) -> None:
    from tokdfa.automata.alphabet import quoted
    from tokdfa.jobs.comparison.result import part_rows

    rows: list[tuple[str, object]] = [("equivalent" if found else "different", found.reason)]
    if found.witness is not None:
        text, ids_a, ids_b = found.witness
        rows.append(("text", repr(text)))
        for name, ids in (("ids of A", ids_a), ("ids of B", ids_b)):
            rows.append((name, "none" if ids is None else " ".join(map(str, ids))))
    rows += part_rows(found)
    counts = {
        "live tokens only in A": found.n_tokens_only_a,
        "live tokens only in B": found.n_tokens_only_b,
        "dead tokens of A": found.n_dead_a,
        "dead tokens of B": found.n_dead_b,
        "pairs allowed in A only": found.pairs_only_a,
        "pairs allowed in B only": found.pairs_only_b,
    }
    rows += [(label, count) for label, count in counts.items() if count]
    for label, words in (("only in A", found.tokens_only_a), ("only in B", found.tokens_only_b)):
        if words:
            rows.append((label, " ".join(quoted(word) for word in words[:5])))
    print_fields(rows)
