"""Variants that a store's writer can produce: each is read exactly, or refused by a message that names it."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support import written_stores as written
from tests.support.written_stores import DOCUMENTS, documents_of
from tokdfa.base.errors import TokdfaError
from tokdfa.stores import consistent, open_store

SMALL = [[5, 3], [], [1, 2, 7]]
Want = list[list[int]] | str


def assert_documents(path: Path, want: Want, **options: Any) -> None:
    """Check that a store has these documents, or that reading it fails with this message."""
    if isinstance(want, str):
        with pytest.raises(TokdfaError, match=want):
            documents_of(consistent(open_store(path, **options)))
    else:
        store = consistent(open_store(path, **options))
        assert documents_of(store) == want
        assert {chunk.ids.dtype.kind for chunk in store.iter_chunks()} <= {"i", "u"}


def edit_index(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    index = json.loads((folder / "index.json").read_text())
    change(index)
    (folder / "index.json").write_text(json.dumps(index))


LOADERS: list[tuple[str, Callable[[dict[str, Any]], object], Want]] = [
    ("tokens", lambda index: None, DOCUMENTS),
    ("pytree", lambda index: index["config"].update(item_loader="PyTreeLoader"), "another loader: 'PyTreeLoader'"),
    ("own", lambda index: index["config"].update(item_loader="MyTokens"), "chunks for another loader: 'MyTokens'"),
    ("null", lambda index: index["config"].update(item_loader=None), "chunks for another loader: None"),
    ("old", lambda index: index["config"].pop("item_loader"), DOCUMENTS),
    (
        "old without counts",
        lambda index: (index["config"].pop("item_loader"), [chunk.update(dim=None) for chunk in index["chunks"]]),
        "chunks for another loader: None",
    ),
    # A chunk that begins with an empty document has no count.
    ("empty first", lambda index: index["chunks"][0].update(dim=None), DOCUMENTS),
    ("two leaves", lambda index: index["config"]["data_format"].append("no_header_tensor:16"), "items that are not"),
    ("tensors of any shape", lambda index: index["config"].update(data_format=["tensor"]), "items that are not ids"),
    ("floats", lambda index: index["config"].update(data_format=["no_header_numpy:9"]), "items that are not ids"),
]


@pytest.mark.parametrize(("name", "change", "want"), LOADERS)
def test_litdata_by_the_loader_that_wrote_it(
    tmp_path: Path, name: str, change: Callable[[dict[str, Any]], object], want: Want
) -> None:
    written.litdata(tmp_path)
    edit_index(tmp_path, change)
    assert_documents(tmp_path, want)
    assert_documents(tmp_path / "chunk-0-0.bin", want if isinstance(want, str) else want[:3])


def test_litdata_with_the_size_of_each_item_before_it(tmp_path: Path) -> None:
    items = [len(ids).to_bytes(4, "little") + np.array(ids, "<i4").tobytes() for ids in SMALL]
    offsets = np.cumsum([4 * (len(items) + 2), *map(len, items)]).astype("<u4")
    data = len(items).to_bytes(4, "little") + offsets.tobytes() + b"".join(items)
    (tmp_path / "chunk-0-0.bin").write_bytes(data)
    chunk = {"chunk_bytes": len(data), "chunk_size": len(items), "dim": None, "filename": "chunk-0-0.bin"}
    config = {"compression": None, "data_format": ["no_header_numpy:2"], "item_loader": "PyTreeLoader"}
    (tmp_path / "index.json").write_text(json.dumps({"chunks": [chunk], "config": config}))
    assert_documents(tmp_path, "chunks for another loader: 'PyTreeLoader'")
    assert_documents(tmp_path / "chunk-0-0.bin", "chunks for another loader: 'PyTreeLoader'")


def test_mds_whose_index_is_merged(tmp_path: Path) -> None:
    written.mds(tmp_path)
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        shutil.move(tmp_path / f"shard.{number:05}.mds", tmp_path / str(number) / "shard.00000.mds")

    def name_folders(index: dict[str, Any]) -> None:
        for number, shard in enumerate(index["shards"]):
            shard["raw_data"]["basename"] = f"{number}/shard.00000.mds"

    edit_index(tmp_path, name_folders)
    assert_documents(tmp_path, DOCUMENTS)
    assert_documents(tmp_path / "1" / "shard.00000.mds", DOCUMENTS[4:])
    edit_index(tmp_path, lambda index: index["shards"][0]["raw_data"].update(basename="../x.mds"))
    assert_documents(tmp_path, r"there is no file x\.mds")


def test_mds_of_another_version(tmp_path: Path) -> None:
    written.mds(tmp_path)
    edit_index(tmp_path, lambda index: index["shards"][1].update(version=3))
    assert_documents(tmp_path, "not a known version of MDS: 3")


@pytest.mark.parametrize("encoding", ["ndarray:int32", "ndarray"])
def test_mds_columns_with_a_type_take_no_other(tmp_path: Path, encoding: str) -> None:
    written.mds(tmp_path, encoding)
    assert_documents(tmp_path, "the column records the type of its ids", dtype="uint16")


def test_mds_bytes_that_are_not_int64_are_not_taken_for_it(tmp_path: Path) -> None:
    written.mds(tmp_path, "bytes")
    assert_documents(tmp_path, DOCUMENTS)
    for number in range(2):
        path = tmp_path / f"shard.{number:05}.mds"
        # The 8 bytes of an id become two ids of 4 bytes.
        path.write_bytes(path.read_bytes().replace((300).to_bytes(8, "little"), b"\5\0\0\0\7\0\0\0"))
    assert_documents(tmp_path, "the bytes are not ids of int64.*give --dtype")
    spelled = [[id for one in ids for id in ((5, 7) if one == 300 else (one, 0))] for ids in DOCUMENTS]
    assert_documents(tmp_path, spelled, dtype="int32")


def test_mds_samples_of_several_types(tmp_path: Path) -> None:
    documents = [DOCUMENTS[0], [], [5, 0], *DOCUMENTS[3:]]
    written.mds(tmp_path, "ndarray", documents=documents)
    path = tmp_path / "shard.00000.mds"
    # The two ids of sample 2 of int32 become one of uint64.
    path.write_bytes(path.read_bytes().replace(b"!\4\2\5\0\0\0\0\0\0\0", b"@\4\1\5\0\0\0\0\0\0\0"))
    assert_documents(tmp_path, [[5] if ids == [5, 0] else ids for ids in documents])


@pytest.mark.parametrize(("modes", "want"), [(bytes(6), DOCUMENTS), (b"\0\0\0\0\1\0", "sequence 4.*mode 1")])
def test_megatron_with_modes(tmp_path: Path, modes: bytes, want: Want) -> None:
    path = written.megatron(tmp_path)
    with path.with_suffix(".idx").open("ab") as stream:
        stream.write(modes)
    assert_documents(path, want)


@pytest.mark.parametrize(
    ("code", "dtype", "want"),
    [
        (1, "<u1", None),
        (2, "<i1", None),
        (3, "<i2", None),
        (4, "<i4", DOCUMENTS),
        (5, "<i8", DOCUMENTS),
        (6, "<f8", "ids must be integers: 'float64'"),
        (7, "<f4", "ids must be integers: 'float32'"),
        (8, "<u2", DOCUMENTS),
        (9, "<u4", "ids must be integers: 'code 9'"),
    ],
)
def test_megatron_types(tmp_path: Path, code: int, dtype: str, want: Want | None) -> None:
    path = written.megatron(tmp_path, dtype, code)
    assert_documents(path, [np.array(ids).astype(dtype).tolist() for ids in DOCUMENTS] if want is None else want)


def test_hugging_face_with_a_table_of_indices(tmp_path: Path) -> None:
    written.hugging_face(tmp_path)
    state = json.loads((tmp_path / "state.json").read_text())
    (tmp_path / "state.json").write_text(json.dumps({**state, "_indices_files": [{"filename": "indices.arrow"}]}))
    assert_documents(tmp_path, "rows in the order of a table of indices")


COLUMNS: dict[str, tuple[Any, Want]] = {
    **{
        f"{of(kind)}": (pa.array(SMALL, of(kind)), SMALL)
        for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint16(), pa.uint32(), pa.uint64())
        for of in (pa.list_, pa.large_list)
    },
    "not nullable": (pa.array(SMALL, pa.list_(pa.field("item", pa.int32(), nullable=False))), SMALL),
    "fixed": (pa.array([[1, 2], [3, 4]], pa.list_(pa.int32(), 2)), [[1, 2], [3, 4]]),
    "fixed, sliced": (pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int32(), 2)).slice(1), [[3, 4], [5, 6]]),
    "sliced": (pa.array([[9], *SMALL, [9]], pa.list_(pa.int32())).slice(1, 3), SMALL),
    "values outside of rows": (pa.ListArray.from_arrays([2, 4, 5], [9, 9, 1, 2, 3, 9]), [[1, 2], [3]]),
    "nulls outside of rows": (pa.ListArray.from_arrays([2, 4, 5], [None, 9, 1, 2, 3, None]), [[1, 2], [3]]),
    "a null id": (pa.array([[1, None], [2]], pa.list_(pa.int32())), "one of the ids is null"),
    "a null row": (pa.array([[1], None], pa.list_(pa.int32())), "row 1: the ids are null"),
    "a null row of fixed": (pa.array([[1, 2], None], pa.list_(pa.int32(), 2)), "row 1: the ids are null"),
    "list view": (pa.array(SMALL, pa.list_view(pa.int32())), "must have integers or lists"),
    "dictionary": (pa.array([5, 7, 5]).dictionary_encode(), "must have integers or lists"),
    "lists of dictionary": (
        pa.ListArray.from_arrays([0, 2, 3], pa.array([5, 7, 5]).dictionary_encode()),
        "must have integers or lists",
    ),
    "nested": (pa.array([[[1]], [[2]]]), "must have integers or lists"),
    "floats": (pa.array([[1.0]]), "must have integers or lists"),
    "truth values": (pa.array([[True]]), "must have integers or lists"),
    "dates": (pa.array([[1]], pa.list_(pa.date32())), "must have integers or lists"),
    "bytes": (pa.array([b"\1\0"]), "must have integers or lists"),
}


# Older releases write these into files that they refuse to read, or do not write them.
FIRST_PYARROW = {"values outside of rows": 21, "nulls outside of rows": 21, "list view": 21, "a null row of fixed": 26}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_any_type_are_read_or_refused(tmp_path: Path, name: str) -> None:
    if int(pa.__version__.partition(".")[0]) < FIRST_PYARROW.get(name, 0):
        pytest.skip(f"pyarrow before {FIRST_PYARROW[name]} does not write such columns")
    column, want = COLUMNS[name]
    table = pa.table({"input_ids": column})
    # Parquet has no dictionaries of integers, and gives plain ones back.
    if "dictionary" not in name:
        pq.write_table(table, tmp_path / "x.parquet", row_group_size=2)
        assert_documents(tmp_path / "x.parquet", want)
    for opened, options in ((pa.ipc.new_stream, None), (pa.ipc.new_file, pa.ipc.IpcWriteOptions(compression="lz4"))):
        with opened(str(tmp_path / "x.arrow"), table.schema, options=options) as sink:
            sink.write_table(table, max_chunksize=2)
        assert_documents(tmp_path / "x.arrow", want)


@pytest.mark.parametrize("is_struct_first", [False, True])
def test_a_column_whose_name_has_a_dot_is_not_a_field_of_a_structure(tmp_path: Path, is_struct_first: bool) -> None:
    columns = {"a.ids": pa.array([[1], [2]]), "a": pa.array([{"ids": [3]}, {"ids": [4]}])}
    table = pa.table(dict(reversed(columns.items())) if is_struct_first else columns)
    pq.write_table(table, tmp_path / "x.parquet")
    with pa.ipc.new_stream(str(tmp_path / "x.arrow"), table.schema) as sink:
        sink.write_table(table)
    for name in ("x.parquet", "x.arrow"):
        assert_documents(tmp_path / name, [[1], [2]], field="a.ids")


@pytest.mark.parametrize("flag", [2, -100, None])
def test_a_mask_of_other_values_than_0_and_1(tmp_path: Path, flag: int | None) -> None:
    rows = [{"input_ids": [1, 2], "loss_mask": [1, 0]}, {"input_ids": [3], "loss_mask": [flag]}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name in ("x.parquet", "x.jsonl"):
        assert_documents(tmp_path / name, "the mask must have a 0 or 1 for each id")


def tar_of(path: Path, members: dict[str, Any]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            data = io.BytesIO()
            np.save(data, content) if name.endswith(".npy") else data.write(json.dumps(content).encode())
            member = tarfile.TarInfo(name)
            member.size = len(data.getvalue())
            archive.addfile(member, io.BytesIO(data.getvalue()))
    return path


LARGE = 2**63
MEMBERS: list[tuple[str, dict[str, Any], str | None, Want]] = [
    ("types", {"0.npy": np.array([1], "<u8"), "1.npy": np.array([2], "<i4"), "2.npy": np.array([3], ">u2")},
     None, [[1], [2], [3]]),
    ("two arrays", {"0.a.npy": np.array([1]), "0.b.npy": np.array([2])}, None, "not clear which member of a sample"),
    ("a field", {"0.a.npy": np.array([1]), "0.b.npy": np.array([2])}, "a.npy", [[1]]),
    ("a mask", {"0.input_ids.npy": np.array([1]), "0.mask.npy": np.array([0])}, None, [[1]]),
    ("two JSONs", {"0.a.json": [1], "0.b.json": [2]}, None, "not clear which member of a sample"),
    ("folders", {"a/0.npy": np.array([1]), "b/0.npy": np.array([2])}, None, [[1], [2]]),
    ("64 bits", {"0.json": [1], "1.json": [LARGE]}, None, r"member 1 \(1\.json\), token 0: an id is too large"),
    ("two dimensions", {"0.npy": np.array([[1, 2]])}, None, "one dimension"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "members", "field", "want"), MEMBERS)
def test_members_of_tars(tmp_path: Path, name: str, members: dict[str, Any], field: str | None, want: Want) -> None:
    assert_documents(tar_of(tmp_path / "x.tar", members), want, field=field)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[1.0]", "ids must be integers: 'float64'"),
        ('["1"]', "ids must be integers"),
        ("[true, 1]", "ids must be integers: True"),
        ("[null]", "integers of at most 64 bits: None"),
        ("[[1]]", "in one dimension"),
        ("[NaN]", "ids must be integers"),
        ("null", "a list of integers"),
        (f"[{LARGE}]", f"line 2, token 0: an id is too large: {LARGE}"),
        (f"[{2 * LARGE}]", "integers of at most 64 bits"),
    ],
)
def test_lines_with_other_values_than_ids(tmp_path: Path, value: str, message: str) -> None:
    (tmp_path / "x.jsonl").write_text(f'{{"input_ids": [7]}}\n{{"input_ids": {value}}}\n')
    assert_documents(tmp_path / "x.jsonl", message)


ARRAYS: list[tuple[Any, Want]] = [
    *((np.array([5, 3, 7]).astype(dtype), [[5, 3, 7]]) for dtype in ("<u2", ">u2", "<i4", ">i4", "<u8", ">u8", "u1")),
    (np.arange(8)[::2], [[0, 2, 4, 6]]),
    (np.arange(3)[::-1], [[2, 1, 0]]),
    (np.asfortranarray([[1, 2], [3, 4]]), "one dimension"),
    (np.array([[1, 2]]), "one dimension"),
    (np.array(5), "one dimension"),
    (np.array([(1, 2)], dtype=[("a", "<i4"), ("b", "<i4")]), "ids must be integers"),
    (np.array([1.0]), "ids must be integers: 'float64'"),
    (np.array([True]), "ids must be integers: 'bool'"),
    (np.array(["1"]), "ids must be integers"),
    (np.array([1], "M8[s]"), "ids must be integers"),
    (np.array([[1], [2, 3]], dtype=object), "ids must be integers: 'object'"),
]


@pytest.mark.parametrize(("array", "want"), ARRAYS)
def test_arrays_of_any_type_are_read_or_refused(tmp_path: Path, array: Any, want: Want) -> None:
    np.save(tmp_path / "x.npy", array)
    assert_documents(tmp_path / "x.npy", want)
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "x.npz", ids=array, other=np.arange(9.0))
        assert_documents(tmp_path / "x.npz", want)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions_of_npy(tmp_path: Path, version: tuple[int, int]) -> None:
    with (tmp_path / "x.npy").open("wb") as stream:
        np.lib.format.write_array(stream, np.array([5, 3, 7]), version)
    assert_documents(tmp_path / "x.npy", [[5, 3, 7]])
