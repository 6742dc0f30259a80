"""Writing stores again with other ids: each in its own layout, with its documents, masks and other columns.

Read `edit` first: the new ids of whole documents or of a stream that a writer asks for, and the lists that have a value
for each id. Then the writers, one for each module of readers: `raw` (integers, with the indices of
documents next to them), `columns` (Parquet and Arrow), `text` (JSONL), `mds`, and `datasets` (the indices of folders,
written when all their files are there). The layouts themselves are described by the readers.

Used by: the command `replace`.

Cost: reading and writing; a batch of documents, or a shard of MDS, is in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokdfa.base.atomic import Data
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.stores.columns import TableStore
from tokdfa.stores.mds import MdsStore
from tokdfa.stores.raw import RawStore
from tokdfa.stores.store import Store
from tokdfa.stores.text import JsonlStore
from tokdfa.stores.writers import columns, mds, raw, text
from tokdfa.stores.writers.edit import Edit

__all__ = ["check_can_write", "contents"]

_WRITERS: dict[type[Store], Any] = {RawStore: raw, TableStore: columns, JsonlStore: text, MdsStore: mds}


def check_can_write(store: Store) -> None:
    """Refuse a store that cannot be written again as it is; the error says why."""
    if type(store) not in _WRITERS:
        hint = "tokdfa replace TOK PATTERN REPLACEMENT IDS -o FILE.npy writes the ids of one file"
        what = "stores of this format are read, and not written"
        raise UnsupportedFeatureError(what, value=store.format, where=str(store.path), hint=hint)
    _WRITERS[type(store)].check_can_write(store)


def contents(store: Store, edit: Edit, folder: Path) -> dict[str | Path, Data]:
    """Return the files of a store with other ids, to be written together to a folder, each under its old name."""
    write: Callable[[Any, Edit, Path], dict[str | Path, Data]] = _WRITERS[type(store)].contents
    return write(store, edit, folder)
