"""tokdfa search --token: control ids in streams, and where the template did not put them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.commands import run
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json, vocabulary

END, START = len(vocabulary()), len(vocabulary()) + 1


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("special") / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json(added_tokens=[added_token(END, "<|end|>"), added_token(START, "<|s|>")])))
    return path


def ids_file(path: Path, ids: list[int]) -> Path:
    np.save(path, np.array(ids, dtype=np.int32))
    return path


def test_special_tokens_are_found(tokenizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = ids_file(tmp_path / "ids.npy", [65, START, 66, END, END])
    assert run("search", tokenizer, "--token", "<|end|>", ids) == 0
    assert capsys.readouterr().out.splitlines() == ["bytes 7-14, token 3: '<|end|>'", "bytes 14-21, token 4: '<|end|>'"]
    assert run("search", tokenizer, "--token", "<|end|>", "--token", "<|s|>", ids, "--count") == 0
    assert capsys.readouterr().out == "3\n"
    assert run("search", tokenizer, "--token", "all", ids, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["count"] == 3
    assert answer["matches"][0] == {"start_byte": 1, "end_byte": 6, "start_token": 1, "end_token": 2}


def test_only_where_the_mask_says_so(tokenizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = ids_file(tmp_path / "ids.npy", [65, START, 66, END, END])
    mask = ids_file(tmp_path / "mask.npy", [0, 0, 1, 1, 0])
    assert run("search", tokenizer, "--token", "all", ids, "--mask", mask) == 0
    assert capsys.readouterr().out == "bytes 7-14, token 3: '<|end|>'\n"
    mask = ids_file(tmp_path / "mask.npy", [1, 0, 1, 0, 0])
    assert run("search", tokenizer, "--token", "all", ids, "--mask", mask, "--json") == 1


@pytest.mark.parametrize(
    ("mask", "message"),
    [([1] * 4, "shorter than the ids: 4"), ([1] * 6, "longer than the ids"), ([1, 2, 1, 1, 1], "must be 0 and 1: 2")],
)
def test_masks_that_do_not_fit(
    mask: list[int], message: str, tokenizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = ids_file(tmp_path / "ids.npy", [65, START, 66, END, END])
    assert run("search", tokenizer, "--token", "all", ids, "--mask", ids_file(tmp_path / "mask.npy", mask)) == 2
    assert message in capsys.readouterr().err


def test_what_is_refused(tokenizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = ids_file(tmp_path / "ids.npy", [65])
    for arguments, message in (
        (("--token", "<x>", ids), "no such special token: '<x>' (this tokenizer has <|end|>, <|s|>)"),
        (("--token", "all", "a+", ids), "or TOK, IDS and --words FILE, --patterns FILE, --token NAME"),
        (("a+", ids, "--mask", ids), "--mask is for --token"),
        (("--token", "all", "--words", ids, ids), "give one of --words, --patterns, --token and --ngrams"),
    ):
        assert run("search", tokenizer, *arguments) == 2
        assert message in capsys.readouterr().err
