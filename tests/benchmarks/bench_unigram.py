"""Unigram side by side: text to ids and back, and the judging of ids, compared with SentencePiece and tokenizers.

Run from the top of the repository with ``TOKDFA_DATA`` set: ``python -m tests.benchmarks.bench_unigram``. A model of
8,000 pieces is trained on the English corpus by SentencePiece; tokenizers gets the same pieces and scores. All run on
one thread, in their fastest documented ways, on the same million characters; the ids are checked to be the same.
Times are processor time, the median of seven. Memory is measured in fresh processes, one for each library and file.
"""

from __future__ import annotations

import os

# Before any library is loaded that reads them.
os.environ.update({"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"})

import base64
import io
import json
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as pb
from tokenizers import Tokenizer

import tokdfa
from tests.benchmarks.harness import environment, keep_tables, measure, print_table

SIZE = 1_000_000
REPEATS = 7


def corpus() -> str:
    folder = Path(os.environ["TOKDFA_DATA"], "corpora")
    return (folder / "english.txt").read_text(encoding="utf-8")


def trained(text: str) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text[:1_500_000].split("\n")),
        model_writer=written,
        model_type="unigram",
        vocab_size=8000,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        input_sentence_size=8000,
    )
    return written.getvalue()


def as_tokenizer_json(data: bytes, *, with_table: bool = False) -> bytes:
    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(data)
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    vocab = [[piece.piece, piece.score] for piece in model.pieces]
    table = base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()
    fields = {
        **dict.fromkeys(("truncation", "padding", "post_processor")),
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": table} if with_table and table else None,
        **{"version": "1.0", "added_tokens": [], "pre_tokenizer": metaspace, "decoder": metaspace},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False},
    }
    return json.dumps(fields).encode()


def rows_of(encoded: tokdfa.EncodedDocuments) -> list[list[int]]:
    return [encoded.ids[begin:end].tolist() for begin, end in pairwise(encoded.offsets.tolist())]


def table(title: str, callables: dict[str, Any], n: float, unit: str) -> None:
    """Time ours (the first) and theirs (the second)."""
    found = measure(callables, REPEATS, process_time, at_rest=True)
    (_, ours), (_, theirs) = found.items()
    rows: list[list[object]] = [[name, f"{n / each.median / 1e6:.2f}"] for name, each in found.items()]
    print_table(title, ["", unit], rows, f"{theirs.median / ours.median:.1f} times as fast")


def held() -> int:
    """Return the largest number of bytes that this process has held since that was forgotten; on Linux only."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def used(library: str, path: Path) -> None:
    """Print the memory that a library takes for its import, and at the peak for loading, encoding and judging."""
    text = corpus()[:SIZE]
    parts = [text.replace("\n", " ")[at : at + 2000] for at in range(0, SIZE, 2000)]
    # The peak that a process inherits, and the peak from reading the corpus, are forgotten.
    Path("/proc/self/clear_refs").write_text("5")
    imported = held()
    if library == "tokdfa":
        ours: Any = tokdfa.load(path)
        loaded = held()
        for ids in [ours.encode(part) for part in parts]:
            ours.validate(ids)
    elif library == "sentencepiece":
        peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
        loaded = held()
        for given in [peer.encode(part) for part in parts]:
            assert peer.encode(peer.decode(given)) is not None
    else:
        other = Tokenizer.from_file(str(path))
        loaded = held()
        for encoding in [other.encode(part, add_special_tokens=False) for part in parts]:
            assert other.encode(other.decode(encoding.ids, skip_special_tokens=False), add_special_tokens=False)
    print(json.dumps([loaded - imported, held() - imported]))


def memory(data: bytes) -> None:
    """Measure what the libraries take of it in processes of their own."""
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        model, fields = Path(folder, "tokenizer.model"), Path(folder, "tokenizer.json")
        model.write_bytes(data)
        fields.write_bytes(as_tokenizer_json(data))
        pairs = ("tokdfa", model), ("sentencepiece", model), ("tokdfa", fields), ("tokenizers", fields)
        for library, path in pairs:
            command = [sys.executable, "-m", "tests.benchmarks.bench_unigram", "--memory", library, str(path)]
            loaded, peak = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            rows.append([f"{library}, {path.name}", f"{loaded / 1e6:.0f}", f"{peak / 1e6:.0f}"])
    caption = "beyond what the process held after its imports; 500 texts of 2,000 characters are encoded, then judged"
    print_table("peak memory", ["", "MB to load", "MB in all"], rows, caption)


def main() -> None:
    if sys.argv[1:2] == ["--memory"]:
        used(sys.argv[2], Path(sys.argv[3]))
        return
    keep_tables(sys.argv[1:])
    print(environment("sentencepiece", "tokenizers"))
    text = corpus()
    data = trained(text)
    part = text[:SIZE]
    lines = part.split("\n")

    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    memory(data)
    started = process_time()
    ours: Any = tokdfa.load(data)
    loaded = process_time()
    ours.encode("the first text")
    first = process_time()
    assert rows_of(tokdfa.encode_batch(ours, lines, threads=1)) == peer.encode(lines)
    assert ours.encode(part).tolist() == peer.encode(part)
    table(
        f"sentencepiece, {len(lines):,} lines in a list",
        {
            "tokdfa.encode_batch": lambda: tokdfa.encode_batch(ours, lines, threads=1),
            "sentencepiece": lambda: peer.encode(lines, num_threads=1),
        },
        SIZE,
        "M characters/s",
    )
    table(
        "sentencepiece, line by line",
        {
            "tokdfa": lambda: [ours.encode(line) for line in lines],
            "sentencepiece": lambda: [peer.encode(line) for line in lines],
        },
        SIZE,
        "M characters/s",
    )
    table(
        "sentencepiece, one text",
        {"tokdfa": lambda: ours.encode(part), "sentencepiece": lambda: peer.encode(part)},
        SIZE,
        "M characters/s",
    )
    # Without unknown characters, which decode to another text.
    for _ in range(3):
        part = peer.decode(peer.encode(part)).replace(" \u2047 ", "")
    ids = ours.encode(part)
    given = ids.tolist()
    assert ours.validate(ids)
    table(
        "sentencepiece, judging ids",
        {"tokdfa": lambda: ours.validate(ids), "sentencepiece": lambda: peer.encode(peer.decode(given)) == given},
        len(ids),
        "M ids/s",
    )
    print(f"loading {loaded - started:.2f} s, first call {1e3 * (first - loaded):.1f} ms")

    as_json = as_tokenizer_json(data)
    other = Tokenizer.from_str(as_json.decode())
    of_json: Any = tokdfa.load(as_json)
    parts = [text.replace("\n", " ")[at : at + 2000] for at in range(0, SIZE, 2000)]
    assert rows_of(tokdfa.encode_batch(of_json, parts, threads=1)) == [each.ids for each in other.encode_batch(parts)]
    table(
        "tokenizers, 500 texts in a list",
        {
            "tokdfa.encode_batch": lambda: tokdfa.encode_batch(of_json, parts, threads=1),
            "tokenizers": lambda: other.encode_batch_fast(parts, add_special_tokens=False),
        },
        SIZE,
        "M characters/s",
    )
    streams = [stream for stream in map(of_json.encode, parts) if of_json.validate(stream)]
    lists = [stream.tolist() for stream in streams]
    table(
        "tokenizers, judging ids",
        {
            "tokdfa": lambda: [of_json.validate(stream) for stream in streams],
            "tokenizers": lambda: [
                encoding.ids == ids
                for encoding, ids in zip(
                    other.encode_batch_fast(
                        other.decode_batch(lists, skip_special_tokens=False), add_special_tokens=False
                    ),
                    lists,
                    strict=True,
                )
            ],
        },
        sum(map(len, lists)),
        "M ids/s",
    )


if __name__ == "__main__":
    main()
