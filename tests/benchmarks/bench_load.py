"""Loading tokenizers with tokdfa, the files' own libraries and faster ones, and loading the objects of these libraries.

``TOKDFA_DATA=… python -m tests.benchmarks.bench_load [files] [models] [objects] [NAME=FILE...]``, by default all three.
`files` loads six files with every library that reads them, and `models` Unigram models of 32,000 pieces, with and
without a character table, which SentencePiece trains first, within a minute. Libraries put off some of their work until
the first text, so the times of loading and until the first ids are given, both in a process that has loaded before;
``bench_start`` begins with the start of a process. `objects` loads objects of the libraries themselves, next to
the time that these take to give the contents of their objects, a lower bound. Any tokenizer.json that is named
(Llama-3's, Qwen's, Gemma's) is loaded next to tokenizers, as a file and as an object. A table is printed, and kept with
``--json FILE``, as soon as it is measured.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

from tests.benchmarks.encode_peers import ranks
from tests.benchmarks.harness import environment, keep_tables, measure, print_table

FIRST = "The first words."


class Library(NamedTuple):
    """A library: its name, its way in words, the way itself, and how what it makes encodes."""

    name: str
    way: str
    load: Callable[[], Any]
    encode: Callable[[Any], object]


def of_json(path: Path) -> list[Library]:
    """Return those that read a tokenizer.json."""
    import gigatoken
    import splintr
    import tokenizers

    import tokdfa

    name = str(path)
    return [
        Library("tokdfa", "load", lambda: tokdfa.load(path), lambda made: made.encode(FIRST)),
        Library("gigatoken", "Tokenizer(path)", lambda: gigatoken.Tokenizer(name), lambda made: made.encode(FIRST)),
        Library("splintr", "from_json", lambda: splintr.from_json(name), lambda made: made.encode_flat(FIRST)),
        Library(
            "tokenizers",
            "from_file",
            lambda: tokenizers.Tokenizer.from_file(name),
            lambda made: made.encode_batch_fast([FIRST], add_special_tokens=False),
        ),
    ]


def of_tokenizers(path: Path) -> list[Library]:
    """Return tokdfa and tokenizers, for a tokenizer.json that others refuse."""
    return [library for library in of_json(path) if library.name in ("tokdfa", "tokenizers")]


def of_sentencepiece(path: Path) -> list[Library]:
    """Return those that read a SentencePiece model."""
    import sentencepiece

    import tokdfa

    return [
        Library("tokdfa", "load", lambda: tokdfa.load(path), lambda made: made.encode(FIRST)),
        Library(
            "sentencepiece",
            "SentencePieceProcessor",
            lambda: sentencepiece.SentencePieceProcessor(model_file=str(path)),
            lambda made: made.encode(FIRST),
        ),
    ]


def of_ranks(path: Path, name: str) -> list[Library]:
    """Return those that read a .tiktoken file, given its pattern."""
    import gigatoken
    import splintr
    import tiktoken

    import tokdfa

    patterns: Any = json.loads((path.parent / "patterns.json").read_bytes())
    theirs: Any = {"cl100k": splintr.CL100K_BASE_PATTERN, "o200k": splintr.O200K_BASE_PATTERN}[name]

    def by_tiktoken() -> object:
        # As tiktoken.load does, without its cache.
        return tiktoken.Encoding(name, pat_str=patterns[name], mergeable_ranks=ranks(path), special_tokens={})

    def by_gigatoken() -> object:
        return gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=name, special_tokens={})

    return [
        Library("tokdfa", "load", lambda: tokdfa.load(path, pretokenizer=name), lambda made: made.encode(FIRST)),
        Library("gigatoken", "from_tiktoken", by_gigatoken, lambda made: made.encode(FIRST)),
        Library(
            "splintr", "Tokenizer(path)", lambda: splintr.Tokenizer(str(path), theirs), lambda m: m.encode_flat(FIRST)
        ),
        Library("tiktoken", "Encoding", by_tiktoken, lambda made: made.encode_ordinary(FIRST)),
    ]


def of_tekken(path: Path) -> list[Library]:
    """Return those that read a tekken.json."""
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    import tokdfa

    return [
        Library("tokdfa", "load", lambda: tokdfa.load(path), lambda made: made.encode(FIRST)),
        Library(
            "mistral-common",
            "Tekkenizer.from_file",
            lambda: Tekkenizer.from_file(path),
            lambda made: made.encode(FIRST, bos=False, eos=False),
        ),
    ]


def measured(libraries: list[Library], repeats: int) -> dict[str, tuple[float, float]]:
    """Return for each library the median time to load, and until the first ids; the first run of each is left out."""
    seconds: dict[str, list[tuple[float, float]]] = {library.name: [] for library in libraries}
    for repeat in range(repeats + 1):
        for library in libraries:
            began = process_time()
            made = library.load()
            loaded = process_time() - began
            library.encode(made)
            if repeat:
                seconds[library.name].append((loaded, process_time() - began))
            del made
    return {name: (median(row[0] for row in rows), median(row[1] for row in rows)) for name, rows in seconds.items()}


def beside_libraries(path: Path, libraries: list[Library], repeats: int) -> None:
    """Print how long the libraries take to load a file."""
    seconds = measured(libraries, repeats)
    loaded, used = seconds["tokdfa"]
    rows: list[list[object]] = [
        [f"{name}, {library.way}", 1e3 * mine, 1e3 * until, f"{mine / loaded:.2f}", f"{until / used:.2f}"]
        for library in libraries
        for name, (mine, until) in [(library.name, seconds[library.name])]
    ]
    columns = ["library", "load, ms", "load and first ids, ms", "tokdfa is times faster", "and until the ids"]
    packages = environment("gigatoken", "splintr-rs", "tiktoken", "tokenizers", "mistral-common", "sentencepiece")
    caption = f"medians of {repeats}, in turn; processor time, one thread; {packages}"
    print_table(f"Loading {path.name}", columns, rows, caption)


def models(corpora: Path, repeats: int) -> None:
    """Print how long Unigram models take to load, as SentencePiece writes them and as tokenizer.json."""
    from tests.benchmarks.bench_unigram import as_tokenizer_json

    lines = [
        line
        for name in ("english", "multilingual")
        for line in (corpora / f"{name}.txt").read_text(encoding="utf-8", errors="ignore").splitlines()[::3]
        if line.strip()
    ]
    with tempfile.TemporaryDirectory() as folder:
        for rule, name in (("nmt_nfkc", "unigram, character table"), ("identity", "unigram")):
            model, fast = Path(folder, f"{name}.model"), Path(folder, f"{name}.tokenizer.json")
            model.write_bytes(_trained(lines, rule))
            fast.write_bytes(as_tokenizer_json(model.read_bytes(), with_table=True))
            beside_libraries(fast, of_tokenizers(fast), repeats)
            beside_libraries(model, of_sentencepiece(model), repeats)


def _trained(lines: list[str], rule: str) -> bytes:
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=written, model_type="unigram", vocab_size=32_000,
        normalization_rule_name=rule, hard_vocab_limit=False, minloglevel=2, max_sentence_length=20_000,
    )  # fmt: skip
    return written.getvalue()


def beside_tokenizers(files: dict[str, Path], repeats: int) -> None:
    """Print how long tokenizer.json files take, with us and with tokenizers, and the objects that it makes of them."""
    import tokenizers

    import tokdfa

    rows: list[list[object]] = []
    for name, path in files.items():
        made = tokenizers.Tokenizer.from_file(str(path))
        calls: dict[str, Callable[[], object]] = {
            "theirs": lambda path=path: tokenizers.Tokenizer.from_file(str(path)),  # type: ignore[misc]
            "file": lambda path=path: tokdfa.load(path),  # type: ignore[misc]
            "object": lambda made=made: tokdfa.load(made),  # type: ignore[misc]
            "content": made.to_str,
        }
        seconds = {key: value.median for key, value in measure(calls, repeats, process_time).items()}
        ratios = [f"{seconds[key] / seconds['theirs']:.2f}" for key in ("file", "object")]
        rows.append([name, *(1e3 * seconds[key] for key in calls), *ratios])
    columns = ["file", "tokenizers, ms", "tokdfa, ms", "tokdfa, object, ms", "to_str alone, ms", "ratio", "object"]
    caption = f"medians of {repeats}, in turn; processor time, one thread; {environment('tokenizers')}"
    print_table("Loading a tokenizer.json, and its object", columns, rows, caption)


def objects(vocabs: Path, repeats: int) -> None:
    """Print how long the objects of other libraries take, next to these libraries, and their time for the contents."""
    import sentencepiece
    import tiktoken
    import tokenizers
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    import tokdfa

    patterns: Any = json.loads((vocabs / "patterns.json").read_bytes())
    gpt2, model, ranked = vocabs / "gpt2/tokenizer.json", vocabs / "mistral_v3.model", vocabs / "cl100k_base.tiktoken"

    def encoding() -> Any:
        return tiktoken.Encoding("x", pat_str=patterns["cl100k"], mergeable_ranks=ranks(ranked), special_tokens={})

    ways: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
        "tokenizers.Tokenizer, GPT-2": (lambda: tokenizers.Tokenizer.from_file(str(gpt2)), lambda made: made.to_str()),
        "tiktoken.Encoding, cl100k": (encoding, lambda made: dict(made._mergeable_ranks)),
        "SentencePieceProcessor, Mistral": (
            lambda: sentencepiece.SentencePieceProcessor(model_file=str(model)),
            lambda made: made.serialized_model_proto(),
        ),
        "Tekkenizer, tekken_240911": (
            lambda: Tekkenizer.from_file(_tekken()),
            lambda made: dict(made._model._mergeable_ranks),
        ),
    }
    rows: list[list[object]] = []
    for name, (load, content) in ways.items():
        made = load()
        calls: dict[str, Callable[[], object]] = {
            "theirs": load,
            "content": lambda content=content, made=made: content(made),  # type: ignore[misc]
            "tokdfa": lambda made=made: tokdfa.load(made),  # type: ignore[misc]
        }
        seconds = {key: value.median for key, value in measure(calls, repeats, process_time).items()}
        rows.append([name, *(1e3 * seconds[key] for key in calls), f"{seconds['tokdfa'] / seconds['theirs']:.2f}"])
    columns = ["object", "made by its library, ms", "its content alone, ms", "tokdfa.load, ms", "ratio"]
    packages = environment("tokenizers", "tiktoken", "sentencepiece", "mistral-common")
    caption = f"medians of {repeats}, in turn; processor time, one thread; {packages}"
    print_table("Loading objects of other libraries", columns, rows, caption)


def _tekken() -> Path:
    import mistral_common

    return Path(mistral_common.__file__).parent / "data/tekken_240911.json"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", help="files, models, objects, NAME=FILE; by default the first three")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    vocabs = Path(os.environ["TOKDFA_DATA"]) / "vocabs"
    named = {name: Path(path) for name, is_named, path in (part.partition("=") for part in options.parts) if is_named}
    parts = [part for part in options.parts if "=" not in part] or ([] if named else ["files", "models", "objects"])
    if "files" in parts:
        gpt2 = vocabs / "gpt2/tokenizer.json"
        beside_libraries(gpt2, of_json(gpt2), options.repeats)
        for name in ("cl100k", "o200k"):
            path = vocabs / f"{name}_base.tiktoken"
            beside_libraries(path, of_ranks(path, name), options.repeats)
        beside_libraries(_tekken(), of_tekken(_tekken()), options.repeats)
        bert, mistral = vocabs / "bert_uncased_tokenizer.json", vocabs / "mistral_v3.model"
        beside_libraries(bert, of_tokenizers(bert), options.repeats)
        beside_libraries(mistral, of_sentencepiece(mistral), options.repeats)
    if "models" in parts:
        models(vocabs.parent / "corpora", options.repeats)
    if "objects" in parts:
        objects(vocabs, options.repeats)
    if named:
        beside_tokenizers(named, options.repeats)


if __name__ == "__main__":
    keep_tables(sys.argv)
    os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    main()
