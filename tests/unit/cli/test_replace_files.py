"""tokdfa replace over several files, and with several patterns: its output, the folder that it writes, its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tokdfa
from tests.support import commands
from tests.support.written_stores import documents_of, write_datatrove, write_jsonl
from tokdfa.stores import open_store

TOKENIZER = tokdfa.default_tokenizer()
TEXTS = ["a single man", "of a good fortune", "a man, a man"]
DOCUMENTS = [TOKENIZER.encode(text).tolist() for text in TEXTS]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dictionary, and a folder of two files."""
    TOKENIZER.dictionary.save(tmp_path / "merges.txt")
    (tmp_path / "shards").mkdir()
    write_jsonl(tmp_path / "shards" / "a.jsonl", DOCUMENTS)
    write_datatrove(tmp_path / "shards" / "b.ds", DOCUMENTS[:2])
    return tmp_path


def run(folder: Path, *arguments: object, shards: tuple[object, ...] = ()) -> int:
    paths = shards or (folder / "shards",)
    return commands.run("replace", folder / "merges.txt", *arguments, *paths, "--pretokenizer", "gpt2")


def test_a_folder_is_written_and_a_line_shows_each_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "man", "house", "-o", folder / "new", "--threads", 2) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{folder / 'shards' / 'a.jsonl'}: 3 matches replaced in 2 of 3 documents, ")
    assert lines[1].startswith(f"{folder / 'shards' / 'b.ds'}: 1 match replaced in 1 of 2 documents, ")
    assert lines[2].startswith("2 files: 4 matches replaced in 3 of 5 documents, ")
    assert lines[2].endswith(f": {folder / 'new'}")
    new = [TOKENIZER.encode(text.replace("man", "house")).tolist() for text in TEXTS]
    assert documents_of(open_store(folder / "new" / "a.jsonl")) == new
    assert documents_of(open_store(folder / "new" / "b.ds")) == new[:2]


def test_one_file_keeps_its_format_in_a_folder(folder: Path) -> None:
    (folder / "there").mkdir()
    one = (folder / "shards" / "a.jsonl",)
    assert run(folder, "man", "house", "-o", f"{folder / 'new'}/", shards=one) == 0
    assert run(folder, "man", "house", "-o", folder / "there", shards=one) == 0
    assert (folder / "new" / "a.jsonl").read_bytes() == (folder / "there" / "a.jsonl").read_bytes()


def test_a_folder_that_exists_needs_force_or_resume(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = folder / "shards" / "bad.jsonl"
    bad.write_text("{")
    arguments = ("man", "house", "-o", folder / "new")
    assert run(folder, *arguments) == 2
    said = capsys.readouterr().err.splitlines()
    assert f"{bad}, line 1" in said[0]
    assert said[1].endswith("1 file could not be written; --resume tries these again")
    assert run(folder, *arguments) == 2
    what = "the folder exists; --force replaces the files in it, --resume continues a job that was stopped"
    assert what in capsys.readouterr().err
    bad.unlink()
    write_jsonl(bad, DOCUMENTS)
    (folder / "new" / "mine.txt").write_text("mine")
    assert run(folder, *arguments, "--resume", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["count"], len(told["files"]), told["errors"]) == (7, 3, [])
    assert run(folder, *arguments, "--resume") == 2
    assert "there is no such job to resume" in capsys.readouterr().err
    assert run(folder, "man", "x", "-o", folder / "new", "--force") == 0
    assert sorted(path.name for path in (folder / "new").iterdir()) == [
        "a.jsonl",
        "b.ds",
        "b.ds.index",
        "bad.jsonl",
        "mine.txt",
    ]


def test_several_patterns_are_replaced_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither pattern sees what the other has made, and the earlier one is preferred."""
    patterns = folder / "patterns.txt"
    patterns.write_text("(a) man\t\\1 single\n\nsingle\tman\nman\thouse\nfortune\t\n")
    assert run(folder, "--patterns", patterns, "-o", folder / "new") == 0
    texts = ["a man house", "of a good ", "a single, a single"]
    assert documents_of(open_store(folder / "new" / "a.jsonl")) == [TOKENIZER.encode(text).tolist() for text in texts]
    capsys.readouterr()
    assert run(folder, "--patterns", patterns, shards=(folder / "shards" / "a.jsonl",)) == 0
    assert "5 matches replaced" in capsys.readouterr().out
    for content, message in (
        ("man house\n", "pattern 1: no tab after a pattern"),
        ("a\tb\n\tb\n", "pattern 2: no pattern"),
        ("a\tb\na\tc\n", "pattern 2: the pattern is there twice"),
        ("a\tb\nb*\tc\n", "a pattern that matches the empty text, among several"),
        ("a\tb\n(?i)b\tc\n", "flags for the whole of a pattern, among several"),
    ):
        patterns.write_text(content)
        assert run(folder, "--patterns", patterns, "-o", folder / "other") == 2
        assert message in capsys.readouterr().err
        assert not (folder / "other").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give -o FOLDER for several files; without -o the changes of one file are shown"),
        (("-o", "{}/new", "--limit", "1"), "--limit is for one file"),
        (("-o", "{}/new", "--starts", "{}/starts.npy"), "--starts is for one file"),
        (("-o", "{}/new", "--documents", "none"), "for several files it is an id, not 'none'"),
        (("-o", "{}/new", "--documents", "0"), "the store says where documents begin"),
        (("-o", "{}/merges.txt", "--force"), "it is a file, and several files are written to a folder"),
        (("-o", "{}/shards/new"), "the output folder is among the input"),
    ],
)
def test_options_of_one_file_are_refused(
    arguments: tuple[str, ...], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [text.format(folder) for text in arguments]
    before = sorted(folder.rglob("*"))
    assert run(folder, "man", "house", *given) == 2
    assert message in capsys.readouterr().err
    assert sorted(folder.rglob("*")) == before


def test_threads_and_resume_are_for_several_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option in (("--threads", 2), ("--resume",)):
        assert run(folder, "man", "house", *option, shards=(folder / "shards" / "a.jsonl",)) == 2
        assert "--threads and --resume are for several files" in capsys.readouterr().err
    assert run(folder, "x", "--words", "w", "--patterns", "p") == 2
    assert "give --words or --patterns, not both" in capsys.readouterr().err
