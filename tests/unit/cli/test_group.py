"""The group of commands: calls without a command or with a wrong name, help, and options."""

from __future__ import annotations

import re
from pathlib import Path

import click
import numpy as np
import pytest

from tests.support import commands
from tokdfa.cli.group import COMMANDS, GROUPS, group


def test_no_command_shows_the_help_as_it_is_and_is_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("--help") == 0
    asked = capsys.readouterr().out
    assert commands.run() == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == asked
    assert all(f"\n  {name}  " in asked for name in COMMANDS)


def test_summaries_fit_beside_the_names_and_are_what_completion_shows() -> None:
    summaries = {name: summary for commands in GROUPS.values() for name, summary in commands.items()}
    assert len(summaries) == len(COMMANDS)
    assert {len(summary) for summary in summaries.values()} <= {*range(10, 46)}
    context = click.Context(group)
    for name, summary in summaries.items():
        command = group.get_command(context, name)
        assert command is not None
        assert command.get_short_help_str(45) == summary


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("valdiate", "did you mean validate?"),
        ("Compare", "did you mean compare?"),
        ("serach", "did you mean search?"),
        ("check", "did you mean validate?"),
        ("diff", "did you mean compare?"),
        ("grep", "did you mean search?"),
        ("tokenize", "did you mean encode?"),
        ("plot", "did you mean draw?"),
        ("help", "did you mean --help?"),
        ("version", "did you mean --version?"),
        ("xyzzy", "tokdfa --help lists them"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_one(name: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(name, "a", "--json") == 2
    assert capsys.readouterr().err == f"tokdfa: error: no such command: {name!r} ({meant})\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("validate", "--jsn", "a", "b"), "--json"),
        (("validate", "a", "b", "--pretokeniser", "gpt2"), "--pretokenizer"),
        (("validate",), "(usage: tokdfa validate [OPTIONS] TOK IDS...; tokdfa validate --help says more)"),
        (("search", "a"), "(usage: tokdfa search [OPTIONS] TOK [PATTERN] IDS; tokdfa search --help says more)"),
        (("draw", "a"), "Missing option '-o'"),
        (("--jsn",), "No such option"),
    ],
)
def test_wrong_arguments_are_answered_with_the_usage(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert commands.run(*arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tokdfa: error: ")
    assert said in line


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (
            "train FILE --merges 1 -o FILE.new --max-token-length 3 --tie huggingface",
            "leave --max-token-length out, or",
        ),
        ("train FILE --merges 1 -o FILE.new --end-of-word attached", "choose --level character"),
        ("locality FILE --language a{9} --max-seconds 1e-9", "narrow it, or raise --max-seconds"),
    ],
)
def test_hints_name_options_for_arguments(
    arguments: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "merges.txt").write_text("a a\n")
    assert commands.run(*arguments.replace("FILE", str(tmp_path / "merges.txt")).split()) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert f"({hint}" in line


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_two_examples_and_one_line_of_exit_statuses(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(name, "--help") == 0
    shown = capsys.readouterr().out
    assert "\\b" not in shown
    assert "`" not in shown
    assert shown.count(f"\n    tokdfa {name}") + shown.count(f" | tokdfa {name}") == 2
    (status,) = re.findall(r"^  Exit status: .*\n(?=\n)", shown, re.MULTILINE)
    assert " 2 " in status


def test_an_option_is_described_in_the_same_words_everywhere() -> None:
    texts: dict[str, set[str]] = {}
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                texts.setdefault(parameter.opts[0], set()).add(parameter.help or "")
    shared = ("--dtype", "--documents", "--escapes", "--field", "--file", "--format", "--html", "--json", "--language")
    for option in (
        *shared,
        "--lowercase",
        "--specials",
        "--plain-specials",
        "--threads",
        "--force",
        "--unicode",
        "--words",
    ):
        assert len(texts[option]) == 1, option
    for option in ("--pretokenizer",):
        assert len({text[:30] for text in texts[option]}) == 1, option


def test_no_option_takes_a_number_that_is_none() -> None:
    context, n_options = click.Context(group), 0
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        for option in (option for option in command.params if isinstance(option.type, click.types.FloatParamType)):
            for value in ("nan", "-nan", "-1", "x", ""):
                with pytest.raises(click.BadParameter, match=f"{value}.* is not "):
                    option.type.convert(value, option, context)
            assert option.type.convert("2.5", option, context) == 2.5
            n_options += 1
    assert n_options > 10


@pytest.mark.parametrize("given", ["stores", "doctor", "train", "rollouts gpt2", "template gpt2", "validate gpt2"])
def test_the_empty_path_is_not_the_current_folder(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(*given.split(), "") == 2
    assert "the path is empty" in capsys.readouterr().err


def test_files_are_replaced_only_by_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tok, ids, corpus = tmp_path / "merges.txt", tmp_path / "ids.npy", tmp_path / "corpus.txt"
    tok.write_text("#version: 0.2\na b\n")
    np.save(ids, [0])
    corpus.write_text("ab ab")
    rollouts = tmp_path / "rollouts.jsonl"
    rollouts.write_text('{"input_ids": [0]}\n')
    runs: dict[tuple[object, ...], tuple[str, ...]] = {
        ("encode", tok, "ab"): ("-o out.npy",),
        ("fingerprint", tok): ("-o out.lock",),
        ("bytes", tok, "bytes"): ("-o out.npy",),
        ("align", tok, ids, tok, ids): ("-o out.npz",),
        ("info", tok): ("--proper-out out.txt",),
        ("draw", tok): ("-o out.dot",),
        ("convert", tok, "--to", "tokenizer.json"): ("-o out.json",),
        ("doctor", tok): ("--html out.html",),
        ("compare", tok, tok): ("--html out.html", "--certificate out.json"),
        ("splice", tok, "--before", "a"): ("--certificate out.json",),
        ("validate", tok, ids): ("--html out.html",),
        ("rollouts", tok, rollouts, "--ids", "input_ids"): ("--html out.html",),
        ("replace", tok, "a", "b", ids): ("-o out.npy", "--starts starts.npy"),
        ("train", corpus, "--merges", 1): ("-o out.txt", "-o folder"),
        ("demo",): ("-o folder",),
    }
    with_force = set()
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        if any("--force" in parameter.opts for parameter in command.params):
            with_force.add(name)
        else:
            texts = " ".join(
                parameter.help or "" for parameter in command.params if isinstance(parameter, click.Option)
            )
            assert not re.search("[Ww]rite .* to FILE", texts), name
    assert with_force == {str(run[0]) for run in runs}
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "merges.txt").write_text("old")
    for run, outputs in runs.items():
        for option, _, name in (output.partition(" ") for output in outputs):
            path = tmp_path / name
            old = path / "merges.txt" if path.is_dir() else path
            old.write_text("old")
            assert commands.run(*run, option, path) == 2
            assert "the file exists; --force replaces it" in capsys.readouterr().err
            assert old.read_text() == "old"
            if name != "folder":
                assert commands.run(*run, option, tmp_path / "none" / name) == 2
                assert f"there is no folder {tmp_path / 'none'}" in capsys.readouterr().err or run[0] == "train"
