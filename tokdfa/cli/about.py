"""Commands about tokdfa itself: ``demo``, ``formats`` (files that can be read) and ``schema`` (the printed JSON)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from tokdfa.cli import options
from tokdfa.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

_TEXT = "It is a truth universally acknowledged, that a single man must be in want of a wife."
_PREFIX = [("h", "e"), ("t", "he"), ("t", "h"), ("th", "e")]


@click.command("demo")
@click.option(
    "-o",
    "--output",
    default="tokdfa-demo",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder of the files.",
)
@options.force
def demo(output: Path) -> int:
    r"""Show the main job on the embedded dictionary: validate a good and a spoiled stream of ids.

    The folder gets the dictionary, both streams, a web page of the findings, and the picture of a small automaton.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa demo
      tokdfa demo -o tour
    """
    import tokdfa
    from tokdfa.base.atomic import write_atomically
    from tokdfa.stores.raw import npy_file
    from tokdfa.tokenizers.loading import load_byte_pairs

    output.mkdir(parents=True, exist_ok=True)
    for name in ("merges.txt", "good.npy", "spoiled.npy", "spoiled.html", "toy.dot"):
        options.check_new(output / name, "-o")
    rules = output / "merges.txt"
    write_atomically(rules, files("tokdfa.tokenizers").joinpath("data", "default.merges.txt").read_bytes())
    tokenizer = load_byte_pairs(rules, pretokenizer="gpt2")

    tokdfa.CompactTokenDFA(tokenizer.dictionary.prefix(1))  # Loads the compiled kernels, so that this is not timed.
    began = perf_counter()
    dfa = tokdfa.CompactTokenDFA(tokenizer.dictionary)
    seconds = perf_counter() - began
    say(f"dictionary  {len(tokenizer.dictionary):,} rules over bytes, trained on English books: {rules}")
    say(
        f"fold        {dfa.states_built:,} states built, {dfa.states_reachable:,} reachable, "
        f"{dfa.states_minimal:,} minimal, in {seconds * 1000:.1f} ms"
    )

    good = tokenizer.encode(_TEXT)
    spoiled = _split_longest(tokenizer, good)
    for name, ids in (("good", good), ("spoiled", spoiled)):
        path = output / f"{name}.npy"
        write_atomically(path, npy_file(ids))
        verdict = tokenizer.validate(ids)
        say(f"validate    {path}, {len(ids)} tokens: {'canonical' if verdict else 'NOT canonical'}")
        if not verdict:
            say(f"            token {verdict.index} (byte {verdict.byte_offset}): {verdict.reason}")
            given, right = (_spell(tokenizer, part) for part in (verdict.ids or (), verdict.canonical_ids or ()))
            say(f"            given {given}, canonical {right}")

    page = output / "spoiled.html"
    tokdfa.validation_report(tokenizer, spoiled, names=(str(rules), str(output / "spoiled.npy"))).save(page)
    say(f"page        {page}: the same answer as a web page")

    toy = tokdfa.token_dfa(tokdfa.Dictionary.from_pairs(_PREFIX, alphabet="teh"))
    picture = output / "toy.dot"
    write_atomically(picture, toy.to_dot().encode("utf-8"))
    say(f"draw        {picture}: the token DFA of the rules {', '.join(' + '.join(rule) for rule in _PREFIX)}")
    return 0


def _split_longest(tokenizer: Tokenizer, ids: Any) -> list[int]:
    """Return `ids` with the longest token split into the parts of the rule that makes it."""
    dictionary = tokenizer.dictionary
    tokens = tokenizer.id_to_token[ids].tolist()
    index = max(range(len(tokens)), key=lambda at: len(dictionary.alphabet[tokens[at]]))
    rule = dictionary.birth[tokens[index]]
    parts = tokenizer.token_to_id[[dictionary.left[rule], dictionary.right[rule]]]
    return [*ids[:index].tolist(), *parts.tolist(), *ids[index + 1 :].tolist()]


def _spell(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    from tokdfa.automata.alphabet import quoted

    return " ".join(quoted(tokenizer.token(int(tokenizer.id_to_token[id]))) for id in ids)


@click.command("formats")
@options.json
def formats(as_json: bool) -> int:
    r"""List the files that can be read, the library that defines each format, and how its streams are judged.

    Streams are judged in bounded memory, or as a whole: then all ids are held until the stream ends. For one tokenizer
    tokdfa info says which, and why.

    The names of formats are for --format, which is needed only if content and name of a file do not say. Last come the
    library versions with known Unicode tables, the newest first.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa formats
      tokdfa formats --json
    """
    from tokdfa.tokenizers.formats.reading import OBJECTS, READ

    if as_json:
        rows = {name: [row._asdict() for row in rows] for name, rows in (("files", READ), ("objects", OBJECTS))}
        print_json({**rows, "unicode": _tables()})
        return 0
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    # Wide enough for the longest name of a class.
    table.add_column("files and folders", overflow="fold", min_width=max(len(row.what.split()[-1]) for row in OBJECTS))
    for heading in ("format", "exact by the standard of", "streams are judged"):
        table.add_column(heading, overflow="fold")
    for row in (*READ, None, *OBJECTS):
        if row is None:
            table.add_row()
            table.add_row("objects, in Python", style="bold")
        else:
            table.add_row(row.what, ", ".join(row.formats), row.standard, row.streams)
    print_table(table)
    versions = Table(box=None, pad_edge=False)
    for heading in ("Unicode tables of", "versions, as --unicode NAME==VERSION takes them; each row is one table"):
        versions.add_column(heading, overflow="fold")
    for part in _tables():
        versions.add_row(part["library"], ", ".join(part["versions"]))
    print_table(versions)
    return 0


def _tables() -> list[dict[str, Any]]:
    from tokdfa.regex.unicode.versions import LIBRARIES, ranges_of

    return [
        {"library": part.library, "versions": part.versions, "newest": part.name == part.library}
        for library in LIBRARIES
        for part in ranges_of(library)
    ]


@click.command("schema")
@click.argument("name", metavar="[COMMAND]", required=False)
def schema(name: str | None) -> int:
    r"""Print the JSON Schema of a command's --json; without COMMAND, list the commands.

    The schema is of draft 2020-12.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa schema
      tokdfa schema validate
    """
    if name is None:
        for known in described():
            say(known)
        return 0
    if name not in described():
        what = f"{name!r} is not a command with --json; those are {', '.join(described())}"
        raise click.BadParameter(what, param_hint="'[COMMAND]'")
    say(schema_text(name), end="")
    return 0


def described() -> tuple[str, ...]:
    """Return the names of the commands that have a schema, in alphabetical order."""
    names = (path.name.partition(".json") for path in files("tokdfa.cli").joinpath("schemas").iterdir())
    return tuple(sorted(name for name, is_schema, _ in names if is_schema))


def schema_text(name: str) -> str:
    """Return the text of a command's schema."""
    text = files("tokdfa.cli").joinpath("schemas", f"{name}.json").read_text(encoding="ascii")
    return json.dumps(json.loads(text, object_hook=_listed), indent=2) + "\n" if '"enumOf"' in text else text


def _listed(node: dict[str, Any]) -> dict[str, Any]:
    """Return an object with `enum` in place of `enumOf`: the name of a list, and values of it that never occur."""
    if "enumOf" not in node:
        return node
    from tokdfa.jobs.rollouts.masks import MaskFault
    from tokdfa.jobs.validation.violation import ViolationKind
    from tokdfa.tokenizers.formats import FORMATS

    name, *never = node["enumOf"]
    kinds = {"violation kinds": ViolationKind, "mask faults": MaskFault}
    lists = {"formats": FORMATS, **{name: [kind.value for kind in each] for name, each in kinds.items()}}
    values = [value for value in lists[name] if value not in never]
    return {key if key != "enumOf" else "enum": value if key != "enumOf" else values for key, value in node.items()}
