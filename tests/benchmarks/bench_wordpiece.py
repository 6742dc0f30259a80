"""WordPiece side by side: text to ids, and the time of one word against its length.

Run from the top of the repository with ``TOKDFA_DATA`` set: ``python -m tests.benchmarks.bench_wordpiece [PART…]``,
the parts being ``english``, ``multilingual``, ``cased``, ``words`` and ``length``. Peers that are not installed are
left out. All run on one thread, held to one processor, in their fastest documented ways on the same list of lines and
on one text, and give ids without special tokens; the table says whether these are the ids of tokenizers. Nothing of
ours is cached between texts, so warm and cold runs do not differ.

The figures of *Fast WordPiece Tokenization* (8.2 times tokenizers, 5.1 times TensorFlow Text) are for the multilingual
cased vocabulary. With BlingFire installed, which packages it, the parts ``cased`` and ``words`` measure that one,
the latter on single words that are already split.
"""

from __future__ import annotations

import os

# Before any library is loaded that reads them.
os.environ.update(
    {
        "RAYON_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
        "TF_NUM_INTRAOP_THREADS": "1",
        "TF_NUM_INTEROP_THREADS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
    }
)

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table
from tests.benchmarks.wordpiece_peers import PEERS, Contender, Setting, installed, ours
from tokdfa import LinMaxMatch, WordPieceVocabulary, max_match
from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer

LENGTHS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
SLOWEST = 1.0
WORDS = 100_000


def speed(title: str, corpus: Path, setting: Setting, packages: list[str]) -> None:
    lines = [line for line in corpus.read_text("utf-8").split("\n") if line.strip()]
    n_words = sum(len(line.split()) for line in lines)
    n_bytes = sum(len(line.encode()) + 1 for line in lines)
    contenders = ours(setting, lines)
    for package in packages:
        contenders.update(PEERS[package](setting, lines))
    reference = [
        list(ids)
        for ids in contenders["tokenizers, encode_batch_fast"].ids(contenders["tokenizers, encode_batch_fast"].run())
    ]
    flat = [[number for ids in reference for number in ids]]
    alike = {}
    for name, contender in contenders.items():
        given = [list(ids) for ids in contender.ids(contender.run())]
        expected = flat if len(given) == 1 else reference
        differing = sum(mine != right for mine, right in zip(given, expected, strict=True))
        alike[name] = "yes" if not differing else f"not on {differing}" if len(given) > 1 else "no"
    measured = measure({name: contender.run for name, contender in contenders.items()}, 5, process_time)
    base = measured["tokenizers, encode_batch_fast"].median
    ours_of = {form: measured[f"tokdfa, {form}"].median for form in ("all lines", "one text")}
    table: list[list[object]] = []
    for name, measurement in measured.items():
        seconds = measurement.median
        fastest = ours_of["one text" if name.endswith("one text") else "all lines"]
        table.append(
            [name, n_words / seconds / 1e6, n_bytes / seconds / 1e6, base / seconds, seconds / fastest, alike[name]]
        )
    print_table(
        f"{title}: {len(lines):,} lines, {n_words:,} words, {n_bytes:,} bytes",
        ["", "M words/s", "MB/s", "x tokenizers", "tokdfa is x", "same ids"],
        table,
        f"median of 5, in turn; processor time of one thread; what takes one text is compared with tokdfa, one text, "
        f"the others with tokdfa, all lines; {environment(*packages)}; peak memory {peak_memory() / 1e6:,.0f} MB",
    )


def length() -> None:
    """Measure one word of growing length, of the vocabulary on which the longest match takes most candidates."""
    entries = ["[UNK]", "a", "##a"]
    vocabulary = WordPieceVocabulary(entries, longest_word=None)
    machine, end_to_end = LinMaxMatch(vocabulary), EndToEnd(vocabulary)
    contenders: dict[str, Callable[[str], object]] = {
        "LinMaxMatch": machine.tokenize,
        "end to end": end_to_end.encode,
        "MaxMatch": lambda word: max_match(vocabulary, word),
    }
    try:
        contenders["tokenizers"] = _hugging_face_words(entries).tokenize
    except ImportError:
        print("tokenizers is not installed")
    try:
        contenders |= {
            name: lambda word, batch=batch: batch([word]) for name, batch in _tensorflow_words(entries).items()
        }
    except ImportError:
        print("tensorflow-text is not installed")
    table: list[list[object]] = [[name] for name in contenders]
    given_up: set[str] = set()
    for n in LENGTHS:
        word = "a" * n
        for row, (name, function) in zip(table, contenders.items(), strict=True):
            if name in given_up:
                row.append("-")
                continue
            seconds = measure({name: partial(function, word)}, 5, process_time)[name].median
            row.append(seconds * 1e3)
            if seconds * 9 > SLOWEST:
                given_up.add(name)
    print_table(
        "Milliseconds for one word of n letters, entries a and ##a",
        ["", *(f"n = {n:,}" for n in LENGTHS)],
        table,
        f"median of 5; - where more than {SLOWEST:.0f} s would be taken; {environment()}",
    )


def _hugging_face_words(entries: list[str]) -> Any:
    ids = {entry: number for number, entry in enumerate(entries)}
    models = import_module("tokenizers.models")
    return models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=1 << 30)


def _tensorflow_words(entries: list[str]) -> dict[str, Callable[[list[str]], Any]]:
    """Return the two tokenizers of single words of TensorFlow Text, by name: of a list of words at once."""
    tf, text = import_module("tensorflow"), import_module("tensorflow_text")
    options = {"max_bytes_per_word": 1 << 30, "token_out_type": tf.int32, "unknown_token": "[UNK]"}
    fast = text.FastWordpieceTokenizer(vocab=entries, no_pretokenization=True, **options)
    table = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(entries, range(len(entries)), value_dtype=tf.int64), 1
    )
    plain = text.WordpieceTokenizer(table, **options)
    return {
        "TensorFlow Text, FastWordpieceTokenizer": lambda words: fast.tokenize(tf.constant(words)),
        "TensorFlow Text, WordpieceTokenizer": lambda words: plain.tokenize(tf.constant(words)),
    }


def words(corpus: Path, setting: Setting) -> None:
    """Measure single words, split as BERT splits them."""
    split = import_module("tokenizers.pre_tokenizers").BertPreTokenizer()
    found = [word for word, _ in split.pre_tokenize_str(corpus.read_text("utf-8"))]
    found = found[:: max(1, len(found) // WORDS)]
    vocabulary = WordPieceVocabulary(setting.entries, longest_word=None)
    machine, theirs = LinMaxMatch(vocabulary), _hugging_face_words(setting.entries)
    batch = EndToEnd(vocabulary, BertNormalizer(strip_accents=False, lowercase=False))

    def rows(result: Any) -> Iterator[Sequence[int]]:
        (ids, _, _), bounds = result
        return (ids[start:stop].tolist() for start, stop in pairwise(bounds))

    contenders: dict[str, Contender] = {
        "tokdfa, LinMaxMatch": Contender(lambda: [machine.tokenize(word) for word in found], iter),
        "tokdfa, all words at once": Contender(lambda: batch.encode_batch(found), rows),
        "tokdfa, MaxMatch in Python": Contender(lambda: [max_match(vocabulary, word) for word in found], iter),
        "tokenizers, WordPiece": Contender(
            lambda: [theirs.tokenize(word) for word in found],
            lambda result: ([token.id for token in tokens] for tokens in result),
        ),
    }
    try:
        contenders |= {
            name: Contender(partial(batch, found), lambda result: iter(result.to_list()))
            for name, batch in _tensorflow_words(setting.entries).items()
        }
    except ImportError:
        print("tensorflow-text is not installed")
    reference = list(contenders["tokenizers, WordPiece"].ids(contenders["tokenizers, WordPiece"].run()))
    alike = {
        name: sum(list(mine) != right for mine, right in zip(contender.ids(contender.run()), reference, strict=True))
        for name, contender in contenders.items()
    }
    measured = measure({name: contender.run for name, contender in contenders.items()}, 5, process_time)
    base = measured["tokdfa, LinMaxMatch"].median
    symbols = sum(map(len, found)) / len(found)
    print_table(
        f"Single words, multilingual cased: {len(found):,} words of {symbols:.1f} symbols",
        ["", "ns a word", "M words/s", "tokdfa is x", "other ids"],
        [
            [name, each.median / len(found) * 1e9, len(found) / each.median / 1e6, each.median / base, alike[name]]
            for name, each in measured.items()
        ],
        "median of 5, in turn; processor time of one thread, with a call from Python for each word, or one for all "
        f"words (TensorFlow Text); {environment(*installed())}",
    )


def _multilingual_cased(folder: Path) -> Setting | None:
    """Read the vocabulary off BlingFire's package, which joins pieces to text but has no list."""
    try:
        library = import_module("blingfire")
    except ImportError:
        print("blingfire is not installed, whose package has the multilingual cased vocabulary")
        return None
    model = library.load_model(str(Path(library.__file__).with_name("bert_multi_cased.i2w")))
    entries = []
    for number in range(119_547):
        # A piece twice: a word is written "word word", a piece that continues one "piecepiece".
        twice = library.ids_to_text(model, np.array([number, number], np.int32), skip_special_tokens=False)
        half = len(twice) // 2
        # The package has no text for 149 pieces; they get one that no word has.
        entries.append(f"[lost{number}]" if not half else twice[:half] if len(twice) % 2 else "##" + twice[:half])
    path = folder / "multilingual-cased-vocab.txt"
    path.write_text("".join(f"{entry}\n" for entry in entries), "utf-8")
    return Setting(entries, path, True, "bert_multi_cased.bin")


def main(parts: list[str]) -> None:
    data = Path(os.environ["TOKDFA_DATA"])
    packages = installed()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        entries = (data / "vocabs" / "bert_uncased_vocab.txt").read_text("utf-8").splitlines()
        path = folder / "uncased-vocab.txt"
        path.write_text("".join(f"{entry}\n" for entry in entries), "utf-8")
        uncased = Setting(entries, path, False, "bert_base_tok.bin")
        if "english" in parts:
            speed("English, uncased", data / "corpora" / "english.txt", uncased, packages)
        if "multilingual" in parts:
            speed("Multilingual, uncased", data / "corpora" / "multilingual.txt", uncased, packages)
        if "cased" in parts:
            cased = _multilingual_cased(folder)
            if cased is not None:
                speed("Multilingual, multilingual cased", data / "corpora" / "multilingual.txt", cased, packages)
        if "words" in parts:
            cased = _multilingual_cased(folder)
            if cased is not None:
                words(data / "corpora" / "multilingual.txt", cased)
        if "length" in parts:
            length()


if __name__ == "__main__":
    keep_tables(sys.argv)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    main(sys.argv[1:] or ["english", "multilingual", "cased", "words", "length"])
