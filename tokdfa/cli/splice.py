"""``tokdfa splice``: whether two texts may be encoded separately."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

import click

from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import (
    certificate_option,
    json_option,
    print_certificate,
    print_fields,
    print_json,
    write_certificate,
)
from tokdfa.cli.text import escapes_option, given_text

if TYPE_CHECKING:
    from tokdfa.jobs.splices.api import Splice

found_option = click.option(
    "--special-tokens",
    type=click.Choice(["found", "plain"]),
    help="Whether special tokens are found in texts; default: as TOK does it.",
)


@click.command("splice")
@click.argument("tok")
@click.option(
    "--before",
    default="",
    show_default=False,
    metavar="S",
    help="What the text before the seam ends with; default: any text.",
)
@click.option(
    "--after",
    default="",
    show_default=False,
    metavar="T",
    help="What the text after it begins with; default: any text.",
)
@click.option("--regex", is_flag=True, help="S and T are regular expressions.")
@click.option("--within-before", metavar="REGEX", help="Only texts before the seam that match REGEX as a whole.")
@click.option("--within-after", metavar="REGEX", help="Only texts after it that match REGEX as a whole.")
@click.option("--before-ids", metavar="IDS", help="The ids before the seam, such as a frozen prefix: 64,2513.")
@click.option("--after-ids", metavar="IDS", help="The ids after it.")
@found_option
@click.option("--starts", is_flag=True, help="Encode the text after the seam as the start of a text.")
@escapes_option
@tokenizer_options
@certificate_option
@json_option
def command(
    tok: str,
    before: str,
    after: str,
    regex: bool,
    within_before: str | None,
    within_after: str | None,
    before_ids: str | None,
    after_ids: str | None,
    special_tokens: Literal["found", "plain"] | None,
    starts: bool,
    escapes: bool,
    loading: Loading,
    certificate_path: str | None,
    as_json: bool,
) -> int:
    r"""Decide whether two texts may be encoded separately at a seam.

    The question is about all texts u that end with S and all texts v that begin with T: are the ids of u, followed by
    those of v, the ids of u + v? If not, the shortest two texts are shown. The exit status is 0 if they are, 1 if not,
    and 2 if neither a proof nor two texts were found.

    \b
    tokdfa splice TOK --before "<|im_end|>" --after "<|im_start|>"
    tokdfa splice TOK --before "[0-9]" --after "[0-9]" --regex
    """
    from tokdfa.base.atomic import check_writable
    from tokdfa.jobs.splices.api import splice

    if regex and escapes:
        raise click.UsageError("--escapes is for texts; regular expressions have escapes of their own")
    if not regex:
        before, after = (given_text(text, escapes=escapes) for text in (before, after))
    narrowed = {
        "--within-before": within_before, "--within-after": within_after,
        "--before-ids": before_ids, "--after-ids": after_ids,
    }  # fmt: skip
    if certificate_path is not None:
        if given := [option for option, value in narrowed.items() if value is not None]:
            raise click.UsageError(f"there is no certificate for a question with {given[0]}")
        check_writable(certificate_path)
    tokenizer = load_tokenizer(tok, loading)
    found = splice(
        tokenizer,
        before=before,
        after=after,
        regex=regex,
        within_before=within_before,
        within_after=within_after,
        before_ids=None if before_ids is None else _ids(before_ids, "--before-ids"),
        after_ids=None if after_ids is None else _ids(after_ids, "--after-ids"),
        specials=special_tokens,
        starts=starts,
    )
    written = None
    if certificate_path is not None:
        from tokdfa.jobs.certificates.api import certify_splice

        certificate = certify_splice(
            found, tokenizer, file=tok, before=before, after=after, regex=regex, specials=special_tokens
        )
        written = write_certificate(certificate, certificate_path)
    if as_json:
        witness = found.witness and asdict(found.witness)
        print_json({"splices": found.holds, "witness": witness, "reason": found.reason, "certificate": written})
    else:
        _print(found)
        print_certificate(written)
    return 0 if found else 1


def _ids(given: str, option: str) -> list[int]:
    words = given.replace(",", " ").split()
    wrong = next((word for word in words if not (word.isascii() and word.isdecimal() and len(word) < 10)), None)
    if wrong is not None:
        raise click.UsageError(f"{option}: {wrong!r} is no id (ids are numbers, such as 64,2513)")
    return [*map(int, words)]


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
