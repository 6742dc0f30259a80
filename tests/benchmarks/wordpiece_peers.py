"""The libraries that bench_wordpiece compares: each in its fastest documented ways, on a list of lines and one text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tokdfa import WordPieceVocabulary
from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class Setting(NamedTuple):
    """A vocabulary, as a list and as a file, and whether text keeps its case."""

    entries: list[str]
    path: Path
    cased: bool
    blingfire_model: str


class Contender(NamedTuple):
    """The function to time, and how to read its result as a list of ids for each line."""

    run: Callable[[], Any]
    ids: Callable[[Any], Iterator[Sequence[int]]]


def ours(setting: Setting, lines: list[str]) -> dict[str, Contender]:
    normalizer = BertNormalizer(strip_accents=not setting.cased, lowercase=not setting.cased)
    added = {name: setting.entries.index(name) for name in SPECIALS}
    machine = EndToEnd(WordPieceVocabulary(setting.entries), normalizer, added)
    text = "\n".join(lines)

    def rows(result: Any) -> Iterator[Sequence[int]]:
        (ids, _, _), bounds = result
        return (ids[start:stop].tolist() for start, stop in pairwise(bounds))

    return {
        "tokdfa, all lines": Contender(lambda: machine.encode_batch(lines), rows),
        "tokdfa, all lines, offsets": Contender(lambda: machine.encode_batch(lines, "characters"), rows),
        "tokdfa, line by line": Contender(lambda: [machine.encode_ids(line) for line in lines], lists_of),
        "tokdfa, line by line, lists": Contender(
            lambda: [machine.encode_ids(line).tolist() for line in lines], lists_of
        ),
        "tokdfa, one text": Contender(lambda: machine.encode_ids(text), one_of),
    }


def lists_of(result: Any) -> Iterator[Sequence[int]]:
    return (list(map(int, ids)) for ids in result)


def one_of(result: Any) -> Iterator[Sequence[int]]:
    yield list(map(int, result))


def tokenizers(setting: Setting, lines: list[str]) -> dict[str, Contender]:
    tokenizer = _tokenizers(setting)
    text = "\n".join(lines)

    def ids(result: Any) -> Iterator[Sequence[int]]:
        return (encoding.ids for encoding in result)

    return {
        "tokenizers, encode_batch_fast": Contender(
            lambda: tokenizer.encode_batch_fast(lines, add_special_tokens=False), ids
        ),
        "tokenizers, encode_batch, offsets": Contender(
            lambda: tokenizer.encode_batch(lines, add_special_tokens=False), ids
        ),
        "tokenizers, one text": Contender(
            lambda: tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids, one_of
        ),
    }


def _tokenizers(setting: Setting) -> Any:
    library = import_module("tokenizers.implementations")
    return library.BertWordPieceTokenizer(
        str(setting.path), lowercase=not setting.cased, strip_accents=not setting.cased
    )._tokenizer


def splintr(setting: Setting, lines: list[str]) -> dict[str, Contender]:
    library = import_module("splintr")
    # The ways without lists put special tokens around, unless the file has none.
    plain = json.loads(Path(_as_json(setting)).read_text("utf-8")) | {"post_processor": None}
    tokenizer = library.from_json_bytes(json.dumps(plain).encode())
    text = "\n".join(lines)

    def rows(result: Any) -> Iterator[Sequence[int]]:
        ids, bounds = np.frombuffer(result[0], np.uint32), np.frombuffer(result[1], np.uint64).astype(int)
        return (ids[start:stop].tolist() for start, stop in pairwise(bounds))

    return {
        "splintr, encode_batch_flat": Contender(lambda: tokenizer.encode_batch_flat(lines), rows),
        "splintr, line by line": Contender(lambda: [tokenizer.encode_flat(line) for line in lines], buffers_of),
        "splintr, one text": Contender(lambda: tokenizer.encode_flat(text), lambda result: buffers_of([result])),
    }


def buffers_of(result: Any) -> Iterator[Sequence[int]]:
    return (np.frombuffer(ids, np.uint32).tolist() for ids in result)


def tokie(setting: Setting, lines: list[str]) -> dict[str, Contender]:
    library = import_module("tokie")
    tokenizer = library.Tokenizer.from_json(_as_json(setting))
    text = "\n".join(lines)

    def rows(result: Any) -> Iterator[Sequence[int]]:
        bounds = np.concatenate(([0], np.cumsum(result[1]))).astype(int)
        return (result[0][start:stop].tolist() for start, stop in pairwise(bounds))

    return {
        "tokie, encode_batch_flat": Contender(
            lambda: tokenizer.encode_batch_flat(lines, add_special_tokens=False), rows
        ),
        "tokie, one text": Contender(lambda: tokenizer.encode(text, add_special_tokens=False).ids, one_of),
    }


def flash_tokenizer(setting: Setting, lines: list[str]) -> dict[str, Contender]:
    library = import_module("flash_tokenizer")
    tokenizer = library.BertTokenizerFlash(
        str(setting.path), do_lower_case=not setting.cased, model_max_length=1 << 20
    ).tokenizer

    def ids(result: Any) -> Iterator[Sequence[int]]:
        return (row[1:-1] for row in result)

    text = "\n".join(lines)
    return {
        "flash-tokenizer, line by line": Contender(
            lambda: [tokenizer.encode(line, "longest", 1 << 20) for line in lines], ids
        ),
        "flash-tokenizer, batch_encode": Contender(
            lambda: tokenizer.batch_encode(lines, "longest", 1 << 20, parallel=False), ids
        ),
        "flash-tokenizer, one text": Contender(lambda: [tokenizer.encode(text, "longest", 1 << 24)], ids),
    }


def tensorflow_text(setting: Setting, lines: list[str]) -> dict[str, Contender]:
    tf, text = import_module("tensorflow"), import_module("tensorflow_text")
    fast = text.FastBertTokenizer(
        vocab=setting.entries, token_out_type=tf.int32, lower_case_nfd_strip_accents=not setting.cased
    )
    plain = text.BertTokenizer(str(setting.path), token_out_type=tf.int32, lower_case=not setting.cased)
    batch, one = tf.constant(lines), tf.constant(["\n".join(lines)])
    # As a function it runs as a graph.
    in_graph = tf.function(fast.tokenize)
    lists = lambda result: iter(result.to_list())  # noqa: E731
    return {
        "TensorFlow Text, FastBertTokenizer": Contender(lambda: in_graph(batch), lists),
        "TensorFlow Text, one text": Contender(lambda: in_graph(one), lists),
        "TensorFlow Text, BertTokenizer": Contender(lambda: plain.tokenize(batch).merge_dims(-2, -1), lists),
    }


def blingfire(setting: Setting, lines: list[str]) -> dict[str, Contender]:
    library = import_module("blingfire")
    model = library.load_model(str(Path(library.__file__).with_name(setting.blingfire_model)))
    text, unknown = "\n".join(lines), setting.entries.index("[UNK]")
    # A symbol gives at most one id.
    return {
        "BlingFire, line by line": Contender(
            lambda: [library.text_to_ids(model, line, len(line), unknown, True) for line in lines], lists_of
        ),
        "BlingFire, one text": Contender(lambda: library.text_to_ids(model, text, len(text), unknown, True), one_of),
    }


PEERS: dict[str, Callable[[Setting, list[str]], dict[str, Contender]]] = {
    "tokenizers": tokenizers,
    "splintr-rs": splintr,
    "tokie": tokie,
    "flash-tokenizer": flash_tokenizer,
    "tensorflow-text": tensorflow_text,
    "blingfire": blingfire,
}


def _as_json(setting: Setting) -> str:
    path = setting.path.with_suffix(".json")
    if not path.exists():
        _tokenizers(setting).save(str(path))
    return str(path)


def installed() -> list[str]:
    found = []
    for package in PEERS:
        try:
            version(package)
        except PackageNotFoundError:
            print(f"{package} is not installed")
        else:
            found.append(package)
    return found
