"""``tokdfa ban``: the ids that a sampler must mask so that some words never occur in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tokdfa.cli import options
from tokdfa.cli.ids import given_text, ids_in, read_words
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from tokdfa.jobs.guiding.bans import Ban

_MOST_SHOWN = 100


@click.command("ban")
@click.argument("tok")
@click.argument("texts", metavar="[WORD...]", nargs=-1)
@click.option("--pattern", metavar="REGEX", help="Ban the matches of REGEX, too.")
@options.words
@click.option("--after", metavar="TEXT", help="The text so far; default: none.")
@click.option("--after-ids", metavar="IDS", help="The ids so far, such as 64,2513, or a store of ids.")
@options.escapes
@tokenizer_options
@options.json
def command(
    tok: str,
    texts: tuple[str, ...],
    pattern: str | None,
    words: str | None,
    after: str | None,
    after_ids: str | None,
    escapes: bool,
    loading: Loading,
    as_json: bool,
) -> int:
    r"""List the ids that a sampler must mask next, so that no WORD ever occurs in the text, in any tokenization.

    Words that begin or end within a token count, and so do ids that cut the bytes of a character. The ids depend on
    the text so far: after "sin", the ids that complete "single" are banned.

    Exit status: 0 done, 2 trouble.

    \b
    Examples:
      tokdfa ban tokenizer.json "single man" --after "a single"
      tokdfa ban tokenizer.json --pattern "[0-9]{3}" --json
    """
    from tokdfa.automata.alphabet import quoted
    from tokdfa.jobs.guiding.bans import ban

    if after is not None and after_ids is not None:
        raise click.UsageError("give either --after or --after-ids, and not both")
    if words is not None and texts:
        raise click.UsageError("give either words or --words FILE, and not both")
    banned = [given_text(text, escapes=escapes).encode() for text in texts] if words is None else read_words(words)
    tokenizer = load_tokenizer(tok, loading)
    found = ban(tokenizer, banned or None, pattern=pattern)
    before = tokenizer.encode(given_text(after or "", escapes=escapes)) if after_ids is None else ids_in(after_ids)
    ids = _banned(found, found.read(before))
    if as_json:
        tokens = [{"id": id, "text": tokenizer.name_of(id).decode("utf-8", "backslashreplace")} for id in ids]
        print_json({"banned": tokens, "states": found.n_states, "ids": tokenizer.n_ids})
        return 0
    from rich.table import Table
    from rich.text import Text

    say(f"{len(ids):,} of {tokenizer.n_ids:,} ids are banned next")
    table = Table(box=None, show_header=False, pad_edge=False)
    for id in ids[:_MOST_SHOWN]:
        table.add_row(str(id), Text(quoted(tokenizer.name_of(id))))
    print_table(table)
    if len(ids) > _MOST_SHOWN:
        say(f"… and {len(ids) - _MOST_SHOWN:,} more (--json prints all)")
    return 0


def _banned(ban: Ban, state: int) -> list[int]:
    """Return the ids that are banned in a state, control tokens included where a text may not end."""
    banned = ban.banned(state).tolist()
    return sorted(banned if ban.is_final(state) else {*banned, *ban.controls})
