"""Written files are loaded back, by tokdfa and by other libraries, and encode as the rules say."""

from __future__ import annotations

import base64
import errno
import os
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support.pieces import count_pieces
from tokdfa import Dictionary, TokdfaError, tokenize_single_pass
from tokdfa.base import atomic
from tokdfa.regex.unicode.utf8 import GPT2_ORDER
from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED
from tokdfa.training.api import Reading
from tokdfa.training.corpus import with_marks
from tokdfa.training.greedy import train_greedy
from tokdfa.training.output import check_output, write_dictionary

TEXT = "The widest river is wider than the widest street, isn't it?\n\n  12345 größer, größte 中文中文\r\n" * 3
SAMPLE = "the widest größten rivers' 1234 中文 it's\n \n x"


@pytest.fixture
def over_bytes() -> Dictionary:
    return train_greedy(count_pieces([TEXT]), 80)


@pytest.fixture
def over_characters() -> Dictionary:
    pieces = {piece.decode(): n for piece, n in count_pieces([TEXT]).items()}
    return train_greedy(pieces, 60)


def spelled(dictionary: Dictionary, text: str, name: str) -> list[Any]:
    """Return the tokens of `text` by the definitions alone."""
    bytewise = dictionary.alphabet.kind == "bytes"
    tokens: list[Any] = []
    for piece in pretokenizer(name).split(text) if name != "none" else [text]:
        numbers = tokenize_single_pass(dictionary, piece.encode() if bytewise else piece)
        tokens.extend(dictionary.alphabet.spell(dictionary.alphabet.numbers(numbers)))
    return tokens


@pytest.mark.parametrize("name", ["merges.txt", "tokenizer.json", "x.tiktoken", "folder"])
def test_bytes_load_back_equal(over_bytes: Dictionary, tmp_path: Path, name: str) -> None:
    files = write_dictionary(over_bytes, tmp_path / name, pretokenizer="gpt2")
    assert tokdfa.load(tmp_path / name, pretokenizer="none").dictionary == over_bytes
    for file in files:
        if file.name != "vocab.json":
            assert tokdfa.load(file, pretokenizer="none").dictionary == over_bytes
    assert sorted(os.listdir(tmp_path)) == [name]


def test_a_dictionary_saves_itself(over_bytes: Dictionary, tmp_path: Path) -> None:
    (path,) = over_bytes.save(tmp_path / "tokenizer.json", pretokenizer="gpt2")
    assert path == tmp_path / "tokenizer.json"
    tokenizer = tokdfa.load(path)
    assert tokenizer.encode(SAMPLE).tolist() == spelled_ids(over_bytes, SAMPLE)


def spelled_ids(dictionary: Dictionary, text: str) -> list[int]:
    words = [bytes([byte]) for byte in GPT2_ORDER] + [rule.product for rule in dictionary]
    return [words.index(word) for word in spelled(dictionary, text, "gpt2")]


@pytest.mark.parametrize(
    "pairs",
    [
        [("ab", "c"), ("a", "b")],
        [("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc")],
        [("ab", "a"), ("a", "b"), ("b", "a")],
    ],
)
@pytest.mark.parametrize("name", ["tokenizer.json", "x.tiktoken", "folder"])
def test_rules_without_an_order_of_ids_are_written_only_as_rules(
    tmp_path: Path, pairs: list[tuple[str, str]], name: str
) -> None:
    d = Dictionary([(u.encode(), v.encode()) for u, v in pairs])
    with pytest.raises(TokdfaError, match="a rule uses a token before it is made, or makes one again"):
        d.save(tmp_path / name)
    assert os.listdir(tmp_path) == []
    (path,) = d.save(tmp_path / "merges.txt")
    assert path.read_text("utf-8") == "#version: 0.2\n" + "".join(f"{u} {v}\n" for u, v in pairs)


def test_characters_load_back_equal(over_characters: Dictionary, tmp_path: Path) -> None:
    write_dictionary(over_characters, tmp_path / "tokenizer.json", pretokenizer="gpt2")
    assert tokdfa.load(tmp_path / "tokenizer.json").dictionary == over_characters
    words = dict.fromkeys(TEXT.split(), 1)
    d = train_greedy(words, 30, min_frequency=1)
    write_dictionary(d, tmp_path / "folder", pretokenizer="whitespace")
    assert tokdfa.load(tmp_path / "folder").dictionary == d
    assert tokdfa.load(tmp_path / "folder", format="merges+vocab").dictionary == d


@pytest.mark.parametrize("attached", [True, False])
def test_ends_of_words_load_back_equal(tmp_path: Path, attached: bool) -> None:
    d = train_greedy(with_marks({"low": 5, "lower": 2, "newest": 6, "widest": 3}, "</w>", attached=attached), 9)
    suffix = "</w>" if attached else None
    files = write_dictionary(d, tmp_path / "folder", pretokenizer="whitespace", suffix=suffix)
    assert [file.name for file in files] == ["merges.txt", "vocab.json", *["tokenizer.json"] * attached]
    loaded = tokdfa.load(tmp_path / "folder" / "merges.txt", format="merges-characters").dictionary
    assert list(loaded) == list(d)
    if attached:
        assert tokdfa.load(tmp_path / "folder").dictionary == d


@pytest.mark.parametrize("name", ["none", *NAMED])
def test_tokenizers_loads_it_and_agrees(
    over_bytes: Dictionary, over_characters: Dictionary, tmp_path: Path, name: str
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    for dictionary in (over_bytes, over_characters):
        write_dictionary(dictionary, path, pretokenizer=name)
        theirs = tokenizers.Tokenizer.from_file(str(path))
        for text in (TEXT, SAMPLE):
            if dictionary is over_characters:
                text = "".join(symbol for symbol in text if symbol in dictionary.alphabet)
            ids = theirs.encode(text).ids
            number = {word: index for index, word in enumerate(dictionary.alphabet)}
            ours = spelled(dictionary, text, name)
            if dictionary is over_bytes:
                assert ids == tokdfa.load(path).encode(text).tolist()
                assert b"".join(ours) == text.encode()
                assert len(ids) == len(ours)
            else:
                assert ids == [number[word] for word in ours]
            assert theirs.decode(ids) == text


def test_tiktoken_loads_it_and_agrees(over_bytes: Dictionary, tmp_path: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    path = tmp_path / "x.tiktoken"
    write_dictionary(over_bytes, path)
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, path.read_bytes().splitlines())}
    theirs = tiktoken.Encoding("x", pat_str=NAMED["gpt2"].steps[0].pattern, mergeable_ranks=ranks, special_tokens={})
    for text in (TEXT, SAMPLE):
        tokens = [theirs.decode_single_token_bytes(id) for id in theirs.encode_ordinary(text)]
        assert tokens == spelled(over_bytes, text, "gpt2")


@pytest.mark.parametrize(
    ("kind", "name", "options", "message"),
    [
        ("characters", "x.tiktoken", {}, "can hold only dictionaries over bytes"),
        ("characters", "merges.txt", {}, "cannot hold spaces"),
        ("bytes", "x.model", {}, "no output format has this suffix: '.model'"),
        ("bytes", "x.json", {"pretokenizer": r"\w+|\W"}, "needs a named pre-tokenizer"),
        ("symbols", "x.json", {"pretokenizer": "whitespace"}, "no symbols of several characters"),
        ("symbols", "x.json", {"pretokenizer": "gpt2", "suffix": "</w>"}, "must be whitespace"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(
    over_bytes: Dictionary,
    over_characters: Dictionary,
    tmp_path: Path,
    kind: str,
    name: str,
    options: dict[str, Any],
    message: str,
) -> None:
    over_symbols = train_greedy(with_marks({"low": 2}, "</w>"), 2)
    d = {"bytes": over_bytes, "characters": over_characters, "symbols": over_symbols}[kind]
    with pytest.raises(TokdfaError, match=message):
        write_dictionary(d, tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_of_several_files_all_are_there_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dictionary = train_greedy({b"abab": 2}, 2)
    written: list[int] = []

    def full(_: int) -> None:
        written.append(1)
        if len(written) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*vocab.json'"):
        write_dictionary(dictionary, tmp_path / "new" / "out")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "merges.txt").write_text("old", encoding="utf-8")
    written.clear()
    with pytest.raises(OSError, match="No space left on device"):
        write_dictionary(dictionary, tmp_path / "out")
    assert [path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()] == ["old"]


def test_a_folder_that_cannot_be_written_to_is_told_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)
    for name in ("merges.txt", "out", "deeper/out"):
        with pytest.raises(TokdfaError, match="this folder cannot be written to"):
            check_output(tmp_path / name, "bytes", "gpt2")


def test_a_full_disk_leaves_what_was_there(
    over_bytes: Dictionary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "merges.txt"
    path.write_text("before")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left.*merges.txt"):
        write_dictionary(over_bytes, path)
    assert [file.name for file in tmp_path.iterdir()] == ["merges.txt"]
    assert path.read_text() == "before"


def test_devices_are_written_to_and_links_followed(over_bytes: Dictionary, tmp_path: Path) -> None:
    atomic.write_atomically("/dev/null", b"gone")
    assert not Path("/dev/null").is_file()
    (tmp_path / "real.txt").write_text("before")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_dictionary(over_bytes, tmp_path / "link.txt")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_bytes().startswith(b"#version")


def test_marks_are_for_characters() -> None:
    with pytest.raises(TokdfaError, match="characters"):
        Reading(level="byte", end_of_word="attached")
