"""``tokdfa bounds``: the fewest and the most bytes and characters per token, and tokens per text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tokdfa.cli import options
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import print_fields, print_json

if TYPE_CHECKING:
    from fractions import Fraction

    from tokdfa.jobs.measures.extremes import Extreme

_LONGEST_SHOWN = 60


@click.command("bounds")
@click.argument("tok")
@options.language
@click.option("--bytes", "n_bytes", type=int, metavar="N", help="Count the tokens of texts of exactly N bytes.")
@click.option("--other", metavar="TOK2", help="Show the most tokens of TOK2, another tokenizer, per token of TOK.")
@options.time_limit("Search for proofs for N seconds of processor time at most; then show the bound so far.", 600.0)
@tokenizer_options
@options.json
def command(
    tok: str,
    language: str | None,
    n_bytes: int | None,
    other: str | None,
    max_seconds: float,
    loading: Loading,
    as_json: bool,
) -> int:
    r"""Show the fewest and the most bytes and characters per token, over all texts, each with a text that attains it.

    With --language or --bytes, the fewest and the most tokens of a text are shown, too. A value is exact, unless a
    proved bound is shown with it, as in "3 (proved: at most 8)". Texts are valid UTF-8, without control tokens.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa bounds tokenizer.json --bytes 1000
      tokdfa bounds tokenizer.json --language "\p{Thai}+" --other other/tokenizer.json
    """
    from tokdfa.jobs.measures.bounds import bounds

    tokenizer = load_tokenizer(tok, loading)
    second = None if other is None else load_tokenizer(other, loading)
    found = bounds(tokenizer, language=language, n_bytes=n_bytes, other=second, max_seconds=max_seconds)
    ranges = {"bytes": found.bytes, "characters": found.characters, "tokens": found.tokens}
    if as_json:
        shown = {
            name: None if each is None else {"fewest": _fields(each.fewest), "most": _fields(each.most)}
            for name, each in ranges.items()
        }
        of_other = None if found.other is None else _fields(found.other)
        print_json({"path": tok, "language": language, "n_bytes": n_bytes, **shown, "other": of_other})
        return 0
    rows = []
    for name, each in ranges.items():
        if each is not None:
            unit = "tokens" if name == "tokens" else f"{name} a token"
            rows += [(f"fewest {unit}", _words(each.fewest, "at least")), (f"most {unit}", _words(each.most))]
    if found.other is not None:
        rows.append(("most tokens of the other a token", _words(found.other)))
    print_fields(rows)
    return 0


def _number(value: Fraction | None) -> float | int | None:
    return None if value is None else int(value) if value.denominator == 1 else float(value)


def _fields(extreme: Extreme) -> dict[str, Any]:
    return {
        "value": _number(extreme.value),
        "fraction": None if extreme.value is None else str(extreme.value),
        "proved": _number(extreme.proved),
        "exact": extreme.is_exact,
        "text": extreme.text,
        "ids": extreme.ids,
        "repeated": extreme.repeated,
        "timed_out": extreme.is_timed_out,
    }


def _shortened(text: str) -> str:
    return repr(text) if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]!r}…"


def _words(extreme: Extreme, limit: str = "at most") -> str:
    """Return a value with its text in words, and the proved bound with the reason if the value is not exact."""
    value = "infinite" if extreme.value is None else str(extreme.value)
    if not extreme.is_exact:
        bound = "no bound is proved" if extreme.proved is None else f"proved: {limit} {extreme.proved}"
        value += f" ({bound}{'; the time ended: raise --max-seconds' if extreme.is_timed_out else ''})"
    repeated = "" if extreme.repeated is None else f", with {_shortened(extreme.repeated)} repeated"
    return f"{value}: {_shortened(extreme.text)}{repeated}"
