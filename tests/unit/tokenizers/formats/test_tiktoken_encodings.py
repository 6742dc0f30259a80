"""Encodings by name: only published files count, wherever tiktoken and others keep them, and nothing is downloaded."""

from __future__ import annotations

import base64
import hashlib
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tokdfa.regex.unicode.utf8 import BYTE_OF, GPT2_ORDER
from tokdfa.tokenizers.formats.tiktoken import encoding_of_model, how_to_get, read_encoding
from tokdfa.tokenizers.formats.tiktoken_encodings import ENCODINGS

TEXTS = ("a single man", "I'LL  do\n\n it 12345 中文 \u0130 <|endoftext|> <|start|>", " \t\r\n x", "'s\u017f 'Ll")
GPT2_RULES = "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main/vocab.bpe"


def key(url: str) -> str:
    return hashlib.sha1(url.encode()).hexdigest()


def lines(words: list[bytes], first: int = 0) -> bytes:
    return b"".join(base64.b64encode(word) + b" %d\n" % (first + i) for i, word in enumerate(words))


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty machine without a network."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    for name in ("DATA_GYM_CACHE_DIR", "TIKTOKEN_ENCODINGS_BASE"):
        monkeypatch.delenv(name, raising=False)
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(cache))
    monkeypatch.chdir(tmp_path)
    return cache


@pytest.fixture(scope="session")
def files(data: Path) -> dict[str, bytes]:
    """The published rank files, the smaller ones made from GPT-2's rules; their hashes say that they are the same."""
    rules = (data / "vocabs" / "gpt2" / "merges.txt").read_text("utf-8")
    pairs = [line.replace(" ", "") for line in rules.split("\n")[1:-1]]
    words = [bytes([byte]) for byte in GPT2_ORDER] + [bytes(map(BYTE_OF.__getitem__, word)) for word in pairs]
    small = lines(words)
    made = {
        "r50k_base.tiktoken": small,
        "p50k_base.tiktoken": small + lines([b" " * length for length in range(2, 26)], 50257),
    }
    for name in ("cl100k_base.tiktoken", "o200k_base.tiktoken"):
        made[name] = (data / "vocabs" / name).read_bytes()
    return made


@pytest.mark.parametrize("name", sorted(set(ENCODINGS) - {"gpt2"}))
def test_an_encoding_in_the_cache_is_that_of_tiktoken(name: str, files: dict[str, bytes], nowhere: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    from tiktoken_ext import openai_public

    encoding = ENCODINGS[name]
    (nowhere / key(encoding.url)).write_bytes(files[encoding.file])
    # tiktoken itself finds the file there: it would have to open a connection otherwise.
    theirs = tiktoken.Encoding(**getattr(openai_public, name)())
    ours = tokdfa.load(name)
    assert ours.n_ids == theirs.n_vocab
    assert {special.content: special.id for special in ours.specials} == theirs._special_tokens
    for text in TEXTS:
        assert ours.encode(text).tolist() == theirs.encode_ordinary(text)
    special = sorted(theirs._special_tokens.values())
    assert ours.decode(special) == theirs.decode(special)
    assert ours.validate(theirs.encode_ordinary(TEXTS[1]))


def test_gpt2_is_made_of_its_rules_as_tiktoken_does(files: dict[str, bytes], nowhere: Path, data: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    from tiktoken_ext import openai_public

    shutil.copy(data / "vocabs" / "gpt2" / "merges.txt", nowhere / key(GPT2_RULES))
    ours = tokdfa.load("gpt2")
    shutil.copy(data / "vocabs" / "gpt2" / "vocab.json", nowhere / key(GPT2_RULES.replace("vocab.bpe", "encoder.json")))
    theirs = tiktoken.Encoding(**openai_public.gpt2())
    for text in TEXTS:
        assert ours.encode(text).tolist() == theirs.encode_ordinary(text)
    assert [(special.content, special.id) for special in ours.specials] == [("<|endoftext|>", 50256)]
    assert tokdfa.load("r50k_base").made_of == ours.made_of


def in_cache(folder: Path, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    (folder / key(ENCODINGS["r50k_base"].url)).write_bytes(data)


def in_old_cache(folder: Path, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(folder))
    (folder / key(ENCODINGS["r50k_base"].url)).write_bytes(data)


def in_temporary_folder(folder: Path, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(folder))
    (folder / "data-gym-cache").mkdir()
    (folder / "data-gym-cache" / key(ENCODINGS["r50k_base"].url)).write_bytes(data)


def with_a_package(folder: Path, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = folder / "litellm" / "litellm_core_utils" / "tokenizers"
    shipped.mkdir(parents=True)
    (folder / "litellm" / "__init__.py").write_text("raise RuntimeError('it was imported')")
    (folder / "litellm-1.0.dist-info").mkdir()
    (folder / "litellm-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: litellm\nVersion: 1.0\n")
    (shipped / key(ENCODINGS["r50k_base"].url)).write_bytes(data)
    monkeypatch.syspath_prepend(folder)


def in_a_folder_of_encodings(folder: Path, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_ENCODINGS_BASE", str(folder))
    (folder / "r50k_base.tiktoken").write_bytes(data)


def beside(folder: Path, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "r50k_base.tiktoken").write_bytes(data)


PLACES = [in_cache, in_old_cache, in_temporary_folder, with_a_package, in_a_folder_of_encodings, beside]


@pytest.mark.parametrize("place", PLACES)
def test_where_files_are_looked_for(
    place: Callable[..., None], files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    assert read_encoding("r50k_base") is None
    place(folder, files["r50k_base.tiktoken"], monkeypatch)
    assert read_encoding("r50k_base") is not None
    assert read_encoding("cl100k_base") is None
    assert "litellm" not in sys.modules


@pytest.mark.parametrize("place", PLACES)
def test_only_the_published_file_counts(
    place: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    # A file that is a tokenizer, but another one.
    place(folder, lines([bytes([byte]) for byte in range(256)]), monkeypatch)
    assert read_encoding("r50k_base") is None
    assert list(folder.rglob("*")), "tiktoken deletes such a file"


def test_rules_that_are_not_those_of_gpt2_are_not_taken(nowhere: Path) -> None:
    for content in (b"#version: 0.2\na b\n", b"\xff\xfe", b"#version: 0.2\na b c\n", "#\n中 b\n".encode(), b""):
        (nowhere / key(GPT2_RULES)).write_bytes(content)
        assert read_encoding("gpt2") is None


def test_an_empty_name_of_the_cache_means_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert read_encoding("r50k_base") is None
    assert how_to_get("r50k_base").startswith("curl ")


def test_a_file_of_the_name_comes_first(tmp_path: Path) -> None:
    (tmp_path / "gpt2").mkdir()
    (tmp_path / "gpt2" / "merges.txt").write_text("#version: 0.2\nh e\n", encoding="utf-8")
    assert tokdfa.load("gpt2").sizes == {"rules": 1}


def test_models_have_the_encoding_that_tiktoken_gives_them() -> None:
    model = pytest.importorskip("tiktoken.model")
    for name in ("gpt-4o", "gpt-4o-mini", "gpt-4", "gpt-4.1-nano", "gpt-5", "o3-pro", "gpt-oss-20b", "gpt-3.5-turbo"):
        assert encoding_of_model(name) == model.encoding_name_for_model(name), name
    assert encoding_of_model("text-embedding-3-small") == "cl100k_base"
    assert encoding_of_model("merges.txt") is None


def test_every_file_and_address_is_that_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tiktoken")
    from tiktoken_ext import openai_public

    asked: list[tuple[str, Any]] = []

    def note(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        asked.append((url, expected_hash))
        return {}

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", note)
    assert set(openai_public.ENCODING_CONSTRUCTORS) == set(ENCODINGS)
    for name, encoding in ENCODINGS.items():
        if name != "gpt2":
            openai_public.ENCODING_CONSTRUCTORS[name]()
            assert asked.pop() == (encoding.url, encoding.sha256)
