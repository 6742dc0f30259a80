"""tokdfa rollouts: files of every format, statuses, bad records, the page."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support import schemas
from support.commands import run

import tokdfa

MERGES = Path(tokdfa.__file__).parent / "tokenizers" / "data" / "default.merges.txt"
SPOILED = [64, 261, 1193]
GOOD = [64, 2513, 462]
RECORDS = [
    {"prompt_ids": [64], "response_ids": [261, 1193], "response_mask": [1, 1]},
    {"prompt_ids": GOOD, "response_ids": GOOD, "response_mask": [1, 0, 1]},
    {"prompt_ids": [64, 261], "response_ids": [1193], "response_mask": [1]},
]
BUG = {"prompt_ids": SPOILED, "response_ids": [64], "response_mask": [1]}


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    lines = "".join(json.dumps(record) + "\n" for record in records).encode()
    name = path.name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(lines))
    elif name.endswith(".zst"):
        path.write_bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(lines))
    elif name.endswith(".jsonl"):
        path.write_bytes(lines)
    else:
        arrow = pytest.importorskip("pyarrow")
        table = arrow.Table.from_pylist(records)
        if name.endswith(".parquet"):
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        else:
            make = arrow.ipc.new_file if name.endswith(".feather") else arrow.ipc.new_stream
            with arrow.OSFile(str(path), "wb") as sink, make(sink, table.schema) as writer:
                writer.write_table(table)
    return path


class Result(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    def called(*arguments: object) -> Result:
        status = run("rollouts", MERGES, *arguments, "--pretokenizer", "gpt2")
        return Result(status, *capsys.readouterr())

    return called


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz", "r.jsonl.zst", "r.parquet", "r.arrow", "r.feather"])
def test_every_format_has_the_same_answer(name: str, tmp_path: Path, command: Callable[..., Result]) -> None:
    path = written(tmp_path / name, RECORDS)
    result = command(path, "--framework", "verl", "--json")
    assert result.exit_code == 0, result.stderr
    schemas.check("rollouts", result.stdout)
    answer = json.loads(result.stdout)
    assert answer["valid"] is True
    assert [answer[name]["stretches"] for name in ("bugs", "drift", "junctions")] == [0, 1, 1]
    assert (answer["rollouts"], answer["tokens"], answer["sampled"]) == (3, 12, 5)
    assert answer["drift"]["examples"][0]["canonical_ids"] == [2513]
    unit = "line 1" if "jsonl" in name else "row 0"
    assert answer["drift"]["examples"][0]["source"] == f"{path}, {unit}"
    assert {"class": "drift", "rule": 2257, "count": 1} in answer["rules"]


def test_the_status_says_what_is_failed_on(tmp_path: Path, command: Callable[..., Result]) -> None:
    path = written(tmp_path / "r.jsonl", RECORDS)
    assert command(path, "--framework", "verl").exit_code == 0
    assert command(path, "--framework", "verl", "--fail-on", "drift").exit_code == 1
    assert command(path, "--framework", "verl", "--fail-on", "bugs,junctions").exit_code == 1
    result = command(path, "--framework", "verl", "--fail-on", "bags")
    assert (result.exit_code, "bags" in result.stderr) == (2, True)
    path = written(tmp_path / "s.jsonl", [*RECORDS, BUG])
    assert command(path, "--framework", "verl").exit_code == 1


def test_the_summary_is_the_last_line(tmp_path: Path, command: Callable[..., Result]) -> None:
    path = written(tmp_path / "r.jsonl", [*RECORDS, BUG])
    result = command(path, "--ids", "response_ids", "--prompt", "prompt_ids", "--mask", "response_mask")
    *lines, last = result.stdout.splitlines()
    assert last == "4 rollouts, 16 ids, 6 sampled: 1 bug, drift 33.3333 % (1 stretch), 1 junction"
    assert [line.partition(":")[0] for line in lines] == ["drift", "junction", "bug"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "the line is not JSON"),
        (b"[1]", "a record must be an object"),
        (b'{"response_ids": [64], "prompt_ids": null}', "field prompt_ids: the field is missing or null"),
        (b'{"response_ids": [64, null], "prompt_ids": []}', "fields prompt_ids and response_ids, token 1: ids must be"),
        (b'{"response_ids": [[64], 64], "prompt_ids": []}', "field prompt_ids: a batch has columns of different"),
        (b'{"response_ids": [64, 99999], "prompt_ids": [64]}', "and response_ids, token 2: id out of range: 99999"),
        (
            b'{"response_ids": [64], "prompt_ids": [64], "response_mask": [1, 1, 1]}',
            "field response_mask: the mask has",
        ),
        (b'{"response_ids": [64], "prompt_ids": [], "response_mask": [2]}', "field response_mask, token 0 of the mask"),
    ],
)
def test_a_bad_record_is_named(line: bytes, message: str, tmp_path: Path, command: Callable[..., Result]) -> None:
    path = tmp_path / "r.jsonl"
    good = json.dumps(RECORDS[0]).encode()
    path.write_bytes(good + b"\n" + line + b"\n" + good + b"\n")
    result = command(path, "--framework", "verl")
    assert result.exit_code == 2
    assert f"{path}, line 2" in result.stderr
    assert message in result.stderr
    result = command(path, "--framework", "verl", "--keep-going", "--json")
    assert result.exit_code == 2
    schemas.check("rollouts", result.stdout)
    answer = json.loads(result.stdout)
    assert (answer["rollouts"], answer["bad_records"], answer["valid"]) == (2, 1, False)
    assert answer["errors"][0]["source"] == f"{path}, line 2"
    assert message in answer["errors"][0]["error"]


def test_files_that_are_cut_short(tmp_path: Path, command: Callable[..., Result]) -> None:
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
    path = tmp_path / "r.jsonl"
    path.write_bytes(lines[:-20])
    result = command(path, "--framework", "verl", "--keep-going")
    assert result.exit_code == 2
    assert f"{path}, line 3, the last line is not whole" in result.stderr
    assert "1 bad record" in result.stdout.splitlines()[-1]
    packed = tmp_path / "r.jsonl.gz"
    packed.write_bytes(gzip.compress(lines * 2000)[:-40])
    result = command(packed, written(tmp_path / "s.jsonl", RECORDS), "--framework", "verl", "--keep-going", "--json")
    assert result.exit_code == 2
    answer = json.loads(result.stdout)
    assert "the file is cut short or damaged" in answer["errors"][-1]["error"]
    assert answer["rollouts"] > 100


def test_a_damaged_parquet_file(tmp_path: Path, command: Callable[..., Result]) -> None:
    pytest.importorskip("pyarrow")
    parquet = tmp_path / "r.parquet"
    parquet.write_bytes(b"PAR1 nothing")
    result = command(parquet, "--framework", "verl")
    assert (result.exit_code, "damaged or cut short" in result.stderr) == (2, True)


def test_columns_that_are_missing(tmp_path: Path, command: Callable[..., Result]) -> None:
    path = written(tmp_path / "r.parquet", RECORDS)
    result = command(path, "--framework", "trl")
    assert result.exit_code == 2
    assert (
        "field completion_ids: the column is missing (there are prompt_ids, response_ids, response_mask)"
        in result.stderr
    )
    result = command(path, "--framework", "verl", "--mask", "mask")
    assert "field mask: the column is missing" in result.stderr
    result = command(tmp_path / "r.pt", "--framework", "verl")
    assert (result.exit_code, "rollouts are read from" in result.stderr) == (2, True)
    assert command(tmp_path / "none.jsonl", "--framework", "verl").exit_code == 2
    assert "give --ids FIELD, such as --ids input_ids, or --framework" in command(path).stderr


def test_nulls_in_columns(tmp_path: Path, command: Callable[..., Result]) -> None:
    records = [RECORDS[0], {**RECORDS[0], "response_ids": None}, {**RECORDS[0], "response_ids": [261, None]}]
    path = written(tmp_path / "r.parquet", records)
    result = command(path, "--framework", "verl", "--keep-going", "--json")
    answer = json.loads(result.stdout)
    assert [row["source"] for row in answer["errors"]] == [f"{path}, row 1", f"{path}, row 2"]
    assert "prompt_ids and response_ids, token 2: ids must be" in answer["errors"][1]["error"]


def test_the_page(tmp_path: Path, command: Callable[..., Result]) -> None:
    records, page = written(tmp_path / "r.jsonl", [*RECORDS, BUG]), tmp_path / "r.html"
    result = command(records, "--framework", "verl", "--html", page)
    assert result.exit_code == 1
    text = page.read_text("utf-8")
    assert "1 bug" in text
    for heading in ("Bugs", "Drift", "Junctions"):
        assert f">{heading}</h2>" in text
    assert "␣s≀ingle" in text


def test_what_is_no_file_of_records(tmp_path: Path, command: Callable[..., Result]) -> None:
    (tmp_path / "folder").mkdir()
    for name, hint in (
        ("ids.npy", "(for one stream of ids: tokdfa validate TOK {})"),
        ("folder", "(this is a folder: give its files, such as {}/*.jsonl)"),
    ):
        result = command(tmp_path / name, "--ids", "ids")
        assert result.exit_code == 2
        assert hint.format(tmp_path / name) in result.stderr
