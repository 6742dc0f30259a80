"""The files of real families, each with its loader and its library."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tokdfa
from tests.campaigns.families import ggufs, peers
from tests.campaigns.families.peers import Peer
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Subject", "names", "of_file", "subject"]

MISTRAL = {
    "mistral_v1": "tokenizer.model.v1",
    "mistral_v2": "mistral_instruct_tokenizer_240216.model.v2",
    "mistral_v7": "mistral_instruct_tokenizer_241114.model.v7",
    "tekken_240718": "tekken_240718.json",
    "tekken_240911": "tekken_240911.json",
}


@dataclass(frozen=True)
class Subject:
    """A file and its library.

    Attributes
    ----------
    name : str
    load : callable
        Loads the file into tokdfa.
    peer : callable
        Loads it into its library.
    is_alike : callable, optional
        Whether the library defines what a text means, where it does not for every text: for a file made from another.
    """

    name: str
    load: Callable[[], AnyTokenizer]
    peer: Callable[[], Peer]
    is_alike: Callable[[str], bool] | None = None


def of_file(path: Path, pattern: str | None = None) -> Subject:
    """Return the subject of a file: tokenizer.json, tekken.json, vocab.txt, .model, or ranks with a pattern."""
    name = path.name
    if path.suffix == ".json":
        is_tekken = "config" in json.loads(path.read_bytes())
        return Subject(
            name, partial(tokdfa.load, path), partial(peers.of_tekken if is_tekken else peers.of_tokenizer_json, path)
        )
    if path.suffix == ".txt":
        return Subject(name, partial(tokdfa.load, path), partial(peers.of_vocabulary, path))
    if path.suffix == ".tiktoken":
        if pattern is None:
            raise ValueError(f"{path}: name its pattern")
        return _of_ranks(name, path, pattern)
    return Subject(name, partial(tokdfa.load, path), lambda: peers.of_model(path.read_bytes()))


def _of_ranks(name: str, path: Path, pattern: str) -> Subject:
    from tokdfa.tokenizers.pretokenizers.steps import NAMED

    spelled = NAMED[pattern].steps[0].pattern if pattern in NAMED else pattern
    return Subject(
        name, partial(tokdfa.load, path, pretokenizer=pattern), lambda: peers.of_ranks(_ranks_in(path), spelled)
    )  # fmt: skip


def _ranks_in(path: Path) -> dict[bytes, int]:
    # The last line of a file may have no word.
    rows = [line.split() for line in path.read_bytes().splitlines() if line]
    return {base64.b64decode(row[0]): int(row[1]) for row in rows if len(row) == 2}


def _of_mistral(name: str, data: Path, folder: Path) -> Subject:
    found = find_spec("mistral_common")
    if found is None or found.origin is None:
        raise FileNotFoundError("mistral-common is not installed")
    path = Path(found.origin).parent / "data" / MISTRAL[name]
    return replace(of_file(path), name=name)


def _converted(name: str, data: Path, folder: Path) -> Subject:
    """Ranks as a tokenizer.json."""
    from tests.benchmarks.encode_peers import as_tokenizers

    base = name.removesuffix("_json")
    path = folder / f"{name}.json"
    as_tokenizers(data / "vocabs" / f"{base}_base.tiktoken", base).save(str(path))
    return replace(of_file(path), name=name)


def _clip(name: str, data: Path, folder: Path) -> Subject:
    from tests.support.real_tokenizers import clip

    return replace(of_file(clip(data / "vocabs" / "clip_bpe_simple_vocab_16e6.txt.gz", folder)), name=name)


def _gpt2_folder(name: str, data: Path, folder: Path) -> Subject:
    """Vocabulary and merges in two files, which say nothing of special tokens."""
    source, here = data / "vocabs" / "gpt2", folder / "gpt2"
    here.mkdir(exist_ok=True)
    for file in ("vocab.json", "merges.txt"):
        (here / file).write_bytes((source / file).read_bytes())
    bare = folder / "bare.json"
    bare.write_text(json.dumps(json.loads((source / "tokenizer.json").read_bytes()) | {"added_tokens": []}))
    return Subject(name, partial(tokdfa.load, here, pretokenizer="gpt2"), partial(peers.of_tokenizer_json, bare))


def _gguf(name: str, data: Path, folder: Path) -> Subject:
    """A GGUF file made from the file of another subject; the library of that subject says which ids it must have."""
    source = name.removeprefix("gguf_")
    with closing(_in_benchmarks(source)) as found:
        (family,) = found
        made, contents = ggufs.converted(family.path)
    return Subject(
        name, partial(tokdfa.load, made), of_file(family.path).peer, partial(ggufs.is_alike, contents=contents)
    )


def _in_benchmarks(name: str) -> Iterator[Any]:
    from tests.benchmarks.families import families

    return families([name])


MADE: dict[str, Callable[[str, Path, Path], Subject]] = {
    **dict.fromkeys(MISTRAL, _of_mistral),
    **dict.fromkeys(("cl100k_json", "o200k_json"), _converted),
    **dict.fromkeys(("gguf_gpt2", "gguf_llama3_1", "gguf_mistral_v3"), _gguf),
    "clip": _clip,
    "bert_vocab": lambda name, data, folder: replace(of_file(data / "vocabs" / "bert_uncased_vocab.txt"), name=name),
    "gpt2_folder": _gpt2_folder,
}
"""Files that are made from others, or that come with a library."""
FIRST = ("gpt2", "cl100k", "o200k", "bert", "mistral_v3", "unigram_json", "unigram_model")


def names() -> list[str]:
    """Return the names of all families with files on this machine."""
    from tests.support.real_tokenizers import family_files

    return [*FIRST, *family_files(), *MADE]


def subject(name: str, data: Path, folder: Path) -> Subject:
    """Return the subject of a name; files that are made for it are in the folder."""
    if name in MADE:
        return MADE[name](name, data, folder)
    with closing(_in_benchmarks(name)) as found:
        family = next(found)
        if family.library == "tiktoken":
            return _of_ranks(name, family.path, name)
        # A tokenizer trained for the benchmark is deleted when it ends.
        path = folder / f"{name}{family.path.suffix}"
        path.write_bytes(family.path.read_bytes())
    return replace(of_file(path), name=name)
