"""The argument IDS: one store of ids, or standard input; and the options that say how to read it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tokdfa.base.arrays import Int64Array, IntegerArray


def _one(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> str:
    if not given:
        # Shells that complete the line have not got to it yet.
        if ctx.resilient_parsing:
            return ""
        raise click.MissingParameter(ctx=ctx, param=parameter)
    if len(given) == 1 or ctx.resilient_parsing:
        return given[0]
    if all(word.isascii() and word.isdecimal() for word in given):
        words = " ".join(given[:8])
        what = f"ids are read from a file, or from standard input: echo {words} | {ctx.command_path} TOK -"
        raise click.UsageError(what, ctx)
    raise click.UsageError(
        f"IDS is one file, and here are {len(given)}: {' '.join(given[:3])}{' …' * (len(given) > 3)}; "
        f'take one after the other: for f in …; do {ctx.command_path} TOK "$f" || echo "$f"; done',
        ctx,
    )


dtype_option = click.option(
    "--dtype",
    metavar="TYPE",
    help="Integer type of raw ids where nothing records it, such as uint16: .bin files, OLMo's .npy, standard input.",
)

field_option = click.option(
    "--field",
    metavar="FIELD",
    help="The field, column or array with the ids in files of records, e.g. input_ids or a.b; a usual name by default.",
)


def _many(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    if len(given) < 2 or all(word.isascii() and word.isdecimal() for word in given):
        return (_one(ctx, parameter, given),)
    if "-" in given and not ctx.resilient_parsing:
        raise click.UsageError("standard input is one stream, and cannot be given together with files", ctx)
    return given


many_ids_argument = click.argument("paths", nargs=-1, metavar="IDS...", callback=_many)

threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Use N threads, over files and over parts of one file; the answer is the same. By default one.",
)

ids_argument = click.argument("ids", nargs=-1, metavar="IDS", callback=_one)


def check_ids_output(path: str, option: str = "-o") -> None:
    """Refuse a file for ids whose name promises another format than .npy, or that cannot be written."""
    from tokdfa.base.atomic import check_writable
    from tokdfa.stores.opening import names_another_format

    if names_another_format(Path(path)):
        what = f"{path}: ids are written as .npy only; give a name that ends in .npy"
        raise click.BadParameter(what, param_hint=option)
    check_writable(path)


def ids_and_documents(
    ids: str, dtype: str | None, field: str | None, documents: str | None
) -> tuple[Iterator[IntegerArray], int | Int64Array | None]:
    """Return the ids, and the documents that are asked for, or else those of the store."""
    from tokdfa.stores import consistent, iter_ids, open_store

    if documents == "none" or ids == "-":
        return iter_ids(ids, dtype=dtype, field=field), None if documents in (None, "none") else _documents(documents)
    if documents is not None:
        return iter_ids(ids, dtype=dtype, field=field), _documents(documents)
    store = consistent(open_store(ids, dtype=dtype, field=field))
    starts = store.starts() if store.has_documents else None
    return (chunk.ids for chunk in store.iter_chunks() if len(chunk.ids)), starts


def _documents(value: str) -> int | Int64Array:
    """Return a separator, or the first token of each document from a file."""
    import numpy as np

    from tokdfa.stores import iter_ids

    if value.isascii() and value.isdecimal():
        return int(value)
    starts: Int64Array = np.concatenate([np.zeros(0, dtype=np.int64), *iter_ids(value)])
    return starts
