"""Judging streams side by side: how each peer decodes, encodes again and compares, in its fastest documented way.

Run as a program, it judges the ids of a file once and says so, for the whole cost from the start of the process, and
then its peak memory and the seconds of processor time that judging took:
``python -m tests.benchmarks.judges PEER TOKENIZER_FILE NAME IDS.npy``. Nothing but the peer and numpy is imported then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tests.benchmarks import encode_peers

__all__ = ["JUDGES", "Coder", "Judge"]

Ids: TypeAlias = npt.NDArray[np.uint32]


class Coder(NamedTuple):
    """From text to ids, as long as its output is its own; and whether ids come back as they are."""

    encode: Callable[[str], object]
    judge: Callable[[Ids], bool]


class Judge(NamedTuple):
    """A peer: its name, its distribution, its way in words, and how it is made from a file and a pattern's name."""

    name: str
    package: str
    way: str
    make: Callable[[Path, str], Coder]


def _tokdfa(path: Path, name: str) -> Coder:
    import tokdfa

    tokenizer = tokdfa.load(path, pretokenizer=name)
    return Coder(tokenizer.encode, lambda ids: bool(tokenizer.validate(ids)))


def _gigatoken(path: Path, name: str) -> Coder:
    import gigatoken

    its: Any = gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=name, special_tokens={})
    # It decodes to bytes and takes bytes.
    return Coder(its.encode, lambda ids: np.array_equal(its.encode(its.decode(ids)), ids))


def _splintr(path: Path, name: str) -> Coder:
    import splintr

    pattern = {"cl100k": splintr.CL100K_BASE_PATTERN, "o200k": splintr.O200K_BASE_PATTERN}[name]
    its: Any = splintr.Tokenizer.from_bytes(path.read_bytes(), pattern, {})
    return Coder(its.encode_flat, lambda ids: bool(its.encode_flat(its.decode(ids.tolist())) == ids.tobytes()))


def _tiktoken(path: Path, name: str) -> Coder:
    import tiktoken

    ranks, pattern = encode_peers.ranks(path), encode_peers.pattern_of(path, name)
    its = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    def judge(ids: Ids) -> bool:
        listed = ids.tolist()
        return its.encode_ordinary(its.decode(listed)) == listed

    return Coder(its.encode_ordinary, judge)


def _tokenizers(path: Path, name: str) -> Coder:
    if path.suffix == ".json":
        import tokenizers

        its: Any = tokenizers.Tokenizer.from_file(str(path))
    else:
        its = encode_peers.as_tokenizers(path, name)
    # encode_batch_fast leaves offsets out.
    encode = lambda text: its.encode_batch_fast([text], add_special_tokens=False)[0].ids  # noqa: E731

    def judge(ids: Ids) -> bool:
        listed = ids.tolist()
        return bool(encode(its.decode(listed, skip_special_tokens=False)) == listed)

    return Coder(encode, judge)


JUDGES = [
    Judge("tokdfa", "tokdfa", "validate(array)", _tokdfa),
    Judge("gigatoken", "gigatoken", "encode(decode(array)), bytes between", _gigatoken),
    Judge("splintr", "splintr-rs", "encode_flat(decode(list)), bytes compared", _splintr),
    Judge("tiktoken", "tiktoken", "encode_ordinary(decode(list))", _tiktoken),
    Judge("tokenizers", "tokenizers", "encode_batch_fast([decode(list)])", _tokenizers),
]


def main() -> None:
    """Judge the ids of a file and print the verdict."""
    peer, path, name, ids = sys.argv[1:]
    (chosen,) = (judge for judge in JUDGES if judge.name == peer)
    coder, array = chosen.make(Path(path), name), np.load(ids)
    began = process_time()
    answer = coder.judge(array)
    seconds = process_time() - began
    print(answer, flush=True)
    print(_peak_memory(), seconds, flush=True)


def _peak_memory() -> int:
    """Return the most bytes that this process held; getrusage would count the starting process's too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise OSError("/proc does not say how much memory was held")


if __name__ == "__main__":
    main()
