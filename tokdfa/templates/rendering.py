"""Rendering a template in a child process, within limits of time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import tokdfa
from tokdfa.errors import FileFormatError, LimitExceededError, UnsupportedFeatureError
from tokdfa.splices.parts import Part, Slot, checked_parts
from tokdfa.templates.marked import FIRST, is_marked
from tokdfa.templates.shapes import Shape

__all__ = ["Note", "Rendering", "Unkept", "rendered", "unkept"]

MAX_BYTES = 1 << 30
_MOST_OUTPUT = 1 << 22


class Note(NamedTuple):
    """What a template does to contents, besides writing them and stripping white space.

    Parameters
    ----------
    what : str
    line : int or None
        The line of the template.
    slots : tuple of str
        The contents.
    """

    what: str
    line: int | None
    slots: tuple[str, ...]


class Rendering(NamedTuple):
    """What a template makes of a conversation.

    Parameters
    ----------
    shape : Shape
    parts : tuple of str and Slot
        What it writes; empty if it refuses the conversation.
    notes : tuple of Note
    refused : str
        Why it refuses the conversation, in its own words; empty if it does not.
    """

    shape: Shape
    parts: tuple[Part, ...]
    notes: tuple[Note, ...]
    refused: str


class Unkept(NamedTuple):
    """Contents for which the rendering of a conversation is not a prefix of the rendering of a longer one.

    Parameters
    ----------
    contents : tuple of str
        The contents of the longer conversation.
    before, after : str
        What is rendered of the shorter one, and of the longer one.
    """

    contents: tuple[str, ...]
    before: str
    after: str


def rendered(
    template: str, shapes: Sequence[Shape], variables: Mapping[str, str], max_seconds: int = 10
) -> list[Rendering]:
    """Return what a template makes of conversations; it may take `max_seconds` of CPU time.

    Raises
    ------
    FileFormatError
        If it cannot be parsed.
    LimitExceededError
        If it takes too much time or memory.
    UnsupportedFeatureError
        If jinja2 is not installed, or the template has characters that stand for contents.
    """
    if find_spec("jinja2") is None:
        raise UnsupportedFeatureError("jinja2 is not installed", hint="pip install 'tokdfa[templates]'")
    if is_marked(template):
        raise UnsupportedFeatureError("a template with private characters", value="U+F0000")
    asked = {"shapes": [shape.variables(dict(variables)) for shape in shapes]}
    rows = _asked(template, asked, max_seconds)["renderings"]
    return [_rendering(shape, row) for shape, row in zip(shapes, rows, strict=True)]


def unkept(
    template: str, pairs: Sequence[tuple[Shape, Shape]], variables: Mapping[str, str], max_seconds: int = 10
) -> list[Unkept | None]:
    """Return, for pairs of a conversation and a longer one, contents for which the rendering of the first is not kept.

    Texts of many kinds are tried, and those that the template mentions; None says only that none of them is found.
    Raises as :func:`rendered` does.
    """
    given = dict(variables)
    rows = [
        {
            "short": short.variables(given),
            "long": long.variables(given),
            "roles": [name.split()[0] for name in long.slots],
        }
        for short, long in pairs
    ]
    found = _asked(template, {"pairs": rows}, max_seconds)["unkept"]
    return [None if row is None else Unkept(tuple(row["contents"]), row["before"], row["after"]) for row in found]


def _asked(template: str, asked: dict[str, Any], max_seconds: int) -> dict[str, Any]:
    """Return the answer of a child process."""
    asked = {"template": template, "seconds": max_seconds, "bytes": MAX_BYTES, **asked}
    root = str(Path(tokdfa.__file__).parent.parent)
    program = f"import sys; sys.path.insert(0, {root!r}); from tokdfa.templates.child import main; main()"
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", program],
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=10 + 2 * max_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LimitExceededError("the template takes too long", value=f"more than {max_seconds} s") from None
    if done.returncode < 0:
        raise LimitExceededError("the template takes too much time or memory", value=f"signal {-done.returncode}")
    if done.returncode or len(done.stdout) > _MOST_OUTPUT:
        what = done.stderr.decode(errors="replace").strip().rpartition("\n")[2][:200] or "too long"
        raise LimitExceededError("the template cannot be rendered within the limits", value=what)
    answer: dict[str, Any] = json.loads(done.stdout)
    if "error" in answer:
        where = "" if answer["line"] is None else f"line {answer['line']}"
        looks_like_json = template.lstrip().startswith("{") and not template.lstrip().startswith(("{{", "{%", "{#"))
        hint = "it looks like JSON: the template is the text in its chat_template" if looks_like_json else None
        raise FileFormatError("the template cannot be read", value=answer["error"], where=where, hint=hint)
    return answer


def _rendering(shape: Shape, row: dict[str, Any]) -> Rendering:
    names = shape.slots
    noted = [Note(note["what"], note["line"], tuple(names[slot] for slot in note["slots"])) for note in row["notes"]]
    parts: list[Part] = []
    for symbol in row["text"] or "":
        point = ord(symbol) - FIRST
        if 0 <= point < 4 * len(names):
            parts.append(Slot(names[point // 4], None, bool(point & 1), bool(point & 2)))
        else:
            parts.append(symbol)
    refused = row["refused"] if row["refused"] is not None else row["error"] or ""
    return Rendering(shape, checked_parts(parts), tuple(dict.fromkeys(noted)), refused)
