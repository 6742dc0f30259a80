"""Shards of real vocabularies: documents are judged as each alone, and several threads find the same."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.written_stores import write_datatrove, write_jsonl
from tokdfa.jobs.shards.check import Options, bounds_of, check_shard, check_store
from tokdfa.stores import open_store

SMALL = 1000
FILES = {"gpt2": "gpt2", "cl100k": "cl100k_base.tiktoken", "bert": "bert_uncased_tokenizer.json"}


@pytest.fixture(scope="module", params=FILES)
def real(request: pytest.FixtureRequest, data: Path) -> tokdfa.AnyTokenizer:
    options = {"pretokenizer": "cl100k"} if request.param == "cl100k" else {}
    return tokdfa.load(data / "vocabs" / FILES[request.param], **options)


@pytest.fixture(scope="module")
def documents(real: tokdfa.AnyTokenizer, data: Path) -> list[list[int]]:
    """Documents of several languages; some are spoiled, some empty, and some end in a special token."""
    source = random.Random(11)
    found = []
    for name in ("english", "multilingual", "python_code"):
        text = (data / "corpora" / f"{name}.txt").read_text("utf-8")[50_000:80_000]
        for at in range(0, len(text), 250):
            ids = real.encode(text[at : at + source.randrange(250)]).tolist()
            if source.random() < 0.2 and ids:
                ids.insert(source.randrange(len(ids)), source.choice([*ids, 10**6]))
            if source.random() < 0.3 and len(real.special_ids):
                ids.append(int(real.special_ids[0]))
            found.append(ids)
    return found


def test_documents_are_judged_as_each_alone(
    tmp_path: Path, real: tokdfa.AnyTokenizer, documents: list[list[int]]
) -> None:
    kinds: Counter[str] = Counter()
    out = 0
    for document in documents:
        places = [-1, *(place for place, id in enumerate(document) if id == 10**6), len(document)]
        out += len(places) - 2
        for low, high in pairwise(places):
            found = real.validate(document[low + 1 : high], all=True).violations
            kinds.update(violation.kind.value for violation in found)
    assert sum(kinds.values()) > 4
    assert out > 0
    for path in (write_jsonl(tmp_path / "x.jsonl", documents), write_datatrove(tmp_path / "x.ds", documents)):
        report = check_shard(real, path)
        assert (report.documents, report.ids) == (len(documents), sum(map(len, documents)))
        assert (report.kinds, report.out_of_range) == (dict(sorted(kinds.items())), out)
        assert report.empty_documents == sum(not document for document in documents)


def test_threads_find_the_same(tmp_path: Path, real: tokdfa.AnyTokenizer, documents: list[list[int]]) -> None:
    with_documents = write_datatrove(tmp_path / "x.ds", documents)
    stream = tmp_path / "x.npy"
    np.save(stream, np.array([id for document in documents for id in document if id != 10**6], np.int32))
    for path in (with_documents, stream):
        one = check_shard(real, path)
        assert one.violations
        for threads in (2, 5):
            assert check_store(real, open_store(path), Options(), threads, least=SMALL) == one
    assert len(bounds_of(real, open_store(with_documents), 8)) > 4
    # WordPiece is judged in one part if no documents are known.
    assert (len(bounds_of(real, open_store(stream), 8)) > 4) == (real.why_not("rules") is None)
