"""``tokdfa fingerprint``: what a tokenizer does, as a hash, and whether it is still the same."""

from __future__ import annotations

import click

from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import json_option, print_json, say

__all__ = ["command"]


@click.command("fingerprint")
@click.argument("tok")
@click.option("--check", "lock", metavar="LOCK", help="Compare with this lock file instead of printing one.")
@click.option("--output", "-o", metavar="FILE", help="Write the lock to FILE instead of printing it.")
@tokenizer_options
@json_option
def command(
    tok: str,
    lock: str | None,
    output: str | None,
    loading: Loading,
    as_json: bool,
) -> int:
    """Print the fingerprint of TOK as a lock file, or check that it still has the one of a lock file.

    Tokenizers with equal fingerprints give texts the same ids, and ids the same texts, however their files spell it.
    Tokenizers that do the same may have two fingerprints; tokdfa compare decides that. With --check the exit status is
    1 if parts have changed, which are named, and 2 if the lock cannot be read.
    """
    if lock is not None and output is not None:
        raise click.UsageError("give either --check LOCK or --output FILE, and not both")
    from tokdfa.tokenizers.fingerprint import fingerprint, lock_text, made_with, read_lock
    from tokdfa.training.atomic import check_writable, write_atomically

    kept = None if lock is None else read_lock(lock)
    if output is not None:
        check_writable(output)
    found = fingerprint(load_tokenizer(tok, loading))
    changed = () if kept is None else kept.changed(found)
    if output is not None:
        write_atomically(output, lock_text(found).encode())
    if as_json:
        answer = {"path": tok, "fingerprint": found.value, "parts": dict(found.parts), "made_with": made_with()}
        print_json(answer if kept is None else {**answer, "lock": lock, "same": not changed, "changed": changed})
    elif kept is not None:
        say(f"changed: {', '.join(changed)}" if changed else f"the same: {found}")
    elif output is None:
        say(lock_text(found), end="")
    return 1 if changed else 0
