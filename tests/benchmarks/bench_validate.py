"""Validation side by side: tokdfa, and peers that decode, encode again and compare, each in its fastest way.

One command measures the rate at rest, the whole cost from the start of a process to its answer, with its peak memory,
short calls, and two threads compared with two processes.

Run from the top of the repository, with TOKDFA_DATA naming the folder of tokenizers and corpora:
``python -m tests.benchmarks.bench_validate``; with ``--stream GIGABYTES`` the growth of time and memory over a stream
that is generated on disk, instead.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import numpy.typing as npt
import regex

import tokdfa
from tests.benchmarks.encode_peers import as_tokenizers
from tests.benchmarks.harness import as_installed, environment, keep_tables, measure, peak_memory, print_table
from tests.benchmarks.judges import JUDGES
from tokdfa.stores import iter_ids

TEXTS = ("english", "python_code", "multilingual", "licences")
TOKENIZERS = ("cl100k", "o200k")
LENGTH = 2_000_000
SIZES = (100, 10_000, 1_000_000)
CALLS = 200


def text_of(data: Path, name: str) -> str:
    """Return a corpus, or the licences of all packages that are installed here, each once."""
    if name != "licences":
        return (data / "corpora" / f"{name}.txt").read_text("utf-8")
    packages = Path(np.__file__).parents[1]
    files = sorted(path for pattern in ("LICEN[CS]E*", "COPYING*") for path in packages.rglob(pattern))
    texts = dict.fromkeys(path.read_text("utf-8", "replace") for path in files if path.is_file())
    return "\n\n".join(texts)


def throughput(path: Path, name: str, text: str) -> tuple[int, dict[str, float]]:
    """Return the number of ids, and the millions of them a second that each way judges.

    Each peer judges the ids that it gives itself, so that every answer is yes: splintr and tokenizers split some texts
    otherwise than the file says.
    """
    ids = np.asarray(tokdfa.load(path, pretokenizer=name).encode(text), dtype=np.uint32)
    ways: dict[str, Callable[[], object]] = {}
    for peer in JUDGES:
        coder = peer.make(path, name)
        given = _array(coder.encode(text))
        assert coder.judge(given), (peer.name, "does not know its own ids again")
        assert peer.name not in ("tokdfa", "gigatoken", "tiktoken") or np.array_equal(given, ids), peer.name
        ways[peer.name] = partial(coder.judge, given)
        if peer.name == "tokdfa":
            # The table of pairs is built when enough ids have come.
            for _ in range(1 + 9 * int(given.max()) // len(given)):
                coder.judge(given)
    seconds = measure(ways, clock=process_time, at_rest=True)
    return len(ids), {way: len(ids) / 1e6 / measured.median for way, measured in seconds.items()}


def _array(ids: object) -> npt.NDArray[np.uint32]:
    if isinstance(ids, bytes):
        return np.frombuffer(ids, dtype=np.uint32)
    return np.ascontiguousarray(ids, dtype=np.uint32)


def side_by_side(data: Path, length: int) -> None:
    """Print the throughput of all ways on all corpora."""
    rows: list[list[object]] = []
    for name in TOKENIZERS:
        for corpus in TEXTS:
            text = text_of(data, corpus)[:length]
            n_ids, speed = throughput(data / "vocabs" / f"{name}_base.tiktoken", name, text)
            best = max(value for way, value in speed.items() if way != "tokdfa")
            rows.append([name, corpus, n_ids, *speed.values(), f"{speed['tokdfa'] / best:.1f}"])
    columns = ["tokenizer", "text", "ids", *(peer.name for peer in JUDGES), "times the best"]
    caption = f"at rest, processor time; {_caption()}"
    print_table("Validation, million tokens a second, one thread, median of 5", columns, rows, caption)


def _caption() -> str:
    ways = "; ".join(f"{peer.name}: {peer.way}" for peer in JUDGES)
    return f"{ways}; {environment(*(peer.package for peer in JUDGES if peer.package != 'tokdfa'))}"


def whole_cost(data: Path, sizes: tuple[int, ...], repeats: int = 5) -> None:
    """Print the time from the start of a process to its answer, and the most memory that it held."""
    path, name = data / "vocabs" / "cl100k_base.tiktoken", "cl100k"
    text = (data / "corpora" / "english.txt").read_text("utf-8")
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        # tokenizers reads no ranks: it has its own file, made beforehand.
        own = Path(folder) / "tokenizer.json"
        as_tokenizers(path, name).save(str(own))
        for size in sizes:
            files = {}
            for peer in JUDGES:
                made_of = own if peer.name == "tokenizers" else path
                coder = peer.make(made_of, name)
                long_enough = (text * (1 + 8 * size // len(text)))[: 8 * size]
                ids = _array(coder.encode(long_enough))[:size]
                files[peer.name] = Path(folder) / f"{peer.name}-{size}.npy"
                np.save(files[peer.name], _canonical(ids, coder.judge))
            found: dict[str, list[tuple[float, int, float]]] = {peer.name: [] for peer in JUDGES}
            for _ in range(repeats + 1):  # the first brings the files into memory
                for peer in JUDGES:
                    made_of = own if peer.name == "tokenizers" else path
                    found[peer.name].append(_run(peer.name, made_of, name, files[peer.name]))
            for peer in JUDGES:
                seconds, memory, judged = zip(*found[peer.name][1:], strict=True)
                rate = size / 1e6 / median(judged)
                rows.append([peer.name, size, median(seconds), f"{median(memory) / 1e6:.0f}", rate])
    columns = ["peer", "ids", "seconds", "peak memory, MB", "of judging alone, tables included: M ids/s, processor"]
    title = f"Validation from the start of a process to its answer, cl100k, English, median of {repeats}"
    print_table(title, columns, rows, _caption())


def _canonical(ids: npt.NDArray[np.uint32], judge: Callable[[npt.NDArray[np.uint32]], bool]) -> npt.NDArray[np.uint32]:
    """Return ids that a peer finds right, cut a little shorter where they were cut within a piece or a symbol."""
    for cut in range(64):
        part = ids[: len(ids) - cut]
        try:
            if judge(part):
                return part
        except ValueError:  # not UTF-8
            continue
    raise AssertionError("the ids are not canonical")


def _run(peer: str, path: Path, name: str, ids: Path) -> tuple[float, int, float]:
    """Return how long a process took to answer yes, its peak memory, and the processor time of judging alone."""
    command = [sys.executable, "-m", "tests.benchmarks.judges", peer, str(path), name, str(ids)]
    began = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=as_installed()) as process:
        assert process.stdout is not None
        answer = process.stdout.readline()
        seconds = perf_counter() - began
        assert answer == b"True\n", (peer, answer)
        memory, judged = process.stdout.readline().split()
    return seconds, int(memory), float(judged)


def _halves(tokenizer: tokdfa.AnyTokenizer, ids: npt.NDArray[np.uint32]) -> list[npt.NDArray[np.uint32]]:
    """Return the two halves of a stream, cut where its text may be cut."""
    cut = tokenizer.last_safe_cut(ids, len(ids) // 2)
    assert 0 < cut <= len(ids) // 2
    return [ids[:cut], ids[cut:]]


def two_threads(data: Path, n_ids: int, repeats: int = 7) -> None:
    """Print the rate of two threads as a share of two processes' rate, by the clock: best of several, in turn."""
    name = "cl100k"
    tokenizer = tokdfa.load(data / "vocabs" / f"{name}_base.tiktoken", pretokenizer=name)
    rows: list[list[object]] = []
    for text in TEXTS:
        # Documents of a hundred thousand characters; together they are one stream.
        whole = text_of(data, text)
        given = [whole[at : at + 100_000] for at in range(0, len(whole), 100_000)]
        documents = [_array(tokenizer.encode(document)) for document in given]
        documents *= -(-n_ids // sum(map(len, documents)))
        one = _array(tokenizer.encode(whole[: whole.rindex("\n")]))
        stream = np.tile(one, -(-n_ids // len(one)))
        if not tokenizer.validate(stream):
            stream = stream[: len(one)]
        halves = _halves(tokenizer, stream)
        for what, parts in (
            ("one stream", [[halves[0]], [halves[1]]]),
            ("documents", [documents[::2], documents[1::2]]),
        ):

            def judge(part: list[npt.NDArray[np.uint32]]) -> bool:
                return all(bool(tokenizer.validate(ids)) for ids in part)

            rows.append([text, what, *_together(judge, parts, repeats)])
    columns = ["text", "", "one thread, M ids/s", "two threads", "two processes", "threads / processes"]
    title = f"Validation by two threads and by two processes, cl100k, by the clock, best of {repeats}"
    print_table(title, columns, rows, environment("numpy"))


def _together(
    judge: Callable[[list[npt.NDArray[np.uint32]]], bool], parts: list[list[npt.NDArray[np.uint32]]], repeats: int
) -> list[object]:
    """Return the rates of one thread, of two, and of two processes, and the threads' rate over the processes'."""
    n_ids = sum(len(ids) for part in parts for ids in part)
    context = get_context("fork")
    barrier, done = context.Barrier(3), context.Barrier(3)
    # When each process, or thread, began and ended, by the clock that they share: the time to wake them, some
    # tenths of a millisecond, is the same work for neither.
    clocked = context.RawArray("d", 4)

    def work(number: int) -> bool:
        clocked[number] = perf_counter()
        answer = judge(parts[number])
        clocked[2 + number] = perf_counter()
        return answer

    def work_apart(number: int) -> None:
        for _ in range(repeats + 1):
            barrier.wait()
            work(number)
            done.wait()

    assert all(map(judge, parts))
    found: dict[str, list[float]] = {"one": [], "threads": [], "processes": []}
    processes = [context.Process(target=work_apart, args=(number,)) for number in range(2)]
    for process in processes:
        process.start()
    with ThreadPoolExecutor(2) as pool:
        for _ in range(repeats + 1):
            began = perf_counter()
            assert all(map(judge, parts))
            found["one"].append(perf_counter() - began)
            assert all(pool.map(work, range(2)))
            found["threads"].append(max(clocked[2:]) - min(clocked[:2]))
            barrier.wait()
            done.wait()
            found["processes"].append(max(clocked[2:]) - min(clocked[:2]))
    for process in processes:
        process.join()
    rates = {way: n_ids / 1e6 / min(seconds[1:]) for way, seconds in found.items()}
    return [*rates.values(), f"{rates['threads'] / rates['processes']:.2f}"]


def short_calls(data: Path, repeats: int = 5) -> None:
    """Print what a short call costs."""
    path, name = data / "vocabs" / "cl100k_base.tiktoken", "cl100k"
    text = (data / "corpora" / "english.txt").read_text("utf-8")
    coders = {peer.name: peer.make(path, name) for peer in JUDGES}
    rows: list[list[object]] = []
    for size in (27, 265):
        calls: dict[str, Callable[[], object]] = {}
        for peer, coder in coders.items():
            ids = _canonical(_array(coder.encode(text[:5_000]))[:size], coder.judge)
            calls[peer] = partial(coder.judge, ids)
        rows.append([f"validate {size} ids", *_microseconds(calls, repeats).values()])
    for size in (11, 1_000):
        part = text[:size]
        calls = {peer: partial(coder.encode, part) for peer, coder in coders.items()}
        rows.append([f"encode {size:,} bytes", *_microseconds(calls, repeats).values()])
    columns = ["call", *coders]
    print_table(f"Short calls, microseconds, cl100k, English, median of {repeats}", columns, rows, _caption())


def _microseconds(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    def often(call: Callable[[], object]) -> None:
        for _ in range(CALLS):
            call()

    found = measure({name: partial(often, call) for name, call in calls.items()}, repeats)
    return {name: 1e6 * measured.median / CALLS for name, measured in found.items()}


def growth(data: Path, gigabytes: float) -> None:
    """Print time and memory over streams of growing length, mapped from a file."""
    name = "cl100k"
    tokenizer = tokdfa.load(data / "vocabs" / f"{name}_base.tiktoken", pretokenizer=name)
    text = (data / "corpora" / "english.txt").read_text("utf-8")
    # A stretch that can be repeated: it begins with a space and a letter, and ends where such a word began.
    boundaries = [match.start() + 1 for match in regex.finditer(r"\p{L} \p{L}", text)]
    ids = tokenizer.encode(text[boundaries[0] : boundaries[-1]]).astype(np.uint32)
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.bin"
        total = int(gigabytes * 1e9 / 4)
        with path.open("wb") as file:
            for _ in range(-(-total // len(ids))):
                file.write(ids.tobytes())
        size = path.stat().st_size // 4
        for part in (size // 64, size // 16, size // 4, size):
            part_path = Path(folder) / "part.bin"
            if part < size:
                np.memmap(path, dtype=np.uint32, mode="r")[:part].tofile(part_path)
            began = perf_counter()
            verdict = tokenizer.validate(iter_ids(part_path if part < size else path, dtype="uint32"))
            seconds = perf_counter() - began
            assert verdict.tokens == part
            # A stream that is cut off may end wrongly, and only there.
            assert verdict or (verdict.index or 0) > part - 8
            rows.append([part * 4 / 1e9, part / 1e6, seconds, part / 1e6 / seconds, f"{_resident() / 1e6:.0f} MB"])
    caption = f"{environment('numpy')}; peak memory {peak_memory() / 1e6:.0f} MB, mapped pages of the file included"
    columns = ["GB", "million ids", "seconds", "million a second", "resident, file pages left out"]
    print_table("Validation of a stream on disk, cl100k, English, one thread", columns, rows, caption)


def _resident() -> int:
    """Return the bytes in memory that are this process's own."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stream", type=float, metavar="GIGABYTES")
    parser.add_argument("--small", action="store_true", help="only to see that everything works")
    arguments = parser.parse_args()
    data = Path(os.environ["TOKDFA_DATA"])
    os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    if arguments.stream is not None:
        growth(data, arguments.stream)
        return
    side_by_side(data, 20_000 if arguments.small else LENGTH)
    whole_cost(data, (100,) if arguments.small else SIZES, 1 if arguments.small else 5)
    short_calls(data, 1 if arguments.small else 5)
    two_threads(data, 100_000 if arguments.small else 10_000_000, 1 if arguments.small else 7)


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()
