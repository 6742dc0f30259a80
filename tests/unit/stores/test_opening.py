"""Recognising stores by their content, and inconsistencies in them."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import struct
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support import written_stores as written
from tests.support.written_stores import DOCUMENTS, IDS, documents_of
from tokdfa.base.errors import TokdfaError, TokenStreamError, UnsupportedFeatureError
from tokdfa.stores import consistent, iter_ids, open_store

Spoil = Callable[[Path], None]


def cut(name: str, n: int = 1) -> Spoil:
    def spoil(folder: Path) -> None:
        path = folder / name
        path.write_bytes(path.read_bytes()[:-n])

    return spoil


def put(name: str, offset: int, data: bytes) -> Spoil:
    def spoil(folder: Path) -> None:
        content = bytearray((folder / name).read_bytes())
        content[offset : offset + len(data)] = data
        (folder / name).write_bytes(content)

    return spoil


def replaced(name: str, old: bytes, new: bytes) -> Spoil:
    def spoil(folder: Path) -> None:
        content = (folder / name).read_bytes()
        assert old in content
        (folder / name).write_bytes(content.replace(old, new))

    return spoil


def arrow_offset(row: int, offset: int) -> Spoil:
    """Change where a row of the ids ends: after the first batch's offsets 0, 3 and 3."""
    offsets = np.array([0, 3, 3], dtype="<i4").tobytes()

    def spoil(folder: Path) -> None:
        content = (folder / "x.arrow").read_bytes()
        at = content.index(offsets) + 4 * row
        (folder / "x.arrow").write_bytes(content[:at] + struct.pack("<i", offset) + content[at + 4 :])

    return spoil


def wrote(name: str, data: bytes) -> Spoil:
    return lambda folder: (folder / name).write_bytes(data) and None


def edited(change: Callable[[dict], None]) -> Spoil:
    def spoil(folder: Path) -> None:
        index = json.loads((folder / "index.json").read_text())
        change(index)
        (folder / "index.json").write_text(json.dumps(index))

    return spoil


N = len(DOCUMENTS)
MEGATRON, DS, OLMO = "x_text_document", "000_00000_shuffled.ds", "part-0-00000"
LENGTHS = 34
OFFSETS = LENGTHS + 4 * N
ENTRIES = OFFSETS + 8 * N

INCONSISTENT: list[tuple[str, Spoil, str]] = [
    ("megatron", cut(f"{MEGATRON}.bin"), rf"{MEGATRON}\.bin: the file has 23 bytes, and 24 by its index"),
    ("megatron", cut(f"{MEGATRON}.bin", 2), "the file has 22 bytes, and 24 by its index"),
    ("megatron", cut(f"{MEGATRON}.idx"), rf"{MEGATRON}\.idx: the index has 161 bytes instead of 162"),
    ("megatron", put(f"{MEGATRON}.idx", LENGTHS, b"\2"), r"sequence 1: it begins at byte 6 instead of 4"),
    ("megatron", put(f"{MEGATRON}.idx", LENGTHS + 3, b"\xff"), r"sequence 0: its length is negative"),
    ("megatron", put(f"{MEGATRON}.idx", OFFSETS + 8 * 2, b"\7"), r"sequence 2: it begins at byte 7 instead of 6"),
    ("megatron", put(f"{MEGATRON}.idx", ENTRIES, b"\1"), r"document 0: it begins with sequence 1 instead of 0"),
    ("megatron", put(f"{MEGATRON}.idx", ENTRIES + 24, b"\1"), r"document 3: it begins with sequence 1, before the doc"),
    ("megatron", put(f"{MEGATRON}.idx", ENTRIES + 48, b"\7"), r"document 6: the last document ends with sequence 7"),
    ("datatrove", cut(DS), r"shuffled\.ds: the file ends in the middle of an id, after 23 bytes"),
    ("datatrove", cut(DS, 2), r"\.metadata: it says 12 ids, and 000_00000_shuffled\.ds has 11"),
    ("datatrove", cut(f"{DS}.index"), r"\.index: it ends in the middle of entry 5"),
    ("datatrove", cut(f"{DS}.index", 16), r"\.index: the last document ends at id 9, and there are 12"),
    ("datatrove", cut(f"{DS}.loss"), r"\.loss: it has 11 bytes for 12 ids"),
    ("datatrove", put(f"{DS}.index", 8, b"\1"), r"document 1: it ends at id 1, before the document before it, at 3"),
    ("datatrove", put(f"{DS}.index", 32, b"\x7f"), r"document 4: it ends at id 127, and there are 12"),
    ("datatrove", wrote(f"{DS}.metadata", b"gpt2|3\n12\n"), "an id has 2 or 4 bytes, and here '3'"),
    ("datatrove", wrote(f"{DS}.metadata", b"gpt2|2\nmany\n"), "the second line is not the number of ids"),
    ("llmc", cut("fineweb_val_000000.bin"), "the header says 12 ids, so 1048 bytes, and the file has 1047"),
    ("llmc", put("fineweb_val_000000.bin", 4, b"\7"), "version 7 is not that of magic number 20240520"),
    ("litdata", cut("chunk-0-1.bin"), r"chunk-0-1\.bin: the last item ends at byte 52, and the file has 51"),
    ("litdata", put("chunk-0-0.bin", 8, b"\x15"), r"chunk-0-0\.bin: item 1 begins at byte 21"),
    ("litdata", put("chunk-0-0.bin", 0, b"\x2a"), r"the file is cut short: 36 bytes, and its head of 42 items takes"),
    ("litdata", lambda folder: (folder / "chunk-0-1.bin").unlink(), r"chunk 1: there is no file chunk-0-1\.bin"),
    ("litdata", edited(lambda index: index["chunks"][0].update(dim=5)), "dim is 5 in index.json, and 4 in the file"),
    ("mds", cut("shard.00001.mds"), r"shard\.00001\.mds: it has \d+ bytes, and \d+ by index\.json"),
    ("mds", lambda folder: (folder / "shard.00001.mds").unlink(), r"shard 1: there is no file shard\.00001\.mds"),
    ("hugging-face", lambda folder: (folder / "data-00001-of-00002.arrow").unlink(), "there is no file data-00001"),
    (
        "hugging-face",
        replaced("data-00001-of-00002.arrow", b"loss_mask", b"loss_task"),
        r"data-00001-of-00002\.arrow: data-00000-of-00002\.arrow has a mask, and data-00001-of-00002\.arrow has none",
    ),
    ("mds", edited(lambda index: index["shards"][1]["raw_data"].update(basename="x" * 300)), "there is no file xxx"),
]


@pytest.mark.parametrize(("name", "spoil", "message"), INCONSISTENT)
def test_what_is_inconsistent(tmp_path: Path, name: str, spoil: Spoil, message: str) -> None:
    write = (written.WITH_DOCUMENTS | written.WITHOUT_DOCUMENTS)[name][1]
    path = write(tmp_path)
    spoil(tmp_path)
    with pytest.raises(TokenStreamError, match=message):
        consistent(open_store(path))


# Stores that cannot be opened, or with a fault that is noticed only when it is reached.
BROKEN: list[tuple[str, Spoil, str]] = [
    ("megatron", cut(f"{MEGATRON}.idx", 140), "its header is missing or cut short"),
    ("megatron", put(f"{MEGATRON}.idx", 9, b"\2"), "not a version of Megatron's index: 2"),
    ("megatron", put(f"{MEGATRON}.idx", 17, b"\7"), "ids must be integers: 'float32'"),
    ("megatron", lambda folder: (folder / f"{MEGATRON}.bin").unlink(), "No such file"),
    ("olmo", wrote(f"{OLMO}.csv.gz", gzip.compress(b"0,3\n4,12\n")), "give --dtype"),
    ("litdata", wrote("index.json", b"{"), "no ids|this is a folder|the index is not JSON"),
    ("litdata", edited(lambda index: index["config"].update(encryption={})), "no error"),
    ("litdata", edited(lambda index: index["config"].update(encryption={"algorithm": "x"})), "encrypted"),
    ("litdata", edited(lambda index: index["config"].update(compression="zstd")), "packed chunks: 'zstd'"),
    ("litdata", edited(lambda index: index["config"].update(data_format=["jpeg"])), "items that are not ids"),
    ("mds", edited(lambda index: index["shards"][0].update(format="csv")), "a shard that is not MDS: 'csv'"),
    (
        "mds",
        edited(lambda index: index["shards"][0].update(column_encodings=["int", "pkl"])),
        "does not have ids: 'pkl'",
    ),
    (
        "mds",
        edited(lambda index: index["shards"][0].update(column_sizes=[{}, None])),
        "description of its columns is not",
    ),
    (
        "mds",
        edited(lambda index: index["shards"][0].update(column_sizes=[8, "?"])),
        "description of its columns is not",
    ),
    (
        "mds",
        edited(lambda index: index["shards"][0].update(column_encodings=["int", "ndarray:int;2"])),
        "does not have ids: 'ndarray:int;2'",
    ),
    ("mds-zstd", cut("shard.00001.mds.zstd", 3), "by index.json|cut short"),
    ("parquet", cut("x.parquet", 9), "damaged or cut short"),
    ("parquet", put("x.parquet", 60, bytes(40)), "damaged or cut short"),
    ("arrow-stream", cut("x.arrow", 200), r"x\.arrow, row \d+: the file is damaged or cut short"),
    ("arrow-stream", replaced("x.arrow", b"text", b"\xfftex"), r"x\.arrow, row 0: the file is damaged"),
    ("arrow-stream", replaced("x.arrow", b"loss_mask", b"input_ids"), "several columns have this name: 'input_ids'"),
    ("arrow-stream", arrow_offset(2, 1), r"x\.arrow, row 0: the file is damaged.*before it begins, or outside"),
    ("arrow-stream", arrow_offset(2, 9), r"x\.arrow, row 0: the file is damaged"),
    ("arrow-file", cut("x.feather", 20), "damaged or cut short"),
    ("jsonl", cut("x.jsonl", 5), r"x\.jsonl, line 6: the last line is not whole"),
    ("jsonl", put("x.jsonl", 0, b"?"), r"x\.jsonl, line 1: the line is not JSON"),
    ("jsonl-gz", cut("x.jsonl.gz", 9), r"x\.jsonl\.gz.*: the file is cut short or damaged"),
    ("jsonl-zstd", cut("x.jsonl.zst", 3), r"the file is cut short or damaged"),
    ("tar-npy", cut("x.tar", 10240 - 512), "the tar is cut short or damaged"),
    ("tar-gz", cut("x.tar.gz", 9), "the tar is cut short or damaged"),
    ("npz", cut("x.npz", 30), "the archive is damaged or cut short"),
    ("npz-compressed", put("x.npz", 80, b"????"), "the archive is damaged or cut short"),
    ("llmc", put("fineweb_val_000000.bin", 0, struct.pack("<i", 20240522)), "a file of evaluations"),
]


@pytest.mark.parametrize(("name", "spoil", "message"), BROKEN)
def test_what_is_broken(tmp_path: Path, name: str, spoil: Spoil, message: str) -> None:
    write = (written.WITH_DOCUMENTS | written.WITHOUT_DOCUMENTS)[name][1]
    path = write(tmp_path)
    spoil(tmp_path)
    if message == "no error":
        assert [id for ids in iter_ids(path) for id in ids.tolist()] == IDS
        return
    with pytest.raises((TokdfaError, OSError), match=message):
        list(iter_ids(path))


def test_a_tar_that_ends_between_two_members_is_cut_short(tmp_path: Path) -> None:
    path = written.tar(tmp_path)
    whole = path.read_bytes()
    refused = 0
    for size in range(512, len(whole.rstrip(b"\0")) // 512 * 512 + 512, 512):
        path.write_bytes(whole[:size])
        with pytest.raises(TokdfaError, match=r"the tar is cut short or damaged|which members"):
            list(iter_ids(path))
        refused += 1
    assert refused > 20


@pytest.mark.parametrize("name", ["bytes.parquet", "shard.idx", "any name", "x.npy"])
def test_names_do_not_matter(tmp_path: Path, name: str) -> None:
    """A store with magic bytes is recognised by them."""
    for write in (written.parquet, written.arrow, written.llmc, written.npz, written.tar, written.npy):
        folder = tmp_path / write.__name__
        folder.mkdir()
        if name.endswith(".npy") and write is not written.npy:
            continue
        path = write(folder)
        path.rename(folder / name)
        assert [*chain.from_iterable(documents_of(open_store(folder / name)))] == IDS


def test_one_file_of_a_dataset(tmp_path: Path) -> None:
    for number, write in enumerate((written.litdata, written.mds)):
        folder = tmp_path / str(number)
        folder.mkdir()
        write(folder)
        first = folder / ("chunk-0-0.bin" if write is written.litdata else "shard.00000.mds")
        whole = open_store(folder)
        assert documents_of(open_store(first)) == DOCUMENTS[: whole.members[0].n_documents]
    # An MDS shard says itself what is in it.
    (tmp_path / "1" / "index.json").unlink()
    assert documents_of(open_store(tmp_path / "1" / "shard.00001.mds")) == DOCUMENTS[4:]


def test_types_are_given_where_nothing_records_them(tmp_path: Path) -> None:
    path = written.olmo(tmp_path)
    (tmp_path / f"{OLMO}.csv.gz").unlink()
    with pytest.raises(TokenStreamError, match="if these are raw integers, as OLMo writes them, give --dtype"):
        open_store(path)
    assert documents_of(open_store(path, dtype="uint32")) == [IDS]
    store = written.datatrove(tmp_path)
    (tmp_path / f"{DS}.metadata").unlink()
    assert open_store(store).dtype == np.uint16
    (tmp_path / f"{DS}.index").unlink()
    with pytest.raises(TokenStreamError, match=r"a \.ds file without \.metadata does not record the type"):
        open_store(store)
    assert documents_of(open_store(store, dtype="uint16")) == [IDS]
    for write in (written.megatron, written.llmc, written.npy, written.parquet):
        given = write(tmp_path)
        given = given.with_suffix(".idx") if write is written.megatron else given
        with pytest.raises(TokenStreamError, match="a dtype can be given only for"):
            open_store(given, dtype="uint16")


def test_fields_are_found_or_asked_for(tmp_path: Path) -> None:
    nested = [{"a": {"b": document}, "c": [1]} for document in DOCUMENTS]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in nested))
    assert documents_of(open_store(path, field="a.b")) == DOCUMENTS
    with pytest.raises(TokenStreamError, match=r"which field has the ids .give --field; there are a, c"):
        open_store(path)
    with pytest.raises(TokenStreamError, match=r"the field is missing: 'cc' .there are a, c"):
        open_store(path, field="cc")
    with pytest.raises(TokenStreamError, match=r"line 1: the field is missing: 'a.c'"):
        list(iter_ids(path, field="a.c"))
    table = pa.table({"a": pa.array([{"b": document} for document in DOCUMENTS]), "n": pa.array(range(N))})
    pq.write_table(table, tmp_path / "x.parquet")
    assert documents_of(open_store(tmp_path / "x.parquet", field="a.b")) == DOCUMENTS
    assert documents_of(open_store(tmp_path / "x.parquet", field="n")) == [[*range(N)]]
    with pytest.raises(TokenStreamError, match="which field has the ids"):
        open_store(tmp_path / "x.parquet")
    for column, message in (([[1], None], "row 1: the ids are null"), ([[1], [None]], "one of the ids is null")):
        pq.write_table(pa.table({"input_ids": pa.array(column)}), tmp_path / "y.parquet")
        with pytest.raises(TokenStreamError, match=message):
            list(iter_ids(tmp_path / "y.parquet"))
    with pytest.raises(TokenStreamError, match="a field can be given only for files of records"):
        open_store(written.npy(tmp_path), field="a")


def test_the_package_that_unpacks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "brotli", None)
    folder = written.mds(tmp_path)
    shard = folder / "shard.00000.mds"
    shutil.move(shard, folder / "shard.00000.mds.br")
    with pytest.raises(UnsupportedFeatureError, match=r"the package brotli is needed .*pip install brotli"):
        open_store(folder / "shard.00000.mds.br")


def test_a_store_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    path = written.megatron(tmp_path)
    chunks = open_store(path).iter_chunks(size=4)
    next(chunks)
    cut(path.name, 10)(tmp_path)
    with pytest.raises(TokenStreamError, match=r"\.bin, token 7: the file was cut short while it was read"):
        list(chunks)


def test_a_mask_of_another_type(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"input_ids": [[1]], "loss_mask": ["x"]}), tmp_path / "x.parquet")
    with pytest.raises(TokenStreamError, match="the mask must have lists of integers or booleans: 'string'"):
        open_store(tmp_path / "x.parquet")
    parquet.write_table(pa.table({"input_ids": [[1]], "loss_mask": [[True]]}), tmp_path / "x.parquet")
    assert open_store(tmp_path / "x.parquet").has_mask


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"a": np.arange(3), "b": np.arange(4)},
            r"x\.npz: it is not clear which field has the ids \(give --field; there are a, b\)",
        ),
        ({"a": np.arange(3.0)}, r"x\.npz, array a: ids must be integers: 'float64'"),
        (
            {"a": np.arange(4).reshape(2, 2)},
            r"x\.npz, array a: ids must be in one dimension: \(2, 2\) \(flatten the array\)",
        ),
    ],
)
def test_an_archive_that_is_not_damaged_is_not_called_so(
    tmp_path: Path, arrays: dict[str, np.ndarray], message: str
) -> None:
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(TokenStreamError, match=rf"^{re.escape(str(tmp_path))}/{message}$"):
        open_store(tmp_path / "x.npz")
