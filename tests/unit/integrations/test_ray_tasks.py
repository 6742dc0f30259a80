"""Addresses of clusters, and the reports and errors of their workers."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tokdfa
from tokdfa.integrations import ray_tasks as module
from tokdfa.integrations.metrics import built_once
from tokdfa.jobs.shards.check import Options, check_shard
from tokdfa.jobs.shards.report import Report


@contextmanager
def server(answer: bytes) -> Iterator[str]:
    """Answer connections with some bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(64)
                connection.sendall(answer)

        thread = Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize("address", ["", "x", ":1", "x:", "x:y", "x:0", "x:65536", "ftp://x:1", "ray://:1", "x/y:1"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(tokdfa.TokdfaError, match="no address of a Ray cluster"):
        module._try(address)


def test_what_is_no_cluster() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(tokdfa.TokdfaError, match=f"no Ray cluster answers: Connection refused: '127.0.0.1:{port}'"):
        module._try(f"127.0.0.1:{port}")
    for answer in (b"", b"HTTP/1.1 400 Bad Request\r\n", bytes([0, 0, 6, 6, 0, 0, 0, 0, 0])):
        with server(answer) as address, pytest.raises(tokdfa.TokdfaError, match="what answers is no Ray cluster"):
            module._try(f"ray://{address}")


def test_what_may_be_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    with server(bytes([0, 0, 18, 4, 0, 0, 0, 0, 0]) + bytes(18)) as address:
        assert module._try(address) is None
    # An encrypted server says nothing before the client starts its handshake.
    monkeypatch.setenv("RAY_USE_TLS", "1")
    with server(b"") as address, socket.create_connection(address.split(":")):
        assert module._try(address) is None


def check(path: Path | str, folder: Path, is_there: bool = True) -> tokdfa.Report:
    tokenizer = tokdfa.default_tokenizer()
    # A worker that has built it asks for no copy.
    built_once(tokenizer.fingerprint, lambda: tokenizer)
    given = (tokenizer.fingerprint, [None], Options(), 1, str(folder), tokdfa.__version__)
    return module._check(str(path), is_there, given)


def test_relative_paths(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", [64, 261, 1193])
    before = os.getcwd()
    report = check("x.npy", tmp_path)
    assert report.first[0].file == "x.npy"
    assert os.getcwd() == before
    assert check("x.npy", tmp_path / "missing", False).broken[0].what == "No such file or directory"
    assert os.getcwd() == before
    absolute = check_shard(tokdfa.default_tokenizer(), tmp_path / "x.npy")
    assert check(tmp_path / "x.npy", tmp_path / "missing") == absolute


def test_other_versions(tmp_path: Path) -> None:
    with pytest.raises(tokdfa.TokdfaError, match=r"and this process 0\.0 .install the same version on all nodes"):
        module._check("x.npy", True, ("", [], Options(), 1, str(tmp_path), "0.0"))


class FakeErrors:
    """The errors of Ray that tasks end with, by their names."""

    RayError = type("RayError", (Exception,), {})
    RayTaskError = type("RayTaskError", (RayError,), {"cause": None})
    OutOfMemoryError = type("OutOfMemoryError", (RayError,), {})
    WorkerCrashedError = type("WorkerCrashedError", (RayError,), {})
    NodeDiedError = type("NodeDiedError", (RayError,), {})
    LocalRayletDiedError = type("LocalRayletDiedError", (RayError,), {})


class FakeRay:
    """The part of Ray that tasks need: tasks of the paths in `ends` raise errors, all others give reports."""

    exceptions = FakeErrors

    def __init__(self, ends: dict[str, Exception], *, cpus: tuple[int, ...] = (2,), probe: Exception | None = None):
        self.ends = ends
        self.probe = probe
        self.cpus = cpus
        self.options: list[dict[str, int]] = []
        self.most = self.running = 0

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": n}} for n in self.cpus]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": sum(self.cpus)}

    def put(self, value: object) -> object:
        return value

    def remote(self, **options: int) -> Callable[[object], Any]:
        self.options.append(options)
        return lambda function: SimpleNamespace(remote=self.begin)

    def begin(self, *arguments: Any) -> tuple[str, int]:
        self.running += 1
        self.most = max(self.most, self.running)
        return (arguments[0] if arguments else "probe", self.running)

    def wait(self, tasks: list[Any], num_returns: int) -> tuple[list[Any], list[Any]]:
        # The last one is done first.
        return tasks[-num_returns:], tasks[:-num_returns]

    def get(self, task: tuple[str, int]) -> Report:
        self.running -= 1
        path = task[0]
        error = self.probe if path == "probe" else self.ends.get(path)
        if error is not None:
            raise error
        return Report(shards=1, ids=int(path) if path != "probe" else 0)


def run(ray: FakeRay, paths: list[str], threads: int = 1, retries: int = 3) -> dict[str, Report]:
    tasks = module._Tasks(ray, tokdfa.default_tokenizer(), Options(), threads, retries)
    return dict(tasks.run(paths))


def test_every_path_has_its_report() -> None:
    paths = [*map(str, range(1000))]
    ray = FakeRay({}, cpus=(4, 20))
    found = run(ray, paths, threads=3, retries=7)
    assert {path: report.ids for path, report in found.items()} == {path: int(path) for path in paths}
    # Four tasks a CPU are ahead at most.
    assert ray.most == 96
    assert ray.options == [{"num_cpus": 3, "max_retries": 7}]


def test_shards_that_end_workers_come_last() -> None:
    ends = {"3": FakeErrors.WorkerCrashedError(), "5": FakeErrors.NodeDiedError(), "7": FakeErrors.OutOfMemoryError()}
    found = run(FakeRay(ends), [*map(str, range(10))])
    assert [*found][7:] == ["7", "5", "3"]
    said = {path: found[path].broken[0].what for path in ends}
    assert said["3"] == said["5"] == "the worker died 4 times in a row while it checked this file"
    assert said["7"] == "memory ran out on the nodes that checked this file, and Ray ended the workers"
    assert all(found[path].shards == 1 and found[path].broken[0].file == path for path in ends)
    (only,) = run(FakeRay(ends), ["3"], retries=0).values()
    assert only.broken[0].what == "the worker died once while it checked this file"


@pytest.mark.parametrize(
    ("where", "name"),
    [("shard", "LocalRayletDiedError"), ("probe", "LocalRayletDiedError"), ("probe", "NodeDiedError")],
)
def test_a_cluster_that_is_lost_breaks_no_shard(where: str, name: str) -> None:
    """Workers that die with the cluster are not due to their shards, which a later run checks."""
    lost = getattr(FakeErrors, name)("raylet died")
    ends = {"3": FakeErrors.WorkerCrashedError(), **({"1": lost} if where == "shard" else {})}
    tasks = module._Tasks(
        FakeRay(ends, probe=lost if where == "probe" else None), tokdfa.default_tokenizer(), Options(), 1, 3
    )
    known = {}
    with pytest.raises(tokdfa.TokdfaError, match=f"the Ray cluster is lost: {name}: raylet died"):
        known.update(tasks.run([*map(str, range(5))]))
    assert not any(report.broken for report in known.values())


def test_what_goes_wrong_in_a_worker_is_raised() -> None:
    for cause, said in (
        (tokdfa.TokdfaError("the workers have another version"), "another version"),
        (FakeErrors.RayTaskError("ModuleNotFoundError: No module named 'tokdfa'"), "the workers have no tokdfa"),
        (ZeroDivisionError("a defect"), "a defect"),
    ):
        error = FakeErrors.RayTaskError(str(cause))
        error.cause = cause
        with pytest.raises((tokdfa.TokdfaError, ZeroDivisionError), match=said):
            run(FakeRay({"1": error}), ["0", "1"])


def test_more_threads_than_cpus() -> None:
    with pytest.raises(tokdfa.TokdfaError, match=r"no node of the cluster has as many CPUs .* the largest has 4: 5"):
        run(FakeRay({}, cpus=(4, 2)), ["1"], threads=5)
    # A head without CPUs: its workers are started when there are tasks.
    assert len(run(FakeRay({}, cpus=(0,)), ["1"], threads=5)) == 1
