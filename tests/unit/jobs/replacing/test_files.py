"""Replacing in many files: each layout is written as its reader, and its library, reads it; nothing is half-written."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tokdfa
from tests.support import written_stores
from tests.support.written_stores import documents_of, write_datatrove, write_jsonl
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.jobs.replacing.files import JOURNAL, FilesReplaced, replace_files
from tokdfa.stores import open_store

TOKENIZER = tokdfa.default_tokenizer()
TEXTS = ["a single man in possession", "", "of a good fortune", "a man, a man must be a man", "wife", ""]
DOCUMENTS = [TOKENIZER.encode(text).tolist() for text in TEXTS]
NEW = [TOKENIZER.encode(text.replace(" man", " zqxman")).tolist() for text in TEXTS]
MAN = tokdfa.Replacer(TOKENIZER, " man", " zqxman")
NOTHING = tokdfa.Replacer(TOKENIZER, "zzz", "")

WRITTEN = {
    name: written
    for name, written in {**written_stores.WITH_DOCUMENTS, **written_stores.WITHOUT_DOCUMENTS}.items()
    if written[0].split(" ")[0] not in ("WebDataset", ".npz", "text")
}
READ_ONLY = {
    name: written
    for name, written in {**written_stores.WITH_DOCUMENTS, **written_stores.WITHOUT_DOCUMENTS}.items()
    if name not in WRITTEN and name != "text"
}


@pytest.fixture
def texts() -> Iterator[None]:
    """Have stores written with ids that are texts."""
    ends = [*accumulate(map(len, DOCUMENTS))]
    ids = [id for document in DOCUMENTS for id in document]
    lists = written_stores.DOCUMENTS, written_stores.IDS, written_stores.ENDS, written_stores.STARTS
    before = [[*each] for each in lists]
    for each, new in zip(lists, (DOCUMENTS, ids, ends, [0, *ends[:-1]]), strict=True):
        each[:] = new  # type: ignore[index]
    yield
    for each, old in zip(lists, before, strict=True):
        each[:] = old  # type: ignore[index]


def replaced(replacer: tokdfa.Replacer, source: Path, output: Path, **options: object) -> FilesReplaced:
    return replace_files(replacer, [source], output, description={}, **options)  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def masks_of(path: Path) -> list[list[bool]]:
    """Return the masks of the documents of a store."""
    found: list[list[bool]] = []
    for chunk in open_store(path).iter_chunks():
        assert chunk.starts is not None
        assert chunk.mask is not None
        found += [part.tolist() for part in np.split(chunk.mask, chunk.starts[1:])]
    return found


@pytest.mark.parametrize("name", WRITTEN)
def test_each_layout_is_written_with_the_new_ids(name: str, texts: None, tmp_path: Path) -> None:
    source, output = tmp_path / "old", tmp_path / "new"
    source.mkdir()
    path = WRITTEN[name][1](source)
    done = replaced(MAN, source, output, threads=2)
    assert not done.errors
    old, new = open_store(path), open_store(output / path.relative_to(source))
    assert (new.format, new.dtype, new.n_documents) == (old.format, old.dtype, old.n_documents)
    assert not new.problems
    expected = NEW if old.has_documents else [[id for document in NEW for id in document]]
    assert documents_of(new) == expected
    assert {*contents(output)} == {*contents(source)}
    total = done.total
    assert total.matches == 4
    assert (total.tokens, total.new_tokens) == (sum(map(len, DOCUMENTS)), sum(map(len, NEW)))
    assert total.changed_documents == (2 if old.has_documents else 0)


@pytest.mark.parametrize("name", WRITTEN)
def test_without_a_match_every_file_is_the_same(name: str, texts: None, tmp_path: Path) -> None:
    source, output = tmp_path / "old", tmp_path / "new"
    source.mkdir()
    WRITTEN[name][1](source)
    assert replaced(NOTHING, source, output).total.matches == 0
    assert contents(output) == contents(source)


@pytest.mark.parametrize("name", READ_ONLY)
def test_layouts_that_are_only_read_are_refused_at_once(name: str, tmp_path: Path) -> None:
    source, output = tmp_path / "old", tmp_path / "new"
    source.mkdir()
    READ_ONLY[name][1](source)
    write_jsonl(source / "good.jsonl", DOCUMENTS)
    with pytest.raises(UnsupportedFeatureError, match=re.escape(f"are read, and not written: '{READ_ONLY[name][0]}")):
        replaced(MAN, source, output)
    assert not output.exists()


@pytest.mark.parametrize("name", ["datatrove", "parquet", "arrow-stream", "jsonl"])
def test_masks_follow_their_ids(name: str, texts: None, tmp_path: Path) -> None:
    """A new id has the mask of the ids in whose place it is; " man" is one token, and " zqxman" are several."""
    source, output = tmp_path / "old", tmp_path / "new"
    source.mkdir()
    path = WRITTEN[name][1](source)
    assert not replaced(MAN, source, output).errors
    man, more = TOKENIZER.encode(" man").tolist(), len(TOKENIZER.encode(" zqxman"))
    assert more > len(man) == 1
    expected = [
        [flag for id in document for flag in [bool(id % 2)] * (more if [id] == man else 1)] for document in DOCUMENTS
    ]
    assert masks_of(output / path.name) == expected


def test_a_table_keeps_all_else(tmp_path: Path) -> None:
    rows = {
        "text": pa.array(TEXTS).dictionary_encode(),
        "input_ids": pa.array(DOCUMENTS, pa.large_list(pa.uint16())),
        "meta": pa.array([{"a": [1, None], "b": str(n)} for n in range(6)]),
        "scores": pa.array([[0.5], None, [], [1.5, 2.0], [0.1], []]),
        "attention_mask": pa.array([[True] * len(document) for document in DOCUMENTS]),
        "empty": pa.nulls(6),
    }
    table = pa.table(rows).replace_schema_metadata({"huggingface": '{"info": 1}', "other": "x"})
    (tmp_path / "old").mkdir()
    codecs = {"input_ids.list.element": "zstd", "text": "gzip"}
    pq.write_table(
        table,
        tmp_path / "old" / "x.parquet",
        row_group_size=4,
        compression={**dict.fromkeys(codecs), **codecs, "empty": "none"},
        use_dictionary=["text"],
        column_encoding={"input_ids.list.element": "DELTA_BINARY_PACKED"},
        sorting_columns=[pq.SortingColumn(0)],
    )
    for kind in (pa.ipc.new_file, pa.ipc.new_stream):
        options = pa.ipc.IpcWriteOptions(compression="lz4" if kind is pa.ipc.new_file else None)
        with kind(str(tmp_path / "old" / f"{kind.__name__}.arrow"), table.schema, options=options) as sink:
            sink.write_table(table, max_chunksize=4)
    assert not replaced(MAN, tmp_path / "old", tmp_path / "new").errors

    def wanted(old: pa.Table) -> pa.Table:
        new = {1: NEW, 4: [[True] * len(document) for document in NEW]}
        for at, values in new.items():
            old = old.set_column(at, old.schema.field(at), pa.array(values, old.schema.field(at).type))
        return old

    files = {path.name: (path, tmp_path / "new" / path.name) for path in (tmp_path / "old").iterdir()}
    old, new = (pq.ParquetFile(path) for path in files["x.parquet"])
    assert new.read().equals(wanted(old.read()), check_metadata=True)
    for group in range(2):
        assert new.metadata.row_group(group).num_rows == old.metadata.row_group(group).num_rows
        assert new.metadata.row_group(group).sorting_columns == old.metadata.row_group(group).sorting_columns
        for column in range(old.metadata.row_group(group).num_columns):
            pair = [file.metadata.row_group(group).column(column) for file in (old, new)]
            assert pair[0].compression == pair[1].compression
            assert {*pair[0].encodings} == {*pair[1].encodings}, pair[0].path_in_schema
    for name, opened in (("new_file.arrow", pa.ipc.open_file), ("new_stream.arrow", pa.ipc.open_stream)):
        assert opened(str(files[name][1])).read_all().equals(wanted(table), check_metadata=True)
    assert b"\x04\x22\x4d\x18" in files["new_file.arrow"][1].read_bytes()


def test_a_line_keeps_all_else_byte_for_byte(tmp_path: Path) -> None:
    ids = TOKENIZER.encode("a man").tolist()
    new = TOKENIZER.encode("a zqxman").tolist()
    lines = [
        '{"a": 1.10e5, "t": "[1, 2] \\u00e9 ]", "input_ids" : %s , "n": {"input_ids": [1]}, "b": 1234567890123456}\n',
        '  {"input_ids":[7],"input_ids":%s}  \r\n',
        "\n",
        '{"input_ids": %s}',
    ]
    (tmp_path / "old").mkdir()

    def written(values: list[int]) -> str:
        spaced = [json.dumps(values), json.dumps(values, separators=(",", ":")), "", json.dumps(values)]
        return "".join(line % text if "%s" in line else line for line, text in zip(lines, spaced, strict=True))

    (tmp_path / "old" / "x.jsonl").write_bytes(written(ids).encode())
    assert replaced(MAN, tmp_path / "old", tmp_path / "new").total.matches == 3
    assert (tmp_path / "new" / "x.jsonl").read_bytes() == written(new).encode()


LISTS: dict[str, Callable[[Path, str, list[list[int]]], object]] = {
    "jsonl": lambda folder, name, values: (folder / "x.jsonl").write_text(
        "".join(json.dumps({"input_ids": ids, name: each}) + "\n" for ids, each in zip(DOCUMENTS, values, strict=True))
    ),
    "parquet": lambda folder, name, values: pq.write_table(
        pa.table({"input_ids": DOCUMENTS, name: values}), folder / "x.parquet"
    ),
}


@pytest.mark.parametrize("layout", LISTS)
def test_lists_whose_new_values_are_not_known_are_refused(layout: str, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    write_jsonl(tmp_path / "old" / "good.jsonl", DOCUMENTS)
    positions = [[*range(len(document))] for document in DOCUMENTS]
    LISTS[layout](tmp_path / "old", "position_ids", positions)
    done = replaced(MAN, tmp_path / "old", tmp_path / "new")
    assert [*done.counts] == [tmp_path / "old" / "good.jsonl"]
    assert "a list has a value for each id, and it is not known which values new ids have" in done.errors[0].what
    # Where nothing changes they stay, and so do lists of other lengths.
    assert not replaced(NOTHING, tmp_path / "old", tmp_path / "nothing").errors
    LISTS[layout](tmp_path / "old", "spans", [[0, *each] for each in positions])
    assert not replaced(MAN, tmp_path / "old", tmp_path / "again").errors
    # The ids in the place of two, of which one is masked, have no mask.
    two = tokdfa.Replacer(TOKENIZER, "a single", "one")
    LISTS[layout](tmp_path / "old", "loss_mask", [[n % 2 for n in each] for each in positions])
    done = replaced(two, tmp_path / "old", tmp_path / "masked")
    assert "do not share one value of a list next to them, so new ids have none: 'loss_mask'" in done.errors[0].what


def test_bad_files_are_named_and_the_rest_is_done(tmp_path: Path) -> None:
    source = tmp_path / "old"
    (source / "deep").mkdir(parents=True)
    good = [write_jsonl(source / f"{number}.jsonl", DOCUMENTS) for number in range(3)]
    write_jsonl(source / "deep" / "cut.jsonl", DOCUMENTS)
    data = (source / "deep" / "cut.jsonl").read_bytes()
    (source / "deep" / "cut.jsonl").write_bytes(data[:-4])
    (source / "empty.jsonl").write_bytes(b"")
    (source / "other.jsonl").write_text('{"input_ids": [1]}\n{"x": [1]}\n')
    pq.write_table(pa.table({"input_ids": [[1], [2]]}), source / "torn.parquet")
    (source / "torn.parquet").write_bytes((source / "torn.parquet").read_bytes()[:-30])
    np.array([1, 2, 3], "<u2").tofile(source / "x.ds")
    np.array([2], "<u8").tofile(source / "x.ds.index")
    (source / "x.ds.metadata").write_text("gpt2|2\n3\n3 T")
    done = replaced(MAN, source, tmp_path / "new", threads=2)
    assert [*done.counts] == good
    named = sorted(error.where.split(",")[0] for error in done.errors)
    wrong = ["deep/cut.jsonl", "empty.jsonl", "other.jsonl", "torn.parquet", "x.ds.index"]
    assert named == [str(source / name) for name in wrong]
    left = {*contents(tmp_path / "new")}
    assert left == {*(path.name for path in good), JOURNAL}
    # Repaired, only they are written.
    (source / "deep" / "cut.jsonl").write_bytes(data)
    for name in wrong[1:-1]:
        (source / name).unlink()
    np.array([3], "<u8").tofile(source / "x.ds.index")
    times = {path: (tmp_path / "new" / path.name).stat().st_mtime_ns for path in good}
    assert not replaced(MAN, source, tmp_path / "new", resume=True).errors
    assert times == {path: (tmp_path / "new" / path.name).stat().st_mtime_ns for path in good}
    assert JOURNAL not in contents(tmp_path / "new")
    assert documents_of(open_store(tmp_path / "new" / "deep" / "cut.jsonl")) == NEW


def test_ids_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"input_ids": pa.array([[64]], pa.list_(pa.uint8()))}), tmp_path / "x.parquet")
    done = replaced(tokdfa.Replacer(TOKENIZER, "a", " zqxman"), tmp_path / "x.parquet", tmp_path / "new")
    assert "a new id does not fit the integers of the file, uint8" in done.errors[0].what


@pytest.mark.parametrize("when", ["while", "after"])
def test_a_file_that_changes_meanwhile_is_refused(when: str, tmp_path: Path) -> None:
    source = tmp_path / "old"
    source.mkdir()
    paths = [write_jsonl(source / f"{number}.jsonl", DOCUMENTS) for number in range(3)]
    seen: list[int] = []

    def advance(n: int) -> None:
        seen.append(n)
        if len(seen) == 2:
            write_jsonl(paths[1], DOCUMENTS[:2])

    done = replaced(MAN, source, tmp_path / "new", advance=advance)
    assert [*done.counts] == [paths[0], paths[2]]
    assert [str(error) for error in done.errors] == [f"{paths[1]}: the file changed while it was read"]
    assert not (tmp_path / "new" / "1.jsonl").exists()
    if when == "after":
        # A file that is done, and has changed since, is written again.
        write_jsonl(paths[0], DOCUMENTS[2:])
    done = replaced(MAN, source, tmp_path / "new", resume=True)
    assert not done.errors
    assert documents_of(open_store(tmp_path / "new" / "1.jsonl")) == NEW[:2]
    assert documents_of(open_store(tmp_path / "new" / "0.jsonl")) == (NEW[2:] if when == "after" else NEW)


def test_a_dataset_is_whole_or_has_no_index(texts: None, tmp_path: Path) -> None:
    source = tmp_path / "old"
    (source / "mds").mkdir(parents=True)
    written_stores.mds(source / "mds")
    shards = sorted((source / "mds").glob("*.mds"))
    with pytest.raises(TokenStreamError, match="it is a dataset, and 1 of its 2 files are not given"):
        replaced(MAN, shards[0], tmp_path / "new")
    whole = shards[1].read_bytes()
    shards[1].write_bytes(whole[:-2] + b"\xff\xff")
    done = replaced(MAN, source, tmp_path / "new")
    assert len(done.errors) == 2
    assert "the index of the dataset is not written: 1 of its 2 files are missing" in str(done.errors[1])
    assert not (tmp_path / "new" / "mds" / "index.json").exists()
    shards[1].write_bytes(whole)
    assert not replaced(MAN, source, tmp_path / "new", resume=True).errors
    assert documents_of(open_store(tmp_path / "new" / "mds")) == NEW
    # Written over, it has no index as long as old and new shards may be mixed.
    shards[1].write_bytes(whole[:-2] + b"\xff\xff")
    assert replaced(NOTHING, source, tmp_path / "new").errors
    assert not (tmp_path / "new" / "mds" / "index.json").exists()


def test_only_the_same_job_is_resumed(tmp_path: Path) -> None:
    source = tmp_path / "old"
    source.mkdir()
    write_jsonl(source / "x.jsonl", DOCUMENTS)
    with pytest.raises(TokenStreamError, match="there is no such job to resume"):
        replaced(MAN, source, tmp_path / "new", resume=True)
    (source / "bad.jsonl").write_bytes(b"")
    assert replaced(MAN, source, tmp_path / "new").errors
    with pytest.raises(TokenStreamError, match="there is no such job to resume"):
        replace_files(MAN, [source], tmp_path / "new", description={"given": "x"}, resume=True)
    for output in (source, source / "new"):
        with pytest.raises(TokenStreamError, match="the output folder is among the input"):
            replaced(MAN, source, output)


def test_masks_of_random_changes_are_those_by_definition(tmp_path: Path) -> None:
    """Of ids that stay, and for a change the flag that its old ids share, or the neighbours of a place without any."""
    drawn = random.Random(1)
    met = {"carried": 0, "refused": 0, "inserted": 0}
    words = ["a", "man", "single", "in", "fortune", "good"]
    for _ in range(70):
        texts = [" ".join(drawn.choices(words, k=drawn.randrange(5))) for _ in range(3)]
        documents = [TOKENIZER.encode(text).tolist() for text in texts]
        flags = [[int(drawn.random() < drawn.choice([0.1, 0.9]))] * len(document) for document in documents]
        for each in flags:
            if each and drawn.random() < 0.6:
                each[drawn.randrange(len(each))] ^= 1
        rows = zip(documents, flags, strict=True)
        (tmp_path / "x.jsonl").write_text(
            "".join(json.dumps({"ids": ids, "loss_mask": mask}) + "\n" for ids, mask in rows)
        )
        pattern, replacement = drawn.choice(words), drawn.choice([*words, "", "a man", r"\g<0> \g<0>"])
        replacer = tokdfa.Replacer(TOKENIZER, pattern, replacement)
        expected = []
        for ids, mask in zip(documents, flags, strict=True):
            own, at = [], 0
            for change in replacer.replace(ids).changes:
                own += mask[at : change.start]
                first, last = change.start, change.stop
                if first == last:
                    met["inserted"] += 1
                    first, last = max(first - 1, 0), min(last + 1, len(ids))
                shared = {*mask[first:last]}
                own += [shared.pop() if len(shared) == 1 else -1] * (change.new_stop - change.new_start)
                at = change.stop
            expected.append(own + mask[at:])
        done = replaced(replacer, tmp_path / "x.jsonl", tmp_path / "new")
        if any(-1 in each for each in expected):
            assert done.errors
            met["refused"] += 1
        else:
            assert not done.errors
            assert masks_of(tmp_path / "new" / "x.jsonl") == [[*map(bool, each)] for each in expected]
            met["carried"] += done.total.changed_documents > 0
    assert min(met.values()) > 1, met


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[Path, dict[str, bytes]]:
    """A folder of files of several layouts, and the same files after replacing."""
    source = tmp_path / "old"
    source.mkdir()
    many = DOCUMENTS * 300
    for number in range(3):
        write_jsonl(source / f"{number}.jsonl", many)
        write_datatrove(source / f"{number}.ds", many)
        pq.write_table(pa.table({"input_ids": many, "n": [*range(len(many))]}), source / f"{number}.parquet")
    replaced(MAN, source, tmp_path / "expected")
    return source, contents(tmp_path / "expected")


LIMITED = """
import resource, sys
from tests.unit.jobs.replacing.test_files import MAN, replaced
from pathlib import Path

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
done = replaced(MAN, Path(sys.argv[2]), Path(sys.argv[3]))
assert all("too large" in error.what or "quota" in error.what for error in done.errors), done.errors
sys.exit(len(done.errors))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no limits of files")
def test_a_full_disk_leaves_whole_files_only(corpus: tuple[Path, dict[str, bytes]], tmp_path: Path) -> None:
    source, expected = corpus
    output = tmp_path / "new"
    sizes = sorted(map(len, expected.values()))
    for limit in (100, sizes[len(sizes) // 2]):
        command = [sys.executable, "-c", LIMITED, str(limit), str(source), str(output)]
        n_errors = subprocess.run(command, check=False, timeout=60).returncode
        left = contents(output) if output.exists() else {}
        left.pop(JOURNAL, None)
        assert 0 < n_errors <= 9
        assert left.items() <= expected.items()
        assert len(left) < len(expected)
    assert not replaced(MAN, source, output).errors
    assert contents(output) == expected
