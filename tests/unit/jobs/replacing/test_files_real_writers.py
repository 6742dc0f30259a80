"""Stores of libraries, written with other ids: as if the libraries had written them. Skipped where they are missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.jobs.replacing.test_files import DOCUMENTS, MAN, NEW, contents, replaced

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

# Not all of them write empty documents.
OLD, WANTED = ([document for document in documents if document] for documents in (DOCUMENTS, NEW))


def test_datasets_of_hugging_face_are_loaded_again(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")

    def made(documents: list[list[int]]) -> Any:
        rows = {
            "input_ids": documents,
            "n": [*range(len(documents))],
            "attention_mask": [[1] * len(d) for d in documents],
        }
        return datasets.Dataset.from_dict(rows)

    made(OLD).save_to_disk(tmp_path / "old" / "one", num_shards=2)
    splits = datasets.DatasetDict({"train": made(OLD), "test": made(OLD[1:])})
    splits.save_to_disk(tmp_path / "old" / "two")
    assert not replaced(MAN, tmp_path / "old", tmp_path / "new").errors
    one, old = (datasets.load_from_disk(tmp_path / name / "one") for name in ("new", "old"))
    assert one.to_dict() == made(WANTED).to_dict()
    # What datasets has in its cache for the old rows is not for these.
    assert one._fingerprint != old._fingerprint
    two = datasets.load_from_disk(tmp_path / "new" / "two")
    assert two["train"].to_dict() == made(WANTED).to_dict()
    assert two["test"].to_dict() == made(WANTED[1:]).to_dict()


@pytest.mark.parametrize("size", [2, 4])
def test_datatrove_would_have_written_the_same_files(size: int, tmp_path: Path) -> None:
    tokens = pytest.importorskip("datatrove.pipeline.tokens.tokenizer")
    megatron = pytest.importorskip("datatrove.pipeline.tokens.megatron_tokenizer")
    io = pytest.importorskip("datatrove.io")

    def write(folder: Path, documents: list[list[int]]) -> None:
        where = io.get_datafolder(str(folder))
        options = {"save_loss_metadata": True, "save_final_metadata": True, "tokenizer_name_or_path": "gpt2"}
        file = tokens.TokenizedFile(where, "x.ds", token_size=size, **options)
        index = megatron.MegatronTokenizedFile(where, "y", upload_block_size=1 << 20, token_size=size)
        for document in documents * 200:
            file.write(document, [True] * len(document))
            index.write(document)
        file.close()
        index.close()

    write(tmp_path / "old", OLD)
    write(tmp_path / "wanted", WANTED)
    assert not replaced(MAN, tmp_path / "old", tmp_path / "new").errors
    assert contents(tmp_path / "new") == contents(tmp_path / "wanted")


@pytest.mark.parametrize("compression", [None, "bz2", "gz:3", "zstd:7"])
@pytest.mark.parametrize("encoding", ["ndarray:int32", "ndarray", "bytes"])
def test_mosaicml_would_have_written_the_same_samples(encoding: str, compression: str | None, tmp_path: Path) -> None:
    streaming = pytest.importorskip("streaming")
    unpack = pytest.importorskip("streaming.base.compression").decompress
    hashed = pytest.importorskip("streaming.base.hashing").get_hash

    def write(folder: Path, documents: list[list[int]]) -> None:
        columns = {"id": "int", "tokens": encoding, "attention_mask": "ndarray:uint8"}
        options = {"compression": compression, "hashes": ["md5", "sha1"]}
        with streaming.MDSWriter(out=str(folder), columns=columns, **options) as writer:
            for number, document in enumerate(documents):
                ids = np.array(document, "<i8" if encoding == "bytes" else "<i4")
                tokens = ids.tobytes() if encoding == "bytes" else ids
                writer.write({"id": number, "tokens": tokens, "attention_mask": np.ones(len(document), np.uint8)})

    write(tmp_path / "old", OLD)
    write(tmp_path / "wanted", WANTED)
    assert not replaced(MAN, tmp_path / "old", tmp_path / "new").errors
    index, wanted = (json.loads((tmp_path / name / "index.json").read_text()) for name in ("new", "wanted"))
    for shard, same in zip(index["shards"], wanted["shards"], strict=True):
        assert shard["raw_data"] == same["raw_data"]
        packed = shard["zip_data"]
        data = (tmp_path / "new" / (packed or shard["raw_data"])["basename"]).read_bytes()
        if packed is not None:
            assert packed["bytes"] == len(data)
            assert packed["hashes"] == {name: hashed(name, data) for name in packed["hashes"]}
            data = unpack(compression, data)
        assert {name: hashed(name, data) for name in ("md5", "sha1")} == same["raw_data"]["hashes"]
