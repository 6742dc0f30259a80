"""Bad input over folders, and disks that are full: nothing is lost or half-written, the rest is done, status 2."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tokdfa
from tests.support.commands import run
from tests.support.written_stores import documents_of
from tokdfa.stores import open_store

TOKENIZER = tokdfa.default_tokenizer()
TEXTS = ["a single man in possession", "of a good fortune", "a man, a man must be a man"]
IDS = [TOKENIZER.encode(text).tolist() for text in TEXTS]


@pytest.fixture
def tok(tmp_path: Path) -> Path:
    TOKENIZER.dictionary.save(tmp_path / "merges.txt")
    return tmp_path / "merges.txt"


# Columns of files in one folder

GOOD = {
    "a.parquet": {"input_ids": IDS, "source": ["x", "y", "z"]},
    "b.parquet": {"tokens": IDS},
    "c.parquet": {"input_ids": pa.array(IDS, pa.large_list(pa.int64())), "loss_mask": [[1] * len(i) for i in IDS]},
    "d.jsonl": {"input_ids": IDS},
}
BAD = {
    "e.parquet": ({"words": TEXTS}, "it is not clear which field has the ids (give --field; there are words)"),
    "f.parquet": ({"input_ids": TEXTS}, "the column must have integers or lists of them: 'string'"),
    "g.parquet": (
        {"input_ids": [[0.5]] * 3},
        "the column must have integers or lists of them: 'list<element: double>'",
    ),
    "h.parquet": ({"x": IDS, "y": IDS}, "it is not clear which field has the ids (give --field; there are x, y)"),
    "i.jsonl": ({"ids2": IDS}, "it is not clear which field has the ids (give --field; there are ids2)"),
}


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder of files with different columns."""
    folder = tmp_path / "mixed"
    folder.mkdir()
    for name, columns in {**GOOD, **{name: columns for name, (columns, _) in BAD.items()}}.items():
        if name.endswith(".parquet"):
            pq.write_table(pa.table(columns), folder / name)
        else:
            rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
            (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_columns_that_differ_are_named_and_the_rest_is_done(
    tok: Path, mixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    n_good, n_ids = len(GOOD), sum(map(len, IDS))
    for arguments, done in (
        (("stores", mixed), f"all +{len(GOOD) + len(BAD)} +{n_good * n_ids} +{3 * n_good} +{len(BAD)} "),
        (("validate", tok, mixed), f"{n_good * n_ids} ids in {3 * n_good} documents of {n_good + len(BAD)} files"),
        (("validate", tok, mixed, "--report", tmp_path / "r.json"), f"{n_good * n_ids} ids in {3 * n_good} documents"),
        (("search", tok, "man", mixed, "--count"), f"^{4 * n_good}\n"),
        (("guess", tok, mixed, "--each"), f"{n_good} +{re.escape(str(tok))}"),
        (("replace", tok, "man", "house", mixed, "-o", tmp_path / "new"), f"{n_good} files: {4 * n_good} matches"),
    ):
        given = () if arguments[0] in ("stores", "search") else ("--pretokenizer", "gpt2")
        assert run(*arguments, *given) == 2, arguments
        told = capsys.readouterr()
        assert re.search(done, told.out), arguments
        for name, (_, message) in BAD.items():
            assert f"{mixed / name}: {message}" in told.out + told.err, arguments
        assert not any(f"{mixed / name}: the" in told.out + told.err for name in GOOD), arguments
    assert {path.name for path in (tmp_path / "new").iterdir()} == {*GOOD, ".tokdfa-replace.partial"}
    new = [TOKENIZER.encode(text.replace("man", "house")).tolist() for text in TEXTS]
    assert all(documents_of(open_store(tmp_path / "new" / name)) == new for name in GOOD)


def test_a_field_that_only_some_files_have_is_named(tok: Path, mixed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("search", tok, "man", mixed, "--count", "--field", "tokens") == 2
    told = capsys.readouterr()
    assert told.out == "4\n"
    assert len(told.err.splitlines()) == len(GOOD) + len(BAD) - 1
    assert f"{mixed / 'a.parquet'}: the field is missing: 'tokens' (there are input_ids, source)" in told.err
    assert run("validate", tok, mixed, "--pretokenizer", "gpt2", "--field", "none") == 2
    assert "broken: " in capsys.readouterr().out


# Disks that are full


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Have writing fail, as on a full disk, where a file would be larger."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A folder of files with violations."""
    folder = tmp_path / "wrong"
    folder.mkdir()
    for number in range(3):
        np.save(folder / f"{number}.npy", np.array([64, 261, 1193] * [1, 2, 900][number], np.uint16))
    records = (json.dumps({"input_ids": [64, 261, 1193], "loss_mask": [0, 1, 1]}) + "\n" for _ in range(9))
    (tmp_path / "rollouts.jsonl").write_text("".join(records))
    return folder


OUTPUTS = {
    "validate --html, a folder": ("validate", "{tok}", "{dir}/wrong", "--html", "{new}"),
    "validate --html, a file": ("validate", "{tok}", "{dir}/wrong/1.npy", "--html", "{new}"),
    "validate --report": ("validate", "{tok}", "{dir}/wrong", "--report", "{new}"),
    "rollouts --html": ("rollouts", "{tok}", "{dir}/rollouts.jsonl", "--html", "{new}"),
    "rollouts --records": ("rollouts", "{tok}", "{dir}/rollouts.jsonl", "--records", "{new}"),
    "doctor --html": ("doctor", "{tok}", "--html", "{new}"),
    "compare --html": ("compare", "{tok}", "{tok}", "--html", "{new}"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no limits of files")
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("how", [(), ("--json",)])
def test_the_answer_is_printed_where_its_page_cannot_be_written(
    output: str, how: tuple[str, ...], tok: Path, wrong: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tok.parent / "out"
    folder.mkdir()
    new = folder / "new"
    arguments = [each.format(tok=tok, dir=tok.parent, new=new) for each in OUTPUTS[output]]
    arguments += [] if arguments[0] == "doctor" else ["--pretokenizer", "gpt2"]
    assert run(*arguments, *how) < 2
    expected = capsys.readouterr().out
    new.unlink()
    with files_of_at_most(400):
        assert run(*arguments, *how) == 2
    told = capsys.readouterr()
    assert told.out == expected
    assert told.err.startswith(f"tokdfa: error: {new}: ")
    left = [path.name for path in folder.iterdir()]
    # Only a run that is continued leaves what it has.
    assert left == (["new.partial"] if "--report" in output else [])
    assert run(*arguments, *how) < 2
    assert capsys.readouterr().out == expected
    assert [path.name for path in folder.iterdir()] == ["new"]


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no limits of files")
def test_replace_names_the_file_that_cannot_be_written(
    tok: Path, wrong: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("replace", tok, "single", "double", wrong, "-o", tmp_path / "new", "--pretokenizer", "gpt2")
    for size, named, left in ((100, ".tokdfa-replace.partial", []), (3000, "2.npy", ["0.npy", "1.npy"])):
        with files_of_at_most(size):
            assert run(*arguments) == 2
        assert f"{tmp_path / 'new' / named}: " in capsys.readouterr().err
        assert sorted(path.name for path in tmp_path.glob("new/*.npy")) == left
        assert not [*tmp_path.glob("new/.*.part")]
    assert run(*arguments, "--resume") == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["0.npy", "1.npy", "2.npy"]
