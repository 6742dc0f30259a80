"""tokdfa fingerprint: locks, and the changes since."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import tokdfa
from tests.support.commands import run
from tests.support.tokenizer_files import RULES, as_bytes, merges_txt, tokenizer_json

ROOT = Path(__file__).parents[3]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json()))
    return path


def test_a_lock_is_printed_or_written_and_checked(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = file.with_name("tokenizer.lock")
    assert run("fingerprint", file) == 0
    printed = capsys.readouterr().out
    assert run("fingerprint", file, "-o", lock) == 0
    assert lock.read_text("utf-8") == printed
    assert f'fingerprint = "{tokdfa.load(file).fingerprint}"\n' in printed
    assert capsys.readouterr().out == ""
    assert run("fingerprint", file, "--check", lock) == 0
    assert capsys.readouterr().out == f"the same: {tokdfa.load(file).fingerprint}\n"


def test_what_changed_is_named_with_status_1(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = file.with_name("tokenizer.lock")
    assert run("fingerprint", file, "-o", lock) == 0
    file.write_bytes(as_bytes(tokenizer_json(normalizer={"type": "NFC"}, added_tokens=[])))
    assert run("fingerprint", file, "--check", lock) == 1
    assert capsys.readouterr().out == "changed: normalizer, specials\n"
    assert run("fingerprint", file, "--check", lock, "--json") == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["same"], answer["changed"]) == (False, ["normalizer", "specials"])
    assert answer["fingerprint"] == tokdfa.load(file).fingerprint
    # Another file of the same is the same.
    file.write_bytes(json.dumps(tokenizer_json(), indent=7).encode())
    assert run("fingerprint", file, "--check", lock, "--json") == 0


def test_a_folder_and_another_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "merges.txt").write_text(merges_txt(), "utf-8")
    file = tmp_path / "other.json"
    file.write_bytes(as_bytes(tokenizer_json(added_tokens=[])))
    lock = tmp_path / "tokenizer.lock"
    assert run("fingerprint", tmp_path, "--pretokenizer", "gpt2", "-o", lock) == 0
    assert run("fingerprint", file, "--check", lock) == 0
    assert run("fingerprint", tmp_path, "--check", lock) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "changed: pretokenizer"
    (tmp_path / "merges.txt").write_text(merges_txt(RULES[:-1]), "utf-8")
    assert run("fingerprint", tmp_path, "--pretokenizer", "gpt2", "--check", lock) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "changed: dictionary, ids"


@pytest.mark.parametrize("options", [["--check", "x", "-o", "y"], ["--check", "missing.lock"]])
def test_bad_options_and_locks_are_trouble(file: Path, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fingerprint", file, *options) == 2
    assert capsys.readouterr().out == ""


def test_the_hook_runs_the_command(file: Path) -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    entry, *_ = re.findall(r"^ *entry: (.*)$", hooks, re.MULTILINE)
    pattern, *_ = re.findall(r"^ *files: '(.*)'$", hooks, re.MULTILINE)
    assert re.search(pattern, "models/tokenizer.json")
    assert re.search(pattern, "tokenizer.lock")
    assert not re.search(pattern, "README.md")
    assert shlex.split(entry) == ["tokdfa", "fingerprint"]
    assert run(*shlex.split(entry)[1:], file, "-o", file.with_name("tokenizer.lock")) == 0
    assert run(*shlex.split(entry)[1:], file, "--check", file.with_name("tokenizer.lock")) == 0


def test_the_action_runs_the_command(file: Path) -> None:
    action = (ROOT / ".github" / "actions" / "tokenizer-lock" / "action.yml").read_text("utf-8")
    assert "using: composite" in action
    # By default it installs the repository that it is in.
    above = re.findall(r"format\('\{0\}/(.*)', github.action_path\)", action)
    assert [(ROOT / ".github" / "actions" / "tokenizer-lock" / path).resolve() for path in above] == [ROOT]
    (line,) = re.findall(r"^ *run: (.*tokdfa fingerprint.*)$", action, re.MULTILINE)
    lock = file.with_name("tokenizer.lock")
    assert run("fingerprint", file, "-o", lock) == 0
    filled = line.replace('"$TOKENIZER"', shlex.quote(str(file))).replace('"$LOCK"', shlex.quote(str(lock)))
    command = [sys.executable, "-m", *shlex.split(filled)]
    assert subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode == 0
    file.write_bytes(as_bytes(tokenizer_json(RULES[:-1])))
    assert subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode == 1
