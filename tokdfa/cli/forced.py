"""``tokdfa forced``: whether the text that a grammar forces may be encoded separately."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tokdfa.base.errors import FileFormatError, MissingFileError
from tokdfa.cli import options
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import print_fields, print_json

if TYPE_CHECKING:
    from tokdfa.jobs.guiding.fast_forward import Forcing


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
def command(tok: str, language: str | None, schema: str | None, max_bytes: int, loading: Loading, as_json: bool) -> int:
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
    from tokdfa.jobs.guiding.fast_forward import forced

    if (language is None) == (schema is None):
        raise click.UsageError("give the texts by --language REGEX or by --json-schema FILE, one of them")
    pattern = _of_schema(Path(schema)) if schema is not None else language
    assert pattern is not None
    tokenizer = load_tokenizer(tok, loading)
    found = forced(tokenizer, pattern, longest=max_bytes)
    if as_json:
        print_json(_fields(found))
    else:
        _print(found)
    return 0 if found else 1


def _of_schema(path: Path) -> str:
    """Return the regular expression of the JSON schema in a file."""
    from tokdfa.integrations.guided import pattern_of_schema

    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MissingFileError("no such file", where=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"the schema cannot be read, {error}", where=str(path)) from None
    return pattern_of_schema(text, where=str(path))


def _fields(found: Forcing) -> dict[str, Any]:
    lengths = [{"bytes": n, "texts": found.texts[n], "differing": found.differing[n]} for n in found.texts]
    return {
        "holds": found.holds,
        "forced_states": found.n_forced,
        "witness": found.witness and asdict(found.witness),
        "longest": found.longest,
        "lengths": [row for row in lengths if row["texts"]],
    }


def _print(found: Forcing) -> None:
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
