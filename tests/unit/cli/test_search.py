"""tokdfa search: matches in words and in JSON, and one clear line for any error."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support import commands
from tests.support.tokenizer_files import tokenizer_json

run = partial(commands.run, "search")


@pytest.fixture
def tok(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tokenizer_json()), encoding="utf-8")
    return path


TEXT = "the theme: 1984, the 42 é\n"


@pytest.fixture
def ids(tok: Path, tmp_path: Path) -> Path:
    np.save(tmp_path / "ids.npy", tokdfa.load(tok).encode(TEXT))
    return tmp_path / "ids.npy"


def spans(pattern: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(pattern.encode(), TEXT.encode())]


def test_json_has_every_match(tok: Path, ids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tok, "[0-9]+", ids, "--json") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert captured.err == ""
    assert [list(match) for match in found["matches"]] == [["start_byte", "end_byte", "start_token", "end_token"]] * 2
    assert [(match["start_byte"], match["end_byte"]) for match in found["matches"]] == spans("[0-9]+")
    decode = tokdfa.load(tok).decode_bytes
    for match in found["matches"]:
        inside = np.load(ids)[match["start_token"] : match["end_token"]]
        assert TEXT.encode()[match["start_byte"] : match["end_byte"]] in decode(inside)
    assert found["count"] == 2


def test_lines_have_the_bytes_of_matches(tok: Path, ids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tok, "the|é|m.*", ids) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [re.match(r"bytes (\d+)-(\d+), ", line).groups() for line in lines] == [  # type: ignore[union-attr]
        (str(start), str(end)) for start, end in spans("the|é|m.*")
    ]
    assert [line.partition(": ")[2] for line in lines] == ["'the'", "'the'", "'me: 1984, the 42 é'"]


def test_long_texts_are_shortened(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "a.npy", np.full(1000, tokdfa.load(tok).encode("a")[0]))
    assert run(tok, "a+", tmp_path / "a.npy") == 0
    assert capsys.readouterr().out == f"bytes 0-1000, tokens 0-1000: '{'a' * 60}' … (1,000 bytes)\n"


def test_nothing_found(tok: Path, ids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tok, "x", ids) == 1
    assert capsys.readouterr().out == ""
    assert run(tok, "x", ids, "--json") == 1
    assert json.loads(capsys.readouterr().out) == {"matches": [], "count": 0}
    assert run(tok, "x", ids, "--count") == 1
    assert capsys.readouterr().out == "0\n"


@pytest.mark.parametrize(
    ("options", "pattern", "count"),
    [
        ([], "[0-9]|19", 6),
        (["--longest"], "[0-9]|19", 5),
        (["--first"], "[0-9]|19", 6),
        (["--overlapping"], "[0-9]|19", 7),
        (["--aligned"], "the", 1),
        (["--aligned"], "h", 0),
    ],
)
def test_which_matches(
    tok: Path, ids: Path, capsys: pytest.CaptureFixture[str], options: list[str], pattern: str, count: int
) -> None:
    for output, told in (([], str(count)), (["--json"], f'{{"count": {count}}}')):
        assert run(tok, pattern, ids, "--count", *options, *output) == int(not count)
        assert capsys.readouterr().out == f"{told}\n"


def test_a_pattern_is_searched_as_it_is_replaced_and_words_by_the_longest(
    tok: Path, ids: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tok, "[0-9]|19", ids, "--json") == 0
    searched = json.loads(capsys.readouterr().out)["count"]
    assert commands.run("replace", tok, "[0-9]|19", "", ids, "--json") == 0
    assert searched == json.loads(capsys.readouterr().out)["count"] == 6
    for words in ("the\ntheme\n", "theme\nthe\n"):
        (tmp_path / "words").write_text(words)
        assert run(tok, ids, "--words", tmp_path / "words", "--count", "--json") == 0
        counts = {row["word"]: row["count"] for row in json.loads(capsys.readouterr().out)["words"]}
        assert counts == {"the": 2, "theme": 1}


NAMED = {r"the\b": "whole", "19[0-9]*|x": "year", "[0-9]+": "number", "the(?:me)?": "word", "é|m": "word"}


def by_groups(text: str) -> list[tuple[int, int, str, str]]:
    """Return the matches of NAMED as `re` finds them, each with the name of the group that matched."""
    names = [*NAMED.values()]
    found = re.finditer("|".join(f"({pattern})" for pattern in NAMED), text)
    at = [len(text[:index].encode()) for index in range(len(text) + 1)]
    return [(at[each.start()], at[each.end()], each[0], names[int(each.lastindex or 0) - 1]) for each in found]


@pytest.mark.parametrize("text", [TEXT, "191 the1 9xé mm 1999the", "éé 42x19"])
def test_matches_have_texts_and_the_names_of_patterns(
    text: str, tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "ids.npy", tokdfa.load(tok).encode(text))
    patterns = tmp_path / "patterns"
    patterns.write_text("".join(f"{pattern}\t{name}\n" for pattern, name in NAMED.items()), encoding="utf-8")
    expected = by_groups(text)
    assert run(tok, tmp_path / "ids.npy", "--patterns", patterns, "--json", "--text") == 0
    found = json.loads(capsys.readouterr().out)["matches"]
    assert [(each["start_byte"], each["end_byte"], each["text"], each["name"]) for each in found] == expected
    assert run(tok, tmp_path / "ids.npy", "--patterns", patterns) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[2] for line in lines] == [f"{shown!r}, {name}" for *_, shown, name in expected]
    assert run(tok, tmp_path / "ids.npy", "--patterns", patterns, "--json", "--count") == 0
    rows = json.loads(capsys.readouterr().out)["names"]
    counts = {name: sum(own == name for *_, own in expected) for name in NAMED.values()}
    assert {row["name"]: row["count"] for row in rows} == counts
    (tmp_path / "shards").mkdir()
    for name in ("a.npy", "b.npy"):
        np.save(tmp_path / "shards" / name, np.load(tmp_path / "ids.npy"))
    assert run(tok, tmp_path / "shards", "--patterns", patterns, "--json", "--count") == 0
    rows = json.loads(capsys.readouterr().out)["names"]
    assert {row["name"]: (row["count"], row["files"]) for row in rows} == {
        name: (2 * count, 2 * bool(count)) for name, count in counts.items()
    }


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        ("a\n", [], "no tab after a pattern: b'a'"),
        ("a*\tx\nb\ty\n", [], "a pattern that matches the empty text, among several"),
        ("a\tx\n", ["--longest"], "--longest and --overlapping are not for --patterns"),
        ("a\tx\n", ["--text"], "--text is for --json"),
        ("a\tx\n", ["--words", "f"], "give one of --words, --patterns, --token and --ngrams"),
    ],
)
def test_patterns_that_cannot_be_named_are_refused(
    lines: str, options: list[str], message: str, tok: Path, ids: Path, tmp_path: Path, capsys
) -> None:
    (tmp_path / "patterns").write_text(lines)
    assert run(tok, ids, "--patterns", tmp_path / "patterns", *options) == 2
    assert message in capsys.readouterr().err


def test_the_text_of_a_word_is_the_word(
    tok: Path, ids: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "words").write_bytes(b"the\ntheme\n\n" + b"\xc3\n")
    assert run(tok, ids, "--words", tmp_path / "words", "--json", "--text") == 0
    found = json.loads(capsys.readouterr().out)["matches"]
    assert [each["text"] for each in found] == ["the", "theme", "the", "\\xc3"]
    assert all("name" not in each for each in found)


def test_words_of_a_file_are_found(tok: Path, ids: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = tmp_path / "words"
    words.write_bytes("\N{BYTE ORDER MARK}the\r\ntheme\n\n.*\né".encode())
    assert run(tok, ids, "--words", words, "--json") == 0
    found = json.loads(capsys.readouterr().out)["matches"]
    assert [(match["start_byte"], match["end_byte"]) for match in found] == spans("theme|the|é")
    words.write_text("\n")
    assert run(tok, ids, "--words", words) == 2
    assert capsys.readouterr().err == f"tokdfa: error: {words}: the file contains no words (write one word per line)\n"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(a", "not closed"),
        ("a**", "multiple repeat"),
        (r"(a)\1", "a back-reference is not regular"),
        ("(?<=a)b", "offset 0: look-behind is not supported"),
        ("a(?=bc)", "a look-ahead of more than one symbol is not supported"),
        (r"\p{Nonsense}", "no class of that name"),
        ("(" * 100_000, "nested more than"),
        ("[ab]*a[ab]{30}", "more than 20000 states (narrow it, or raise max_states)"),
    ],
)
def test_bad_patterns(tok: Path, ids: Path, capsys: pytest.CaptureFixture[str], pattern: str, message: str) -> None:
    assert run(tok, pattern, ids, "--json") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("tokdfa: error: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_bad_ids_are_named(tok: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for data, message in (("83 -1", "token 1: negative id: -1"), ("83 70000", "token 1: id out of range: 70000")):
        (tmp_path / "ids.txt").write_text(data)
        assert run(tok, "t", tmp_path / "ids.txt", "--json") == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert message in captured.err
    assert run(tok, "t", tmp_path / "none.npy") == 2
    assert "none.npy: No such file" in capsys.readouterr().err


def test_bad_arguments(tok: Path, ids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([tok], [tok, ids], [tok, "a", "b", ids], [tok, "a", ids, "--words", "f"]):
        assert run(*arguments) == 2
        assert "give TOK, PATTERN and IDS, in this order; or TOK, IDS and --words FILE" in capsys.readouterr().err


def test_wordpiece_streams_are_searched(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tok = data / "vocabs/bert_uncased_tokenizer.json"
    tokenizer = tokdfa.load(tok)
    np.save(tmp_path / "ids.npy", tokenizer.encode("Unaffable whales, in 1851"))
    assert run(tok, "^[a-z]+|[0-9]{4}", tmp_path / "ids.npy") == 0
    assert [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines()] == ["'unaffable'", "'1851'"]


def test_constant_memory(tok: Path, tmp_path: Path) -> None:
    """Over 64 million ids, 256 MB and read as they come, no more memory is taken than over few."""
    program = """
import resource, sys
import numpy as np
from tokdfa.cli import main
block = np.resize(np.arange(256, dtype=np.uint16), 1 << 20)
import tokdfa.stores
tokdfa.stores.iter_ids = lambda *_, **__: (block for _ in range(int(sys.argv[2])))
try:
    main(["search", sys.argv[1], "[0-9]{3}", "ids.npy", "--count"])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    peaks = []
    for blocks in (2, 64):
        done = subprocess.run(
            [sys.executable, "-c", program, str(tok), str(blocks)], capture_output=True, text=True, check=True
        )
        count, peak = done.stdout.split()
        assert int(count.replace(",", "")) == blocks * (1 << 20) // 256 * 3
        peaks.append(int(peak))
    assert peaks[1] - peaks[0] < 40_000


def test_ids_of_sentencepiece(data: Path, tmp_path: Path, capsys) -> None:
    model = data / "vocabs/mistral_v3.model"
    np.save(tmp_path / "ids.npy", [1, *tokdfa.load(model).encode(TEXT)])
    assert run(model, r"\Athe|the|[0-9]+|é\n", tmp_path / "ids.npy", "--json") == 0
    found = json.loads(capsys.readouterr().out)["matches"]
    assert [(match["start_byte"], match["end_byte"]) for match in found] == spans(r"the|[0-9]+|é\n")
