"""tokdfa validate: exit status, output, and one clear line for any error."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tokdfa
from tests.support import commands
from tests.support.tokenizer_files import merges_txt, tokenizer_json

run = partial(commands.run, "validate")


@pytest.fixture
def tok(tmp_path: Path) -> Path:
    """A tokenizer.json with GPT-2's pattern, in which `the` is id 258."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tokenizer_json()), encoding="utf-8")
    return path


# "t", "he" and " the" in this vocabulary; its bytes are in GPT-2's order.
T, HE, SPACE_THE = 83, 257, 258
GOOD = [T, HE, SPACE_THE, SPACE_THE]
BAD = [T, HE, 256, HE, SPACE_THE]


@pytest.fixture
def ids(tmp_path: Path) -> dict[str, Path]:
    files = {}
    for name, stream in (("good", GOOD), ("bad", BAD)):
        files[name] = tmp_path / f"{name}.npy"
        np.save(files[name], np.array(stream, dtype=np.uint16))
    return files


def test_exit_status_and_words(tok: Path, ids: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tok, ids["good"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("canonical: 4 tokens\n", "")
    assert run(tok, ids["bad"]) == 1
    captured = capsys.readouterr()
    first, last = captured.out.splitlines()
    reason = tokdfa.load(tok).validate(BAD).reason
    assert "'he' (257)" in reason
    assert "' t' (256): rule 2 (' t' + 'he')" in reason
    assert first.startswith(f"token 2, byte 3: {reason} ")
    assert first.endswith("[from token 2: 256 257, canonical 258]")
    assert last == "not canonical: 5 tokens, only the first violation is shown"
    assert captured.err == ""


def test_json_has_every_violation(tok: Path, ids: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tok, ids["good"], "--json") == 0
    good = json.loads(capsys.readouterr().out)
    assert (good.pop("report")["ids"], good) == (4, {"valid": True, "tokens": 4, "violations": []})
    assert run(tok, ids["bad"], "--json") == 1
    report = json.loads(capsys.readouterr().out)
    (violation,) = report["violations"]
    assert report["valid"] is False
    assert report["tokens"] == 5
    found = tokdfa.load(tok).validate(BAD).witness
    assert found is not None
    location = {"file": str(ids["bad"]), "unit": "byte", "number": violation["number"], "token": 2}
    assert violation == location | json.loads(json.dumps(found.as_json()))
    place = {"index": 2, "detected_at": 3, "byte_offset": 3, "start": 2, "ids": [256, HE], "canonical_ids": [SPACE_THE]}
    assert violation.items() >= {**place, "kind": "pair", "pair": [256, HE], "rule": 2}.items()


def test_all_violations(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "ids.npy", np.array(BAD + GOOD[2:] + [256, HE]))
    assert run(tok, tmp_path / "ids.npy", "--json") == 1
    assert [row["index"] for row in json.loads(capsys.readouterr().out)["violations"]] == [2]
    assert run(tok, tmp_path / "ids.npy", "--all", "--json") == 1
    assert [row["index"] for row in json.loads(capsys.readouterr().out)["violations"]] == [2, 7]
    assert run(tok, tmp_path / "ids.npy", "--all") == 1
    assert capsys.readouterr().out.splitlines()[-1] == "not canonical: 9 tokens, 2 violations"


def test_formats_of_ids(tok: Path, tmp_path: Path) -> None:
    np.array(BAD, dtype=np.uint16).tofile(tmp_path / "ids.bin")
    (tmp_path / "ids.txt").write_text(" ".join(map(str, BAD)))
    (tmp_path / "ids.json").write_text(json.dumps(BAD))
    assert run(tok, tmp_path / "ids.bin", "--dtype", "uint16") == 1
    assert run(tok, tmp_path / "ids.txt") == 1
    assert run(tok, tmp_path / "ids.json") == 1


def test_dictionaries_alone_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "merges.txt").write_text(merges_txt(), encoding="utf-8")
    (tmp_path / "ids.txt").write_text("64 65")
    tok = tmp_path / "merges.txt"
    assert run(tok, tmp_path / "ids.txt", "--json") == 0
    captured = capsys.readouterr()
    assert captured.err == (
        f"tokdfa: no pre-tokenizer in {tok}: the whole text is one piece (choose one, such as --pretokenizer gpt2)\n"
    )
    json.loads(captured.out)
    for chosen in ("gpt2", "none"):
        assert run(tok, tmp_path / "ids.txt", "--pretokenizer", chosen) == 0
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "data", "options", "message"),
    [
        ("ids.txt", b"83 1.5", [], "ids must be integers, not floats: '1.5'"),
        ("ids.txt", b"", [], "no ids"),
        ("ids.txt", b"\n", [], "no ids"),
        ("ids.json", b"", [], "no ids"),
        ("ids.json", b"[83, ", [], "the array is not closed"),
        ("ids.json", b"[1e2]", [], "not floats"),
        ("ids.bin", b"", ["--dtype", "uint16"], "no ids: the file is empty"),
        ("ids.bin", b"abc", ["--dtype", "uint16"], "ends in the middle of a uint16"),
        ("ids.bin", b"abcd", ["--dtype", "float32"], "not an integer type"),
        ("ids.bin", b"abcd", [], "give --dtype"),
        ("ids.npy", b"", [], "no ids: the file is empty"),
        ("ids.npy", b"\x93NUMPY", [], "not a complete .npy file"),
        ("ids.parquet", b"PAR1", [], "the file is damaged or cut short"),
    ],
)
def test_bad_ids_are_named(
    tok: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    data: bytes,
    options: list[str],
    message: str,
) -> None:
    (tmp_path / name).write_bytes(data)
    assert run(tok, tmp_path / name, *options, "--json") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith("tokdfa: error: ")
    assert message in captured.err


@pytest.mark.parametrize(
    ("name", "data", "options", "index", "id"),
    [
        ("ids.txt", b"83 -1 83", [], 1, -1),
        ("ids.json", b"[83, 257, 70000]", [], 2, 70000),
        ("ids.jsonl", b"[83]\n[83, 70000]\n", [], 2, 70000),
        ("ids.bin", b"abcd", ["--dtype", "uint32"], 0, 0x64636261),
        ("ids.bin", b"\xff" * 8, ["--dtype", "uint64"], 0, 2**64 - 1),
    ],
)
def test_ids_out_of_range_are_violations_alone_and_in_folders(
    tok: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    data: bytes,
    options: list[str],
    index: int,
    id: int,
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).write_bytes(data)
    assert run(tok, folder / name, *options, "--json") == 1
    (found,) = json.loads(capsys.readouterr().out)["violations"]
    assert (found["index"], found["start"], found["ids"], found["canonical_ids"]) == (index, index, [id], None)
    assert (found["kind"], found["reason"]) == ("id-out-of-range", f"the tokenizer has no id {id}")
    assert run(tok, folder / name, *options, "--html", tmp_path / "report.html") == 1
    assert f"token {index}, byte " in capsys.readouterr().out
    # Files of a folder that may be anything are not read.
    whole = folder / name if name.endswith((".txt", ".json")) else folder
    for given in ([whole, "--threads", "1"], [folder / name, "--report", tmp_path / "report.json"]):
        assert run(tok, *given, *options, "--json") == 1
        report = json.loads(capsys.readouterr().out)["report"]
        assert (report["out_of_range"], report["wrong_documents"], len(report["broken"])) == (1, 1, 0)
        assert report["worst"][0]["violations"] == 1
        (found,) = report["first"]
        assert (found["file"], found["kind"], found["ids"]) == (str(folder / name), "id-out-of-range", [id])
        if name == "ids.jsonl":
            assert (found["unit"], found["number"], found["token"]) == ("line", 2, 1)
    assert run(tok, folder / name, "--threads", "1", *options) == 1
    assert "1 violation (id-out-of-range 1), 1 wrong document\n" in capsys.readouterr().out


def test_bad_arrays_are_named(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for array, message in (
        (np.array([1.0, 2.0]), "ids must be integers: 'float64'"),
        (np.array([True]), "ids must be integers: 'bool'"),
        (np.array([[1, 2]]), "ids must be in one dimension: (1, 2)"),
    ):
        np.save(tmp_path / "ids.npy", array)
        assert run(tok, tmp_path / "ids.npy") == 2
        assert message in capsys.readouterr().err
    np.save(tmp_path / "ids.npy", np.zeros(0, dtype=np.int64))
    assert run(tok, tmp_path / "ids.npy") == 0
    assert capsys.readouterr().out == "canonical: 0 tokens\n"


def test_missing_files_and_improper_dictionaries(
    tok: Path, ids: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "merges.txt").write_text("#version: 0.2\nab a\na b\n")
    for tokenizer, stream, message in (
        (tmp_path / "nothing.json", ids["good"], "nothing.json: no such file"),
        (tok, tmp_path / "nothing.npy", "nothing.npy: No such file"),
        (tok, tmp_path / "nothing.txt", "nothing.txt: No such file"),
        (tmp_path / "merges.txt", ids["good"], "not proper: rule 0, ab≀a"),
    ):
        assert run(tokenizer, stream) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert message in line


def test_the_page_is_written_whatever_the_answer(
    tok: Path, ids: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    for name, status in (("good", 0), ("bad", 1)):
        for options in ([], ["--json"], ["--all"], ["--all", "--json"]):
            assert run(tok, ids[name], *options) == status
            without = capsys.readouterr()
            assert run(tok, ids[name], *options, "--html", page, "--force") == status
            assert capsys.readouterr() == without
            html = page.read_text(encoding="utf-8")
            assert f"<h1>{'Canonical' if name == 'good' else 'Not canonical'}</h1>" in html
            assert str(ids[name]) in html
    np.save(tmp_path / "more.npy", np.array([*BAD, *BAD]))
    assert run(tok, tmp_path / "more.npy", "--html", page, "--force") == 1
    assert "2 places of 10 tokens" in page.read_text(encoding="utf-8")


def test_the_page_of_windows_and_documents(
    tok: Path, ids: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    for options in (["--window"], ["--documents", "83"]):
        status = run(tok, ids["bad"], *options)
        without = capsys.readouterr()
        assert run(tok, ids["bad"], *options, "--html", page, "--force") == status
        assert capsys.readouterr() == without
        assert "Judged as" in page.read_text(encoding="utf-8")


def test_the_page_names_the_lines_and_rows_of_records(
    tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    records = tmp_path / "records.jsonl"
    # The empty line has a number, and the record without ids is a document.
    lines = ['{"ids": [83, 257]}', "", '{"ids": []}', json.dumps({"ids": BAD})]
    records.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"ids": [GOOD, [], BAD]}), table)
    for path, name in ((records, "line 4, token 2"), (table, "row 2, token 2")):
        assert run(tok, path, "--html", page, "--force") == 1
        assert f"in {name}." in page.read_text(encoding="utf-8")
    np.save(tmp_path / "starts.npy", [0, 2])
    assert run(tok, records, "--documents", tmp_path / "starts.npy", "--html", page, "--force") == 1
    assert "in document 1, token 2." in page.read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written(
    tok: Path, ids: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    for path in ("folder", "nothing/report.html", "file/report.html"):
        assert run(tok, ids["bad"], "--html", tmp_path / path) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("tokdfa: error: ")
        assert str(tmp_path / path) in captured.err
    assert not (tmp_path / "nothing").exists()


def test_trouble_leaves_the_old_page(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.html").write_text("old")
    (tmp_path / "ids.txt").write_text("83 257 256 257 1.5")
    before = sorted(tmp_path.iterdir())
    assert run(tok, tmp_path / "ids.txt", "--html", tmp_path / "report.html", "--force") == 2
    assert "not floats" in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "report.html").read_text() == "old"


def test_windows_without_a_pattern_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "merges.txt").write_text(merges_txt(), encoding="utf-8")
    (tmp_path / "ids.txt").write_text("64 65")
    assert run(tmp_path / "merges.txt", tmp_path / "ids.txt", "--window") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith(
        "tokdfa: error: a window can be judged only if a pre-tokenizer cuts the text"
    )
    assert run(tmp_path / "merges.txt", tmp_path / "ids.txt", "--window", "--pretokenizer", "gpt2") == 0


def test_the_lattice_of_a_unigram_tokenizer(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], ["aaa", -2.5], ["b", -3], ["ab", -4.0]]}
    unigram = tmp_path / "unigram.json"
    unigram.write_text(json.dumps({"version": "1.0", "decoder": {"type": "Fuse"}, "model": model}))
    (tmp_path / "ids.txt").write_text("1 1 1 3")
    assert run(unigram, tmp_path / "ids.txt", "--explain") == 1
    assert capsys.readouterr().out.splitlines() == [
        "token 0, byte 0: the text is encoded as 'aaa' (2), not as 'a' (1) 'a' (1) 'a' (1): the sum of scores up to "
        "there is -2.5, and with these ids -3 [from token 0: 1 1 1, canonical 2]",
        "    lattice of 'aaa'; the sum of scores before it is 0",
        "    to 1   'a' (1)    from 0, score -1, sum -1, best",
        "    to 2   'a' (1)    from 1, score -1, sum -2, best",
        "    to 3   'aaa' (2)  from 0, score -2.5, sum -2.5, best",
        "           'a' (1)    from 2, score -1, sum -3",
        "    of equal sums the one with the last piece that begins first counts",
        "not canonical: 4 tokens, only the first violation is shown",
    ]
    (tmp_path / "good.txt").write_text("2 3")
    assert run(unigram, tmp_path / "good.txt", "--explain") == 0
    assert capsys.readouterr().out == "canonical: 2 tokens\n"
    # The lattice is limited for any text. The two segmentations of this one have no boundary in common.
    model["vocab"] = [["?", 0], ["a", -1], ["aa", -1.5]]
    unigram.write_text(json.dumps({"version": "1.0", "decoder": {"type": "Fuse"}, "model": model}))
    (tmp_path / "long.txt").write_text("2 " * 5000 + "1")
    assert run(unigram, tmp_path / "long.txt", "--explain") == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 120
    assert max(map(len, lines)) < 400
    assert run(unigram, tmp_path / "long.txt", "--explain", "--json") == 1
    (violation,) = json.loads(capsys.readouterr().out)["violations"]
    assert len(violation["scores"]["lattice"]) <= 100
    assert len(violation["scores"]["text"]) == 48
    assert run(tok, tmp_path / "ids.txt", "--explain") == 2
    assert "--explain" in capsys.readouterr().err


def test_the_lattices_of_a_folder_are_those_of_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], ["aaa", -2.5], ["b", -3], ["ab", -4.0]]}
    unigram = tmp_path / "unigram.json"
    unigram.write_text(json.dumps({"version": "1.0", "decoder": {"type": "Fuse"}, "model": model}))
    paths = [tmp_path / "shards" / f"{number}.npy" for number in range(3)]
    paths[0].parent.mkdir()
    for path, ids in zip(paths, ([1, 1, 1, 3], [2, 3], [3, 1, 1, 1, 1, 1, 1]), strict=True):
        np.save(path, ids)
    alone: list[dict[str, object]] = []
    lines: list[str] = []
    for path in paths:
        run(unigram, path, "--explain", "--all", "--json")
        alone += json.loads(capsys.readouterr().out)["violations"]
        run(unigram, path, "--explain", "--all")
        lines += [line for line in capsys.readouterr().out.splitlines() if line.startswith("    ")]
    assert len(alone) > 1
    assert run(unigram, paths[0].parent, "--explain", "--all", "--json") == 1
    assert json.loads(capsys.readouterr().out)["violations"] == alone
    assert run(unigram, paths[0].parent, "--explain", "--json") == 1
    assert json.loads(capsys.readouterr().out)["violations"] == alone[:1]
    assert run(unigram, paths[0].parent, "--explain", "--all", "--threads", "2") == 1
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("    ")] == lines


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (None, "--documents: 'starts.txt' is neither an id nor none, and there is no file of this name"),
        ("0 x", "--documents: starts.txt, line 1: not an integer: 'x'"),
        ("0 3 2", "--documents: starts.txt, row 3: document starts must ascend, not 2 after 3"),
    ],
)
def test_documents_that_are_wrong_are_named(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    tok: Path,
    ids: dict[str, Path],
    rows: str | None,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if rows is not None:
        Path("starts.txt").write_text(rows, encoding="utf-8")
    assert run(tok, ids["good"], "--documents", "starts.txt") == 2
    assert said in capsys.readouterr().err
