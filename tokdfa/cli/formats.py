"""``tokdfa formats`` and ``tokdfa schema``: the files that can be read, and the JSON that commands print."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any, NamedTuple

import click

from tokdfa.cli import options
from tokdfa.cli.output import print_json, print_table, say

__all__ = ["AS_THE_FILE", "IN_PARTS", "OBJECTS", "READ", "WHOLE", "Readable", "command"]

IN_PARTS, WHOLE, AS_THE_FILE = "in bounded memory", "as a whole", "as the file"
"""How streams are judged: part by part, or by encoding the text of all of them again."""


class Readable(NamedTuple):
    """Something that can be read: files or objects, their formats by name, the standard, and how streams are judged.

    The standard is the library that is right by definition.
    """

    what: str
    formats: tuple[str, ...]
    standard: str
    streams: str = IN_PARTS


READ = (
    Readable("tokenizer.json, BPE over bytes (GPT-2, Llama-3, Qwen)", ("tokenizer.json",), "tokenizers"),
    Readable("tokenizer.json, BPE over characters (Llama-2, Gemma, NLLB)", ("tokenizer.json",), "tokenizers"),
    Readable("tokenizer.json, BPE with steps that change or drop more", ("tokenizer.json",), "tokenizers", WHOLE),
    Readable("tokenizer.json, Unigram (XLM-R, T5)", ("tokenizer.json",), "tokenizers"),
    Readable("tokenizer.json, WordPiece (BERT, MPNet)", ("tokenizer.json",), "tokenizers"),
    Readable("vocab.txt of WordPiece", ("vocab.txt",), "tokenizers"),
    Readable(".model, spiece.model: SentencePiece BPE", ("sentencepiece",), "sentencepiece"),
    Readable(".model, spiece.model: SentencePiece Unigram", ("sentencepiece",), "sentencepiece"),
    Readable(".tiktoken, tiktoken.model, any file of ranks", ("tiktoken",), "tiktoken"),
    Readable("a name such as cl100k_base", ("tiktoken",), "tiktoken"),
    Readable("tekken.json", ("tekken",), "mistral-common"),
    Readable(".gguf of llama.cpp, byte pairs, SentencePiece and WordPiece", ("gguf",), "llama.cpp"),
    Readable("merges.txt with vocab.json", ("merges+vocab",), "tokenizers"),
    Readable("merges.txt", ("merges", "merges-bytes", "merges-characters"), "tokenizers"),
    Readable("CLIP's vocabulary", ("clip",), "transformers", WHOLE),
)
"""Files and folders, as TOK and in :func:`tokdfa.load`."""

OBJECTS = (
    Readable("tokenizers.Tokenizer", ("tokenizer.json",), "tokenizers", AS_THE_FILE),
    Readable(
        "tokenizers of transformers 4 and 5",
        ("tokenizer.json", "merges+vocab", "sentencepiece", "tekken"),
        "transformers",
        AS_THE_FILE,
    ),
    Readable("tiktoken.Encoding", ("tiktoken",), "tiktoken"),
    Readable("MistralTokenizer, Tekkenizer", ("tekken", "sentencepiece"), "mistral-common"),
    Readable("SentencePieceProcessor", ("sentencepiece",), "sentencepiece"),
)
"""Objects in memory, in :func:`tokdfa.load` only; so are bytes, file objects and dicts of all formats of one file."""


@click.command("formats")
@options.json
def command(as_json: bool) -> int:
    r"""List the files that can be read, the library that defines each format, and how its streams are judged.

    Streams are judged in bounded memory, or as a whole: then all ids are held until the stream ends. For one tokenizer
    tokdfa info says which, and why.

    The names of formats are for --format, which is needed only if content and name of a file do not say. Last come the
    library versions whose Unicode tables are known, the newest first.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa formats
      tokdfa formats --json
    """
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
    for row in READ:
        table.add_row(row.what, ", ".join(row.formats), row.standard, row.streams)
    table.add_row()
    table.add_row("objects, in Python", style="bold")
    for row in OBJECTS:
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


_FOLDER = "schemas"
_SUFFIX = ".json"


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
    paths = files("tokdfa.cli").joinpath(_FOLDER).iterdir()
    return tuple(sorted(path.name.removesuffix(_SUFFIX) for path in paths if path.name.endswith(_SUFFIX)))


def schema_text(name: str) -> str:
    """Return the text of a command's schema."""
    text = files("tokdfa.cli").joinpath(_FOLDER, name + _SUFFIX).read_text(encoding="ascii")
    return json.dumps(json.loads(text, object_hook=_listed), indent=2) + "\n" if '"enumOf"' in text else text


def _listed(node: dict[str, Any]) -> dict[str, Any]:
    """Return an object with `enum` in place of `enumOf`: the name of a list, and values of it that never occur."""
    if "enumOf" not in node:
        return node
    name, *never = node["enumOf"]
    values = [value for value in _LISTS[name]() if value not in never]
    return {key if key != "enumOf" else "enum": value if key != "enumOf" else values for key, value in node.items()}


def _formats() -> list[str]:
    from tokdfa.tokenizers.formats import FORMATS

    return [*FORMATS]


def _kinds() -> list[str]:
    from tokdfa.jobs.validation.kind import ViolationKind

    return [kind.value for kind in ViolationKind]


_LISTS: dict[str, Callable[[], list[str]]] = {"formats": _formats, "violation kinds": _kinds}
