"""Shards checked by a real cluster of Ray: the same report even if workers are killed, and broken input is named.

The tests that need Ray start clusters of two nodes on this machine; they are slow, and skipped where it is missing.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support.clusters import ROOT, has_open, kill, nodes, two_nodes, workers
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.integrations.ray import CheckRows, CheckShards, check, total
from tokdfa.jobs.shards.check import Options, check_shard
from tokdfa.jobs.shards.report import Report

TEXT = "a single man in possession of a good fortune"
slow = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with two_nodes() as found:
        yield found


def write_shards(folder: Path, n: int, repeat: int) -> list[Path]:
    """Write shards, every third with a violation and one cut short."""
    ids = np.tile(tokdfa.default_tokenizer().encode(TEXT), repeat).astype(np.uint16)
    folder.mkdir()
    paths = [folder / f"{number:03}.npy" for number in range(n)]
    for number, path in enumerate(paths):
        np.save(path, ids if number % 3 else np.append(ids, np.array([261, 1193], np.uint16)))
    paths[1].write_bytes(paths[1].read_bytes()[:-1])
    return paths


def command(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    tokdfa.default_dictionary().save(folder / "merges.txt")
    words = [sys.executable, "-m", "tokdfa", "validate", "merges.txt", "--pretokenizer", "gpt2", "--json"]
    return subprocess.Popen(
        [*words, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def until(found: Callable[[], Any], seconds: float = 60) -> Any:
    """Return what is found, once it is."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = found()
        if value:
            return value
        time.sleep(0.005)
    pytest.fail("it never came")


class TestOnACluster:
    pytestmark = slow

    def test_the_report_is_that_of_one_machine(self, cluster: Any, tmp_path: Path) -> None:
        write_shards(tmp_path / "shards", 9, 2000)
        expected = answer(command(tmp_path, "shards", "--report", "here.json"))
        assert expected[0] == 2
        assert json.loads(expected[1])["report"]["kinds"] == [{"kind": "pair", "count": 3}]
        address = ("--ray", cluster.address)
        assert answer(command(tmp_path, "shards", "--report", "there.json", *address)) == expected
        assert (tmp_path / "there.json").read_bytes() == (tmp_path / "here.json").read_bytes()
        assert answer(command(tmp_path, "shards", *address, "--documents", "none"))[:2] == expected[:2]
        # The same violations, since a space begins each document.
        status, out, _ = answer(command(tmp_path, *sorted(tmp_path.glob("shards/*[023456789].npy")), *address))
        assert (status, json.loads(out)["valid"]) == (1, False)

    def test_workers_that_are_killed(self, cluster: Any, tmp_path: Path) -> None:
        write_shards(tmp_path / "shards", 8, 1_000_000)
        expected = answer(command(tmp_path, "shards", "--report", "here.json"))
        process = command(tmp_path, "shards", "--report", "there.json", "--ray", cluster.address)
        killed: dict[int, Path] = {}
        while process.poll() is None and len(killed) < 6:
            # Each is in the middle of a shard: it has its file open. None is begun more often than Ray allows.
            for each, path in product(workers(cluster), tmp_path.glob("shards/*.npy")):
                if each not in killed and [*killed.values()].count(path) < 2 and has_open(each, path):
                    kill(each)
                    killed[each] = path
        assert answer(process) == expected
        assert len(killed) >= 4
        assert (tmp_path / "there.json").read_bytes() == (tmp_path / "here.json").read_bytes()

    def test_a_node_that_is_lost(self, cluster: Any, tmp_path: Path) -> None:
        write_shards(tmp_path / "shards", 8, 1_000_000)
        expected = answer(command(tmp_path, "shards", "--report", "here.json"))
        node = cluster.add_node(num_cpus=1)
        process = command(tmp_path, "shards", "--report", "there.json", "--ray", cluster.address)
        until(lambda: len(workers(cluster)) == 3)
        cluster.remove_node(node, allow_graceful=False)
        assert answer(process) == expected
        assert (tmp_path / "there.json").read_bytes() == (tmp_path / "here.json").read_bytes()

    def test_a_shard_whose_workers_are_killed_again_and_again(self, cluster: Any, tmp_path: Path) -> None:
        write_shards(tmp_path / "shards", 5, 2000)
        without = answer(command(tmp_path, "shards"))
        poison = tmp_path / "shards" / "poison.npy"
        with poison.open("wb") as stream:
            header = {"descr": "<u2", "fortran_order": False, "shape": (1 << 32,)}
            np.lib.format.write_array_header_1_0(stream, header)
            # All of them zeros, which takes long to judge.
            stream.truncate(stream.tell() + (1 << 33))
        process = command(tmp_path, "shards", "--ray", cluster.address)
        killed = 0
        while process.poll() is None:
            for each in workers(cluster):
                if has_open(each, poison):
                    kill(each)
                    killed += 1
                    until(lambda each=each: not Path(f"/proc/{each}/fd/0").exists())
        status, out, err = answer(process)
        assert killed == 4
        assert status == 2
        assert "2 files could not be read to the end" in err
        report = json.loads(out)["report"]
        (added,) = [row for row in report["broken"] if "poison" in row["file"]]
        assert added["what"] == "the worker died 4 times in a row while it checked this file"
        report["broken"].remove(added)
        assert {**report, "shards": 5} == json.loads(without[1])["report"]

    def test_a_cluster_that_is_lost_is_no_answer(self, tmp_path: Path) -> None:
        write_shards(tmp_path / "shards", 6, 1_000_000)
        (tmp_path / "shards" / "001.npy").unlink()
        with two_nodes() as cluster:
            process = command(tmp_path, "shards", "--report", "report.json", "--ray", cluster.address)
            until(lambda: workers(cluster))
            (raylet,) = nodes(cluster)[0].all_processes["raylet"]
            kill(raylet.process.pid)
            status, out, err = answer(process)
        assert (status, out) == (2, "")
        assert "the Ray cluster is lost" in err
        assert len(err.splitlines()) == 1
        # The next run continues, and gives the report.
        status, out, err = answer(command(tmp_path, "shards", "--report", "report.json"))
        assert status == 1, err
        assert json.loads((tmp_path / "report.json").read_bytes())["report"]["shards"] == 5

    def test_an_interrupt_ends_all(self, tmp_path: Path) -> None:
        pytest.importorskip("ray", reason="ray is not installed")
        write_shards(tmp_path / "shards", 6, 1_000_000)
        process = command(tmp_path, "shards", "--ray", "local")
        own = until(lambda: [each for each in descendants(process.pid) if title(each).startswith(b"ray::_check")])
        everything = descendants(process.pid)
        assert set(own) <= set(everything)
        process.send_signal(signal.SIGINT)
        assert answer(process)[::2] == (130, "tokdfa: interrupted\n")
        until(lambda: not any(Path(f"/proc/{each}/fd/0").exists() for each in everything))

    def test_bad_input_is_named(self, cluster: Any, tmp_path: Path) -> None:
        write_shards(tmp_path / "shards", 3, 10)
        for arguments, said in (
            (("--ray", "127.0.0.1:9"), "no Ray cluster answers: Connection refused"),
            (("--ray", "nowhere"), "no address of a Ray cluster"),
            (("--ray", cluster.address, "--threads", "2"), "no node of the cluster has as many CPUs"),
        ):
            status, out, err = answer(command(tmp_path, "shards", *arguments))
            assert (status, out) == (2, "")
            assert said in err
            assert len(err.splitlines()) == 1

    def test_files_that_workers_do_not_see(self, cluster: Any, tmp_path: Path) -> None:
        (path, *_) = write_shards(tmp_path / "shards", 3, 10)
        process = (
            "import os, sys, tokdfa; from tokdfa.integrations.ray import check;"
            "os.dup2(os.open(sys.argv[1], os.O_RDONLY), 250);"
            "report = check(['/proc/self/fd/250', '/not/here.npy'], tokdfa.default_tokenizer(), address=sys.argv[2]);"
            "print(*report.broken, sep='\\n')"
        )
        out = subprocess.run(
            [sys.executable, "-c", process, path, cluster.address], capture_output=True, text=True, check=True
        ).stdout
        there, here = out.splitlines()
        assert "'/not/here.npy', what='No such file or directory'" in there
        assert "does not see the file; all nodes must see it under this path" in here

    def test_the_version_of_the_workers(self, cluster: Any, tmp_path: Path) -> None:
        (path, *_) = write_shards(tmp_path / "shards", 3, 10)
        process = (
            "import sys, tokdfa; tokdfa.__version__ = '0.0';"
            "from tokdfa.integrations.ray import check;"
            "check([sys.argv[1]], tokdfa.default_tokenizer(), address=sys.argv[2])"
        )
        err = subprocess.run([sys.executable, "-c", process, path, cluster.address], capture_output=True, text=True)
        assert f"the workers have tokdfa {tokdfa.__version__}, and this process 0.0" in err.stderr.splitlines()[-1]

    def test_datasets_are_checked(self, cluster: Any, tmp_path: Path) -> None:
        ray = pytest.importorskip("ray", reason="ray is not installed")
        arrow = pytest.importorskip("pyarrow")
        data = pytest.importorskip("ray.data")
        from pyarrow import parquet

        paths = write_shards(tmp_path / "shards", 9, 1000)
        tokenizer = tokdfa.default_tokenizer()
        expected = sum((check_shard(tokenizer, path) for path in paths), Report())
        documents = [tokenizer.encode(TEXT).tolist(), [64, 261, 1193], []] * 500
        parquet.write_table(arrow.table({"input_ids": documents}), tmp_path / "x.parquet", row_group_size=100)
        of_rows = check_shard(tokenizer, tmp_path / "x.parquet")
        ray.init(address=cluster.address, log_to_driver=False)
        try:
            # The same connection serves `check`.
            assert check([tmp_path / "shards"], tokenizer) == expected
            with pytest.raises(tokdfa.TokdfaError, match="is connected to a Ray cluster already"):
                check([tmp_path / "shards"], tokenizer, address=cluster.address)
            compute = data.ActorPoolStrategy(size=2)
            shards = data.from_items([str(path) for path in paths])
            checked = shards.map_batches(CheckShards, fn_constructor_args=[tokenizer], compute=compute, batch_size=1)
            assert total(checked.iter_rows()) == expected
            rows = data.read_parquet(str(tmp_path / "x.parquet"), columns=["input_ids"])
            # An actor takes a CPU, and the tasks that read need another.
            how = {"compute": data.ActorPoolStrategy(size=1), "batch_format": "pyarrow", "batch_size": 64}
            checked = rows.map_batches(CheckRows, fn_constructor_args=[tokenizer], **how)
            found = total(checked.iter_rows())
            missing = shards.map_batches(CheckShards, fn_constructor_args=["/no/tokenizer.json"], compute=compute)
            with pytest.raises(Exception, match=r"/no/tokenizer\.json"):
                missing.materialize()
        finally:
            ray.shutdown()
        for name in ("ids", "documents", "empty_documents", "wrong_documents", "unended_documents", "kinds", "rules"):
            assert getattr(found, name) == getattr(of_rows, name), name
        assert of_rows.wrong_documents == 500


def descendants(process: int) -> list[int]:
    """Return a process and all that it began, directly or not."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(folder.name))
        except (OSError, ValueError, IndexError):
            continue
    found = [process]
    for each in found:
        found += children.get(each, [])
    return found


def title(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def test_no_shards_is_an_error() -> None:
    with pytest.raises(TokenStreamError, match="there are no shards to check"):
        check([], tokdfa.default_tokenizer(), address="local")


def test_ray_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    np.save(tmp_path / "x.npy", [64])
    with pytest.raises(UnsupportedFeatureError, match=r"the package ray is needed .*pip install 'tokdfa\[ray\]'"):
        check([tmp_path / "x.npy"], tokdfa.default_tokenizer(), address="local")


def test_shards_of_batches(tmp_path: Path) -> None:
    paths = write_shards(tmp_path / "shards", 3, 10)
    tokenizer = tokdfa.default_tokenizer()
    for options in (None, Options(end=462)):
        rows = CheckShards(tokenizer, options, "file")({"file": np.array([*map(str, paths)])})
        assert rows["path"] == [*map(str, paths)]
        given = {} if options is None else options._asdict()
        reports = [check_shard(tokenizer, path, **given) for path in paths]
        assert [Report.from_dict(json.loads(row)) for row in rows["report"]] == reports
        assert total({"report": row} for row in rows["report"]) == sum(reports, Report())
    assert total([]) == Report()


def test_rows_of_batches() -> None:
    arrow = pytest.importorskip("pyarrow")
    batch = arrow.table({"tokens": [[64, 261, 1193], [64, 2513]], "url": ["x", "y"]})
    rows = CheckRows(tokdfa.default_tokenizer(), key="url", end=2513)(batch)
    report = total({"report": row} for row in rows["report"])
    assert (report.documents, report.wrong_documents, report.unended_documents) == (2, 1, 1)
    assert report.worst[0].file == "x"


def test_a_tokenizer_that_is_missing() -> None:
    for checker in (CheckShards, CheckRows):
        with pytest.raises(FileNotFoundError, match=r"/no/tokenizer\.json"):
            checker("/no/tokenizer.json")
