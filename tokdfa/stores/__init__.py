"""Token stores on disk: reading ids, in chunks and in constant memory, in any file format.

Read in this order:

1. `store`: the interface. A `Store` yields chunks of ids with the boundaries of documents and a mask, locates an id in
   a file, and lists inconsistencies.
2. `opening`: `find_stores` lists the files under folders and patterns, `open_store` recognises the format, or gives a
   hint for a path that is not a store, and `open_shard` opens one of several. `integer_types` names the types of raw
   integers, and guesses one. `parts` divides a store among threads. `iter_ids` below takes the ids alone, also from
   standard input.
3. The formats. Integers in a file: `raw` (.npy, .bin, streams; llm.c and modded-nanogpt), `indexed` (an index of
   documents in another file: Megatron, datatrove and nanotron, OLMo and Dolma). Records: `columns` (Parquet and Arrow),
   `folder` (datasets of Hugging Face and LitData, and files joined), `mds` (MosaicML). Integers as text, JSON and
   JSONL: `text`. Compressed files, .npz, and tar archives of WebDataset: `archives`.
4. `writers`: stores written again with other ids.

Used by: the commands that take IDS, `shards`, `rollouts`, `replacing`.

Cost: raw integers are read at the speed of the page cache; chunks of 262,144 ids for files of any size.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tokdfa.base.arrays import IntegerArray
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.integer_types import dtype_of
from tokdfa.stores.opening import open_store
from tokdfa.stores.raw import iter_stream
from tokdfa.stores.store import Chunk, Location, Problem, Store
from tokdfa.stores.text import iter_text_or_json

__all__ = ["Chunk", "Location", "Problem", "Store", "consistent", "iter_ids", "open_store"]


def iter_ids(
    source: str | Path, *, dtype: str | None = None, field: str | None = None, size: int | None = None
) -> Iterator[IntegerArray]:
    """Yield the ids of a store, chunk by chunk.

    Parameters
    ----------
    source : str or Path
        A store, as in :func:`open_store`. ``-`` is standard input: raw integers with `dtype`, otherwise text, which is
        an array if it begins with a bracket, and else integers separated by white space.
    dtype : str, optional
        The integer type of raw data, as numpy names it: ``uint16``, ``uint32``, ``>u2`` …
    field : str, optional
        The field of the ids in files of records.
    size : int, optional
        How many ids are read at once, or bytes of text and streams.

    Yields
    ------
    integer array
        One-dimensional, not empty, of any width. It is not checked whether they are ids of a tokenizer. For an empty
        array in a ``.npy`` or ``.json`` file nothing is yielded.

    Raises
    ------
    TokenStreamError
        If the file is not of the kind that its name says, is inconsistent, holds anything but integers, ends in the
        middle of one, or is empty; the error says where. In records, ``.json`` and text this is raised only when the
        position is reached.
    OSError
        If the file cannot be read.
    """
    if str(source) == "-":
        if dtype is not None:
            return iter_stream(sys.stdin.buffer, dtype_of(dtype), "standard input", size=size)
        return iter_text_or_json(sys.stdin.buffer, "standard input", size=size)
    store = consistent(open_store(source, dtype=dtype, field=field))
    return (chunk.ids for chunk in store.read(size=size) if len(chunk.ids))


def consistent(store: Store) -> Store:
    """Return a store without problems; otherwise the first problem is raised."""
    if store.problems:
        more = len(store.problems) - 1
        hint = f"{more} more: tokdfa stores {store.path}" if more else None
        raise TokenStreamError(store.problems[0].what, where=store.problems[0].where, hint=hint)
    return store
