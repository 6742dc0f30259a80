"""``tokdfa formats``: what can be read."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from tokdfa.cli.output import json_option, print_json, print_table

__all__ = ["OBJECTS", "READ", "Readable", "command"]


class Readable(NamedTuple):
    """Something that can be read: files or objects, their formats by name, and the library that is the standard."""

    what: str
    formats: tuple[str, ...]
    standard: str


READ = (
    Readable("tokenizer.json, BPE, Unigram and WordPiece", ("tokenizer.json",), "tokenizers"),
    Readable("vocab.txt of WordPiece", ("vocab.txt",), "tokenizers"),
    Readable(".model, spiece.model: SentencePiece BPE and Unigram", ("sentencepiece",), "sentencepiece"),
    Readable(".tiktoken, tiktoken.model, any file of ranks", ("tiktoken",), "tiktoken"),
    Readable("a name such as cl100k_base", ("tiktoken",), "tiktoken"),
    Readable("tekken.json", ("tekken",), "mistral-common"),
    Readable(".gguf of llama.cpp, byte pairs, SentencePiece and WordPiece", ("gguf",), "llama.cpp"),
    Readable("merges.txt with vocab.json", ("merges+vocab",), "tokenizers"),
    Readable("merges.txt", ("merges", "merges-bytes", "merges-characters"), "tokenizers"),
    Readable("CLIP's vocabulary", ("clip",), "transformers"),
)
"""Files and folders, as TOK and in :func:`tokdfa.load`."""

OBJECTS = (
    Readable("tokenizers.Tokenizer", ("tokenizer.json",), "tokenizers"),
    Readable("tokenizers of transformers 4 and 5", ("tokenizer.json", "sentencepiece", "tekken"), "transformers"),
    Readable("tiktoken.Encoding", ("tiktoken",), "tiktoken"),
    Readable("MistralTokenizer, Tekkenizer", ("tekken", "sentencepiece"), "mistral-common"),
    Readable("SentencePieceProcessor", ("sentencepiece",), "sentencepiece"),
)
"""Objects in memory, in :func:`tokdfa.load` only; so are bytes, file objects and dicts of all formats of one file."""


@click.command("formats")
@json_option
def command(as_json: bool) -> int:
    """List the files and the objects that can be read, and the library whose answers are the standard for each.

    The names of formats are those of --format, which is needed only where content and name of a file do not say. Last
    come the versions of libraries whose Unicode tables are known, the newest table first.
    """
    if as_json:
        rows = {name: [row._asdict() for row in rows] for name, rows in (("files", READ), ("objects", OBJECTS))}
        print_json({**rows, "unicode": _tables()})
        return 0
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("files and folders", "format", "exact by the standard of"):
        table.add_column(heading, overflow="fold")
    for row in READ:
        table.add_row(row.what, ", ".join(row.formats), row.standard)
    table.add_row()
    table.add_row("objects, in Python", style="bold")
    for row in OBJECTS:
        table.add_row(row.what, ", ".join(row.formats), row.standard)
    print_table(table)
    versions = Table(box=None, pad_edge=False)
    for heading in ("Unicode tables of", "versions, as --unicode NAME==VERSION takes them; each row is one table"):
        versions.add_column(heading, overflow="fold")
    for part in _tables():
        versions.add_row(part["library"], ", ".join(part["versions"]))
    print_table(versions)
    return 0


def _tables() -> list[dict[str, Any]]:
    from tokdfa.unicode.versions import LIBRARIES, ranges_of

    return [
        {"library": part.library, "versions": part.versions, "newest": part.name == part.library}
        for library in LIBRARIES
        for part in ranges_of(library)
    ]
