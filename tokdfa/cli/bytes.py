"""``tokdfa bytes``: whether a table of bytes by id adds up to the bytes of every text."""

from __future__ import annotations

import click

from tokdfa.cli import options
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import counted, print_json, say


@click.command("bytes")
@click.argument("tok")
@click.argument("table", metavar="TABLE|FORMULA")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=options.new_file,
    help="Write the right table to FILE, a .npz, .npy or .json; control tokens have 0.",
)
@options.force
@options.time_limit("Search for a proof for N seconds of processor time at most; then the status is 2.", 600.0)
@tokenizer_options
@options.json
def command(tok: str, table: str, output: str | None, max_seconds: float, loading: Loading, as_json: bool) -> int:
    r"""Decide whether a table of bytes by id adds up to the number of bytes of every text, as bits per byte assume.

    If not, the shortest miscounted text is shown. TABLE is a .npy or .json list with a count for each id, or a .npz
    with base_bytes and perhaps has_leading_space and is_boundary_token. FORMULA is the name of a public formula: bytes,
    which is right, decoded, sentencepiece, sentencepiece-decoded or sentencepiece-twice. Texts have no control tokens.

    Exit status: 0 it adds up, 1 it does not, 2 trouble.

    \b
    Examples:
      tokdfa bytes tokenizer.json token_bytes.npy
      tokdfa bytes tokenizer.json decoded -o token_bytes.npz
    """
    from tokdfa.jobs.measures.api import check_bytes
    from tokdfa.jobs.measures.byte_tables import FORMULAS, check_writable, named_or_read, of_formula, write_table

    tokenizer = load_tokenizer(tok, loading)
    given = named_or_read(tokenizer, table)
    if output is not None:
        right = of_formula(tokenizer, "bytes")
        check_writable(output, right)
    found = check_bytes(tokenizer, given, max_seconds=max_seconds)
    if output is not None:
        write_table(output, right)
    witness = found.witness
    if as_json:
        fields = ("text", "ids", "counted", "bytes", "shortest")
        shown = None if witness is None else {name: getattr(witness, name) for name in fields}
        print_json({"path": tok, "table": table, "adds_up": found.holds, "wrong_ids": found.n_wrong, "witness": shown})
    else:
        say(found.reason)
        if table in FORMULAS:
            say(f"{table}: an id counts {FORMULAS[table].words}")
        if found.n_wrong:
            say(f"{counted(found.n_wrong, 'id')} with another count than their bytes")
    return int(not found)
