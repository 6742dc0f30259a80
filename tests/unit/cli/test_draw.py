"""tokdfa draw."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import tokdfa
from tests.support.commands import run
from tests.support.tokenizer_files import merges_txt
from tokdfa.automata.lift import language
from tokdfa.draw.automaton import dfa_graph
from tokdfa.draw.graph import to_dot
from tokdfa.draw.render import can_render

DEFAULT = Path(tokdfa.__file__).parent / "tokenizers" / "data" / "default.merges.txt"
PAIRS = [(b"a", b"a"), (b"a", b"b"), (b"ab", b"a")]


@pytest.fixture
def merges(tmp_path: Path) -> Path:
    path = tmp_path / "merges.txt"
    path.write_text(merges_txt(PAIRS), encoding="utf-8")
    return path


def test_the_automaton_of_all_texts_is_drawn(merges: Path, tmp_path: Path, capsys) -> None:
    output = tmp_path / "picture.dot"
    assert run("draw", merges, "-o", output, "--json") == 0
    dfa = tokdfa.token_dfa(tokdfa.load(merges).dictionary)
    assert json.loads(capsys.readouterr().out) == {
        "states": dfa.n_states,
        "transitions": dfa.n_transitions,
        "path": str(output),
    }
    last = range(tokdfa.token_dfa(tokdfa.load(merges).dictionary.prefix(2)).n_states, dfa.n_states)
    assert output.read_text(encoding="utf-8") == to_dot(dfa_graph(dfa, max_labels=16, fresh=last))


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
        (["-o", "picture.jpg"], "the name of a picture must end in one of .dot, .gv, .svg, .png"),
        (["-o", "picture.dot", "--film"], "the name of a film must end in .svg or .html"),
        (["-o", "picture.dot", "--transducer", "--minimal"], "cannot be combined with --minimal"),
        (["-o", "picture.dot", "--run", "a", "--transducer"], "cannot be combined with --transducer"),
        (["-o", "picture.dot", "--run", "q≀aaa"], "'aaa'"),
        (["-o", "picture.dot", "--around", "aaa"], "'aaa'"),
        (["-o", "nowhere/picture.dot"], "No such file or directory"),
        ([], "Missing option '-o'"),
        (["-o", "picture.svg", "--max-states", "3", "--film"], "more than the limit of 3"),
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


@pytest.mark.parametrize("language", [[], ["--language", "(aa|b)*"]])
def test_what_is_too_large_is_summed_up(merges: Path, tmp_path: Path, capsys, language: list[str]) -> None:
    output = tmp_path / "picture.dot"
    assert run("draw", merges, "-o", output, "--max-states", 3, *language) == 1
    assert "not drawn: the automaton has " in capsys.readouterr().out
    assert run("draw", merges, "-o", output, "--max-states", 3, *language, "--json") == 1
    fields = json.loads(capsys.readouterr().out)
    assert fields["path"] is None
    assert fields["densest"][0]["n_tokens"] >= fields["densest"][1]["n_tokens"]
    assert not output.exists()


def test_a_run_is_painted_as_far_as_it_goes(merges: Path, tmp_path: Path, capsys) -> None:
    output = tmp_path / "picture.dot"
    assert run("draw", merges, "-o", output, "--run", "b≀aa≀b") == 0
    assert output.read_text(encoding="utf-8").count("penwidth=2.5") == 2
    assert capsys.readouterr().err == ""
    assert run("draw", merges, "-o", output, "--run", "b a a b", "--force") == 0
    assert "up to where it stops: before token 2, a" in capsys.readouterr().err


def test_the_surroundings_of_a_token(merges: Path, tmp_path: Path) -> None:
    output = tmp_path / "picture.dot"
    for more in ([], ["--language", "(ab|a)*"]):
        assert run("draw", merges, "-o", output, "--around", "ab", *more, "--force") == 0
        assert 'label="never", style=dotted' in output.read_text(encoding="utf-8")


def test_more_rules_than_there_are_is_refused(merges: Path, tmp_path: Path, capsys) -> None:
    n_rules = len(tokdfa.load(merges, pretokenizer="none").dictionary)
    for rules, status in ((n_rules, 0), (n_rules + 1, 2)):
        assert run("draw", merges, "-o", tmp_path / f"{rules}.dot", "--rules", rules, "--max-labels", 3) == status
    assert f"--rules: there are only {n_rules} rules" in capsys.readouterr().err


def test_the_transducer(merges: Path, tmp_path: Path) -> None:
    output = tmp_path / "picture.dot"
    assert run("draw", merges, "-o", output, "--language", "(a|b)*", "--transducer", "--rules", 1) == 0
    # Fig 6(b), but for its letters.
    labels = re.findall(r'label="([^"]*\|[^"]*)"', output.read_text(encoding="utf-8"))
    assert sorted(", ".join(labels).split(", ")) == ["a|aa", "a|ε", "b|a≀b", "b|b"]


@pytest.mark.parametrize("kind", ["svg", "png", "html"])
def test_pictures_and_films(merges: Path, tmp_path: Path, kind: str) -> None:
    if not can_render():
        pytest.skip("there is no Graphviz")
    output = tmp_path / f"picture.{kind}"
    begins = {"svg": b"<svg", "png": b"\x89PNG", "html": b"<!DOCTYPE html>"}[kind]
    for film in [["--film"]] * (kind != "png") + [[]] * (kind != "html"):
        assert run("draw", merges, "-o", output, "--language", "[ab]*", *film, "--force") == 0
        assert output.read_bytes().startswith(begins)


def test_without_graphviz(merges: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    assert run("draw", merges, "-o", tmp_path / "picture.svg") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "install Graphviz, or pip install 'tokdfa[draw]'" in error
    assert run("draw", merges, "-o", tmp_path / "picture.dot") == 0


def test_a_real_dictionary_is_not_drawn_whole(data: Path, tmp_path: Path, capsys) -> None:
    output = tmp_path / "picture.dot"
    assert run("draw", data / "vocabs/gpt2", "-o", output) == 1
    assert "the automaton has 50,001 states, more than the limit of 500" in capsys.readouterr().out
    assert run("draw", data / "vocabs/gpt2", "-o", output, "--rules", 20) == 0
    assert output.stat().st_size > 0
    assert run("draw", data / "vocabs/gpt2", "-o", output, "--around", "The", "--force") == 0
    assert 'label="The"' in output.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("rules", "arguments", "status", "message"),
    [
        (60, ["x.svg"], 1, "which are 1,267 arrows, more than the limit of 400"),
        (60, ["x.png", "--max-arrows", "500"], 1, "which are 1,267 arrows, more than the limit of 500"),
        (60, ["x.svg", "--film"], 2, "arrows, more than the limit of 400 (film only the first rules"),
        (60, ["x.html", "--film"], 2, "arrows, more than the limit of 400 (film only the first rules"),
        (70, ["x.dot", "--transducer"], 2, "transitions, more than the limit of 20,000 (use only the first rules"),
    ],
)
def test_many_arrows_are_refused_before_any_layout(
    rules: int, arguments: list[str], status: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    def lay_out(*_: object) -> bytes:
        raise AssertionError("a layout was asked for")

    monkeypatch.setattr("tokdfa.draw.render._run", lay_out)
    monkeypatch.setattr("tokdfa.automata.transducers.determinize.determinize", lay_out)
    monkeypatch.chdir(tmp_path)
    assert run("draw", DEFAULT, "--rules", rules, "-o", *arguments) == status
    captured = capsys.readouterr()
    assert message in captured.out + captured.err
    assert not list(tmp_path.iterdir())


def test_many_arrows_are_counted_and_written_as_dot(tmp_path: Path, capsys) -> None:
    output = tmp_path / "picture.svg"
    assert run("draw", DEFAULT, "--rules", 60, "-o", output, "--json") == 1
    dfa = tokdfa.token_dfa(tokdfa.default_dictionary().prefix(60))
    fields = json.loads(capsys.readouterr().out)
    assert fields["arrows"] == len({*zip(dfa.sources.tolist(), dfa.targets.tolist(), strict=True)})
    assert run("draw", DEFAULT, "--rules", 60, "-o", output) == 1
    assert "--around TOKEN, --language REGEX or --rules N, write a .dot file" in capsys.readouterr().out
    assert run("draw", DEFAULT, "--rules", 60, "-o", output.with_suffix(".dot")) == 0
    assert output.with_suffix(".dot").read_text("utf-8").count(" -> ") == fields["arrows"] + 1
