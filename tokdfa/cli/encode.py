"""``tokdfa encode``: the ids of a text."""

from __future__ import annotations

import click

from tokdfa.cli.ids import check_ids_output
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import json_option, print_json, say
from tokdfa.cli.text import check_one_text, escapes_option, read_text


@click.command("encode")
@click.argument("tok")
@click.argument("text", required=False)
@click.option("--file", "path", metavar="F", help="Encode the UTF-8 text of this file; - is standard input.")
@click.option("--output", "-o", metavar="O", help="Write the ids to this .npy file instead of printing them.")
@escapes_option
@tokenizer_options
@json_option
def command(
    tok: str, text: str | None, path: str | None, output: str | None, escapes: bool, loading: Loading, as_json: bool
) -> int:
    """Print the ids of TEXT, or of a file, separated by spaces.

    TOK is a tokenizer.json, tekken.json, .model, .gguf, .tiktoken, merges.txt or vocab.txt file, or a folder with one.
    """
    check_one_text(text, path, "encodes", escapes=escapes)
    from tokdfa.base.atomic import write_atomically
    from tokdfa.stores.npy import npy_file

    if output is not None:
        check_ids_output(output)
    tokenizer = load_tokenizer(tok, loading)
    ids = tokenizer.encode(read_text(text, path, escapes=escapes))
    if output is not None:
        write_atomically(output, npy_file(ids))
    if as_json:
        print_json({"ids": ids} if output is None else {"tokens": len(ids), "path": output})
    elif output is None:
        say(" ".join(map(str, ids.tolist())))
    return 0
