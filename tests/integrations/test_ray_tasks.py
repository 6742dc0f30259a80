"""Where a cluster may be, and what a worker keeps."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

import tokdfa
from tokdfa.integrations import ray_tasks as module
from tokdfa.integrations.per_process import built_once
from tokdfa.shards.check import Options, check_shard


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
        module._try(address)
    # What is encrypted says nothing before it is asked in its way.
    monkeypatch.setenv("RAY_USE_TLS", "1")
    with server(b"") as address, socket.create_connection(address.split(":")):
        module._try(address)


def check(path: Path | str, folder: Path, is_there: bool = True) -> tokdfa.Report:
    tokenizer = tokdfa.default_tokenizer()
    # A worker that has built it asks for no copy.
    built_once(tokenizer.fingerprint, lambda: tokenizer)
    given = (tokenizer.fingerprint, [None], Options(), 1, str(folder), tokdfa.__version__)
    return module._check(str(path), is_there, *given)


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
        module._check("x.npy", True, "", [], Options(), 1, str(tmp_path), "0.0")
