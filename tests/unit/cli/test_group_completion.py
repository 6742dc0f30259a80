"""Shells complete commands, options and their values; the scripts are run where the shell is on the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.support import commands
from tokdfa.cli.group import COMMANDS, group
from tokdfa.stores.integer_types import dtype_of
from tokdfa.tokenizers.formats import FORMATS


def completed(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what bash is given for a line; the last word is the one that is being written."""
    words = line.split(" ")
    monkeypatch.setenv("_TOKDFA_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    assert commands.run() == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tokdfa va", ["plain,validate"]),
        ("tokdfa ", [f"plain,{name}" for name in COMMANDS]),
        ("tokdfa validate --pre", ["plain,--pretokenizer"]),
        ("tokdfa validate ", ["file,"]),
        ("tokdfa validate tok ro", ["file,ro"]),
        ("tokdfa search tok a.b ro", ["file,ro"]),
        ("tokdfa replace tok a.b c ro", ["file,ro"]),
        ("tokdfa compare a ", ["file,"]),
        ("tokdfa train ", ["file,"]),
        ("tokdfa validate tok ids --html re", ["file,re"]),
        ("tokdfa info tok --pretokenizer gpt", ["plain,gpt2", "plain,gpt2_tiktoken"]),
        ("tokdfa info tok --format tok", ["plain,tokenizer.json"]),
        ("tokdfa train c --like sub", ["plain,subword-nmt"]),
        ("tokdfa schema sea", ["plain,search"]),
        ("tokdfa validate tok x.bin --dtype uint1", ["plain,uint16"]),
    ],
)
def test_what_is_completed(
    line: str, expected: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert completed(line, monkeypatch, capsys) == expected


def test_everything_proposed_is_accepted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    formats = [line.removeprefix("plain,") for line in completed("tokdfa info t --format ", monkeypatch, capsys)]
    assert tuple(formats) == FORMATS
    types = [line.removeprefix("plain,") for line in completed("tokdfa validate t i --dtype ", monkeypatch, capsys)]
    assert len({dtype_of(name) for name in types}) == len(types) == 7


def test_every_argument_that_is_a_file_is_completed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    context = click.Context(group)
    others = {
        *(("encode", "text"), ("split", "text"), ("schema", "name")),
        *(("turns", "first"), ("turns", "rest"), ("injection", "template"), ("ban", "texts")),
    }
    found = 0
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        arguments = [parameter.name for parameter in command.params if isinstance(parameter, click.Argument)]
        for place, argument in enumerate(arguments):
            if (name, argument) not in others:
                line = " ".join(["tokdfa", name, *["x"] * place, "y"])
                assert completed(line, monkeypatch, capsys) == ["file,y"], (name, argument)
                found += 1
    assert found > 10


SCRIPTS = {
    "bash": """
        eval "$(_TOKDFA_COMPLETE=bash_source tokdfa)"
        COMP_WORDS=(tokdfa va); COMP_CWORD=1; _tokdfa_completion tokdfa; echo "${COMPREPLY[@]}"
        complete -p tokdfa
    """,
    "zsh": """
        autoload -Uz compinit; compinit -u
        eval "$(_TOKDFA_COMPLETE=zsh_source tokdfa)"
        COMP_WORDS="tokdfa va" COMP_CWORD=1 _TOKDFA_COMPLETE=zsh_complete tokdfa; echo $_comps[tokdfa]
    """,
    "fish": """
        _TOKDFA_COMPLETE=fish_source tokdfa | source
        complete -C "tokdfa va"; complete tokdfa
    """,
}


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_of_the_shell(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not on this machine")
    wrapper = tmp_path / "tokdfa"
    wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tokdfa "$@"\n')
    wrapper.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([shell, "-c", SCRIPTS[shell]], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "validate" in done.stdout.split("\n")[:2][-1] + done.stdout.split("\n")[0]
    assert "_tokdfa_completion" in done.stdout


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_help_says_how(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("--help") == 0
    assert f"{shell}_source" in capsys.readouterr().out
