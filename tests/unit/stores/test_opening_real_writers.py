"""Stores as the libraries themselves write them; each test is skipped where its library is not installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.written_stores import documents_of
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.stores import open_store

# Not all of them write empty documents.
DOCUMENTS = [[5, 300, 7], [1], [2, 2, 2, 40000, 9], [256, 257, 8]]

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def assert_read(path: Path, format: str, dtype: str) -> None:
    store = open_store(path)
    assert (store.format, store.dtype.name, store.problems) == (format, dtype, ())
    assert documents_of(store) == DOCUMENTS


def test_stores_of_datasets_are_read(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_dict({"input_ids": DOCUMENTS}).save_to_disk(tmp_path / "x", num_shards=2)
    assert_read(tmp_path / "x", "Hugging Face dataset", "int32")


def test_datasets_in_another_order(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    shuffled = datasets.Dataset.from_dict({"input_ids": DOCUMENTS}).shuffle(seed=1).select([2, 0, 3])
    shuffled.save_to_disk(tmp_path / "x")
    assert documents_of(open_store(tmp_path / "x")) == [*shuffled["input_ids"]]


def test_mosaicml_whose_index_is_merged(tmp_path: Path) -> None:
    streaming = pytest.importorskip("streaming")
    util = pytest.importorskip("streaming.base.util")
    for number in range(2):
        folder = str(tmp_path / "x" / str(number))
        with streaming.MDSWriter(out=folder, columns={"tokens": "ndarray:int32"}) as writer:
            for document in DOCUMENTS[2 * number : 2 * number + 2]:
                writer.write({"tokens": np.array(document, dtype=np.int32)})
    util.merge_index(str(tmp_path / "x"), keep_local=True)
    assert_read(tmp_path / "x", "MDS", "int32")


@pytest.mark.parametrize("size", [2, 4])
def test_stores_of_datatrove_are_read(tmp_path: Path, size: int) -> None:
    tokens = pytest.importorskip("datatrove.pipeline.tokens.tokenizer")
    io = pytest.importorskip("datatrove.io")
    file = tokens.TokenizedFile(
        io.get_datafolder(str(tmp_path)),
        "x.ds",
        save_loss_metadata=True,
        save_final_metadata=True,
        tokenizer_name_or_path="gpt2",
        token_size=size,
    )
    for document in DOCUMENTS:
        file.write(document, [True] * len(document))
    file.close()
    file.write_final_metadata()
    assert_read(tmp_path / "x.ds", "datatrove", f"uint{8 * size}")


def test_megatron_by_datatrove(tmp_path: Path) -> None:
    tokens = pytest.importorskip("datatrove.pipeline.tokens.megatron_tokenizer")
    io = pytest.importorskip("datatrove.io")
    file = tokens.MegatronTokenizedFile(io.get_datafolder(str(tmp_path)), "x", upload_block_size=1 << 20, token_size=2)
    for document in DOCUMENTS:
        file.write(document)
    file.close()
    assert_read(tmp_path / "x.bin", "Megatron", "uint16")


def test_stores_of_litdata_are_read(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    writing = pytest.importorskip("litdata.streaming.writer")
    loading = pytest.importorskip("litdata.streaming.item_loader")
    writer = writing.BinaryWriter(str(tmp_path / "x"), chunk_size=10, item_loader=loading.TokensLoader())
    for number, document in enumerate(DOCUMENTS):
        writer.add_item(number, torch.tensor(document, dtype=torch.int32))
    writer.done()
    writer.merge()
    assert_read(tmp_path / "x", "litdata", "int32")


@pytest.mark.parametrize("is_given", [False, True])
def test_litdata_for_another_loader(tmp_path: Path, is_given: bool) -> None:
    writing = pytest.importorskip("litdata.streaming.writer")
    loading = pytest.importorskip("litdata.streaming.item_loader")
    loader = loading.PyTreeLoader() if is_given else None
    writer = writing.BinaryWriter(str(tmp_path / "x"), chunk_size=10, item_loader=loader)
    for number, document in enumerate(DOCUMENTS):
        writer.add_item(number, np.array(document, dtype=np.int32))
    writer.done()
    writer.merge()
    with pytest.raises(UnsupportedFeatureError, match="chunks for another loader: 'PyTreeLoader'"):
        open_store(tmp_path / "x")


@pytest.mark.parametrize("compression", [None, "br", "bz2", "gz", "snappy", "zstd"])
@pytest.mark.parametrize(("encoding", "dtype"), [("ndarray:int32", "i4"), ("ndarray", "i4"), ("bytes", "i8")])
def test_stores_of_mosaicml_are_read(tmp_path: Path, encoding: str, dtype: str, compression: str | None) -> None:
    streaming = pytest.importorskip("streaming")
    columns = {"tokens": encoding, "id": "int"}
    folder = str(tmp_path / "x")
    with streaming.MDSWriter(out=folder, columns=columns, compression=compression, size_limit=300) as writer:
        for number, document in enumerate(DOCUMENTS):
            ids = np.array(document, dtype=dtype)
            writer.write({"tokens": ids.tobytes() if encoding == "bytes" else ids, "id": number})
    store = open_store(tmp_path / "x")
    assert store.format == "MDS"
    assert len(store.members) > 1
    assert store.problems == ()
    assert documents_of(store) == DOCUMENTS
