"""The files of ids under paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import written_stores as written
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.opening import find_stores


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
