"""tokdfa train."""

from __future__ import annotations

import gzip
import io
import json
import os
from functools import partial
from pathlib import Path

import pytest

import tokdfa
from tests.support import commands
from tests.support.pieces import count_pieces
from tokdfa.training.naive import train_naive

TEXT = "The widest river is wider than the widest street, isn't it?\n\n  12345 größer, größte\n" * 3


run = partial(commands.run, "train")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_json_describes_the_training(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run(corpus, "--merges", 40, "-o", out, "--json") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    fields = json.loads(captured.out)
    assert fields["rules"] == 40
    assert fields["seconds"] >= fields["seconds_counting"] > 0
    assert fields["unique_pieces"] == len(count_pieces([TEXT]))
    assert fields["files"] == [str(out / name) for name in ("merges.txt", "vocab.json", "tokenizer.json")]
    assert tokdfa.load(out).dictionary == train_naive(count_pieces([TEXT]), 40)


def test_words_say_how_many_rules(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(corpus, "--merges", 2, "-o", tmp_path / "merges.txt") == 0
    assert capsys.readouterr().out.startswith("2 rules from")


@pytest.mark.parametrize(
    "arguments",
    [
        {"tie": "huggingface", "count": "overlapping", "min_frequency": 3},
        {"tie": "subword-nmt", "max_token_length": 3},
        {"tie": "oldest-pair", "method": "naive"},
    ],
)
def test_rules_reach_the_trainer(corpus: Path, tmp_path: Path, arguments: dict[str, object]) -> None:
    options = [word for name, value in arguments.items() for word in ("--" + name.replace("_", "-"), value)]
    assert run(corpus, "--merges", 30, "-o", tmp_path / "merges.txt", *options) == 0
    arguments.pop("method", None)
    assert tokdfa.load(tmp_path / "merges.txt").dictionary == train_naive(count_pieces([TEXT]), 30, **arguments)  # type: ignore[arg-type]


def test_characters_and_alphabet(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "tokenizer.json"
    assert run(corpus, "--merges", 5, "-o", out, "--level", "character", "--alphabet", "zyx") == 0
    assert tokdfa.load(out).dictionary.alphabet.symbols[:3] == ("z", "y", "x")


def test_ends_of_words(corpus: Path, tmp_path: Path) -> None:
    options = ("--level", "character", "--pretokenizer", "whitespace", "--end-of-word", "separate")
    assert run(corpus, "--merges", 9, "-o", tmp_path / "merges.txt", *options) == 0
    assert " </w>\n" in (tmp_path / "merges.txt").read_text(encoding="utf-8")


def test_standard_input_and_packed_files(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(corpus, "--merges", 9, "-o", tmp_path / "a.txt") == 0
    (tmp_path / "corpus.gz").write_bytes(gzip.compress(TEXT.encode()))
    assert run(tmp_path / "*.gz", "--merges", 9, "-o", tmp_path / "b.txt") == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert run("-", "--merges", 9, "-o", tmp_path / "c.txt") == 0
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "b.txt").read_bytes() == (tmp_path / "c.txt").read_bytes()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(corpus: Path, tmp_path: Path, threads: int) -> None:
    # Every file is a block of its own, at least.
    folder = tmp_path / "corpus"
    folder.mkdir()
    lines = TEXT.splitlines(keepends=True)
    assert len(lines) > 5
    for number, line in enumerate(lines):
        (folder / f"{number:03}").write_text(line, encoding="utf-8")
    assert run(folder, "--merges", 40, "-o", tmp_path / "merges.txt", "--threads", threads) == 0
    assert tokdfa.load(tmp_path / "merges.txt").dictionary == train_naive(count_pieces(lines), 40)


def test_a_checkpoint_is_gone_when_all_is_done(corpus: Path, tmp_path: Path) -> None:
    assert run(corpus, "--merges", 9, "-o", tmp_path / "a.txt", "--checkpoint", tmp_path / "kept") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "corpus.txt"]


def test_more_merges_than_pairs(corpus: Path, tmp_path: Path) -> None:
    assert run(corpus, "--merges", 10**9, "-o", tmp_path / "merges.txt") == 0
    assert len(tokdfa.load(tmp_path / "merges.txt").dictionary) < 300


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (b"", (), "the corpus contains no text"),
        (b"\xff\xfe\x00a\x00", (), "corpus.txt, byte 0: not UTF-8 text"),
        (TEXT.encode()[:-1] + b"\x89PNG", (), "byte 263: not UTF-8 text"),
        (b"text", ("--pretokenizer", "gpt5"), "no pre-tokenizer has this name: 'gpt5'"),
        (b"text", ("--pretokenizer", "(a"), "--pretokenizer, offset 0"),
        (b"text", ("--end-of-word", "attached"), "marks words made of characters, not of bytes"),
        (b"text", ("--alphabet", "abc"), "the symbols are bytes, and all 256 are included"),
        (b"text", ("--output", "x.bin"), "no output format has this suffix"),
        (b"text", ("--merges", "-1"), "-1 is not in the range"),
        (b"text", ("--tie", "random"), "'random' is not one of"),
        (b"text", ("--output", "missing/merges.txt"), "-o: no such folder: 'missing'"),
        (b"text", ("--output", "corpus.txt/folder"), "Not a directory"),
        (b"text", ("--output", "/dev/full"), "a folder should be written here, but there is a file: '/dev/full'"),
    ],
)
def test_trouble_gives_status_2(
    tmp_path: Path, content: bytes, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_bytes(content)
    os.chdir(tmp_path)
    assert run(corpus, "--merges", 9, "-o", tmp_path / "merges.txt", *arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_a_full_disk(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "merges.txt").symlink_to("/dev/full")
    assert run(corpus, "--merges", 9, "-o", tmp_path / "merges.txt") == 2
    assert capsys.readouterr().err == "tokdfa: error: /dev/full: No space left on device\n"


def test_a_folder_with_a_binary_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("fine")
    (tmp_path / "in" / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    assert run(tmp_path / "in", "--merges", 9, "-o", tmp_path / "merges.txt") == 2
    error = capsys.readouterr().err
    assert "b.png, byte 0: not UTF-8 text" in error
    assert "pattern" in error
    assert not (tmp_path / "merges.txt").exists()
    assert run(tmp_path / "in" / "*.txt", "--merges", 9, "-o", tmp_path / "merges.txt", "--min-frequency", 1) == 0


def test_fewer_rules_than_asked_for_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("fine fine wine")
    for number, (merges, said) in enumerate(((2, ""), (50, "fewer than 50: no other pair occurs 2 times"))):
        assert run(tmp_path / "a.txt", "--merges", merges, "-o", tmp_path / f"{number}.json") == 0
        shown = capsys.readouterr().out
        assert ("fewer than" in shown, said in shown) == (bool(said), True)


def test_binary_text_without_a_pretokenizer(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"\xff\xfe\xff\xfe")
    assert run(tmp_path / "b", "--merges", 9, "-o", tmp_path / "x.tiktoken", "--pretokenizer", "none") == 0
    assert list(tokdfa.load(tmp_path / "x.tiktoken", pretokenizer="none").dictionary) == [(b"\xff", b"\xfe")]


def test_exact_on_a_tiny_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "merges.txt"
    corpus.write_text("abaabbaa")
    options = (corpus, "-o", out, "--force", "--merges", 2, "--pretokenizer", "none")
    for level in ("byte", "character"):
        assert run(*options, "--method", "exact", "--level", level) == 0
        assert out.read_text().splitlines()[1:] == ["b a", "ba a"]
    assert run(*options, "--min-frequency", 1) == 0
    assert out.read_text().splitlines()[1] == "a b"
    capsys.readouterr()
    assert run(*options, "--method", "exact", "--tie", "huggingface") == 2
    assert "--tie cannot be used with --method exact" in capsys.readouterr().err


def test_exact_refuses_a_large_corpus(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(corpus, "-o", tmp_path / "merges.txt", "--merges", 50, "--method", "exact") == 2
    error = capsys.readouterr().err
    assert "tiny texts" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "merges.txt").exists()


def test_a_checkpoint_of_standard_input_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("-", "--merges", 9, "-o", tmp_path / "a.txt", "--checkpoint", tmp_path / "kept") == 2
    assert "standard input" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("", (), "--check: no path of a tokenizer: ''"),
        ("codes", (), "the format cannot be recognised from the content or the name of the file (give --format: "),
        ("codes", ("--format", "merges", "--level", "character"), "the merges are over bytes, and"),
        ("codes", ("--format", "merges", "--level", "character"), "(choose --level byte)"),
        ("codes", ("--format", "merges", "--merges", 3), "--merges cannot be used with --check"),
        ("codes", ("--format", "rank"), "--format: unknown format: 'rank'"),
    ],
)
def test_checks_that_cannot_be_made_say_what_to_do(
    name: str, options: tuple[object, ...], said: str, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = corpus.with_name("codes")
    path.write_text("\u0120 l\n\u0120l o\n\u00c3 \u00a9\n", encoding="utf-8")
    assert run(corpus, "--check", name and path, *options) == 2
    assert said in capsys.readouterr().err
    assert run(corpus, "--check", path, "--format", "merges-bytes") in (0, 1)
    assert run(corpus, "--format", "merges", "--merges", 3, "-o", corpus.with_name("x.txt")) == 2
    assert "--format is the format of the file of --check" in capsys.readouterr().err
