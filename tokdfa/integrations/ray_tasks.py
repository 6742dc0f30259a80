"""The tasks of a Ray cluster that check shards: joining the cluster, the work of a worker, and workers that die."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, chdir, contextmanager, suppress
from itertools import islice
from threading import Thread
from typing import Any, BinaryIO, TypeAlias

from tokdfa import __version__
from tokdfa.base.errors import TokdfaError, UnsupportedFeatureError
from tokdfa.integrations.metrics import built_once
from tokdfa.jobs.shards.check import Options, check_shard
from tokdfa.jobs.shards.report import Broken, Report
from tokdfa.tokenizers.protocol import AnyTokenizer

_SECONDS_APART = 10
_PROGRAM = f"from {__name__} import _serve; _serve()"
_ITEM, _ERROR, _END = range(3)


def iterate_apart(function: Callable[..., Iterator[Any]], *arguments: Any, lost: str) -> Iterator[Any]:
    """Yield the items of a function of a module, run in a process of its own that ends with this generator.

    The function, its arguments and its items can be pickled; its errors are raised here. `lost` begins the
    message if the process ends before the function does.
    """
    # Its output is not for the terminal of this process, which gives one answer.
    errors = None if os.environ.get("TOKDFA_DEBUG") else subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with suppress(BrokenPipeError):
            pickle.dump((function, arguments), process.stdin)
            process.stdin.flush()
        while True:
            try:
                kind, value = pickle.load(process.stdout)
            except (EOFError, pickle.UnpicklingError):
                status = process.wait()
                what = f"{lost}: the process that used it ended with status {status}"
                raise TokdfaError(what, hint="TOKDFA_DEBUG=1 shows what it printed") from None
            if kind == _END:
                return
            if kind == _ERROR:
                raise value
            yield value
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        try:
            process.wait(2 * _SECONDS_APART)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _serve() -> None:
    """Run the function from standard input; write its results to the original standard output."""
    # An interrupt is for the process that asks; it then closes standard input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    function, arguments = pickle.load(sys.stdin.buffer)
    Thread(target=_end_with_input, daemon=True).start()
    try:
        for item in function(*arguments):
            _send(answers, _ITEM, item)
        _send(answers, _END, None)
    except BrokenPipeError:
        os._exit(0)
    except Exception as error:
        try:
            _send(answers, _ERROR, error)
        except (pickle.PicklingError, TypeError, AttributeError):
            _send(answers, _ERROR, TokdfaError(f"{type(error).__name__}: {error}"))


def _send(stream: BinaryIO, kind: int, value: object) -> None:
    stream.write(pickle.dumps((kind, value)))
    stream.flush()


def _end_with_input() -> None:
    """End this process when the one that asks has ended, or wants no more."""
    # Without a buffer: this thread would hold its lock when the interpreter ends.
    while os.read(0, 1):
        pass
    # SystemExit lets the function clean up, within the time below.
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_SECONDS_APART)
    os._exit(0)


LOCAL = "local"
"""The address for a cluster on this machine that lasts as long as its process."""

_SECONDS = 5.0
_AHEAD = 64


def run_tasks(
    address: str | None, tokenizer: AnyTokenizer, options: Options, threads: int, paths: Iterable[str]
) -> Iterator[tuple[str, Report]]:
    """Check shards on a cluster, and yield their paths with their reports, in the order in which they are done."""
    with _connected(address) as ray:
        yield from _Tasks(ray, tokenizer, options, threads).run(paths)


class _Tasks:
    """The tasks of a cluster that check shards with a tokenizer."""

    def __init__(self, ray: Any, tokenizer: AnyTokenizer, options: Options, threads: int, retries: int = 3) -> None:
        most = max((int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]), default=0)
        if 0 < most < threads:
            # Ray would wait for a larger one.
            what = f"no node of the cluster has as many CPUs as a task has threads; the largest has {most}"
            raise TokdfaError(what, value=threads)
        self._ray = ray
        self._retries = retries
        self._task = ray.remote(num_cpus=threads, max_retries=retries)(_check)
        # Within a list, a reference is not resolved before the task begins: workers that have built it need no copy.
        self._given: _Given = (tokenizer.fingerprint, [ray.put(tokenizer)], options, threads, os.getcwd(), __version__)
        self._ahead = max(_AHEAD, 4 * int(ray.cluster_resources().get("CPU", 1)))

    def run(self, paths: Iterable[str]) -> Iterator[tuple[str, Report]]:
        """Yield paths with their reports, in the order in which they are done; shards that end workers come last."""
        left = iter(paths)
        running: dict[Any, str] = {}
        ending: list[tuple[str, str]] = []
        while True:
            for path in islice(left, self._ahead - len(running)):
                running[self._task.remote(path, os.path.exists(path), self._given)] = path
            if not running:
                break
            done, _ = self._ray.wait([*running], num_returns=1)
            for task in done:
                path = running.pop(task)
                report = self._report(task)
                if isinstance(report, str):
                    ending.append((path, report))
                else:
                    yield path, report
        if ending:
            # It is due to the shard, and not to the cluster, if other tasks still run.
            try:
                self._get(self._ray.remote(num_cpus=0)(_node).remote())
            except self._ray.exceptions.RayError as error:
                raise _lost(error) from None
        for path, why in ending:
            yield path, _broken(path, why)

    def _report(self, task: Any) -> Report | str:
        """Return the report of a task, or why there is none."""
        errors = self._ray.exceptions
        try:
            report: Report = self._get(task)
        except errors.OutOfMemoryError:
            return "memory ran out on the nodes that checked this file, and Ray ended the workers"
        except (errors.WorkerCrashedError, errors.NodeDiedError):
            times = "once" if not self._retries else f"{self._retries + 1} times in a row"
            return f"the worker died {times} while it checked this file"
        return report

    def _get(self, task: Any) -> Any:
        """Return the result of a task; raise a RayError if its worker or its node died, and otherwise a TokdfaError."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(task)
        except errors.RayTaskError as error:
            raise _cause(error) from None
        except (errors.OutOfMemoryError, errors.WorkerCrashedError, errors.NodeDiedError):
            raise
        except errors.RayError as error:
            raise _lost(error) from None


_Given: TypeAlias = tuple[str, list[Any], Options, int, str, str]
"""The fingerprint and the reference of a tokenizer, the options and threads, the folder and version of the caller."""


def _check(path: str, is_there: bool, given: _Given) -> Report:
    """Check a shard, in a worker."""
    fingerprint, tokenizer, options, threads, folder, version = given
    if version != __version__:
        what = f"the workers have tokdfa {__version__}, and this process {version}"
        raise TokdfaError(what, hint="install the same version on all nodes")
    with ExitStack() as stack:
        # Be in the folder of the process that asks, if the path is relative to it.
        if not os.path.isabs(path):
            with suppress(OSError):
                stack.enter_context(chdir(folder))
        if is_there and not os.path.exists(path):
            what = f"the worker on {_node()} does not see the file; all nodes must see it under this path"
            return _broken(path, what)
        own = built_once(fingerprint, lambda: _got(tokenizer[0]))
        return check_shard(own, path, threads=threads, **options._asdict())


def _got(reference: Any) -> Any:
    import ray

    return ray.get(reference)


def _node() -> str:
    import ray

    return str(ray.util.get_node_ip_address())


def _broken(path: str, what: str) -> Report:
    return Report(shards=1, broken=(Broken(path, path, what),))


def _lost(error: Exception) -> TokdfaError:
    said = " ".join(str(error).split())
    return TokdfaError(f"the Ray cluster is lost: {type(error).__name__}: {said}")


def _cause(error: Any) -> Exception:
    """Return the error of a worker that is not a fault of its shard."""
    cause: Exception = error.cause if isinstance(error.cause, Exception) else error
    if isinstance(cause, TokdfaError):
        return cause
    if "No module named 'tokdfa" in str(error):
        return TokdfaError("the workers have no tokdfa", hint="install it on all nodes, in the same version as here")
    return cause


@contextmanager
def _connected(address: str | None) -> Iterator[Any]:
    """Connect to a cluster, unless this process is connected; leave it as it was."""
    try:
        import ray
    except ImportError:
        hint = "pip install 'tokdfa[ray]'"
        raise UnsupportedFeatureError("the package ray is needed to use a cluster", hint=hint) from None
    if ray.is_initialized():
        if address is not None:
            what = "this process is connected to a Ray cluster already"
            raise TokdfaError(what, hint="give no address, or call ray.shutdown() first")
        yield ray
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        # A cluster that nobody else sees needs no dashboard, and reports to nobody.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        quiet["include_dashboard"] = False
    elif address not in (None, "auto"):
        _try(str(address))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(address=address, **quiet)
    except (Exception, SystemExit) as error:
        what = "Ray could not be started" if address == LOCAL else "the Ray cluster cannot be joined"
        said = " ".join(str(error).split())
        raise TokdfaError(f"{what}: {said}", value=address or "auto") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _try(address: str) -> None:
    """Refuse an address at which no Ray cluster can be."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal() or not 0 < int(port) < 1 << 16 or "/" in host or not host:
        hint = "give HOST:PORT, ray://HOST:PORT, auto, or local for a cluster on this machine"
        raise TokdfaError("no address of a Ray cluster", value=address, hint=hint)
    hint = "ray status shows a cluster's address on its nodes; local starts one on this machine"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS) as connection:
            answers = os.environ.get("RAY_USE_TLS", "0") not in ("", "0") or _speaks_grpc(connection)
    except OSError as error:
        what = f"no Ray cluster answers: {error.strerror or error}"
        raise TokdfaError(what, value=address, hint=hint) from None
    if not answers:
        raise TokdfaError("what answers is no Ray cluster", value=address, hint=hint)


def _speaks_grpc(connection: socket.socket) -> bool:
    """Return whether a server answers the beginning of HTTP/2 with its settings, as all servers of gRPC do."""
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    head = b""
    with suppress(OSError):
        while len(head) < 9 and (more := connection.recv(9 - len(head))):
            head += more
    return len(head) == 9 and head[3] == 4
