"""Token stores written by their layouts, each with the same documents."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import struct
import tarfile
from collections.abc import Callable
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from tokdfa.stores.store import Store

DOCUMENTS = [[5, 300, 7], [], [1], [2, 2, 2, 40000, 9], [256, 257, 8], []]
IDS = [id for document in DOCUMENTS for id in document]
ENDS = [*accumulate(map(len, DOCUMENTS))]
STARTS = [0, *ENDS[:-1]]


def documents_of(store: Store, begin: int = 0, end: int | None = None, *, size: int | None = None) -> list[list[int]]:
    """Return the documents of a store, read chunk by chunk; one if it does not say where they begin."""
    documents: list[list[int]] = []
    for chunk in store.iter_chunks(begin, end, size=size):
        ids = chunk.ids.tolist()
        if chunk.starts is None:
            documents = documents or [[]]
            documents[-1] += ids
            continue
        starts = chunk.starts.tolist()
        assert len(chunk.numbers) == len(starts)
        first = starts[0] if starts else len(ids)
        if first:
            documents[-1] += ids[:first]
        documents += [ids[low:high] for low, high in pairwise([*starts, len(ids)])]
    return documents


def write_jsonl(path: Path, documents: list[list[int]]) -> Path:
    """Write documents as lines of JSON."""
    path.write_text("".join(json.dumps({"input_ids": ids}) + "\n" for ids in documents))
    return path


def write_datatrove(path: Path, documents: list[list[int]]) -> Path:
    """Write documents as datatrove does, without a mask."""
    np.array([id for ids in documents for id in ids], "<u4").tofile(path)
    np.cumsum([*map(len, documents)], dtype="<u8").tofile(f"{path}.index")
    return path


def array(dtype: str = "<u2") -> bytes:
    return np.array(IDS).astype(dtype).tobytes()


def megatron(folder: Path, dtype: str = "<u2", code: int = 8) -> Path:
    size = np.dtype(dtype).itemsize
    (folder / "x_text_document.bin").write_bytes(array(dtype))
    n = len(DOCUMENTS)
    index = struct.pack("<9sQBQQ", b"MMIDIDX\0\0", 1, code, n, n + 1)
    index += np.array([*map(len, DOCUMENTS)], "<i4").tobytes()
    index += (np.array(STARTS, "<i8") * size).tobytes() + np.arange(n + 1, dtype="<i8").tobytes()
    (folder / "x_text_document.idx").write_bytes(index)
    return folder / "x_text_document.bin"


def datatrove(folder: Path, size: int = 2) -> Path:
    path = folder / "000_00000_shuffled.ds"
    path.write_bytes(array(f"<u{size}"))
    (folder / f"{path.name}.index").write_bytes(np.array(ENDS, "<u8").tobytes())
    (folder / f"{path.name}.loss").write_bytes(bytes(id % 2 for id in IDS))
    (folder / f"{path.name}.metadata").write_text(f"gpt2|{size}\n{len(IDS)}\n{len(IDS)} T")
    return path


def olmo(folder: Path, dtype: str = "<u4") -> Path:
    path = folder / "part-0-00000.npy"
    path.write_bytes(array(dtype))
    lines = "".join(f"{a},{b},id-{a},src,{a}\n" for a, b in zip(STARTS, ENDS, strict=True))
    with gzip.open(folder / "part-0-00000.csv.gz", "wb") as stream:
        stream.write(lines.encode())
    return path


def llmc(folder: Path, magic: int = 20240520) -> Path:
    header = np.zeros(256, "<i4")
    header[:3] = magic, {20240520: 1, 20240801: 7}.get(magic, 1), len(IDS)
    path = folder / "fineweb_val_000000.bin"
    path.write_bytes(header.tobytes() + array("<u4" if magic == 20240801 else "<u2"))
    return path


def litdata(folder: Path, kind: str = "no_header_tensor:16", dtype: str = "<i4") -> Path:
    chunks = []
    for number, part in enumerate((DOCUMENTS[:3], DOCUMENTS[3:])):
        items = [np.array(document, dtype).tobytes() for document in part]
        begin = 4 * (len(items) + 2)
        offsets = [begin, *accumulate(map(len, items), initial=begin)][1:]
        data = struct.pack(f"<I{len(offsets)}I", len(items), *offsets) + b"".join(items)
        name = f"chunk-0-{number}.bin"
        (folder / name).write_bytes(data)
        size, dim = len(data), sum(map(len, part))
        chunks.append({"chunk_bytes": size, "chunk_size": len(items), "filename": name, "dim": dim})
    config = {"compression": None, "chunk_size": 3, "chunk_bytes": None, "data_format": [kind], "encryption": None}
    index = {"chunks": chunks, "config": {**config, "data_spec": "", "item_loader": "TokensLoader"}}
    (folder / "index.json").write_text(json.dumps(index))
    return folder


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


def mds(
    folder: Path,
    encoding: str = "ndarray:int32",
    compression: str | None = None,
    documents: list[list[int]] = DOCUMENTS,
) -> Path:
    columns = {"id": "int", "tokens": encoding}
    shards = []
    for number, part in enumerate((documents[:4], documents[4:])):
        samples = []
        for document in part:
            values = np.array(document, "<i8" if encoding == "bytes" else "<i4").tobytes()
            if encoding != "bytes":
                values = (b"!" if encoding == "ndarray" else b"") + bytes([1 << 2 | 0, len(document)]) + values
            samples.append(struct.pack("<Iq", len(values), 7) + values)
        described = {
            "column_encodings": [*columns.values()],
            "column_names": [*columns],
            "column_sizes": [8, None],
            "compression": compression,
            "format": "mds",
            "hashes": [],
            "size_limit": 1 << 26,
        }
        config = json.dumps(described, sort_keys=True).encode()
        begin = 4 * (len(samples) + 2) + len(config)
        offsets = [*accumulate(map(len, samples), initial=begin)]
        data = struct.pack(f"<I{len(offsets)}I", len(samples), *offsets) + config + b"".join(samples)
        name = f"shard.{number:05}.mds"
        raw = {"basename": name, "bytes": len(data), "hashes": {}}
        packed = None
        if compression is None:
            (folder / name).write_bytes(data)
        else:
            name += f".{compression}"
            (folder / name).write_bytes(PACK[compression](data))
            packed = {"basename": name, "bytes": (folder / name).stat().st_size, "hashes": {}}
        shards.append({**described, "samples": len(part), "raw_data": raw, "zip_data": packed, "version": 2})
    (folder / "index.json").write_text(json.dumps({"version": 2, "shards": shards}))
    return folder


def table(name: str = "input_ids", kind: Any = None) -> pa.Table:
    ids = pa.array(DOCUMENTS, type=pa.list_(pa.int32()) if kind is None else kind)
    mask = pa.array([[id % 2 for id in document] for document in DOCUMENTS], type=pa.list_(pa.int8()))
    return pa.table({"text": pa.array(["x"] * len(DOCUMENTS)), name: ids, "loss_mask": mask})


def parquet(folder: Path, compression: str = "zstd", kind: Any = None) -> Path:
    pq.write_table(table(kind=kind), folder / "x.parquet", compression=compression, row_group_size=2)
    return folder / "x.parquet"


def arrow(folder: Path, is_file: bool = False, kind: Any = None) -> Path:
    path = folder / ("x.feather" if is_file else "x.arrow")
    written = table(kind=kind)
    with (pa.ipc.new_file if is_file else pa.ipc.new_stream)(str(path), written.schema) as sink:
        sink.write_table(written, max_chunksize=2)
    return path


def hugging_face(folder: Path) -> Path:
    for number, part in enumerate((table().slice(0, 4), table().slice(4))):
        with pa.ipc.new_stream(str(folder / f"data-{number:05}-of-00002.arrow"), part.schema) as sink:
            sink.write_table(part)
    files = [{"filename": f"data-{number:05}-of-00002.arrow"} for number in range(2)]
    (folder / "state.json").write_text(json.dumps({"_data_files": files, "_split": "train"}))
    (folder / "dataset_info.json").write_text("{}")
    return folder


def jsonl(folder: Path, compression: str = "") -> Path:
    flags = [[id % 2 for id in document] for document in DOCUMENTS]
    rows = [{"text": "x", "input_ids": ids, "loss_mask": mask} for ids, mask in zip(DOCUMENTS, flags, strict=True)]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path = folder / f"x.jsonl{ {'': '', 'gz': '.gz', 'zstd': '.zst', 'bz2': '.bz2'}[compression] }"
    path.write_bytes(PACK[compression](data) if compression else data)
    return path


def tar(folder: Path, kind: str = "npy", compression: str = "") -> Path:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for number, document in enumerate(DOCUMENTS):
            content = io.BytesIO()
            if kind == "npy":
                np.save(content, np.array(document, "<u2"))
            else:
                content.write(json.dumps({"input_ids": document}).encode())
            for name, data in ((f"{number:06}.txt", b"text"), (f"{number:06}.{kind}", content.getvalue())):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    path = folder / f"x.tar{'.gz' if compression else ''}"
    path.write_bytes(PACK[compression](stream.getvalue()) if compression else stream.getvalue())
    return path


def npz(folder: Path, compressed: bool = False) -> Path:
    (np.savez_compressed if compressed else np.savez)(folder / "x.npz", input_ids=np.array(IDS), other=np.arange(3.0))
    return folder / "x.npz"


def npy(folder: Path) -> Path:
    np.save(folder / "x.npy", np.array(IDS, "<u2"))
    return folder / "x.npy"


def text(folder: Path) -> Path:
    (folder / "x.txt").write_text(" ".join(map(str, IDS)))
    return folder / "x.txt"


WITH_DOCUMENTS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "megatron": ("Megatron", megatron),
    "megatron-i32": ("Megatron", lambda folder: megatron(folder, "<i4", 4)),
    "megatron-by-index": ("Megatron", lambda folder: megatron(folder).with_suffix(".idx")),
    "megatron-by-prefix": ("Megatron", lambda folder: megatron(folder).with_suffix("")),
    "datatrove": ("datatrove", datatrove),
    "datatrove-u32": ("datatrove", lambda folder: datatrove(folder, 4)),
    "olmo": ("OLMo", olmo),
    "olmo-u16": ("OLMo", lambda folder: olmo(folder, "<u2")),
    "litdata": ("litdata", litdata),
    "litdata-u16": ("litdata", lambda folder: litdata(folder, "no_header_numpy:5", "<u2")),
    "mds": ("MDS", mds),
    "mds-bytes": ("MDS", lambda folder: mds(folder, "bytes")),
    "mds-ndarray": ("MDS", lambda folder: mds(folder, "ndarray")),
    "mds-zstd": ("MDS", lambda folder: mds(folder, compression="zstd")),
    "mds-gz": ("MDS", lambda folder: mds(folder, compression="gz")),
    "mds-bz2": ("MDS", lambda folder: mds(folder, compression="bz2")),
    "parquet": ("Parquet", parquet),
    "parquet-large": ("Parquet", lambda folder: parquet(folder, "snappy", pa.large_list(pa.int64()))),
    "arrow-stream": ("Arrow stream", arrow),
    "arrow-file": ("Arrow file", lambda folder: arrow(folder, True, pa.large_list(pa.uint16()))),
    "hugging-face": ("Hugging Face dataset", hugging_face),
    "jsonl": ("JSONL", jsonl),
    "jsonl-gz": ("JSONL (gz)", lambda folder: jsonl(folder, "gz")),
    "jsonl-zstd": ("JSONL (zstd)", lambda folder: jsonl(folder, "zstd")),
    "tar-npy": ("WebDataset", tar),
    "tar-json": ("WebDataset", lambda folder: tar(folder, "json")),
    "tar-gz": ("WebDataset (gz)", lambda folder: tar(folder, compression="gz")),
}

WITHOUT_DOCUMENTS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "llmc": ("llm.c", llmc),
    "llmc-u32": ("llm.c", lambda folder: llmc(folder, 20240801)),
    "npz": (".npz", npz),
    "npz-compressed": (".npz", lambda folder: npz(folder, True)),
    "npy": (".npy", npy),
    "text": ("text", text),
}
