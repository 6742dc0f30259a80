"""Habits of style that a reader stumbles on are rare: in docstrings, comments, messages and pages."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import sources

ROOT = Path(__file__).parents[3]

# The most that each habit may occur in 10,000 words: three times its rate in numpy, click and pytest.
HABITS: dict[str, tuple[str, float]] = {
    "a what-clause as a noun": (
        r"(?:\b(?:of|than|by|for|to|with|in|from|on|at|about|and|or|is|are|into|as|has|have|takes?|gives?|finds?|"
        r"returns?|reads?|holds?|says?|keeps?|counts?|that)|[:,.;(]|^)\s+what\b(?! (?:to|if|about)\b)"
        r"|\bWhat\b(?=[^.?]*\.)",
        3.6,
    ),
    "that of, those of": (r"\b(?:that|those) of\b", 1.5),
    "goes on": (r"\bgo(?:es)? on\b", 0.5),
    "is no X": (r"\b(?:is|are) no\b", 6.9),
    "certain": (r"\bcertain(?:ly)?\b", 2.7),
    "however, whatever": (r"\b(?:however|whatever)\b", 3.9),
    "of which, whose": (r"\bof which\b|\bwhose\b", 2.0),
    "beside": (r"\bbeside\b", 0.5),
}
# A constant of four words and more is a message; a name, a pattern or a row of a table is not.
SENTENCE = re.compile(r"[A-Za-z,;:]+(?: [A-Za-z,;:`']+){3}")


def python_prose(source: str, *, messages: bool = True) -> Iterator[str]:
    """Yield the docstrings and comments of a Python module, and its messages, unless they are quoted by tests."""
    for node in ast.walk(ast.parse(source)) if messages else sources.statements(source):
        if messages and isinstance(node, ast.Constant) and isinstance(node.value, str) and SENTENCE.search(node.value):
            yield node.value
        elif not messages and isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield ast.get_docstring(node) or ""
    yield from sources.comments(source)


def prose(path: Path) -> Iterator[str]:
    """Yield the texts of a file that are written for readers: code and its output left out."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        yield from python_prose(text, messages="tests" not in path.relative_to(ROOT).parts)
    elif path.suffix in (".c", ".h"):
        yield from re.findall(r"/\*(.*?)\*/", text, re.DOTALL)
    elif path.suffix == ".ipynb":
        for cell in json.loads(text)["cells"]:
            if cell["cell_type"] == "markdown":
                yield "".join(cell["source"])
    else:
        yield re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def rates(paths: list[Path]) -> dict[str, float]:
    """Return how often each habit occurs in the files' prose, per 10,000 words."""
    texts = [text for path in paths for text in prose(path)]
    n_words = sum(len(text.split()) for text in texts)
    found = {habit: sum(len(re.findall(rule, t, re.M)) for t in texts) for habit, (rule, _) in HABITS.items()}
    return {habit: 1e4 * count / max(n_words, 1) for habit, count in found.items()}


PAGES = [*ROOT.glob("*.md"), *(ROOT / ".github").glob("*.md"), *(ROOT / "notebooks").rglob("*.md")]
TEXTS = {
    "package": [path for suffix in ("py", "c", "h") for path in (ROOT / "tokdfa").rglob(f"*.{suffix}")],
    "tests and figures": [path for folder in ("tests", "figures") for path in (ROOT / folder).rglob("*.py")],
    "pages": [*PAGES, *(ROOT / "notebooks").glob("*.ipynb")],
}


@pytest.mark.parametrize("part", TEXTS)
def test_habits_of_style_are_rare(part: str) -> None:
    found = rates(TEXTS[part])
    assert {habit: rate for habit, rate in found.items() if rate > HABITS[habit][1]} == {}


@pytest.mark.parametrize(
    ("sentence", "habit"),
    [
        ("Return what is left.", "a what-clause as a noun"),
        ("What follows is read.", "a what-clause as a noun"),
        ("The length is that of the text.", "that of, those of"),
        ("The scan goes on.", "goes on"),
        ("It is no rule of the list.", "is no X"),
        ("A certain boundary is found.", "certain"),
        ("However long the text is.", "however, whatever"),
        ("A text whose tokens differ.", "of which, whose"),
        ("The text beside the tokens.", "beside"),
    ],
)
def test_habits_are_found_in_docstrings_comments_and_messages(sentence: str, habit: str) -> None:
    for source in (f'"""{sentence}"""', f"x = 1  # {sentence}", f"raise E('In this line: {sentence}')"):
        texts = list(python_prose(source))
        pattern = HABITS[habit][0]
        assert any(re.search(pattern, text, re.I | re.M) for text in texts), source
