"""tokdfa doctor exits with the worst of its findings, and --known accepts those of an earlier run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import tokdfa
from tests.support.commands import run
from tests.support.model_folders import N, edited, write_sound
from tests.support.pages import Page
from tokdfa.draw.report.page import escape

ROOT = Path(__file__).parents[3]


def test_the_status_is_that_of_the_worst_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_sound(tmp_path / "a")
    assert run("doctor", tmp_path / "a") == 0
    assert "0 faults" in capsys.readouterr().out
    edited("config.json", vocab_size=1)(tmp_path / "a")
    assert run("doctor", tmp_path / "a") == 1
    shown = capsys.readouterr().out
    assert "vocab_size is 1" in shown
    assert "→ set vocab_size" in shown
    (tmp_path / "b").mkdir()
    assert run("doctor", tmp_path / "b") == 2
    assert run("doctor", tmp_path / "c") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_known_findings_are_accepted_until_there_is_a_new_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, known = write_sound(tmp_path / "a"), tmp_path / "known.json"
    edited("config.json", vocab_size=1)(folder)
    assert run("doctor", folder, "--json") == 1
    known.write_text(capsys.readouterr().out, encoding="utf-8")
    assert run("doctor", folder, "--known", known) == 0
    assert "(known)" in capsys.readouterr().out
    edited("config.json", vocab_size=2)(folder)
    assert run("doctor", folder, "--known", known) == 1
    edited("config.json", vocab_size=1)(folder)
    edited("generation_config.json", bos_token_id=N + 1)(folder)
    assert run("doctor", folder, "--known", known) == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"findings": [1]}', "[" * 100_000, '{"findings": {}}'])
def test_a_file_that_is_not_an_earlier_answer_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = tmp_path / "known.json"
    known.write_text(text, encoding="utf-8")
    assert run("doctor", write_sound(tmp_path / "a"), "--known", known) == 2
    assert "not the output of doctor --json" in capsys.readouterr().err


def test_the_page_shows_each_finding_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, page = write_sound(tmp_path / "a"), tmp_path / "page.html"
    edited("tokenizer_config.json", unk_token="<script>")(folder)
    assert run("doctor", folder, "--html", page) == 1
    capsys.readouterr()
    html = page.read_text(encoding="utf-8")
    found = tokdfa.doctor(folder)
    Page(html)  # Its elements are closed in order.
    assert "Faults" in html
    assert "<script>" not in html.partition("<body>")[2].partition("</main>")[0]
    assert all(escape(finding.sentence) in html and escape(finding.remedy) in html for finding in found.findings)
    assert run("doctor", folder, "--html", page) == 2
    assert "--force" in capsys.readouterr().err


def test_the_hook_and_the_action_run_the_command() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    assert re.search(r"- id: model-folder\n(?:  .*\n)*  entry: tokdfa doctor\n", hooks)
    files = re.findall(r"^  files: '(.*)'$", hooks, re.MULTILINE)[-1]
    names = ("config.json", "a/tokenizer.json", "a/chat_template.jinja", "x.gguf", "merges.txt", "added_tokens.json")
    assert all(re.search(files, name) for name in names)
    assert not re.search(files, "README.md")
    action = (ROOT / ".github" / "actions" / "model-folder" / "action.yml").read_text("utf-8")
    (line,) = re.findall(r"run: (tokdfa .*)", action)
    shell = ["bash", "-ec", f'tokdfa() {{ printf "%s\\n" "$@"; }}; {line}']
    cases = {"": ["doctor", "a b"], "k j": ["doctor", "a b", "--known", "k j", "--force", "--html", "k j"]}
    for text, expected in cases.items():
        given = {"FOLDER": "a b", "KNOWN": text, "HTML": text, "PATH": os.environ["PATH"]}
        printed = subprocess.run(shell, env=given, capture_output=True, text=True, check=True).stdout
        assert printed.splitlines() == expected
