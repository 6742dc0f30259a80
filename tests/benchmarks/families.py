"""Tokenizers of every family, with the library that defines each and with gigatoken.

The files are from TOKDFA_DATA, each ``NAME/package/models/tokenizer.json`` of the folder TOKDFA_FAMILIES (as npm
packs them), and two Unigram models of 8,000 pieces, trained when they are asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import tokdfa
from tests.benchmarks import encode_peers
from tests.benchmarks.bench_validate import text_of
from tests.benchmarks.harness import keep_tables
from tests.support.real_tokenizers import family_files

__all__ = ["Family", "asked", "families", "texts"]

CORPORA = {"English": "english", "code": "python_code", "many languages": "multilingual"}
GAPS = (300, 100)

Encode = Callable[[str], Any]


@dataclass(frozen=True)
class Family:
    """A file, how tokdfa loads it, and its peers, which are made when they are first asked for.

    Attributes
    ----------
    name : str
    path : Path
    load : callable
        Loads the file into tokdfa.
    library : str
        The library that defines what the file means.
    make_library : callable
        Returns that library's function from a text to ids, in its fastest way.
    make_gigatoken : callable
        Returns gigatoken's tokenizer; raises if it does not load the file.
    """

    name: str
    path: Path
    load: Callable[[], tokdfa.AnyTokenizer]
    library: str
    make_library: Callable[[], Encode]
    make_gigatoken: Callable[[], Any]

    @cached_property
    def tokenizer(self) -> tokdfa.AnyTokenizer:
        return self.load()

    @cached_property
    def by_library(self) -> Encode:
        return self.make_library()

    @cached_property
    def gigatoken(self) -> Any | None:
        try:
            return self.make_gigatoken()
        except BaseException:  # A panic of its own language is not an Exception.
            return None

    def marker(self) -> str | None:
        """Return a special token that the file adds, as long as chat markers usually are; None without."""
        if self.path.suffix != ".json":
            return None
        added = json.loads(self.path.read_bytes())["added_tokens"]
        return max((token["content"] for token in added if token["special"]), key=len, default=None)


def asked(program: str, n_ids: int, names: Sequence[str] = ()) -> argparse.Namespace:
    """Return the arguments of a program about families: `ids`, and `family`, names that stand for all if empty."""
    arguments = sys.argv[1:]
    keep_tables(arguments)
    parser = argparse.ArgumentParser(prog=f"python -m tests.benchmarks.{program}")
    parser.add_argument("--ids", type=int, default=n_ids)
    parser.add_argument("--family", nargs="*", default=[*names])
    return parser.parse_args(arguments)


def families(names: list[str]) -> Iterator[Family]:
    """Yield the families of these names, or all."""
    data = Path(os.environ["TOKDFA_DATA"], "vocabs")
    files = {"gpt2": data / "gpt2/tokenizer.json", "bert": data / "bert_uncased_tokenizer.json"}
    made: dict[str, Callable[[], Family]] = {
        name: partial(_of_json, name, path) for name, path in (files | family_files()).items()
    }
    for name, pattern in {"cl100k": "gpt4", "o200k": "o200k"}.items():
        made[name] = partial(_of_ranks, name, data / f"{name}_base.tiktoken", pattern)
    made["mistral_v3"] = partial(_of_model, "mistral_v3", data / "mistral_v3.model")
    with tempfile.TemporaryDirectory() as folder:
        made["unigram_model"] = partial(_unigram, Path(folder, "unigram.model"), _of_model)
        made["unigram_json"] = partial(_unigram, Path(folder, "unigram.json"), _of_json)
        for name in names or made:
            yield made[name]()


def texts(family: Family, length: int) -> dict[str, str]:
    """Return the texts of a family by title, each cut to a length in characters."""
    data = Path(os.environ["TOKDFA_DATA"])
    found = {title: text_of(data, name)[:length] for title, name in CORPORA.items()}
    mark, english = family.marker(), found["English"]
    for gap in GAPS if mark is not None else ():
        found[f"a marker every {gap}"] = str(mark).join(english[at : at + gap] for at in range(0, len(english), gap))
    return found


def _of_json(name: str, path: Path) -> Family:
    def library() -> Encode:
        import tokenizers

        theirs = tokenizers.Tokenizer.from_file(str(path))
        theirs.no_truncation()
        theirs.no_padding()
        return lambda text: theirs.encode_batch_fast([text], add_special_tokens=False)[0].ids

    def peer() -> Any:
        import gigatoken

        return gigatoken.Tokenizer.from_json(path.read_text("utf-8"))

    return Family(name, path, partial(tokdfa.load, path), "tokenizers", library, peer)


def _of_ranks(name: str, path: Path, pattern: str) -> Family:
    return Family(
        name,
        path,
        partial(tokdfa.load, path, pretokenizer=name),
        "tiktoken",
        lambda: encode_peers.made_tiktoken(path, name).encode_ordinary,
        lambda: encode_peers.made_gigatoken(path, pattern),
    )


def _of_model(name: str, path: Path) -> Family:
    def library() -> Encode:
        import sentencepiece

        theirs: Any = sentencepiece.SentencePieceProcessor(model_file=str(path))
        return lambda text: theirs.encode(text, num_threads=1)

    def peer() -> Any:
        import gigatoken

        return gigatoken.Tokenizer.from_sentencepiece(str(path))

    return Family(name, path, partial(tokdfa.load, path), "sentencepiece", library, peer)


def _unigram(path: Path, make: Callable[[str, Path], Family]) -> Family:
    """Return a Unigram model of 8,000 pieces, in SentencePiece's own file or in one of tokenizers."""
    from tests.benchmarks import bench_unigram

    data = bench_unigram.trained(bench_unigram.corpus())
    path.write_bytes(data if path.suffix == ".model" else bench_unigram.as_tokenizer_json(data))
    return make(f"unigram_{path.suffix[1:]}", path)
