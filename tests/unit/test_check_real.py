"""The checker on the certificates of real tokenizers: cl100k, GPT-2, Llama-3 and seams; time and memory are printed."""

from __future__ import annotations

import base64
import copy
import json
import random
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tokdfa
from tests.support.checking import SOURCE, digest
from tests.support.extra import llama3_json
from tests.support.tokenizer_files import SPELLED, as_bytes, tiktoken_lines

pytestmark = pytest.mark.slow

BYTE_OF = {letter: byte for byte, letter in SPELLED.items()}
HF_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def run(certificate: Path, *files: Path) -> int:
    """Run the checker on its own, and print what it takes."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-I", SOURCE, certificate, *files], capture_output=True, text=True, check=False
    )
    taken = time.perf_counter() - begun
    # The greatest of all children so far.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{certificate.name}: {certificate.stat().st_size:,} bytes, {taken:.1f} s, {peak:.0f} MB, {done.returncode}")
    assert taken < 600
    assert peak < 4096
    return done.returncode


def certified(path: Path, a: Path, b: Path, *names: str | None) -> Path:
    """Write the certificate of a comparison."""
    one, other = (tokdfa.load(file, pretokenizer=name) for file, name in zip((a, b), names, strict=True))
    found = tokdfa.compare(one, other)
    assert found
    tokdfa.certify_comparison(found, one, other, files=(a, b)).save(path)
    return path


@pytest.fixture(scope="module")
def cl100k(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """cl100k's ranks, a tokenizer.json with all pairs as converters list them, and their certificate."""
    folder = tmp_path_factory.mktemp("cl100k")
    source = data / "vocabs" / "cl100k_base.tiktoken"
    lines = (line.split() for line in source.read_bytes().splitlines())
    ranks = {base64.b64decode(word): int(rank) for word, rank in lines}

    def spell(word: bytes) -> str:
        return "".join(SPELLED[byte] for byte in word)

    # As transformers converts ranks: every split of a token into two, in the order of the ranks.
    merges = []
    for word in sorted(ranks, key=ranks.__getitem__):
        splits = [(word[:at], word[at:]) for at in range(1, len(word)) if word[:at] in ranks and word[at:] in ranks]
        merges += sorted(splits, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": HF_PATTERN}, "behavior": "Isolated", "invert": False}
    path = folder / "tokenizer.json"
    content = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": None, "decoder": byte_level,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            "vocab": {spell(word): rank for word, rank in ranks.items()},
            "merges": [[spell(u), spell(v)] for u, v in merges],
        },
    }  # fmt: skip
    path.write_bytes(as_bytes(content))
    return source, path, certified(folder / "cl100k.json", source, path, "cl100k", None)


def test_cl100k_and_its_hugging_face_spelling(cl100k: tuple[Path, Path, Path]) -> None:
    ranks, converted, certificate = cl100k
    assert run(certificate, ranks, converted) == 0
    assert run(certificate, converted, ranks) != 0


def test_gpt2_and_the_spelling_of_tiktoken(data: Path, tmp_path: Path) -> None:
    merges = data / "vocabs" / "gpt2" / "merges.txt"
    vocabulary = json.loads(merges.with_name("vocab.json").read_text("utf-8"))
    words = {bytes(map(BYTE_OF.__getitem__, word)): id for word, id in vocabulary.items() if id < 50256}
    ranks = tmp_path / "gpt2.tiktoken"
    ranks.write_bytes(tiktoken_lines(words))
    vocab = merges.with_name("vocab.json")
    certificate = certified(tmp_path / "gpt2.json", vocab, ranks, "gpt2", "gpt2_tiktoken")
    assert run(certificate, vocab, ranks) == 0


def test_llama3_and_its_ranks(tmp_path: Path) -> None:
    content = {**llama3_json(), "added_tokens": []}
    path, ranks = tmp_path / "tokenizer.json", tmp_path / "llama3.tiktoken"
    path.write_bytes(as_bytes(content))
    words = content["model"]["vocab"].items()  # type: ignore[attr-defined]
    ranks.write_bytes(tiktoken_lines({bytes(map(BYTE_OF.__getitem__, word)): id for word, id in words}))
    certificate = certified(tmp_path / "llama3.json", path, ranks, None, "llama3")
    assert run(certificate, path, ranks) == 0


@pytest.mark.parametrize(
    ("file", "name", "before", "after", "regex"),
    [
        ("cl100k_base.tiktoken", "cl100k", ".", " The", False),
        ("cl100k_base.tiktoken", "cl100k", "q", "ж", False),
        ("o200k_base.tiktoken", "o200k", "[a-z]", " [a-z]", True),
        ("gpt2/tokenizer.json", None, "<|endoftext|>", "", False),
    ],
)
def test_a_seam_of_a_real_tokenizer_is_certified(
    data: Path, tmp_path: Path, file: str, name: str | None, before: str, after: str, regex: bool
) -> None:
    path = data / "vocabs" / file
    tokenizer = tokdfa.load(path, pretokenizer=name)
    found = tokdfa.splice(tokenizer, before=before, after=after, regex=regex)
    certificate = tokdfa.certify_splice(found, tokenizer, file=path, before=before, after=after, regex=regex)
    assert certificate.claim == "splices"
    certificate.save(tmp_path / "seam.json")
    assert run(tmp_path / "seam.json", path) == 0


def test_twenty_spoiled_ones_of_cl100k(cl100k: tuple[Path, Path, Path], tmp_path: Path) -> None:
    drawn = random.Random(20)
    ranks, converted, certificate = cl100k
    fields = json.loads(certificate.read_text("ascii"))
    kinds = ("merge", "size", "order", "next", "report", "state", "doomed", "class", "rank", "id")
    for number in range(20):
        spoiled, file = copy.deepcopy(fields), converted
        splitting, merging, kind = spoiled["splitting"], spoiled["merging"], kinds[number % len(kinds)]
        machine = splitting["machines"][number % 2]
        at = drawn.randrange(len(merging) - 1)
        row = drawn.randrange(len(machine["next"]))
        column = drawn.randrange(len(machine["next"][0]))
        if kind == "merge":
            del merging[at]
        elif kind == "size":
            merging[at][1] += 1
        elif kind == "order":
            merging[at], merging[at + 1] = merging[at + 1], merging[at]
        elif kind == "next":
            others = {*range(-1, len(machine["next"]))} - {machine["next"][row][column]}
            machine["next"][row][column] = drawn.choice(sorted(others))
        elif kind == "report":
            machine["report"][row][column] ^= 1
        elif kind in ("state", "doomed"):
            del splitting["states" if kind == "state" else kind][drawn.randrange(20)]
        elif kind == "class":
            splitting["classes"][drawn.randrange(9)][1] ^= 1
        else:
            # Another file, with its hash in the certificate.
            content = json.loads(converted.read_bytes())
            vocabulary, merges = content["model"]["vocab"], content["model"]["merges"]
            if kind == "id":
                one, other = drawn.sample(sorted(vocabulary), 2)
                vocabulary[one], vocabulary[other] = vocabulary[other], vocabulary[one]
            else:
                merges[at], merges[-at] = merges[-at], merges[at]
            file = tmp_path / "other.json"
            file.write_bytes(as_bytes(content))
            spoiled["sides"][1]["files"]["json"] = digest(file)
        path = tmp_path / f"{kind}.json"
        path.write_text(json.dumps(spoiled), encoding="ascii")
        assert run(path, ranks, file) == 1, kind
