"""Clusters of Ray on this machine, with processes of two nodes that can be killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@contextmanager
def two_nodes() -> Iterator[Any]:
    """A head and another node, one CPU each."""
    pytest.importorskip("ray", reason="ray is not installed")
    from ray.cluster_utils import Cluster

    # The nodes' processes inherit these.
    os.environ["PYTHONPATH"] = str(ROOT)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        yield cluster
    finally:
        cluster.shutdown()


def workers(cluster: Any) -> list[int]:
    """Return the processes that check a shard just now."""
    raylets = {each.process.pid for node in nodes(cluster) for each in node.all_processes.get("raylet", [])}
    found = []
    for folder in Path("/proc").iterdir():
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            title = (folder / "cmdline").read_bytes()
        except (OSError, ValueError, IndexError):
            continue
        if parent in raylets and title.startswith(b"ray::_check"):
            found.append(int(folder.name))
    return found


def nodes(cluster: Any) -> list[Any]:
    return [cluster.head_node, *cluster.worker_nodes]


def has_open(process: int, path: Path) -> bool:
    """Return whether a process has a file open."""
    try:
        return any(os.readlink(each.path) == str(path) for each in os.scandir(f"/proc/{process}/fd"))
    except OSError:
        return False


def kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
