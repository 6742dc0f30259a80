"""tokdfa rollouts: files of every format, statuses, bad records, the page."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tokdfa
from tests.support import schemas
from tests.support.commands import run
from tokdfa.jobs.rollouts.frameworks import FRAMEWORKS

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
    assert [answer[name]["spans"] for name in ("bugs", "drift", "junctions")] == [0, 1, 1]
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


def test_the_fields_that_were_used_are_told(tmp_path: Path, command: Callable[..., Result]) -> None:
    records = [{"prompt_ids": [64], "completion_ids": GOOD, "tool_mask": mask} for mask in (None, [1, 0, 1], None)]
    for name in ("r.jsonl", "r.parquet"):
        path = written(tmp_path / name, records)
        told = command(path, "--framework", "trl").stdout.splitlines()[-2]
        assert told == "fields: prompt_ids (prompt), completion_ids (ids), tool_mask (mask); 1 of 3 with a mask"
        answer = json.loads(command(path, "--framework", "trl", "--mask", "none", "--json").stdout)
        assert (answer["fields"], answer["masked"]) == ("prompt_ids (prompt), completion_ids (ids)", 0)
        told = command(path, "--framework", "trl", "--mask", "none").stdout.splitlines()[-2]
        assert told.endswith("; no mask, so all ids after the prompt count as sampled")


def test_the_fields_of_each_framework_are_listed(command: Callable[..., Result]) -> None:
    lines = [line.split() for line in command("--help").stdout.splitlines()]
    listed = {words[0]: " ".join(words) for words in lines if words and words[0] in FRAMEWORKS}
    for name, fields in FRAMEWORKS.items():
        for field in filter(None, fields[:7]):
            assert field in listed[name]


@pytest.mark.parametrize("name", ["r.jsonl", "r.parquet"])
@pytest.mark.parametrize("field", ["loss_mask", "completion_mask", "Mask", "labels"])
def test_a_mask_that_is_not_used_is_refused(
    tmp_path: Path, command: Callable[..., Result], name: str, field: str
) -> None:
    flags = [64, -100, -100] if field == "labels" else [1, 0, 0]
    path = written(tmp_path / name, [{"prompt_ids": [], "completion_ids": SPOILED, field: flags}])
    result = command(path, "--framework", "trl")
    assert result.exit_code == 2
    assert f"field {field}: a field that may be the mask is not used (give --mask {field} to use it" in result.stderr
    result = command(path, "--framework", "trl", "--mask", field)
    assert result.exit_code == 1
    assert "1 bug, drift 0.0000 %" in result.stdout
    result = command(path, "--framework", "trl", "--mask", "none")
    assert result.exit_code == 0
    assert "0 bugs, drift 66.6667 %" in result.stdout


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz", "r.parquet", "r.arrow"])
def test_a_file_without_rollouts_is_an_error(tmp_path: Path, command: Callable[..., Result], name: str) -> None:
    path = written(tmp_path / name, RECORDS)
    if "jsonl" in name:
        path.write_bytes(gzip.compress(b"") if name.endswith("gz") else b"\n")
    else:
        arrow = pytest.importorskip("pyarrow")
        table = arrow.Table.from_pylist(RECORDS).slice(0, 0)
        if name.endswith("parquet"):
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        else:
            with arrow.ipc.new_stream(str(path), table.schema) as writer:
                writer.write_table(table)
    result = command(path, "--framework", "verl")
    assert result.exit_code == 2
    assert f"{path}: no rollouts: the file has no records" in result.stderr
    both = command(written(tmp_path / "other.jsonl", RECORDS), path, "--framework", "verl", "--keep-going")
    assert both.exit_code == 2
    assert "; 1 bad record" in both.stdout


def test_the_summary_is_the_last_line(tmp_path: Path, command: Callable[..., Result]) -> None:
    path = written(tmp_path / "r.jsonl", [*RECORDS, BUG])
    result = command(path, "--ids", "response_ids", "--prompt", "prompt_ids", "--mask", "response_mask")
    *lines, fields, last = result.stdout.splitlines()
    assert fields == "fields: prompt_ids (prompt), response_ids (ids), response_mask (mask); all with a mask"
    assert last == "4 rollouts, 16 ids, 6 sampled: 1 bug, drift 33.3333 % (1 span), 1 junction"
    assert [line.partition(":")[0] for line in lines] == ["bug", "drift", "junction"]


@pytest.mark.parametrize(("flag", "name", "status"), [(0, "bugs", 1), (1, "drift", 0)])
def test_an_id_that_the_tokenizer_does_not_have_is_a_violation(
    flag: int, name: str, status: int, tmp_path: Path, command: Callable[..., Result]
) -> None:
    record = {"prompt_ids": [64], "response_ids": [64, 99999], "response_mask": [1, flag]}
    path = written(tmp_path / "r.jsonl", [record])
    result = command(path, "--framework", "verl", "--json")
    assert result.exit_code == status
    schemas.check("rollouts", result.stdout)
    answer = json.loads(result.stdout)
    (found,) = answer[name]["examples"]
    assert (found["index"], found["ids"], found["kind"]) == (2, [99999], "id-out-of-range")
    assert answer["kinds"] == [{"class": name, "kind": "id-out-of-range", "count": 1}]
    html = tmp_path / "page.html"
    assert command(path, "--framework", "verl", "--html", html).exit_code == status
    assert "the tokenizer has no id 99999" in html.read_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "the line is not JSON"),
        (b"[1]", "a record must be an object"),
        (b'{"response_ids": [64], "prompt_ids": null}', "field prompt_ids: the field is missing or null"),
        (b'{"response_ids": [64, null], "prompt_ids": []}', "fields prompt_ids and response_ids, token 1: ids must be"),
        (b'{"response_ids": [[64], 64], "prompt_ids": []}', "field prompt_ids: a batch has columns of different"),
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
    for name in ("named.parquet", "named.jsonl.gz", "named.feather"):
        unclear = written(tmp_path / name, [{"text": "a", "tokens_of_it": [1]}])
        assert (
            "give --ids FIELD, such as --ids input_ids, or --framework; the first record has text, tokens_of_it"
            in command(unclear).stderr
        )


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz", "r.parquet", "r.arrow"])
def test_fields_with_usual_names_need_not_be_named(name: str, tmp_path: Path, command: Callable[..., Result]) -> None:
    path = written(tmp_path / name, RECORDS)
    assert command(path) == command(path, "--framework", "verl")
    records = [{"input_ids": SPOILED, "loss_mask": [0, 1, 1]}, {"input_ids": SPOILED, "loss_mask": [1, 0, 0]}]
    named = command(written(tmp_path / f"2{name}", records), "--ids", "input_ids", "--mask", "loss_mask")
    assert (named.exit_code, command(tmp_path / f"2{name}")) == (1, named)


def test_equal_spans_are_one_line_and_the_others_are_counted(tmp_path: Path, command: Callable[..., Result]) -> None:
    other = {**BUG, "prompt_ids": [64, 83, 257]}
    path = written(tmp_path / "r.jsonl", [other, *[BUG] * 5, {**BUG, "prompt_ids": [64]}])
    result = command(path, "--framework", "verl", "--examples", "1")
    first, more, *_ = result.stdout.splitlines()
    assert first.startswith(f"bug: {path}, line 2, token 1: ")
    assert first.endswith(", 5 times")
    assert more == "bugs: 1 more"
    answer = json.loads(command(path, "--framework", "verl", "--json").stdout)
    assert [(row["count"], row["source"]) for row in answer["bugs"]["examples"]] == [
        (5, f"{path}, line 2"), (1, f"{path}, line 1")
    ]  # fmt: skip


@pytest.mark.parametrize(("n", "is_said"), [(9, False), (10, True)])
def test_many_equal_junctions_point_at_the_mask(
    n: int, is_said: bool, tmp_path: Path, command: Callable[..., Result]
) -> None:
    result = command(written(tmp_path / "r.jsonl", [RECORDS[2]] * n), "--framework", "verl")
    assert ("is the mask off by a token there?" in result.stdout) == is_said


def test_the_records_with_spans_are_listed(tmp_path: Path, command: Callable[..., Result]) -> None:
    path, listed = written(tmp_path / "r.jsonl", [*RECORDS, BUG]), tmp_path / "listed.jsonl"
    batch = {name: [record[name] for record in RECORDS] for name in RECORDS[0]}
    both = path, written(tmp_path / "batch.jsonl", [batch])
    assert command(*both, "--framework", "verl", "--records", listed).exit_code == 1
    rows = [json.loads(line) for line in listed.read_text(encoding="utf-8").splitlines()]
    drift, junction, bug = ({"bugs": b, "drift": d, "junctions": j} for b, d, j in ((0, 1, 0), (0, 0, 1), (1, 0, 0)))
    assert rows == [
        {"file": str(path), "line": 1, **drift},
        {"file": str(path), "line": 3, **junction},
        {"file": str(path), "line": 4, **bug},
        {"file": str(both[1]), "line": 1, "part": "rollout 0", **drift},
        {"file": str(both[1]), "line": 1, "part": "rollout 2", **junction},
    ]
    refused = command(path, "--framework", "verl", "--records", listed)
    assert (refused.exit_code, "--records" in refused.stderr) == (2, True)


def test_nulls_in_columns(tmp_path: Path, command: Callable[..., Result]) -> None:
    records = [RECORDS[0], {**RECORDS[0], "response_ids": None}, {**RECORDS[0], "response_ids": [261, None]}]
    path = written(tmp_path / "r.parquet", records)
    result = command(path, "--framework", "verl", "--keep-going", "--json")
    answer = json.loads(result.stdout)
    assert [row["source"] for row in answer["errors"]] == [f"{path}, row 1", f"{path}, row 2"]
    assert "prompt_ids and response_ids, token 2: ids must be" in answer["errors"][1]["error"]


def test_the_page_shows_each_class(tmp_path: Path, command: Callable[..., Result]) -> None:
    records, page = written(tmp_path / "r.jsonl", [*RECORDS, BUG]), tmp_path / "r.html"
    result = command(records, "--framework", "verl", "--html", page)
    assert result.exit_code == 1
    text = page.read_text("utf-8")
    assert "1 bug" in text
    for heading in ("Bugs", "Drift", "Junctions"):
        assert f">{heading}</h2>" in text
    assert "␣s + ingle" in text


def test_what_is_no_file_of_records(tmp_path: Path, command: Callable[..., Result]) -> None:
    (tmp_path / "folder").mkdir()
    for name, hint in (
        ("ids.npy", "(for one stream of ids: tokdfa validate TOK {})"),
        ("folder", "(this is a folder: give its files, such as {}/*.jsonl)"),
    ):
        result = command(tmp_path / name, "--ids", "ids")
        assert result.exit_code == 2
        assert hint.format(tmp_path / name) in result.stderr
