"""Checking shards: counts and positions of violations, the same with any number of threads."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support import written_stores as written
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json
from tokdfa.jobs.shards.check import Options, bounds_of, check_shard, check_store
from tokdfa.jobs.shards.report import Report
from tokdfa.stores import open_store

TEXTS = ["a single man in possession", " of a good fortune,\n\nmust be", "in want!  of", "12345 a wife.", "\n \n  é"]
SMALL = 40


def in_parts(tokenizer: tokdfa.AnyTokenizer, path: Path, threads: int, least: int) -> Report:
    """Return the report on a shard when threads check parts of at least `least` ids."""
    return check_store(tokenizer, open_store(path), Options(), threads, least=least)


def corpus(seed: int, n: int = 60, spoil: float = 0.4) -> list[list[int]]:
    """Return documents, some of them spoiled by ids in wrong places, and some empty."""
    source = random.Random(seed)
    tokenizer = tokdfa.default_tokenizer()
    documents = []
    for _ in range(n):
        text = "".join(source.choice(TEXTS) for _ in range(source.randrange(4)))
        ids = tokenizer.encode(text).tolist()
        if source.random() < spoil:
            for _ in range(source.randrange(1, 4)):
                ids.insert(source.randrange(len(ids) + 1), source.choice((1193, 261, 195, 13, 4, 99999)))
        documents.append(ids)
    return documents


def expected(documents: list[list[int]]) -> tuple[Counter[str], Counter[int], dict[int, int], int]:
    """Return the kinds, the rules, the violations of each document, and the ids out of range: document by document."""
    tokenizer = tokdfa.default_tokenizer()
    kinds: Counter[str] = Counter()
    rules: Counter[int] = Counter()
    wrong: dict[int, int] = {}
    out = 0
    for number, document in enumerate(documents):
        parts: list[list[int]] = [[]]
        for id in document:
            if id != 99999:
                parts[-1].append(id)
            else:
                parts.append([])
        out += len(parts) - 1
        if len(parts) > 1:
            wrong[number] = len(parts) - 1
        for part in parts:
            for violation in tokenizer.validate(part, all=True).violations:
                kinds[violation.kind.value] += 1
                wrong[number] = wrong.get(number, 0) + 1
                if violation.rule is not None:
                    rules[violation.rule] += 1
    return kinds, rules, wrong, out


@pytest.mark.parametrize("seed", range(6))
def test_shards_of_documents(tmp_path: Path, seed: int) -> None:
    documents = corpus(seed)
    kinds, rules, wrong, out = expected(documents)
    assert kinds
    assert out
    for write, name in ((written.write_jsonl, "x.jsonl"), (written.write_datatrove, "x.ds")):
        report = check_shard(tokdfa.default_tokenizer(), write(tmp_path / name, documents))
        assert not report
        assert (report.shards, report.documents, report.ids) == (1, len(documents), sum(map(len, documents)))
        assert report.empty_documents == sum(not ids for ids in documents)
        assert (report.kinds, report.rules, report.out_of_range) == (dict(kinds), dict(rules), out)
        assert report.wrong_documents == len(wrong)
        assert [row.violations for row in report.worst] == sorted(wrong.values(), reverse=True)[:10]
        if name == "x.jsonl":
            assert {row.number - 1: row.violations for row in report.worst}.items() <= wrong.items()
    # The place of an id out of range, in the file.
    (first, *_) = (row for row in report.first if row.kind == "id-out-of-range")
    stream = [id for ids in documents for id in ids]
    assert first.token == next(place for place, id in enumerate(stream) if id == 99999)
    assert first.number == 4 * first.token


@pytest.mark.parametrize("seed", range(4))
def test_threads_find_the_same(tmp_path: Path, seed: int) -> None:
    tokenizer = tokdfa.default_tokenizer()
    documents = corpus(100 + seed, 60, 0.2)
    if seed:
        # No id out of range makes cutting a stream impossible near it.
        documents = [[id for id in ids if id != 99999] for ids in documents]
    with_documents = written.write_datatrove(tmp_path / "x.ds", documents)
    np.save(tmp_path / "x.npy", np.array([id for ids in documents for id in ids], np.uint32))
    for path in (with_documents, tmp_path / "x.npy"):
        one = check_shard(tokenizer, path)
        for threads in (2, 3, 8):
            assert in_parts(tokenizer, path, threads, SMALL) == one
    assert len(bounds_of(tokenizer, open_store(with_documents), 8)) > 4
    assert (len(bounds_of(tokenizer, open_store(tmp_path / "x.npy"), 8)) > 4) == (seed > 0)
    for n in (1, 5):
        # Cut nearly everywhere.
        assert in_parts(tokenizer, tmp_path / "x.npy", 16, n) == one


@pytest.mark.parametrize("seed", range(2))
def test_threads_that_share_a_reader_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """A reader of rows, with few steps, and a reader of a stream with separators."""
    tokenizer = tokdfa.default_tokenizer()
    documents = corpus(200 + seed, 60, 0.3)
    rows = tmp_path / "x.parquet"
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(
        pyarrow.table({"input_ids": pyarrow.array(documents, pyarrow.list_(pyarrow.int32()))}), rows
    )
    np.save(tmp_path / "x.npy", np.array([id for ids in documents for id in [*ids, 77]], np.uint32))
    paths = [(rows, Options()), (rows, Options(documents="none")), (tmp_path / "x.npy", Options(documents=77))]
    paths.append((written.write_jsonl(tmp_path / "x.jsonl", documents), Options()))
    for path, options in paths:
        store = open_store(path)
        whole = store.iter_chunks
        one = check_store(tokenizer, store, options)
        assert one.documents
        for size in (1, 7, 64):
            monkeypatch.setattr(store, "iter_chunks", partial(whole, size=size))
            for threads in (2, 3, 8):
                for least in (1, SMALL):
                    assert check_store(tokenizer, store, options, threads, least=least) == one, (path, size)


def test_streams_are_not_cut_within_special_tokens(tmp_path: Path) -> None:
    added = [added_token(257, "a <x> b"), added_token(258, "<e>")]
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json([(b"a", b"b")], added_tokens=added)))
    tokenizer = tokdfa.load(path)
    spelled = [int(tokenizer.encode(symbol)[0]) for symbol in "ab a <x> b ab"] * 40
    np.save(tmp_path / "x.npy", np.array(spelled))
    one = check_shard(tokenizer, tmp_path / "x.npy")
    assert one.kinds["special-token"] == 40
    for threads in (2, 3, 8):
        assert in_parts(tokenizer, tmp_path / "x.npy", threads, 8) == one


def test_separators_and_one_stream(tmp_path: Path) -> None:
    tokenizer = tokdfa.default_tokenizer()
    parts = [tokenizer.encode(text).tolist() for text in ("a sin", "gle", "", " man")]
    stream = [id for part in parts for id in [*part, 99999]]
    np.save(tmp_path / "x.npy", np.array(stream))
    report = check_shard(tokenizer, tmp_path / "x.npy", documents=99999)
    assert bool(report)
    assert (report.documents, report.empty_documents, report.unended_documents) == (4, 1, 0)
    path = written.write_jsonl(tmp_path / "x.jsonl", parts)
    assert check_shard(tokenizer, path)
    joined = check_shard(tokenizer, path, documents="none")
    assert (joined.documents, joined.wrong_documents) == (1, 1)
    assert joined.first[0].unit == "token"


def test_what_ids_are(tmp_path: Path) -> None:
    table = [added_token(257, "<|end|>")]
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json([(b"a", b"b")], added_tokens=table)))
    tokenizer = tokdfa.load(path)
    end = int(tokenizer.special_ids[0])
    shard = written.write_jsonl(tmp_path / "x.jsonl", [[97, end], [98], [], [end]])
    report = check_shard(tokenizer, shard)
    assert (report.documents, report.unended_documents, report.empty_documents) == (4, 1, 1)
    assert check_shard(tokenizer, shard, end=98).unended_documents == 2


def test_broken_shards(tmp_path: Path) -> None:
    tokenizer = tokdfa.default_tokenizer()
    good = corpus(7, 10, 0)
    path = written.write_jsonl(tmp_path / "x.jsonl", good)
    path.write_text(path.read_text() + '{"input_ids": [1')
    report = check_shard(tokenizer, path)
    assert (report.shards, report.ids, report.kinds) == (1, sum(map(len, good)), {}) or report.ids == 0
    assert report.broken[0].where == f"{path}, line 11"
    assert not report
    ds = written.write_datatrove(tmp_path / "x.ds", good)
    ds.write_bytes(ds.read_bytes()[:-2])
    for threads in (1, 3):
        report = check_shard(tokenizer, ds, threads=threads)
        assert (report.ids, len(report.broken)) == (0, 1)
    report = check_shard(tokenizer, tmp_path / "none.npy")
    assert report.broken[0].what == "No such file or directory"
    folder = tmp_path / "litdata"
    folder.mkdir()
    written.litdata(folder)
    (folder / "chunk-0-1.bin").unlink()
    report = check_shard(tokenizer, folder)
    assert (report.shards, len(report.broken), report.documents) == (2, 1, 3)
    assert isinstance(report, Report)


def test_what_is_wrong_with_the_options_is_no_broken_shard(tmp_path: Path) -> None:
    path = written.write_jsonl(tmp_path / "x.jsonl", [[1]])
    with pytest.raises(TypeError):
        check_shard("gpt2", path)  # type: ignore[arg-type]


def test_documents_that_are_closed_with_later_ids(tmp_path: Path) -> None:
    """A violation that is found after its document has ended, and empty ones have begun, is in its document."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    wrong = [64, 261, 1193]
    rows = [[64], wrong, [], [], [], wrong, [64], [64], [], wrong, []]
    table = arrow.table({"input_ids": arrow.array(rows, arrow.list_(arrow.int32()))})
    for size in range(1, len(rows) + 1):
        parquet.write_table(table, tmp_path / "x.parquet", row_group_size=size)
        report = check_shard(tokdfa.default_tokenizer(), tmp_path / "x.parquet")
        assert [(row.number, row.token) for row in report.first] == [(1, 1), (5, 1), (9, 1)], size
        assert [row.number for row in report.worst] == [1, 5, 9]
        assert (report.documents, report.wrong_documents, report.empty_documents) == (11, 3, 5)
