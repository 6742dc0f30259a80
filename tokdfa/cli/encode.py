"""``tokdfa encode``: the ids of a text."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tokdfa.cli.output import json_option, print_json, remark, say, specials_option

__all__ = ["command"]


@click.command("encode")
@click.argument("tok")
@click.argument("text", required=False)
@click.option("--file", "path", metavar="F", help="Encode the UTF-8 text of this file; - is standard input.")
@click.option("--output", "-o", metavar="O", help="Write the ids to this .npy file instead of printing them.")
@click.option(
    "--pretokenizer", metavar="NAME|PATTERN|none", help="How TOK splits text into pieces; default: what TOK specifies."
)
@specials_option
@click.option("--format", "format_name", metavar="FORMAT", help="The format of TOK; detected by default.")
@json_option
def command(
    tok: str,
    text: str | None,
    path: str | None,
    output: str | None,
    pretokenizer: str | None,
    specials: str | None,
    format_name: str | None,
    as_json: bool,
) -> int:
    """Print the ids of TEXT, or of a file, separated by spaces.

    TOK is a tokenizer.json, tekken.json, .model, .tiktoken, merges.txt or vocab.txt file, or a folder with one.
    """
    if (text is None) == (path is None):
        raise click.UsageError("give either TEXT or --file F, and not both")
    if text is not None and _is_file(text):
        remark(f"{text} is encoded as a text, and there is a file of this name (--file {text} encodes the file)")
    from tokdfa.errors import AlphabetError
    from tokdfa.stores.npy import npy_file
    from tokdfa.tokenizers.loading import load
    from tokdfa.training.atomic import check_writable, write_atomically

    if output is not None:
        if Path(output).suffix.lower() in (".bin", ".json", ".jsonl", ".txt"):
            raise click.UsageError(
                f"{output}: ids are written as .npy only; without -o they are printed, separated by spaces"
            )
        check_writable(output)
    tokenizer = load(tok, pretokenizer=pretokenizer, specials=specials, format=format_name)
    if text is None:
        assert path is not None
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            bad = data[error.start : error.start + 4]
            raise AlphabetError("not UTF-8", value=bad, where=f"{path}, byte {error.start}") from None
    ids = tokenizer.encode(text)
    if output is not None:
        write_atomically(output, npy_file(ids))
    if as_json:
        print_json({"ids": ids} if output is None else {"tokens": len(ids), "path": output})
    elif output is None:
        say(" ".join(map(str, ids.tolist())))
    return 0


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # Too long for a name, or with a null character.
        return False
