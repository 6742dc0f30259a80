"""``tokdfa cuts``: where a stream of ids, or a text, may be cut."""

from __future__ import annotations

from typing import cast

import click

from tokdfa.cli.ids import dtype_option, field_option
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import json_option, print_json, say
from tokdfa.cli.text import escapes_option, given_text


@click.command("cuts")
@click.argument("tok")
@click.argument("ids", required=False)
@click.option("--text", metavar="TEXT", help="Cut this text, in characters, instead of ids.")
@click.option("--before", type=click.IntRange(min=0), metavar="N", help="Only the last place up to N.")
@click.option("--window", is_flag=True, help="Something unknown may precede.")
@click.option("--ends", is_flag=True, help="Nothing follows.")
@dtype_option
@field_option
@escapes_option
@tokenizer_options
@json_option
def command(
    tok: str,
    ids: str | None,
    text: str | None,
    before: int | None,
    window: bool,
    ends: bool,
    dtype: str | None,
    field: str | None,
    escapes: bool,
    loading: Loading,
    as_json: bool,
) -> int:
    r"""Print where a stream of IDS, or a TEXT, may be cut, and its parts encoded separately, however it goes on.

    Each number is that of the id, or the character, before which it may be cut. With --before N it is the last one up
    to N, and the exit status is 0 if that is N itself, and 1 if not; otherwise it is 0 if there are any. IDS is a store
    of ids, such as .npy, .bin, .ds, .parquet or .jsonl; or - for standard input.

    \b
    tokdfa cuts TOK ids.npy --before 4096
    tokdfa cuts TOK --text "one two" --ends
    """
    if (ids is None) == (text is None):
        raise click.UsageError("give either IDS or --text TEXT, and not both")
    if escapes and text is None:
        raise click.UsageError("--escapes is for --text")
    text = None if text is None else given_text(text, escapes=escapes)
    import numpy as np

    from tokdfa.base.arrays import IntegerArray
    from tokdfa.stores import iter_ids
    from tokdfa.tokenizers.tokenizer import Tokenizer

    tokenizer = cast(Tokenizer, load_tokenizer(tok, loading))
    chunks = [] if ids is None else [*iter_ids(ids, dtype=dtype, field=field)]
    given: IntegerArray | str = np.concatenate([np.empty(0, dtype=np.int64), *chunks]) if text is None else text
    unit = "ids" if text is None else "characters"
    if before is None:
        places = tokenizer.safe_cuts(given, begins=not window, ends=ends).tolist()
    else:
        places = [tokenizer.last_safe_cut(given, before, begins=not window, ends=ends)]
    if as_json:
        print_json({"unit": unit, "places": places, "count": len(given), "before": before})
    else:
        say(" ".join(map(str, places)))
    return 0 if (places if before is None else places == [before]) else 1
