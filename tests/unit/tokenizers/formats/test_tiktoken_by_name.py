"""Messages about a tokenizer that is not there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import tokdfa
from tokdfa.base.errors import FileFormatError, MissingFileError
from tokdfa.tokenizers.formats.tiktoken import how_to_get


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("TIKTOKEN_CACHE_DIR", "HF_HOME", "TIKTOKEN_ENCODINGS_BASE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def said(path: str | Path) -> str:
    with pytest.raises(MissingFileError) as caught:
        tokdfa.load(path)
    assert isinstance(caught.value, FileNotFoundError)
    return str(caught.value)


def test_an_encoding_whose_file_is_not_here() -> None:
    message = said("cl100k_base")
    assert message.startswith(
        "cl100k_base: no such file or folder; it is the name of an encoding whose file is not on this machine "
        "(this command gets it: "
    )
    assert how_to_get("cl100k_base") in message


def test_the_command_that_gets_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("tiktoken")
    command = how_to_get("p50k_edit")
    assert command == """python -c "import tiktoken; tiktoken.get_encoding('p50k_edit')\""""
    shown = subprocess.run(f"echo {command}", shell=True, capture_output=True, text=True, check=True).stdout
    assert shown == "python -c import tiktoken; tiktoken.get_encoding('p50k_edit')\n"
    monkeypatch.setattr("tokdfa.tokenizers.formats.tiktoken._installed", lambda *_: None)
    url = "https://openaipublic.blob.core.windows.net/encodings/p50k_base.tiktoken"
    assert how_to_get("p50k_edit") == f"curl -O {url}"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("cl100k", "did you mean cl100k_base?"),
        ("cl100k-base", "did you mean cl100k_base?"),
        ("O200K_BASE", "did you mean o200k_base?"),
        ("o200k_harmny", "did you mean o200k_harmony?"),
        ("gpt-4o-mini", "the models gpt-4o-mini use the encoding o200k_base: give that name"),
        ("gpt-2", "the models gpt-2 use the encoding gpt2: give that name"),
        ("tokenizr.json", "did you mean tokenizer.json?"),
        ("sub/merge.txt", "did you mean sub/merges.txt?"),
        ("sub/xyz", "give the path of a tokenizer.json, "),
        ("Qwen/Qwen2-7B", "hf download Qwen/Qwen2-7B tokenizer.json prints the path of its tokenizer"),
        ("no/such/folder", "there is no folder no/such either"),
        ("xyzzy", "or one of gpt2, r50k_base, "),
    ],
)
def test_what_was_meant(name: str, hint: str, empty_machine: Path) -> None:
    (empty_machine / "tokenizer.json").write_text("{}")
    (empty_machine / "sub").mkdir()
    (empty_machine / "sub" / "merges.txt").write_text("#version: 0.2\n")
    assert hint in said(Path(name).as_posix())


def test_a_model_in_the_cache_of_the_hub(tmp_path: Path) -> None:
    folder = tmp_path / "HF_HOME" / "hub" / "models--org--model" / "snapshots" / "abc"
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_text("{}")
    message = said("org/model")
    assert f"names of models are not looked up; its tokenizer is here: {folder / 'tokenizer.json'}" in message


def test_a_format_that_does_not_exist_comes_first() -> None:
    with pytest.raises(FileFormatError, match="unknown format: 'json'"):
        tokdfa.load("cl100k_base", format="json")
    with pytest.raises(MissingFileError, match="no such file or folder"):
        tokdfa.load("cl100k_base", format="merges")


def test_odd_paths_are_no_files() -> None:
    assert "no such file or folder" in said("a\0b")
