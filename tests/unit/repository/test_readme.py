"""Every snippet of the README, of the page of all jobs and of the guides is run, in order, in one folder a page.

The README's commands are processes, as are those with a pipe or a redirection; the others run in this process.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import schemas
from tokdfa.cli import main

ROOT = Path(__file__).parents[3]
GUIDES = tuple(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "notebooks" / "guides").glob("*.md")))
PAGES = ("README.md", "notebooks/jobs.md", "notebooks/index.md", "notebooks/unicode_versions.md", *GUIDES)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the snippets of a page, each with its language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(block: str) -> list[tuple[str, str]]:
    """Split a console block into commands and the output of each."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(head, expected) for head, _, expected in (part.partition("\n") for part in parts)]


def assert_shows(expected: str, printed: str, what: str) -> None:
    assert doctest.OutputChecker().check_output(expected, printed, OPTIONS), (
        f"{what}\n--- wanted\n{expected}--- got\n{printed}"
    )


def assert_is_configured(block: str) -> None:
    """Assert that this repository has the actions, with their inputs, and the hooks."""
    for folder, inputs in re.findall(r"uses: OWNER/tokdfa/(\S+)@main\n +with: \{(.*)\}", block):
        action = (ROOT / folder / "action.yml").read_text("utf-8")
        assert {*re.findall(r"(\w+): ", inputs)} <= {*re.findall(r"^  (\w+):$", action, re.MULTILINE)}
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    assert {*re.findall(r"- \{id: ([\w-]+),", block)} <= {*re.findall(r"^- id: (\S+)$", hooks, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES)
def test_snippets_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    names: dict[str, object] = {}
    run_any = False
    for language, block in blocks(page):
        if language == "python":
            test = doctest.DocTestParser().get_doctest(block, names, page, page, 0)
            report: list[str] = []
            assert test.examples, f"a python block without examples:\n{block}"
            runner = doctest.DocTestRunner(optionflags=OPTIONS)
            runner.run(test, out=report.append, clear_globs=False)
            assert not runner.summarize(verbose=False).failed, "".join(report)
            names = test.globs
            run_any = True
        elif language == "console":
            for command, expected in commands(block):
                words = words_of(command)
                if words[0] != "tokdfa" or page == "README.md":
                    printed = shell(command, tmp_path)
                else:
                    with pytest.raises(SystemExit):
                        main(words[1:])
                    printed = "".join(capsys.readouterr())
                assert_shows(expected, printed, command)
                if "--json" in command and ">" not in command:
                    schemas.check(command.split()[1], printed)
                run_any = True
        elif language == "yaml":
            assert_is_configured(block)
        else:
            assert language == "sh", f"a block of kind {language!r} that no test runs"
    assert run_any


def words_of(command: str) -> list[str]:
    """Return the words of a command that needs no shell; ["sh"] if it has a pipe, a redirection or a variable."""
    words = [*shlex.shlex(command, posix=True, punctuation_chars=True)]
    return ["sh"] if "$" in command or any({*word} <= {*"();<>|&"} for word in words) else shlex.split(command)


def shell(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def test_the_two_set_up_commands_are_what_ci_runs() -> None:
    first, second = [block.strip() for language, block in blocks("README.md") if language == "sh"]
    assert [first, second] == [block.strip() for language, block in blocks("notebooks/index.md") if language == "sh"]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert first in script
    assert second in script


def _module(name: str) -> tuple[Path, Path]:
    path = ROOT.joinpath(*name.split("."))
    return path / "__init__.py", path.with_suffix(".py")


def test_names_in_sentences_resolve() -> None:
    pages = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in (*PAGES, "notebooks/formats.md"))
    prose = re.sub(r"^```.*?^```$", "", pages, flags=re.MULTILINE | re.DOTALL)
    names = sorted(set(re.findall(r"`(tokdfa(?:\.\w+)+)(?:\(|`)", prose)))
    # Modules are named as well; all other names exist when tokdfa is imported, and nothing more.
    names = [name for name in names if not any(map(Path.exists, _module(name)))]
    assert names
    program = f"import tokdfa\nfor name in {names}: eval(name)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
