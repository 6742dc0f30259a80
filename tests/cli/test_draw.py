"""tokdfa draw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.tokenizer_files import merges_txt

import tokdfa
from tokdfa.automata.regex import language
from tokdfa.cli import main

PAIRS = [(b"a", b"a"), (b"a", b"b"), (b"ab", b"a")]


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as leaving:
        main([str(argument) for argument in arguments])
    assert isinstance(leaving.value.code, int)
    return leaving.value.code


@pytest.fixture
def merges(tmp_path: Path) -> Path:
    path = tmp_path / "merges.txt"
    path.write_text(merges_txt(PAIRS), encoding="utf-8")
    return path


def test_all_texts(merges: Path, tmp_path: Path, capsys) -> None:
    output = tmp_path / "picture.dot"
    assert run("draw", merges, "-o", output, "--json") == 0
    dfa = tokdfa.token_dfa(tokdfa.load(merges).dictionary)
    assert json.loads(capsys.readouterr().out) == {
        "states": dfa.n_states,
        "transitions": dfa.n_transitions,
        "path": str(output),
    }
    assert output.read_text(encoding="utf-8") == dfa.to_dot(max_labels=16)


def test_a_language_a_prefix_and_the_minimal_automaton(merges: Path, tmp_path: Path, capsys) -> None:
    output = tmp_path / "picture.gv"
    assert run("draw", merges, "--language", "(ab)*a", "--rules", 2, "--minimal", "--max-labels", 3, "-o", output) == 0
    dictionary = tokdfa.load(merges).dictionary.prefix(2)
    dfa = tokdfa.token_dfa(dictionary, language("(ab)*a", dictionary)).minimize()
    assert output.read_text(encoding="utf-8") == dfa.to_dot(max_labels=3)
    assert capsys.readouterr().out == f"{output}: {dfa.n_states} states, {dfa.n_transitions} transitions\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "picture.png"], "to a .dot file"),
        (["-o", "nowhere/picture.dot"], "No such file or directory"),
        ([], "Missing option '-o'"),
        (["-o", "picture.dot", "--max-states", "3"], "the automaton has 4 states, more than 3 to draw"),
        (["-o", "picture.dot", "--max-states", "3", "--language", "(aa|b)*"], "more than 3 to draw"),
    ],
)
def test_trouble_is_one_line(
    merges: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("draw", merges, *arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert message in captured.err
    assert not list(tmp_path.glob("picture*"))


def test_a_real_dictionary_is_not_drawn_whole(data: Path, tmp_path: Path, capsys) -> None:
    output = tmp_path / "picture.dot"
    assert run("draw", data / "vocabs/gpt2", "-o", output) == 2
    assert "the automaton has 50,001 states, more than 500 to draw" in capsys.readouterr().err
    assert run("draw", data / "vocabs/gpt2", "-o", output, "--rules", 20) == 0
    assert output.stat().st_size > 0
