"""Token stores on disk: reading ids, in chunks and in constant memory, whatever the format of the files.

Read in this order:

1. `store`: the interface. A `Store` yields chunks of ids with the borders of documents and a mask, says where in a file
   an id is, and what is inconsistent.
2. `opening`: `open_store` recognises the format. `iter_ids` below takes the ids alone, also from standard input.
3. One module a format. Integers in a file: `raw` (.npy, .bin), `megatron`, `datatrove` (and nanotron), `olmo` (and
   Dolma), `llmc` (and modded-nanogpt), `litdata`, `npz`. Records: `columns` (Parquet and Arrow), `datasets` (folders of
   Hugging Face), `jsonl`, `mds` (MosaicML), `webdataset`. Text: `written`.
4. What they share: `binary` reads integers, `npy` the headers of .npy files, `text` integers as text and JSON, `packed`
   unpacks, `finding` lists the files under folders and patterns, `fields` finds the field of the ids, `folder` joins
   the files of a dataset, `tuning` sets how much is read at a time, and `refusal` says what to do with what is no
   store.

Used by: the commands that take IDS, `shards`, `rollouts`.

Cost: raw integers are read at the speed of the page cache; chunks of 262,144 ids, whatever the size of the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tokdfa.arrays import IntegerArray
from tokdfa.errors import TokenStreamError
from tokdfa.stores.binary import dtype_of, iter_stream
from tokdfa.stores.opening import open_store
from tokdfa.stores.store import Chunk, Place, Problem, Store
from tokdfa.stores.text import iter_text_or_json
from tokdfa.stores.tuning import DEFAULT, Tuning

__all__ = ["Chunk", "Place", "Problem", "Store", "consistent", "iter_ids", "open_store"]


def iter_ids(
    source: str | Path, *, dtype: str | None = None, field: str | None = None, tuning: Tuning = DEFAULT
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
    tuning : Tuning, optional
        How much is read at a time.

    Yields
    ------
    integer array
        One-dimensional, not empty, of any width. It is not checked whether they are ids of a tokenizer. For an empty
        array in a ``.npy`` or ``.json`` file nothing is yielded.

    Raises
    ------
    TokenStreamError
        If the file is not what its name says, is inconsistent, holds anything but integers, ends in the middle of one,
        or is empty; the error says where. In records, ``.json`` and text this is raised only when the place is reached.
    OSError
        If the file cannot be read.
    """
    if str(source) == "-":
        if dtype is not None:
            return iter_stream(sys.stdin.buffer, dtype_of(dtype), "standard input", tuning=tuning)
        return iter_text_or_json(sys.stdin.buffer, "standard input", tuning=tuning)
    store = consistent(open_store(source, dtype=dtype, field=field, tuning=tuning))
    return (chunk.ids for chunk in store.iter_chunks() if len(chunk.ids))


def consistent(store: Store) -> Store:
    """Return a store in which nothing is inconsistent.

    Raises
    ------
    TokenStreamError
        If something is; the error has the first problem.
    """
    if store.problems:
        more = len(store.problems) - 1
        hint = f"{more} more: tokdfa stores {store.path}" if more else None
        raise TokenStreamError(store.problems[0].what, where=store.problems[0].where, hint=hint)
    return store
