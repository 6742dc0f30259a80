"""tokdfa info."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.commands import run
from tests.support.tokenizer_files import as_bytes, merges_txt, ranks, tiktoken_lines, tokenizer_json
from tokdfa.base.errors import LimitExceededError
from tokdfa.cli.info import describe_members


@pytest.fixture
def merges(tmp_path: Path) -> Path:
    path = tmp_path / "merges.txt"
    path.write_text(merges_txt([(b"a", b"b"), (b"b", b"c"), (b"ab", b"c"), (b"a", b"bc")]), encoding="utf-8")
    return path


def test_json_has_every_field(merges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", merges, "--json") == 0
    captured = capsys.readouterr()
    fields = json.loads(captured.out)
    expected = {
        "format": "merges",
        "ids": 259,
        "tokens": 259,
        "rules": 4,
        "live_rules": 3,
        "proper": True,
        "first_offending_rule": None,
        "dead_tokens": 0,
        "states_built": 4,
        "pretokenizer": "none",
        "semantics": "leftmost",
        "whole_piece": False,
        "specials": 0,
        "specials_policy": "none",
    }
    assert {key: fields[key] for key in expected} == expected
    assert fields["states_minimal"] <= fields["states_reachable"] <= fields["states_built"]
    assert fields["seconds"]["fold"] > 0
    assert captured.err == ""


def test_dead_tokens_have_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "merges.txt"
    path.write_text(merges_txt([(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]), encoding="utf-8")
    assert run("info", path, "--json") == 0
    fields = json.loads(capsys.readouterr().out)
    assert fields["dead_tokens"] == 1
    (example,) = fields["dead_token_examples"]
    assert (example["id"], example["token"]) == (258, "abc")
    assert "merges across the boundary" in example["reason"]


def test_an_improper_dictionary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.tiktoken"
    path.write_bytes(tiktoken_lines(ranks([b"abc", b"ab"])))
    assert run("info", path, "--pretokenizer", "none", "--json") == 0
    fields = json.loads(capsys.readouterr().out)
    assert (fields["proper"], fields["live_rules"], fields["states_minimal"]) == (False, None, None)
    assert fields["first_offending_rule"]["rule"] == "ab≀c"
    assert fields["first_offending_rule"]["index"] == 0
    assert run("info", path, "--pretokenizer", "none") == 0
    assert "rule 0, ab≀c: no earlier rule makes its left part 'ab'" in capsys.readouterr().out


def test_lines_for_people_have_the_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json()))
    assert run("info", path, "--pretokenizer", "none") == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert "format         tokenizer.json" in lines
    assert "specials       1, found in the text to encode, as tokenizers does" in lines


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"a b c\n"])
def test_trouble_is_one_line(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "merges.txt"
    path.write_bytes(content)
    assert run("info", path) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("tokdfa: error: ")
    assert captured.err.count("\n") == 1
    assert run("info", tmp_path / "nothing") == 2
    assert "no such file or folder" in capsys.readouterr().err


def test_counts_of_gpt2_are_known(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", data / "vocabs/gpt2/merges.txt", "--json") == 0
    fields = json.loads(capsys.readouterr().out)
    counts = {key: fields[key] for key in ("rules", "live_rules", "states_built", "states_reachable", "dead_tokens")}
    assert counts == {
        "rules": 50_000,
        "live_rules": 50_000,
        "states_built": 50_001,
        "states_reachable": 14_639,
        "dead_tokens": 0,
    }


def test_the_fold_is_timed_where_it_happens(merges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokdfa.automata.dictionary import Dictionary
    from tokdfa.tokenizers.loading import load_byte_pairs

    folded_before: list[bool] = []
    live_rules = Dictionary.live_rules.fget
    assert live_rules is not None
    monkeypatch.setattr(
        Dictionary,
        "live_rules",
        property(lambda self: (folded_before.append("folding" in vars(self)), live_rules(self))[1]),
    )
    load_byte_pairs(merges).facts()
    assert folded_before[0] is False


def test_improper_ranks_with_and_without_a_proper_dictionary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "some.tiktoken", tmp_path / "proper.txt"
    symbols = [bytes([byte]) for byte in range(256)]
    path.write_bytes(tiktoken_lines({word: rank for rank, word in enumerate([*symbols, b"abc", b"ab"])}))
    assert run("info", path, "--pretokenizer", "none", "--json", "--proper-out", out) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["proper_part"] == {
        "rules": 1,
        "equivalent": False,
        "late_tokens": 1,
        "late_token_examples": ["abc"],
        "pairs": 1,
        "pair_examples": [["ab", "c"]],
    }
    assert "not a proper dictionary" in captured.err
    assert not out.exists()
    path.write_bytes(tiktoken_lines({word: rank for rank, word in enumerate([*symbols, b"ab", b"abc"])}))
    assert run("info", path, "--pretokenizer", "none", "--json", "--proper-out", out) == 0
    assert json.loads(capsys.readouterr().out)["proper_part"] is None
    assert out.read_text("utf-8").splitlines()[1:] == ["a b", "ab c"]


def test_a_language_is_counted(merges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", merges, "--language", "(abc){1,2}|x", "--json") == 0
    fields = json.loads(capsys.readouterr().out)
    assert {key: fields[key] for key in ("empty", "finite", "longest", "shortest", "counts")} == {
        "empty": False,
        "finite": True,
        "longest": 2,
        "shortest": ["x"],
        "counts": {"0": 0, "1": 2, "2": 1},
    }
    assert fields["states_minimal"] <= fields["states"]
    assert run("info", merges, "--language", "(abc){1,2}|x") == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()[3:]] == [
        ["empty", "no"],
        ["finite", "yes,", "up", "to", "2", "tokens"],
        ["shortest", "x"],
        ["members", "2", "of", "1", "token"],
        ["1", "of", "2", "tokens"],
    ]


@pytest.mark.parametrize(
    ("pattern", "empty", "finite", "shortest"),
    [("a*", False, False, []), ("[^\\s\\S]", True, True, None), ("(ab)+", False, False, ["ab"])],
)
def test_empty_and_endless_languages(merges: Path, capsys, pattern: str, empty: bool, finite: bool, shortest) -> None:
    assert run("info", merges, "--language", pattern, "--json") == 0
    fields = json.loads(capsys.readouterr().out)
    assert (fields["empty"], fields["finite"], fields["shortest"]) == (empty, finite, shortest)
    assert fields["longest"] is None
    assert run("info", merges, "--language", pattern) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(a", "not closed"),
        (r"(a)\1", "back-reference"),
        ("(" * 100_000, "nested more than"),
    ],
)
def test_languages_that_cannot_be(merges: Path, capsys, pattern: str, message: str) -> None:
    assert run("info", merges, "--language", pattern) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_languages_that_are_too_large(merges: Path) -> None:
    described = describe_members(str(merges), "(?s).*", None, None, 60.0)
    assert described["transitions"] > 500
    with pytest.raises(LimitExceededError, match=r"\(narrow the language\)"):
        describe_members(str(merges), "(?s).*", None, None, 60.0, max_transitions=500)


def test_a_language_of_a_real_dictionary(data: Path, capsys) -> None:
    assert run("info", data / "vocabs/gpt2", "--language", "[0-9]{4}", "--json") == 0
    fields = json.loads(capsys.readouterr().out)
    assert sum(fields["counts"].values()) == 10_000


def test_stores_are_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A store is described as by the command stores; a file that may be a tokenizer is not taken for a store."""
    folder = tmp_path / "shards"
    folder.mkdir()
    np.save(folder / "a.npy", np.array([1, 2], np.uint16))
    np.array([1, 2, 3], "<u2").tofile(folder / "b.bin")
    for arguments in ((folder / "a.npy",), (folder / "b.bin", "--dtype", "uint16")):
        for option in ((), ("--json",)):
            assert run("stores", *arguments, *option) == 0
            expected = capsys.readouterr().out
            assert run("info", *arguments, *option) == 0
            assert capsys.readouterr().out == expected
    # One file does not record the type of its integers.
    assert run("info", folder) == 2
    shown = capsys.readouterr().out
    assert "a.npy" in shown
    assert "does not record the type" in shown
    for name, content in (("tokenizer.json", "[1, 2]"), ("x.model", "1")):
        (tmp_path / name).write_text(content)
        assert run("info", tmp_path / name) == 2
        assert capsys.readouterr().out == ""
    assert run("info", tmp_path / "nothing") == 2
    assert "error" in capsys.readouterr().err
