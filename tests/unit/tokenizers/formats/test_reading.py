"""Which file of a folder is taken, and the format of a file by its content."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import tokdfa
from tests.support import sentencepieces
from tests.support.tokenizer_files import as_bytes, merges_txt, tekken_json, tiktoken_lines, tokenizer_json
from tokdfa.base.errors import FileFormatError, LimitExceededError
from tokdfa.tokenizers.formats.files import unpacked
from tokdfa.tokenizers.formats.reading import detect

RANKED = tiktoken_lines()


@pytest.mark.parametrize(
    "name", ["tokenizer.model", "tiktoken.model", "qwen.tiktoken", "ranks", "ranks.bin", "x.model.v3"]
)
def test_ranks_are_recognised_by_their_content(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for data in (RANKED, b"\n\n" + RANKED, gzip.compress(RANKED)):
        path.write_bytes(data)
        tokenizer = tokdfa.load(path, pretokenizer="none")
        assert (tokenizer.format, tokenizer.n_tokens) == ("tiktoken", RANKED.count(b"\n"))
    if not name.endswith(("ranks", ".bin", ".v3")):
        assert tokdfa.load(tmp_path, pretokenizer="none").format == "tiktoken"


def test_ranks_with_carriage_returns_are_refused_as_ranks(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(RANKED.replace(b"\n", b"\r\n"))
    with pytest.raises(FileFormatError, match="convert the line endings"):
        tokdfa.load(path)


@pytest.mark.parametrize("name", ["tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "m.model", "m.bin"])
def test_models_are_recognised_by_their_content(name: str, tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    path = tmp_path / name
    path.write_bytes(sentencepieces.trained("identity", True))
    assert tokdfa.load(path).format == "sentencepiece"
    if not name.startswith("m."):
        assert tokdfa.load(tmp_path).format == "sentencepiece"


def test_prefixes_of_a_model_and_of_ranks(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    here = tmp_path / "tokenizer.model"
    refused = []
    for data in (RANKED, sentencepieces.trained("identity", False)):
        for end in [*range(1, 60), *range(60, len(data), len(data) // 50)]:
            here.write_bytes(data[:end])
            try:
                tokdfa.load(tmp_path, pretokenizer="none")
                # Only ranks that end with a whole line, after the bytes that a text can have.
                assert data is RANKED
                assert data[:end].endswith(b"\n") or data[end : end + 1] == b"\n"
            except FileFormatError as error:
                refused.append(str(error).startswith(str(here)))
    assert len(refused) > 150
    assert all(refused)


@pytest.mark.parametrize(
    ("data", "format"),
    [
        (RANKED, "tiktoken"),
        (as_bytes(tokenizer_json()), "tokenizer.json"),
        (as_bytes(tekken_json()), "tekken"),
        (merges_txt().encode(), "merges"),
        (b"\n\x0e\n\x05<unk>\x15\x00\x00\x00\x00\x18\x02", "sentencepiece"),
    ],
)
def test_content_alone(data: bytes, format: str) -> None:
    assert detect(data, Path("<bytes>")) == format


@pytest.mark.parametrize(
    "data",
    [
        b"x",
        b"\n",
        b"\n\x0e",
        b"\n\xff\n\x05<unk>\x15",
        b"YQ== 0\n" * 7,
        b"YQ= 0\n" * 8,
        b"a 1\nb 2\nc 3\nd 4\ne 5\nf 6\ng 7\nh 8\n",
        b"\xff" * 100,
        b"A" * 100_000,
    ],
)
def test_what_is_not_recognised(data: bytes) -> None:
    with pytest.raises(FileFormatError, match="cannot be recognised from the content or the name"):
        detect(data, Path("<bytes>"))


def test_rules_with_numbers_are_rules(tmp_path: Path) -> None:
    path = tmp_path / "merges.txt"
    path.write_bytes(b"".join(b"%04d %d\n" % (i, i) for i in range(9)))
    assert detect(path.read_bytes(), path) == "merges"


def test_the_order_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "tiktoken.model").write_bytes(RANKED)
    (tmp_path / "merges.txt").write_text(merges_txt())
    assert tokdfa.load(tmp_path, pretokenizer="none").format == "tiktoken"
    assert tokdfa.load(tmp_path, format="merges").format == "merges"
    (tmp_path / "tokenizer.json").write_bytes(as_bytes(tokenizer_json()))
    assert tokdfa.load(tmp_path).format == "tokenizer.json"
    assert tokdfa.load(tmp_path, format="tiktoken", pretokenizer="none").format == "tiktoken"
    with pytest.raises(FileFormatError, match="there is no file of the format sentencepiece in this folder"):
        tokdfa.load(tmp_path, format="sentencepiece")


def test_packed_data_has_a_limit() -> None:
    bomb = gzip.compress(bytes((1 << 28) + 1), compresslevel=1)
    with pytest.raises(LimitExceededError, match="larger than 268435456 bytes"):
        unpacked(bomb, Path("x"))
    with pytest.raises(FileFormatError, match="damaged gzip"):
        unpacked(b"\x1f\x8b\x08", Path("x"))
