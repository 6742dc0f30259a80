"""Shards that are wrong, or go wrong while they are read: they are named with the place, and the others are judged."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tokdfa
from tests.support import commands
from tests.support import written_stores as written
from tokdfa.jobs.shards.report import Report
from tokdfa.jobs.shards.run import check_shards

TEXT = "a single man in possession of a good fortune"


def good_ids(n: int) -> np.ndarray:
    ids = tokdfa.default_tokenizer().encode(TEXT + "\n")
    return np.tile(ids, n // len(ids) + 1)[:n].astype(np.uint16)


def good(folder: Path, name: str = "good.npy", n: int = 50) -> Path:
    np.save(folder / name, good_ids(n))
    return folder / name


def lying_megatron(folder: Path) -> tuple[Path, str]:
    path = written.megatron(folder)
    index = path.with_suffix(".idx")
    data = bytearray(index.read_bytes())
    n = struct.unpack_from("<Q", data, 18)[0]
    # The offset of the fourth sequence.
    struct.pack_into("<q", data, 34 + 4 * n + 8 * 3, 10_000)
    index.write_bytes(data)
    return path, f"{index}, sequence 3"


def lying_datatrove(folder: Path) -> tuple[Path, str]:
    path = written.datatrove(folder)
    np.array([3, 2, 5, 9, 12, 12], "<u8").tofile(f"{path}.index")
    return path, f"{path}.index"


def ending_late(folder: Path) -> tuple[Path, str]:
    path = written.datatrove(folder)
    np.array([3, 3, 4, 9, 12, 99], "<u8").tofile(f"{path}.index")
    return path, str(path)


def cut(write: Callable[[Path], Path], left: int = -7) -> Callable[[Path], tuple[Path, str]]:
    def cut_short(folder: Path) -> tuple[Path, str]:
        path = write(folder)
        path.write_bytes(path.read_bytes()[:left])
        return path, str(path)

    return cut_short


def floats(folder: Path) -> tuple[Path, str]:
    np.save(folder / "bad.npy", np.array([1.0]))
    return folder / "bad.npy", str(folder / "bad.npy")


def mixed(folder: Path) -> tuple[Path, str]:
    rows = [{"input_ids": [64]}, {"input_ids": ["64"]}, {"input_ids": [64]}]
    (folder / "bad.jsonl").write_text("".join(map("{}\n".format, map(json.dumps, rows))))
    return folder / "bad.jsonl", f"{folder / 'bad.jsonl'}, line 2"


def float_column(folder: Path) -> tuple[Path, str]:
    pq.write_table(pa.table({"input_ids": [[1.5]]}), folder / "bad.parquet")
    return folder / "bad.parquet", str(folder / "bad.parquet")


BAD: dict[str, Callable[[Path], tuple[Path, str]]] = {
    "an offset that lies": lying_megatron,
    "ends that descend": lying_datatrove,
    "an end after the last id": ending_late,
    "a .npy file cut short": cut(good),
    "a Megatron file cut short": cut(written.megatron),
    "a Parquet file cut short": cut(written.parquet),
    "an Arrow file cut short": cut(written.arrow),
    "lines cut short": cut(written.jsonl),
    # The end of an archive is filled up with zeros.
    "a tar cut short": cut(written.tar, 1300),
    "no integers": floats,
    "mixed types in lines": mixed,
    "a column of no integers": float_column,
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("what", BAD)
def test_it_is_named_and_the_others_are_judged(tmp_path: Path, what: str, threads: int) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    path, where = BAD[what](folder)
    others = [good(tmp_path, "a.npy", 30), good(tmp_path, "z.npy", 20)]
    report = check_shards(tokdfa.default_tokenizer(), [others[0], path, others[1]], threads=threads)
    (broken,) = report.broken
    assert broken.file == str(path)
    assert broken.where.startswith(where)
    assert broken.what
    assert report.shards == 3
    assert not report
    # If a file ends in the middle, the ids before are counted.
    assert 50 <= report.ids <= 50 + 50


def on_first(act: Callable[[], object]) -> Callable[[int], object]:
    """Return a function that acts when it is called for the first time."""
    calls: list[int] = []

    def called(n: int) -> None:
        calls.append(n)
        if len(calls) == 1:
            act()

    return called


def rows_of(ids: np.ndarray) -> list[list[int]]:
    return [row.tolist() for row in np.array_split(ids, 400)]


def as_parquet(path: Path, ids: np.ndarray) -> Path:
    pq.write_table(
        pa.table({"input_ids": rows_of(ids)}), path, row_group_size=20, compression="none", use_dictionary=False
    )
    return path


def as_lines(path: Path, ids: np.ndarray) -> Path:
    path.write_text("".join(json.dumps({"input_ids": row}) + "\n" for row in rows_of(ids)))
    return path


@pytest.mark.parametrize("name", ["x.bin", "x.npy", "x.ds", "x.parquet", "x.jsonl"])
def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path, name: str) -> None:
    n = 1 << 20
    ids = good_ids(n)
    path = tmp_path / name
    dtype = None
    if name == "x.parquet":
        as_parquet(path, ids)
    elif name == "x.jsonl":
        as_lines(path, ids)
    elif name == "x.npy":
        np.save(path, ids)
    else:
        ids.tofile(path)
        dtype = "uint16" if name == "x.bin" else None
    if name == "x.ds":
        np.array([n], "<u8").tofile(f"{path}.index")
    size = path.stat().st_size
    report = tokdfa.check_shard(
        tokdfa.default_tokenizer(), path, dtype=dtype, advance=on_first(lambda: os.truncate(path, size // 2))
    )
    (broken,) = report.broken
    assert broken.where.startswith(f"{path}, ")
    # Only what was there when it was read.
    assert 0 < report.ids < n * 0.6
    if name in ("x.bin", "x.npy", "x.ds"):
        place = int(broken.where.rpartition(" ")[2])
        assert report.ids <= place
        assert place == pytest.approx(n // 2, abs=64)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["x.npy", "x.parquet", "x.jsonl"])
def test_a_file_that_changes_in_place_is_named(tmp_path: Path, name: str, threads: int) -> None:
    """Its size is the same, so that all its ids can be read; old and new ones are mixed."""
    n, path = 1 << 16, tmp_path / name
    write = {"x.npy": np.save, "x.parquet": as_parquet, "x.jsonl": as_lines}[name]
    write(path, good_ids(n))
    others = [good(tmp_path, "a.npy", 30), good(tmp_path, "z.npy", 20)]
    change = on_first(lambda: os.utime(path, ns=(1, 1)))
    judged: list[str] = []

    def advance(n: int) -> None:
        if n > 30:
            change(n)

    report = check_shards(
        tokdfa.default_tokenizer(),
        [others[0], path, others[1]],
        threads=threads,
        advance=advance,
        finished=lambda path, _: judged.append(path),
    )
    assert [(each.where, each.what) for each in report.broken] == [(str(path), "the file changed while it was read")]
    assert report.ids == n + 50
    assert len(judged) == 3


def test_a_broken_shard_is_read_again_by_the_next_run(tmp_path: Path) -> None:
    paths = [good(tmp_path, f"{number}.npy") for number in range(3)]
    partial = tmp_path / "report.json.partial"
    tokenizer = tokdfa.default_tokenizer()

    def stop(path: str, report: Report) -> None:
        if path == str(paths[1]):
            raise KeyboardInterrupt

    data, times = paths[0].read_bytes(), paths[0].stat()
    paths[0].write_bytes(b"not numpy".ljust(len(data)))
    os.utime(paths[0], ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(KeyboardInterrupt):
        check_shards(tokenizer, paths, report_path=tmp_path / "report.json", finished=stop)
    assert [json.loads(line).get("path") for line in partial.read_text().splitlines()] == [None, *map(str, paths[:2])]
    # Its size and time are the same: it may have been a disk that was not mounted.
    paths[0].write_bytes(data)
    os.utime(paths[0], ns=(times.st_atime_ns, times.st_mtime_ns))
    report = check_shards(tokenizer, paths, report_path=tmp_path / "report.json")
    assert report.ids == 150
    assert report


@pytest.mark.parametrize("threads", [1, 2])
def test_a_shard_that_vanishes(tmp_path: Path, threads: int) -> None:
    paths = [good(tmp_path, f"{number}.npy", 10) for number in range(6)]
    finished: list[str] = []

    def done(path: str, _: Report) -> None:
        finished.append(path)
        if len(finished) == 1:
            for late in paths[4:]:
                late.unlink()

    report = check_shards(tokdfa.default_tokenizer(), paths, threads=threads, finished=done)
    gone = {broken.file: broken for broken in report.broken}
    # With threads some may have been read already.
    assert set(gone) <= {str(path) for path in paths[4:]}
    assert threads > 1 or len(gone) == 2
    assert all(broken.what == "No such file or directory" for broken in gone.values())
    assert report.ids == 10 * (6 - len(gone))
    assert (report.shards, len(finished)) == (6, 6)


def in_fork(act: Callable[[], int]) -> tuple[int, str]:
    """Act in a fork; return its exit status and its output on stderr."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        status = 99
        with contextlib.suppress(BaseException), os.fdopen(writes, "w") as stream, open(os.devnull, "w") as nothing:
            sys.stderr, sys.stdout = stream, nothing
            status = act()
            stream.flush()
        os._exit(status)
    os.close(writes)
    with os.fdopen(reads) as stream:
        said = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """Unless the report fits on the disk, the run ends with status 2, and the next one continues to the same report."""
    import resource

    merges = tmp_path / "merges.txt"
    tokdfa.default_dictionary().save(merges)
    folder = tmp_path / "shards"
    folder.mkdir()
    for number in range(5):
        good(folder, f"{number}.npy", 10 + number)
    report, partial = tmp_path / "report.json", tmp_path / "report.json.partial"
    arguments = ("validate", merges, folder, "--pretokenizer", "gpt2", "--report", report)
    assert commands.run(*arguments) == 0
    whole = report.read_bytes()
    lines_left = set()
    # Within the first line, within later ones, and in the report itself, when the lines are all there.
    for limit in (10, 300, 700, 1500, 2000):
        report.write_bytes(b"old")
        partial.unlink(missing_ok=True)

        def limited(limit: int = limit) -> int:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            return commands.run(*arguments)

        status, said = in_fork(limited)
        if len(whole) <= limit:  # Only the lines did not fit.
            assert (status, said, report.read_bytes()) == (0, "", whole)
            continue
        assert status == 2
        assert said.startswith("tokdfa: error: ")
        assert str(report) in said
        assert said.count("\n") == 1
        assert report.read_bytes() == b"old"
        lines_left.add(partial.read_bytes().count(b"\n") if partial.exists() else 0)
        assert commands.run(*arguments) == 0
        assert report.read_bytes() == whole
        assert not partial.exists()
    assert len(lines_left) > 2, lines_left


def test_nothing_is_counted_twice_with_threads(tmp_path: Path) -> None:
    """Of a stream that shrinks under several threads, at most what was there is counted."""
    from tokdfa.jobs.shards.check import Options, check_store
    from tokdfa.stores import open_store

    n = 1 << 19
    path = tmp_path / "x.npy"
    np.save(path, good_ids(n))
    size = path.stat().st_size
    report: Report = check_store(
        tokdfa.default_tokenizer(),
        open_store(path),
        Options(),
        2,
        on_first(lambda: os.truncate(path, size // 2)),
        least=1 << 16,
    )
    # It is known before it is read again in order that it is incomplete.
    assert len(report.broken) == 1
    assert report.ids < n
