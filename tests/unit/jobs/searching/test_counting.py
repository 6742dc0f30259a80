"""Words are counted by matches, documents and files as in the decoded documents."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokdfa
from tests.support.commands import run
from tokdfa.jobs.searching.counting import add_counts, count_words
from tokdfa.stores.store import Chunk

WORDS = ["a", "an", "man", "single", " si", "n m", "ü"]
TEXTS = st.lists(st.text("a mansigleü ", max_size=30), max_size=8)


def tokenizer() -> tokdfa.AnyTokenizer:
    return tokdfa.default_tokenizer()


def expected(files: list[list[str]], words: list[str]) -> dict[bytes, list[int]]:
    """Count with the leftmost longest word in each document, which no match leaves here: a control token ends each."""
    pattern = re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)))
    counts: dict[bytes, list[int]] = {}
    for file in files:
        found = [pattern.findall(text) for text in file]
        for word in {word for matches in found for word in matches}:
            row = counts.setdefault(word.encode(), [0, 0, 0])
            row[0] += sum(matches.count(word) for matches in found)
            row[1] += sum(word in matches for matches in found)
            row[2] += 1
    return counts


@given(st.lists(TEXTS, max_size=3), st.data())
def test_counts_are_those_of_the_decoded_documents(files: list[list[str]], data: st.DataObject) -> None:
    searcher = tokdfa.Searcher(tokenizer(), WORDS)
    total: dict[bytes, list[int]] = {}
    # A separator that matches nothing keeps matches within documents.
    for file in files:
        documents = [tokenizer().encode(text + ".") for text in file]
        ids = np.concatenate([np.zeros(0, dtype=np.int32), *documents])
        starts = np.cumsum([0, *map(len, documents)])[:-1].astype(np.int64)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(ids)), max_size=3)))
        chunks = [
            Chunk(ids[low:high], starts[(low <= starts) & (starts < high)] - low)
            for low, high in zip([0, *cuts], [*cuts, len(ids)], strict=True)
        ]
        add_counts(total, count_words(searcher, chunks, lambda _: None))
    assert total == expected(files, WORDS)


def test_the_command_lists_the_words_by_their_matches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tok, words = tmp_path / "merges.txt", tmp_path / "words.txt"
    tokdfa.default_dictionary().save(tok)
    words.write_text("man\nsingle\nnobody\n")
    for name, texts in (("one", ["a single man.", "man to man."]), ("two", ["a woman."])):
        rows = [json.dumps({"input_ids": tokenizer().encode(text).tolist()}) + "\n" for text in texts]
        (tmp_path / f"{name}.jsonl").write_text("".join(rows))
    paths = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    assert run("search", tok, "--words", words, *paths, "--count") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[1:3]] == [["man", "4", "3", "2"], ["single", "1", "1", "1"]]
    assert lines[3:] == ["5 matches of 2 of 3 words"]
    assert run("search", tok, "--words", words, *paths, "--count", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["total"] == 5
    assert answer["words"][2] == {"word": "nobody", "count": 0, "documents": 0, "files": 0}
    assert run("search", tok, "--words", words, tmp_path / "one.jsonl", tmp_path / "none.npy", "--count") == 2
