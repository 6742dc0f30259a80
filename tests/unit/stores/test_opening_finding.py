"""The files of ids under paths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support import written_stores as written
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.integer_types import TYPES, likely_type
from tokdfa.stores.opening import find_stores, open_shard


def test_files_folders_and_patterns(tmp_path: Path) -> None:
    writers = (written.megatron, written.datatrove, written.olmo, written.litdata, written.mds, written.hugging_face)
    for write in (*writers, written.parquet, written.jsonl, written.tar):
        folder = tmp_path / write.__name__
        folder.mkdir()
        write(folder)
    (tmp_path / "README.txt").write_text("no ids")
    (tmp_path / ".hidden.npy").write_bytes(b"")
    found = [
        "datatrove/000_00000_shuffled.ds",
        "hugging_face/data-00000-of-00002.arrow",
        "hugging_face/data-00001-of-00002.arrow",
        "jsonl/x.jsonl",
        "litdata/chunk-0-0.bin",
        "litdata/chunk-0-1.bin",
        "mds/shard.00000.mds",
        "mds/shard.00001.mds",
        "megatron/x_text_document.bin",
        "olmo/part-0-00000.npy",
        "parquet/x.parquet",
        "tar/x.tar",
    ]
    expected = [tmp_path / name for name in found]
    assert find_stores([tmp_path]) == expected
    assert find_stores([tmp_path / "*"])[: len(expected) + 1] == [tmp_path / "README.txt", *expected]
    assert find_stores([f"{tmp_path}/**/*.ds", tmp_path / "datatrove"]) == expected[:1]
    assert find_stores([tmp_path / "README.txt"]) == [tmp_path / "README.txt"]
    # A file that an index names is found even if it is not there.
    expected[6].unlink()
    assert find_stores([tmp_path / "mds"]) == expected[6:8]


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        find_stores([tmp_path / "none"])
    for path in (tmp_path, tmp_path / "*.bin"):
        with pytest.raises(TokenStreamError, match="no files of ids"):
            find_stores([path])


WRITERS = (
    *(written.megatron, written.datatrove, written.olmo, written.llmc, written.litdata, written.mds, written.npz),
    *(written.hugging_face, written.parquet, written.arrow, written.jsonl, written.tar, written.npy),
)


@pytest.mark.parametrize("dtype", ["uint16", ">u4", "uint64"])
def test_a_type_is_for_the_raw_files_among_all_formats(tmp_path: Path, dtype: str) -> None:
    for write in WRITERS:
        folder = tmp_path / write.__name__
        folder.mkdir()
        write(folder)
    recorded = find_stores([tmp_path])
    ids = [ids.tolist() for path in recorded for ids in read(path)]
    # All of these say their types, so a type is for none of them.
    with pytest.raises(TokenStreamError, match="records the type of its ids; a dtype can be given only for raw"):
        find_stores([tmp_path], dtype)
    (tmp_path / "bytes").mkdir()
    written.mds(tmp_path / "bytes", "bytes")
    assert len(find_stores([tmp_path], dtype)) == len(recorded) + 2
    np.array(written.IDS, dtype).tofile(tmp_path / "x.bin")
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1")
    files = find_stores([tmp_path], dtype)
    assert len(files) == len(recorded) + 4 > 15
    assert [ids.tolist() for path in recorded for ids in read(path, dtype)] == ids
    assert np.concatenate(read(tmp_path / "x.bin", dtype)).tolist() == written.IDS
    # A column of bytes is taken for int64 if no type is given.
    values = np.concatenate(read(tmp_path / "bytes" / "shard.00000.mds")).astype("<i8")
    assert np.concatenate(read(tmp_path / "bytes" / "shard.00000.mds", dtype)).tolist() == values.view(dtype).tolist()
    with pytest.raises(TokenStreamError, match="damaged"):
        open_shard(tmp_path / "damaged.parquet", dtype=dtype)
    with pytest.raises(TokenStreamError, match="not an integer type"):
        find_stores([tmp_path / "parquet"], "float")


def test_a_field_is_for_the_records_among_all_formats(tmp_path: Path) -> None:
    written.datatrove(tmp_path)
    np.array(written.IDS, "uint16").tofile(tmp_path / "x.bin")
    with pytest.raises(TokenStreamError, match="a field can be given only for files of records"):
        find_stores([tmp_path], field="a.b")
    (tmp_path / "x.jsonl").write_text('{"a": {"b": [5, 300]}, "ids": [7]}\n')
    assert len(find_stores([tmp_path], "uint16", "a.b")) == 3
    read_ids = [np.concatenate(read(path, "uint16", "a.b")).tolist() for path in find_stores([tmp_path])]
    assert read_ids == [written.IDS, written.IDS, [5, 300]]


def read(path: Path, dtype: str | None = None, field: str | None = None) -> list[np.ndarray]:
    return [chunk.ids for chunk in open_shard(path, dtype=dtype, field=field).read()]


@pytest.mark.parametrize("name", TYPES)
def test_the_type_of_ids_is_told_by_their_bytes(name: str) -> None:
    """Common tokens have small ids, as in all vocabularies that are sorted by frequency or rules."""
    source = np.random.default_rng(0)
    for size in (300, 30_000, 260_000):
        if size >= 1 << 16 and name[-1] == "2":
            continue
        for n in (200, 5000):
            ids = (size ** source.random(n)).astype(name)
            assert likely_type(ids.tobytes() + b"\0" * 400) == name
    assert likely_type(ids[:20].tobytes()) is None
    assert likely_type(bytes(5000)) is None
