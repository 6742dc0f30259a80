"""Folders of litdata: its own dataset reads the ids that we do, and those that are replaced. Skipped without it.

``pip install litdata``, which takes torch with it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.written_stores import documents_of
from tokdfa.jobs.replacing.files import replace_files
from tokdfa.stores import iter_ids, open_store

TOKENIZER = tokdfa.default_tokenizer()
# More than one chunk, and a document longer than a chunk.
TEXTS = ["a single man in possession", "of a good fortune", "a man, a man must be a man", "wife", " man" * 60]


def written(folder: Path, documents: list[list[int]], dtype: str) -> Path:
    """Write documents as litdata does, as tensors or arrays."""
    torch, cache = pytest.importorskip("torch"), pytest.importorskip("litdata.streaming.cache")
    loader = pytest.importorskip("litdata.streaming.item_loader").TokensLoader(1)
    kind, name = dtype.split(" ")
    made = cache.Cache(str(folder), chunk_size=40, item_loader=loader)
    for index, ids in enumerate(documents):
        made[index] = torch.tensor(ids, dtype=getattr(torch, name)) if kind == "tensor" else np.array(ids, dtype=name)
    made.done()
    made.merge()
    return folder


def read(folder: Path) -> list[int]:
    """Read the ids of a folder by litdata, in blocks of one."""
    loader = pytest.importorskip("litdata.streaming.item_loader").TokensLoader(block_size=1)
    dataset = pytest.importorskip("litdata").StreamingDataset(str(folder), item_loader=loader, shuffle=False)
    return [int(id) for block in dataset for id in block]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["tensor int32", "tensor int64", "tensor int16", "numpy uint16", "numpy int32"])
def test_litdata_reads_and_writes_the_same_documents(dtype: str, tmp_path: Path) -> None:
    documents = [TOKENIZER.encode(text).tolist() for text in TEXTS]
    new = [TOKENIZER.encode(text.replace(" man", " zqx")).tolist() for text in TEXTS]
    source = written(tmp_path / "old", documents, dtype)
    assert len([*source.glob("*.bin")]) > 1
    assert documents_of(open_store(source)) == documents
    assert read(source) == [id for ids in documents for id in ids]
    done = replace_files(tokdfa.Replacer(TOKENIZER, " man", " zqx"), [source], tmp_path / "new", description={})
    assert (done.errors, done.total.matches) == ((), 64)
    assert documents_of(open_store(tmp_path / "new")) == new
    ours = [id for ids in iter_ids(tmp_path / "new") for id in ids.tolist()]
    assert read(tmp_path / "new") == ours == [id for ids in new for id in ids]
